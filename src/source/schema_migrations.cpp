#include "source/schema_migrations.h"

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "source/field_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal {

void DeclaredStep::add_to(Migrations& migrations) const {
    MigrationStep& step = migrations.from(from);
    for (const std::string& field : removed) step.remove(field);
    for (const auto& [old_name, new_name] : renamed) step.rename(old_name, new_name);
    for (const auto& [field, conversion] : converted) convert_values(step, field, conversion);
    for (const auto& [field, to] : split) split_values(step, field, to);
    for (const auto& [field, parts] : joined) join_values(step, parts, field);
    for (const auto& [field, value] : set) step.set(field, value);
}

// --- steps -----------------------------------------------------------------------------------------------------------

std::vector<DeclaredStep> MigrationReader::read(Node list) {
    if (!list.is_list()) {
        diagnostics_.error(list.position(), concat("`migrations` is ", kind_name(list.kind())),
                           "write a list: [ { from = 1  rename = { old = new } } ]");
        return {};
    }
    for (const Node node : list) read_step(node);
    // Names and values depend on later steps, wherever they stand.
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        check_names(nodes_of_steps_[i], steps_[i]);
        if (const Node set = nodes_of_steps_[i].find("set")) read_set(set, steps_[i]);
    }
    std::ranges::sort(steps_, {}, &DeclaredStep::from);
    return std::exchange(steps_, {});
}

