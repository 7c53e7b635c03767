// Measures spawning levels from checked blobs. Four component types of 128, 16, 32 and 8 bytes are on 100, 80, 30 and
// 50 % of the entities. The reference copies the same columns from the same blob, and fills ids, owners and indexes.
// For databases, the entities are in the order of the source compiler, and the reference knows where each of the 8
// tables begins. A source with mixed entities is also compared to a source with sorted entities.

#include "reference.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/spawner.h"
#include "shoal/source/compiler.h"
#include "shoal/world/world.h"
#include "workloads.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

namespace shoal_bench {

using namespace shoal;

struct WorldMatrices {
    std::array<float, 16> local{}, world{};
};
SHOAL_COMPONENT(WorldMatrices, local, world)

struct MeshChoice {
    std::uint64_t mesh = 0, material = 0;
};
SHOAL_COMPONENT(MeshChoice, mesh, material)

struct ActorState {
    std::uint64_t shape = 0, material = 0, group = 0;
    float health = 0, mana = 0;
};
SHOAL_COMPONENT(ActorState, shape, material, group, health, mana)

struct NameHash {
    std::uint64_t hash = 0;
};
SHOAL_COMPONENT(NameHash, hash)

namespace {

/// Whether entity `i` has the component type number `type`, which `percent` of all entities have.
bool has_component(std::size_t i, std::uint32_t type, std::uint32_t percent) {
    return mix(i * 4 + type) % 100 < percent;
}

constexpr std::uint32_t kNumTypes = 4, kPercent[kNumTypes] = {100, 80, 30, 50};

/// Returns the component types of entity `i`, as bits.
std::uint32_t kind_of(std::size_t i) {
    std::uint32_t kind = 0;
    for (std::uint32_t type = 0; type < kNumTypes; ++type) kind |= has_component(i, type, kPercent[type]) << type;
    return kind;
}

enum class LevelOrder { kMixed, kByKind };

/// Returns the numbers of the entities, in the order of the blob.
std::vector<std::size_t> make_entities(std::size_t n, LevelOrder order) {
    std::vector<std::size_t> entities(n);
    std::iota(entities.begin(), entities.end(), std::size_t(0));
    if (order == LevelOrder::kByKind)
        std::stable_sort(entities.begin(), entities.end(),
                         [](std::size_t a, std::size_t b) { return kind_of(a) < kind_of(b); });
    return entities;
}

template <class T, class Value>
void add_components(BlobWriter& writer, std::span<const std::size_t> entities, std::uint32_t number, Value&& value_of) {
    const std::uint32_t type = need(writer.add_component_type(schema_of<T>(), static_cast<std::int32_t>(number)));
    for (std::size_t i = 0; i < entities.size(); ++i) {
        if (!has_component(entities[i], number, kPercent[number])) continue;
        const T value = value_of(entities[i]);
        writer.add_component(type, static_cast<std::uint32_t>(i), std::as_bytes(std::span(&value, 1)));
    }
}

std::vector<std::byte> make_level(std::span<const std::size_t> entities) {
    BlobWriter writer;
    writer.set_name("bench/level");
    for (std::size_t i = 0; i < entities.size(); ++i) writer.add_entity({});
    add_components<WorldMatrices>(writer, entities, 0, [](std::size_t i) {
        WorldMatrices placement;
        for (std::size_t k = 0; k < 4; ++k) placement.local[5 * k] = placement.world[5 * k] = 1;
        placement.local[12] = placement.world[12] = float(i % 4096);
        placement.local[13] = placement.world[13] = float(i % 127);
        return placement;
    });
    add_components<MeshChoice>(writer, entities, 1, [](std::size_t i) { return MeshChoice{i * 3 + 1, i % 64}; });
    add_components<ActorState>(
        writer, entities, 2, [](std::size_t i) { return ActorState{i, i + 1, i + 2, float(i % 100), float(i % 50)}; });
    add_components<NameHash>(writer, entities, 3, [](std::size_t i) { return NameHash{mix(i)}; });
    return need(writer.write());
}

/// A blob that starts on a page boundary, like a blob read from a file.
class Level {
public:
    explicit Level(std::size_t n, LevelOrder order = LevelOrder::kMixed)
        : entities_(make_entities(n, order)),
          bytes_(make_level(entities_)),
          pages_(plain_pages<std::byte>(bytes_.size())) {
        std::memcpy(pages_.data(), bytes_.data(), bytes_.size());
        blob_.emplace(need(Blob::view({pages_.data(), bytes_.size()})));
    }
    const Blob& blob() const { return *blob_; }
    std::span<const std::byte> bytes() const { return {pages_.data(), bytes_.size()}; }
    /// The numbers of the entities, in the order of the blob.
    std::span<const std::size_t> entities() const { return entities_; }

private:
    std::vector<std::size_t> entities_;
    std::vector<std::byte> bytes_;
    PageArray<std::byte> pages_;
    std::optional<Blob> blob_;
};

/// A hash of the columns that also checks that rows belong to the right entities.
class LevelHash {
public:
    void add_column(const void* data, std::size_t num_bytes) { hash_ = hash_bytes(data, num_bytes, hash_); }
    void add_row(std::size_t row) { hash_ += mix(row); }
    std::uint64_t get() const { return hash_; }

private:
    std::uint64_t hash_ = 0;
};

// --- shoal -------------------------------------------------------------------------------------------------------

/// A world with the four managers.
class SpawnWorld {
public:
    SpawnWorld() : world_(entities_) {
        world_.manager<WorldMatrices>();
        world_.manager<MeshChoice>();
        world_.manager<ActorState>();
        world_.manager<NameHash>();
    }

