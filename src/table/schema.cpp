#include "shoal/table/detail/schema.h"

#include "shoal/base/detail/hash_map.h"
#include "shoal/base/detail/page_memory.h"
#include "shoal/base/text.h"
#include "shoal/table/describe.h"
#include "shoal/table/detail/enum_bytes.h"
#include "shoal/table/detail/number_value.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace shoal {
namespace {

constexpr std::uint32_t kMaxArrayLength = 65536;
constexpr std::uint32_t kMaxStructBytes = 1u << 20;

bool is_identifier(std::string_view name) {
    if (name.empty() || name.size() > 128) return false;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    if (!is_letter(name[0])) return false;
    return std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// Returns whether a field can have this name: identifiers with dots between them.
bool is_field_name(std::string_view name) {
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t end = std::min(name.find('.', at), name.size());
        if (!is_identifier(name.substr(at, end - at))) return false;
        at = end + 1;
    }
    return name.size() <= 128;
}

/// Returns whether `name` is inside the struct `group`: "aabbox.min" inside "aabbox".
bool is_inside(std::string_view name, std::string_view group) {
    return name.size() > group.size() && name[group.size()] == '.' && name.starts_with(group);
}

bool is_number(FieldType type) { return type >= FieldType::kInt8 && type <= FieldType::kQuaternion; }

}  // namespace

std::string_view relation_name(Relation relation) {
    constexpr std::string_view kNames[] = {"none", "kept", "cleared", "dies_too"};
    return kNames[static_cast<std::size_t>(relation)];
}

/// Turns a definition into a schema, one check after another.
struct SchemaMaker {
    ComponentDefinition definition;
    Schema schema;

    Status fail(const FieldDefinition& field, std::string_view problem) const {
        return Status::error(concat("component \"", definition.name, "\", field \"", field.name, "\": ", problem));
    }
    Status fail(std::string_view problem) const {
        return Status::error(concat("component \"", definition.name, "\": ", problem));
    }

    Status check_component() const {
        if (!is_identifier(definition.name))
            return Status::error(concat("a component cannot be called \"", definition.name,
                                        "\"; use letters, digits and underscores, and start with a letter"));
        if (definition.fields.size() > kMaxFields)
            return fail(concat("it has ", definition.fields.size(), " fields; at most ", kMaxFields, " are possible"));
        if (definition.singleton && (definition.many || definition.enableable))
            return fail(concat("a world has one of a singleton, so it cannot be ",
                               definition.many ? "many" : "enableable", " as well; remove one of them"));
        if (definition.singleton && definition.fields.empty())
            return fail("a singleton without fields says nothing; give it a field, or remove `singleton`");
        for (std::size_t i = 0; i < definition.fields.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (definition.fields[i].name == definition.fields[j].name)
                    return fail(definition.fields[i], "declared twice; rename one of them");
        return check_groups();
    }

    /// Checks that a name is either a field or a struct of fields, and that at most one field is a shorthand.
    Status check_groups() const {
        const FieldDefinition* shorthand = nullptr;
        for (const FieldDefinition& field : definition.fields) {
            for (const FieldDefinition& other : definition.fields)
                if (is_inside(other.name, field.name))
                    return fail(other, concat("lies inside of field \"", field.name, "\"; rename one of them"));
            if (field.shorthand && shorthand != nullptr)
                return fail(field, concat("is a shorthand, and so is \"", shorthand->name, "\"; choose one of them"));
            if (field.shorthand) shorthand = &field;
            if (Status status = check_keys(field); !status) return status;
        }
        return {};
    }

    Status check_keys(const FieldDefinition& field) const {
        if (field.keys.empty()) return {};
        if (field.type != FieldType::kBlobArray || field.array_length != 0)
            return fail(field, "only blob arrays have keys; remove `keys`");
        for (const FieldDefinition& other : definition.fields) {
            if (other.name != field.keys || &other == &field) continue;
            const bool has_keys = other.element_type >= FieldType::kInt8 && other.element_type <= FieldType::kUint64;
            if (other.type == FieldType::kBlobArray && other.array_length == 0 && other.keys.empty() &&
                (has_keys || other.element_type == FieldType::kStringId ||
                 other.element_type == FieldType::kResourceId))
                return {};
            return fail(field,
                        concat("its keys go to \"", field.keys,
                               "\", which is no blob array of integers, string ids or resource ids; choose one"));
        }
        return fail(
            field, concat("its keys go to \"", field.keys, "\", which is no other field of the component; declare it"));
    }

    Status check_enum(const Field& field) const {
        const std::uint32_t bytes = field.value_bytes;
        if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
            return fail(field, "an enum has 1, 2, 4 or 8 bytes; give it one of these sizes");
        if (field.enumerators.empty()) return fail(field, "an enum needs at least one named value; name its values");
        HashMap<std::string_view, bool> names{Owner("schema")};
        for (const EnumeratorDefinition& e : field.enumerators)
            if (!names.insert(e.name, true).is_new)
                return fail(field, concat("the enum names \"", e.name, "\" twice; rename one of them"));
        for (const EnumeratorDefinition& e : field.enumerators) {
            const std::int64_t limit =
                bytes == 8 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t(1) << (8 * bytes)) - 1;
            const std::int64_t least =
                bytes == 8 ? std::numeric_limits<std::int64_t>::min() : -(std::int64_t(1) << (8 * bytes - 1));
            if (e.value < least || e.value > limit)
                return fail(field, concat("the enum value \"", e.name, "\" = ", e.value, " does not fit ", bytes,
                                          bytes == 1 ? " byte" : " bytes", "; choose a smaller number, or more bytes"));
        }
        return {};
    }

