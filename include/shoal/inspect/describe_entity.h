#pragma once
// Describes an entity as text for logs and debuggers. The text shows the entity's name and whether it is alive, and has
// a line for each of its components in any store of a world.
//
//     std::fputs(describe(world, boat).c_str(), stdout);
//
//     entity 12:3 "boat" is alive
//       body: mass = 2.0, position = [0.0 0.0 3.0]
//       transform: position = [...], rotation = [...], scale = [...], world = [...] (parent 4:1 "harbour", 2 children)
//       asleep (disabled): since = 3.5
//       tag[0]: tag = "wooden"
//
// Components are in the order of the stores, and those in a database are in the order of its component types. Values
// are written as in a dump. References are written as index:generation and name. In gdb, `shoal-describe world boat`
// prints the same text if tools/debugger/shoal_gdb.py is loaded and the program references shoal_describe_entity().
// EntityWriter writes the same content to a document, for programs that read or compare it.
// Thread: makes only const calls to the world. Call it outside of passes.

#include "shoal/store/field_path.h"
#include "shoal/world/world.h"

#include <string>

namespace shoal {

/// Returns the size of a world, and a line for each of its services in the order in which they are called (see
/// react/service.h):
///
///     frame 12: entities 100, stores 3, passes 2; services:
///       relations: limpet.whale
///       frames: 8 of 8 are kept, from 5 to 12
SHOAL_API std::string describe(const World& world);

/// Accepts any entity. For a dead entity, lists components whose rows have not been removed yet.
SHOAL_API std::string describe(const World& world, Entity entity);

class DocumentBuilder;

/// Writes entities, with all their components in the stores of a world, as members of a document:
///
///     entity = "12:3"  name = "boat"  parent = "4:1"  owner = "5:1"  disabled = ["asleep"]  zone = 7
///     components = { body = { mass = 2.0 position = [0.0 0.0 3.0] }  tag = [{ tag = "wooden" }] }
///
/// The zone is left out if it is the first zone of the database. If a component type is `many`, its components become a
/// list.
/// `properties` contains the `values` of the template and the entity's `overrides`.
/// Values in blobs are shown if the world's library has the blobs. Otherwise, `resource` and the number of values are
/// shown (as `not_loaded` for `properties`).
class EntityWriter {
public:
    /// Lifetime: `world` outlives this object. The stores of the world must not change while this object exists.
    SHOAL_API explicit EntityWriter(const World& world);
    /// Adds the members to the open mapping. Accepts any entity.
    SHOAL_API void write(Entity entity, DocumentBuilder& builder) const;
    /// Adds one value as write() does. Shape: `bytes` has type.num_bytes() bytes.
    SHOAL_API void write_value(const ValueType& type, const std::byte* bytes, DocumentBuilder& builder) const;
    /// Returns the name of an entity, or an empty string.
    SHOAL_API std::string_view name_of(Entity entity) const;

private:
    const World& world_;
    Result<FieldPath> names_;  // the field with the names of entities
};

}  // namespace shoal

/// Like describe(), but for debuggers, which need debug information to call overloads or use std::string.
/// Lifetime:
/// until the next call on the same thread.
extern "C" SHOAL_API const char* shoal_describe_entity(const shoal::World* world, shoal::EntityBits id);