void MigrationReader::read_step(Node node) {
    static constexpr std::string_view kKeys[] = {"from", "remove", "rename", "convert", "split", "join", "set"};
    if (!nodes_.is_mapping(node, "an element of `migrations`")) return;
    DeclaredStep step;
    std::int64_t from = 0;
    const Node version = node.find("from");
    if (!version) {
        diagnostics_.error(node.position(), "this migration has no `from`", "write the version that it begins with");
        return;
    }
    if (schema_.version() == 1) {
        diagnostics_.error(version.position(), concat("component ", quoted(schema_.name()), " is of version 1"),
                           "give it a `version`, one more with each change of its fields");
        return;
    }
    if (!nodes_.integer(version, 1, schema_.version() - 1, from)) return;
    step.from = static_cast<std::uint32_t>(from);
    for (std::size_t i = 0; i < steps_.size(); ++i)
        if (steps_[i].from == step.from) {
            diagnostics_
                .error(version.position(), concat("there are two migrations from version ", from), "make them one")
                .note(nodes_of_steps_[i].find("from").position(), "the other is here");
            return;
        }
    for (const Node child : node) {
        const std::string_view key = child.key();
        if (key == "remove")
            read_removed(child, step);
        else if (key == "rename")
            read_renamed(child, step);
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

void MigrationReader::read_removed(Node list, DeclaredStep& step) {
    if (!list.is_list()) {
        diagnostics_.error(list.position(), concat("`remove` is ", kind_name(list.kind())), "write a list: [field]");
        return;
    }
    std::string_view name;
    for (const Node child : list)
        if (nodes_.text(child, "the name of a field", name)) step.removed.emplace_back(name);
}

void MigrationReader::read_renamed(Node mapping, DeclaredStep& step) {
    if (!nodes_.is_mapping(mapping, "`rename`")) return;
    std::string_view name;
    for (const Node child : mapping)
        if (nodes_.text(child, "the new name of the field", name))
            step.renamed.emplace_back(std::string(child.key()), std::string(name));
}

void MigrationReader::read_lists(Node mapping, std::string_view key, std::size_t most,
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

// --- values ----------------------------------------------------------------------------------------------------------

void MigrationReader::read_converted(Node mapping, DeclaredStep& step) {
    if (!nodes_.is_mapping(mapping, "`convert`")) return;
    for (const Node child : mapping) {
        ValueConversion conversion;
        read_conversion(child, conversion);
        step.converted.emplace_back(std::string(child.key()), std::move(conversion));
    }
}

/// Reads `float`, or { type = float  factor = 0.01  plus = 1 }, or { values = { old = new } }.
void MigrationReader::read_conversion(Node node, ValueConversion& conversion) {
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
            read_values(child, conversion);
        else if (child.key() != "type")
            nodes_.unknown_key(child, concat("the conversion of ", quoted(node.key())), kKeys);
    }
    if (node.size() == 0)
        diagnostics_.error(node.position(), concat("the conversion of ", quoted(node.key()), " says nothing"),
                           "write a type, { factor = 0.01 } or { values = { old = new } }");
    if (node.find("values") && node.size() > 1)
        diagnostics_.error(node.position(), concat("the conversion of ", quoted(node.key()), " has `values` and more"),
                           "`values` are the names of an enum, which is no number; write one of the two");
}

void MigrationReader::read_values(Node mapping, ValueConversion& conversion) {
    if (!nodes_.is_mapping(mapping, "`values`")) return;
    std::string_view name;
    for (const Node child : mapping)
        if (nodes_.text(child, "the new name of the value", name))
            conversion.values.emplace_back(std::string(child.key()), std::string(name));
}

bool MigrationReader::read_number(Node node, double& number) {
    if (node.is_number() && std::isfinite(node.as_double())) return number = node.as_double(), true;
    diagnostics_.error(node.position(), concat('`', node.key(), "` is not a number"), "write a number, such as 0.01");
    return false;
}

void MigrationReader::read_set(Node mapping, DeclaredStep& step) {
    if (!nodes_.is_mapping(mapping, "`set`")) return;
    for (const Node child : mapping) {
        AnyValue value;
        if (read_set_value(child, fate_of(child.key(), step, false), value))
            step.set.emplace_back(std::string(child.key()), std::move(value));
    }
}

bool MigrationReader::read_set_value(Node node, const Fate& fate, AnyValue& value) {
    if (node.is_mapping() && node.find("type")) return read_typed_value(node, value);
    const int found = schema_.find_field(fate.name);
    if (!fate.is_gone && !fate.is_converted && found >= 0)
        return read_value(schema_.fields()[static_cast<std::size_t>(found)], node, value);
    if (fate.is_gone || fate.is_converted)
        diagnostics_.error(node.position(),
                           concat("the type of ", quoted(node.key()), " is not known, because a later migration ",
                                  fate.is_gone ? "takes the field away" : "converts it"),
                           "write { type = float  value = 1.0 }");
    return false;  // check_names() says what else is wrong
}

bool MigrationReader::read_value(const Field& field, Node node, AnyValue& value) {
    if (field.type == FieldType::kEntity || field.type == FieldType::kBlobArray) {
        diagnostics_.error(node.position(),
                           concat("field ", quoted(field.name), " is of type ", field_type_name(field.type),
                                  ", which a migration cannot set"),
                           "remove it; it is null or empty in components that were made before");
        return false;
    }
    ValueType type = value_type_of(field);
    type.enumerators = {};  // they are those of a schema that may not outlive the value
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
bool MigrationReader::read_typed_value(Node node, AnyValue& value) {
    static constexpr std::string_view kKeys[] = {"type", "value"};
    for (const Node child : node)
        if (child.key() != "type" && child.key() != "value") nodes_.unknown_key(child, "a value with its type", kKeys);
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
    const Result<Schema> schema = has_size ? Schema::make(std::move(definition)) : Result<Schema>(Status::error(""));
    if (schema) return read_value(schema->fields()[0], given, value);
    diagnostics_.error(node.find("type").position(),
                       concat("a migration cannot set a value of type ", field_type_name(field.type), " here"),
                       "set it in a later migration, or choose a number, a vector or an id");
    return false;
}

// --- names -----------------------------------------------------------------------------------------------------------

/// `is_early`: the name is given before the conversions of its own step.
MigrationReader::Fate MigrationReader::fate_of(std::string_view name, const DeclaredStep& step, bool is_early) const {
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

/// Reports a new name that the newest version does not have, and that no later change takes away.
void MigrationReader::check_name(SourcePosition position, std::string_view name, const DeclaredStep& step,
                                 bool is_early) {
    const Fate fate = fate_of(name, step, is_early);
    if (fate.is_gone || schema_.find_field(fate.name) >= 0) return;
    std::vector<std::string_view> names;
    for (const Field& field : schema_.fields()) names.push_back(field.name);
    const int close = closest_text(fate.name, names.data(), names.size());
    diagnostics_.error(position,
                       concat("component ", quoted(schema_.name()), " has no field ", quoted(fate.name), " in version ",
                              schema_.version()),
                       close >= 0 ? concat("did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?")
                                  : "declare it under `fields`, or say in a later migration what became of it");
}

void MigrationReader::check_names(Node node, const DeclaredStep& step) {
    for (const auto& [from, to] : step.renamed) check_name(node.find("rename").find(from).position(), to, step, true);
    for (const auto& [field, to] : step.split)
        for (std::size_t i = 0; i < to.size(); ++i)
            check_name(node.find("split").find(field)[i].position(), to[i], step, false);
    for (const auto& [field, parts] : step.joined)
        check_name(node.find("join").find(field).key_position(), field, step, false);
    if (const Node set = node.find("set"); set && set.is_mapping())
        for (const Node child : set) check_name(child.key_position(), child.key(), step, false);
}

// --- names of component types ----------------------------------------------------------------------------------------

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

}  // namespace shoal
