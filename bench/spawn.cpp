// Spawns levels from checked blobs: 4 component types of 128, 16, 32 and 8 bytes on 100, 80, 30 and 50 % of the entities.
// The reference copies the same columns from the same blob, and fills ids, owners and indexes.

#include "reference.h"
#include "shoal/base/string_id.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/spawner.h"
#include "shoal/world/world.h"
#include "workloads.h"

#include <cstring>
#include <optional>

namespace shoal_bench {

using namespace shoal;

struct Placement {
    std::array<float, 16> local{}, world{};
};
SHOAL_COMPONENT(Placement, local, world)

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

constexpr std::initializer_list<std::size_t> kSizes = {10'000, 100'000, 1'000'000};

/// Whether entity `i` has the component type that `percent` of all entities have.
bool has_component(std::size_t i, std::uint32_t type, std::uint32_t percent) {
    return mix(i * 4 + type) % 100 < percent;
}

template <class T, class Value>
void add_components(BlobWriter& writer, std::size_t n, std::uint32_t number, std::uint32_t percent, Value&& value_of) {
    const std::uint32_t type = need(writer.add_component_type(schema_of<T>(), static_cast<std::int32_t>(number)));
    for (std::size_t i = 0; i < n; ++i) {
        if (!has_component(i, number, percent)) continue;
        const T value = value_of(i);
        writer.add_component(type, static_cast<std::uint32_t>(i), std::as_bytes(std::span(&value, 1)));
    }
}

std::vector<std::byte> make_level(std::size_t n) {
    BlobWriter writer;
    writer.set_name("bench/level");
    for (std::size_t i = 0; i < n; ++i) writer.add_entity({});
    add_components<Placement>(writer, n, 0, 100, [](std::size_t i) {
        Placement placement;
        for (std::size_t k = 0; k < 4; ++k) placement.local[5 * k] = placement.world[5 * k] = 1;
        placement.local[12] = placement.world[12] = float(i % 4096);
        placement.local[13] = placement.world[13] = float(i % 127);
        return placement;
    });
    add_components<MeshChoice>(writer, n, 1, 80, [](std::size_t i) { return MeshChoice{i * 3 + 1, i % 64}; });
    add_components<ActorState>(
        writer, n, 2, 30, [](std::size_t i) { return ActorState{i, i + 1, i + 2, float(i % 100), float(i % 50)}; });
    add_components<NameHash>(writer, n, 3, 50, [](std::size_t i) { return NameHash{mix(i)}; });
    return need(writer.write());
}

/// A blob that starts on a page boundary, like one that was read from a file.
class Level {
public:
    explicit Level(std::size_t n) : bytes_(make_level(n)), pages_(plain_pages<std::byte>(bytes_.size())) {
        std::memcpy(pages_.data(), bytes_.data(), bytes_.size());
        blob_.emplace(need(Blob::view({pages_.data(), bytes_.size()})));
    }
    const Blob& blob() const { return *blob_; }
    std::span<const std::byte> bytes() const { return {pages_.data(), bytes_.size()}; }

private:
    std::vector<std::byte> bytes_;
    PageArray<std::byte> pages_;
    std::optional<Blob> blob_;
};

/// A hash of the columns, and of whether rows belong to the right entities.
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
        world_.manager<Placement>();
        world_.manager<MeshChoice>();
        world_.manager<ActorState>();
        world_.manager<NameHash>();
    }

    void spawn(const Blob& blob) {
        blob_ = &blob;
        spawned_ = need(world_.spawn(blob));
    }
    /// Removes everything without settling, which would give memory back after a while.
    void clear() {
        spawned_.destroy(entities_);
        for (Store* store : world_.stores()) static_cast<ComponentManager*>(store)->clear();
    }
    void destroy_and_settle() {
        spawned_.destroy(entities_);
        world_.settle();
    }
    std::uint64_t hash() const {
        LevelHash hash;
        for (std::size_t i = 0; i < world_.stores().size(); ++i) {
            const auto& manager = static_cast<const ComponentManager&>(*world_.stores()[i]);
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

/// Memory that is handed out piece by piece: reused, or new with 2 MiB pages.
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

/// Ids, a generation byte per index, and for each component type owners, a row per index, and columns.
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
    /// Destroys everything by hand: advances every generation, empties every table.
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

/// The check of a blob against a hash of its bytes: the least that reads all of it.
void check(Bench& bench, const Level& level) {
    if (!bench.wants("spawn/check")) return;
    std::uint64_t mine = 0, other = 0;
    const auto run = [&] { mine = need(Blob::view(level.bytes())).num_entities(); };
    const auto run_other = [&] { other = hash_bytes(level.bytes().data(), level.bytes().size()) | 1; };
    const std::size_t n = level.blob().num_entities();
    bench.compare({"spawn/check", n, 0, level.bytes().size()}, {{}, run, [&] { return std::uint64_t(mine == n); }},
                  {{}, run_other, [&] { return std::uint64_t(other != 0); }});
}

}  // namespace

void measure_spawning(Bench& bench) {
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
