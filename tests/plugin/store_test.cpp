// A store of a plugin whose memory and functions are the test's: what it shows, sets, spawns, saves, takes over and refuses.

#include "guest_world.h"

#include "plugin/store.h"
#include "shoal/base/text.h"
#include "shoal/query/text_query.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/save.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/table/detail/table.h"
#include "shoal/world/entity_blob.h"
#include "support/logged.h"
#include "support/testing.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace shoal;
using shoal_test::GuestWorld;
using shoal_test::LeakCheck;

/// The fields of the store.
struct Jar {
    float mass = 2;
    Vec3 place{};
};

constexpr float kTwo = 2;
constexpr shoal_field kFields[] = {
    {sizeof(shoal_field), SHOAL_FLOAT, "mass", nullptr, &kTwo, 0, 0, 0, 0, nullptr, 0, 0},
    {sizeof(shoal_field), SHOAL_VEC3, "place", nullptr, nullptr, 0, 0, 0, 0, nullptr, 0, 0}};

shoal_schema jar_schema(std::uint32_t version = 1) { return {sizeof(shoal_schema), version, "jar", kFields, 2, 0}; }

/// The memory of a plugin's store. `calls` names the functions that were called, with the number of entities.
struct Shelf {
    static constexpr std::uint32_t kMost = 1100;  // more than a block of rows that carry one stamp
    alignas(64) float mass[kMost];
    alignas(64) Vec3 place[kMost];
    Entity owners[kMost];
    std::uint32_t num_rows = 0, version = 0;
    void* columns[2] = {mass, place};
    shoal_entity* shown = reinterpret_cast<shoal_entity*>(owners);
    std::string calls;

    static Shelf& of(void* context) { return *static_cast<Shelf*>(context); }
    void note(std::string_view call, std::uint32_t count) { calls += concat(call, ' ', count, ' '); }
    std::string take_calls() { return std::exchange(calls, {}); }
    std::uint32_t find(shoal_entity entity) const {
        const auto at = std::find(owners, owners + num_rows, Entity{entity});
        return at == owners + num_rows ? SHOAL_NO_ROW : static_cast<std::uint32_t>(at - owners);
    }
    void swap(std::uint32_t a, std::uint32_t b) {
        std::swap(owners[a], owners[b]), std::swap(mass[a], mass[b]), std::swap(place[a], place[b]);
    }

    static int create(void* self, const shoal_entity* made, std::uint32_t count, const void* images, std::size_t stride,
                      shoal_error* error) {
        Shelf& to = of(self);
        for (std::uint32_t i = 0; i < count; ++i) {
            Jar jar;
            std::memcpy(&jar, static_cast<const char*>(images) + i * stride, sizeof jar);
            if (jar.mass < 0) return std::strcpy(error->text, "nothing weighs less than nothing"), 0;
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint32_t row = to.find(made[i]);
            if (row == SHOAL_NO_ROW) to.owners[row = to.num_rows++] = Entity{made[i]};
            Jar jar;
            std::memcpy(&jar, static_cast<const char*>(images) + i * stride, sizeof jar);
            to.mass[row] = jar.mass, to.place[row] = jar.place;
        }
        return 1;
    }
    static std::uint32_t destroy(void* self, const shoal_entity* gone, std::uint32_t count) {
        Shelf& from = of(self);
        from.note("destroy", count);
        std::uint32_t num_gone = 0;
        for (std::uint32_t i = 0; i < count; ++i)
            if (const std::uint32_t row = from.find(gone[i]); row != SHOAL_NO_ROW)
                from.swap(row, --from.num_rows), ++num_gone;
        return num_gone;
    }
    static void show(void* self, shoal_rows* rows) {
        rows->num_rows = of(self).num_rows, rows->entities = of(self).shown, rows->columns = of(self).columns;
    }
    static std::uint32_t first(void* self, shoal_entity entity) { return of(self).find(entity); }
    static void get(void* self, std::uint32_t row, std::uint32_t field, void* value) {
        if (field == 0)
            std::memcpy(value, &of(self).mass[row], sizeof(float));
        else
            std::memcpy(value, &of(self).place[row], sizeof(Vec3));
    }
    static int set(void* self, std::uint32_t row, std::uint32_t field, const void* value, shoal_error* error) {
        Shelf& to = of(self);
        if (field == 0 && *static_cast<const float*>(value) < 0)
            return std::strcpy(error->text, "nothing weighs less than nothing"), 0;
        if (field == 0)
            std::memcpy(&to.mass[row], value, sizeof(float));
        else
            std::memcpy(&to.place[row], value, sizeof(Vec3));
        return 1;
    }
    static int save(void* self, shoal_writer* writer, shoal_error*) {
        const Shelf& from = of(self);
        const shoal_host& host = plugin_host_table();
        return host.write_bytes(writer, from.owners, sizeof from.owners) &
               host.write_bytes(writer, from.mass, sizeof from.mass) &
               host.write_bytes(writer, &from.num_rows, sizeof from.num_rows);
    }
    /// Adds the saved rows to those that are there.
    static int load(void* self, const void* bytes, std::size_t, std::uint32_t version, shoal_error*) {
        Shelf& to = of(self);
        const auto* const from = static_cast<const char*>(bytes);
        std::uint32_t count = 0;
        std::memcpy(&count, from + sizeof to.owners + sizeof to.mass, sizeof count);
        std::memcpy(to.owners + to.num_rows, from, count * sizeof(Entity));
        std::memcpy(to.mass + to.num_rows, from + sizeof to.owners, count * sizeof(float));
        to.num_rows += count, to.version = version;
        return 1;
    }

