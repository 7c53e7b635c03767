// Compares a database of entities with three component types (position, velocity, mass) to plain columns and a record
// per entity.

#include "shoal/database/database.h"
#include "shoal/query/lookup.h"

#include "body_components.h"
#include "plain_bodies.h"
#include "plain_sea.h"
#include "workloads.h"

#include <optional>
#include <vector>

namespace shoal_bench {
namespace {

using namespace shoal;

struct Awake {};
SHOAL_COMPONENT((Awake, enableable))

/// Returns the target for a number of entities.
constexpr double by_size(std::size_t n, double at_10k, double at_100k, double at_1m) {
    return n >= 1'000'000 ? at_1m : n >= 100'000 ? at_100k : at_10k;
}

/// n entities, in a database and in plain columns.
struct Sea {
    explicit Sea(std::size_t count)
        : n(count),
          values(count),
          ids(count),
          order(shuffled_numbers(count, 3)),
          database(entities, pool),
          plain(count + 1, count) {
        need_ok(entities.create(ids));
        database.component<Position>();
        database.component<Velocity>();
        database.component<Mass>();
        database.component<Awake>();
    }

    void insert_all(bool heavy) {
        const auto* position = reinterpret_cast<const std::byte*>(values.position.data());
        const auto* velocity = reinterpret_cast<const std::byte*>(values.velocity.data());
        const auto* mass = reinterpret_cast<const std::byte*>(values.mass.data());
        const ComponentValues given[] = {{.component = database.component<Position>(), .columns = {&position, 1}},
                                         {.component = database.component<Velocity>(), .columns = {&velocity, 1}},
                                         {.component = database.component<Mass>(), .columns = {&mass, 1}}};
        const Archetype& type = heavy ? archetype_of<Position, Velocity, Mass>() : archetype_of<Position, Velocity>();
        if (need(database.insert(ids, type, 0, std::span(given).first(heavy ? 3 : 2))).num_added != n)
            fail("an entity could not be inserted");
    }
    void insert_all_plain(bool heavy) {
        plain.add_all(heavy ? PlainSea::kHeavy : PlainSea::kLight, ids, values.position.data(), values.velocity.data(),
                      heavy ? values.mass.data() : nullptr);
    }
    template <class... Ts>
    const Archetype& archetype_of() {
        return is_enableable ? database.archetype<Ts..., Awake>() : database.archetype<Ts...>();
    }
    void clear() { database.drop(ids); }

    std::uint64_t sum() {
        std::uint64_t result = 0;
        for (DatabaseTable* table : database.all_tables()) {
            if (table == nullptr || table->num_rows() == 0) continue;
            const auto position = table->column<&Position::value>(database.component<Position>());
            const auto velocity = table->column<&Velocity::value>(database.component<Velocity>());
            const bool heavy = table->type().has(database.component<Mass>());
            for (std::uint32_t row = 0; row < table->num_rows(); ++row)
                result += bits_of(table->entities()[row], position[row], velocity[row],
                                  heavy ? table->column<&Mass::value>(database.component<Mass>())[row] : 0);
        }
        return result;
    }

