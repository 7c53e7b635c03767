// Measures adding, looking up and removing components of a manager. The component has fields of 12, 12 and 4 bytes.

#include "plain_bodies.h"
#include "shoal/query/lookup.h"
#include "shoal/store/detail/component_directory.h"
#include "workloads.h"

#include <optional>
#include <vector>

namespace shoal_bench {
namespace {

using namespace shoal;

struct Kind {
    RowIndexKind kind;
    const char* suffix;  // appended to the name of a workload
};
/// Hash and identity indexes have the same reference as the paged index, but no target.
constexpr Kind kKinds[] = {
    {RowIndexKind::kPaged, ""}, {RowIndexKind::kHash, "_hash"}, {RowIndexKind::kIdentity, "_identity"}};

double target_of(const Kind& kind, std::size_t n, double target) {
    return kind.kind == RowIndexKind::kPaged ? from_100k(n, target) : 0;
}

/// Adds values from separate columns, as a loader does.
void add_columns(ComponentManager& manager, std::span<const Entity> entities, const BodyValues& values) {
    need(manager.add(
        entities,
        [](void* context, Table& table, RowRange rows, std::size_t first) {
            const auto& from = *static_cast<const BodyValues*>(context);
            const std::byte* columns[] = {reinterpret_cast<const std::byte*>(from.position.data() + first),
                                          reinterpret_cast<const std::byte*>(from.velocity.data() + first),
                                          reinterpret_cast<const std::byte*>(from.mass.data() + first)};
            table.copy_columns(rows, columns);
        },
        const_cast<BodyValues*>(&values)));
}

// --- adding ------------------------------------------------------------------------------------------------------

/// Creates rows in a manager that was filled and cleared before.
class Creation {
public:
    explicit Creation(std::size_t n) : n_(n), values_(n), ids_(n), plain_(n + 1, n) { need_ok(entities_.create(ids_)); }

    void measure(Bench& bench, const Kind& kind) {
        Manager<Body> manager(entities_, pool_, {.index = kind.kind});
        const auto clear = [&] { manager.clear(); };
        const auto sum = [&] { return sum_bodies(manager); };
        const auto add_each = [&](auto&& value_of) {
            std::uint32_t num_added = 0;
            for (std::size_t i = 0; i < n_; ++i) num_added += manager.add(ids_[i], value_of(i)).ok();
            if (num_added != n_) fail("a component could not be added");
        };
        const auto add_each_plain = [&](auto&& value_of) {
            for (std::size_t i = 0; i < n_; ++i) {
                const Body body = value_of(i);
                plain_.add(ids_[i], body.position, body.velocity, body.mass);
            }
        };
        const auto copied = [&](std::size_t i) {
            return Body{values_.position[i], values_.velocity[i], values_.mass[i]};
        };
        compare(bench, kind, "manager/create_one", 1.3, {clear, [&] { add_each(body_of); }, sum},
                [&] { add_each_plain(body_of); });
        compare(bench, kind, "manager/create_one_copied", 0, {clear, [&] { add_each(copied); }, sum},
                [&] { add_each_plain(copied); });
        compare(bench, kind, "manager/create_span", 1.2,
                {clear, [&] { add_columns(manager.core(), ids_, values_); }, sum},
                [&] { plain_.add_all(ids_, values_.position.data(), values_.velocity.data(), values_.mass.data()); });
        compare(bench, kind, "manager/create_span_structs", 0,
                {clear, [&] { need(manager.add(ids_, std::span<const Body>(values_.bodies))); }, sum},
                [&] { plain_.add_structs(ids_, values_.bodies.data()); });
    }

    /// Each run uses a new manager, with pages that the last manager returned to the pool. The reference keeps its
    /// pages.
    void measure_fresh(Bench& bench) {
        std::optional<Manager<Body>> manager;
        compare(bench, kKinds[0], "manager/create_span_fresh", n_ >= 1'000'000 ? 2.5 : 0,
                {[&] { manager.reset(); },
                 [&] {
                     manager.emplace(entities_, pool_);
                     add_columns(manager->core(), ids_, values_);
                 },
                 [&] { return sum_bodies(*manager); }},
                [&] { plain_.add_all(ids_, values_.position.data(), values_.velocity.data(), values_.mass.data()); });
    }

private:
    template <class Run>
    void compare(Bench& bench, const Kind& kind, const std::string& name, double target, const Side& side, Run&& run) {
        if (!bench.wants(name + kind.suffix)) return;
        bench.compare({name + kind.suffix, n_, target_of(kind, n_, target)}, side,
                      {[&] { plain_.clear(); }, run, [&] { return plain_.sum(); }});
    }