    shoal_store functions() {
        shoal_store store{};
        store.size = sizeof store, store.context = this;
        store.create = create, store.destroy = destroy, store.show = show, store.first = first;
        return store;
    }
};

/// A world with such a store, and entities.
struct ShelfWorld : GuestWorld {
    Shelf shelf;
    shoal_schema schema = jar_schema();
    const shoal_component* type = nullptr;

    explicit ShelfWorld(const shoal_store& functions = {}, std::uint32_t version = 1) : schema(jar_schema(version)) {
        shoal_store store = functions.size == 0 ? shelf.functions() : functions;
        store.context = &shelf;
        type = table.add_store(&plugin, &schema, &store, &error);
        EXPECT_NE(type, nullptr) << error.text;
    }
    ~ShelfWorld() { plugin.remove_calls(); }
    ShelfWorld(const ShelfWorld&) = delete;
    ShelfWorld& operator=(const ShelfWorld&) = delete;

    Store& store() { return *world.directory().find(ComponentId("jar")); }
    /// Makes entities whose jars weigh 0, 1, 2, ...
    std::vector<Entity> make(std::uint32_t count) {
        std::vector<Entity> made(count);
        std::vector<Jar> jars(count);
        for (std::uint32_t i = 0; i < count; ++i) jars[i] = {float(i), {float(i), 2, 3}};
        EXPECT_TRUE(entities.create(made));
        EXPECT_TRUE(add(made, jars)) << error.text;
        return made;
    }
    bool add(const std::vector<Entity>& to, const std::vector<Jar>& jars) {
        return table.add_rows(&plugin, type, &to[0].id, static_cast<std::uint32_t>(to.size()), jars.data(), sizeof(Jar),
                              &error) != 0;
    }
    /// The masses by name, after a look whether queries find the same rows.
    std::string masses(const std::vector<Entity>& of) {
        std::string text;
        const OwnedRows& rows = *store().find_columns(*store().schemas()[0]).rows;
        for (const Entity entity : of) {
            const Result<float> mass = world.get<float>(entity, "jar.mass");
            EXPECT_EQ(rows.find(entity), mass ? shelf.find(entity.id) : kNilRow);
            text += mass ? concat(*mass, ' ') : "- ";
        }
        return text;
    }
    /// Whether the rows of a block carry the stamp of now, after the world has settled and something was done.
    template <class Change>
    bool stamps(Change&& change, std::uint32_t block = 0) {
        world.settle();
        change();
        return store().tables()[0]->placed_stamp(block) == world.stamp();
    }
};