    std::size_t n;
    BodyValues values;
    EntityManager entities;
    PagePool pool;
    std::vector<Entity> ids;
    std::vector<std::uint32_t> order;
    Database database;
    PlainSea plain;
    bool is_enableable = false;  // whether rows have an additional enableable component
};

template <class Prepare, class Run, class PreparePlain, class RunPlain>
void compare(Bench& bench, Sea& sea, const std::string& name, double target, Prepare&& prepare, Run&& run,
             PreparePlain&& prepare_plain, RunPlain&& run_plain, std::size_t n = 0) {
    if (!bench.wants(name)) return;
    sea.clear();
    sea.plain.clear();
    bench.compare({name, n == 0 ? sea.n : n, target}, {prepare, run, [&] { return sea.sum(); }},
                  {prepare_plain, run_plain, [&] { return sea.plain.sum(); }});
    sea.clear();
    sea.plain.clear();
}

// --- creating ----------------------------------------------------------------------------------------------------

/// Adds rows for existing ids to tables that were filled and emptied before.
void create(Bench& bench, Sea& sea) {
    const auto clear = [&] { sea.clear(); };
    const auto clear_plain = [&] { sea.plain.clear(); };
    compare(
        bench, sea, "database/create3_one", 1.5, clear,
        [&] {
            std::uint32_t num_added = 0;
            for (std::size_t i = 0; i < sea.n; ++i) {
                const Body body = body_of(i);
                num_added += *sea.database.insert(sea.ids[i], 0, Position{body.position}, Velocity{body.velocity},
                                                  Mass{body.mass});
            }
            if (num_added != sea.n) fail("an entity could not be inserted");
        },
        clear_plain,
        [&] {
            for (std::size_t i = 0; i < sea.n; ++i) {
                const Body body = body_of(i);
                sea.plain.add(sea.ids[i], body.position, body.velocity, body.mass);
            }
        });
    compare(
        bench, sea, "database/create3_span", by_size(sea.n, 1.8, 1.6, 1.3), clear, [&] { sea.insert_all(true); },
        clear_plain, [&] { sea.insert_all_plain(true); });
}

// --- adding and removing a component -----------------------------------------------------------------------------

void change_one(Bench& bench, Sea& sea, bool adds, const std::string& suffix, std::span<const std::uint32_t> order,
                double target) {
    const auto refill = [&] {
        sea.clear();
        sea.insert_all(!adds);
    };
    const auto refill_plain = [&] {
        sea.plain.clear();
        sea.insert_all_plain(!adds);
    };
    compare(
        bench, sea, (adds ? "database/add_one" : "database/remove_one") + suffix, target, refill,
        [&] {
            std::uint32_t num_changed = 0;
            if (adds)
                for (const std::uint32_t i : order)
                    num_changed += sea.database.add(sea.ids[i], Mass{float(i % 13)})->num_added;
            else
                for (const std::uint32_t i : order) num_changed += *sea.database.remove<Mass>(sea.ids[i]);
            if (num_changed != order.size()) fail("a component did not come or go");
        },
        refill_plain,
        [&] {
            for (const std::uint32_t i : order)
                sea.plain.change(sea.ids[i], adds ? PlainSea::kHeavy : PlainSea::kLight, float(i % 13));
        },
        order.size());
}

void change_span(Bench& bench, Sea& sea, bool adds, double target) {
    const auto refill = [&] {
        sea.clear();
        sea.insert_all(!adds);
    };
    const auto refill_plain = [&] {
        sea.plain.clear();
        sea.insert_all_plain(!adds);
    };
    compare(
        bench, sea, adds ? "database/add_span" : "database/remove_span", target, refill,
        [&] {
            if (adds)
                need(sea.database.add(sea.ids, Mass{7}));
            else
                need(sea.database.remove<Mass>(sea.ids));
        },
        refill_plain,
        [&] {
            sea.plain.change_all(sea.ids, adds ? PlainSea::kLight : PlainSea::kHeavy,
                                 adds ? PlainSea::kHeavy : PlainSea::kLight, 7);
        });
}

void change(Bench& bench, Sea& sea) {
    std::vector<std::uint32_t> all(sea.n);
    std::iota(all.begin(), all.end(), 0u);
    const std::span<const std::uint32_t> few = std::span(sea.order).first(sea.n / 100);
    change_one(bench, sea, true, "", all, 2.2);
    change_one(bench, sea, true, "_1_percent", few, 2.2);
    change_one(bench, sea, false, "", all, 2.5);
    change_one(bench, sea, false, "_1_percent", few, 2.5);
    change_span(bench, sea, true, by_size(sea.n, 3, 2.2, 1.5));
    change_span(bench, sea, false, 3);
    sea.is_enableable = true;
    sea.plain.keep_bits();
    change_one(bench, sea, true, "_beside_enableable", all, 2.5);
    change_one(bench, sea, true, "_beside_enableable_1_percent", few, 4);
    change_one(bench, sea, false, "_beside_enableable", all, 3);
    change_one(bench, sea, false, "_beside_enableable_1_percent", few, 4);
    sea.is_enableable = false;
}

// --- destroying --------------------------------------------------------------------------------------------------

/// Entities that are destroyed together with their ids.
class Mortals {
public:
    explicit Mortals(std::size_t n)
        : n_(n),
          entities_({.minimum_free_ids = 1, .max_entities = n, .max_death_list = 1}),
          database_(entities_, pool_),
          plain_ids_(n),
          plain_(n + 1, n),
          ids_(n),
          other_ids_(n),
          order_(shuffled_numbers(n, 8)),
          mine_(n),
          other_(n),
          values_(n) {}