    Status complete_opaque(Field& field) const {
        if (definition.whole) return fail(field, "an opaque C++ type cannot be part of a whole component");
        if (field.opaque == nullptr || field.array_length != 0)
            return fail(field, "an opaque C++ type needs its operations and cannot be an array");
        if (field.value_bytes != 0 && field.value_bytes != field.opaque->size)
            return fail(field, concat("its C++ type has ", field.opaque->size, " bytes, not ", field.value_bytes));
        field.value_bytes = field.opaque->size;
        field.value_alignment = field.opaque->alignment;
        return {};
    }

    /// Fills in the members that follow from the type, and checks the given members.
    Status complete_type(Field& field) const {
        if (!is_field_name(field.name))
            return fail(field, "is not a name; use letters, digits and underscores, and start with a letter");
        if (field.type < FieldType::kBool || field.type > FieldType::kOpaque) return fail(field, "has no type");
        if (field.array_length > kMaxArrayLength)
            return fail(field, concat("an array holds at most ", kMaxArrayLength, " values"));
        if (const std::uint32_t bytes = field_type_bytes(field.type); bytes != 0) {
            if (field.value_bytes != 0 && field.value_bytes != bytes)
                return fail(field, concat("a ", field_type_name(field.type), " has ", bytes, " bytes, not ",
                                          field.value_bytes));
            field.value_bytes = bytes;
            field.value_alignment = field_type_alignment(field.type);
        }
        if (field.type == FieldType::kEnum) {
            field.value_alignment = field.value_bytes;
            if (Status status = check_enum(field); !status) return status;
        }
        if (field.type == FieldType::kFixedString) {
            field.value_alignment = 1;
            if (field.value_bytes < 2 || field.value_bytes > 4096)
                return fail(field, "a fixed string has a capacity of 2 to 4096 bytes, its end included; give it one");
        }
        if (field.type == FieldType::kBlobArray &&
            (field.element_type < FieldType::kBool || field.element_type > FieldType::kResourceId ||
             field.element_type == FieldType::kEnum))
            return fail(field, "a blob array holds numbers, vectors, string ids or resource ids; choose one of these");
        if (field.type == FieldType::kOpaque)
            if (Status status = complete_opaque(field); !status) return status;
        if (field.split && (field_type_lanes(field.type) == 1 || field.array_length != 0))
            return fail(field,
                        "only vec2, vec3, vec4 and quaternion fields can be split, and no arrays; remove `split`");
        if (field.relation != Relation::kNone &&
            (field.type != FieldType::kEntity || field.array_length != 0 || definition.many))
            return fail(
                field, "a relation is one entity, of a component that an entity has once; remove `relation` or `many`");
        field.size = field.value_bytes * field.num_values();
        return {};
    }

