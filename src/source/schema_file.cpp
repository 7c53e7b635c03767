#include "shoal/source/schema_file.h"

#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "shoal/resource/detail/value_change.h"
#include "shoal/source/detail/source_keys.h"
#include "shoal/table/detail/enum_bytes.h"
#include "source/field_reader.h"
#include "source/schema_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace shoal {
namespace {

// --- parts that schema files are made of -----------------------------------------------------------------------------

/// If there is an error, functions that return a bool report it and return false.
class SchemaNodes {
public:
    explicit SchemaNodes(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    bool is_mapping(Node node, std::string_view what) {
        if (node.is_mapping()) return true;
        diagnostics_.error(node.position(), concat(what, " is ", kind_name(node.kind())), "write a mapping: { ... }");
        return false;
    }

    /// Reports a key that `owner` does not have.
    void unknown_key(Node child, std::string_view owner, std::span<const std::string_view> known) {
        const int close = closest_text(child.key(), known.data(), known.size());
        std::string list;
        for (const std::string_view key : known) append_text(list, concat(list.empty() ? "" : ", ", key));
        diagnostics_.error(child.key_position(), concat(owner, " has no key ", quoted(child.key())),
                           close >= 0 ? concat("did you mean `", known[static_cast<std::size_t>(close)], "`?")
                                      : concat("it has ", list));
    }

    bool is_list(Node node, std::string_view example) {
        if (node.is_list()) return true;
        diagnostics_.error(node.position(), concat('`', node.key(), "` is ", kind_name(node.kind())),
                           concat("write a list: ", example));
        return false;
    }

    template <class Text>
    bool text(Node node, std::string_view what, Text& out) {
        if (node.is_string()) return out = node.as_string(), true;
        diagnostics_.error(node.position(), concat("this is ", kind_name(node.kind())), concat("write ", what));
        return false;
    }

    bool boolean(Node node, bool& out) {
        if (node.is_bool()) return out = node.as_bool(), true;
        diagnostics_.error(node.position(), concat("`", node.key(), "` is ", kind_name(node.kind())),
                           "write true or false");
        return false;
    }

    template <class Integer>
    bool integer(Node node, std::int64_t least, std::int64_t greatest, Integer& out) {
        const std::int64_t* value = node.as_int64();
        if (value && *value >= least && *value <= greatest) return out = static_cast<Integer>(*value), true;
        diagnostics_.error(node.position(), concat("`", node.key(), "` cannot be this"),
                           concat("write a whole number from ", least, " to ", greatest));
        return false;
    }

    /// Reads a type such as `vec3`, or the `type` of a mapping.
    bool read_type(Node node, FieldDefinition& field) {
        std::string_view name;
        if (!text(node, "the name of a field type, such as vec3", name)) return false;
        field.type = field_type_from_name(name);
        if (field.type != FieldType(0)) return true;
        std::string_view known[kNumFieldTypes];
        std::size_t count = 0;
        for (int i = 1; i < static_cast<int>(FieldType::kOpaque); ++i)
            known[count++] = field_type_name(static_cast<FieldType>(i));
        const int close = closest_text(name, known, count);
        std::string list;
        for (std::size_t i = 0; i < count; ++i) append_text(list, concat(i == 0 ? "" : ", ", known[i]));
        diagnostics_.error(node.position(), concat("there is no field type ", quoted(name)),
                           close >= 0 ? concat("did you mean ", known[close], "?") : concat("choose one of ", list));
        return false;
    }

private:
    Diagnostics& diagnostics_;
};

// --- changes between versions ----------------------------------------------------------------------------------------

/// The changes from one version to the next. They are applied in the order of these members.
struct DeclaredStep {
    std::uint32_t from = 0;
    std::vector<std::string> removed;
    std::vector<std::pair<std::string, std::string>> renamed;  ///< old and new names
    std::vector<std::pair<std::string, ValueConversion>> converted;
    std::vector<std::pair<std::string, std::vector<std::string>>> split;
    std::vector<std::pair<std::string, std::vector<std::string>>> joined;  ///< the new name, then the old names
    std::vector<std::pair<std::string, AnyValue>> set;