    void measure(Bench& bench) {
        const auto fill = [&] { this->fill(); };
        const auto fill_plain = [&] { this->fill_plain(); };
        const auto left = [&] { return database_.num_rows() + entities_.num_alive(); };
        const auto left_plain = [&] { return plain_.table(PlainSea::kHeavy).num_rows; };
        if (bench.wants("database/destroy_shuffled_one"))
            bench.compare({"database/destroy_shuffled_one", n_, 2.2},
                          {fill,
                           [&] {
                               for (const Entity entity : mine_) database_.destroy(entity);
                           },
                           left},
                          {fill_plain,
                           [&] {
                               for (const Entity entity : other_) plain_ids_.destroy(entity) && plain_.remove(entity);
                           },
                           left_plain});
        if (bench.wants("database/destroy_shuffled_span"))
            bench.compare({"database/destroy_shuffled_span", n_, 1.5}, {fill, [&] { database_.destroy(mine_); }, left},
                          {fill_plain, [&] { destroy_plain(); }, left_plain});
        if (bench.wants("database/clear_zone"))
            bench.compare({"database/clear_zone", n_, 1.5}, {fill, [&] { database_.clear_zone(0); }, left},
                          {fill_plain,
                           [&] {
                               PlainSea::Columns& table = plain_.table(PlainSea::kHeavy);
                               for (std::size_t row = 0; row < table.num_rows; ++row)
                                   plain_ids_.destroy(table.owner[row]);
                               plain_.clear();
                           },
                           left_plain});
    }

private:
    void fill() {
        database_.destroy(ids_);
        need_ok((database_.create<Position, Velocity, Mass>(ids_, 0)));
        for (std::size_t i = 0; i < n_; ++i) mine_[i] = ids_[order_[i]];
    }
    void fill_plain() {
        for (const Entity entity : other_ids_)
            if (entity) plain_ids_.destroy(entity) && plain_.remove(entity);
        plain_ids_.create_all(other_ids_);
        plain_.add_all(PlainSea::kHeavy, other_ids_, values_.position.data(), values_.velocity.data(),
                       values_.mass.data());
        for (std::size_t i = 0; i < n_; ++i) other_[i] = other_ids_[order_[i]];
    }
    void destroy_plain() {
        const bool fetches = n_ > 16384;
        for (std::size_t i = 0; i < n_; ++i) {
            if (fetches && i + 2 * kAhead < n_) {
                plain_.prefetch_place(other_[i + 2 * kAhead]);
                plain_ids_.prefetch(other_[i + 2 * kAhead]);
                plain_.prefetch_row(other_[i + kAhead]);
            }
            if (plain_ids_.destroy(other_[i])) plain_.remove(other_[i]);
        }
    }

    std::size_t n_;
    EntityManager entities_;
    PagePool pool_;
    Database database_;
    PlainIds plain_ids_;
    PlainSea plain_;
    std::vector<Entity> ids_, other_ids_;
    std::vector<std::uint32_t> order_;
    std::vector<Entity> mine_, other_;
    BodyValues values_;
};

// --- being born --------------------------------------------------------------------------------------------------

/// Entities that are created in a frame: a few of one kind per call, each with its own values, and asleep.
class Births {
public:
    explicit Births(std::size_t n)
        : n_(n),
          entities_({.minimum_free_ids = 1, .max_entities = n, .max_death_list = 1}),
          database_(entities_, pool_),
          plain_ids_(n),
          plain_(n + 1, n),
          ids_(n),
          other_ids_(n),
          awake_(n / 64 + 1) {}

