#include "shoal/source/schema_file.h"

#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "shoal/table/enum_bytes.h"
#include "source/field_reader.h"
#include "source/schema_migrations.h"
#include "source/schema_nodes.h"
#include "source/schema_text.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace shoal {
namespace {

/// Whether a key is what `word` was called before; a warning says so.
bool is_old_word(Node child, std::string_view old, std::string_view word, Diagnostics& diagnostics) {
    if (child.key() != old) return false;
    diagnostics.warning(child.key_position(), concat('`', old, "` is called `", word, "` now"),
                        concat("write `", word, '`'));
    return true;
}

/// Reads one schema file; nothing is registered until all of it is right.
class SchemaReader {
public:
    SchemaReader(ComponentRegistry& registry, SourceRules& rules, Diagnostics& diagnostics)
        : registry_(registry), rules_(rules), added_(rules), diagnostics_(diagnostics), nodes_(diagnostics) {}

    bool read(Node root) {
        static constexpr std::string_view kKeys[] = {"components",   "unknown_components", "unknown_fields",
                                                     "ignored_keys", "renamed_keys",       "level_entities"};
        const std::size_t errors = diagnostics_.num_errors();
        if (!nodes_.is_mapping(root, "a schema file")) return false;
        for (const Node child : root) {
            const std::string_view key = child.key();
            if (key == "unknown_components")
                read_rule(child, added_.keep_unknown_components);
            else if (key == "unknown_fields")
                read_rule(child, added_.keep_unknown_fields);
            else if (key == "ignored_keys")
                read_ignored_keys(child);
            else if (key == "renamed_keys")
                read_renamed_keys(child);
            else if (key == "level_entities")
                read_level_entities(child);
            else if (key != "components")
                nodes_.unknown_key(child, "a schema file", kKeys);
            else if (nodes_.is_mapping(child, "`components`"))
                for (const Node component : child) read_component(component);
        }
        check_old_names();
        if (diagnostics_.num_errors() == errors) add_all();
        return diagnostics_.num_errors() == errors;
    }

private:
    struct Read {
        Schema schema;
        SourcePosition position;
        std::optional<std::int32_t> spawn_order;
        std::vector<DeclaredStep> steps;
        std::vector<std::string> old_names;
        std::string migrations;  ///< their text
    };
    /// What is said of a component type beside its schema.
    struct Marks {
        std::optional<std::int32_t> spawn_order;
        Node migrations, renamed_from;
    };

    void read_rule(Node node, bool& keep) {
        if (node.is_string() && node.as_string() == "keep")
            keep = true;
        else if (!node.is_string() || node.as_string() != "error")
            diagnostics_.error(node.position(), concat("`", node.key(), "` cannot be this"), "write keep or error");
    }

    void read_ignored_keys(Node node) {
        if (!node.is_list()) {
            diagnostics_.error(node.position(), concat("`ignored_keys` is ", kind_name(node.kind())),
                               "write a list: [editor]");
            return;
        }
        for (const Node key : node) {
            std::string_view name;
            if (!nodes_.text(key, "the name of a key", name) || !is_free(key, name, "ignored_keys")) continue;
            if (std::find(added_.ignored_keys.begin(), added_.ignored_keys.end(), name) == added_.ignored_keys.end())
                added_.ignored_keys.emplace_back(name);
        }
    }

    /// Whether a key has no meaning of its own, so that a schema file may give it one.
    bool is_free(Node node, std::string_view key, std::string_view list) {
        if (!is_structural_key(key)) return true;
        diagnostics_.error(node.has_key() ? node.key_position() : node.position(),
                           concat('`', list, "` names ", quoted(key), ", which means something in every source"),
                           "remove it; only keys that mean nothing of their own can be ignored or renamed");
        return false;
    }

