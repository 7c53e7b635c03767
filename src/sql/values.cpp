#include "sql/values.h"

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "shoal/entity/entity_text.h"
#include "shoal/table/detail/enum_bytes.h"
#include "shoal/table/detail/visit_value.h"
#include "sql/session.h"

#include <cmath>
#include <limits>

namespace shoal::sql {
namespace {

/// Gives SQLite the value from visit_value().
struct ValueGiver {
    sqlite3_context* to;
    const StringTable& texts;

    template <class T>
    void operator()(const T& value) const {
        if constexpr (std::is_floating_point_v<T>)
            sqlite3_result_double(to, value);
        else
            sqlite3_result_int64(to, static_cast<std::int64_t>(value));
    }
    /// Gives SQLite a number beyond the range of a signed integer, as a double. SQLite would also read the number's
    /// text as a double.
    void operator()(std::uint64_t value) const {
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return sqlite3_result_double(to, static_cast<double>(value));
        sqlite3_result_int64(to, static_cast<std::int64_t>(value));
    }
    void operator()(StringId id) const {
        const std::string_view text = texts.text(id);
        if (!text.empty() || !id) return give_text(to, text);
        std::string hash = "#";
        append_hex(hash, id.hash);
        give_text(to, hash);
    }
    void operator()(ResourceId id) const { (*this)(StringId(id.hash)); }
    void operator()(Entity entity) const { give_entity(to, entity); }
    void operator()(const BlobArrayBase&) const { sqlite3_result_null(to); }
    void operator()(std::span<const std::byte>) const { sqlite3_result_null(to); }
};

void give_enum(sqlite3_context* to, const ValueType& type, const std::byte* value) {
    for (const EnumeratorDefinition& e : type.enumerators)
        if (is_enum_value(value, type.value_bytes, e.value)) return give_text(to, e.name);
    sqlite3_result_int64(to, read_enum_number(value, type.value_bytes));
}

std::string_view text_of(sqlite3_value* value) {
    const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    return text == nullptr ? std::string_view()
                           : std::string_view(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

void find_entity(sqlite3_context* to, int, sqlite3_value** values) {
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    Entity entity;
    const std::string_view text = text_of(values[0]);
    if (read_entity(text, entity)) return give_entity(to, entity);
    const std::string message =
        concat(quoted(text), " is not an entity; write its index and generation, as in entity('12:3')");
    sqlite3_result_error(to, message.c_str(), -1);
}

void write_entity(sqlite3_context* to, int, sqlite3_value** values) {
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    give_text(to, entity_text(entity_of(sqlite3_value_int64(values[0]))));
}

}  // namespace

int fail_table(sqlite3_vtab* table, std::string_view message) {
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%.*s", static_cast<int>(message.size()), message.data());
    return SQLITE_ERROR;
}

int refuse_text_of_entity(sqlite3_vtab* table) {
    return fail_table(table,
                      "an entity is compared with a text; an entity is a number in SQL, so write entity('12:3')");
}

void give_text(sqlite3_context* to, std::string_view text) {
    sqlite3_result_text64(to, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void give_entity(sqlite3_context* to, Entity entity) {
    entity ? sqlite3_result_int64(to, number_of(entity)) : sqlite3_result_null(to);
}

void give_value(sqlite3_context* to, const ValueType& type, const std::byte* value, const StringTable& texts) {
    if (type.type == FieldType::kEnum) return give_enum(to, type, value);
    if (type.type == FieldType::kFixedString) {
        const std::string_view all(reinterpret_cast<const char*>(value), type.value_bytes);
        return give_text(to, all.substr(0, all.find('\0')));
    }
    if (type.type == FieldType(0) || type.type == FieldType::kOpaque) return sqlite3_result_null(to);
    visit_value(type.type, value, ValueGiver{to, texts});
}

bool read_entity_value(sqlite3_value* value, Entity& entity) {
    entity = kNullEntity;
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) return false;
    if (type == SQLITE_NULL) return true;
    const std::int64_t number = sqlite3_value_int64(value);
    const bool is_exact = type == SQLITE_INTEGER || static_cast<double>(number) == sqlite3_value_double(value);
    if (is_exact && number_of(entity_of(number)) == number) entity = entity_of(number);
    return true;
}

Result<AnyValue> value_of(sqlite3_value* value, const ValueType& type, std::string_view name) {
    switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER: {
            const std::int64_t number = sqlite3_value_int64(value);
            if (type.type == FieldType::kBool && (number == 0 || number == 1)) return AnyValue(number == 1);
            if (type.type == FieldType::kEntity) return AnyValue(entity_of(number));
            return AnyValue(number);
        }
        case SQLITE_FLOAT:
            return AnyValue(sqlite3_value_double(value));
        case SQLITE_TEXT:
            return AnyValue(text_of(value));
        case SQLITE_NULL:
            if (type.type == FieldType::kEntity) return AnyValue(kNullEntity);
            return Status::error(concat(quoted(name), " is ", type.to_text(), ", which cannot be NULL"));
        default:
            return Status::error(concat(quoted(name), " is ", type.to_text(), ", which bytes cannot be"));
    }
}

int add_functions(sqlite3* database) {
    constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    const int made =
        sqlite3_create_function_v2(database, "entity", 1, kFlags, nullptr, find_entity, nullptr, nullptr, nullptr);
    if (made != SQLITE_OK) return made;
    return sqlite3_create_function_v2(database, "entity_text", 1, kFlags, nullptr, write_entity, nullptr, nullptr,
                                      nullptr);
}

}  // namespace shoal::sql