    void spawn(const Blob& blob) {
        blob_ = &blob;
        spawned_ = need(world_.spawn(blob));
    }
    /// Removes all entities without a settle, because settling would return memory after a while.
    void clear() {
        spawned_.destroy(entities_);
        for (Store* store : world_.directory().stores()) static_cast<ComponentManager*>(store)->clear();
    }
    void destroy_and_settle() {
        spawned_.destroy(entities_);
        world_.settle();
    }
    std::uint64_t hash() const {
        LevelHash hash;
        for (std::size_t i = 0; i < world_.directory().stores().size(); ++i) {
            const auto& manager = static_cast<const ComponentManager&>(*world_.directory().stores()[i]);
            const Table& table = manager.table();
            const BlobComponents& components = blob_->component_types()[i];
            for (std::uint32_t row = 0; row < table.num_rows(); ++row) {
                const Entity owner = spawned_.entity(components.entity_index[row]);
                if (table.entities()[row] == owner && manager.index().find(owner) == row) hash.add_row(row);
            }
            for (std::uint32_t c = 0; c < table.schema().columns().size(); ++c)
                hash.add_column(table.column(c),
                                std::size_t(table.num_rows()) * table.schema().columns()[c].element_bytes);
        }
        return hash.get();
    }

private:
    EntityManager entities_;
    World world_;
    Spawned spawned_;
    const Blob* blob_ = nullptr;
};

// --- the reference -----------------------------------------------------------------------------------------------

/// An arena allocator with 2 MiB pages.
class Arena {
public:
    explicit Arena(std::size_t num_bytes)
        : range_(need(reserve_pages(round_up(num_bytes, kLargePageBytes), kLargePageBytes))), next_(range_.data) {
        prefer_large_pages(range_.data, range_.num_bytes);
    }
    ~Arena() { release_pages(range_); }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    template <class T>
    T* take(std::size_t count) {
        T* const result = reinterpret_cast<T*>(next_);
        next_ += round_up(count * sizeof(T), kCacheLineBytes) + kCacheLineBytes;
        if (next_ > range_.data + range_.num_bytes) fail("the arena is too small");
        return result;
    }
    void rewind() { next_ = range_.data; }

private:
    PageRange range_;
    std::byte* next_;
};

/// A hand-written level: ids, a generation byte per index, and for each component type owners, a row per index and
/// columns.
class PlainLevel {
public:
    static std::size_t num_bytes(const Blob& blob) {
        return blob.bytes().size() * 2 + std::size_t(blob.num_entities()) * 32 + kLargePageBytes;
    }

    void spawn(const Blob& blob, Arena& arena) {
        const std::uint32_t n = blob.num_entities();
        ids_ = arena.take<Entity>(n);
        generation_ = arena.take<Generation>(n + 1);
        for (std::uint32_t i = 0; i < n; ++i) ids_[i] = make_entity(i + 1, 1);
        std::memset(generation_, 1, n + 1);
        types_.clear();
        for (const BlobComponents& components : blob.component_types()) spawn_type(components, arena);
    }
    /// Increments all generations, and clears all tables.
    void destroy(const Blob& blob) {
        for (std::uint32_t i = 0; i < blob.num_entities(); ++i) ++generation_[ids_[i].index()];
        types_.clear();
    }
    std::uint64_t hash() const {
        LevelHash hash;
        for (const Type& type : types_) {
            for (std::size_t row = 0; row < type.count; ++row)
                if (type.row[type.owner[row].index()] == row) hash.add_row(row);
            for (const Column& column : type.columns) hash.add_column(column.data, column.num_bytes);
        }
        return hash.get();
    }

private:
    struct Column {
        std::byte* data;
        std::size_t num_bytes;
    };
    struct Type {
        std::size_t count;
        const Entity* owner;       // by row
        const std::uint32_t* row;  // by index
        std::vector<Column> columns;
    };