    void read_renamed_keys(Node node) {
        if (!node.is_mapping()) {
            diagnostics_.error(node.position(), concat("`renamed_keys` is ", kind_name(node.kind())),
                               "write a mapping: { pos = position }");
            return;
        }
        for (const Node key : node) {
            std::string_view name;
            if (!nodes_.text(key, "the key that it means, such as position or transform.position", name)) continue;
            if (!is_free(key, key.key(), "renamed_keys")) continue;
            const auto same = std::find_if(added_.renamed_keys.begin(), added_.renamed_keys.end(),
                                           [&](const RenamedKey& other) { return other.from == key.key(); });
            if (same == added_.renamed_keys.end())
                added_.renamed_keys.push_back({std::string(key.key()), std::string(name)});
            else if (same->to != name)
                diagnostics_.error(key.position(),
                                   concat("`renamed_keys` says that ", quoted(key.key()), " means ", quoted(name),
                                          ", but it means ", quoted(same->to), " already"),
                                   "make both the same, or remove one");
        }
    }

    void read_level_entities(Node node) {
        const std::string_view word = node.is_string() ? node.as_string() : std::string_view();
        if (word == "units")
            added_.level_entities = LevelEntities::kUnits;
        else if (word == "entities")
            added_.level_entities = LevelEntities::kEntities;
        else if (word == "both")
            added_.level_entities = LevelEntities::kBoth;
        else
            diagnostics_.error(node.position(), "`level_entities` cannot be this", "write units, entities or both");
    }

    void read_values(Node node, FieldDefinition& field) {
        std::int64_t next = 0;
        if (!node.is_list() && !node.is_mapping()) {
            diagnostics_.error(node.position(), concat("`values` is ", kind_name(node.kind())),
                               "write a list of names, or names with numbers");
            return;
        }
        if (field.value_bytes == 0) field.value_bytes = 4;
        for (const Node child : node) {
            std::string_view name = child.key();
            if (node.is_mapping()) {
                if (!nodes_.integer(child, std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max(), next))
                    return;
            } else if (!nodes_.text(child, "the name of a value", name)) {
                return;
            }
            field.enumerators.push_back({std::string(name), next});
            if (node.is_list()) ++next;
        }
    }

    void read_range(Node node, FieldDefinition& field) {
        if (node.is_list() && node.size() == 2 && node[0].is_number() && node[1].is_number()) {
            field.has_range = true;
            field.minimum = node[0].as_double();
            field.maximum = node[1].as_double();
            return;
        }
        diagnostics_.error(node.position(), "`range` is not two numbers", "write [least greatest]");
    }

    void read_relation(Node node, FieldDefinition& field) {
        for (const Relation relation : {Relation::kKept, Relation::kCleared, Relation::kDiesToo})
            if (node.is_string() && node.as_string() == relation_name(relation))
                return static_cast<void>(field.relation = relation);
        diagnostics_.error(node.position(),
                           "`relation` does not say what becomes of the reference when its target dies",
                           "write kept, cleared or dies_too");
    }

    void read_field(Node node, FieldDefinition& field, Node& default_value) {
        static constexpr std::string_view kKeys[] = {"type",     "default",   "unit",     "range", "values",
                                                     "bytes",    "array",     "capacity", "of",    "split",
                                                     "relation", "shorthand", "keys"};
        if (node.is_string()) {
            if (nodes_.read_type(node, field)) check_keys(node, field);
            return;
        }
        if (!nodes_.is_mapping(node, concat("field ", quoted(node.key())))) return;
        const Node type = node.find("type");
        if (!type) {
            diagnostics_.error(node.key_position(), concat("field ", quoted(node.key()), " has no type"),
                               "write { type = float } or the type alone");
            return;
        }
        if (!nodes_.read_type(type, field)) return;
        check_keys(node, field);
        std::int64_t number = 0;
        std::string_view word;
        if (const Node bytes = node.find("bytes"); bytes && nodes_.integer(bytes, 1, 8, number))
            field.value_bytes = static_cast<std::uint32_t>(number);
        for (const Node child : node) {
            const std::string_view key = child.key();
            if (key == "default")
                default_value = child;
            else if (key == "unit") {
                if (nodes_.text(child, "a unit, such as m", word)) field.unit = word;
            } else if (key == "range")
                read_range(child, field);
            else if (key == "values")
                read_values(child, field);
            else if (key == "array") {
                if (nodes_.integer(child, 1, 65536, number)) field.array_length = static_cast<std::uint32_t>(number);
            } else if (key == "capacity") {
                if (nodes_.integer(child, 2, 4096, number)) field.value_bytes = static_cast<std::uint32_t>(number);
            } else if (key == "split")
                nodes_.boolean(child, field.split);
            else if (key == "shorthand")
                nodes_.boolean(child, field.shorthand);
            else if (key == "keys") {
                if (nodes_.text(child, "the name of another field", word)) field.keys = word;
            } else if (key == "relation")
                read_relation(child, field);
            else if (key == "of") {
                FieldDefinition element;
                if (nodes_.read_type(child, element)) field.element_type = element.type;
            } else if (key != "type" && key != "bytes")
                nodes_.unknown_key(child, concat("field ", quoted(node.key())), kKeys);
        }
    }

