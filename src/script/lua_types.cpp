#include "shoal/script/detail/lua_types.h"

#include "shoal/base/text.h"
#include "shoal/table/detail/field_part.h"

namespace shoal {
namespace {

constexpr std::string_view kHead = R"lua(---@meta shoal

---@class shoal.entity

---@class shoal.frame
---@field dt number seconds since the pass ran last
---@field number integer frames before this one

---@class shoal.batch rows 0 to count - 1, during the call that they are given to
---@field count integer
---@field entities shoal.entity[] from 0

---@class shoal.column: { [integer]: any } a value for each row, from 0
---@field fill fun(self: shoal.column, value: number|shoal.column)
---@field copy fun(self: shoal.column, other: shoal.column)
---@field add fun(self: shoal.column, value: number|shoal.column, factor?: number)
---@field mul fun(self: shoal.column, value: number|shoal.column)
---@field sum fun(self: shoal.column): number
---@field min fun(self: shoal.column): number
---@field max fun(self: shoal.column): number

---@class shoal.query_object
---@field each fun(self: shoal.query_object, run: fun(batch: shoal.batch, ...: shoal.column))
---@field count fun(self: shoal.query_object): integer
---@field entities fun(self: shoal.query_object): shoal.entity[]

---@class shoal.channel
---@field write fun(self: shoal.channel, event: table)
---@field read fun(self: shoal.channel): table[]
---@field read_last fun(self: shoal.channel): table[]

---@class shoal.pass_definition
---@field name string
---@field query? string
---@field columns? shoal.path[]|shoal.path
---@field reads? shoal.component_name[]|shoal.component_name
---@field writes? shoal.component_name[]|shoal.component_name
---@field reads_from? string[]|string
---@field writes_to? string[]|string
---@field after? string[]|string
---@field before? string[]|string
---@field every_frames? integer
---@field every_seconds? number
---@field run fun(frame: shoal.frame, batch: shoal.batch, ...: shoal.column)

---@class shoal.component_definition
---@field name string
---@field version? integer
---@field fields table[] {"name", "type", default = ..., unit = ..., length = ..., bytes = ..., split = ...}
---@field whole? boolean
---@field enableable? boolean
---@field many? boolean
---@field singleton? boolean
---@field compile? fun(source: table, refuse: fun(message: string, ...: string|integer)): table?
---@field keys? string[]|string
---@field spawn_order? integer

---@class shoal.store_definition
---@field component shoal.component_definition
---@field add fun(entity: shoal.entity, values: table)
---@field remove fun(entity: shoal.entity)
---@field get fun(entity: shoal.entity): table
---@field set? fun(entity: shoal.entity, values: table)
---@field settle? fun()

)lua";

constexpr std::string_view kFunctions = R"lua(
---@class shoal
---@field alive fun(entity: any): boolean
---@field create fun(components?: shoal.components): shoal.entity
---@field destroy fun(entity: shoal.entity): boolean
---@field copy fun(entity: shoal.entity): shoal.entity
---@field name fun(entity: shoal.entity, name: string)
---@field tag fun(entity: shoal.entity, tag: string)
---@field untag fun(entity: shoal.entity, tag: string)
---@field has fun(entity: shoal.entity, component: shoal.component_name): boolean
---@field add fun(entity: shoal.entity, component: shoal.component_name, values?: table)
---@field remove fun(entity: shoal.entity, component: shoal.component_name)
---@field get fun(entity: shoal.entity, path: shoal.path|shoal.component_name): any, ...
---@field set fun(entity: shoal.entity, path: shoal.path, value: any, ...: number)
---@field query fun(text: string, columns?: shoal.path[]|shoal.path): shoal.query_object
---@field find fun(text: string): shoal.entity[]
---@field pass fun(definition: shoal.pass_definition)
---@field remove_pass fun(name: string)
---@field enable fun(pass: string, is_on?: boolean)
---@field component fun(definition: shoal.component_definition)
---@field store fun(definition: shoal.store_definition)
---@field changed fun(entity: shoal.entity, component: shoal.component_name)
---@field events fun(definition: shoal.component_definition): shoal.channel
---@field on_add fun(component: shoal.component_name, run: fun(entities: shoal.entity[])): integer
---@field on_remove fun(component: shoal.component_name, run: fun(entities: shoal.entity[], before: fun(i: integer): table)): integer
---@field on_change fun(name: shoal.component_name|shoal.path, run: fun(entities: shoal.entity[], before: fun(i: integer): table)): integer
---@field off fun(observer: integer)
---@field spawn fun(resource_or_source: string, overrides?: table<string, table<shoal.path, any>>): shoal.entity[]
---@field random fun(low?: integer, high?: integer): number
---@field log fun(...: any)
shoal = {}

---What stays when the script is loaded again.
---@type table
keep = {}
)lua";

std::string_view lua_type_of(FieldType type) {
    switch (type) {
        case FieldType::kBool:
            return "boolean";
        case FieldType::kFloat:
        case FieldType::kDouble:
            return "number";
        case FieldType::kVec2:
            return "{ x: number, y: number }";
        case FieldType::kVec3:
            return "{ x: number, y: number, z: number }";
        case FieldType::kVec4:
        case FieldType::kQuaternion:
            return "{ x: number, y: number, z: number, w: number }";
        case FieldType::kMatrix3x4:
            return "number[]";
        case FieldType::kStringId:
        case FieldType::kResourceId:
        case FieldType::kFixedString:
            return "string";
        case FieldType::kEntity:
            return "shoal.entity?";
        case FieldType::kBlobArray:
        case FieldType::kOpaque:
            return "nil";
        default:
            return "integer";
    }
}

void append_type(std::string& text, const Field& field) {
    if (field.type == FieldType::kEnum) {
        for (std::size_t i = 0; i < field.enumerators.size(); ++i)
            text += concat(i == 0 ? "" : "|", "\"", field.enumerators[i].name, "\"");
    } else {
        text += lua_type_of(field.type);
    }
    if (field.array_length != 0) text += "[]";
    if (!field.unit.empty()) text += concat(" ", field.unit);
}

/// Field names that are not valid Lua names are written as keys in brackets.
void append_class(std::string& text, const Schema& schema) {
    text += concat("---@class shoal.component.", schema.name(), "\n");
    for (const Field& field : schema.fields()) {
        const bool is_nested = field.name.find('.') != std::string::npos;
        text += is_nested ? concat("---@field [\"", field.name, "\"] ") : concat("---@field ", field.name, "? ");
        append_type(text, field);
        text += '\n';
    }
    text += '\n';
}

/// Appends an alias with one string per line.
template <class Append>
void append_alias(std::string& text, std::string_view name, std::span<const Schema* const> schemas, Append append) {
    text += concat("---@alias ", name, "\n---| string\n");
    for (const Schema* schema : schemas) append(*schema);
}

}  // namespace

std::string lua_types(std::span<const Schema* const> schemas) {
    std::string text(kHead);
    for (const Schema* schema : schemas) append_class(text, *schema);
    text += "---@class shoal.components\n";
    for (const Schema* schema : schemas)
        text += concat("---@field ", schema->name(), "? shoal.component.", schema->name(), "\n");
    text += '\n';
    append_alias(text, "shoal.component_name", schemas,
                 [&](const Schema& schema) { text += concat("---| \"", schema.name(), "\"\n"); });
    text += '\n';
    append_alias(text, "shoal.path", schemas, [&](const Schema& schema) {
        for (const Field& field : schema.fields()) text += concat("---| \"", schema.name(), ".", field.name, "\"\n");
    });
    return text += kFunctions;
}

}  // namespace shoal
