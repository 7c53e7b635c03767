#include "reload/blob_changes.h"

#include "shoal/base/detail/bit_set.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/resource/detail/blob_values.h"
#include "shoal/table/detail/copy_elements.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace shoal {
namespace {

constexpr std::uint32_t kFewRows = 16;  // up to this many rows are compared one by one

/// Whether a field holds references, which cannot be compared by their bytes.
bool refers(const Field& field) { return field.type == FieldType::kEntity || field.type == FieldType::kBlobArray; }

std::span<const std::uint64_t> all_guids(const Blob& blob, Array<std::uint64_t>& storage) {
    storage.resize(blob.num_entities());
    for (std::uint32_t i = 0; i < blob.num_entities(); ++i) storage[i] = blob.guid(i);
    return storage;
}

/// Offsets are relative to the start of the blob, so equal sections have the same arrays at the same offsets.
bool have_same_arrays(const Blob& before, const Blob& after) {
    return std::ranges::all_of(std::array{BlobSectionKind::kArrays, BlobSectionKind::kArrayData}, [&](auto kind) {
        return std::ranges::equal(section_bytes(before, kind), section_bytes(after, kind));
    });
}

BlobArrayBase array_of(const Blob& blob, const BlobArrayEntry& entry) {
    return {blob.id(), entry.offset, entry.count, 0};
}
std::span<const std::byte> values_of(const Blob& blob, const BlobArrayEntry& entry) {
    return blob.array(array_of(blob, entry), static_cast<FieldType>(entry.element_type));
}
std::uint64_t hash_of(const Blob& blob, const BlobArrayEntry& entry) {
    const std::span<const std::byte> bytes = values_of(blob, entry);
    return hash_bytes(bytes.data(), bytes.size());
}
bool is_same_array(const Blob& a, const BlobArrayEntry& one, const Blob& b, const BlobArrayEntry& other) {
    return one.element_type == other.element_type && std::ranges::equal(values_of(a, one), values_of(b, other));
}

/// Returns the rows of a component type, sorted by entity. The rows of one entity keep their order.
Array<std::uint32_t> rows_by_entity(const BlobComponents* components) {
    Array<std::uint32_t> rows(components == nullptr ? 0 : components->count(), 0, "reload");
    for (std::uint32_t row = 0; row < rows.size(); ++row) rows[row] = row;
    std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
        const std::uint32_t one = components->entity_index[a], other = components->entity_index[b];
        return one != other ? one < other : a < b;
    });
    return rows;
}

}  // namespace

MovedArrays::MovedArrays(const Blob& before, const Blob& after) : befores_(arrays_of(before)) {
    const std::span<const BlobArrayEntry> afters = arrays_of(after);
    afters_.resize(befores_.size(), BlobArrayBase());
    HashMap<std::uint64_t, std::size_t> moved{Owner("reload")};
    for (std::size_t b = 0, a = 0; b < befores_.size(); ++b) {
        while (a < afters.size() && afters[a].offset < befores_[b].offset) ++a;
        const bool is_there = a < afters.size() && afters[a].offset == befores_[b].offset;
        if (is_there && is_same_array(before, befores_[b], after, afters[a]))
            afters_[b] = array_of(after, afters[a]);
        else
            moved.add(hash_of(before, befores_[b]), b), ++num_moved_;
    }
    for (const BlobArrayEntry& entry : empty() ? std::span<const BlobArrayEntry>() : afters) {
        const auto is_it = [&](std::size_t b) {
            return afters_[b].count == 0 && is_same_array(before, befores_[b], after, entry);
        };
        while (const std::size_t* const found = moved.find_if(hash_of(after, entry), is_it))
            afters_[*found] = array_of(after, entry);
    }
}

BlobArrayBase MovedArrays::find(FieldType type, const BlobArrayBase& before) {
    const auto is_it = [&](std::size_t i) {
        return i < befores_.size() && befores_[i].offset == before.offset && befores_[i].count == before.count &&
               befores_[i].element_type == static_cast<std::uint32_t>(type);
    };
    if (!is_it(next_))
        next_ = static_cast<std::size_t>(
            std::ranges::lower_bound(befores_, before.offset, {}, &BlobArrayEntry::offset) - befores_.begin());
    return is_it(next_) ? afters_[next_++] : BlobArrayBase();
}