    /// Refuses keys that do not fit the type of the field, and reports keys that the type needs and that are missing.
    void check_keys(Node node, const FieldDefinition& field) {
        const std::string owner = concat("field ", quoted(field.name), " is of type ", field_type_name(field.type));
        const auto only_for = [&](std::string_view key, bool fits, std::string_view types) {
            const Node child = node.is_mapping() ? node.find(key) : Node();
            if (!child || fits) return;
            diagnostics_.error(child.key_position(), concat(owner, ", and `", key, "` is for ", types),
                               "remove it, or choose another type");
        };
        const auto needed_for = [&](std::string_view key, bool is_needed, std::string_view example) {
            if (!is_needed || (node.is_mapping() && node.find(key))) return;
            diagnostics_.error(node.key_position(), concat(owner, ", which needs `", key, '`'),
                               concat("write ", example));
        };
        const bool is_enum = field.type == FieldType::kEnum, is_text = field.type == FieldType::kFixedString,
                   is_array = field.type == FieldType::kBlobArray;
        only_for("values", is_enum, "enums");
        only_for("bytes", is_enum, "enums");
        only_for("capacity", is_text, "fixed strings");
        only_for("of", is_array, "blob arrays");
        only_for("keys", is_array, "blob arrays");
        only_for("range", field.type >= FieldType::kInt8 && field.type <= FieldType::kQuaternion,
                 "numbers and vectors");
        only_for("relation", field.type == FieldType::kEntity && field.array_length == 0, "single entities");
        only_for("split", field_type_lanes(field.type) > 1, "vectors and quaternions");
        needed_for("values", is_enum, "{ type = enum values = [NAME ...] }");
        needed_for("capacity", is_text, "{ type = fixed_string capacity = 16 }");
        needed_for("of", is_array, "{ type = blob_array of = float }");
    }

    /// Checks the parts of a declaration against each other.
    void check_layout(Node node, const ComponentDefinition& definition) {
        for (const FieldDefinition& field : definition.fields) {
            if (definition.whole && field.split)
                diagnostics_.error(node.key_position(),
                                   concat("component ", quoted(definition.name), " is `whole`, and its field ",
                                          quoted(field.name), " is `split`"),
                                   "remove one of the two");
            if (field.has_range && field.default_value.empty() && field.minimum <= field.maximum &&
                (field.minimum > 0 || field.maximum < 0))
                diagnostics_.error(node.key_position(),
                                   concat("component ", quoted(definition.name), ", field ", quoted(field.name),
                                          ": without a default it is 0, which is outside the range ", field.minimum,
                                          " to ", field.maximum),
                                   "give it a default in the range");
        }
    }

    /// Reads fields. Those of a struct within the component have the name of the struct before theirs: `group` is
    /// "aabbox.".
    void read_fields(Node node, const std::string& group, ComponentDefinition& definition,
                     std::vector<Node>& defaults) {
        if (!nodes_.is_mapping(node, "`fields`")) return;
        if (node.size() > kMaxFields) {
            diagnostics_.error(node.key_position(),
                               concat("component ", quoted(definition.name), " has ", node.size(), " fields"),
                               concat("a component has at most ", kMaxFields));
            return;
        }
        for (const Node child : node) {
            const std::string name = concat(group, child.key());
            if (const Node inner = child.find("fields")) {
                static constexpr std::string_view kKeys[] = {"fields"};
                for (const Node key : child)
                    if (key.key() != "fields") nodes_.unknown_key(key, concat("the struct ", quoted(name)), kKeys);
                read_fields(inner, concat(name, '.'), definition, defaults);
                continue;
            }
            definition.fields.emplace_back();
            definition.fields.back().name = name;
            defaults.emplace_back();
            read_field(child, definition.fields.back(), defaults.back());
        }
    }