    void measure(Bench& bench) {
        const auto sum = [&] { return this->sum(); };
        const Side plain = {
            [&] { clear_plain(); },
            [&] { for_each_call([&](std::size_t begin, std::size_t end) { create_plain(begin, end); }); },
            [&] { return plain_sum(); }};
        if (bench.wants("database/create_disabled"))
            bench.compare(
                {"database/create_disabled", n_, from_100k(n_, 2.5)},
                {[&] { database_.destroy(ids_); },
                 [&] { for_each_call([&](std::size_t begin, std::size_t end) { create(begin, end); }); }, sum},
                plain);
        if (bench.wants("database/create_in_place"))
            bench.compare(
                {"database/create_in_place", n_, from_100k(n_, 2)},
                {[&] { database_.destroy(ids_); },
                 [&] { for_each_call([&](std::size_t begin, std::size_t end) { create_in_place(begin, end); }); }, sum},
                plain);
    }

private:
    static constexpr std::size_t kInCall = 90;

    template <class Visit>
    void for_each_call(Visit&& visit) const {
        for (std::size_t begin = 0; begin < n_; begin += kInCall) visit(begin, std::min(begin + kInCall, n_));
    }
    void create(std::size_t begin, std::size_t end) {
        positions_.clear(), velocities_.clear(), masses_.clear();
        for (std::size_t i = begin; i < end; ++i) {
            const Body body = body_of(i);
            positions_.push_back({body.position});
            velocities_.push_back({body.velocity});
            masses_.push_back({body.mass});
        }
        const std::span<Entity> out = std::span(ids_).subspan(begin, end - begin);
        need_ok((database_.create<Position, Velocity, Mass, Disabled<Awake>>(out, 0, positions_, velocities_, masses_,
                                                                             std::span(naps_).first(out.size()))));
    }
    void create_in_place(std::size_t begin, std::size_t end) {
        const auto fill = [&](const NewRows& rows) {
            const Column position = rows.column<&Position::value>();
            const Column velocity = rows.column<&Velocity::value>();
            const Column mass = rows.column<&Mass::value>();
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const std::size_t number = begin + rows.first() + i;
                position[i] = body_of(number).position;
                velocity[i] = body_of(number).velocity;
                mass[i] = body_of(number).mass;
            }
        };
        const std::span<Entity> out = std::span(ids_).subspan(begin, end - begin);
        need_ok((database_.create_in_place<Position, Velocity, Mass, Disabled<Awake>>(out, 0, fill)));
    }
    void clear_plain() {
        for (const Entity entity : other_ids_)
            if (entity) plain_ids_.destroy(entity) && plain_.remove(entity);
    }
    void create_plain(std::size_t begin, std::size_t end) {
        const std::span<Entity> out = std::span(other_ids_).subspan(begin, end - begin);
        plain_ids_.create_all(out);
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t row = plain_.table(PlainSea::kHeavy).num_rows;
            awake_[row / 64] &= ~(std::uint64_t(1) << row % 64);
            const Body body = body_of(i);
            plain_.add(other_ids_[i], body.position, body.velocity, body.mass);
        }
    }
    /// Excludes ids, because they differ between the two sides.
    std::uint64_t sum() {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            const DatabaseRow row = database_.find(ids_[i]);
            result += bits_of({EntityBits(i)}, database_.get<&Position::value>(row),
                              database_.get<&Velocity::value>(row), database_.get<&Mass::value>(row)) +
                      database_.has<Awake>(ids_[i]);
        }
        return result;
    }
    std::uint64_t plain_sum() {
        std::uint64_t result = 0;
        PlainSea::Columns& table = plain_.table(PlainSea::kHeavy);
        for (std::size_t i = 0; i < n_; ++i) {
            const std::size_t row = plain_.place(other_ids_[i]).row;
            result += bits_of({EntityBits(i)}, table.position[row], table.velocity[row], table.mass[row]) +
                      (awake_[row / 64] >> row % 64 & 1);
        }
        return result;
    }

    std::size_t n_;
    EntityManager entities_;
    PagePool pool_;
    Database database_;
    PlainIds plain_ids_;
    PlainSea plain_;
    std::vector<Entity> ids_, other_ids_;
    std::vector<std::uint64_t> awake_;  // a bit per plain row
    std::vector<Position> positions_;
    std::vector<Velocity> velocities_;
    std::vector<Mass> masses_;
    std::vector<Awake> naps_ = std::vector<Awake>(kInCall);
};

