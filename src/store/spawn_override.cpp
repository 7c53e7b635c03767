#include "shoal/store/detail/spawn_override.h"

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "shoal/entity/entity.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/value_check.h"

namespace shoal {
namespace {

/// An override in a snapshot: its strings are the next bytes of "texts", and its value is the next bytes of "values".
struct SavedOverride {
    std::uint32_t entity_bytes, field_bytes, copy;
    std::uint32_t array_length, value_bytes;
    std::uint32_t type;
};

bool is_sound(const SavedOverride& saved) {
    if (saved.type < std::uint32_t(FieldType::kBool) || saved.type > std::uint32_t(FieldType::kFixedString))
        return false;
    if (saved.value_bytes == 0) return false;
    const auto type = static_cast<FieldType>(saved.type);
    if (type == FieldType::kEnum) return saved.value_bytes <= 8 && (saved.value_bytes & (saved.value_bytes - 1)) == 0;
    return type == FieldType::kFixedString || saved.value_bytes == field_type_bytes(type);
}

/// Takes the next bytes from `rest`. Returns false if too few are left.
bool take(std::span<const std::byte>& rest, std::uint64_t num_bytes, std::span<const std::byte>& taken) {
    if (num_bytes > rest.size()) return false;
    taken = rest.first(static_cast<std::size_t>(num_bytes));
    rest = rest.subspan(taken.size());
    return true;
}
bool take(std::span<const std::byte>& rest, std::uint64_t num_bytes, std::string& text) {
    std::span<const std::byte> taken;
    if (!take(rest, num_bytes, taken)) return false;
    text.assign(reinterpret_cast<const char*>(taken.data()), taken.size());
    return is_utf8(text);
}

/// Whether bytes are values of a type. Enums are not checked, because their names are defined by the field that gets
/// the value.
bool are_values(const SavedOverride& saved, std::span<const std::byte> bytes) {
    Field field;
    field.type = static_cast<FieldType>(saved.type);
    field.array_length = saved.array_length, field.value_bytes = saved.value_bytes;
    field.size = static_cast<std::uint32_t>(bytes.size());
    return field.type == FieldType::kEnum || !find_bad_value(field, {bytes.data(), field.size, 1});
}

SavedOverride to_save(const SpawnOverride& given) {
    const ValueType& type = given.value.type();
    return {static_cast<std::uint32_t>(given.entity.size()),
            static_cast<std::uint32_t>(given.field.size()),
            given.copy,
            type.array_length,
            type.value_bytes,
            static_cast<std::uint32_t>(type.type)};
}

bool read(const SavedOverride& saved, std::span<const std::byte>& texts, std::span<const std::byte>& values,
          SpawnOverride& to) {
    if (!is_sound(saved)) return false;
    const ValueType type{static_cast<FieldType>(saved.type), FieldType(0), saved.array_length, saved.value_bytes, {}};
    std::span<const std::byte> bytes;
    if (!take(values, std::uint64_t(type.num_values()) * saved.value_bytes, bytes)) return false;
    if (!take(texts, saved.entity_bytes, to.entity) || !take(texts, saved.field_bytes, to.field)) return false;
    if (!are_values(saved, bytes)) return false;
    to.value = AnyValue(type, bytes.data());
    to.copy = saved.copy;
    return true;
}

}  // namespace

SpawnOverride copy_to_keep(const SpawnOverride& given) {
    ValueType type = given.value.type();
    type.enumerators = {};
    const bool has_value = type.type != FieldType(0);
    return {given.entity, given.field, has_value ? AnyValue(type, given.value.bytes().data()) : AnyValue(), given.copy};
}

Status check_override(const SpawnOverride& given) {
    const SavedOverride saved = to_save(given);
    const auto error = [&](const std::string& why) {
        return Status::error(concat("the override of ", quoted(given.field), " of ", quoted(given.entity), why));
    };
    if (!is_utf8(given.entity) || !is_utf8(given.field))
        return error(" has a name that is not valid UTF-8; convert it to UTF-8 first");
    if (given.value.type().type == FieldType(0)) return error(" has no value; give it one");
    if (given.value.type().type == FieldType::kBlobArray)
        return error(" is an array that stays in the resource; change the source");
    if (!is_utf8(given.value.text())) return error(" has a text that is not valid UTF-8; convert it to UTF-8 first");
    if (!is_sound(saved) || !are_values(saved, given.value.bytes()))
        return error(concat(" has a value that is not ", given.value.type().to_text(), "; change it"));
    return {};
}

void save_overrides(SnapshotWriter& to, std::span<const SpawnOverride> overrides) {
    Array<SavedOverride> saved{Owner("overrides")};
    std::string texts;
    Array<std::byte> values{Owner("overrides")};
    for (const SpawnOverride& one : overrides) {
        if (const Status status = check_override(one); !status) to.refuse(status.message());
        saved.push_back(to_save(one));
        texts += one.entity, texts += one.field;
        values.insert(values.end(), one.value.bytes().begin(), one.value.bytes().end());
    }
    to.array("overrides", saved);
    to.text("override_texts", texts);
    to.array("override_values", values);
}

Status load_overrides(SnapshotReader& from, Array<SpawnOverride>& to) {
    to.clear();
    Array<SavedOverride> saved{Owner("overrides")};
    Array<std::byte> texts{Owner("overrides")}, values{Owner("overrides")};
    if (Status status = from.array("overrides", saved); !status) return status;
    if (Status status = from.take_memory("overrides", saved.size() * sizeof(SpawnOverride)); !status) return status;
    if (Status status = from.array("override_texts", texts); !status) return status;
    if (Status status = from.array("override_values", values); !status) return status;
    std::span<const std::byte> rest_of_texts = texts, rest_of_values = values;
    for (const SavedOverride& one : saved) {
        if (read(one, rest_of_texts, rest_of_values, to.emplace_back())) continue;
        to.clear();
        return from.error("overrides", "an override has a value of no known type, or texts that are not UTF-8");
    }
    if (rest_of_texts.empty() && rest_of_values.empty()) return {};
    to.clear();
    return from.error("overrides", "they do not fill their texts and values");
}

}  // namespace shoal