    void read_component(Node node) {
        static constexpr std::string_view kKeys[] = {"version", "spawn_order", "many",   "singleton",  "enableable",
                                                     "whole",   "in_file",     "fields", "migrations", "renamed_from"};
        const std::size_t errors = diagnostics_.num_errors();
        ComponentDefinition definition;
        definition.name = node.key();
        std::vector<Node> defaults;
        Marks marks;
        if (!node.is_null() && !nodes_.is_mapping(node, concat("component ", quoted(node.key())))) return;
        std::int64_t number = 0;
        bool in_file = false;
        for (const Node child : node) {
            const std::string_view key = child.key();
            if (key == "version") {
                if (nodes_.integer(child, 1, 0xFFFFFFFF, number))
                    definition.version = static_cast<std::uint32_t>(number);
            } else if (key == "spawn_order") {
                if (nodes_.integer(child, -1000000, 1000000, number))
                    marks.spawn_order = static_cast<std::int32_t>(number);
            } else if (key == "many")
                nodes_.boolean(child, definition.many);
            else if (key == "singleton" || is_old_word(child, "single", "singleton", diagnostics_))
                nodes_.boolean(child, definition.singleton);
            else if (key == "enableable" || is_old_word(child, "toggled", "enableable", diagnostics_))
                nodes_.boolean(child, definition.enableable);
            else if (key == "whole")
                nodes_.boolean(child, definition.whole);
            else if (key == "in_file")
                nodes_.boolean(child, in_file);
            else if (key == "fields")
                read_fields(child, {}, definition, defaults);
            else if (key == "migrations")
                marks.migrations = child;
            else if (key == "renamed_from")
                marks.renamed_from = child;
            else
                nodes_.unknown_key(child, concat("component ", quoted(node.key())), kKeys);
        }
        if (in_file) added_.components_in_files.emplace_back(node.key());
        if (diagnostics_.num_errors() == errors) finish(std::move(definition), defaults, node, marks);
    }

    /// Makes the schema; then, knowing sizes, reads the defaults and makes it again with them.
    void finish(ComponentDefinition definition, std::span<const Node> defaults, Node node, const Marks& marks) {
        const std::size_t errors = diagnostics_.num_errors();
        for (FieldDefinition& field : definition.fields) field.default_value = default_without_declaration(field);
        ComponentDefinition plain = definition;
        for (FieldDefinition& field : plain.fields) field.has_range = field.has_range && field.default_value.empty();
        for (std::size_t i = 0; i < defaults.size(); ++i)
            if (defaults[i]) plain.fields[i].has_range = false;
        const Result<Schema> sized = Schema::make(std::move(plain));
        if (!sized) {
            diagnostics_.error(node.key_position(), std::string(sized.message()));
            return;
        }
        FieldReader reader{diagnostics_, definition.name};
        for (std::size_t i = 0; i < defaults.size(); ++i) {
            if (!defaults[i]) continue;
            Field field = sized->fields()[i];
            field.has_range = definition.fields[i].has_range;
            Array<std::byte> value(sized->default_image().begin() + field.struct_offset,
                                   sized->default_image().begin() + field.struct_offset + field.size);
            if (field.type == FieldType::kEntity)
                diagnostics_.error(defaults[i].position(),
                                   concat("field ", quoted(field.name), ": the default of an entity must be null"),
                                   "remove it");
            else if (reader.read(field, defaults[i], value.data()))
                definition.fields[i].default_value = std::move(value);
        }
        check_layout(node, definition);
        if (diagnostics_.num_errors() != errors) return;
        Result<Schema> schema = Schema::make(std::move(definition));
        if (!schema) {
            diagnostics_.error(node.key_position(), std::string(schema.message()));
            return;
        }
        check_known(*schema, node);
        read_.push_back({std::move(schema).value(), node.key_position(), marks.spawn_order, {}, {}, {}});
        read_migrations(marks, read_.back());
    }

