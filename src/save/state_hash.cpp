#include "shoal/save/state_hash.h"

#include "save/state_hasher.h"
#include "shoal/query/detail/access.h"
#include "shoal/world/detail/state_rows.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

// --- elements that do not lie side by side -----------------------------------------------------------------------

constexpr std::uint32_t kRowsAtOnce = 256;
constexpr std::uint32_t kGatheredBytes = 64;  // larger elements are hashed in place

/// A value in each row of a table.
struct Elements {
    const std::byte* first;
    std::size_t stride;
    std::uint32_t num_bytes;

    const std::byte* at(std::uint32_t row) const { return first + row * stride; }
};

/// Packs elements, and returns the end of the packed bytes. `kBytes` is the size of an element.
template <std::uint32_t kBytes>
std::byte* gather(const Elements& from, RowRange rows, std::byte* to) {
    for (std::uint32_t row = rows.begin; row < rows.end; ++row, to += kBytes) std::memcpy(to, from.at(row), kBytes);
    return to;
}

std::byte* gather_all(const Elements& from, RowRange rows, std::byte* to) {
    switch (from.num_bytes) {
        case 1:
            return gather<1>(from, rows, to);
        case 2:
            return gather<2>(from, rows, to);
        case 4:
            return gather<4>(from, rows, to);
        case 8:
            return gather<8>(from, rows, to);
        case 12:
            return gather<12>(from, rows, to);
        case 16:
            return gather<16>(from, rows, to);
        case 48:
            return gather<48>(from, rows, to);
        default:
            for (std::uint32_t row = rows.begin; row < rows.end; ++row, to += from.num_bytes)
                std::memcpy(to, from.at(row), from.num_bytes);
            return to;
    }
}

/// Adds the elements of some rows to a hash. Skips holes, because they contain garbage.
std::uint64_t hash_elements(const Table& table, const Elements& from, RowRange rows, std::uint64_t hash) {
    std::byte gathered[kRowsAtOnce * kGatheredBytes];
    if (from.num_bytes <= kGatheredBytes && table.num_holes() == 0) {
        const std::byte* const end = gather_all(from, rows, gathered);
        return hash_bytes(gathered, static_cast<std::size_t>(end - gathered), hash);
    }
    std::byte* to = gathered;
    for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
        if (!table.entities()[row]) continue;
        if (from.num_bytes > kGatheredBytes) {
            hash = hash_bytes(from.at(row), from.num_bytes, hash);
        } else {
            std::memcpy(to, from.at(row), from.num_bytes);
            to += from.num_bytes;
        }
    }
    return hash_bytes(gathered, static_cast<std::size_t>(to - gathered), hash);
}

/// Hashes several fields of the same rows together, so that each row is read once. Shape: `hashes` has an element per
/// field.
void hash_together(const Table& table, std::span<const Elements> fields, std::uint64_t* hashes) {
    std::fill_n(hashes, fields.size(), 0);
    for (std::uint32_t row = 0; row < table.num_rows(); row += kRowsAtOnce)
        for (std::size_t i = 0; i < fields.size(); ++i)
            hashes[i] =
                hash_elements(table, fields[i], {row, std::min(row + kRowsAtOnce, table.num_rows())}, hashes[i]);
}

// --- fields ------------------------------------------------------------------------------------------------------

/// Hashes a field that has no column. Its values are read through the store.
std::uint64_t hash_asked(const StateRows& rows, const Field& field) {
    std::uint64_t hash = 0;
    Array<std::byte> value(field.size, std::byte(0), "world");
    for (std::uint32_t row = 0; row < rows.num_rows(); ++row) {
        rows.read(field, row, value.data());
        hash = hash_bytes(value.data(), value.size(), hash);
    }
    return hash;
}