// --- looking up --------------------------------------------------------------------------------------------------

/// Half of the entities are light and half are heavy. They are looked up in random order, and one id in ten is stale.
void look_up(Bench& bench, Sea& sea) {
    if (!bench.wants("database/get_shuffled") && !bench.wants("database/find_and_get_shuffled") &&
        !bench.wants("database/gather_shuffled") && !bench.wants("lookup/get_shuffled"))
        return;
    sea.insert_all(true);
    sea.insert_all_plain(true);
    std::vector<Entity> half;
    for (std::size_t i = 0; i < sea.n; i += 2) half.push_back(sea.ids[i]);
    need(sea.database.remove<Mass>(half));
    for (const Entity entity : half) sea.plain.change(entity, PlainSea::kLight, 0);
    std::vector<Entity> asked(sea.n);
    for (std::size_t i = 0; i < sea.n; ++i) {
        const Entity entity = sea.ids[sea.order[i]];
        asked[i] = i % 10 == 0 ? make_entity(entity.index(), Generation(entity.generation() + 1)) : entity;
    }
    std::int64_t mine = 0, other = 0;
    const auto run = [&] {
        std::int64_t sum = 0;
        const auto position = sea.database.field<&Position::value>();
        for (const Entity entity : asked)
            if (const Vec3* found = position.find(entity)) sum += std::int64_t(found->x);
        mine = sum;
    };
    const auto run_singly = [&] {
        std::int64_t sum = 0;
        for (const Entity entity : asked)
            if (const DatabaseRow row = sea.database.find(entity))
                sum += std::int64_t(sea.database.get<&Position::value>(row).x);
        mine = sum;
    };
    const Lookup<&Position::value> position_of(*sea.database.component_directory());
    const auto run_lookup = [&] {
        std::int64_t sum = 0;
        for (const Entity entity : asked)
            if (const Vec3* found = position_of.find(entity)) sum += std::int64_t(found->x);
        mine = sum;
    };
    const auto run_plain = [&] {
        std::int64_t sum = 0;
        for (const Entity entity : asked) {
            const PlainSea::RowLocation& place = sea.plain.place(entity);
            if (sea.plain.is_current(place, entity)) sum += std::int64_t(sea.plain.position(place).x);
        }
        other = sum;
    };
    if (bench.wants("database/get_shuffled"))
        bench.compare({"database/get_shuffled", sea.n, 1.2}, {{}, run, [&] { return std::uint64_t(mine); }},
                      {{}, run_plain, [&] { return std::uint64_t(other); }});
    if (bench.wants("database/find_and_get_shuffled"))
        bench.compare({"database/find_and_get_shuffled", sea.n}, {{}, run_singly, [&] { return std::uint64_t(mine); }},
                      {{}, run_plain, [&] { return std::uint64_t(other); }});
    if (bench.wants("lookup/get_shuffled"))
        bench.compare({"lookup/get_shuffled", sea.n}, {{}, run_lookup, [&] { return std::uint64_t(mine); }},
                      {{}, run_plain, [&] { return std::uint64_t(other); }});
    std::vector<Vec3> gathered(sea.n), gathered_plain(sea.n);
    const auto sum = [](std::span<const Vec3> values) {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < values.size(); ++i) result += bits_of({EntityBits(i)}, values[i], {}, 0);
        return result;
    };
    const auto gather_plain = [&] {
        const auto one = [&](std::size_t i) {
            const PlainSea::RowLocation& place = sea.plain.place(asked[i]);
            gathered_plain[i] = sea.plain.is_current(place, asked[i]) ? sea.plain.position(place) : Vec3{};
        };
        std::size_t i = 0;
        for (; i + 2 * kAhead < asked.size(); ++i) {
            sea.plain.prefetch_place(asked[i + 2 * kAhead]);
            __builtin_prefetch(&sea.plain.position(sea.plain.place(asked[i + kAhead])));
            one(i);
        }
        for (; i < asked.size(); ++i) one(i);
    };
    if (bench.wants("database/gather_shuffled"))
        bench.compare(
            {"database/gather_shuffled", sea.n, 1.15},
            {{}, [&] { sea.database.gather<&Position::value>(asked, gathered); }, [&] { return sum(gathered); }},
            {{}, gather_plain, [&] { return sum(gathered_plain); }});
    sea.clear();
    sea.plain.clear();
}