TEST(PluginStore, rows_that_are_shown_wrongly_are_none_until_they_are_right_and_then_count_as_written) {
    const LeakCheck leaks;
    const shoal_test::Logged log;
    ShelfWorld test;
    const std::vector<Entity> made = test.make(3);
    const auto moved = [&] { return test.table.rows_moved(&test.plugin, test.type, &test.error) != 0; };
    alignas(64) static float odd[Shelf::kMost + 1];
    Shelf& shelf = test.shelf;
    void* null_column[] = {shelf.mass, nullptr};
    void* odd_column[] = {odd + 8, shelf.place};  // on a multiple of 32 bytes
    const auto is_refused = [&](std::string_view why) {
        EXPECT_FALSE(test.stamps([&] { EXPECT_FALSE(moved()); })) << why;
        EXPECT_EQ(test.take_error(), concat("the store of \"jar\" of plugin \"guest\": ", why));
        ASSERT_FALSE(log.lines.empty());
        EXPECT_NE(log.lines.back().find(why), std::string::npos) << log.lines.back();
        EXPECT_EQ(test.store().tables()[0]->num_rows(), 0u) << why;
        EXPECT_EQ(test.masses(made), "- - - ") << why;
        shelf.columns[0] = shelf.mass, shelf.columns[1] = shelf.place;
        shelf.shown = reinterpret_cast<shoal_entity*>(shelf.owners);
        EXPECT_TRUE(test.stamps([&] { EXPECT_TRUE(moved()); })) << why;
        EXPECT_EQ(test.masses(made), "0 1 2 ") << why;
    };
    shelf.shown = nullptr;
    is_refused("it shows rows without entities");
    shelf.columns[1] = null_column[1];
    is_refused("it shows rows, but column 1 is NULL");
    shelf.columns[0] = odd_column[0];
    is_refused("column 0 does not begin on a multiple of 64 bytes");
    shelf.owners[2] = made[0];
    EXPECT_FALSE(moved());
    EXPECT_NE(test.take_error().find("rows 0 and 2 have one owner"), std::string::npos);
    EXPECT_EQ(test.masses(made), "- - - ");
    shelf.owners[2] = made[2];
    EXPECT_TRUE(moved());
    EXPECT_EQ(test.masses(made), "0 1 2 ") << "though they were there before others were refused";
    // Values may have changed in rows that are where they were.
    shelf.mass[1] = 1;
    EXPECT_TRUE(test.stamps([&] { EXPECT_TRUE(moved()); }));
    // Rows that have moved are found where they are.
    shelf.swap(0, 2);
    EXPECT_TRUE(moved());
    EXPECT_EQ(test.masses(made), "0 1 2 ");
    shelf.num_rows = 0, shelf.shown = nullptr, shelf.columns[0] = nullptr;
    EXPECT_TRUE(moved()) << "no rows need no places";
    const shoal_component other{ComponentId("pot"), "pot"};
    EXPECT_EQ(test.table.rows_moved(&test.plugin, &other, &test.error), 0);
    EXPECT_EQ(test.take_error(), "plugin \"guest\" has no store of \"pot\"");
}

