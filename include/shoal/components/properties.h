#pragma once
// Properties are named values of an entity, which may override values of its resource. An entity may have any number of
// them. A name is a path, such as "armor.front", and is stored as a hash. Only values that are set use memory.
//
//     if (Status set = properties.set(tank, "armor.front", 35); !set) return set;  // an own value hides the template's
//     const float armor = properties.get_or(tank, front, 0.0f);                    // the own value, else the template's
//     properties.reset(tank, "armor.front");                                       // the template's again
//     world.commands().add(tank, PropertyValue("paint", "red"));                   // from a pass: set at the settle
//     world.commands().add(tank, PropertyValue::none("speed"));                    // the same for reset()
//
// In a source: `properties = { armor = { front = 20  rear = 8 }  paint = "grey"  decks = [1 2 3] }`. An entity
// overrides values with `modified_components = { properties = { armor = { front = 30 } } }`. See docs/formats/source.md
// for the rules.
//
//     own values    rows of PropertyValue, as many as are set  set(), commands, blobs
//     overrides     a table in the blob, see property_table.h  what the entity's text sets over its prefab
//     values        the same, one for all users of a prefab    what the prefab sets
//
// A look-up searches these three in this order. A value is a bool, a 64-bit integer, a float, a string, a vector of 2
// to 4 floats, or an array of these. A vector can be read as an array of numbers, and vice versa. An integer can be
// read as a float. Strings are StringIds. set() and sources store the strings in the world, but a PropertyValue
// contains only the hashes. Saved and copied entities keep all of their properties.
// If a loop reads a value for many entities, keep the value in a component, because reading a field takes a load, while
// reading a property takes a search. Thread: calls that set values are structural. Between them, any thread may look up
// values.

#include "shoal/base/detail/string_table.h"
#include "shoal/resource/detail/property_table.h"
#include "shoal/resource/library.h"
#include "shoal/store/detail/owned_rows.h"
#include "shoal/table/detail/any_value.h"

namespace shoal {

class ComponentRegistry;

/// The path of a value. If it is made from a string, set() keeps the string for messages.
struct PropertyPath {
    PropertyPath(StringId path) : id(path) {}                                        // NOLINT
    PropertyPath(std::string_view path) : id(path), text(path) {}                    // NOLINT
    PropertyPath(const char* path) : PropertyPath(std::string_view(path)) {}         // NOLINT
    PropertyPath(const std::string& path) : PropertyPath(std::string_view(path)) {}  // NOLINT
    StringId id;
    std::string_view text{};
};

/// A value for set() that is not an array: a bool, a number, a string, a StringId or a vector.
struct PropertyInput {
    template <class T>
        requires std::is_arithmetic_v<T>
    PropertyInput(T value) {  // NOLINT
        if constexpr (std::is_same_v<T, bool>)
            put(PropertyType::kBool, value);
        else if constexpr (std::is_integral_v<T>)
            put_integer(static_cast<std::int64_t>(value), std::is_unsigned_v<T>);
        else
            put_floats({static_cast<float>(value)}, 1);
    }
    PropertyInput(Vec2 v) { put_floats({v.x, v.y}, 2); }                                      // NOLINT
    PropertyInput(Vec3 v) { put_floats({v.x, v.y, v.z}, 3); }                                 // NOLINT
    PropertyInput(Vec4 v) { put_floats({v.x, v.y, v.z, v.w}, 4); }                            // NOLINT
    PropertyInput(StringId id) { put(PropertyType::kString, id.hash); }                       // NOLINT
    PropertyInput(std::string_view given) : PropertyInput(StringId(given)) { text = given; }  // NOLINT
    PropertyInput(const char* given) : PropertyInput(std::string_view(given)) {}              // NOLINT
    PropertyInput(const std::string& given) : PropertyInput(std::string_view(given)) {}       // NOLINT

    PropertyShape shape;
    std::uint32_t words[4] = {};
    std::string_view text{};

private:
    SHOAL_API void put(PropertyType type, std::uint64_t value);
    SHOAL_API void put_integer(std::int64_t value, bool is_unsigned);
    SHOAL_API void put_floats(Vec4 lanes, std::uint32_t count);
};

/// An entity's own value, or a part of an array, with 4 words in each row. Adding it to an entity, directly or by
/// command, replaces the entity's own value at the path. Parts of an array are added in order.
struct PropertyValue {
    StringId path;
    std::uint32_t shape = 0;  ///< PropertyShape::word()
    std::uint32_t part = 0;
    std::uint32_t words[4] = {};

    PropertyValue() = default;
    SHOAL_API PropertyValue(const PropertyPath& path, const PropertyInput& value);
    /// Returns a value that removes the entity's own value when it is added.
    static PropertyValue none(const PropertyPath& path) { return PropertyValue(path, PropertyShape()); }
    /// Returns the rows of an array.
    template <class Elements>
    static Array<PropertyValue> parts_of(const PropertyPath& path, const Elements& elements) {
        return join(path, Array<PropertyInput>(std::begin(elements), std::end(elements), "properties"));
    }