    std::size_t n_;
    BodyValues values_;
    EntityManager entities_;
    PagePool pool_;
    std::vector<Entity> ids_;
    PlainBodies plain_;
};

// --- looking up and removing -------------------------------------------------------------------------------------

/// n entities with rows that were shuffled by removing n other entities between them, and n ids to look up in a
/// different order. One id in ten is stale.
class Shuffled {
public:
    Shuffled(std::size_t n, RowIndexKind kind)
        : values_(2 * n),
          entities_({.minimum_free_ids = 1}),
          manager_(entities_, pool_, {.index = kind}),
          plain_(2 * n + 1, 2 * n) {
        std::vector<Entity> stale(n / 10);
        need_ok(entities_.create(stale));
        entities_.destroy(stale);
        all_.resize(2 * n);
        need_ok(entities_.create(all_));
        for (std::size_t i = 0; i < 2 * n; ++i) (i % 2 == 0 ? asked_ : others_).push_back(all_[i]);
        shuffle(std::span(asked_), 4);
        shuffle(std::span(others_), 5);
        std::copy(stale.begin(), stale.end(), asked_.begin());
        shuffle(std::span(asked_), 6);
    }

    void fill() {
        manager_.clear();
        add_columns(manager_.core(), all_, values_);
        manager_.remove(others_);
    }
    void fill_plain() {
        plain_.clear();
        plain_.add_all(all_, values_.position.data(), values_.velocity.data(), values_.mass.data());
        for (const Entity entity : others_) plain_.remove(entity);
    }
    std::span<const Entity> asked() const { return asked_; }
    Manager<Body>& manager() { return manager_; }
    PlainBodies& plain() { return plain_; }
    const PlainBodies& plain() const { return plain_; }
    EntityManager& entities() { return entities_; }

private:
    BodyValues values_;
    EntityManager entities_;
    PagePool pool_;
    Manager<Body> manager_;
    PlainBodies plain_;
    std::vector<Entity> all_, asked_, others_;
};

std::int64_t sum_plain(const Shuffled& set) {
    std::int64_t sum = 0;
    const PlainBodies& plain = set.plain();
    for (const Entity entity : set.asked()) {
        const Record& record = plain.record(entity);
        if (record.generation == entity.generation()) sum += std::int64_t(plain.position(record.row).x);
    }
    return sum;
}

void get(Bench& bench, Shuffled& set, const Kind& kind) {
    const std::string name = std::string("manager/get_shuffled") + kind.suffix;
    if (!bench.wants(name)) return;
    std::int64_t mine = 0, other = 0;
    const auto run = [&] {
        std::int64_t sum = 0;
        const Manager<Body>& manager = set.manager();
        for (const Entity entity : set.asked())
            if (const Instance instance = manager.instance(entity))
                sum += std::int64_t(manager.get<&Body::position>(instance).x);
        mine = sum;
    };
    bench.compare({name, set.asked().size(), target_of(kind, set.asked().size(), 1.2)},
                  {{}, run, [&] { return std::uint64_t(mine); }},
                  {{}, [&] { other = sum_plain(set); }, [&] { return std::uint64_t(other); }});
}

constexpr const char* kLookUp = "lookup/get_shuffled_manager";

/// The same, with a Lookup, which works with any store.
void look_up(Bench& bench, Shuffled& set) {
    if (!bench.wants(kLookUp)) return;
    std::int64_t mine = 0, other = 0;
    ComponentDirectory directory(set.entities());
    need_ok(directory.add(set.manager().core()));
    const Lookup<&Body::position> position(directory);
    const auto run = [&] {
        std::int64_t sum = 0;
        for (const Entity entity : set.asked())
            if (const Vec3* found = position.find(entity)) sum += std::int64_t(found->x);
        mine = sum;
    };
    bench.compare({kLookUp, set.asked().size()}, {{}, run, [&] { return std::uint64_t(mine); }},
                  {{}, [&] { other = sum_plain(set); }, [&] { return std::uint64_t(other); }});
}

/// Prefetches the record of the entity 2 * kAhead look-ups ahead, and the row of the entity kAhead look-ups ahead.
SHOAL_BENCH_LOOP void gather_plain(const PlainBodies& plain, std::span<const Entity> entities, Vec3* __restrict out) {
    const auto gather_one = [&](std::size_t i) {
        const Record& record = plain.record(entities[i]);
        out[i] = record.generation == entities[i].generation() ? plain.position(record.row) : Vec3{};
    };
    std::size_t i = 0;
    for (; i + 2 * kAhead < entities.size(); ++i) {
        __builtin_prefetch(&plain.record(entities[i + 2 * kAhead]));
        __builtin_prefetch(&plain.position(plain.record(entities[i + kAhead]).row));
        gather_one(i);
    }
    for (; i < entities.size(); ++i) gather_one(i);
}

void gather(Bench& bench, Shuffled& set, const Kind& kind) {
    const std::string name = std::string("manager/gather_shuffled") + kind.suffix;
    if (!bench.wants(name)) return;
    std::vector<Vec3> mine(set.asked().size()), other(set.asked().size());
    const auto sum = [](std::span<const Vec3> values) {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < values.size(); ++i) result += bits_of({EntityBits(i)}, values[i], {}, 0);
        return result;
    };
    bench.compare({name, set.asked().size(), target_of(kind, set.asked().size(), 1.1)},
                  {{}, [&] { set.manager().gather<&Body::position>(set.asked(), mine); }, [&] { return sum(mine); }},
                  {{}, [&] { gather_plain(set.plain(), set.asked(), other.data()); }, [&] { return sum(other); }});
}

void remove(Bench& bench, Shuffled& set, const Kind& kind) {
    const auto fill = [&] { set.fill(); };
    const auto sum = [&] { return sum_bodies(set.manager()); };
    const Side reference = {[&] { set.fill_plain(); },
                            [&] {
                                for (const Entity entity : set.asked()) set.plain().remove(entity);
                            },
                            [&] { return set.plain().sum(); }};
    const std::string one = std::string("manager/remove_shuffled_one") + kind.suffix;
    const std::string span = std::string("manager/remove_shuffled_span") + kind.suffix;
    const std::size_t n = set.asked().size();
    if (bench.wants(one))
        bench.compare({one, n, target_of(kind, n, 1.5)},
                      {fill,
                       [&] {
                           for (const Entity entity : set.asked()) set.manager().remove(entity);
                       },
                       sum},
                      reference);
    if (bench.wants(span))
        bench.compare({span, n, n >= 1'000'000 ? target_of(kind, n, 1) : 0},
                      {fill, [&] { set.manager().remove(set.asked()); }, sum}, reference);
}

constexpr const char* kCreations[] = {"create_one", "create_one_copied", "create_span", "create_span_structs",
                                      "create_span_fresh"};
constexpr const char* kShuffles[] = {"get_shuffled", "gather_shuffled", "remove_shuffled_one", "remove_shuffled_span"};

bool wants_any(const Bench& bench, const Kind& kind, std::span<const char* const> names) {
    for (const char* name : names)
        if (bench.wants(std::string("manager/") + name + kind.suffix)) return true;
    return false;
}

}  // namespace

void measure_managers(Bench& bench) {
    for (const std::size_t n : bench.sizes(kSizes)) {
        for (const Kind& kind : kKinds) {
            if (!wants_any(bench, kind, kCreations)) continue;
            Creation creation(n);
            creation.measure(bench, kind);
            if (kind.kind == RowIndexKind::kPaged) creation.measure_fresh(bench);
        }
        for (const Kind& kind : kKinds) {
            const bool is_paged = kind.kind == RowIndexKind::kPaged;
            if (!wants_any(bench, kind, kShuffles) && !(is_paged && bench.wants(kLookUp))) continue;
            Shuffled set(n, kind.kind);
            set.fill();
            set.fill_plain();
            get(bench, set, kind);
            if (is_paged) look_up(bench, set);
            gather(bench, set, kind);
            remove(bench, set, kind);
        }
    }
}

}  // namespace shoal_bench