    void read_migrations(const Marks& marks, Read& component) {
        if (marks.migrations) component.steps = MigrationReader(component.schema, diagnostics_).read(marks.migrations);
        if (marks.renamed_from)
            component.old_names = read_old_names(marks.renamed_from, component.schema.name(), diagnostics_);
        if (!marks.migrations && !marks.renamed_from) return;
        DocumentBuilder builder;
        builder.begin_mapping();
        if (marks.renamed_from) builder.member(marks.renamed_from);
        if (marks.migrations) builder.member(marks.migrations);
        builder.end();
        const Document text = builder.finish();
        component.migrations = write_sjson(text.root());
    }

    void check_known(const Schema& schema, Node node) {
        const RegisteredComponent* known = registry_.find(schema.name());
        if (known == nullptr || known->schema == nullptr) return;
        const std::string what = difference(schema, *known->schema);
        if (what.empty()) return;
        Diagnostic& error = diagnostics_.error(
            node.key_position(),
            concat("component ", quoted(schema.name()), " is already declared, but differently: ", what),
            concat("it is known as ", known->schema->to_text(), "; make both the same, or rename one"));
        for (const SourceRules::Declaration& declaration : rules_.declarations)
            if (declaration.component == schema.name()) error.note(declaration.position, "it is declared here");
    }

    /// Refuses an old name that another component type has, or had.
    void check_old_names() {
        const auto refuse = [&](const Read& component, std::string_view old_name, std::string_view other) {
            diagnostics_.error(
                component.position,
                concat("component ", quoted(component.schema.name()), " is renamed from ", quoted(old_name), ", but ",
                       other),
                "a name means one component type; correct `renamed_from`, or give the other one a new name");
        };
        for (const Read& component : read_)
            for (const std::string& old_name : component.old_names) {
                const RegisteredComponent* const known = registry_.find(old_name);
                const auto is_named_so = [&](const Read& other) { return other.schema.name() == old_name; };
                if ((known != nullptr && known->schema != nullptr) || std::ranges::any_of(read_, is_named_so)) {
                    refuse(component, old_name, "there is a component type of this name");
                    continue;
                }
                const RegisteredComponent* const renamed = registry_.find_current(ComponentId(old_name));
                std::string_view other = renamed != nullptr ? std::string_view(renamed->name) : std::string_view();
                for (const Read& earlier : std::span(read_.data(), static_cast<std::size_t>(&component - read_.data())))
                    if (std::ranges::find(earlier.old_names, old_name) != earlier.old_names.end())
                        other = earlier.schema.name();
                if (!other.empty() && other != component.schema.name())
                    refuse(component, old_name, concat("so is ", quoted(other)));
            }
    }

    /// Lets the registry know what has changed, unless it does from another schema file that says the same.
    void add_migrations(const Read& component) {
        if (component.migrations.empty()) return;
        const std::string& name = component.schema.name();
        const RegisteredComponent& known = *registry_.find(name);
        for (const SourceRules::Declaration& other : rules_.declarations) {
            if (other.component != name || other.migrations.empty()) continue;
            if (other.migrations != component.migrations)
                diagnostics_
                    .error(component.position,
                           concat("component ", quoted(name), " has other `migrations` or `renamed_from` than before"),
                           "say the same in both schema files, or in one only")
                    .note(other.position, "it is declared here");
            return;
        }
        if (!component.steps.empty() && known.migrations != nullptr && known.migrations->has_steps()) {
            diagnostics_.error(component.position,
                               concat("the program says already what has changed in ", quoted(name)),
                               "remove `migrations` here");
            return;
        }
        Migrations& migrations = registry_.migrations(*known.schema);
        for (const DeclaredStep& step : component.steps) step.add_to(migrations);
        for (const std::string& old_name : component.old_names) migrations.renamed_from(old_name);
    }