    void add_to(Migrations& migrations) const {
        MigrationStep& step = migrations.from(from);
        for (const std::string& field : removed) step.remove(field);
        for (const auto& [old_name, new_name] : renamed) step.rename(old_name, new_name);
        for (const auto& [field, conversion] : converted) convert_values(step, field, conversion);
        for (const auto& [field, to] : split) split_values(step, field, to);
        for (const auto& [field, parts] : joined) join_values(step, parts, field);
        for (const auto& [field, value] : set) step.set(field, value);
    }
};

/// Reads the migrations of a component type.
class MigrationReader {
public:
    /// `schema` has the newest version.
    MigrationReader(const Schema& schema, Diagnostics& diagnostics)
        : schema_(schema), diagnostics_(diagnostics), nodes_(diagnostics) {}

    // --- steps -------------------------------------------------------------------------------------------------------

    /// Returns the steps sorted by version. Reports errors.
    std::vector<DeclaredStep> read(Node list) {
        if (!nodes_.is_list(list, "[ { from = 1  rename = { old = new } } ]")) return {};
        for (const Node node : list) read_step(node);
        // Names and values depend on later steps, which may come earlier in the text.
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            check_names(nodes_of_steps_[i], steps_[i]);
            if (const Node set = nodes_of_steps_[i].find("set")) read_set(set, steps_[i]);
        }
        std::ranges::sort(steps_, {}, &DeclaredStep::from);
        return std::exchange(steps_, {});
    }

private:
    /// What has become of a step's field in the newest version: its current name, and whether it was removed or
    /// converted.
    struct Fate {
        std::string name;
        bool is_gone = false;       ///< a later change removes the field
        bool is_converted = false;  ///< a later change gives the field a different type
    };

    void read_step(Node node) {
        static constexpr std::string_view kKeys[] = {"from", "remove", "rename", "convert", "split", "join", "set"};
        if (!nodes_.is_mapping(node, "an element of `migrations`")) return;
        DeclaredStep step;
        const Node version = node.find("from");
        if (!version) {
            diagnostics_.error(node.position(), "this migration has no `from`",
                               "write the version that it begins with");
            return;
        }
        if (schema_.version() == 1) {
            diagnostics_.error(version.position(), concat("component ", quoted(schema_.name()), " is of version 1"),
                               "give it a `version`, one more with each change of its fields");
            return;
        }
        if (!nodes_.integer(version, 1, schema_.version() - 1, step.from)) return;
        for (std::size_t i = 0; i < steps_.size(); ++i)
            if (steps_[i].from == step.from) {
                diagnostics_
                    .error(version.position(), concat("there are two migrations from version ", step.from),
                           "make them one")
                    .note(nodes_of_steps_[i].find("from").position(), "the other is here");
                return;
            }
        for (const Node child : node) {
            const std::string_view key = child.key();
            if (key == "remove")
                read_removed(child, step);
            else if (key == "rename")
                read_names(child, "the new name of the field", step.renamed);
            else if (key == "convert")
                read_converted(child, step);
            else if (key == "split")
                read_lists(child, key, kMaxFields, step.split);
            else if (key == "join")
                read_lists(child, key, 4, step.joined);
            else if (key != "from" && key != "set")
                nodes_.unknown_key(child, "a migration", kKeys);
        }
        steps_.push_back(std::move(step));
        nodes_of_steps_.push_back(node);
    }

    void read_removed(Node list, DeclaredStep& step) {
        if (!nodes_.is_list(list, "[field]")) return;
        std::string_view name;
        for (const Node child : list)
            if (nodes_.text(child, "the name of a field", name)) step.removed.emplace_back(name);
    }

    /// Reads { old = new }.
    void read_names(Node mapping, std::string_view what, std::vector<std::pair<std::string, std::string>>& names) {
        if (!nodes_.is_mapping(mapping, concat('`', mapping.key(), '`'))) return;
        std::string_view name;
        for (const Node child : mapping)
            if (nodes_.text(child, what, name)) names.emplace_back(child.key(), name);
    }

    void read_lists(Node mapping, std::string_view key, std::size_t most,
                    std::vector<std::pair<std::string, std::vector<std::string>>>& lists) {
        if (!nodes_.is_mapping(mapping, concat('`', key, '`'))) return;
        for (const Node child : mapping) {
            std::vector<std::string> names;
            const bool has_size = child.is_list() && child.size() >= (key == "join" ? 2u : 1u) && child.size() <= most;
            if (!has_size) {
                diagnostics_.error(child.position(),
                                   concat('`', key, "` does not name the fields of ", quoted(child.key())),
                                   key == "join" ? "write a list of two to four fields that are floats: [x y z]"
                                                 : "write a list of the new fields: [width length]");
                continue;
            }
            std::string_view name;
            for (const Node field : child)
                if (nodes_.text(field, "the name of a field", name)) names.emplace_back(name);
            if (names.size() == child.size()) lists.emplace_back(std::string(child.key()), std::move(names));
        }
    }