void read_blob_field(const BlobComponents& components, const Field& field, std::uint32_t row, std::byte* value) {
    const Schema& schema = *components.schema;
    const std::size_t bytes = field.size / field.num_columns;
    for (std::uint32_t lane = 0; lane < field.num_columns; ++lane) {
        const std::uint32_t column = field.first_column + lane;
        std::memcpy(value + lane * bytes,
                    components.columns[column] + std::size_t(row) * schema.columns()[column].element_bytes +
                        schema.offset_in_column(field),
                    bytes);
    }
}

Array<std::uint32_t> parents_among(const Blob& blob, const BlobComponents* components) {
    Array<std::uint32_t> nearest(blob.num_entities(), kNoBlobEntity, "reload");  // the entity itself or an ancestor
    Array<std::uint32_t> parents(blob.num_entities(), kNoBlobEntity, "reload");
    if (components == nullptr) return parents;
    for (const std::uint32_t entity : components->entity_index) nearest[entity] = entity;
    for (std::uint32_t entity = 0; entity < blob.num_entities(); ++entity) {
        const std::uint32_t parent = blob.parents()[entity];
        if (parent == kNoBlobEntity) continue;
        (nearest[entity] == kNoBlobEntity ? nearest : parents)[entity] = nearest[parent];
    }
    return parents;
}

BlobChanges::BlobChanges(const Blob& before, const Blob& after)
    : before_(before), after_(after), arrays_stay_(have_same_arrays(before, after)) {
    match_entities();
    add_types();
    for (std::uint32_t type = 0; type < types_.size(); ++type) compare(type);
}

// --- entities ----------------------------------------------------------------------------------------------------

void BlobChanges::match(std::uint32_t before, std::uint32_t after) {
    after_of_[before] = after;
    before_of_[after] = before;
}

void BlobChanges::match_entities() {
    Array<std::uint64_t> storage_before{Owner("reload")}, storage_after{Owner("reload")};
    const std::span<const std::uint64_t> before = all_guids(before_, storage_before);
    const std::span<const std::uint64_t> after = all_guids(after_, storage_after);
    after_of_.assign(before.size(), kNoBlobEntity);
    before_of_.assign(after.size(), kNoBlobEntity);
    all_stay_ = std::ranges::equal(before, after);
    if (all_stay_) {
        for (std::uint32_t i = 0; i < before.size(); ++i) match(i, i);
        return;
    }
    const std::span<const std::uint32_t> by_guid_before = before_.entities_by_guid();
    const std::span<const std::uint32_t> by_guid_after = after_.entities_by_guid();
    for (std::size_t b = 0, a = 0; b < by_guid_before.size() && a < by_guid_after.size();) {
        const std::uint64_t one = before[by_guid_before[b]], other = after[by_guid_after[a]];
        if (one == other && one != 0) match(by_guid_before[b], by_guid_after[a]);
        b += one <= other;
        a += other <= one;
    }
    match_without_guids();
    for (std::uint32_t i = 0; i < after.size(); ++i)
        if (before_of_[i] == kNoBlobEntity) new_entities_.push_back(i);
    for (std::uint32_t i = 0; i < before.size(); ++i)
        if (after_of_[i] == kNoBlobEntity) gone_entities_.push_back(i);
}

/// Matches entities without a GUID by their order.
void BlobChanges::match_without_guids() {
    std::uint32_t before = 0;
    for (std::uint32_t after = 0; after < after_.num_entities(); ++after) {
        if (after_.guid(after) != 0) continue;
        while (before < before_.num_entities() && before_.guid(before) != 0) ++before;
        if (before == before_.num_entities()) return;
        match(before++, after);
    }
}

// --- components --------------------------------------------------------------------------------------------------