    void add_all() {
        for (Read& component : read_) {
            const std::string& name = component.schema.name();
            const RegisteredComponent* known = registry_.find(name);
            if (known == nullptr || known->schema == nullptr)
                if (Status status = registry_.add(component.schema); !status)
                    diagnostics_.error(component.position, std::string(status.message()));
            known = registry_.find(name);
            if (component.spawn_order && known != nullptr && known->compile == nullptr)
                if (Status status = registry_.set_compile_function(name, nullptr, nullptr, *component.spawn_order);
                    !status)
                    diagnostics_.error(component.position, std::string(status.message()));
            if (known != nullptr && known->schema != nullptr) add_migrations(component);
            added_.declarations.push_back({name, component.position, component.migrations});
        }
        rules_ = std::move(added_);
    }

    ComponentRegistry& registry_;
    SourceRules& rules_;
    SourceRules added_;
    Diagnostics& diagnostics_;
    SchemaNodes nodes_;
    std::vector<Read> read_;
};

bool same_field(const Field& a, const Field& b) {
    return a.name == b.name && a.type == b.type && a.element_type == b.element_type &&
           a.array_length == b.array_length && a.value_bytes == b.value_bytes && a.split == b.split &&
           a.relation == b.relation && a.shorthand == b.shorthand && a.keys == b.keys && a.unit == b.unit &&
           a.has_range == b.has_range && (!a.has_range || (a.minimum == b.minimum && a.maximum == b.maximum)) &&
           a.enumerators == b.enumerators;
}

}  // namespace

Array<std::byte> default_without_declaration(const FieldDefinition& field) {
    const Quaternion no_rotation;
    const Matrix3x4 identity;
    std::byte number[sizeof(std::int64_t)];
    const void* value = nullptr;
    std::size_t num_bytes = field_type_bytes(field.type);
    if (field.type == FieldType::kQuaternion) value = &no_rotation;
    if (field.type == FieldType::kMatrix3x4) value = &identity;
    if (field.type == FieldType::kEnum && !field.enumerators.empty() && field.value_bytes <= 8) {
        write_enum_number(number, field.value_bytes, field.enumerators[0].value);
        value = number;
        num_bytes = field.value_bytes;
    }
    Array<std::byte> all;
    if (value == nullptr) return all;
    for (std::uint32_t i = 0; i < std::max(1u, field.array_length); ++i)
        all.insert(all.end(), static_cast<const std::byte*>(value), static_cast<const std::byte*>(value) + num_bytes);
    return all;
}

std::string difference(const Schema& a, const Schema& b) {
    if (a.version() != b.version()) return concat("version ", a.version(), " instead of ", b.version());
    if (a.whole() != b.whole()) return "`whole` differs";
    if (a.enableable() != b.enableable()) return "`enableable` differs";
    if (a.many() != b.many()) return "`many` differs";
    if (a.singleton() != b.singleton()) return "`singleton` differs";
    if (a.fields().size() != b.fields().size())
        return concat(a.fields().size(), a.fields().size() == 1 ? " field" : " fields", " instead of ",
                      b.fields().size());
    for (std::size_t i = 0; i < a.fields().size(); ++i) {
        const Field &field = a.fields()[i], &other = b.fields()[i];
        if (!same_field(field, other)) return concat("field ", quoted(field.name), " differs");
        if (std::memcmp(a.default_image().data() + field.struct_offset, b.default_image().data() + other.struct_offset,
                        field.size) != 0)
            return concat("the default of field ", quoted(field.name), " differs");
    }
    return {};
}

bool read_schema_text(std::uint32_t file, ComponentRegistry& registry, SourceRules& rules, Diagnostics& diagnostics) {
    ReadOptions options;
    options.bare_texts = true;
    const Result<Document> document = read_document(file, diagnostics, options);
    return document && SchemaReader(registry, rules, diagnostics).read(document->root());
}

bool read_schema_file(const std::string& path, ComponentRegistry& registry, SourceRules& rules,
                      Diagnostics& diagnostics, SourceFiles* files) {
    DiskFiles disk;
    Result<std::string> text = (files == nullptr ? disk : *files).read(path);
    if (!text) {
        diagnostics.error({}, std::string(text.message()), "give the path of a schema file");
        return false;
    }
    return read_schema_text(diagnostics.add_file(path, std::move(text).value()), registry, rules, diagnostics);
}

}  // namespace shoal