    // --- values ------------------------------------------------------------------------------------------------------

    void read_converted(Node mapping, DeclaredStep& step) {
        if (!nodes_.is_mapping(mapping, "`convert`")) return;
        for (const Node child : mapping) {
            ValueConversion conversion;
            read_conversion(child, conversion);
            step.converted.emplace_back(std::string(child.key()), std::move(conversion));
        }
    }

    /// Reads `float`, or { type = float  factor = 0.01  plus = 1 }, or { values = { old = new } }.
    void read_conversion(Node node, ValueConversion& conversion) {
        static constexpr std::string_view kKeys[] = {"type", "factor", "plus", "values"};
        const Node type = node.is_string() ? node : node.is_mapping() ? node.find("type") : Node();
        FieldDefinition field;
        if (type && nodes_.read_type(type, field)) {
            conversion.type = field.type;
            if (field.type < FieldType::kBool || field.type > FieldType::kQuaternion)
                diagnostics_.error(
                    type.position(), concat("a migration cannot convert values to ", field_type_name(field.type)),
                    "choose a number, bool or a vector; texts and enums that fit are converted without this");
        }
        if (node.is_string() || !nodes_.is_mapping(node, concat("the conversion of ", quoted(node.key())))) return;
        for (const Node child : node) {
            if (child.key() == "factor")
                read_number(child, conversion.factor);
            else if (child.key() == "plus")
                read_number(child, conversion.plus);
            else if (child.key() == "values")
                read_names(child, "the new name of the value", conversion.values);
            else if (child.key() != "type")
                nodes_.unknown_key(child, concat("the conversion of ", quoted(node.key())), kKeys);
        }
        if (node.size() == 0)
            diagnostics_.error(node.position(), concat("the conversion of ", quoted(node.key()), " says nothing"),
                               "write a type, { factor = 0.01 } or { values = { old = new } }");
        if (node.find("values") && node.size() > 1)
            diagnostics_.error(node.position(),
                               concat("the conversion of ", quoted(node.key()), " has `values` and more"),
                               "`values` are the names of an enum, which is no number; write one of the two");
    }

    bool read_number(Node node, double& number) {
        if (node.is_number() && std::isfinite(node.as_double())) return number = node.as_double(), true;
        diagnostics_.error(node.position(), concat('`', node.key(), "` is not a number"),
                           "write a number, such as 0.01");
        return false;
    }

    void read_set(Node mapping, DeclaredStep& step) {
        if (!nodes_.is_mapping(mapping, "`set`")) return;
        for (const Node child : mapping) {
            AnyValue value;
            if (read_set_value(child, fate_of(child.key(), step, false), value))
                step.set.emplace_back(std::string(child.key()), std::move(value));
        }
    }

    bool read_set_value(Node node, const Fate& fate, AnyValue& value) {
        if (node.is_mapping() && node.find("type")) return read_typed_value(node, value);
        const int found = schema_.find_field(fate.name);
        if (!fate.is_gone && !fate.is_converted && found >= 0)
            return read_value(schema_.fields()[static_cast<std::size_t>(found)], node, value);
        if (fate.is_gone || fate.is_converted)
            diagnostics_.error(node.position(),
                               concat("the type of ", quoted(node.key()), " is not known, because a later migration ",
                                      fate.is_gone ? "takes the field away" : "converts it"),
                               "write { type = float  value = 1.0 }");
        return false;  // check_names() reports other errors
    }

