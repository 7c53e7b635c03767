// Tables of named values: writing, searching and reading.

#include "shoal/resource/detail/property_table.h"

#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/resource/detail/old_words.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/table/detail/value_text.h"

#include <bit>

namespace shoal {
namespace {

constexpr std::uint32_t kHeadWords = 2;

std::uint64_t two_words(const std::uint32_t* words) { return words[0] | std::uint64_t(words[1]) << 32; }

/// Whether the value is stored in the entry.
bool is_inline(const PropertyShape& shape) { return shape.num_words() <= 1; }

}  // namespace

std::string PropertyShape::to_text() const {
    constexpr std::string_view kOne[] = {"nothing", "a bool", "an integer", "a float", "a string"};
    constexpr std::string_view kMany[] = {"nothings", "bools", "integers", "floats", "strings"};
    if (lanes > 1) return concat("an array of ", count, " vectors of ", lanes, " floats");
    const auto index = static_cast<std::size_t>(type);
    if (type == PropertyType::kNone || count == 1) return std::string(kOne[index]);
    return concat("an array of ", count, ' ', kMany[index]);
}

namespace {

std::uint32_t count_entries(std::span<const std::uint32_t> table) {
    return table.size() < kHeadWords || table[0] > (table.size() - kHeadWords) / 4 ? 0 : table[0];
}

/// Requires: `num_entries` is the result of count_entries(), and index < num_entries.
PropertyEntry entry_at(std::span<const std::uint32_t> table, std::uint32_t num_entries, std::uint32_t index) {
    const std::uint32_t* const entry = table.data() + kHeadWords + 2 * (std::size_t(num_entries) + index);
    const PropertyShape shape = PropertyShape::from_word(entry[0]);
    const std::uint32_t num_words = shape.num_words();
    const StringId path(two_words(table.data() + kHeadWords + 2 * std::size_t(index)));
    if (num_words <= 1) return {path, shape, {entry + 1, num_words}};
    if (entry[1] > table.size() || num_words > table.size() - entry[1]) return {};
    return {path, shape, {table.data() + entry[1], num_words}};
}

}  // namespace

std::string_view property_path(const ComponentDirectory& directory, std::string_view field) {
    for (const std::string_view component :
         {std::string_view(schema_of<Properties>().name()), old_words::kProperties}) {
        if (field.size() <= component.size() + 1 || !field.starts_with(component) || field[component.size()] != '.')
            continue;
        const bool is_programs =
            component == old_words::kProperties && directory.find(ComponentId(component)) != nullptr;
        return is_programs ? std::string_view() : field.substr(component.size() + 1);
    }
    return {};
}

std::uint32_t num_property_entries(std::span<const std::uint32_t> table) { return count_entries(table); }

PropertyEntry property_entry(std::span<const std::uint32_t> table, std::uint32_t index) {
    const std::uint32_t num_entries = count_entries(table);
    return index < num_entries ? entry_at(table, num_entries, index) : PropertyEntry();
}

PropertyEntry find_property_entry(std::span<const std::uint32_t> table, StringId path) {
    const std::uint32_t num_entries = count_entries(table);
    if (num_entries == 0) return {};
    // This binary search is branch-free, because its branches would be unpredictable.
    const std::uint32_t* first = table.data() + kHeadWords;
    for (std::uint32_t count = num_entries; count > 1;) {
        const std::uint32_t half = count / 2;
        first += two_words(first + 2 * std::size_t(half)) <= path.hash ? 2 * std::size_t(half) : 0;
        count -= half;
    }
    if (two_words(first) != path.hash) return {};
    return entry_at(table, num_entries, static_cast<std::uint32_t>(first - table.data() - kHeadWords) / 2);
}

Array<std::uint32_t> make_property_table(std::span<const PropertyEntry> entries) {
    Array<std::uint32_t> table(kHeadWords + 4 * entries.size(), 0, "property table");
    table[0] = static_cast<std::uint32_t>(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const PropertyEntry& entry = entries[i];
        SHOAL_ASSERT(i == 0 || entries[i - 1].path < entry.path,
                     "the entries of a property table are ascending by path");
        table[kHeadWords + 2 * i] = static_cast<std::uint32_t>(entry.path.hash);
        table[kHeadWords + 2 * i + 1] = static_cast<std::uint32_t>(entry.path.hash >> 32);
        const std::size_t at = kHeadWords + 2 * (entries.size() + i);
        table[at] = entry.shape.word();
        if (is_inline(entry.shape)) {
            table[at + 1] = entry.words.empty() ? 0 : entry.words[0];
            continue;
        }
        table[at + 1] = static_cast<std::uint32_t>(table.size());
        table.insert(table.end(), entry.words.begin(), entry.words.end());
    }
    return table;
}

// --- values ------------------------------------------------------------------------------------------------------

namespace {

template <class T>
constexpr std::uint32_t kNumLanes = std::is_same_v<T, Vec2>   ? 2
                                    : std::is_same_v<T, Vec3> ? 3
                                    : std::is_same_v<T, Vec4> ? 4
                                                              : 1;

/// Returns number `i` of a value as a double.
double number_at(const PropertyShape& shape, std::span<const std::uint32_t> words, std::size_t i) {
    if (shape.type == PropertyType::kInt) return double(static_cast<std::int64_t>(two_words(words.data() + 2 * i)));
    return std::bit_cast<float>(words[i]);
}

bool has_numbers(const PropertyShape& shape) {
    return shape.type == PropertyType::kInt || shape.type == PropertyType::kFloat;
}

/// Reads element `i`. Returns false if the element does not fit. Requires: the shape can be read as T.
template <class T>
bool read_element(const PropertyShape& shape, std::span<const std::uint32_t> words, std::size_t i, T& out) {
    if constexpr (std::is_same_v<T, bool>) {
        out = words[i] != 0;
    } else if constexpr (std::is_same_v<T, StringId>) {
        out = StringId(two_words(words.data() + 2 * i));
    } else if constexpr (std::is_integral_v<T>) {
        const auto value = static_cast<std::int64_t>(two_words(words.data() + 2 * i));
        out = static_cast<T>(value);
        return out == value;
    } else if constexpr (std::is_floating_point_v<T>) {
        out = static_cast<T>(number_at(shape, words, i));
    } else {
        float* const lanes = &out.x;
        for (std::uint32_t lane = 0; lane < kNumLanes<T>; ++lane)
            lanes[lane] = static_cast<float>(number_at(shape, words, i * kNumLanes<T> + lane));
    }
    return true;
}

/// Returns how many elements of type T a value has.
template <class T>
std::uint32_t count_as(const PropertyShape& shape) {
    if constexpr (std::is_same_v<T, bool>) return shape.type == PropertyType::kBool ? shape.count : 0;
    if constexpr (std::is_same_v<T, StringId>) return shape.type == PropertyType::kString ? shape.count : 0;
    if constexpr (std::is_integral_v<T>) return shape.type == PropertyType::kInt ? shape.count : 0;
    if (!has_numbers(shape)) return 0;
    if (shape.lanes == kNumLanes<T>) return shape.count;
    return shape.lanes == 1 && shape.count == kNumLanes<T> ? 1 : 0;
}

}  // namespace

template <class T>
std::uint32_t read_property(const PropertyShape& shape, std::span<const std::uint32_t> words, std::span<T> out) {
    const std::uint32_t count = count_as<T>(shape);
    for (std::size_t i = 0; i < count && i < out.size(); ++i)
        if (!read_element(shape, words, i, out[i])) return 0;
    return count;
}

template SHOAL_API std::uint32_t read_property(const PropertyShape&, std::span<const std::uint32_t>, std::span<bool>);
template SHOAL_API std::uint32_t read_property(const PropertyShape&, std::span<const std::uint32_t>,
                                               std::span<std::int32_t>);
template SHOAL_API std::uint32_t read_property(const PropertyShape&, std::span<const std::uint32_t>,
                                               std::span<std::int64_t>);
template SHOAL_API std::uint32_t read_property(const PropertyShape&, std::span<const std::uint32_t>, std::span<float>);
template SHOAL_API std::uint32_t read_property(const PropertyShape&, std::span<const std::uint32_t>, std::span<double>);
template SHOAL_API std::uint32_t read_property(const PropertyShape&, std::span<const std::uint32_t>,
                                               std::span<StringId>);
template SHOAL_API std::uint32_t read_property(const PropertyShape&, std::span<const std::uint32_t>, std::span<Vec2>);
template SHOAL_API std::uint32_t read_property(const PropertyShape&, std::span<const std::uint32_t>, std::span<Vec3>);
template SHOAL_API std::uint32_t read_property(const PropertyShape&, std::span<const std::uint32_t>, std::span<Vec4>);

namespace {

void write_element(DocumentBuilder& builder, const PropertyShape& shape, std::span<const std::uint32_t> words,
                   std::size_t i, const ValueNames& names) {
    switch (shape.type) {
        case PropertyType::kNone:
            return builder.null();
        case PropertyType::kBool:
            return builder.boolean(words[i] != 0);
        case PropertyType::kInt:
            return builder.integer(static_cast<std::int64_t>(two_words(words.data() + 2 * i)));
        case PropertyType::kFloat:
            return write_number(builder, std::bit_cast<float>(words[i]));
        case PropertyType::kString:
            break;
    }
    const StringId id(two_words(words.data() + 2 * i));
    const std::string_view text = names.text(id);
    if (text.empty() && id) return write_hash(builder, id.hash);
    builder.string(text);
}

}  // namespace

void write_property(DocumentBuilder& builder, const PropertyShape& shape, std::span<const std::uint32_t> words,
                    const ValueNames& names) {
    const bool is_list = shape.type != PropertyType::kNone && (shape.count != 1 || shape.lanes > 1);
    if (!is_list) return write_element(builder, shape, words, 0, names);
    builder.begin_list();
    for (std::uint32_t i = 0; i < shape.count; ++i) {
        if (shape.lanes > 1) builder.begin_list();
        for (std::uint32_t lane = 0; lane < shape.lanes; ++lane)
            write_element(builder, shape, words, std::size_t(i) * shape.lanes + lane, names);
        if (shape.lanes > 1) builder.end();
    }
    builder.end();
}

PropertyShape PropertyShape::from_word(std::uint32_t word) {
    const PropertyShape shape{static_cast<PropertyType>(word & 15), word >> 4 & 15, word >> 8};
    if (shape.lanes == 1) return shape.type <= PropertyType::kString ? shape : PropertyShape();
    return shape.type == PropertyType::kFloat && shape.lanes - 1 < 4 ? shape : PropertyShape();
}

}  // namespace shoal