void BlobChanges::add_types() {
    for (const BlobComponents& after : after_.component_types()) {
        if (is_spawn_instruction(*after.schema)) continue;
        types_.push_back({before_.find_components(after.id), &after, after.schema});
    }
    for (const BlobComponents& before : before_.component_types())
        if (!is_spawn_instruction(*before.schema) && after_.find_components(before.id) == nullptr)
            types_.push_back({&before, nullptr, before.schema});
}

void BlobChanges::compare(std::uint32_t type) {
    if (types_[type].schema->many())
        compare_lists(type);
    else
        compare_rows(type);
}

/// Compares the components of a type that is not `many`. Rows that are consecutive in both versions are compared
/// together.
void BlobChanges::compare_rows(std::uint32_t type) {
    const TypeChanges& t = types_[type];
    const std::span<const std::uint32_t> befores =
        t.before == nullptr ? std::span<const std::uint32_t>() : t.before->entity_index;
    const std::span<const std::uint32_t> afters =
        t.after == nullptr ? std::span<const std::uint32_t>() : t.after->entity_index;
    Array<std::uint32_t> row_of(before_.num_entities(), kNoBlobEntity, "reload");
    for (std::uint32_t row = 0; row < befores.size(); ++row) row_of[befores[row]] = row;
    std::uint32_t run_before = 0, run_after = 0, count = 0;
    for (std::uint32_t row = 0; row < afters.size(); ++row) {
        const std::uint32_t entity = before_of_[afters[row]];
        if (entity == kNoBlobEntity) continue;
        const std::uint32_t older = row_of[entity];
        if (older == kNoBlobEntity) {
            added_.push_back({type, afters[row], row});
            continue;
        }
        if (count != 0 && older == run_before + count && row == run_after + count) {
            ++count;
            continue;
        }
        compare_run(type, run_before, run_after, count);
        run_before = older, run_after = row, count = 1;
    }
    compare_run(type, run_before, run_after, count);
    BitSet has_one{Owner("reload")};
    has_one.resize(after_.num_entities());
    for (const std::uint32_t entity : afters) has_one.set(entity);
    for (std::uint32_t row = 0; row < befores.size(); ++row)
        if (const std::uint32_t entity = after_of_[befores[row]]; entity != kNoBlobEntity && !has_one.test(entity))
            removed_.push_back({type, entity, row});
}

/// Whether components of a type can be compared by their bytes.
bool BlobChanges::bytes_tell(const TypeChanges& type) const {
    return (arrays_stay_ || !type.schema->has(FieldType::kBlobArray)) &&
           (all_stay_ || !type.schema->has(FieldType::kEntity));
}

bool BlobChanges::are_bytes_equal(const TypeChanges& type, std::uint32_t before_row, std::uint32_t after_row,
                                  std::uint32_t count) const {
    for (std::size_t c = 0; c < type.schema->columns().size(); ++c) {
        const std::size_t bytes = type.schema->columns()[c].element_bytes;
        if (std::memcmp(type.before->columns[c] + before_row * bytes, type.after->columns[c] + after_row * bytes,
                        count * bytes) != 0)
            return false;
    }
    return true;
}

/// Bisects rows to find the rows that differ.
void BlobChanges::compare_run(std::uint32_t type, std::uint32_t before_row, std::uint32_t after_row,
                              std::uint32_t count) {
    if (count == 0) return;
    const TypeChanges& t = types_[type];
    if (bytes_tell(t) && are_bytes_equal(t, before_row, after_row, count)) return;
    if (count > kFewRows && bytes_tell(t)) {
        compare_run(type, before_row, after_row, count / 2);
        return compare_run(type, before_row + count / 2, after_row + count / 2, count - count / 2);
    }
    for (std::uint32_t i = 0; i < count; ++i) compare_row(type, before_row + i, after_row + i);
}

void BlobChanges::compare_row(std::uint32_t type, std::uint32_t before_row, std::uint32_t after_row) {
    const TypeChanges& t = types_[type];
    std::uint64_t changed = 0;
    for (std::size_t f = 0; f < t.schema->fields().size(); ++f)
        changed |= std::uint64_t(!same_field(t, t.schema->fields()[f], before_row, after_row)) << f;
    if (changed != 0) fields_.push_back({type, t.after->entity_index[after_row], before_row, after_row, changed});
}