    void spawn_type(const BlobComponents& components, Arena& arena) {
        Entity* __restrict owner = arena.take<Entity>(components.count());
        std::uint32_t* __restrict row = arena.take<std::uint32_t>(ids_[components.entity_index.back()].index() + 1);
        for (std::uint32_t i = 0; i < components.count(); ++i) {
            const Entity entity = ids_[components.entity_index[i]];
            owner[i] = entity;
            row[entity.index()] = i;
        }
        Type type{components.count(), owner, row, {}};
        for (std::size_t c = 0; c < components.columns.size(); ++c) {
            const std::size_t num_bytes =
                std::size_t(components.count()) * components.schema->columns()[c].element_bytes;
            type.columns.push_back({arena.take<std::byte>(num_bytes), num_bytes});
            std::memcpy(type.columns.back().data, components.columns[c], num_bytes);
        }
        types_.push_back(std::move(type));
    }
    Entity* ids_ = nullptr;
    Generation* generation_ = nullptr;  // by index
    std::vector<Type> types_;
};

// --- databases ---------------------------------------------------------------------------------------------------

/// A world with one database.
class DatabaseWorld {
public:
    DatabaseWorld() : world_(entities_), database_(world_.database()) {
        components_ = {database_.component<WorldMatrices>(), database_.component<MeshChoice>(),
                       database_.component<ActorState>(), database_.component<NameHash>()};
    }

    void spawn(const Blob& blob) { spawned_ = need(world_.spawn(blob)); }
    void clear() {
        database_.clear_zone(0);
        spawned_.destroy(entities_);
    }
    std::uint64_t hash() const {
        LevelHash hash;
        for (std::uint32_t kind = 0; kind < 1 << kNumTypes; ++kind)
            for (const DatabaseTable* table : database_.all_tables())
                if (table != nullptr && table->num_rows() != 0 && kind_of_table(*table) == kind) add(hash, *table);
        return hash.get();
    }

private:
    std::uint32_t kind_of_table(const DatabaseTable& table) const {
        std::uint32_t kind = 0;
        for (std::uint32_t type = 0; type < kNumTypes; ++type) kind |= table.type().has(components_[type]) << type;
        return kind;
    }
    void add(LevelHash& hash, const DatabaseTable& table) const {
        for (std::uint32_t row = 0; row < table.num_rows(); ++row) {
            const DatabaseRow at = database_.find(table.entities()[row]);
            if (at.table == &table && at.row == row) hash.add_row(row);
        }
        const std::span<const ColumnDefinition> columns = table.table().schema().columns();
        for (std::uint32_t c = 0; c < columns.size(); ++c)
            hash.add_column(table.table().column(c), std::size_t(table.num_rows()) * columns[c].element_bytes);
    }

    EntityManager entities_;
    World world_;
    Database& database_;
    std::array<ComponentType, kNumTypes> components_;
    Spawned spawned_;
};

/// Hand-written tables: ids, a generation byte, a table and a row per index, and owners and columns for each kind. The
/// entities of each kind are known to be adjacent.
class PlainTables {
public:
    explicit PlainTables(const Level& level) : blob_(level.blob()), arena_(PlainLevel::num_bytes(level.blob())) {
        std::uint32_t places[kNumTypes] = {};
        for (std::uint32_t begin = 0, end; begin < level.entities().size(); begin = end) {
            const std::uint32_t kind = kind_of(level.entities()[begin]);
            for (end = begin; end < level.entities().size() && kind_of(level.entities()[end]) == kind;) ++end;
            Kind& added = kinds_.emplace_back(Kind{kind, begin, end - begin, {}, nullptr, {}});
            for (std::uint32_t type = 0; type < kNumTypes; ++type) {
                added.first_place[type] = places[type];
                if (kind >> type & 1) places[type] += end - begin;
            }
        }
    }

