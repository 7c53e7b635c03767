#pragma once
// Named values as a blob keeps them: what a text says as `properties = { armor = { front = 20 }  paint = "grey" }` is
// one read-only table, which all users of the text share. components/properties.h reads it together with what the
// program has set.
//
//     words     0      number of entries n
//               1      0
//               2      n paths, two words each, ascending: the hashes of "armor.front", "paint", ...
//               2+2n   n entries, two words each: type, lanes and count; then the value, or where it begins in the table
//               2+4n   the values that take more than a word
//
// Words have 32 bits, and 64-bit values take two, the lower first, so that a blob of the other byte order is swapped like
// every array. A bool or a float is one word, an integer or the hash of a string two, a vector as many as it has lanes.
// What reads a table trusts nothing that it says: a path, a count or a place that is wrong is an entry that is not there.
// Thread: values.

#include "shoal/table/describe.h"

namespace shoal {

class ComponentDirectory;
class DocumentBuilder;
class ValueNames;

enum class PropertyType : std::uint8_t { kNone, kBool, kInt, kFloat, kString };

/// What a blob has of the properties of an entity. A path that `overrides` has not is looked up in `values`.
struct Properties {
    BlobArray<std::uint32_t> values;     ///< what prefabs say, merged; of an entity without a prefab all that it says
    BlobArray<std::uint32_t> overrides;  ///< what the last text says on top; here PropertyType::kNone hides a value
};
SHOAL_COMPONENT((Properties, whole, computed), values, overrides)

/// What a value is made of: `count` elements. A vector is an array of 2 to 4 floats; `lanes` is 1 but in arrays of vectors.
struct PropertyShape {
    PropertyType type = PropertyType::kNone;
    std::uint32_t lanes = 1;
    std::uint32_t count = 1;

    static constexpr std::uint32_t kMaxCount = 0xFFFFFF;
    /// Returns nothing, kNone, for a word that says nothing.
    SHOAL_API static PropertyShape from_word(std::uint32_t word);
    constexpr std::uint32_t word() const { return std::uint32_t(type) | lanes << 4 | count << 8; }
    constexpr std::uint32_t num_words() const {
        return count * (type == PropertyType::kInt || type == PropertyType::kString ? 2
                        : type == PropertyType::kNone                               ? 0
                                                                                    : lanes);
    }
    /// Returns a text such as "an array of 3 integers" for messages.
    SHOAL_API std::string to_text() const;
    friend bool operator==(const PropertyShape&, const PropertyShape&) = default;
};

/// A value of a table. Shape: words: shape.num_words().
struct PropertyEntry {
    StringId path;
    PropertyShape shape;
    std::span<const std::uint32_t> words;
};

/// Returns the path of the value that a field path such as "properties.armor.front" names; empty: it names a field. In
/// older programs, such paths begin with `data`.
SHOAL_API std::string_view property_path(const ComponentDirectory& directory, std::string_view field);

/// The number of entries of a table; 0 if its words are no table.
SHOAL_API std::uint32_t num_property_entries(std::span<const std::uint32_t> table);
/// Returns an entry, one without a path if the table has nothing there. Those that hide a value have the type kNone.
SHOAL_API PropertyEntry property_entry(std::span<const std::uint32_t> table, std::uint32_t index);
/// The same for a path. Cost: O(log entries).
SHOAL_API PropertyEntry find_property_entry(std::span<const std::uint32_t> table, StringId path);
/// Returns the table with these entries. Requires: they are ascending by path, without doubles.
SHOAL_API Array<std::uint32_t> make_property_table(std::span<const PropertyEntry> entries);

/// The C++ types that values are read as.
template <class T>
concept PropertyElement =
    std::is_same_v<T, bool> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ||
    std::is_floating_point_v<T> || std::is_same_v<T, StringId> || std::is_same_v<T, Vec2> || std::is_same_v<T, Vec3> ||
    std::is_same_v<T, Vec4>;

/// Reads a value as elements of type T. Integers can be read as numbers with a fraction, and 2 to 4 numbers as a vector.
/// Returns how many elements there are, and writes as many as `out` has room for; 0 if they cannot be read so.
/// Requires: `words` has shape.num_words().
template <PropertyElement T>
SHOAL_API std::uint32_t read_property(const PropertyShape& shape, std::span<const std::uint32_t> words,
                                      std::span<T> out);

/// Writes a value as a source would say it: null, a number, a list, ...
SHOAL_API void write_property(DocumentBuilder& builder, const PropertyShape& shape,
                              std::span<const std::uint32_t> words, const ValueNames& names);

}  // namespace shoal