    /// The maximum number of words in an entity's own value, which is enough for 1,024 floats. Keep longer values in a
    /// source or a component.
    static constexpr std::uint32_t kMaxWords = 1024;

private:
    PropertyValue(const PropertyPath& p, const PropertyShape& s) : path(p.id), shape(s.word()) {}
    friend class PropertyManager;
    SHOAL_API static Array<PropertyValue> join(const PropertyPath& path, std::span<const PropertyInput> elements);
};
SHOAL_COMPONENT((PropertyValue, many, whole, computed), path, shape, part, words)

/// The result of a look-up, which is a value or nothing. Lifetime: until the next structural call, or until the value's
/// blob is unloaded.
class PropertyView {
public:
    explicit operator bool() const { return word_ != 0; }
    PropertyShape shape() const { return PropertyShape::from_word(word_); }
    PropertyType type() const { return shape().type; }
    std::uint32_t count() const { return *this ? shape().count : 0; }
    /// Whether the value was set for this entity, rather than by the entity's source.
    bool is_own() const { return row_ != kNilRow; }
    /// Reads the value as elements of type T; see read_property().
    template <PropertyElement T, std::size_t kExtent>
    std::uint32_t read(std::span<T, kExtent> out) const {
        if (rows_ == nullptr) return read_property<T>(shape(), {words_, shape().num_words()}, out);
        return read_property<T>(shape(), joined_words(), out);
    }
    /// Returns the words of all parts of the value.
    SHOAL_API Array<std::uint32_t> joined_words() const;

private:
    friend class PropertyManager;
    const std::uint32_t* words_ = nullptr;
    const OwnedRows* rows_ = nullptr;  // the rows of a value with several parts
    std::uint32_t row_ = kNilRow;      // the first row of an own value
    std::uint32_t word_ = 0;           // PropertyShape::word() of the value; 0: no value
};

struct PropertyOptions {
    const ResourceLibrary* library = nullptr;  ///< outlives the manager; needed to spawn properties from blobs
    StringTable* texts = nullptr;              ///< outlives the manager; has the strings of paths and values
};

class SHOAL_API PropertyManager final : public Store {
public:
    /// Lifetime: `entities` and `pool` outlive the manager.
    SHOAL_API PropertyManager(EntityManager& entities, PagePool& pool, const PropertyOptions& options = {});
    SHOAL_API ~PropertyManager() override;

    // --- look-up -------------------------------------------------------------------------------------------------

    /// Returns the own value of a living entity, or else the value of its template. Accepts any entity and any path.
    /// Cost: a look-up of the entity and a step for each of its own values. For the template, another look-up and two
    /// binary searches.
    PropertyView find(Entity entity, const PropertyPath& path) const { return find_value(entity, path.id); }
    bool has(Entity entity, const PropertyPath& path) const { return bool(find(entity, path)); }
    /// Errors: there is no value, or it has a different type, which the message names.
    template <PropertyElement T>
    Result<T> get(Entity entity, const PropertyPath& path) const {
        T value{};
        if (find(entity, path).read(std::span(&value, 1)) == 1) return value;
        return refuse(entity, path, value_type_of<T>());
    }
    /// Like get(), but returns `fallback` instead of an error. In hot code, keep the path as a StringId.
    template <PropertyElement T>
    T get_or(Entity entity, const PropertyPath& path, T fallback) const {
        const PropertyView found = find(entity, path);
        if constexpr (std::is_same_v<T, float>)
            if (found.word_ == kFloatWord) return __builtin_bit_cast(float, *found.words_);
        T value{};
        return found.read(std::span(&value, 1)) == 1 ? value : fallback;
    }
    /// Returns a string value; empty if there is none. Lifetime: until the value changes.
    SHOAL_API std::string_view text(Entity entity, const PropertyPath& path) const;
    /// Calls visit(StringId, const PropertyView&) once for each path that an entity has. Visits its own values first,
    /// newest first, and then the other values, ordered by hash. The visitor must not set values.
    template <class Visitor>
    void for_each(Entity entity, Visitor&& visit) const {
        using Function = std::remove_reference_t<Visitor>;
        visit_all(
            entity,
            [](void* to, StringId path, const PropertyView& value) { (*static_cast<Function*>(to))(path, value); },
            const_cast<std::remove_const_t<Function>*>(&visit));
    }
    /// Appends the string ids in an entity's properties. These are the ids of paths and of string values, including
    /// overridden values.
    SHOAL_API void list_texts(Entity entity, Array<StringId>& ids) const;

    // --- own values ----------------------------------------------------------------------------------------------