    void clear() { arena_.rewind(); }
    void spawn() {
        const std::uint32_t n = blob_.num_entities();
        Entity* __restrict ids = arena_.take<Entity>(n);
        Generation* generation = arena_.take<Generation>(n + 1);
        table_ = arena_.take<std::uint16_t>(n + 1);
        row_ = arena_.take<std::uint32_t>(n + 1);
        for (std::uint32_t i = 0; i < n; ++i) ids[i] = make_entity(i + 1, 1);
        std::memset(generation, 1, n + 1);
        for (std::size_t k = 0; k < kinds_.size(); ++k) spawn_kind(ids, static_cast<std::uint16_t>(k));
    }
    std::uint64_t hash() const {
        LevelHash hash;
        for (std::size_t k = 0; k < kinds_.size(); ++k) {
            for (std::uint32_t row = 0; row < kinds_[k].count; ++row) {
                const std::uint32_t index = kinds_[k].owner[row].index();
                if (table_[index] == k && row_[index] == row) hash.add_row(row);
            }
            for (const Column& column : kinds_[k].columns) hash.add_column(column.data, column.num_bytes);
        }
        return hash.get();
    }

private:
    struct Column {
        std::byte* data;
        std::size_t num_bytes;
    };
    struct Kind {
        std::uint32_t kind, first_entity, count;
        std::array<std::uint32_t, kNumTypes> first_place;  // in the columns of the blob
        Entity* owner;
        std::vector<Column> columns;
    };

    void spawn_kind(const Entity* ids, std::uint16_t number) {
        Kind& kind = kinds_[number];
        kind.owner = arena_.take<Entity>(kind.count);
        std::memcpy(kind.owner, ids + kind.first_entity, kind.count * sizeof(Entity));
        for (std::uint32_t row = 0; row < kind.count; ++row) {
            const std::uint32_t index = kind.owner[row].index();
            table_[index] = number;
            row_[index] = row;
        }
        kind.columns.clear();
        for (std::uint32_t type = 0; type < kNumTypes; ++type) {
            const BlobComponents& components = blob_.component_types()[type];
            for (std::size_t c = 0; c < components.columns.size() && kind.kind >> type & 1; ++c) {
                const std::size_t bytes = components.schema->columns()[c].element_bytes;
                std::byte* const to = arena_.take<std::byte>(kind.count * bytes);
                std::memcpy(to, components.columns[c] + kind.first_place[type] * bytes, kind.count * bytes);
                kind.columns.push_back({to, kind.count * bytes});
            }
        }
    }