/// Some entities fall asleep and wake up in random order, one by one or in one call. The reference sets bits in a plain
/// array.
void enable(Bench& bench, std::size_t n, const std::string& name, std::size_t num_asked, bool by_span, double target,
            std::size_t num_tables = 1) {
    if (!bench.wants(name)) return;
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    std::vector<Entity> ids(n);
    for (std::size_t table = 0; table < num_tables; ++table) {
        const std::size_t begin = n * table / num_tables, end = n * (table + 1) / num_tables;
        need_ok((database.create<Position, Velocity, Awake>(std::span(ids).subspan(begin, end - begin), Zone(table))));
    }
    PlainSea plain(n + 1, n);
    const BodyValues values(n);
    plain.add_all(PlainSea::kHeavy, ids, values.position.data(), values.velocity.data(), values.mass.data());
    std::vector<std::uint64_t> bits(n / 64 + 1, ~std::uint64_t(0));
    const std::vector<std::uint32_t> order = shuffled_numbers(n, 5);
    std::vector<Entity> asked;
    for (std::size_t i = 0; i < num_asked; ++i) asked.push_back(ids[order[i]]);
    bool on = false, on_plain = false;
    const auto count = [n](const std::uint64_t* words) {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < n; ++i) result += words[i / 64] >> i % 64 & 1;
        return result;
    };
    const auto run = [&] {
        std::uint32_t num_changed = 0;
        if (by_span)
            num_changed = on ? need(database.add(asked, Awake())).num_added : need(database.remove<Awake>(asked));
        else if (on)
            for (const Entity entity : asked) num_changed += database.add(entity, Awake())->num_added;
        else
            for (const Entity entity : asked) num_changed += *database.remove<Awake>(entity);
        on = !on;
        if (num_changed != asked.size()) fail("an entity did not change");
    };
    const auto run_plain = [&] {
        for (const Entity entity : asked) {
            const PlainSea::RowLocation& place = plain.place(entity);
            if (!plain.is_current(place, entity)) continue;
            const std::uint64_t bit = std::uint64_t(1) << place.row % 64;
            bits[place.row / 64] = on_plain ? bits[place.row / 64] | bit : bits[place.row / 64] & ~bit;
        }
        on_plain = !on_plain;
    };
    bench.compare({name, asked.size(), target},
                  {{},
                   run,
                   [&] {
                       std::uint64_t result = 0;
                       for (const Entity entity : ids) result += database.has<Awake>(entity);
                       return result;
                   }},
                  {{}, run_plain, [&] { return count(bits.data()); }});
}

}  // namespace

void measure_databases(Bench& bench) {
    for (const std::size_t n : bench.sizes(kSizes)) {
        {
            Sea sea(n);
            create(bench, sea);
            change(bench, sea);
            look_up(bench, sea);
        }
        Mortals(n).measure(bench);
        Births(n).measure(bench);
        enable(bench, n, "database/enable_one", n, false, 1.9);
        enable(bench, n, "database/enable_span", n, true, 1.9);
        enable(bench, n, "database/enable_one_1_percent", n / 100, false, 0);
        enable(bench, n, "database/enable_span_1_percent", n / 100, true, 0);
        enable(bench, n, "database/enable_one_12_tables", n / 100, false, 0, 12);
        enable(bench, n, "database/enable_span_12_tables", n / 100, true, 0, 12);
    }
}

}  // namespace shoal_bench