    /// Sets a value of living entities, replacing their own values at the path.
    /// Errors: the path is empty, an entity is dead, memory runs out, or a different string has the same hash.
    /// On error, nothing has changed.
    SHOAL_API Status set(std::span<const Entity> entities, const PropertyPath& path, const PropertyInput& value);
    Status set(Entity entity, const PropertyPath& path, const PropertyInput& value) {
        return set({&entity, 1}, path, value);
    }
    /// Like set(), but for an array, such as a span or a vector. Errors: those of set(), or the array has more than
    /// PropertyValue::kMaxWords words.
    template <class Elements>
    Status set_array(Entity entity, const PropertyPath& path, const Elements& elements) {
        return set_elements(entity, path, Array<PropertyInput>(std::begin(elements), std::end(elements), "properties"));
    }
    /// Removes the entity's own value, and returns whether there was one. The template's value becomes visible again.
    SHOAL_API bool reset(Entity entity, const PropertyPath& path);

    /// Get and set a value whose type is known only at run time.
    SHOAL_API Result<AnyValue> read(Entity entity, const PropertyPath& path) const;
    SHOAL_API Status write(Entity entity, const PropertyPath& path, const AnyValue& value);

    /// Checks the tables. Cost: O(rows).
    SHOAL_API Status validate() const;

    // Store
    std::string_view kind() const override { return "the properties"; }
    std::span<const Schema* const> schemas() const override { return schemas_; }
    SHOAL_API OwnedColumns find_columns(const Schema& component) override;
    /// Errors: the tables are in a blob that is not in the library, or memory runs out.
    SHOAL_API Status spawn(const SpawnBatch& batch) override;
    SHOAL_API void drop(std::span<const Entity> entities) override;
    /// Like set() and reset(). Skips values without a path, and parts of an array whose first part does not exist.
    SHOAL_API Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                               const AddedValues& values) override;
    SHOAL_API Result<bool> prepare_values(const Schema& component, std::span<const Entity> entities,
                                          bool removes) override;
    SHOAL_API Result<std::uint32_t> remove_values(const Schema& component, std::span<const Entity> entities) override;
    SHOAL_API void hold_rows(bool hold) override;
    bool is_held() const override { return templates_.is_held() || own_.is_held(); }
    SHOAL_API void settle(const SettleContext& context) override;
    SHOAL_API void save(SnapshotWriter& to) const override;
    SHOAL_API Status load(SnapshotReader& from) override;
    std::span<const Table* const> tables() const override { return tables_; }
    SHOAL_API std::size_t statistics(std::span<StoreStatistics> out) const override;

private:
    static constexpr std::uint32_t kFloatWord = PropertyShape{PropertyType::kFloat, 1, 1}.word();
    using Visit = void (*)(void* context, StringId path, const PropertyView& value);

    SHOAL_API PropertyView find_value(Entity entity, StringId path) const;
    OwnedRows& rows_of(const Schema& component);
    std::span<const std::uint32_t> table_of(const BlobArray<std::uint32_t>& array) const;
    Properties template_of(Entity entity) const;
    const PropertyValue& value_at(std::uint32_t row) const;
    std::uint32_t next_row(std::uint32_t row) const;
    std::uint32_t find_part(Entity entity, StringId path, std::uint32_t part) const;
    PropertyView own_view(std::uint32_t row) const;
    static PropertyView template_view(const PropertyEntry& entry);
    bool apply(Entity entity, const PropertyValue& value);
    void remove_parts(Entity entity, StringId path, std::uint32_t first_part);
    SHOAL_API void visit_all(Entity entity, Visit visit, void* context) const;
    SHOAL_API Status set_elements(Entity entity, const PropertyPath& path, const Array<PropertyInput>& elements);
    Status set_all(std::span<const Entity> entities, const PropertyPath& path, std::span<const PropertyInput> elements);
    Status keep_texts(const PropertyPath& path, std::span<const PropertyInput> elements);
    std::string text_of(const PropertyPath& path) const;
    SHOAL_API Status refuse(Entity entity, const PropertyPath& path, const ValueType& wanted) const;

    EntityManager& entities_;
    PropertyOptions options_;
    OwnedRows templates_;  // Properties
    OwnedRows own_;        // PropertyValue
    const Schema* schemas_[2];
    const Table* tables_[2];
};

/// Registers Properties and its text form in sources. Calling it again does nothing.
/// Errors: a different component type is called "properties", or it has a different compile function.
SHOAL_API Status add_properties(ComponentRegistry& registry);

/// Returns a directory's properties; nullptr if no store has Properties, or if that store is of a different class.
SHOAL_API PropertyManager* find_properties(const ComponentDirectory& directory);
/// Whether a PropertyManager has the properties, or can be created because no other store has them.
SHOAL_API bool can_keep_properties(const ComponentDirectory& directory);

}  // namespace shoal