    static bool is_enumerator(const Field& field, std::int64_t value) {
        return std::any_of(field.enumerators.begin(), field.enumerators.end(),
                           [value](const EnumeratorDefinition& e) { return e.value == value; });
    }

    /// An enum without a default gets 0, or its first value if 0 has no name.
    static void choose_enum_default(Field& field) {
        if (field.type != FieldType::kEnum || !field.default_value.empty() || is_enumerator(field, 0)) return;
        const std::int64_t value = field.enumerators.front().value;
        field.default_value.resize(field.size);
        for (std::uint32_t i = 0; i < field.num_values(); ++i)
            write_enum_number(field.default_value.data() + i * field.value_bytes, field.value_bytes, value);
    }

    Status check_default(const Field& field) const {
        if (field.default_value.empty()) return {};
        if (field.default_value.size() != field.size)
            return fail(field,
                        concat("the default has ", field.default_value.size(), " bytes, the field ", field.size));
        const std::byte* const bad = find_out_of_range(field, field.default_value.data());
        if (bad == nullptr) return {};
        return fail(field, concat("the default ", read_number(lane_type(field.type), bad), " is outside the range ",
                                  field.minimum, " to ", field.maximum));
    }

    Status check_range(const Field& field) const {
        if (!field.has_range) return {};
        if (!is_number(field.type))
            return fail(field, concat("a ", field_type_name(field.type), " cannot have a range; remove it"));
        if (!(field.minimum <= field.maximum))
            return fail(field, concat("the range ", field.minimum, " to ", field.maximum,
                                      " is empty; write the least number first"));
        return {};
    }

    /// Checks the field's offset against the struct's size and the preceding fields.
    Status check_place(const Field& field) const {
        if (field.struct_offset > kMaxStructBytes || field.size > kMaxStructBytes - field.struct_offset)
            return fail(field,
                        concat("it ends beyond ", kMaxStructBytes, " bytes, the most that a component can have"));
        if (field.struct_offset % field.value_alignment != 0)
            return fail(field,
                        concat("it lies at byte ", field.struct_offset, ", but is aligned to ", field.value_alignment));
        for (const Field& other : schema.fields_)
            if (field.struct_offset < other.struct_offset + other.size &&
                other.struct_offset < field.struct_offset + field.size)
                return fail(field, concat("it lies over field \"", other.name, '"'));
        return {};
    }

    Status complete_fields() {
        std::uint32_t end = 0, alignment = std::max(1u, definition.struct_alignment);
        for (const FieldDefinition& field_definition : definition.fields) {
            Field field;
            static_cast<FieldDefinition&>(field) = field_definition;
            if (Status status = complete_type(field); !status) return status;
            if (Status status = check_range(field); !status) return status;
            choose_enum_default(field);
            if (Status status = check_default(field); !status) return status;
            if (field.struct_offset == FieldDefinition::kPacked)
                field.struct_offset = static_cast<std::uint32_t>(round_up(end, field.value_alignment));
            if (Status status = check_place(field); !status) return status;
            end = std::max(end, field.struct_offset + field.size);
            alignment = std::max(alignment, field.value_alignment);
            schema.type_mask_ |= 1u << static_cast<int>(field.type);
            schema.has_opaque_ |= field.type == FieldType::kOpaque;
            schema.fields_.push_back(std::move(field));
        }
        if (alignment > kCacheLineBytes || (alignment & (alignment - 1)) != 0)
            return fail(concat("it is aligned to ", alignment, " bytes; 1, 2, 4, 8, 16, 32 and 64 are possible"));
        schema.struct_alignment_ = alignment;
        schema.struct_bytes_ = definition.struct_bytes != 0 ? definition.struct_bytes
                                                            : static_cast<std::uint32_t>(round_up(end, alignment));
        if (end > schema.struct_bytes_) return fail("its fields lie outside the struct");
        if (schema.struct_bytes_ % alignment != 0)
            return fail(concat("it has ", schema.struct_bytes_, " bytes, no multiple of its alignment, ", alignment));
        if (schema.struct_bytes_ > kMaxStructBytes)
            return fail(concat("it has ", schema.struct_bytes_, " bytes; at most ", kMaxStructBytes, " are possible"));
        return {};
    }