TEST(PluginStore, a_part_of_a_field_is_set_alone_and_only_what_was_set_is_stamped) {
    for (const bool has_columns : {true, false}) {
        SCOPED_TRACE(has_columns);
        Shelf any;
        shoal_store functions = any.functions();
        functions.set = Shelf::set;
        if (!has_columns) functions.get = Shelf::get;
        ShelfWorld test(functions);
        const std::vector<Entity> made = test.make(3);
        World& world = test.world;
        EXPECT_TRUE(test.stamps([&] { EXPECT_TRUE(world.set(made[1], "jar.place.y", 7.0f)); }));
        EXPECT_EQ(*world.get<Vec3>(made[1], "jar.place"), (Vec3{1, 7, 3}));
        EXPECT_EQ(*world.get<float>(made[1], "jar.place.y"), 7);
        EXPECT_EQ(*world.get<float>(made[1], "jar.place.z"), 3);
        EXPECT_EQ(*world.get<Vec3>(made[2], "jar.place"), (Vec3{2, 2, 3}));
        EXPECT_FALSE(test.stamps(
            [&] { EXPECT_EQ(world.set(made[1], "jar.mass", -1.0f).message(), "nothing weighs less than nothing"); }));
        EXPECT_EQ(test.masses(made), "0 1 2 ");
    }
    Shelf any;
    shoal_store functions = any.functions();
    functions.get = Shelf::get;
    ShelfWorld test(functions);
    EXPECT_EQ(test.world.set(test.make(2)[1], "jar.mass", 3.0f).message(),
              "plugin \"guest\" does not let fields of \"jar\" be set");
}

TEST(PluginStore, values_are_added_to_those_it_takes_and_default_ones_to_all) {
    ShelfWorld test;
    const std::vector<Entity> made = test.make(2);
    std::vector<Entity> more(3);
    ASSERT_TRUE(test.entities.create(more));
    Store& store = test.store();
    const Schema& schema = *store.schemas()[0];
    const Result<std::uint32_t> added = store.add_values(schema, more, {});
    ASSERT_TRUE(added) << added.message();
    EXPECT_EQ(*added, 3u);
    EXPECT_EQ(test.masses(more), "2 2 2 ") << "one image for all";
    ASSERT_TRUE(test.world.set(more[0], "jar.mass", 5.0f));
    EXPECT_EQ(*store.add_values(schema, {&more[1], 2}, {}), 2u);
    EXPECT_FALSE(test.add({made[0], more[1]}, {{9, {}}, {-1, {}}}));
    EXPECT_EQ(test.take_error(), "nothing weighs less than nothing");
    EXPECT_EQ(test.masses(made) + test.masses(more), "0 1 5 2 2 ");
    ComponentDefinition other{.name = "jar"};
    other.fields.push_back({.name = "mass", .type = FieldType::kDouble});
    const Result<std::uint32_t> refused = store.add_values(*Schema::make(std::move(other)), made, {});
    EXPECT_NE(refused.message().find("the rows are of "), std::string_view::npos) << refused.message();
    EXPECT_EQ(test.masses(made), "0 1 ");
    EXPECT_EQ(test.table.add_rows(&test.plugin, test.type, &made[0].id, 2, nullptr, 8 * sizeof(Jar), &test.error), 1);
    EXPECT_EQ(test.masses(made), "2 2 ") << "one image for all, whatever is said of others";
    // Each row that gets a value is stamped.
    ShelfWorld large;
    const std::vector<Entity> all = large.make(Shelf::kMost);
    const auto change = [&] { EXPECT_TRUE(large.add({all.front(), all.back()}, {{7, {}}, {8, {}}})); };
    EXPECT_TRUE(large.stamps(change, 0) && large.stamps(change, 1));
    // A store that takes only some of what it is given.
    Shelf any;
    shoal_store functions = any.functions();
    functions.create = [](void* self, const shoal_entity* entities, std::uint32_t count, const void* images,
                          std::size_t stride, shoal_error* error) {
        return Shelf::create(self, entities, std::min(count, 1u), images, stride, error);
    };
    ShelfWorld picky(functions);
    std::vector<Entity> three(3);
    ASSERT_TRUE(picky.entities.create(three));
    EXPECT_EQ(*picky.store().add_values(schema, three, {}), 1u);
    EXPECT_EQ(picky.masses(three), "2 - - ");
}