    bool read_value(const Field& field, Node node, AnyValue& value) {
        if (field.type == FieldType::kEntity || field.type == FieldType::kBlobArray) {
            diagnostics_.error(node.position(),
                               concat("field ", quoted(field.name), " is of type ", field_type_name(field.type),
                                      ", which a migration cannot set"),
                               "remove it; it is null or empty in components that were made before");
            return false;
        }
        ValueType type = value_type_of(field);
        type.enumerators = {};  // the value may outlive the schema that has the enumerators
        value = AnyValue(type);
        const std::vector<std::byte> start = [&] {
            const int found = schema_.find_field(field.name);
            const std::span<const std::byte> image = schema_.default_image();
            return found < 0 || &field != &schema_.fields()[static_cast<std::size_t>(found)]
                       ? std::vector<std::byte>(field.size)
                       : std::vector<std::byte>(image.begin() + field.struct_offset,
                                                image.begin() + field.struct_offset + field.size);
        }();
        std::ranges::copy(start, value.bytes().begin());
        return FieldReader{diagnostics_, schema_.name()}.read(field, node, value.bytes().data());
    }

    /// Reads { type = float  value = 1.0 }.
    bool read_typed_value(Node node, AnyValue& value) {
        static constexpr std::string_view kKeys[] = {"type", "value"};
        for (const Node child : node)
            if (child.key() != "type" && child.key() != "value")
                nodes_.unknown_key(child, "a value with its type", kKeys);
        const Node given = node.find("value");
        if (!given) {
            diagnostics_.error(node.position(), concat(quoted(node.key()), " has a type and no value"),
                               "write { type = float  value = 1.0 }");
            return false;
        }
        ComponentDefinition definition;
        definition.name = schema_.name();
        FieldDefinition& field = definition.fields.emplace_back();
        field.name = node.key();
        if (!nodes_.read_type(node.find("type"), field)) return false;
        const bool has_size = field_type_bytes(field.type) != 0;
        const Result<Schema> schema =
            has_size ? Schema::make(std::move(definition)) : Result<Schema>(Status::error(""));
        if (schema) return read_value(schema->fields()[0], given, value);
        diagnostics_.error(node.find("type").position(),
                           concat("a migration cannot set a value of type ", field_type_name(field.type), " here"),
                           "set it in a later migration, or choose a number, a vector or an id");
        return false;
    }

    // --- names -------------------------------------------------------------------------------------------------------

    /// `is_early`: the name is the one used before the step's own conversions.
    Fate fate_of(std::string_view name, const DeclaredStep& step, bool is_early) const {
        Fate fate{std::string(name)};
        const auto convert = [&](const DeclaredStep& later) {
            for (const auto& [field, conversion] : later.converted)
                fate.is_converted |= field == fate.name && conversion.type != FieldType(0);
            for (const auto& [field, to] : later.split) fate.is_gone |= field == fate.name;
            for (const auto& [field, parts] : later.joined)
                fate.is_gone |= std::ranges::find(parts, fate.name) != parts.end();
        };
        if (is_early) convert(step);
        std::vector<const DeclaredStep*> later;
        for (const DeclaredStep& other : steps_)
            if (other.from > step.from) later.push_back(&other);
        std::ranges::sort(later, {}, &DeclaredStep::from);
        for (const DeclaredStep* other : later) {
            if (fate.is_gone) break;
            fate.is_gone |= std::ranges::find(other->removed, fate.name) != other->removed.end();
            for (const auto& [from, to] : other->renamed)
                if (from == fate.name) {
                    fate.name = to;
                    break;
                }
            convert(*other);
        }
        return fate;
    }

    /// Reports a new name that is missing from the newest version, unless a later change removes it.
    void check_name(SourcePosition position, std::string_view name, const DeclaredStep& step, bool is_early) {
        const Fate fate = fate_of(name, step, is_early);
        if (fate.is_gone || schema_.find_field(fate.name) >= 0) return;
        std::vector<std::string_view> names;
        for (const Field& field : schema_.fields()) names.push_back(field.name);
        const int close = closest_text(fate.name, names.data(), names.size());
        diagnostics_.error(position,
                           concat("component ", quoted(schema_.name()), " has no field ", quoted(fate.name),
                                  " in version ", schema_.version()),
                           close >= 0 ? concat("did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?")
                                      : "declare it under `fields`, or say in a later migration what became of it");
    }

    void check_names(Node node, const DeclaredStep& step) {
        for (const auto& [from, to] : step.renamed)
            check_name(node.find("rename").find(from).position(), to, step, true);
        for (const auto& [field, to] : step.split)
            for (std::size_t i = 0; i < to.size(); ++i)
                check_name(node.find("split").find(field)[i].position(), to[i], step, false);
        for (const auto& [field, parts] : step.joined)
            check_name(node.find("join").find(field).key_position(), field, step, false);
        if (const Node set = node.find("set"); set && set.is_mapping())
            for (const Node child : set) check_name(child.key_position(), child.key(), step, false);
    }