    void lay_out_columns() {
        if (definition.whole && !schema.fields_.empty())
            schema.columns_.push_back(
                {ColumnDefinition::kWholeComponent, 0, schema.struct_bytes_, schema.struct_alignment_, 0, nullptr});
        for (std::uint32_t i = 0; i < schema.fields_.size(); ++i) {
            Field& field = schema.fields_[i];
            if (definition.whole) continue;
            field.first_column = static_cast<std::uint32_t>(schema.columns_.size());
            field.num_columns = field.split ? field_type_lanes(field.type) : 1;
            const std::uint32_t bytes = field.size / field.num_columns;
            for (std::uint32_t lane = 0; lane < field.num_columns; ++lane)
                schema.columns_.push_back(
                    {i, lane, bytes, field.value_alignment, field.struct_offset + lane * bytes, field.opaque});
        }
        for (const ColumnDefinition& column : schema.columns_) schema.row_bytes_ += column.element_bytes;
    }

    void lay_out_defaults() {
        schema.default_image_.assign(schema.struct_bytes_, std::byte(0));
        for (const Field& field : schema.fields_)
            if (!field.default_value.empty())
                std::memcpy(schema.default_image_.data() + field.struct_offset, field.default_value.data(), field.size);
    }

    void hash_layout() {
        std::string text =
            concat(definition.name, '|', sizeof(Entity), '|', definition.whole ? schema.struct_bytes_ : 0, '\n');
        for (const Field& field : schema.fields_) {
            append_text(text,
                        concat(field.name, '|', static_cast<int>(field.type), '|', static_cast<int>(field.element_type),
                               '|', field.array_length, '|', field.value_bytes, '|', field.split));
            if (definition.whole) append_text(text, concat('|', field.struct_offset));
            for (const EnumeratorDefinition& e : field.enumerators)
                append_text(text, concat('|', e.name, '=', e.value));
            text.push_back('\n');
        }
        schema.layout_hash_ = hash_text(text);
    }

    Result<Schema> make() {
        definition.whole |= definition.singleton;
        if (Status status = check_component(); !status) return status;
        if (Status status = complete_fields(); !status) return status;
        schema.name_ = definition.name;
        schema.id_ = ComponentId(std::string_view(definition.name));
        schema.version_ = definition.version;
        schema.whole_ = definition.whole;
        schema.enableable_ = definition.enableable;
        schema.many_ = definition.many;
        schema.singleton_ = definition.singleton;
        lay_out_columns();
        lay_out_defaults();
        hash_layout();
        return std::move(schema);
    }
};

Result<Schema> Schema::make(ComponentDefinition definition) {
    SchemaMaker maker{std::move(definition), Schema()};
    return maker.make();
}

int Schema::find_field(std::string_view name) const {
    for (std::size_t i = 0; i < fields_.size(); ++i)
        if (fields_[i].name == name) return static_cast<int>(i);
    return -1;
}