TEST(PluginStore, is_told_of_its_dead_alone_and_of_each_once) {
    for (const bool has_function : {false, true}) {
        SCOPED_TRACE(has_function);
        Shelf any;
        shoal_store functions = any.functions();
        if (has_function)
            functions.drop_dead = [](void* self, const shoal_entity* dead, std::uint32_t count) {
                std::string seen;
                for (std::uint32_t i = 0; i < count; ++i) seen += concat(Shelf::of(self).find(dead[i]), ' ');
                Shelf::destroy(self, dead, count);
                Shelf::of(self).calls += concat("of rows ", seen);
            };
        ShelfWorld test(functions);
        const auto calls = [&](std::string_view destroyed, std::string_view rows) {
            return has_function ? concat(destroyed, "of rows ", rows) : std::string(destroyed);
        };
        std::vector<Entity> made = test.make(4), others(4);
        ASSERT_TRUE(test.entities.create(others));
        test.entities.destroy(std::span(others).first(2));
        test.world.settle();
        EXPECT_EQ(test.shelf.take_calls(), "") << "these had no jars";
        const Entity mixed[] = {others[2], made[0], others[3], made[1]};
        test.entities.destroy(mixed);
        test.world.settle();
        EXPECT_EQ(test.shelf.take_calls(), calls("destroy 2 ", "0 1 "));
        test.world.settle();
        EXPECT_EQ(test.shelf.take_calls(), "");
        EXPECT_EQ(test.masses(made), "- - 2 3 ");
        std::vector<Entity> burst(100, made[2]);
        ASSERT_TRUE(test.entities.create(std::span(burst).first(99)));
        test.entities.destroy(burst);
        test.world.settle();
        EXPECT_EQ(test.shelf.take_calls(), calls("destroy 1 ", "1 ")) << "more than are listed";
        EXPECT_EQ(test.masses(made), "- - - 3 ");
        EXPECT_EQ(test.table.remove_rows(&test.plugin, test.type, &made[2].id, 2, &test.error), 1);
        EXPECT_EQ(test.masses(made), "- - - - ");
    }
}

/// Spawns jars of some masses, each in an entity of its own. The first is the parent of the others.
Status spawn_jars(ShelfWorld& test, std::initializer_list<float> masses) {
    BlobWriter writer;
    const std::uint32_t type = *writer.add_component_type(*test.store().schemas()[0]);
    std::uint32_t root = kNoBlobEntity;
    for (const float mass : masses) {
        const std::uint32_t entity = writer.add_entity({.parent = root});
        if (root == kNoBlobEntity) root = entity;
        const Jar jar{mass, {}};
        writer.add_component(type, entity, std::as_bytes(std::span(&jar, 1)));
    }
    return test.world.spawn(*Blob::load(*writer.write()), {}).status();
}

TEST(PluginStore, spawns_by_its_own_function_and_then_looks_at_what_was_spawned_and_at_nothing_else) {
    const LeakCheck leaks;
    Shelf any;
    shoal_store functions = any.functions();
    functions.spawn = [](void* self, const shoal_spawn* spawn, shoal_error* error) {
        Shelf::of(self).note("spawn", spawn->num_components);
        return Shelf::create(self, spawn->owners, spawn->num_components, spawn->images, spawn->image_bytes, error);
    };
    functions.set_parents = [](void* self, const shoal_entity*, const shoal_entity*, std::uint32_t count) {
        Shelf::of(self).note("parents", count);
    };
    functions.after_spawn = [](void* self, const shoal_entity* entities, std::uint32_t count, shoal_error* error) {
        Shelf& shelf = Shelf::of(self);
        shelf.note("after", count);
        if (shelf.mass[shelf.find(entities[0])] > 90) return std::strcpy(error->text, "too heavy"), 0;
        shelf.swap(0, shelf.num_rows - 1);  // rows may move
        return 1;
    };
    ShelfWorld test(functions);
    ASSERT_TRUE(spawn_jars(test, {1, 2, 3}));
    EXPECT_EQ(test.shelf.take_calls(), "spawn 3 parents 2 after 3 ");
    const auto all = [&] {
        std::vector<Entity> owners(test.shelf.owners, test.shelf.owners + test.shelf.num_rows);
        const OwnedRows& rows = *test.store().find_columns(*test.store().schemas()[0]).rows;
        for (std::uint32_t row = 0; row < owners.size(); ++row) EXPECT_EQ(rows.find(owners[row]), row);
        std::sort(owners.begin(), owners.end());
        return test.masses(owners);
    };
    EXPECT_EQ(all(), "1 2 3 ") << "each where the function has put it";
    ASSERT_TRUE(spawn_jars(test, {4}));
    EXPECT_EQ(test.shelf.take_calls(), "spawn 1 after 1 ") << "the first ones are not spawned again";
    EXPECT_EQ(all(), "1 2 3 4 ");
    EXPECT_NE(spawn_jars(test, {95, 5}).message().find("too heavy"), std::string_view::npos);
    EXPECT_EQ(test.shelf.take_calls(), "spawn 2 parents 1 after 2 destroy 2 ");
    EXPECT_EQ(all(), "1 2 3 4 ");
    EXPECT_NE(spawn_jars(test, {6, -1}).message().find("less than nothing"), std::string_view::npos);
    EXPECT_EQ(test.shelf.take_calls().find("after"), std::string::npos) << "none was spawned";
    ASSERT_TRUE(spawn_jars(test, {7}));
    EXPECT_EQ(test.shelf.take_calls(), "spawn 1 after 1 ") << "those that were refused are forgotten";
    EXPECT_EQ(all(), "1 2 3 4 7 ");
}

