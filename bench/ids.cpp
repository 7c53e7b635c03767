// Measures creating, testing and destroying entity ids.

#include "reference.h"
#include "shoal/entity/entity_manager.h"
#include "workloads.h"

#include <cstring>
#include <optional>

#include <sys/mman.h>
#include <vector>

namespace shoal_bench {
namespace {

using namespace shoal;

/// Returns a checksum that does not depend on the first id.
std::uint64_t sum_from_first(std::span<const Entity> ids) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) sum += mix(i + ids[i].id - ids[0].id);
    return sum;
}

/// A hand-written id table that is filled one by one: a growing array with a record per index, on a warm heap.
struct GrowingIds {
    Entity create() {
        records.push_back({1, 0});
        return make_entity(static_cast<std::uint32_t>(records.size()), 1);
    }

    std::vector<Record> records;
};

/// The same, but filled in one call, in memory that was used before.
struct FilledIds {
    explicit FilledIds(std::size_t capacity) : records(plain_pages<Record>(capacity)) {}

    void create_all(std::span<Entity> out) {
        Record* __restrict record = records.data();
        Entity* __restrict id = out.data();
        const EntityBits first = make_entity(1, 1).id;
        for (std::size_t i = 0; i < out.size(); ++i) {
            record[i] = {1, 0};
            id[i].id = first + static_cast<EntityBits>(i);
        }
    }

    PageArray<Record> records;
};

/// The same, but with a byte per index, in pages that have not been touched before.
struct ColdIds {
    explicit ColdIds(std::size_t capacity) : generation(plain_pages<Generation>(capacity + 1)) {}

    void create_all(std::span<Entity> out) {
        std::memset(generation.data() + size, 1, out.size());
        const EntityBits first = make_entity(static_cast<std::uint32_t>(size), 1).id;
        for (std::size_t i = 0; i < out.size(); ++i) out[i].id = first + static_cast<EntityBits>(i);
        size += out.size();
    }

    PageArray<Generation> generation;
    std::size_t size = 1;
};

/// The hand-written way to destroy ids: a byte per index and a free list.
struct PlainLives {
    explicit PlainLives(std::size_t num_indices)
        : generation(plain_pages<Generation>(num_indices)), free(plain_pages<Entity>(num_indices)) {}

    std::size_t destroy(std::span<const Entity> ids) {
        num_free = 0;
        for (const Entity id : ids) {
            if (generation[id.index()] != id.generation()) continue;
            const auto next = static_cast<Generation>(id.generation() + 1);
            generation[id.index()] = next;
            free[num_free++] = make_entity(id.index(), next);
        }
        return num_free;
    }

    PageArray<Generation> generation;  // by index
    PageArray<Entity> free;
    std::size_t num_free = 0;
};

/// While this object exists, pages are committed when they are reserved, if the system allows it. A new EntityManager
/// then starts with committed memory, like the reference.
class ResidentPages {
public:
    ResidentPages() { static_cast<void>(mlockall(MCL_FUTURE)); }
    ~ResidentPages() { munlockall(); }
    ResidentPages(const ResidentPages&) = delete;
    ResidentPages& operator=(const ResidentPages&) = delete;
};

/// A manager whose next n ids are fresh and in committed memory. It is replaced when it runs out of fresh ids.
class FreshManager {
public:
    explicit FreshManager(std::size_t n) : n_(n) {}

    void prepare() {
        if (manager_ && manager_->num_indices_used() + n_ <= kMaxEntities) return;
        const ResidentPages resident;
        manager_.emplace();
    }
    EntityManager& get() { return *manager_; }

private:
    std::size_t n_;
    std::optional<EntityManager> manager_;
};

void create_fresh(Bench& bench, std::size_t n) {
    FreshManager fresh(n);
    std::vector<Entity> mine(n), other(n);
    const auto prepare = [&] { fresh.prepare(); };
    const auto sum = [&] { return sum_from_first(mine); };
    const auto sum_other = [&] { return sum_from_first(other); };
    if (bench.wants("ids/create_one")) {
        GrowingIds plain;
        bench.compare({"ids/create_one", n, from_100k(n, 1.7)},
                      {prepare,
                       [&] {
                           for (Entity& id : mine) id = *fresh.get().create();
                       },
                       sum},
                      {[&] { plain.records = {}; },
                       [&] {
                           for (Entity& id : other) id = plain.create();
                       },
                       sum_other});
    }
    if (bench.wants("ids/create_span")) {
        FilledIds plain(n);
        bench.compare({"ids/create_span", n, from_100k(n, 1.0)},
                      {prepare, [&] { need_ok(fresh.get().create(mine)); }, sum},
                      {{}, [&] { plain.create_all(other); }, sum_other});
    }
}