    const Schema& schema_;
    Diagnostics& diagnostics_;
    SchemaNodes nodes_;
    std::vector<DeclaredStep> steps_;
    std::vector<Node> nodes_of_steps_;
};

// --- names of component types ----------------------------------------------------------------------------------------

/// Reads the old names of a component type, which are a string or a list of strings. Reports errors.
std::vector<std::string> read_old_names(Node node, std::string_view component, Diagnostics& diagnostics) {
    SchemaNodes nodes(diagnostics);
    std::vector<std::string> names;
    const auto read = [&](Node child) {
        std::string_view name;
        if (!nodes.text(child, "the name that the component type had", name)) return;
        if (name.empty() || name == component)
            diagnostics.error(child.position(),
                              concat("component ", quoted(component), " is renamed from ", quoted(name)),
                              "write the name that it had before");
        else
            names.emplace_back(name);
    };
    if (!node.is_list()) {
        read(node);
        return names;
    }
    for (const Node child : node) read(child);
    return names;
}

// --- schema files ----------------------------------------------------------------------------------------------------

/// Returns whether a key is the old name of `word`. If so, warns and gives the new name.
bool is_old_word(Node child, std::string_view old, std::string_view word, Diagnostics& diagnostics) {
    if (child.key() != old) return false;
    diagnostics.warning(child.key_position(), concat('`', old, "` is called `", word, "` now"),
                        concat("write `", word, '`'));
    return true;
}

/// Reads one schema file. Registers nothing unless the whole file is correct.
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
        std::string migrations;  ///< text of the migrations
    };
    /// Properties of a component type that are not in its schema.
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
        if (!nodes_.is_list(node, "[editor]")) return;
        for (const Node key : node) {
            std::string_view name;
            if (!nodes_.text(key, "the name of a key", name) || !is_free(key, name, "ignored_keys")) continue;
            if (std::find(added_.ignored_keys.begin(), added_.ignored_keys.end(), name) == added_.ignored_keys.end())
                added_.ignored_keys.emplace_back(name);
        }
    }

    /// Returns whether a schema file may define a key, which must not have a built-in meaning. If not, reports an
    /// error.
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
        if (const Node bytes = node.find("bytes")) nodes_.integer(bytes, 1, 8, field.value_bytes);
        for (const Node child : node) {
            const std::string_view key = child.key();
            if (key == "default")
                default_value = child;
            else if (key == "unit")
                nodes_.text(child, "a unit, such as m", field.unit);
            else if (key == "range")
                read_range(child, field);
            else if (key == "values")
                read_values(child, field);
            else if (key == "array")
                nodes_.integer(child, 1, 65536, field.array_length);
            else if (key == "capacity")
                nodes_.integer(child, 2, 4096, field.value_bytes);
            else if (key == "split")
                nodes_.boolean(child, field.split);
            else if (key == "shorthand")
                nodes_.boolean(child, field.shorthand);
            else if (key == "keys")
                nodes_.text(child, "the name of another field", field.keys);
            else if (key == "relation")
                read_relation(child, field);
            else if (key == "of") {
                FieldDefinition element;
                if (nodes_.read_type(child, element)) field.element_type = element.type;
            } else if (key != "type" && key != "bytes")
                nodes_.unknown_key(child, concat("field ", quoted(node.key())), kKeys);
        }
    }

    /// Reports keys that do not fit the type of the field, and missing keys that the type requires.
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

    /// Checks that the parts of a declaration fit together.
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

    /// Reads fields. The names of fields in a struct begin with `group`, such as "aabbox.".
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
        bool in_file = false;
        for (const Node child : node) {
            const std::string_view key = child.key();
            if (key == "version")
                nodes_.integer(child, 1, 0xFFFFFFFF, definition.version);
            else if (key == "spawn_order")
                nodes_.integer(child, -1000000, 1000000, marks.spawn_order.emplace());
            else if (key == "many")
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

    /// Makes the schema twice, because defaults can only be read when the sizes are known from the first schema.
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

    /// Reports old names that other component types also have or had.
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

    /// Adds the migrations to the registry, unless another schema file has already added the same ones.
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