TEST(PluginStore, tells_how_much_memory_rows_and_indices_take) {
    const auto statistics_of = [](void (*memory)(void*, shoal_memory*)) {
        Shelf any;
        shoal_store functions = any.functions();
        functions.memory = memory;
        ShelfWorld test(functions);
        test.make(3);
        StoreStatistics statistics;
        EXPECT_EQ(test.store().statistics({&statistics, 1}), 1u);
        return statistics;
    };
    const std::size_t used = 3 * (sizeof(Entity) + sizeof(Jar));
    const StoreStatistics plain = statistics_of(nullptr);
    EXPECT_EQ(plain.num_rows, 3u);
    EXPECT_EQ(plain.rows.used_bytes, used);
    EXPECT_EQ(plain.rows.committed_bytes, used);
    const StoreStatistics large = statistics_of([](void*, shoal_memory* memory) {
        memory->row_bytes = 5000;
        memory->index_bytes = 700;
    });
    EXPECT_EQ(large.rows.used_bytes, used);
    EXPECT_EQ(large.rows.committed_bytes, 5000u);
    EXPECT_EQ(large.rows.reserved_bytes, 5000u);
    EXPECT_EQ(large.index.used_bytes, plain.index.used_bytes + 700);
    EXPECT_EQ(large.index.committed_bytes, plain.index.committed_bytes + 700);
    EXPECT_EQ(large.index.reserved_bytes, plain.index.reserved_bytes + 700);
    const StoreStatistics small = statistics_of([](void*, shoal_memory* memory) { memory->row_bytes = 8; });
    EXPECT_EQ(small.rows.used_bytes, 8u) << "no more than there is";
}

TEST(PluginStore, a_state_replaces_its_rows_and_names_the_version_of_the_fields) {
    const LeakCheck leaks;
    Shelf any;
    shoal_store functions = any.functions();
    functions.save = Shelf::save, functions.load = Shelf::load;
    ShelfWorld test(functions, 3);
    const std::vector<Entity> made = test.make(3);
    test.world.settle();
    Snapshot state;
    ASSERT_TRUE(save(test.world, state));
    const std::vector<Entity> later = test.make(2);
    ASSERT_TRUE(test.world.set(made[1], "jar.mass", 9.0f));
    test.world.settle();
    ASSERT_TRUE(load(test.world, state));
    EXPECT_EQ(test.shelf.version, 3u);
    EXPECT_EQ(test.shelf.num_rows, 3u) << "those from after it are gone";
    EXPECT_EQ(test.masses(made) + test.masses(later), "0 1 2 - - ");
    ShelfWorld newer(functions, 4);
    const Status loaded = load(newer.world, state);
    ASSERT_TRUE(loaded) << loaded.message();
    EXPECT_EQ(newer.shelf.version, 3u) << "that of what was saved";
    EXPECT_EQ(newer.masses(made), "0 1 2 ");
    ShelfWorld unsaved;
    Snapshot none;
    EXPECT_NE(save(unsaved.world, none).message().find("the plugin's store of \"jar\" has no functions save and load"),
              std::string_view::npos);
}

