#include "shoal/table/detail/number_value.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/table/detail/visit_value.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace shoal {
namespace {

template <class T>
bool fits(double number) {
    if constexpr (std::is_floating_point_v<T>) {
        return std::isfinite(static_cast<T>(number)) || !std::isfinite(number);
    } else {
        constexpr double kEnd = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;  // a power of two
        return number >= static_cast<double>(std::numeric_limits<T>::min()) && number < kEnd;
    }
}

}  // namespace

double read_number(FieldType type, const std::byte* value) {
    double number = 0;
    visit_value(type, value, [&](const auto& given) {
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(given)>>) number = static_cast<double>(given);
    });
    return number;
}

bool write_number(FieldType type, double number, std::byte* value) {
    bool is_good = false;
    visit_value(type, value, [&](auto given) {
        using T = decltype(given);
        if constexpr (std::is_arithmetic_v<T>) {
            if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) number = std::round(number);
            is_good = std::is_same_v<T, bool> || fits<T>(number);
            if (!is_good) return;
            given = std::is_same_v<T, bool> ? static_cast<T>(number != 0) : static_cast<T>(number);
            copy_bytes(value, &given, sizeof given);
        }
    });
    return is_good;
}

const std::byte* find_out_of_range(const Field& field, const std::byte* value) {
    const FieldType type = lane_type(field.type);
    for (std::size_t at = 0; field.has_range && at < field.size; at += field_type_bytes(type)) {
        const double number = read_number(type, value + at);
        if (!(number >= field.minimum && number <= field.maximum)) return value + at;
    }
    return nullptr;
}

}  // namespace shoal