/// Hashes a field that is stored in separate columns.
std::uint64_t hash_columns(const StateRows& rows, const Field& field) {
    std::uint64_t lanes[4] = {};
    for (std::uint32_t lane = 0; lane < field.num_columns; ++lane) {
        const std::uint32_t bytes = rows.schema->columns()[field.first_column + lane].element_bytes;
        const std::byte* const column = rows.table->column(rows.first_column + field.first_column + lane);
        if (rows.table->num_holes() != 0) {
            const Elements elements{column, bytes, bytes};
            hash_together(*rows.table, {&elements, 1}, &lanes[lane]);
        } else {
            lanes[lane] = hash_bytes(column, std::size_t(rows.num_rows()) * bytes);
        }
    }
    return field.num_columns == 1 ? lanes[0] : hash_bytes(lanes, field.num_columns * sizeof lanes[0]);
}

/// Identifies a part and holds the hash of its bytes. The part's hash is the hash of this struct.
struct PartKey {
    std::uint64_t component, field, zone, place, num_rows, hash;
};

class RowsHasher {
public:
    explicit RowsHasher(Array<StateHash>& hashes) : hashes_(hashes) {}

    /// Appends the hash of the entities that have the component, in row order, and of the links between their rows.
    void append_owners(const StateRows& rows) {
        if (rows.table != table_) owners_ = hash_owners(*rows.table);
        table_ = rows.table;
        std::uint64_t hash = owners_;
        if (const std::uint32_t num_rows = rows.num_rows(); rows.enabled_bits != nullptr) {
            hash = hash_bytes(rows.enabled_bits, num_rows / 64 * sizeof(std::uint64_t), hash);
            const std::uint64_t last =
                num_rows % 64 == 0 ? 0 : rows.enabled_bits[num_rows / 64] << (64 - num_rows % 64);
            hash = hash_bytes(&last, sizeof last, hash);
        }
        append(rows, kRowsField, hash);
    }

    /// Appends the hashes of one field, or of all fields (kAllFields).
    void append_fields(const StateRows& rows, std::uint32_t only) {
        const std::span<const Field> fields = rows.schema->fields();
        Elements together[kMaxFields];
        std::string_view names[kMaxFields];
        std::size_t num_together = 0;
        for (std::uint32_t i = 0; i < fields.size(); ++i) {
            const Field& field = fields[i];
            if ((only != kAllFields && only != i) || field.opaque != nullptr) continue;
            const ColumnDefinition& column = rows.schema->columns()[field.first_column];
            if (rows.asks_store) {
                append(rows, field.name, hash_asked(rows, field));
            } else if (column.field_index != ColumnDefinition::kWholeComponent) {
                append(rows, field.name, hash_columns(rows, field));
            } else {
                const std::byte* const first = rows.table->column(rows.first_column + field.first_column);
                names[num_together] = field.name;
                together[num_together++] = {first + rows.schema->offset_in_column(field), column.element_bytes,
                                            field.size};
            }
        }
        std::uint64_t hashes[kMaxFields];
        hash_together(*rows.table, {together, num_together}, hashes);
        for (std::size_t i = 0; i < num_together; ++i) append(rows, names[i], hashes[i]);
    }

private:
    static std::uint64_t hash_owners(const Table& table) {
        std::uint64_t hash = hash_bytes(table.entities().data(), table.entities().size_bytes());
        for (int link = 0; link < 6; ++link)
            if (link < 2 ? table.has_chain() : table.has_tree()) {
                const std::span<const std::uint32_t> rows = table.links(static_cast<LinkColumn>(link));
                hash = hash_bytes(rows.data(), rows.size_bytes(), hash);
            }
        return hash;
    }
    void append(const StateRows& rows, std::string_view field, std::uint64_t hash) {
        const PartKey key{rows.schema->id().hash, hash_text(field), rows.zone, rows.place, rows.num_rows(), hash};
        hashes_.push_back({rows.schema->name(), field, rows.zone, hash_bytes(&key, sizeof key)});
    }

    Array<StateHash>& hashes_;
    const Table* table_ = nullptr;  // the table that owners_ was computed from
    std::uint64_t owners_ = 0;
};

