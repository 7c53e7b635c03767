#pragma once
// Named values as a blob stores them: the text `properties = { armor = { front = 20 }  paint = "grey" }` becomes
// one read-only table, which all users of the text share. components/properties.h reads the table together with values
// that the program has set.
//
//     words     0      number of entries n
//               1      0
//               2      n paths, two words each, ascending: the hashes of "armor.front", "paint", ...
//               2+2n   n entries, two words each: type, lanes and count; then the value, or its offset in the table
//               2+4n   the values that take more than a word
//
// Words have 32 bits. A 64-bit value takes two words, the low word first, so a table can be byte-swapped like any other
// array. A bool or a float takes one word, an integer or the hash of a string takes two, and a vector takes one per
// lane. Readers check every entry: an entry with an invalid path, count or offset is treated as missing.
// Thread: any.

#include "shoal/table/describe.h"

namespace shoal {

class ComponentDirectory;
class DocumentBuilder;
class ValueNames;

enum class PropertyType : std::uint8_t { kNone, kBool, kInt, kFloat, kString };

/// The properties of an entity in a blob. A path that is not in `overrides` is looked up in `values`.
struct Properties {
    BlobArray<std::uint32_t> values;     ///< merged from all prefabs; all values if the entity has no prefab
    BlobArray<std::uint32_t> overrides;  ///< from the topmost layer; PropertyType::kNone hides a value
};
SHOAL_COMPONENT((Properties, whole, computed), values, overrides)

/// The shape of a value. A vector is an array of 2 to 4 floats; `lanes` is 1 except in arrays of vectors.
struct PropertyShape {
    PropertyType type = PropertyType::kNone;
    std::uint32_t lanes = 1;
    std::uint32_t count = 1;

    static constexpr std::uint32_t kMaxCount = 0xFFFFFF;
    /// Returns kNone for an invalid word.
    SHOAL_API static PropertyShape from_word(std::uint32_t word);
    constexpr std::uint32_t word() const { return std::uint32_t(type) | lanes << 4 | count << 8; }
    constexpr std::uint32_t num_words() const {
        return count * (type == PropertyType::kInt || type == PropertyType::kString ? 2
                        : type == PropertyType::kNone                               ? 0
                                                                                    : lanes);
    }
    /// Returns text for messages, such as "an array of 3 integers".
    SHOAL_API std::string to_text() const;
    friend bool operator==(const PropertyShape&, const PropertyShape&) = default;
};

/// A value in a table. Shape: `words` has shape.num_words() elements.
struct PropertyEntry {
    StringId path;
    PropertyShape shape;
    std::span<const std::uint32_t> words;
};

/// Returns the property path in a field path, or an empty string if there is none. For example, the property path in
/// "properties.armor.front" is "armor.front". The older prefix `data` is also accepted.
SHOAL_API std::string_view property_path(const ComponentDirectory& directory, std::string_view field);

/// The number of entries in a table, or 0 if the table is invalid.
SHOAL_API std::uint32_t num_property_entries(std::span<const std::uint32_t> table);
/// Returns an entry; its path is null if the entry is invalid. Entries that hide a value have the type kNone.
SHOAL_API PropertyEntry property_entry(std::span<const std::uint32_t> table, std::uint32_t index);
/// Finds the entry for a path. Cost: O(log entries).
SHOAL_API PropertyEntry find_property_entry(std::span<const std::uint32_t> table, StringId path);
/// Returns a table of these entries. Requires: the entries are sorted by path, without duplicates.
SHOAL_API Array<std::uint32_t> make_property_table(std::span<const PropertyEntry> entries);

/// The C++ types that values are read as.
template <class T>
concept PropertyElement =
    std::is_same_v<T, bool> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ||
    std::is_floating_point_v<T> || std::is_same_v<T, StringId> || std::is_same_v<T, Vec2> || std::is_same_v<T, Vec3> ||
    std::is_same_v<T, Vec4>;

/// Reads a value as elements of type T. Integers can be read as floating-point numbers, and 2 to 4 numbers as a vector.
/// Writes as many elements as fit into `out`. Returns the total number of elements, or 0 if the value cannot be read as
/// T.
/// Requires: `words` has shape.num_words() elements; T is a PropertyElement. The declaration does not say so, because
/// compilers mangle the names of constrained templates differently.
template <class T>
SHOAL_API std::uint32_t read_property(const PropertyShape& shape, std::span<const std::uint32_t> words,
                                      std::span<T> out);

/// Writes a value in source syntax, such as null, a number or a list.
SHOAL_API void write_property(DocumentBuilder& builder, const PropertyShape& shape,
                              std::span<const std::uint32_t> words, const ValueNames& names);

}  // namespace shoal
