#include "shoal/source/detail/json_schema.h"

#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "shoal/source/detail/source_keys.h"
#include "shoal/table/detail/saved_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

namespace shoal {
namespace {

constexpr double kLargestFloat = std::numeric_limits<float>::max();

// --- parts that are the same for all component types, as SJSON -------------------------------------------------------

constexpr std::string_view kRoot = R"(
    $schema = "https://json-schema.org/draft/2020-12/schema"
    title = "A source of shoal: an entity or a level"
    type = object
    if = { anyOf = [
        { required = [units] }
        { required = [entities] }
        { properties = { _type = { const = level } }  required = [_type] }
        { properties = { type = { const = level } }  required = [type] }
    ] }
    then = { $ref = "#/$defs/level" }
    else = { $ref = "#/$defs/entity" }
)";

/// The schemas of key values, indexed by KeyValue. value_of() adds the parts that depend on the rules.
constexpr std::string_view kValues[] = {
    R"(type = [string "null"]  description = "the name of another source, which this entity is made from")",
    R"($ref = "#/$defs/components")",
    R"($ref = "#/$defs/changes")",
    R"($ref = "#/$defs/new_entities")",
    R"($ref = "#/$defs/changed_entities")",
    R"($ref = "#/$defs/deleted")",
    "",
    R"(type = [string "null"])",
    R"(type = [object "null"]  properties = { name = { type = [string "null"] } })",
    "type = object  additionalProperties = { type = integer  minimum = 1 }",
};
static_assert(std::size(kValues) == static_cast<std::size_t>(KeyValue::kFields), "a value for each kind of entity key");

/// The schemas of entity lists. An entity list is written as a mapping by key or as a list. In a list, a change must
/// have the key of its target.
constexpr std::string_view kEntries = R"(
    new_entities = {
        type = [object array "null"]
        description = "an entity for each key, or a list"
        propertyNames = { minLength = 1 }
        additionalProperties = { $ref = "#/$defs/entity" }
        items = { allOf = [{ $ref = "#/$defs/entity" }] }
    }
    changed_entities = {
        type = [object array "null"]
        description = "a change of an entity for each key, or a list"
        propertyNames = { minLength = 1 }
        additionalProperties = { $ref = "#/$defs/entity" }
        items = { allOf = [
            { $ref = "#/$defs/entity" }
            { anyOf = [{ required = [_guid] } { required = [guid] } { required = [id] }] }
        ] }
    }
    deleted = {
        type = [object array "null"]
        description = "the keys of what is deleted"
        items = { anyOf = [
            { type = string }
            { type = object  anyOf = [{ required = [_guid] } { required = [guid] } { required = [id] }] }
        ] }
    }
)";

constexpr std::string_view kValueOfProperty = R"(
    value_of_property = {
        type = [boolean number string "null" array object]
        additionalProperties = { $ref = "#/$defs/value_of_property" }
        items = { type = [boolean number string array]  items = { type = number } }
    }
)";

/// The places where a component may be. They differ in the keys that are allowed beside its fields.
enum class Form : std::uint8_t {
    kFields,    ///< in `data`, or in a short-form entity: only fields
    kDeclared,  ///< under `components`: may also have a type
    kChange,    ///< under `modified_components`: `type` is a field
};

class JsonSchemaWriter {
public:
    JsonSchemaWriter(const ComponentRegistry& registry, const SourceRules& rules, const ValueNames& names)
        : rules_(rules), names_(names) {
        for (const RegisteredComponent* component : registry.components()) components_.push_back(component);
        std::ranges::sort(components_, {}, &RegisteredComponent::name);
    }

    Document write() {
        object([&] {
            add(kRoot);
            object("$defs", [&] { definitions(); });
        });
        return builder_.finish();
    }

private:
    /// Adds a key, unless the mapping already has a definition of it. Returns whether the key was added.
    bool add_key(std::string_view key) {
        if (!keys_.back().insert(std::string(key)).second) return false;
        builder_.key(key);
        return true;
    }
    template <class Fill>
    void object(std::string_view key, Fill&& fill) {
        if (add_key(key)) object(fill);
    }
    template <class Fill>
    void object(Fill&& fill) {
        builder_.begin_mapping();
        keys_.emplace_back();
        fill();
        keys_.pop_back();
        builder_.end();
    }
    template <class Fill>
    void list(std::string_view key, Fill&& fill) {
        builder_.begin_list(key);
        fill();
        builder_.end();
    }
    void string(std::string_view key, std::string_view text) { builder_.string(key, text); }
    /// Writes a reference to another schema.
    void refer(std::string_view name) { string("$ref", reference(name)); }
    void refer(std::string_view key, std::string_view name) {
        object(key, [&] { refer(name); });
    }
    void any(std::string_view key) {
        if (add_key(key)) builder_.boolean(true);
    }
    void null_element() {
        object([&] { string("type", "null"); });
    }