/// The schema of jars in a level that was written before the plugin: without places, and with a name.
Schema level_schema() {
    ComponentDefinition definition{.name = "jar"};
    definition.fields.push_back({.name = "label", .type = FieldType::kUint32});
    definition.fields.push_back({.name = "mass", .type = FieldType::kDouble});
    return std::move(*Schema::make(std::move(definition)));
}

TEST(PluginStore, takes_over_the_rows_of_a_level_unless_it_is_late_or_refuses_them_or_others_name_them) {
    const LeakCheck leaks;
    GuestWorld guest;
    Shelf shelf;
    std::vector<Entity> made(3);
    ASSERT_TRUE(guest.entities.create(made));
    ComponentManager& manager = **guest.world.manager(level_schema());
    ASSERT_TRUE(manager.add_values(level_schema(), made, {}));
    for (std::size_t i = 0; i < made.size(); ++i)
        ASSERT_TRUE(guest.world.set(made[i], "jar.mass", double(i)) && guest.world.set(made[i], "jar.label", 7u));
    const shoal_schema schema = jar_schema();
    const shoal_store store = shelf.functions();
    const auto add_store = [&] {
        return guest.table.add_store(&guest.plugin, &schema, &store, &guest.error) != nullptr;
    };
    const auto is_as_before = [&] {
        EXPECT_EQ(guest.world.directory().find(ComponentId("jar")), &manager);
        for (std::size_t i = 0; i < made.size(); ++i) {
            EXPECT_EQ(*guest.world.get<std::uint32_t>(made[i], "jar.label"), 7u);
            EXPECT_EQ(*guest.world.get<double>(made[i], "jar.mass"), double(i));
        }
    };
    EXPECT_FALSE(add_store());
    EXPECT_NE(guest.take_error().find("a store of the plugin cannot keep it too"), std::string::npos);
    is_as_before();

    guest.plugin.is_loading = true;
    shoal_world other(guest.host, "other");
    ASSERT_NE(guest.table.make_query(&other, "jar.mass > 1", nullptr, 0, &guest.error), nullptr);
    EXPECT_FALSE(add_store());
    EXPECT_NE(guest.take_error().find("is named in queries or observers of plugin \"other\""), std::string::npos);
    other.remove_calls();
    is_as_before();

    ASSERT_TRUE(guest.world.set(made[2], "jar.mass", -1.0));
    EXPECT_FALSE(add_store());
    EXPECT_NE(guest.take_error().find("nothing weighs less than nothing"), std::string::npos);
    EXPECT_TRUE(guest.plugin.changes.empty()) << "it is undone, and will not be ended again";
    ASSERT_TRUE(guest.world.set(made[2], "jar.mass", 2.0));
    is_as_before();

    for (const bool keeps : {false, true}) {
        SCOPED_TRACE(keeps);
        guest.plugin.is_loading = true;
        ASSERT_TRUE(add_store()) << guest.error.text;
        EXPECT_NE(guest.world.directory().find(ComponentId("jar")), &manager);
        for (std::size_t i = 0; i < made.size(); ++i) {
            EXPECT_EQ(*guest.world.get<float>(made[i], "jar.mass"), float(i));
            EXPECT_EQ(*guest.world.get<Vec3>(made[i], "jar.place"), Vec3{});
        }
        if (!keeps) guest.plugin.remove_calls();  // as for a load that fails
        guest.plugin.finish_load(keeps);
        if (!keeps) is_as_before();
    }
    EXPECT_EQ(manager.table().num_rows(), 0u) << "the store has them";
    guest.plugin.remove_calls();
    EXPECT_EQ(guest.world.directory().find(ComponentId("jar")), nullptr);
}

}  // namespace