std::string Schema::to_text() const {
    std::string text = concat(name_, " v", version_, whole_ ? " whole" : "", " {");
    for (const Field& field : fields_) {
        append_text(text, concat(&field == fields_.data() ? "" : ", ", field.name, ' ', field_type_name(field.type)));
        if (field.type == FieldType::kFixedString || field.type == FieldType::kEnum)
            append_text(text, concat('(', field.value_bytes, ')'));
        if (field.array_length != 0) append_text(text, concat('[', field.array_length, ']'));
        if (field.split) append_text(text, " split");
        if (field.relation != Relation::kNone) append_text(text, concat(" relation ", relation_name(field.relation)));
    }
    return text + "}";
}

std::string snake_case(std::string_view name) {
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    std::string result;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool ends_word = i > 0 && !is_upper(name[i - 1]) && name[i - 1] != '_';
        const bool starts_word = i > 0 && i + 1 < name.size() && name[i - 1] != '_' && is_lower(name[i + 1]);
        if (is_upper(name[i]) && (ends_word || starts_word)) result.push_back('_');
        result.push_back(is_upper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i]);
    }
    return result;
}

static FieldDefinition make_field(const FieldNote& note, const FieldTypeInfo& type, const void* component,
                                  const void* value) {
    SHOAL_ASSERT(note.name != nullptr,
                 "structs within a component can lie three deep; give it fewer, or fields of its own");
    FieldDefinition field;
    for (const char* group : note.groups)
        if (group != nullptr) append_text(field.name, concat(group, '.'));
    if (*note.keys != 0) field.keys = concat(field.name, note.keys);
    append_text(field.name, note.name);
    field.type = type.type;
    field.element_type = type.element_type;
    field.array_length = type.array_length;
    field.value_bytes = type.value_bytes;
    field.value_alignment = type.value_alignment;
    field.opaque = type.opaque;
    field.struct_offset =
        static_cast<std::uint32_t>(static_cast<const std::byte*>(value) - static_cast<const std::byte*>(component));
    field.split = note.split;
    field.shorthand = note.shorthand;
    field.relation = note.relation;
    field.has_range = note.has_range;
    field.minimum = note.minimum;
    field.maximum = note.maximum;
    field.unit = note.unit;
    for (const Enumerator& e : type.enumerators) field.enumerators.push_back({std::string(e.name), e.value});
    if (type.type != FieldType::kOpaque) {
        const auto* bytes = static_cast<const std::byte*>(value);
        field.default_value.assign(bytes, bytes + type.value_bytes * (type.array_length == 0 ? 1 : type.array_length));
    }
    return field;
}

ComponentDefinition make_described_definition(const DescribedDefaults& described) {
    const ComponentNote& note = described.component;
    ComponentDefinition definition;
    definition.name = note.name != nullptr ? note.name : snake_case(note.struct_name);
    definition.version = note.version;
    definition.whole = note.whole;
    definition.enableable = note.enableable;
    definition.many = note.many;
    definition.singleton = note.singleton;
    definition.struct_bytes = static_cast<std::uint32_t>(described.struct_bytes);
    definition.struct_alignment = static_cast<std::uint32_t>(described.struct_alignment);
    for (std::size_t i = 0; i < described.num_fields; ++i)
        definition.fields.push_back(
            make_field(described.fields[i], described.types[i], described.defaults, described.values[i]));
    return definition;
}

Schema make_described_schema(const DescribedDefaults& described) {
    Result<Schema> result = Schema::make(make_described_definition(described));
    SHOAL_ASSERT(result.ok(), result.ok() ? "" : result.message().data());
    return std::move(result).value();
}

Schema::Schema() = default;
Schema::Schema(const Schema& other) = default;
Schema::Schema(Schema&& other) noexcept = default;
Schema& Schema::operator=(const Schema& other) = default;
Schema& Schema::operator=(Schema&& other) noexcept = default;
Schema::~Schema() = default;

std::span<const Field> Schema::fields() const { return fields_; }
std::span<const ColumnDefinition> Schema::columns() const { return columns_; }
std::span<const std::byte> Schema::default_image() const { return default_image_; }

}  // namespace shoal
