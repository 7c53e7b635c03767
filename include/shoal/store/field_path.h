#pragma once
// Reads or writes a field of any entity in any store by name, without knowing the field's C++ type.
//
//     "body.position"          a field of the component type "body"
//     "body.position.x"        a part of a field: x, y, z or w, an element [i] of an array, a row [i] of a matrix
//     "world_pose.position"    short for "world_pose.matrix.position", because the matrix is the only field
//     "tag[1].tag"             with `many`: the entity's second component; without a number, the first
//
//     Result<FieldPath> position = world.find_field("body.position");  // looks the name up once
//     if (!position) return position.status();                         // "body" has no field "positon"; did you ...
//     for (const Entity body : bodies)                                 // fast: parses no name and allocates nothing
//         if (auto place = position->find<Vec3>(body)) total += *place;
//     Result<AnyValue> value = position->read(bodies[0]);  // when the type is known only at run time
//     if (value) std::puts(value->to_text().c_str());      // [1.0 2.0 3.0]
//     return position->write(bodies[1], Vec3{4, 5, 6});
//
// A world creates paths; World::get() and World::set() read and write single values.
// Writing goes through the store: setting a transform moves its children. The requirements of the store's setters also
// apply here; for example, do not overwrite a tag, because TagManager would not notice. Ranges in a schema limit only
// values in sources and are not checked here. Values that a store computes, such as "world_pose.matrix" and
// "child_of.parent", can be read but not written; the error message names the function to call instead. The text of an
// entity is its index and its generation: "12:3", or "null". Lifetime: a path is valid until the store is detached or
// destroyed.
// Thread: for reading, as for const calls to the store. A pass may write if it declares that it writes the field.

#include "shoal/store/store.h"
#include "shoal/table/detail/any_value.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/table/detail/found_value.h"

namespace shoal {

class FieldPath {
public:
    /// Looks up a name in a directory's stores. Errors: the name is not a path; the component type, field or part does
    /// not exist; the field is opaque. The message lists what exists. Lifetime: the directory outlives the path.
    SHOAL_API static Result<FieldPath> find_in(const ComponentDirectory& directory, std::string_view name);

    /// The name by which the field was found.
    const std::string& name() const { return name_; }
    ComponentId component() const { return component_; }
    Store& store() const { return *store_; }
    const FieldPart& part() const { return part_; }
    std::uint32_t index() const { return index_; }  ///< with `many`: which of the entity's components
    const ValueType& type() const { return part_.type; }
    template <PlainValue T>
    bool is() const {
        return part_.type == value_type_of<T>();
    }

    /// Returns the value, or nothing if the entity is dead, or if its component is missing or disabled.
    /// Requires: is<T>(). Cost: a look-up in the store, and a copy.
    template <PlainValue T>
    FoundValue<T> find(Entity entity) const {
        SHOAL_ASSERT(is<T>(), "the field has another type; ask is<T>() first, or use read()");
        FoundValue<T> found;
        if (!copy_value(entity, reinterpret_cast<std::byte*>(found.data()))) return nullptr;
        return found;
    }
    /// Returns the value. Errors: the entity is dead, or its component is missing or disabled; see the message.
    SHOAL_API Result<AnyValue> read(Entity entity) const;
    /// Returns the value as a T. Errors: as for the other read(); the field has a different type.
    template <PlainValue T>
    Result<T> read(Entity entity) const {
        if (!is<T>()) return type_error(value_type_of<T>());
        T value;
        if (!copy_value(entity, reinterpret_cast<std::byte*>(&value))) return absence(entity);
        return value;
    }
    /// Sets the value and marks it as written. Numbers and strings are converted as in AnyValue::convert().
    /// Errors: as for read(); the value has a different type, does not fit, or names a dead entity; the store does not
    /// accept it. On error, nothing has changed.
    ///
    /// convert() returns the value that write() would set, but does not set it. Use it to check a value before the
    /// entity exists. The result has type(). Errors: the same as for write(), except errors that depend on the entity
    /// or on the store. Neither call checks ranges, because a schema limits only the values in sources.
    /// Cost: for write(), a look-up in the store; for both, a copy.
    SHOAL_API Status write(Entity entity, const AnyValue& value) const;
    SHOAL_API Result<AnyValue> convert(const AnyValue& value) const;

    /// Returns the error for an entity that is dead or has no component with this name.
    static SHOAL_API Status absence_of(const EntityManager& entities, Entity entity, std::string_view component);
    /// Returns the error for an entity whose row was looked up as `at`, and whose component is missing or disabled.
    static SHOAL_API Status absence_at(const ComponentRow& at, const EntityManager& entities, Entity entity,
                                       std::string_view component);
    /// Writes field number `number` of a row that store.find_row() returned. `field` is the same field as declared in
    /// C++. Shape: `value` has field.size bytes. Errors: the store has a different field there, or does not accept the
    /// value. On error, nothing has changed. Requires: the row has the component.
    static SHOAL_API Status write_at(Store& store, const ComponentRow& at, std::uint32_t number, const Field& field,
                                     const std::byte* value);

private:
    FieldPath() = default;

    SHOAL_API bool copy_value(Entity entity, std::byte* value) const;
    SHOAL_API Status type_error(const ValueType& wanted) const;
    /// Returns why an entity has no value. Requires: the entity has no value.
    SHOAL_API Status absence(Entity entity) const;
    ComponentRow find_row(Entity entity) const;

    std::string name_;
    Store* store_ = nullptr;
    const EntityManager* entities_ = nullptr;
    ComponentId component_;
    std::uint32_t index_ = 0;
    FieldPart part_;
};

}  // namespace shoal