    void number(std::string_view key, double value) {
        builder_.key(key);
        constexpr double kExact = 9007199254740992.0;
        if (value == std::floor(value) && std::fabs(value) <= kExact)
            builder_.integer(static_cast<std::int64_t>(value));
        else
            builder_.number(value);
    }

    /// Returns the pointer to a definition. Special characters are escaped, because the pointer is a part of a URI.
    static std::string reference(std::string_view name) {
        std::string result = "#/$defs/";
        for (const char c : name) {
            const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                  c == '_' || c == '.' || c == '-';
            const auto byte = static_cast<unsigned char>(c);
            if (is_plain)
                result += c;
            else if (c == '~' || c == '/')
                result += c == '~' ? "~0" : "~1";
            else
                result += concat('%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]);
        }
        return result;
    }

    static std::string name_of(Form form, const RegisteredComponent& component) {
        constexpr std::string_view kForms[] = {"fields_of_", "declared_", "changed_"};
        return concat(kForms[static_cast<std::size_t>(form)], component.name);
    }

    /// Adds the members of an SJSON text to the open mapping.
    void add(std::string_view text) {
        Diagnostics diagnostics;
        ReadOptions options;
        options.bare_texts = true;
        const Result<Document> read = read_sjson(diagnostics.refer_file("", text), diagnostics, options);
        SHOAL_ASSERT(read.ok(), "a part of the schema is not SJSON; this is a bug in shoal");
        add_members(read->root());
    }
    void add_members(Node mapping) {
        for (const Node child : mapping)
            if (add_key(child.key())) add_value(child);
    }
    /// Adds a copy, because the schema outlives the text.
    void add_value(Node node) {
        if (node.is_mapping()) return object([&] { add_members(node); });
        if (node.is_string()) return builder_.string(node.as_string());
        if (node.is_integer()) return builder_.integer(*node.as_int64());
        if (node.is_bool()) return builder_.boolean(node.as_bool());
        if (node.is_null()) return builder_.null();
        builder_.begin_list();
        for (const Node element : node) add_value(element);
        builder_.end();
    }

    // --- levels and entities -----------------------------------------------------------------------------------------

    void definitions() {
        object("level", [&] { level(); });
        object("entity", [&] { entity(); });
        object("long_entity", [&] { entity_long(); });
        object("short_entity", [&] { entity_short(); });
        add(kEntries);
        object("components", [&] { components(); });
        object("changes", [&] { changes(); });
        object("typed", [&] { typed(); });
        known_functions();
        for (const RegisteredComponent* component : components_)
            for (const Form form : {Form::kFields, Form::kDeclared, Form::kChange})
                object(name_of(form, *component), [&] { this->component(*component, form); });
    }

    void level() {
        string("type", "object");
        object("properties", [&] { own_keys(true, true); });
        if (rules_.level_entities == LevelEntities::kUndecided) add("not = { required = [units entities] }");
        unknown_keys(rules_.keep_unknown_fields);
    }

    /// Selects the schema of an entity: the short form, unless a key marks the long form.
    void entity() {
        string("type", "object");
        object("if", [&] {
            object("not", [&] {
                list("anyOf", [&] {
                    for (const KeyMeaning& key : kSourceKeys)
                        if (marks_long_form(key)) object([&] { add(concat("required = [", key.name, "]")); });
                });
            });
        });
        refer("then", "short_entity");
        refer("else", "long_entity");
    }

    /// Writes the built-in keys of entities or levels, and the keys that schema files define.
    void own_keys(bool of_level, bool with_parts) {
        for (const KeyMeaning& key : kEntityKeys)
            if (has_meaning(key, of_level) && (with_parts || key.value >= KeyValue::kTypeName))
                object(key.name, [&] { value_of(key.value, of_level); });
        ignored_keys();
        for (const RenamedKey& renamed : rules_.renamed_keys) renamed_key(renamed, of_level);
    }

    void value_of(KeyValue value, bool of_level) {
        add(kValues[static_cast<std::size_t>(value)]);
        if (value == KeyValue::kEditor)
            unknown_keys(rules_.keep_unknown_fields ||
                         std::ranges::find(rules_.ignored_keys, "editor") != rules_.ignored_keys.end());
        if (value == KeyValue::kTypeName)
            add(rules_.keep_unknown_fields ? R"(type = [string "null"])"
                : of_level                 ? "enum = [level null]"
                                           : "enum = [unit entity null]");
    }

    void ignored_keys() {
        for (const std::string& key : rules_.ignored_keys)
            if (key != "editor") any(key);
    }

    /// Writes a key that is an alias of another key, or of a component's field.
    void renamed_key(const RenamedKey& renamed, bool of_level) {
        const std::size_t point = renamed.to.find('.');
        const auto has_name = [&](const RegisteredComponent* c) { return c->name == renamed.to.substr(0, point); };
        const auto component = std::ranges::find_if(components_, has_name);
        if (point == std::string::npos) {
            if (renamed.to == "prefab" || renamed.to == "name")
                object(renamed.from, [&] { add(R"(type = [string "null"])"); });
            else
                any(renamed.from);
            return;
        }
        if (of_level || component == components_.end()) return;
        const Schema* schema = (*component)->schema;
        const int index = schema == nullptr ? -1 : schema->find_field(renamed.to.substr(point + 1));
        if (index < 0 || (*component)->compile != nullptr)
            any(renamed.from);
        else
            object(renamed.from, [&] { field(**component, schema->fields()[static_cast<std::size_t>(index)]); });
    }

    void unknown_keys(bool keeps) {
        if (!keeps) builder_.boolean("additionalProperties", false);
    }

    /// Allows keys that begin with a #. They are rare, so their values are not checked.
    void keys_with_hash() {
        object("patternProperties", [&] { any("^#"); });
    }

    void entity_long() {
        string("type", "object");
        object("properties", [&] { own_keys(false, true); });
        unknown_keys(rules_.keep_unknown_fields);
    }

    /// Writes a short-form entity, whose keys are component types.
    void entity_short() {
        string("type", "object");
        object("properties", [&] {
            own_keys(false, false);
            for (const RegisteredComponent* component : components_)
                refer(component->name, name_of(Form::kFields, *component));
        });
        keys_with_hash();
        unknown_keys(rules_.keep_unknown_components);
    }

    // --- components --------------------------------------------------------------------------------------------------

    /// Writes `components`. Its keys are component types, unless their value has a key `type` or `_type`.
    void components() {
        add(R"(type = [object array "null"]  description = "the components that the entity gets")");
        object("properties", [&] {
            for (const RegisteredComponent* component : components_)
                object(component->name, [&] {
                    add("if = { type = object  anyOf = [{ required = [_type] } { required = [type] }] }");
                    refer("then", "typed");
                    refer("else", name_of(Form::kDeclared, *component));
                });
        });
        keys_with_hash();
        if (rules_.keep_unknown_components) return;
        refer("additionalProperties", "typed");
        refer("items", "typed");
    }

    /// Writes `modified_components`. Keys other than component types are allowed, because they may be keys of the
    /// prefab's components.
    void changes() {
        add(R"(type = [object array "null"]  description = "changes of components that the prefab has")");
        object("properties", [&] {
            for (const RegisteredComponent* component : components_)
                refer(component->name, name_of(Form::kChange, *component));
        });
        add("items = { type = object  anyOf = [{ required = [_guid] } { required = [guid] } { required = [id] }] }");
    }

    /// Writes a component that has a key for its type.
    void typed() {
        string("type", "object");
        const auto names = [&](std::string_view key) {
            object("properties", [&] {
                object(key, [&] {
                    list("enum", [&] {
                        for (const RegisteredComponent* component : components_) builder_.string(component->name);
                    });
                });
            });
        };
        if (!rules_.keep_unknown_components) {
            add("if = { required = [_type] }");
            object("then", [&] { names("_type"); });
            object("else", [&] {
                names("type");
                add("required = [type]");
            });
        }
        list("allOf", [&] {
            for (const RegisteredComponent* component : components_)
                for (const bool is_plain : {false, true})
                    object([&] {
                        object("if", [&] {
                            object("properties", [&] {
                                object(is_plain ? "type" : "_type", [&] { string("const", component->name); });
                            });
                            add(is_plain ? "required = [type]  not = { required = [_type] }" : "required = [_type]");
                        });
                        refer("then", name_of(Form::kDeclared, *component));
                    });
        });
    }

    /// Writes a component, which may be null, a value, the name of a file, or a mapping.
    void component(const RegisteredComponent& component, Form form) {
        if (component.schema != nullptr && form == Form::kFields) string("description", component.schema->to_text());
        list("anyOf", [&] {
            null_element();
            const auto& files = rules_.components_in_files;
            values_of(component, std::ranges::find(files, component.name) != files.end());
            if (form == Form::kFields) {
                object([&] { fields(component, form); });
                return;
            }
            object([&] {
                string("type", "object");
                add("if = { required = [data] }");
                object("then", [&] { wrapped(component); });
                object("else", [&] { fields(component, form); });
            });
        });
    }

    /// Writes the values that are allowed instead of a mapping of fields.
    void values_of(const RegisteredComponent& component, bool is_in_file) {
        if (is_in_file) object([&] { string("type", "string"); });
        if (component.schema == nullptr) return object([] {});
        const std::span<const Field> fields = component.schema->fields();
        const auto marked = std::ranges::find_if(fields, &Field::shorthand);
        if (marked == fields.end() && fields.size() != 1) return;
        const Field& value = marked == fields.end() ? fields[0] : *marked;
        const bool has_mapping = component.compile != nullptr || value.keys.empty();
        object([&] {
            if (has_mapping) object("not", [&] { string("type", "object"); });
            list("allOf", [&] { object([&] { field(component, value); }); });
        });
    }

    /// Writes a component whose fields are in `data`, beside keys that describe the component.
    void wrapped(const RegisteredComponent& component) {
        object("properties", [&] {
            object("data", [&] {
                list("anyOf", [&] {
                    null_element();
                    object([&] { fields(component, Form::kFields); });
                });
            });
            for (const KeyMeaning& key : kComponentKeys) any(key.name);
            ignored_keys();
        });
        unknown_keys(rules_.keep_unknown_fields);
    }

    void fields(const RegisteredComponent& component, Form form) {
        string("type", "object");
        if (component.compile != nullptr && component.name == "properties")
            return refer("additionalProperties", "value_of_property");
        const Schema* schema = component.schema;
        if (schema == nullptr) return;
        object("properties", [&] {
            members(component, {});
            renamed_fields(component);
            if (form != Form::kFields) beside_fields(schema, form);
        });
        if (component.compile != nullptr && component.name == "transform")
            add("not = { required = [rotation euler_degrees] }");
        unknown_keys(rules_.keep_unknown_fields || has_own_text(component));
    }

    /// Writes the keys that are allowed beside fields, except those that are also the name of a field.
    void beside_fields(const Schema* schema, Form form) {
        any("_guid");
        any("_type");
        if (schema->find_field("type") < 0)
            object("type", [&] {
                if (form == Form::kChange)
                    string("const", schema->name());
                else
                    string("type", "string");
            });
        for (const std::string& key : rules_.ignored_keys)
            if (schema->find_field(key) < 0 && key != "type" && key != "_guid" && key != "_type") any(key);
    }

    /// Writes the fields whose names begin with `prefix`, both in the form "aabbox.min" and as `min` in the mapping
    /// `aabbox`.
    void members(const RegisteredComponent& component, std::string_view prefix) {
        std::vector<std::string_view> groups;
        for (const Field& field : component.schema->fields()) {
            if (!field.name.starts_with(prefix)) continue;
            const std::string_view rest = std::string_view(field.name).substr(prefix.size());
            object(rest, [&] { this->field(component, field); });
            for (std::size_t point = rest.find('.'); point != std::string_view::npos;
                 point = rest.find('.', point + 1)) {
                const std::string_view name = rest.substr(0, point);
                if (std::ranges::find(groups, name) != groups.end()) continue;
                groups.push_back(name);
                group(component, prefix, name);
            }
        }
        if (!prefix.empty()) return;
        for (const std::string_view key : component.more_keys)
            if (component.name == "transform" && key == "euler_degrees")
                refer(key, "euler_degrees");
            else if (component.name == "model_pose" && key == "nodes")
                refer(key, "nodes_of_model");
            else if (component.schema->find_field(key) < 0)
                any(key);
    }

    void group(const RegisteredComponent& component, std::string_view prefix, std::string_view name) {
        object(name, [&] {
            add(R"(type = [object "null"])");
            object("properties", [&] { members(component, concat(prefix, name, '.')); });
            unknown_keys(rules_.keep_unknown_fields);
        });
    }

    void renamed_fields(const RegisteredComponent& component) {
        for (const RenamedKey& renamed : rules_.renamed_keys) {
            const std::size_t point = renamed.to.find('.');
            const bool is_of_all = point == std::string::npos;
            if (!is_of_all && std::string_view(renamed.to).substr(0, point) != component.name) continue;
            const int index = component.schema->find_field(is_of_all ? renamed.to : renamed.to.substr(point + 1));
            if (index < 0 || component.schema->find_field(renamed.from) >= 0) continue;
            object(renamed.from,
                   [&] { field(component, component.schema->fields()[static_cast<std::size_t>(index)]); });
        }
    }

    /// Whether only the compile function of a component type understands its text.
    static bool has_own_text(const RegisteredComponent& component) {
        constexpr std::string_view kKnown[] = {"model_pose", "properties", "transform"};
        return component.compile != nullptr && std::ranges::find(kKnown, component.name) == std::end(kKnown);
    }

    /// Writes the schemas of the texts that the built-in compile functions read.
    void known_functions() {
        Field vector, quaternion;
        vector.type = FieldType::kVec3;
        quaternion.type = FieldType::kQuaternion;
        object("euler_degrees", [&] { one_value(vector, true); });
        object("scale", [&] {
            list("anyOf", [&] {
                object([&] { string("type", "number"); });
                object([&] { one_value(vector, true); });
            });
        });
        object("nodes_of_model", [&] {
            string("type", "array");
            object("items", [&] {
                string("type", "object");
                object("properties", [&] {
                    add(R"(name = { type = string  minLength = 1 }  parent = { type = [string "null"] })");
                    object("position", [&] { one_value(vector, true); });
                    object("rotation", [&] { one_value(quaternion, true); });
                    add(R"(euler_degrees = { $ref = "#/$defs/euler_degrees" }  scale = { $ref = "#/$defs/scale" })");
                });
                add("required = [name]  additionalProperties = false");
            });
        });
        add(kValueOfProperty);
    }

    // --- fields ------------------------------------------------------------------------------------------------------

    /// Writes a field. A field may be null, which resets it.
    void field(const RegisteredComponent& component, const Field& field) {
        if (component.compile != nullptr && component.name == "transform" && field.name == "scale")
            return refer("scale");
        if (component.compile != nullptr && component.name == "model_pose") return object("not", [] {});
        if (has_own_text(component)) return;
        description(field);
        values(field, true);
        default_value(*component.schema, field);
    }

    void description(const Field& field) {
        std::string text(field_type_name(field.type));
        if (field.type == FieldType::kBlobArray) text = concat("a list of ", field_type_name(field.element_type));
        if (field.array_length > 0) text = concat(field.array_length, " x ", text);
        if (!field.unit.empty()) text += concat(", in ", field.unit);
        if (field.has_range) text += concat(", from ", field.minimum, " to ", field.maximum);
        string("description", text);
    }

    void default_value(const Schema& schema, const Field& field) {
        const bool has_text =
            field.type != FieldType::kOpaque && field.type != FieldType::kBlobArray && field.type != FieldType::kEntity;
        const std::byte* value = schema.default_image().data() + field.struct_offset;
        if (field.type == FieldType::kStringId || field.type == FieldType::kResourceId)
            for (std::uint32_t i = 0; i < field.num_values(); ++i) {
                StringId id;
                std::memcpy(&id, value + i * sizeof id, sizeof id);
                if (names_.text(id).empty()) return;
            }
        if (!has_text) return;
        builder_.key("default");
        write_value(builder_, value_type_of(field), value, names_);
    }

    void values(const Field& field, bool may_be_null) {
        if (field.array_length == 0) return one_value(field, may_be_null);
        kind("array", may_be_null);
        object("items", [&] { one_value(field, field.type == FieldType::kEntity); });
        has_count(field.array_length);
    }

    void one_value(const Field& field, bool may_be_null) {
        switch (field.type) {
            case FieldType::kBool:
                return kind("boolean", may_be_null);
            case FieldType::kFloat:
            case FieldType::kDouble:
                return real(field, may_be_null);
            case FieldType::kVec2:
            case FieldType::kVec3:
            case FieldType::kVec4:
            case FieldType::kQuaternion:
                return lanes(field, may_be_null);
            case FieldType::kMatrix3x4:
                return matrix(field, may_be_null);
            case FieldType::kEnum:
                return enumeration(field, may_be_null);
            case FieldType::kStringId:
            case FieldType::kResourceId:
                return kind("string", may_be_null);
            case FieldType::kEntity:
                return kind("string", true);
            case FieldType::kFixedString:
                kind("string", may_be_null);
                return builder_.unsigned_integer("maxLength", field.value_bytes - 1);
            case FieldType::kBlobArray:
                return blob_array(field, may_be_null);
            case FieldType::kOpaque:
                return object("not", [] {});
            default:
                return integer(field, may_be_null);
        }
    }

    void kind(std::string_view name, bool may_be_null) {
        if (!may_be_null) return string("type", name);
        list("type", [&] {
            builder_.string(name);
            builder_.string("null");
        });
    }

    void integer(const Field& field, bool may_be_null) {
        const bool is_signed = field.type <= FieldType::kInt64;
        const std::uint32_t num_bits = field_type_bytes(field.type) * 8 - (is_signed ? 1 : 0);
        const std::uint64_t greatest = ~std::uint64_t(0) >> (64 - num_bits);
        kind("integer", may_be_null);
        if (field.has_range) {
            number("minimum", field.minimum);
            return number("maximum", field.maximum);
        }
        builder_.key("minimum");
        builder_.integer(is_signed ? -static_cast<std::int64_t>(greatest) - 1 : 0);
        builder_.unsigned_integer("maximum", greatest);
    }

    void real(const Field& field, bool may_be_null) {
        kind("number", may_be_null);
        if (!field.has_range && field.type == FieldType::kDouble) return;
        number("minimum", field.has_range ? field.minimum : -kLargestFloat);
        number("maximum", field.has_range ? field.maximum : kLargestFloat);
    }

    void has_count(std::uint32_t count) {
        builder_.unsigned_integer("minItems", count);
        builder_.unsigned_integer("maxItems", count);
    }

    /// Writes a list of `count` numbers.
    void numbers(const Field& field, std::uint32_t count) {
        string("type", "array");
        object("items", [&] { real(field, false); });
        has_count(count);
    }

    void lanes(const Field& field, bool may_be_null) {
        const std::uint32_t count = field_type_lanes(field.type);
        list("anyOf", [&] {
            object([&] { numbers(field, count); });
            object([&] {
                string("type", "object");
                object("properties", [&] {
                    for (std::uint32_t lane = 0; lane < count; ++lane)
                        object(lane_name(lane), [&] { real(field, false); });
                });
                unknown_keys(false);
            });
            if (may_be_null) null_element();
        });
    }

    void matrix(const Field& field, bool may_be_null) {
        list("anyOf", [&] {
            object([&] { numbers(field, 12); });
            object([&] {
                string("type", "array");
                object("items", [&] { numbers(field, 4); });
                has_count(3);
            });
            if (may_be_null) null_element();
        });
    }

    void enumeration(const Field& field, bool may_be_null) {
        list("enum", [&] {
            for (const EnumeratorDefinition& value : field.enumerators) builder_.string(value.name);
            if (may_be_null) builder_.null();
        });
    }

    void blob_array(const Field& field, bool may_be_null) {
        Field element;
        element.type = field.element_type;
        element.value_bytes = field_type_bytes(field.element_type);
        if (field.keys.empty()) {
            kind("array", may_be_null);
            return object("items", [&] { one_value(element, false); });
        }
        list("anyOf", [&] {
            object([&] {
                string("type", "object");
                object("additionalProperties", [&] { one_value(element, false); });
            });
            object([&] {
                string("type", "array");
                object("items", [&] {
                    string("type", "object");
                    add("minProperties = 1  maxProperties = 1");
                    object("additionalProperties", [&] { one_value(element, false); });
                });
            });
            if (may_be_null) null_element();
        });
    }

    const SourceRules& rules_;
    const ValueNames& names_;
    DocumentBuilder builder_;
    std::vector<std::unordered_set<std::string>> keys_;   // keys of the open mappings
    std::vector<const RegisteredComponent*> components_;  // sorted by name
};

}  // namespace

Document json_schema(const ComponentRegistry& registry, const SourceRules& rules, const ValueNames& names) {
    return JsonSchemaWriter(registry, rules, names).write();
}

}  // namespace shoal
