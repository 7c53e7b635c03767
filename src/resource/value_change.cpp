#include "shoal/resource/detail/value_change.h"

#include "resource/field_change.h"
#include "shoal/table/detail/copy_elements.h"
#include "shoal/table/detail/enum_bytes.h"
#include "shoal/table/detail/number_value.h"

#include <utility>

namespace shoal {
namespace {

bool is_integer(FieldType type) { return type >= FieldType::kInt8 && type <= FieldType::kUint64; }

/// Whether a value consists of numbers; a bool counts as 0 or 1, and an enum as its number.
bool has_lanes(FieldType type) {
    return type == FieldType::kEnum || (type >= FieldType::kBool && type <= FieldType::kQuaternion);
}

ValueType type_named(FieldType type, std::uint32_t array_length = 0) {
    return {type, FieldType(0), array_length, field_type_bytes(type), {}};
}

/// Reads a lane. Requires: has_lanes().
double read_lane(const ValueType& type, const std::byte* lane) {
    return type.type == FieldType::kEnum ? static_cast<double>(read_enum_number(lane, type.value_bytes))
                                         : read_number(lane_type(type.type), lane);
}

class Convert {
public:
    Convert(std::string_view field, ValueConversion conversion) : field_(field), conversion_(std::move(conversion)) {}

    Status operator()(FieldColumns& columns) const {
        if (!conversion_.values.empty()) return columns.rename_values(field_, conversion_.values);
        const FieldColumns::Column* const column = columns.find(field_);
        if (column == nullptr) return columns.read(field_, {}).status();  // the error lists the fields
        const ValueType from = column->type;
        const bool keeps_type = conversion_.type == FieldType(0);
        const ValueType to = keeps_type ? from : type_named(conversion_.type, from.array_length);
        if (Status status = check(from, to); !status) return status;
        const NamedType old_field{field_, from}, new_field{field_, to};
        return replace_fields(columns, {&old_field, 1}, {&new_field, 1},
                              [&](const std::byte* const* olds, std::byte* const* news) {
                                  return convert(from, olds[0], to, news[0], columns.num_rows());
                              });
    }

private:
    Status check(const ValueType& from, const ValueType& to) const {
        const bool is_rotation = to.type == FieldType::kQuaternion && field_type_lanes(from.type) != 4;
        if (has_lanes(from.type) && has_lanes(to.type) && to.type != FieldType::kEnum && !is_rotation) return {};
        return Status::error(
            concat("\"", field_, "\" is ", from.to_text(), " then, whose values cannot be converted to ",
                   to.type == from.type ? "others of this type; only numbers, bools and vectors can" : to.to_text()));
    }
    Status convert(const ValueType& from, const std::byte* olds, const ValueType& to, std::byte* news,
                   std::size_t num_rows) const {
        for (std::size_t row = 0; row < num_rows; ++row)
            for (std::uint32_t i = 0; i < from.num_values(); ++i) {
                const std::size_t place = row * from.num_values() + i;
                const std::byte* const old_value = olds + place * from.value_bytes;
                if (convert_value(from, old_value, to, news + place * to.value_bytes)) continue;
                return Status::error(concat("component ", row, ": \"", field_, "\" becomes ", to.to_text(),
                                            ", which cannot hold what ", AnyValue(element(from), old_value).to_text(),
                                            " becomes"));
            }
        return {};
    }
    static ValueType element(ValueType type) {
        type.array_length = 0;
        return type;
    }
    bool convert_value(const ValueType& from, const std::byte* old_value, const ValueType& to,
                       std::byte* new_value) const {
        const bool is_exact = conversion_.factor == 1 && conversion_.plus == 0;
        if (is_exact && is_integer(from.type) && is_integer(to.type)) {  // a double cannot hold all integers
            const Result<AnyValue> value = AnyValue(element(from), old_value).convert(element(to), field_);
            if (value) copy_bytes(new_value, value->bytes().data(), to.value_bytes);
            return value.ok();
        }
        const std::uint32_t num_old = field_type_lanes(from.type), num_new = field_type_lanes(to.type);
        const std::uint32_t old_bytes = from.value_bytes / num_old, new_bytes = to.value_bytes / num_new;
        for (std::uint32_t lane = 0; lane < num_new; ++lane) {
            const bool is_given = num_old == 1 || lane < num_old;
            const std::byte* const old_lane = old_value + (num_old == 1 ? 0 : lane) * old_bytes;
            const double number = is_given ? read_lane(from, old_lane) * conversion_.factor + conversion_.plus : 0;
            if (!write_number(lane_type(to.type), number, new_value + lane * new_bytes)) return false;
        }
        return true;
    }

