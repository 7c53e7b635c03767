#include "shoal/source/json_schema.h"

#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/table/saved_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

namespace shoal {
namespace {

constexpr double kLargestFloat = std::numeric_limits<float>::max();

/// The forms of a component, which differ in the keys that it has beside its fields.
enum class Form : std::uint8_t {
    kFields,    ///< fields alone: in `data`, and in the short form of an entity
    kDeclared,  ///< under `components`: its type may be given
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
            string("$schema", "https://json-schema.org/draft/2020-12/schema");
            string("title", "A source of shoal: an entity or a level");
            root();
            object("$defs", [&] { definitions(); });
        });
        return builder_.finish();
    }

private:
    /// Adds a key, unless the mapping has it: what is said first counts.
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

    // --- parts -------------------------------------------------------------------------------------------------------

    void strings(std::string_view key, std::initializer_list<std::string_view> texts) {
        list(key, [&] {
            for (const std::string_view text : texts) builder_.string(text);
        });
    }

    void number(std::string_view key, double value) {
        builder_.key(key);
        constexpr double kExact = 9007199254740992.0;
        if (value == std::floor(value) && std::fabs(value) <= kExact)
            builder_.integer(static_cast<std::int64_t>(value));
        else
            builder_.number(value);
    }

    /// The pointer to a definition is part of a URI: signs but letters and digits are escaped.
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

    void any_of_required(std::string_view key, std::initializer_list<std::string_view> keys) {
        list(key, [&] {
            for (const std::string_view required : keys) object([&] { strings("required", {required}); });
        });
    }

    // --- levels and entities -----------------------------------------------------------------------------------------

    void definitions() {
        object("level", [&] { level(); });
        object("entity", [&] { entity(); });
        object("long_entity", [&] { entity_long(); });
        object("short_entity", [&] { entity_short(); });
        object("new_entities", [&] { entries("an entity", "entity", false); });
        object("changed_entities", [&] { entries("a change of an entity", "entity", true); });
        object("deleted", [&] { deleted_keys(); });
        object("components", [&] { components(); });
        object("changes", [&] { changes(); });
        object("typed", [&] { typed(); });
        known_functions();
        for (const RegisteredComponent* component : components_)
            for (const Form form : {Form::kFields, Form::kDeclared, Form::kChange})
                object(name_of(form, *component), [&] { this->component(*component, form); });
    }

    /// An entity without a key that says how it is built is in the short form.
    void entity() {
        string("type", "object");
        object("if", [&] {
            object("not", [&] {
                any_of_required("anyOf",
                                {"prefab", "components", "modified_components", "deleted_components", "children",
                                 "modified_children", "deleted_children", "units", "entities", "type", "_type"});
            });
        });
        refer("then", "short_entity");
        refer("else", "long_entity");
    }

    void root() {
        string("type", "object");
        object("if", [&] {
            list("anyOf", [&] {
                for (const std::string_view key : {"units", "entities"}) object([&] { strings("required", {key}); });
                for (const std::string_view key : {"_type", "type"})
                    object([&] {
                        object("properties", [&] { object(key, [&] { string("const", "level"); }); });
                        strings("required", {key});
                    });
            });
        });
        refer("then", "level");
        refer("else", "entity");
    }

    void level() {
        string("type", "object");
        object("properties", [&] {
            refer("units", "new_entities");
            refer("entities", "new_entities");
            own_keys(true);
        });
        if (rules_.level_entities == LevelEntities::kUndecided)
            object("not", [&] { strings("required", {"units", "entities"}); });
        unknown_keys(rules_.keep_unknown_fields);
    }

    /// What says who the entity or level is, and what schema files say of other keys.
    void own_keys(bool of_level) {
        object("name", [&] { strings("type", {"string", "null"}); });
        const bool takes_all =
            rules_.keep_unknown_fields || std::ranges::find(rules_.ignored_keys, "editor") != rules_.ignored_keys.end();
        object("editor", [&] {
            strings("type", {"object", "null"});
            object("properties", [&] { object("name", [&] { strings("type", {"string", "null"}); }); });
            if (!takes_all) closed();
        });
        for (const std::string_view key : {"_guid", "guid", "id"})
            object(key, [&] { strings("type", {"string", "null"}); });
        for (const std::string_view key : {"_type", "type"})
            object(key, [&] {
                if (rules_.keep_unknown_fields) return strings("type", {"string", "null"});
                list("enum", [&] {
                    for (const std::string_view name : {"level", "unit", "entity"})
                        if (of_level == (name == "level")) builder_.string(name);
                    builder_.null();
                });
            });
        object("_versions", [&] {
            string("type", "object");
            object("additionalProperties", [&] {
                string("type", "integer");
                builder_.unsigned_integer("minimum", 1);
            });
        });
        ignored_keys();
        for (const RenamedKey& renamed : rules_.renamed_keys) renamed_key(renamed, of_level);
    }

    void ignored_keys() {
        for (const std::string& key : rules_.ignored_keys)
            if (key != "editor") any(key);
    }

    /// A key of an entity that means another one, or a field of a component.
    void renamed_key(const RenamedKey& renamed, bool of_level) {
        const std::size_t point = renamed.to.find('.');
        const auto has_name = [&](const RegisteredComponent* c) { return c->name == renamed.to.substr(0, point); };
        const auto component = std::ranges::find_if(components_, has_name);
        if (point == std::string::npos) {
            if (renamed.to == "prefab" || renamed.to == "name")
                object(renamed.from, [&] { strings("type", {"string", "null"}); });
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
        if (!keeps) closed();
    }

    /// A key is the same with a # before it, which is rare: what stands there is not checked.
    void keys_with_hash() {
        object("patternProperties", [&] { any("^#"); });
    }

    void entity_long() {
        string("type", "object");
        object("properties", [&] {
            object("prefab", [&] {
                strings("type", {"string", "null"});
                string("description", "the name of another source, which this entity is made from");
            });
            refer("components", "components");
            refer("modified_components", "changes");
            refer("deleted_components", "deleted");
            refer("children", "new_entities");
            refer("modified_children", "changed_entities");
            refer("deleted_children", "deleted");
            own_keys(false);
        });
        unknown_keys(rules_.keep_unknown_fields);
    }

    /// The keys of the short form are component types.
    void entity_short() {
        string("type", "object");
        object("properties", [&] {
            own_keys(false);
            for (const RegisteredComponent* component : components_)
                refer(component->name, name_of(Form::kFields, *component));
        });
        keys_with_hash();
        unknown_keys(rules_.keep_unknown_components);
    }

    /// A mapping by key, or a list; changes in a list name their target.
    void entries(std::string_view name, std::string_view of, bool names_target) {
        strings("type", {"object", "array", "null"});
        string("description", concat(name, " for each key, or a list"));
        object("propertyNames", [&] { builder_.unsigned_integer("minLength", 1); });
        refer("additionalProperties", of);
        object("items", [&] {
            list("allOf", [&] {
                refer_element(of);
                if (names_target) object([&] { any_of_required("anyOf", {"_guid", "guid", "id"}); });
            });
        });
    }

    void deleted_keys() {
        strings("type", {"object", "array", "null"});
        string("description", "the keys of what is deleted");
        object("items", [&] {
            list("anyOf", [&] {
                object([&] { string("type", "string"); });
                object([&] {
                    string("type", "object");
                    any_of_required("anyOf", {"_guid", "guid", "id"});
                });
            });
        });
    }

    // --- components --------------------------------------------------------------------------------------------------

    /// A key is a component type, unless a type is given.
    void components() {
        strings("type", {"object", "array", "null"});
        string("description", "the components that the entity gets");
        object("properties", [&] {
            for (const RegisteredComponent* component : components_)
                object(component->name, [&] {
                    object("if", [&] {
                        string("type", "object");
                        any_of_required("anyOf", {"_type", "type"});
                    });
                    refer("then", "typed");
                    refer("else", name_of(Form::kDeclared, *component));
                });
        });
        keys_with_hash();
        if (rules_.keep_unknown_components) return;
        refer("additionalProperties", "typed");
        refer("items", "typed");
    }

    /// What a key means that is no component type is known to the prefab alone.
    void changes() {
        strings("type", {"object", "array", "null"});
        string("description", "changes of components that the prefab has");
        object("properties", [&] {
            for (const RegisteredComponent* component : components_)
                refer(component->name, name_of(Form::kChange, *component));
        });
        object("items", [&] {
            string("type", "object");
            any_of_required("anyOf", {"_guid", "guid", "id"});
        });
    }

    /// A component that says of which type it is.
    void typed() {
        string("type", "object");
        if (!rules_.keep_unknown_components) object("if", [&] { strings("required", {"_type"}); });
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
            object("then", [&] { names("_type"); });
            object("else", [&] {
                names("type");
                strings("required", {"type"});
            });
        }
        list("allOf", [&] {
            for (const RegisteredComponent* component : components_)
                for (const bool is_plain : {false, true})
                    object([&] {
                        const std::string_view key = is_plain ? "type" : "_type";
                        object("if", [&] {
                            object("properties", [&] { object(key, [&] { string("const", component->name); }); });
                            strings("required", {key});
                            if (is_plain) object("not", [&] { strings("required", {"_type"}); });
                        });
                        refer("then", name_of(Form::kDeclared, *component));
                    });
        });
    }

    /// A component in one of its forms: null, a value, the name of a file, or a mapping.
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
                object("if", [&] { strings("required", {"data"}); });
                object("then", [&] { wrapped(component); });
                object("else", [&] { fields(component, form); });
            });
        });
    }

    /// What may stand in place of a mapping of fields.
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

    /// The fields are in `data`; beside it are only keys that describe the component.
    void wrapped(const RegisteredComponent& component) {
        object("properties", [&] {
            object("data", [&] {
                list("anyOf", [&] {
                    null_element();
                    object([&] { fields(component, Form::kFields); });
                });
            });
            for (const std::string_view key : {"_guid", "_type", "type", "guid", "id"}) any(key);
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
            object("not", [&] { strings("required", {"rotation", "euler_degrees"}); });
        unknown_keys(rules_.keep_unknown_fields || has_own_text(component));
    }

    /// The keys that a component may have beside its fields, unless a field has the name.
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

    /// Writes the fields whose names begin with `prefix`: "aabbox.min", and `min` in the mapping `aabbox`.
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
            strings("type", {"object", "null"});
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

    /// Whether only the compile function of a component type knows what its text is.
    static bool has_own_text(const RegisteredComponent& component) {
        constexpr std::string_view kKnown[] = {"model_pose", "properties", "transform"};
        return component.compile != nullptr && std::ranges::find(kKnown, component.name) == std::end(kKnown);
    }

    /// What the compile functions of built-in component types read.
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
                    object("name", [&] {
                        string("type", "string");
                        builder_.unsigned_integer("minLength", 1);
                    });
                    object("parent", [&] { strings("type", {"string", "null"}); });
                    object("position", [&] { one_value(vector, true); });
                    object("rotation", [&] { one_value(quaternion, true); });
                    refer("euler_degrees", "euler_degrees");
                    refer("scale", "scale");
                });
                strings("required", {"name"});
                closed();
            });
        });
        object("value_of_property", [&] {
            strings("type", {"boolean", "number", "string", "null", "array", "object"});
            refer("additionalProperties", "value_of_property");
            object("items", [&] {
                strings("type", {"boolean", "number", "string", "array"});
                object("items", [&] { string("type", "number"); });
            });
        });
    }

    // --- fields ------------------------------------------------------------------------------------------------------

    /// A field takes null, which resets it.
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
        builder_.unsigned_integer("minItems", field.array_length);
        builder_.unsigned_integer("maxItems", field.array_length);
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
        if (may_be_null)
            strings("type", {name, "null"});
        else
            string("type", name);
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

    /// A list of as many numbers.
    void numbers(const Field& field, std::uint32_t count) {
        string("type", "array");
        object("items", [&] { real(field, false); });
        builder_.unsigned_integer("minItems", count);
        builder_.unsigned_integer("maxItems", count);
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
                closed();
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
                builder_.unsigned_integer("minItems", 3);
                builder_.unsigned_integer("maxItems", 3);
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
                    builder_.unsigned_integer("minProperties", 1);
                    builder_.unsigned_integer("maxProperties", 1);
                    object("additionalProperties", [&] { one_value(element, false); });
                });
            });
            if (may_be_null) null_element();
        });
    }

    void closed() { builder_.boolean("additionalProperties", false); }
    /// A subschema that says where the schema is.
    void refer(std::string_view name) { string("$ref", reference(name)); }
    void refer(std::string_view key, std::string_view name) {
        object(key, [&] { refer(name); });
    }
    void refer_element(std::string_view name) {
        object([&] { refer(name); });
    }
    void any(std::string_view key) {
        if (add_key(key)) builder_.boolean(true);
    }
    void null_element() {
        object([&] { string("type", "null"); });
    }

    const SourceRules& rules_;
    const ValueNames& names_;
    DocumentBuilder builder_;
    std::vector<std::unordered_set<std::string>> keys_;   // of the mappings that are open
    std::vector<const RegisteredComponent*> components_;  // by name
};

}  // namespace

Document json_schema(const ComponentRegistry& registry, const SourceRules& rules, const ValueNames& names) {
    return JsonSchemaWriter(registry, rules, names).write();
}

}  // namespace shoal