bool BlobChanges::same_field(const TypeChanges& type, const Field& field, std::uint32_t before_row,
                             std::uint32_t after_row) const {
    const Schema& schema = *type.schema;
    for (std::uint32_t c = field.first_column; c < field.first_column + field.num_columns; ++c) {
        const std::size_t bytes = schema.columns()[c].element_bytes, offset = schema.offset_in_column(field);
        const std::byte* const before = type.before->columns[c] + before_row * bytes + offset;
        const std::byte* const after = type.after->columns[c] + after_row * bytes + offset;
        const std::size_t lane_bytes = field.size / field.num_columns;
        if (!refers(field)) {
            if (std::memcmp(before, after, lane_bytes) != 0) return false;
            continue;
        }
        for (std::uint32_t value = 0; value < field.num_values(); ++value)
            if (!same_value(field, before + value * field.value_bytes, after + value * field.value_bytes)) return false;
    }
    return true;
}

/// Compares values of a reference field by their meaning. References may be null.
bool BlobChanges::same_value(const Field& field, const std::byte* before, const std::byte* after) const {
    if (field.type == FieldType::kEntity) {
        Entity older, newer;
        std::memcpy(&older, before, sizeof older);
        std::memcpy(&newer, after, sizeof newer);
        const bool was_none = older.id >= after_of_.size(), is_none = newer.id >= before_of_.size();
        if (was_none || is_none) return was_none && is_none;
        return after_of_[static_cast<std::size_t>(older.id)] == newer.id;
    }
    BlobArrayBase older, newer;
    std::memcpy(static_cast<void*>(&older), before, sizeof older);
    std::memcpy(static_cast<void*>(&newer), after, sizeof newer);
    return std::ranges::equal(before_.array(older, field.element_type), after_.array(newer, field.element_type));
}

// --- lists -------------------------------------------------------------------------------------------------------

void BlobChanges::compare_lists(std::uint32_t type) {
    const TypeChanges& t = types_[type];
    if (bytes_tell(t) && t.before != nullptr && t.after != nullptr && all_stay_ &&
        std::ranges::equal(t.before->entity_index, t.after->entity_index) && are_bytes_equal(t, 0, 0, t.after->count()))
        return;
    const Array<std::uint32_t> befores = rows_by_entity(t.before), afters = rows_by_entity(t.after);
    Array<ChangedList> lists(after_.num_entities(), ChangedList{type, kNoBlobEntity, 0, 0, 0, 0}, "reload");
    const auto base_before = static_cast<std::uint32_t>(list_rows_.size());
    list_rows_.insert(list_rows_.end(), befores.begin(), befores.end());
    const auto base_after = static_cast<std::uint32_t>(list_rows_.size());
    list_rows_.insert(list_rows_.end(), afters.begin(), afters.end());
    for (std::uint32_t i = 0; i < befores.size(); ++i) {
        const std::uint32_t entity = after_of_[t.before->entity_index[befores[i]]];
        if (entity == kNoBlobEntity) continue;
        if (lists[entity].num_before++ == 0) lists[entity].first_before = base_before + i;
    }
    for (std::uint32_t i = 0; i < afters.size(); ++i) {
        ChangedList& list = lists[t.after->entity_index[afters[i]]];
        if (list.num_after++ == 0) list.first_after = base_after + i;
    }
    for (std::uint32_t entity = 0; entity < lists.size(); ++entity) {
        lists[entity].after_entity = entity;
        if (before_of_[entity] != kNoBlobEntity && !is_same_list(lists[entity])) lists_.push_back(lists[entity]);
    }
}

bool BlobChanges::is_same_list(const ChangedList& list) const {
    if (list.num_before != list.num_after) return false;
    const TypeChanges& type = types_[list.type];
    for (std::uint32_t i = 0; i < list.num_after; ++i)
        for (const Field& field : type.schema->fields())
            if (!same_field(type, field, list_rows_[list.first_before + i], list_rows_[list.first_after + i]))
                return false;
    return true;
}

}  // namespace shoal