    const Blob& blob_;
    Arena arena_;
    std::vector<Kind> kinds_;
    std::uint16_t* table_ = nullptr;  // by index
    std::uint32_t* row_ = nullptr;    // by index
};

// --- the workloads -----------------------------------------------------------------------------------------------

void spawn_warm(Bench& bench, const Level& level) {
    SpawnWorld mine;
    PlainLevel other;
    Arena arena(PlainLevel::num_bytes(level.blob()));
    const std::size_t n = level.blob().num_entities();
    const auto hash = [&] { return mine.hash(); };
    const auto hash_other = [&] { return other.hash(); };
    if (bench.wants("spawn/warm"))
        bench.compare({"spawn/warm", n, from_100k(n, 1.15)},
                      {[&] { mine.clear(); }, [&] { mine.spawn(level.blob()); }, hash},
                      {[&] { arena.rewind(); }, [&] { other.spawn(level.blob(), arena); }, hash_other});
    if (!bench.wants("spawn/respawn")) return;
    mine.clear();
    mine.spawn(level.blob());
    arena.rewind();
    other.spawn(level.blob(), arena);
    const auto respawn = [&] {
        mine.destroy_and_settle();
        mine.spawn(level.blob());
    };
    const auto respawn_other = [&] {
        other.destroy(level.blob());
        arena.rewind();
        other.spawn(level.blob(), arena);
    };
    bench.compare({"spawn/respawn", n, from_100k(n, 1.7)}, {{}, respawn, hash}, {{}, respawn_other, hash_other});
}

void spawn_cold(Bench& bench, const Level& level) {
    if (!bench.wants("spawn/cold")) return;
    std::optional<SpawnWorld> mine;
    std::optional<Arena> arena;
    PlainLevel other;
    bench.compare({"spawn/cold", level.blob().num_entities(), from_100k(level.blob().num_entities(), 1.3)},
                  {[&] { mine.emplace(); }, [&] { mine->spawn(level.blob()); }, [&] { return mine->hash(); }},
                  {[&] { arena.emplace(PlainLevel::num_bytes(level.blob())); },
                   [&] { other.spawn(level.blob(), *arena); }, [&] { return other.hash(); }});
}

/// Compares checking a blob with hashing its bytes, which is the least work that reads all of them.
void check(Bench& bench, const Level& level) {
    if (!bench.wants("spawn/check")) return;
    std::uint64_t mine = 0, other = 0;
    const auto run = [&] { mine = need(Blob::view(level.bytes())).num_entities(); };
    const auto run_other = [&] { other = hash_bytes(level.bytes().data(), level.bytes().size()) | 1; };
    const std::size_t n = level.blob().num_entities();
    bench.compare({"spawn/check", n, 0, level.bytes().size()}, {{}, run, [&] { return std::uint64_t(mine == n); }},
                  {{}, run_other, [&] { return std::uint64_t(other != 0); }});
}

/// Spawns entities that are sorted by kind, or mixed.
void spawn_into_database(Bench& bench, const char* name, double target, const Level& level, const Level& sorted) {
    if (!bench.wants(name)) return;
    DatabaseWorld mine;
    PlainTables other(sorted);
    const std::size_t n = level.blob().num_entities();
    bench.compare({name, n, from_100k(n, target)},
                  {[&] { mine.clear(); }, [&] { mine.spawn(level.blob()); }, [&] { return mine.hash(); }},
                  {[&] { other.clear(); }, [&] { other.spawn(); }, [&] { return other.hash(); }});
}

/// Compiles a source with the entities of a level, in the same order. Components have default values.
std::vector<std::byte> compile_level(std::span<const std::size_t> entities) {
    const Schema* const schemas[kNumTypes] = {&schema_of<WorldMatrices>(), &schema_of<MeshChoice>(),
                                              &schema_of<ActorState>(), &schema_of<NameHash>()};
    ComponentRegistry registry;
    std::int32_t order = 0;
    for (const Schema* schema : schemas) {
        need_ok(registry.add(*schema));
        need_ok(registry.set_compile_function(schema->name(), nullptr, nullptr, order++));
    }
    std::string text = "entities = {\n";
    for (const std::size_t entity : entities) {
        text += concat('e', entity, " = {");
        for (std::uint32_t type = 0; type < kNumTypes; ++type)
            if (kind_of(entity) >> type & 1) text += concat(' ', schemas[type]->name(), " = {}");
        text += " }\n";
    }
    Diagnostics diagnostics;
    Result source = compile_file(diagnostics.add_file("level.sjson", text + "}\n"), registry, {}, diagnostics);
    if (!source) fail(diagnostics.format());
    return std::move(source->blob);
}

/// Compares a source with mixed entities to a source with sorted entities.
void spawn_of_mixed_source(Bench& bench, std::size_t n) {
    const char* const name = "spawn/database_of_mixed_source";
    if (!bench.wants(name)) return;
    const std::vector<std::byte> mixed = compile_level(make_entities(n, LevelOrder::kMixed)),
                                 sorted = compile_level(make_entities(n, LevelOrder::kByKind));
    const Result<Blob> of_mixed = Blob::load(mixed), of_sorted = Blob::load(sorted);
    need_ok(of_mixed.status());
    need_ok(of_sorted.status());
    DatabaseWorld mine, other;
    bench.compare({name, n, from_100k(n, 1.15)},
                  {[&] { mine.clear(); }, [&] { mine.spawn(*of_mixed); }, [&] { return mine.hash(); }},
                  {[&] { other.clear(); }, [&] { other.spawn(*of_sorted); }, [&] { return other.hash(); }});
}

}  // namespace

void measure_spawning(Bench& bench) {
    for (const std::size_t n : bench.sizes(kSizes)) spawn_of_mixed_source(bench, n);
    for (const char* name : {"spawn/database_warm", "spawn/database_mixed"}) {
        if (!bench.wants(name)) continue;
        for (const std::size_t n : bench.sizes(kSizes)) {
            const Level sorted(n, LevelOrder::kByKind), mixed(n);
            spawn_into_database(bench, "spawn/database_warm", 1.3, sorted, sorted);
            spawn_into_database(bench, "spawn/database_mixed", 0, mixed, sorted);
        }
        break;
    }
    for (const char* name : {"spawn/warm", "spawn/cold", "spawn/respawn", "spawn/check"}) {
        if (!bench.wants(name)) continue;
        for (const std::size_t n : bench.sizes(kSizes)) {
            const Level level(n);
            spawn_warm(bench, level);
            spawn_cold(bench, level);
            check(bench, level);
        }
        return;
    }
}

}  // namespace shoal_bench