void append_beside_rows(const Store& store, Array<StateHash>& hashes) {
    constexpr std::uint64_t kNothing = 0;
    const std::uint64_t hash = store.hash_beside_tables(kNothing);
    if (hash == kNothing) return;
    const std::string_view name =
        store.schemas().empty() ? store.kind() : std::string_view(store.schemas().front()->name());
    const PartKey key{hash_text(name), hash_text(kBesideRowsField), kNoZone, 0, 0, hash};
    hashes.push_back({name, kBesideRowsField, kNoZone, hash_bytes(&key, sizeof key)});
}

/// Hashes the generations in the order of entity indices, without the freed indices at the end.
std::uint64_t hash_living(const EntityManager& entities) {
    std::span<const Generation> generations = entities.generations();
    while (!generations.empty() && generations.back() == 0) generations = generations.first(generations.size() - 1);
    return hash_bytes(generations.data(), generations.size_bytes());
}

bool is_less(const StateHash& a, const StateHash& b) {
    if (a.component != b.component) return a.component < b.component;
    return a.field != b.field ? a.field < b.field : a.zone < b.zone;
}

}  // namespace

void append_hashes(Store& store, ComponentId component, std::uint32_t field, Array<StateHash>& hashes) {
    Array<StateRows> all{Owner("world")};
    list_rows(store, all);
    RowsHasher hasher(hashes);
    for (const StateRows& rows : all) {
        if (component != ComponentId() && rows.schema->id() != component) continue;
        if (component == ComponentId()) hasher.append_owners(rows);
        hasher.append_fields(rows, field);
    }
    if (component == ComponentId()) append_beside_rows(store, hashes);
}

void append_all_hashes(const World& world, Array<StateHash>& hashes) {
    for (Store* store : world.directory().stores()) append_hashes(*store, {}, kAllFields, hashes);
    hashes.push_back({kWorldComponent, "ids", kNoZone, hash_living(world.entities())});
    const std::uint64_t random = world.random().state();
    hashes.push_back({kWorldComponent, "random", kNoZone, hash_bytes(&random, sizeof random)});
}

StateHashes::StateHashes(Array<StateHash> parts) : parts_(std::move(parts)) {
    std::sort(parts_.begin(), parts_.end(), is_less);
    std::size_t num_parts = 0;
    for (const StateHash& part : parts_)
        if (num_parts != 0 && !is_less(parts_[num_parts - 1], part))
            parts_[num_parts - 1].hash += part.hash;
        else
            parts_[num_parts++] = part;
    parts_.resize(num_parts);
}

std::uint64_t StateHashes::whole() const {
    std::uint64_t sum = 0;
    for (const StateHash& part : parts_) sum += part.hash;
    return sum;
}

std::uint64_t StateHashes::of_component(std::string_view component) const {
    std::uint64_t sum = 0;
    for (const StateHash& part : parts_) sum += part.component == component ? part.hash : 0;
    return sum;
}

std::uint64_t StateHashes::of_field(std::string_view component, std::string_view field) const {
    std::uint64_t sum = 0;
    for (const StateHash& part : parts_) sum += part.component == component && part.field == field ? part.hash : 0;
    return sum;
}

std::uint64_t StateHashes::of_zone(Zone zone) const {
    std::uint64_t sum = 0;
    for (const StateHash& part : parts_) sum += part.zone == zone ? part.hash : 0;
    return sum;
}

StateHashes hash_state(const World& world) {
    Array<StateHash> hashes{Owner("world")};
    append_all_hashes(world, hashes);
    return StateHashes(std::move(hashes));
}

std::uint64_t state_hash(const World& world) {
    Array<StateHash> hashes{Owner("world")};
    append_all_hashes(world, hashes);
    std::uint64_t sum = 0;
    for (const StateHash& part : hashes) sum += part.hash;
    return sum;
}

}  // namespace shoal
