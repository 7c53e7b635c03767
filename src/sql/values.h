#pragma once
// Converts field values to SQLite values and back.

#include "shoal/base/detail/string_table.h"
#include "shoal/table/detail/any_value.h"

#include <sqlite3.h>

namespace shoal::sql {

inline std::int64_t number_of(Entity entity) { return static_cast<std::int64_t>(entity.id); }
inline Entity entity_of(std::int64_t number) { return {static_cast<EntityBits>(number)}; }
/// Reads a value that is compared with entities. `entity` becomes null if no entity can be equal to the value. Returns
/// false if the value is text.
bool read_entity_value(sqlite3_value* value, Entity& entity);

void give_text(sqlite3_context* to, std::string_view text);
/// Makes a call to a virtual table fail with a message. Returns the error code.
int fail_table(sqlite3_vtab* table, std::string_view message);
/// Makes a call fail because an entity is compared with text. Without this error, the query would silently find no
/// rows.
int refuse_text_of_entity(sqlite3_vtab* table);

/// Gives SQLite an entity. The null entity becomes NULL.
void give_entity(sqlite3_context* to, Entity entity);
/// Gives SQLite a value. Requires: the type is not an array, a vector or opaque.
void give_value(sqlite3_context* to, const ValueType& type, const std::byte* value, const StringTable& texts);
/// Returns the value that UPDATE sets in a field. Errors: the value is NULL but the field is not an entity, or the
/// value is bytes.
Result<AnyValue> value_of(sqlite3_value* value, const ValueType& type, std::string_view name);

}  // namespace shoal::sql