    std::string field_;
    ValueConversion conversion_;
};

/// Splits the lanes of a vector, or the elements of an array, into fields.
class Split {
public:
    Split(std::string_view field, std::vector<std::string> to) : field_(field), to_(std::move(to)) {}

    Status operator()(FieldColumns& columns) const {
        const FieldColumns::Column* const column = columns.find(field_);
        if (column == nullptr) return columns.read(field_, {}).status();
        const NamedType whole{field_, column->type};
        const bool is_array = whole.type.array_length != 0;
        const std::uint32_t num_parts = is_array ? whole.type.array_length : field_type_lanes(whole.type.type);
        if (num_parts != to_.size() || (num_parts == 1 && !is_array))
            return Status::error(concat("\"", field_, "\" is ", whole.type.to_text(),
                                        " then, and cannot be split into ", to_.size(), " fields"));
        ValueType part = type_named(FieldType::kFloat);
        if (is_array) {
            part = whole.type;
            part.array_length = 0;
        }
        std::vector<NamedType> parts;
        for (const std::string& name : to_) parts.push_back({name, part});
        return replace_fields(columns, {&whole, 1}, parts, [&](const std::byte* const* olds, std::byte* const* news) {
            for (std::size_t i = 0; i < parts.size(); ++i)
                copy_strided(news[i], part.value_bytes, {olds[0] + i * part.value_bytes, whole.type.num_bytes()},
                             columns.num_rows(), part.value_bytes);
            return Status();
        });
    }

private:
    std::string field_;
    std::vector<std::string> to_;
};

class Join {
public:
    Join(std::vector<std::string> from, std::string_view to) : from_(std::move(from)), to_(to) {}

    Status operator()(FieldColumns& columns) const {
        constexpr FieldType kVectors[] = {FieldType::kVec2, FieldType::kVec3, FieldType::kVec4};
        const NamedType whole{to_, type_named(kVectors[from_.size() - 2])};
        std::vector<NamedType> parts;
        for (const std::string& name : from_) parts.push_back({name, type_named(FieldType::kFloat)});
        return replace_fields(columns, parts, {&whole, 1}, [&](const std::byte* const* olds, std::byte* const* news) {
            for (std::size_t i = 0; i < parts.size(); ++i)
                copy_strided(news[0] + i * sizeof(float), whole.type.value_bytes, {olds[i], sizeof(float)},
                             columns.num_rows(), sizeof(float));
            return Status();
        });
    }

private:
    std::vector<std::string> from_;
    std::string to_;
};

}  // namespace

void compute_values(MigrationStep& step, std::span<const NamedType> from, std::span<const NamedType> to,
                    void (*convert)(void* context, const std::byte* const* olds, std::byte* const* news,
                                    std::size_t num_rows),
                    void* context) {
    step.add(computed_fields(from, to, [=](const std::byte* const* olds, std::byte* const* news, std::size_t num_rows) {
        convert(context, olds, news, num_rows);
    }));
}

void convert_values(MigrationStep& step, std::string_view field, ValueConversion conversion) {
    step.add({{std::string(field)}, Convert(field, std::move(conversion))});
}

void split_values(MigrationStep& step, std::string_view field, std::vector<std::string> to) {
    step.add({{std::string(field)}, Split(field, std::move(to))});
}

void join_values(MigrationStep& step, std::vector<std::string> from, std::string_view to) {
    SHOAL_ASSERT(from.size() >= 2 && from.size() <= 4, "a vector has two to four lanes; join as many floats");
    step.add({from, Join(from, to)});
}

}  // namespace shoal
