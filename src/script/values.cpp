// Converts Lua values to field values and back.

#include "script/state.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/table/detail/enum_bytes.h"

#include <cstring>

namespace shoal::lua {
namespace {

constexpr const char* kLanes[] = {"x", "y", "z", "w"};

/// The number of floats in a vector, or 0 for other types.
std::uint32_t num_lanes(FieldType type) {
    const std::uint32_t lanes = field_type_lanes(type);
    return lanes > 1 ? lanes : 0;
}

template <class T>
T load(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

void push_enumerator(lua_State* lua, const ValueType& type, const std::byte* bytes) {
    const std::int64_t value = read_enum_number(bytes, type.value_bytes);
    const std::int64_t mask = type.value_bytes >= 8 ? -1 : (std::int64_t(1) << (type.value_bytes * 8)) - 1;
    for (const EnumeratorDefinition& one : type.enumerators)
        if ((one.value & mask) == (value & mask)) return push_text(lua, one.name);
    push_integer(lua, value & mask);
}

void push_id(lua_State* lua, const State& state, std::uint64_t hash) {
    const std::string_view text = state.text_of(StringId(hash));
    if (hash == 0 || !text.empty()) return push_text(lua, text);
    std::string shown;
    append_hex(shown, hash);
    push_text(lua, shown);
}

void push_lanes(lua_State* lua, const std::byte* bytes, std::uint32_t count) {
    lua_createtable(lua, 0, static_cast<int>(count));
    for (std::uint32_t i = 0; i < count; ++i) {
        lua_pushnumber(lua, load<float>(bytes + i * sizeof(float)));
        lua_setfield(lua, -2, kLanes[i]);
    }
}

void push_one(lua_State* lua, const State& state, const ValueType& type, const std::byte* bytes) {
    switch (type.type) {
        case FieldType::kBool:
            return lua_pushboolean(lua, bytes[0] != std::byte(0) ? 1 : 0);
        case FieldType::kInt8:
        case FieldType::kInt16:
        case FieldType::kInt32:
        case FieldType::kInt64:
            return push_integer(lua, read_enum_number(bytes, type.value_bytes));
        case FieldType::kUint8:
        case FieldType::kUint16:
        case FieldType::kUint32:
            return push_integer(
                lua, read_enum_number(bytes, type.value_bytes) & ((std::int64_t(1) << type.value_bytes * 8) - 1));
        case FieldType::kUint64:
            return push_unsigned(lua, load<std::uint64_t>(bytes));
        case FieldType::kFloat:
            return lua_pushnumber(lua, load<float>(bytes));
        case FieldType::kDouble:
            return lua_pushnumber(lua, load<double>(bytes));
        case FieldType::kMatrix3x4:
            return push_list(lua, 12,
                             [&](std::size_t i) { lua_pushnumber(lua, load<float>(bytes + i * sizeof(float))); });
        case FieldType::kEnum:
            return push_enumerator(lua, type, bytes);
        case FieldType::kStringId:
        case FieldType::kResourceId:
            return push_id(lua, state, load<std::uint64_t>(bytes));
        case FieldType::kEntity:
            return push_entity(lua, load<Entity>(bytes));
        case FieldType::kFixedString: {
            const auto* const text = reinterpret_cast<const char*>(bytes);
            return push_text(lua, {text, strnlen(text, type.value_bytes)});
        }
        default:
            break;
    }
    if (const std::uint32_t lanes = num_lanes(type.type); lanes != 0) return push_lanes(lua, bytes, lanes);
    lua_pushnil(lua);  // types that Lua cannot represent: read-only arrays and C++ types
}

ValueType element_of(const ValueType& type) {
    ValueType element = type;
    element.array_length = 0;
    return element;
}

}  // namespace

int push_value(lua_State* lua, const State& state, const ValueType& type, const std::byte* bytes, bool is_flat) {
    if (type.array_length != 0) {
        const ValueType element = element_of(type);
        push_list(lua, type.array_length,
                  [&](std::size_t i) { push_one(lua, state, element, bytes + i * type.value_bytes); });
        return 1;
    }
    const std::uint32_t lanes = is_flat ? num_lanes(type.type) : 0;
    for (std::uint32_t i = 0; i < lanes; ++i) lua_pushnumber(lua, load<float>(bytes + i * sizeof(float)));
    if (lanes != 0) return static_cast<int>(lanes);
    push_one(lua, state, type, bytes);
    return 1;
}

// --- reading -----------------------------------------------------------------------------------------------------

namespace {

Status wrong_type(lua_State* lua, int index, const ValueType& type, std::string_view name) {
    return Status::error(concat("\"", name, "\" is ", type.to_text(), ", not ", type_of(lua, index)));
}

Status read_floats(lua_State* lua, int index, std::uint32_t count, std::string_view name, std::byte* bytes) {
    float floats[12];
    for (std::uint32_t i = 0; i < count; ++i) {
        lua_rawgeti(lua, index, static_cast<int>(i) + 1);
        if (lua_type(lua, -1) == LUA_TNIL && count <= 4) {
            lua_pop(lua, 1);
            lua_pushstring(lua, kLanes[i]);
            lua_rawget(lua, index);
        }
        const bool is_number = lua_type(lua, -1) == LUA_TNUMBER;
        if (is_number) floats[i] = static_cast<float>(lua_tonumber(lua, -1));
        lua_pop(lua, 1);
        if (is_number) continue;
        return Status::error(concat("\"", name, "\" needs ", count, " numbers, and number ", i + 1, " is ",
                                    count <= 4 ? concat("neither ", kLanes[i], " nor [", i + 1, "]") : "missing",
                                    " of the table"));
    }
    std::memcpy(bytes, floats, count * sizeof(float));
    return {};
}

/// Reads the value at `index` without conversion. Errors: Lua does not have this type.
Result<AnyValue> any_value(lua_State* lua, State& state, int index, const ValueType& type, std::string_view name) {
    switch (lua_type(lua, index)) {
        case LUA_TBOOLEAN:
            return AnyValue(lua_toboolean(lua, index) != 0);
        case LUA_TNUMBER: {
            std::int64_t whole = 0;
            const bool is_read = read_integer(lua, index, whole);
            // The inverse of push_unsigned(): in Lua 5.4, 0xFFFFFFFFFFFFFFFF is -1.
            if (is_read && type.type == FieldType::kUint64 && is_whole(lua, index))
                return AnyValue(static_cast<std::uint64_t>(whole));
            if (is_read) return AnyValue(whole);
            return AnyValue(static_cast<double>(lua_tonumber(lua, index)));
        }
        case LUA_TSTRING: {
            const std::string_view text = text_at(lua, index);
            if (type.type == FieldType::kStringId)
                if (Status status = state.keep_text(text); !status) return status;
            return AnyValue(text);
        }
        case LUA_TNIL:
            if (type.type == FieldType::kEntity) return AnyValue(kNullEntity);
            break;
        default:
            if (is_entity(lua, index)) return AnyValue(entity_at(lua, index));
            bool is_signed = false;
            std::uint64_t bits = 0;
            if (read_wide(lua, index, is_signed, bits))
                return is_signed ? AnyValue(static_cast<std::int64_t>(bits)) : AnyValue(bits);
    }
    return wrong_type(lua, index, type, name);
}

Status read_one(lua_State* lua, State& state, int index, const ValueType& type, std::string_view name,
                std::byte* bytes) {
    const std::uint32_t lanes = type.type == FieldType::kMatrix3x4 ? 12 : num_lanes(type.type);
    if (lanes != 0) {
        if (lua_type(lua, index) != LUA_TTABLE) return wrong_type(lua, index, type, name);
        return read_floats(lua, index, lanes, name, bytes);
    }
    if (type.type == FieldType::kFloat && lua_type(lua, index) == LUA_TNUMBER) {
        const auto number = static_cast<float>(lua_tonumber(lua, index));  // rounded to float, as in a column
        std::memcpy(bytes, &number, sizeof number);
        return {};
    }
    const Result<AnyValue> value = any_value(lua, state, index, type, name);
    if (!value) return value.status();
    const Result<AnyValue> converted = value->convert(type, name);
    if (!converted) return converted.status();
    std::memcpy(bytes, converted->bytes().data(), type.num_bytes());
    return {};
}

Status read_array(lua_State* lua, State& state, int index, const ValueType& type, std::string_view name,
                  std::byte* bytes) {
    if (lua_type(lua, index) != LUA_TTABLE) return wrong_type(lua, index, type, name);
    const ValueType element = element_of(type);
    if (raw_length(lua, index) != type.array_length)
        return Status::error(
            concat("\"", name, "\" is ", type.to_text(), ", and the table has ", raw_length(lua, index), " values"));
    for (std::uint32_t i = 0; i < type.array_length; ++i) {
        lua_rawgeti(lua, index, static_cast<int>(i) + 1);
        Status status = read_one(lua, state, lua_gettop(lua), element, name, bytes + std::size_t(i) * type.value_bytes);
        lua_pop(lua, 1);
        if (!status) return status;
    }
    return {};
}

}  // namespace

Status read_value(lua_State* lua, State& state, int index, int num_values, const ValueType& type, std::string_view name,
                  std::byte* bytes) {
    if (type.array_length != 0) return read_array(lua, state, index, type, name, bytes);
    const std::uint32_t lanes = num_lanes(type.type);
    if (lanes == 0 || lua_type(lua, index) != LUA_TNUMBER) return read_one(lua, state, index, type, name, bytes);
    float floats[4];
    for (std::uint32_t i = 0; i < lanes; ++i) {
        const int at = index + static_cast<int>(i);
        if (static_cast<int>(i) >= num_values || lua_type(lua, at) != LUA_TNUMBER)
            return Status::error(
                concat("\"", name, "\" is ", type.to_text(), ": give ", lanes, " numbers, or a table"));
        floats[i] = static_cast<float>(lua_tonumber(lua, at));
    }
    std::memcpy(bytes, floats, lanes * sizeof(float));
    return {};
}

Status read_image(lua_State* lua, State& state, int table, const Schema& schema, std::byte* image) {
    return each_pair(lua, table, [&]() -> Status {
        if (lua_type(lua, -2) != LUA_TSTRING)
            return Status::error(concat("\"", schema.name(), "\" gets its fields by name: {field = value}"));
        const std::string_view name = text_at(lua, -2);
        const int field = schema.find_field(name);
        if (field < 0) {
            Status status = find_field_part(schema, name).status();
            return status ? Status::error(concat("\"", name, "\" is a part of a field; give the whole field")) : status;
        }
        const Field& found = schema.fields()[static_cast<std::size_t>(field)];
        if (found.type == FieldType::kBlobArray || found.type == FieldType::kOpaque)
            return Status::error(concat("\"", name, "\" cannot be set by a script"));
        return read_value(lua, state, lua_gettop(lua), 1, field_part(schema, found).type, name,
                          image + found.struct_offset);
    });
}

void push_image(lua_State* lua, const State& state, const Schema& schema, const std::byte* image) {
    lua_createtable(lua, 0, static_cast<int>(schema.fields().size()));
    for (const Field& field : schema.fields()) {
        push_text(lua, field.name);
        push_value(lua, state, field_part(schema, field).type, image + field.struct_offset, false);
        lua_rawset(lua, -3);
    }
}

}  // namespace shoal::lua