/// The same, in memory that both sides must first get from the system.
void create_cold(Bench& bench, std::size_t n) {
    if (!bench.wants("ids/create_span_cold")) return;
    std::optional<EntityManager> manager;
    std::optional<ColdIds> plain;
    std::vector<Entity> mine(n), other(n);
    bench.compare(
        {"ids/create_span_cold", n},
        {[&] { manager.emplace(); }, [&] { need_ok(manager->create(mine)); }, [&] { return sum_from_first(mine); }},
        {[&] { plain.emplace(n); }, [&] { plain->create_all(other); }, [&] { return sum_from_first(other); }});
}

/// Recycles ids that were destroyed in the order of their creation. The reference creates fresh ids.
void create_recycled(Bench& bench, std::size_t n) {
    if (!bench.wants("ids/create_span_recycled")) return;
    EntityManager manager;
    FilledIds plain(n);
    std::vector<Entity> mine(n), other(n);
    need_ok(manager.create(mine));
    bench.compare(
        {"ids/create_span_recycled", n, from_100k(n, n >= 1'000'000 ? 2.5 : 6)},
        {[&] { manager.destroy(mine); }, [&] { need_ok(manager.create(mine)); }, [&] { return manager.num_alive(); }},
        {{}, [&] { plain.create_all(other); }, [&] { return other.size(); }});
}

void ask_alive(Bench& bench, std::size_t n) {
    if (!bench.wants("ids/alive_shuffled")) return;
    EntityManager manager;
    std::vector<Entity> ids(n);
    need_ok(manager.create(ids));
    shuffle(std::span(ids), 1);
    manager.destroy(std::span(ids).first(n / 2));
    PageArray<Generation> bytes = plain_pages<Generation>(n + 1);
    for (const Entity id : std::span(ids).subspan(n / 2)) bytes[id.index()] = id.generation();
    shuffle(std::span(ids), 2);
    std::uint64_t mine = 0, other = 0;
    const auto ask = [&] {
        std::uint64_t count = 0;
        for (const Entity id : ids) count += manager.alive(id);
        mine = count;
    };
    const auto ask_plain = [&] {
        std::uint64_t count = 0;
        const Generation* generation = bytes.data();
        for (const Entity id : ids) count += generation[id.index()] == id.generation();
        other = count;
    };
    bench.compare({"ids/alive_shuffled", n, from_100k(n, 1.1)}, {{}, ask, [&] { return mine; }},
                  {{}, ask_plain, [&] { return other; }});
}

void destroy_shuffled(Bench& bench, std::size_t n) {
    if (!bench.wants("ids/destroy_shuffled_span")) return;
    EntityManager manager;
    PlainLives plain(n + 1);
    const std::vector<std::uint32_t> order = shuffled_numbers(n, 3);
    std::vector<Entity> created(n), mine(n), other(n);
    for (std::size_t i = 0; i < n; ++i) other[i] = make_entity(order[i] + 1, 1);
    std::uint64_t num_mine = 0, num_other = 0;
    const auto prepare = [&] {
        need_ok(manager.create(created));
        for (std::size_t i = 0; i < n; ++i) mine[i] = created[order[i]];
    };
    const auto prepare_plain = [&] {
        for (const Entity id : other) plain.generation[id.index()] = id.generation();
    };
    bench.compare({"ids/destroy_shuffled_span", n, from_100k(n, 1.4)},
                  {prepare, [&] { num_mine = manager.destroy(mine); }, [&] { return num_mine; }},
                  {prepare_plain, [&] { num_other = plain.destroy(other); }, [&] { return num_other; }});
}

}  // namespace

void measure_ids(Bench& bench) {
    for (const std::size_t n : bench.sizes(kSizes)) {
        create_fresh(bench, n);
        create_cold(bench, n);
        create_recycled(bench, n);
        ask_alive(bench, n);
        destroy_shuffled(bench, n);
    }
}

}  // namespace shoal_bench
