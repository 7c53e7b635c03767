// The functions that plugins call, called as a plugin calls them.

#include "guest_world.h"

#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/components/tag.h"
#include "shoal/document/json.h"
#include "shoal/query/text_query.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/library.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/transform/transform.h"
#include "shoal/world/entity_blob.h"
#include "support/testing.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace shoal;
using shoal_test::GuestWorld;
using shoal_test::LeakCheck;

struct Crate {
    float mass = 3;
    Vec3 place{};
};
SHOAL_COMPONENT(Crate, mass, (place, split))

/// A compiler without entities and fields.
struct NoReferences final : CompileHost {
    std::uint32_t find_entity(std::string_view) const override { return kNoBlobEntity; }
    bool read_field(Node) override { return false; }
    bool read_value(const Field&, Node, std::byte*) override { return false; }
};

constexpr shoal_field kBox[] = {{sizeof(shoal_field), SHOAL_FLOAT, "mass", nullptr, nullptr, 0, 0, 0, 0, NULL, 0, 0}};

shoal_schema box(std::uint32_t num_fields = 1) { return {sizeof(shoal_schema), 1, "box", kBox, num_fields, 0}; }

/// What is logged while it lives: calls without an error say there why they did nothing.
class LogLines {
public:
    LogLines() {
        set_log_hook([](void* to, LogLevel, std::string_view text) { *static_cast<std::string*>(to) = text; }, &last_);
    }
    ~LogLines() { set_log_hook(nullptr, nullptr); }
    LogLines(const LogLines&) = delete;
    LogLines& operator=(const LogLines&) = delete;
    std::string take() { return std::exchange(last_, {}); }

private:
    std::string last_;
};

TEST(PluginHost, lines_of_the_log_have_the_name_of_the_plugin_and_a_level_that_there_is) {
    GuestWorld guest;
    std::string told;
    set_log_hook(
        [](void* to, LogLevel level, std::string_view text) {
            *static_cast<std::string*>(to) += concat(static_cast<int>(level), ' ', text, '\n');
        },
        &told);
    for (const std::uint32_t level : {std::uint32_t(SHOAL_LOG_NOTE), std::uint32_t(SHOAL_LOG_ERROR), 100u})
        guest.table.log(&guest.plugin, level, "hm");
    set_log_hook(nullptr, nullptr);
    const int note = static_cast<int>(LogLevel::kNote), error = static_cast<int>(LogLevel::kError);
    EXPECT_EQ(told, concat(note, " guest: hm\n", error, " guest: hm\n", error, " guest: hm\n"));
}

TEST(PluginHost, an_error_that_is_longer_than_the_room_for_it_is_cut) {
    struct {
        shoal_error error;
        char behind;
    } given{{sizeof(shoal_error), {}}, 7};
    EXPECT_EQ(refuse(&given.error, std::string(1'000, 'x')), 0);
    EXPECT_EQ(std::string(given.error.text), std::string(507, 'x'));
    EXPECT_EQ(given.behind, 7);
    given.error.size = 12;  // of a plugin with less room
    EXPECT_EQ(refuse(&given.error, "abcdefghijkl"), 0);
    EXPECT_EQ(std::string(given.error.text), "abcdefg");
    EXPECT_EQ(refuse(nullptr, "nobody reads it"), 0);
}

TEST(PluginHost, a_type_of_the_program_is_used_as_it_is_and_another_one_refused) {
    GuestWorld guest;
    guest.world.manager<Crate>();
    const shoal_field same[] = {
        {sizeof(shoal_field), SHOAL_FLOAT, "mass", nullptr, &schema_of<Crate>().default_image()[0], 0, 0, 0, 0, NULL, 0,
         0},
        {sizeof(shoal_field), SHOAL_VEC3, "place", nullptr, nullptr, 0, 0, SHOAL_SPLIT, 0, NULL, 0, 0}};
    const shoal_schema crate{sizeof crate, 1, "crate", same, 2, 0};
    EXPECT_NE(guest.table.declare_component(&guest.plugin, &crate, &guest.error), nullptr) << guest.error.text;
    const shoal_schema shorter{sizeof shorter, 1, "crate", same, 1, 0};
    EXPECT_EQ(guest.table.declare_component(&guest.plugin, &shorter, &guest.error), nullptr);
    EXPECT_NE(guest.take_error().find("\"crate\" has other fields now"), std::string::npos);
}

TEST(PluginHost, a_declaration_gives_units_layouts_and_defaults_of_arrays_to_the_fields) {
    GuestWorld guest;
    const float defaults[] = {1, 2, 3};
    const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_FLOAT, "loads", "kg", defaults, 3, 0, 0, 0, nullptr, 0, 0},
        {sizeof(shoal_field), SHOAL_FLOAT, "speed", "m/s", &defaults[1], 0, 0, 0, 0, nullptr, 0, 0}};
    const shoal_schema cart{sizeof cart, 1, "cart", fields, 2, SHOAL_WHOLE};
    const shoal_component* const type = guest.table.declare_component(&guest.plugin, &cart, &guest.error);
    ASSERT_NE(type, nullptr) << guest.error.text;
    const Schema& schema = *guest.world.directory().find(ComponentId("cart"))->schemas()[0];
    EXPECT_EQ(schema.fields()[0].unit, "kg");
    EXPECT_EQ(schema.fields()[1].unit, "m/s");
    EXPECT_TRUE(schema.whole());
    std::vector<Entity> made(2);
    ASSERT_TRUE(guest.entities.create(made));
    ASSERT_EQ(guest.table.add_rows(&guest.plugin, type, &made[0].id, 2, nullptr, 0, &guest.error), 1);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(*guest.world.get<float>(made[1], concat("cart.loads[", i, "]")), defaults[i]);
    // Fields of one column are shown where they are in it.
    const char* const columns[] = {"cart.speed", "cart.loads[2]"};
    shoal_query* const query = guest.table.make_query(&guest.plugin, "&cart", columns, 2, &guest.error);
    ASSERT_NE(query, nullptr) << guest.error.text;
    const auto move = [](void*, const shoal_pass*, const shoal_batch* batch) {
        for (std::uint32_t i = 0; i < batch->num_rows; ++i) {
            EXPECT_EQ(*static_cast<const float*>(shoal_read(batch->columns[1], i)), 3);
            *static_cast<float*>(shoal_write(batch->columns[0], i)) += 4 + static_cast<float>(i);
        }
    };
    EXPECT_EQ(guest.table.for_each_batch(&guest.plugin, query, 0, move, nullptr, &guest.error), 1);
    EXPECT_EQ(*guest.world.get<float>(made[0], "cart.speed"), 6);
    EXPECT_EQ(*guest.world.get<float>(made[1], "cart.speed"), 7);
    EXPECT_EQ(*guest.world.get<float>(made[1], "cart.loads[0]"), 1);
    const shoal_schema tale{sizeof tale, 1, "tale", fields, 2, SHOAL_WITHOUT_ROWS};
    EXPECT_NE(guest.table.declare_component(&guest.plugin, &tale, &guest.error), nullptr);
    EXPECT_FALSE(guest.world.directory().find_kept(ComponentId("tale"))) << "nobody keeps rows of it";
    guest.plugin.remove_calls();
}

TEST(PluginHost, columns_of_all_batches_are_those_of_their_rows_and_of_a_parent_if_they_say_so) {
    GuestWorld guest;
    Manager<Crate>& crates = guest.world.manager<Crate>();
    std::vector<Entity> made(20'000);
    ASSERT_TRUE(guest.entities.create(made) && crates.add(made).ok());
    const char* const columns[] = {"crate.mass", "crate.place.z"};
    shoal_query* const query = guest.table.make_query(&guest.plugin, "&crate", columns, 2, &guest.error);
    ASSERT_NE(query, nullptr) << guest.error.text;
    const auto number = [](void* context, const shoal_pass*, const shoal_batch* batch) {
        ++*static_cast<int*>(context);
        ASSERT_TRUE(shoal_is_array(batch->columns[0], sizeof(float)) &&
                    shoal_is_array(batch->columns[1], sizeof(float)));
        for (std::uint32_t i = 0; i < batch->num_rows; ++i) {
            static_cast<float*>(batch->columns[0]->first_written)[i] = static_cast<float>(batch->entities[i] & 0xFFFF);
            static_cast<float*>(batch->columns[1]->first_written)[i] += 1;
        }
    };
    int num_batches = 0;
    ASSERT_EQ(guest.table.for_each_batch(&guest.plugin, query, 1, number, &num_batches, &guest.error), 1);
    EXPECT_GT(num_batches, 1);
    for (const Entity entity : made) {
        const Instance at = crates.instance(entity);
        ASSERT_EQ(crates.get<&Crate::mass>(at), static_cast<float>(entity.id & 0xFFFF));
        ASSERT_EQ(crates.get<&Crate::place>(at).z, 1);
    }
    guest.world.transforms();
    Commands& commands = guest.world.commands();
    for (int i = 0; i < 3; ++i) commands.add(made[static_cast<std::size_t>(i)], Transform{});
    commands.add(made[1], ChildOf{made[0]}), commands.add(made[2], ChildOf{made[1]});
    guest.world.settle();
    const char* const both[] = {"^crate.mass", "crate.mass"};
    shoal_query* const family =
        guest.table.make_query(&guest.plugin, "^crate, crate, transform, child_of", both, 2, &guest.error);
    ASSERT_NE(family, nullptr) << guest.error.text;
    std::string seen;
    const auto note = [](void* context, const shoal_pass*, const shoal_batch* batch) {
        for (std::uint32_t i = 0; i < batch->num_rows; ++i) {
            const auto* const of_parent = static_cast<const float*>(shoal_read(batch->columns[0], i));
            const auto* const own = static_cast<const float*>(shoal_read(batch->columns[1], i));
            *static_cast<std::string*>(context) += concat(of_parent == nullptr ? -1 : *of_parent, '>', *own, ' ');
        }
    };
    ASSERT_EQ(guest.table.for_each_batch(&guest.plugin, family, 0, note, &seen, &guest.error), 1);
    const auto mass_of = [&](int i) { return made[static_cast<std::size_t>(i)].id & 0xFFFF; };
    EXPECT_EQ(seen, concat(mass_of(0), '>', mass_of(1), ' ', mass_of(1), '>', mass_of(2), ' '));
    guest.plugin.remove_calls();
}

TEST(PluginHost, a_definition_is_given_once_and_one_that_is_refused_is_not_kept) {
    GuestWorld guest;
    const shoal_schema schema = box();
    const shoal_component* const component = guest.table.declare_component(&guest.plugin, &schema, &guest.error);
    ASSERT_NE(component, nullptr);
    shoal_component_definition given{};
    given.size = sizeof given, given.spawn_order = 5;
    given.spawn = [](void*, const shoal_spawn*, shoal_error*) { return 1; };
    given.compile = [](void*, const shoal_compile*) { return 1; };
    given.num_migrations = 1;
    const auto define = [&](shoal_world& plugin) {
        return guest.table.define_component(&plugin, component, &given, &guest.error) != 0;
    };
    EXPECT_FALSE(define(guest.plugin));
    EXPECT_EQ(guest.take_error(), "component \"box\": migrations are counted, but the list is NULL");
    {
        ComponentRegistry registry;
        EXPECT_EQ(guest.world.registry().find("box"), nullptr);
        ASSERT_EQ(guest.plugin.types.size(), 1u);
        ASSERT_TRUE(guest.plugin.types[0]->add_to(registry));
        EXPECT_EQ(registry.find("box")->compile, nullptr) << "tools do not get it either";
        EXPECT_EQ(registry.find("box")->spawn_order, 0);
    }
    given.num_migrations = 0;
    shoal_world other(guest.host, "other");
    EXPECT_FALSE(define(other));
    EXPECT_EQ(guest.take_error(), "component \"box\": the plugin has not declared it; only its own types are defined");
    const std::string taken =
        "component \"box\": the program, or another plugin, has said what to do with it, so that this one cannot";
    // What the program has said, in any of the ways, and what a plugin says of one that the program knows.
    const auto program_says = [&](auto&& say) {
        ASSERT_TRUE(guest.world.registry().add(*guest.world.directory().find(ComponentId("box"))->schemas()[0]));
        say(guest.world.registry());
        EXPECT_FALSE(define(guest.plugin));
        EXPECT_EQ(guest.take_error(), taken);
        guest.world.registry().remove("box");
    };
    program_says(
        [](ComponentRegistry& registry) { ASSERT_TRUE(registry.set_compile_function("box", nullptr, nullptr, 7)); });
    program_says([&](ComponentRegistry& registry) {
        registry.migrations(*registry.find("box")->schema).from(1).remove("weight");
    });
    ASSERT_TRUE(guest.world.registry().add(*guest.world.directory().find(ComponentId("box"))->schemas()[0]));
    given.compile = nullptr;
    ASSERT_TRUE(define(guest.plugin)) << guest.error.text;
    EXPECT_EQ(guest.world.registry().find("box")->spawn_order, 5);
    EXPECT_TRUE(guest.world.registry().find("box")->has_spawn_function());
    EXPECT_FALSE(define(guest.plugin));
    EXPECT_EQ(guest.take_error(), "component \"box\": it is defined already; give all of it in one call");
    guest.plugin.remove_calls();
    ASSERT_NE(guest.world.registry().find("box"), nullptr) << "the program's entry stays";
    EXPECT_FALSE(guest.world.registry().find("box")->has_spawn_function());
    EXPECT_EQ(guest.world.registry().find("box")->spawn_order, 0);
    // Migrations are for types that nobody else knows, and compile functions for the fields that they were written for.
    const shoal_component* const known = guest.table.declare_component(&guest.plugin, &schema, &guest.error);
    ASSERT_EQ(known, component);
    const shoal_migration step{sizeof step, 1, kBox, nullptr, 1, 0, nullptr};
    given.migrations = &step, given.num_migrations = 1;
    EXPECT_FALSE(define(guest.plugin));
    EXPECT_EQ(guest.take_error(), taken);
    given.migrations = nullptr, given.num_migrations = 0;
    guest.world.registry().remove("box");
    for (const bool compiles : {false, true}) {
        if (compiles) given.compile = [](void*, const shoal_compile*) { return 1; };
        ASSERT_EQ(guest.table.declare_component(&guest.plugin, &schema, &guest.error), component);
        ASSERT_TRUE(define(guest.plugin)) << guest.error.text;
        ComponentRegistry other_fields;
        ASSERT_TRUE(other_fields.add(*Schema::make({.name = "box"})));
        EXPECT_EQ(guest.plugin.types[0]->add_to(other_fields).ok(), !compiles);
        EXPECT_EQ(other_fields.find("box")->schema->fields().size(), 0u);
        guest.plugin.remove_calls();
    }
    given.compile = nullptr;
    // One whose entry is the plugin's goes with it, and may come again.
    for (int i = 0; i < 2; ++i) {
        const shoal_component* const again = guest.table.declare_component(&guest.plugin, &schema, &guest.error);
        ASSERT_EQ(again, component);
        ASSERT_TRUE(define(guest.plugin)) << guest.error.text;
        guest.plugin.remove_calls();
        EXPECT_EQ(guest.world.registry().find("box"), nullptr);
    }
}

TEST(PluginHost, a_bad_declaration_says_what_is_wrong) {
    GuestWorld guest;
    const auto declare = [&](const shoal_schema& schema) {
        EXPECT_EQ(guest.table.declare_component(&guest.plugin, &schema, &guest.error), nullptr);
        return guest.take_error();
    };
    shoal_schema schema = box();
    schema.name = nullptr;
    EXPECT_EQ(declare(schema), "a component type has no name");
    schema = box();
    schema.flags = 64;
    EXPECT_EQ(declare(schema), "component \"box\": it has flags that this program does not know");
    schema = box();
    schema.fields = nullptr;
    EXPECT_EQ(declare(schema), "component \"box\": it has fields, but no list of them");
    shoal_field field = kBox[0];
    field.size = 8;
    schema = box();
    schema.fields = &field;
    EXPECT_EQ(declare(schema), "component \"box\": field 0 does not begin with sizeof(shoal_field)");
    const shoal_field twice[] = {kBox[0], kBox[0]};
    schema = box(2);
    schema.fields = twice;
    EXPECT_NE(declare(schema).find("mass"), std::string::npos);
    std::vector<std::string> names(65);
    std::vector<shoal_field> many(65, kBox[0]);
    for (std::size_t i = 0; i < many.size(); ++i) many[i].name = (names[i] = "f" + std::to_string(i)).c_str();
    schema = box(65);
    schema.fields = many.data();
    EXPECT_EQ(declare(schema), "component \"box\": it has 65 fields; at most 64 fit");
    EXPECT_TRUE(guest.world.directory().stores().empty());
    schema.num_fields = 64;
    EXPECT_NE(guest.table.declare_component(&guest.plugin, &schema, &guest.error), nullptr) << guest.error.text;
}

TEST(PluginHost, a_store_that_cannot_work_is_refused_with_a_reason) {
    GuestWorld guest;
    constexpr auto create = [](void*, const shoal_entity*, std::uint32_t, const void*, std::size_t, shoal_error*) {
        return 0;
    };
    constexpr auto destroy = [](void*, const shoal_entity*, std::uint32_t) { return 0u; };
    constexpr auto show = [](void*, shoal_rows*) {};
    constexpr auto first = [](void*, shoal_entity) { return SHOAL_NO_ROW; };
    constexpr auto get = [](void*, std::uint32_t, std::uint32_t, void*) {};
    constexpr auto save = [](void*, shoal_writer*, shoal_error*) { return 1; };
    shoal_store works{};
    works.size = sizeof works;
    works.create = create, works.destroy = destroy, works.show = show, works.first = first;
    shoal_store store = works;
    shoal_schema schema = box();
    const auto refused = [&] {
        EXPECT_EQ(guest.table.add_store(&guest.plugin, &schema, &store, &guest.error), nullptr);
        store = works, schema = box();
        return guest.take_error();
    };
    store.size = 8;
    EXPECT_EQ(refused(), "the store of \"box\" does not begin with sizeof(shoal_store)");
    store.create = nullptr;
    EXPECT_EQ(refused(), "the store of \"box\" has no function create");
    store.destroy = nullptr;
    EXPECT_EQ(refused(), "the store of \"box\" has no function destroy");
    store.show = nullptr;
    EXPECT_EQ(refused(), "the store of \"box\" has no function show");
    store.first = nullptr;
    EXPECT_EQ(refused(), "the store of \"box\" has no function first");
    schema.flags = SHOAL_MANY;
    EXPECT_EQ(refused(), "the store of \"box\" has no function next, which SHOAL_MANY needs");
    schema.flags = SHOAL_SINGLETON;
    EXPECT_EQ(
        refused(),
        "the store of \"box\" cannot keep a singleton; declare it with declare_component(), and the world keeps its "
        "value");
    schema.flags = SHOAL_ENABLEABLE;
    EXPECT_EQ(refused(),
              "the store of \"box\" cannot keep an enableable component; give it a field for that, or "
              "declare it with declare_component()");
    const shoal_field owner = {
        sizeof(shoal_field), SHOAL_ENTITY, "owner", nullptr, nullptr, 0, 0, SHOAL_RELATION, 0, NULL, 0, 0};
    store.get = get, schema.fields = &owner;
    EXPECT_EQ(refused(),
              "the store of \"box\" shows no columns, so that nobody finds who refers to whom by its relations");
    store.save = save;
    EXPECT_EQ(refused(), "the store of \"box\" has one of save and load; give both or none");
    EXPECT_TRUE(guest.world.directory().stores().empty());
    EXPECT_NE(guest.table.add_store(&guest.plugin, &schema, &works, &guest.error), nullptr) << guest.error.text;
}

/// What a compile function of a plugin may have, since it is called by one thread at a time.
struct Tally {
    int num_calls = 0, num_inside = 0, most_inside = 0;
};

TEST(PluginHost, whole_numbers_of_nodes_are_exact_with_and_without_a_sign) {
    const shoal_host& host = plugin_host_table();
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file(
        "numbers.json",
        "[9007199254740993, 9223372036854775807, 9223372036854775808, 18446744073709551615, -9223372036854775808, 1.5,"
        "true, \"7\"]");
    const Result<Document> document = read_json(file, diagnostics);
    ASSERT_TRUE(document);
    shoal_node list{};
    const Node root = document->root();
    ASSERT_TRUE(root.is_list());
    std::memcpy(&list, static_cast<const void*>(&root), sizeof list);
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t kSigned[] = {9007199254740993, kMost, 0, 0, -kMost - 1, 0, 1, 0};
    constexpr std::uint64_t kUnsigned[] = {9007199254740993, kMost, kMost + 1ull, ~0ull, 0, 0, 1, 0};
    for (std::uint32_t i = 0; i < 8; ++i) {
        EXPECT_EQ(host.node_integer(host.node_child(list, i)), kSigned[i]) << i;
        EXPECT_EQ(host.node_unsigned(host.node_child(list, i)), kUnsigned[i]) << i;
    }
    EXPECT_EQ(host.node_unsigned(shoal_node{}), 0u);
    constexpr double kNumbers[] = {9007199254740992.0, 0x1p63, 0x1p63, 0x1p64, -0x1p63, 1.5, 1, 0};
    for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(host.node_number(host.node_child(list, i)), kNumbers[i]) << i;
    EXPECT_EQ(host.node_count(list), 8u);
    EXPECT_EQ(host.node_kind(host.node_child(list, 7)), std::uint32_t(SHOAL_NODE_STRING));
    EXPECT_EQ(host.node_kind(host.node_child(list, 8)), std::uint32_t(SHOAL_NODE_NONE));
    char text[8] = "-";
    EXPECT_EQ(host.node_text(host.node_child(list, 7), text, sizeof text), 1u);
    EXPECT_STREQ(text, "7");
    EXPECT_EQ(host.node_text(host.node_child(list, 5), text, sizeof text), 0u);
    EXPECT_STREQ(text, "");
    EXPECT_EQ(host.node_kind(host.node_find(list, "7")), std::uint32_t(SHOAL_NODE_NONE)) << "a list has no keys";
    EXPECT_EQ(host.node_key(host.node_child(list, 0), text, sizeof text), 0u);
}

TEST(PluginHost, compile_functions_are_called_one_at_a_time_by_any_number_of_threads) {
    GuestWorld guest;
    const shoal_schema schema = box();
    const shoal_component* const component = guest.table.declare_component(&guest.plugin, &schema, &guest.error);
    ASSERT_NE(component, nullptr);
    Tally tally;
    shoal_component_definition given{};
    given.size = sizeof given, given.context = &tally;
    given.compile = [](void* context, const shoal_compile*) {
        Tally& at = *static_cast<Tally*>(context);
        at.most_inside = std::max(at.most_inside, ++at.num_inside);
        std::this_thread::yield();
        --at.num_inside;
        return ++at.num_calls, 1;
    };
    ASSERT_NE(guest.table.define_component(&guest.plugin, component, &given, &guest.error), 0) << guest.error.text;
    const RegisteredComponent& type = *guest.world.registry().find("box");
    const Schema& boxes = *guest.world.directory().find(ComponentId("box"))->schemas().front();
    constexpr int kThreads = 4, kCalls = 2'000;
    const auto compile_many = [&] {
        Diagnostics diagnostics;
        BlobWriter blob;
        NoReferences host;
        std::byte image[sizeof(float)] = {};
        CompileOutput output(boxes, image, blob, host);
        for (int i = 0; i < kCalls; ++i)
            EXPECT_TRUE(type.compile(type.compile_context, {{}, boxes, 0, "", diagnostics}, output));
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(compile_many);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(tally.num_calls, kThreads * kCalls);
    EXPECT_EQ(tally.most_inside, 1);
    EXPECT_EQ(guest.host.num_calls, 0u);
}

TEST(PluginHost, fields_do_not_change_behind_queries_that_name_them) {
    GuestWorld guest;
    const shoal_schema one = box();
    ASSERT_NE(guest.table.declare_component(&guest.plugin, &one, &guest.error), nullptr);
    shoal_world other(guest.host, "other");
    ASSERT_NE(guest.table.make_query(&other, "box.mass > 1", nullptr, 0, &guest.error), nullptr);
    shoal_world third(guest.host, "third");  // names what is called in a similar way
    shoal_schema lid = box();
    lid.name = "box_lid";
    ASSERT_NE(guest.table.declare_component(&third, &lid, &guest.error), nullptr) << guest.error.text;
    ASSERT_NE(guest.table.make_query(&third, "box_lid", nullptr, 0, &guest.error), nullptr) << guest.error.text;
    const shoal_field two_fields[] = {
        kBox[0], {sizeof(shoal_field), SHOAL_INT32, "count", nullptr, nullptr, 0, 0, 0, 0, NULL, 0, 0}};
    shoal_schema two = box(2);
    two.fields = two_fields;
    for (const char* name : {"box2", "a_box", "b2box", "box_", "boxes", "pillbox"}) {  // which are other words
        shoal_schema beside = box();
        beside.name = name;
        ASSERT_NE(guest.table.declare_component(&other, &beside, &guest.error), nullptr) << guest.error.text;
        ASSERT_NE(guest.table.make_query(&other, name, nullptr, 0, &guest.error), nullptr) << guest.error.text;
    }
    guest.world.manager<Tag>();
    for (const char* text : {"pillbox, #box", "pillbox, #\"box\""})  // which are tags
        ASSERT_NE(guest.table.make_query(&third, text, nullptr, 0, &guest.error), nullptr) << guest.error.text;
    EXPECT_EQ(guest.table.declare_component(&guest.plugin, &two, &guest.error), nullptr);
    EXPECT_EQ(guest.take_error(),
              "component \"box\" is declared with other fields than it has, and plugin \"other\" has queries, "
              "passes or observers that name it; unload that one before");
    other.remove_calls();
    const shoal_component* const box_type = guest.table.find_component(&guest.plugin, "box", &guest.error);
    const auto is_refused = [&] {
        const bool is = guest.table.declare_component(&guest.plugin, &two, &guest.error) == nullptr;
        EXPECT_EQ(guest.take_error().find("plugin \"other\" has queries") != std::string::npos, is);
        return is;
    };
    const std::uint32_t observer = guest.table.add_observer(
        &other, SHOAL_ON_ADD, box_type, nullptr, [](void*, const shoal_change*) {}, nullptr, &guest.error);
    ASSERT_NE(observer, 0u) << guest.error.text;
    EXPECT_TRUE(is_refused());
    ASSERT_EQ(guest.table.remove_observer(&other, observer, &guest.error), 1);
    const char* const names[] = {"box"};
    for (const bool has_query : {false, true}) {
        shoal_pass_definition pass{};
        pass.size = sizeof pass, pass.name = "look", pass.run = [](void*, const shoal_pass*, const shoal_batch*) {};
        pass.reads = names, pass.num_reads = 1, pass.query = has_query ? "box" : nullptr;
        ASSERT_EQ(guest.table.add_pass(&other, &pass, &guest.error), 1) << guest.error.text;
        EXPECT_TRUE(is_refused()) << has_query;
        ASSERT_EQ(guest.table.remove_pass(&other, "look", &guest.error), 1);
        EXPECT_TRUE(other.queries.empty()) << "it goes with its pass";
    }
    EXPECT_FALSE(is_refused());
    ComponentRegistry registry;
    for (const PluginType* type : guest.plugin.types) ASSERT_TRUE(type->add_to(registry));
    EXPECT_EQ(registry.find("box")->schema->fields().size(), 2u) << "tools see the fields of the last declaration";
    third.remove_calls();
}

TEST(PluginHost, what_names_a_store_that_has_left_the_world_finds_nothing) {
    GuestWorld guest;
    Manager<Crate>& crates = guest.world.manager<Crate>();
    ASSERT_TRUE(crates.add(guest.entities.create().value(), Crate{}));
    shoal_query* const query = guest.table.make_query(&guest.plugin, "crate", nullptr, 0, &guest.error);
    ASSERT_NE(query, nullptr);
    int num_calls = 0;
    const auto run = [](void* context, const shoal_pass*, const shoal_batch*) { ++*static_cast<int*>(context); };
    const auto loop = [&] {
        return guest.table.for_each_batch(&guest.plugin, query, 0, run, &num_calls, &guest.error);
    };
    EXPECT_EQ(loop(), 1);
    guest.world.detach(crates.core());
    EXPECT_EQ(loop(), 0);
    EXPECT_EQ(guest.take_error(), "query \"crate\" names what no store keeps now");
    EXPECT_EQ(guest.table.num_rows(&guest.plugin, query), 0u);
    EXPECT_EQ(num_calls, 1);
    ASSERT_TRUE(guest.world.attach(crates.core()));
    guest.world.settle();
    EXPECT_EQ(loop(), 1);
    EXPECT_EQ(guest.table.num_rows(&guest.plugin, query), 1u);
    shoal_world other(guest.host, "other");
    EXPECT_EQ(guest.table.for_each_batch(&other, query, 0, run, &num_calls, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "for_each_batch: plugin \"other\" has no such query; it was destroyed");
    EXPECT_EQ(num_calls, 2);
    guest.plugin.remove_calls();
}

TEST(PluginHost, calls_take_the_ends_of_what_they_may_be_given_and_nothing_beyond) {
    GuestWorld guest;
    const shoal_host& host = guest.table;
    std::uint64_t id = 0;
    ASSERT_EQ(host.string_id(&guest.plugin, "gull", &id, &guest.error), 1);
    for (std::uint32_t capacity = 0; capacity < 7; ++capacity) {
        char text[8] = "-------";
        EXPECT_EQ(host.string_text(&guest.plugin, id, text, capacity), 4u);
        std::string expected = capacity == 0 ? "-" : std::string("gull").substr(0, capacity - 1) + '\0';
        expected.resize(std::max<std::size_t>(expected.size(), 7), '-');
        EXPECT_EQ(std::string(text, 7), expected.substr(0, 7)) << capacity;
    }
    EXPECT_EQ(host.string_text(&guest.plugin, id, nullptr, 5), 4u);

    const auto run = [](void*, const shoal_verb_call*, shoal_error*) { return 1; };
    const auto is_taken = [&](const char* name) {
        shoal_verb verb{};
        verb.size = sizeof verb, verb.name = name, verb.run = run;
        return host.add_verb(&guest.plugin, &verb, &guest.error) != 0;
    };
    for (const char* name : {"a", "z", "az09-_", "zzz"}) EXPECT_TRUE(is_taken(name)) << name << guest.error.text;
    for (const char* name : {"", "0a", "-a", "_a", "`a", "{a", "a`", "a{", "a/", "a:", "A", "aB"})
        EXPECT_FALSE(is_taken(name)) << name;
    guest.take_error();
    EXPECT_FALSE(is_taken("z"));
    EXPECT_EQ(guest.take_error(), "plugin \"guest\" has a verb \"z\" already");
    shoal_world other(guest.host, "other");
    shoal_verb same{};
    same.size = sizeof same, same.name = "z", same.run = run;
    EXPECT_EQ(host.add_verb(&other, &same, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "plugin \"guest\" has a verb \"z\" already") << "of another plugin";

    guest.world.manager<Crate>();
    std::vector<const char*> columns(kMostGuestColumns, "crate.mass");
    EXPECT_NE(host.make_query(&guest.plugin, "crate", columns.data(), kMostGuestColumns, &guest.error), nullptr);
    columns.push_back("crate.mass");
    guest.take_error();
    EXPECT_EQ(host.make_query(&guest.plugin, "crate", columns.data(), kMostGuestColumns + 1, &guest.error), nullptr);
    EXPECT_EQ(guest.take_error(), "a query shows at most 64 columns, not 65");

    shoal_channel* const channel = host.open_channel(&guest.plugin, "numbers", 4, &guest.error);
    EXPECT_EQ(host.write_events(&guest.plugin, channel, nullptr, 0), 1);
    EXPECT_EQ(host.write_events(&guest.plugin, channel, nullptr, 1), 0);
    EXPECT_EQ(host.write_events(&guest.plugin, channel, &id, 0), 1);
    EXPECT_EQ(host.open_channel(&guest.plugin, "nothing", 0, &guest.error), nullptr);
    EXPECT_EQ(guest.take_error(), "events of channel \"nothing\" have 0 bytes");

    shoal_pass_definition pass{};
    pass.size = sizeof pass, pass.name = "", pass.run = [](void*, const shoal_pass*, const shoal_batch*) {};
    EXPECT_EQ(host.add_pass(&guest.plugin, &pass, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "a pass has no name");
    pass.name = "many", pass.flags = 2;
    EXPECT_EQ(host.add_pass(&guest.plugin, &pass, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "pass \"many\" has flags that this program does not know");
    pass.flags = 0, pass.num_reads = 1;
    EXPECT_EQ(host.add_pass(&guest.plugin, &pass, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "pass \"many\": reads are counted, but the list is NULL");
    std::vector<const char*> reads(1024, "crate");
    pass.reads = reads.data(), pass.num_reads = 1024;
    pass.every_seconds = 1e9f;
    EXPECT_EQ(host.add_pass(&guest.plugin, &pass, &guest.error), 1) << guest.error.text;
    reads.push_back("crate");
    pass.name = "more", pass.reads = reads.data(), pass.num_reads = 1025;
    EXPECT_EQ(host.add_pass(&guest.plugin, &pass, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "pass \"more\": 1025 reads are more than 1024");
    EXPECT_FALSE(guest.world.schedule().is_taken("more"));
    guest.plugin.remove_calls();
}

TEST(PluginHost, a_migration_names_its_fields_and_a_default_has_the_bytes_of_its_field) {
    GuestWorld guest;
    const char name[8] = "gannet";
    const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_FIXED_STRING, "name", nullptr, name, 0, 8, 0, 0, nullptr, 0, 0}, kBox[0]};
    const shoal_schema bird{sizeof bird, 2, "bird", fields, 2, 0};
    const shoal_component* const type = guest.table.declare_component(&guest.plugin, &bird, &guest.error);
    ASSERT_NE(type, nullptr) << guest.error.text;
    shoal_entity made = 0;
    ASSERT_EQ(guest.table.create_entities(&guest.plugin, &made, 1, &guest.error), 1);
    ASSERT_EQ(guest.table.add_rows(&guest.plugin, type, &made, 1, nullptr, 0, &guest.error), 1) << guest.error.text;
    EXPECT_EQ(guest.world.get(Entity{made}, "bird.name")->to_text(), "\"gannet\"");
    shoal_migration step{};
    step.size = sizeof step, step.from_version = 1;
    shoal_component_definition given{};
    given.size = sizeof given, given.migrations = &step, given.num_migrations = 1;
    const auto problem_of = [&](const shoal_field* olds, std::uint32_t num_olds, const shoal_field* news,
                                std::uint32_t num_news) {
        step.olds = olds, step.num_olds = num_olds, step.news = news, step.num_news = num_news;
        const int is_taken = guest.table.define_component(&guest.plugin, type, &given, &guest.error);
        return is_taken != 0 ? std::string() : guest.take_error();
    };
    const std::string counted = "fields are counted, but the list is NULL";
    EXPECT_NE(problem_of(nullptr, 1, fields, 1).find(counted), std::string::npos);
    EXPECT_NE(problem_of(fields, 1, nullptr, 1).find(counted), std::string::npos);
    const std::string no_function = "it has no function, and is neither another name for one field nor the end of one";
    EXPECT_NE(problem_of(fields, 2, nullptr, 0).find(no_function), std::string::npos);
    EXPECT_NE(problem_of(fields, 1, fields, 2).find(no_function), std::string::npos);
    EXPECT_NE(problem_of(nullptr, 0, nullptr, 0).find(no_function), std::string::npos);
    step.from_version = 0;
    EXPECT_NE(problem_of(&fields[1], 1, nullptr, 0).find("it begins at version 0; the first one is 1"),
              std::string::npos);
    step.from_version = 1;
    EXPECT_EQ(problem_of(&fields[1], 1, nullptr, 0), "") << "the end of one";
    EXPECT_EQ(problem_of(&fields[1], 1, nullptr, 0),
              "component \"bird\": it is defined already; give all of it in one call");
    guest.plugin.remove_calls();
}

/// A compiler with one entity, number 7.
struct OneEntity final : CompileHost {
    std::uint32_t find_entity(std::string_view name) const override { return name == "here" ? 7 : kNoBlobEntity; }
    bool read_field(Node) override { return false; }
    bool read_value(const Field&, Node, std::byte*) override { return false; }
};

TEST(PluginHost, a_compile_function_sets_entities_and_arrays_where_fields_of_them_lie) {
    GuestWorld guest;
    const shoal_field fields[] = {
        kBox[0],
        {sizeof(shoal_field), SHOAL_ENTITY, "crew", nullptr, nullptr, 2, 0, 0, 0, nullptr, 0, 0},
        {sizeof(shoal_field), SHOAL_BLOB_ARRAY, "song", nullptr, nullptr, 0, 0, 0, SHOAL_UINT16, nullptr, 0, 0}};
    const shoal_schema boat{sizeof boat, 1, "boat", fields, 3, 0};
    const shoal_component* const component = guest.table.declare_component(&guest.plugin, &boat, &guest.error);
    ASSERT_NE(component, nullptr) << guest.error.text;
    struct Tries {
        const shoal_host& host;
        std::string crew, song;
        Entity first{}, second{};
    } tries{guest.table, "", ""};
    shoal_component_definition given{};
    given.size = sizeof given, given.context = &tries;
    given.compile = [](void* context, const shoal_compile* at) {
        Tries& all = *static_cast<Tries*>(context);
        const std::uint16_t notes[] = {1, 2, 3};
        for (std::uint32_t offset = 0; offset < at->image_bytes; ++offset) {
            all.crew += all.host.compile_entity(at->compilation, offset, "here") != 0 ? '+' : '-';
            all.song += all.host.compile_array(at->compilation, offset, notes, 3) != 0 ? '+' : '-';
        }
        const auto crew = static_cast<std::uint32_t>(all.crew.find('+')),
                   song = static_cast<std::uint32_t>(all.song.find('+'));
        EXPECT_EQ(all.host.compile_entity(at->compilation, crew, "nowhere"), 0);
        EXPECT_EQ(all.host.compile_array(at->compilation, song, nullptr, 3), 0);
        EXPECT_EQ(all.host.compile_array(at->compilation, song, nullptr, 0), 1);
        EXPECT_EQ(all.host.compile_array(at->compilation, song, notes, 3), 1);
        EXPECT_EQ(all.host.compile_field(at->compilation, shoal_node{}), 0);
        return 1;
    };
    ASSERT_NE(guest.table.define_component(&guest.plugin, component, &given, &guest.error), 0) << guest.error.text;
    const RegisteredComponent& type = *guest.world.registry().find("boat");
    const Schema& schema = *guest.world.directory().find(ComponentId("boat"))->schemas().front();
    std::vector<std::byte> image(schema.struct_bytes());
    Diagnostics diagnostics;
    const Result<Document> source = read_json(diagnostics.add_file("boat.json", "{}"), diagnostics);
    ASSERT_TRUE(source);
    BlobWriter blob;
    OneEntity host;
    CompileOutput output(schema, image, blob, host);
    EXPECT_FALSE(type.compile(type.compile_context, {source->root(), schema, 0, "", diagnostics}, output))
        << "with these errors";
    const std::uint32_t crew = schema.fields()[1].struct_offset, song = schema.fields()[2].struct_offset;
    std::string right_crew(image.size(), '-'), right_song(image.size(), '-');
    right_crew[crew] = right_crew[crew + sizeof(Entity)] = '+', right_song[song] = '+';
    EXPECT_EQ(tries.crew, right_crew);
    EXPECT_EQ(tries.song, right_song);
    EntityBits named[2];
    std::memcpy(named, image.data() + crew, sizeof named);
    EXPECT_EQ(named[0], 7u);
    EXPECT_EQ(named[1], 7u);
    BlobArrayBase sung;
    std::memcpy(static_cast<void*>(&sung), image.data() + song, sizeof sung);
    EXPECT_EQ(sung.count, 3u);
    guest.plugin.remove_calls();
}

TEST(PluginHost, a_compile_function_that_fails_is_told_of_once_at_the_place_that_it_names) {
    GuestWorld guest;
    const shoal_schema schema = box();
    const shoal_component* const component = guest.table.declare_component(&guest.plugin, &schema, &guest.error);
    ASSERT_NE(component, nullptr);
    shoal_component_definition given{};
    given.size = sizeof given;
    given.compile = [](void*, const shoal_compile* at) {
        const shoal_host& host = plugin_host_table();
        const shoal_node why = host.node_find(at->node, "why");
        if (host.node_kind(why) != SHOAL_NODE_NONE) host.compile_error(at->compilation, why, "it is so");
        return 0;
    };
    ASSERT_EQ(guest.table.define_component(&guest.plugin, component, &given, &guest.error), 1) << guest.error.text;
    const RegisteredComponent& type = *guest.world.registry().find("box");
    const Schema& boxes = *guest.world.directory().find(ComponentId("box"))->schemas().front();
    const auto messages_of = [&](const char* text) {
        Diagnostics diagnostics;
        const Result<Document> source = read_json(diagnostics.add_file("box.json", text), diagnostics);
        BlobWriter blob;
        NoReferences host;
        std::byte image[sizeof(float)] = {};
        CompileOutput output(boxes, image, blob, host);
        EXPECT_FALSE(type.compile(type.compile_context, {source->root(), boxes, 0, "", diagnostics}, output));
        std::string all;
        for (const Diagnostic& entry : diagnostics.entries())
            all += concat(diagnostics.locate(entry.position).column, ' ', entry.message, '\n');
        return all;
    };
    EXPECT_EQ(messages_of("{\"why\": 5}"), "9 it is so\n");
    EXPECT_EQ(messages_of("{}"), "1 plugin \"guest\" does not compile \"box\", and does not say why\n");
    guest.plugin.remove_calls();
}

TEST(PluginHostDeathTest, a_pass_that_creates_or_destroys_entities_ends_the_program_with_its_name) {
    GuestWorld guest;
    shoal_entity made[2];
    ASSERT_EQ(guest.table.create_entities(&guest.plugin, made, 2, &guest.error), 1);
    guest.world.schedule().add(
        "hatch", [&](PassContext&) { guest.table.create_entities(&guest.plugin, made, 1, &guest.error); });
    EXPECT_DEATH(guest.world.step(0), "create\\(\\) of the entity manager was called in the pass \"hatch\"");
    guest.world.schedule().clear();
    guest.world.schedule().add("cull", [&](PassContext&) { guest.table.destroy_entities(&guest.plugin, made, 2); });
    EXPECT_DEATH(guest.world.step(0), "destroy\\(\\) of the entity manager was called in the pass \"cull\"");
}

TEST(PluginHostDeathTest, a_pass_that_asks_for_the_id_of_a_text_ends_the_program) {
    GuestWorld guest;
    std::uint64_t id = 0;
    ASSERT_EQ(guest.table.string_id(&guest.plugin, "before", &id, &guest.error), 1);
    guest.world.schedule().add("name",
                               [&](PassContext&) { guest.table.string_id(&guest.plugin, "new", &id, &guest.error); });
    EXPECT_DEATH(guest.world.step(0), "a function of a pass called string_id\\(\\)");
}

TEST(PluginHost, rows_are_refused_for_the_dead_and_fields_of_another_size) {
    GuestWorld guest;
    const shoal_schema schema = box();
    const shoal_component* const type = guest.table.declare_component(&guest.plugin, &schema, &guest.error);
    shoal_entity made[2];
    ASSERT_EQ(guest.table.create_entities(&guest.plugin, made, 2, &guest.error), 1);
    guest.table.destroy_entities(&guest.plugin, &made[1], 1);
    EXPECT_EQ(guest.table.add_rows(&guest.plugin, type, made, 2, nullptr, 0, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "entity 1 of 2 is dead");
    EXPECT_EQ(guest.table.has_component(&guest.plugin, type, made[0]), 0);
    const float masses[] = {1, 2};
    EXPECT_EQ(guest.table.add_rows(&guest.plugin, type, made, 1, masses, 2, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "images of \"box\" have 4 bytes and cannot lie 2 bytes apart; 0 is one for all");
    EXPECT_EQ(guest.table.has_component(&guest.plugin, type, made[0]), 0);
    ASSERT_EQ(guest.table.add_rows(&guest.plugin, type, made, 1, nullptr, 0, &guest.error), 1);
    double wide = 1;
    EXPECT_EQ(guest.table.get_field(&guest.plugin, made[0], "box.mass", &wide, sizeof wide, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "\"box.mass\" is a float of 4 bytes, not 8");
    EXPECT_EQ(guest.table.set_field(&guest.plugin, made[0], "box.mess", &wide, sizeof wide, &guest.error), 0);
    EXPECT_NE(guest.take_error().find("did you mean \"mass\"?"), std::string::npos);
    EXPECT_EQ(guest.table.set_field(&guest.plugin, made[0], "box.mass", &wide, sizeof wide, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "\"box.mass\" is a float of 4 bytes, not 8");
    EXPECT_EQ(*guest.world.get<float>(Entity{made[0]}, "box.mass"), 0);
    EXPECT_EQ(guest.table.find_component(&guest.plugin, "bax", &guest.error), nullptr);
    EXPECT_EQ(guest.take_error(), "no store keeps a component \"bax\"; did you mean \"box\"?");
}

struct Lamp {
    float light = 1;
};
SHOAL_COMPONENT((Lamp, enableable), light)

TEST(PluginHost, a_component_is_there_while_its_entity_lives_and_it_is_enabled) {
    GuestWorld guest;
    Database& database = guest.world.database();
    ASSERT_TRUE(guest.world.directory().claim<Lamp>(database));
    const shoal_component* const lamp = guest.table.find_component(&guest.plugin, "lamp", &guest.error);
    ASSERT_NE(lamp, nullptr) << guest.error.text;
    const Entity self = guest.entities.create().value(), other = guest.entities.create().value();
    ASSERT_TRUE(database.insert(other, 0, Crate{}).ok());
    const auto has = [&](Entity entity) {
        const int is_there = guest.table.has_component(&guest.plugin, lamp, entity.id);
        Lamp image{-1};
        EXPECT_EQ(guest.table.get_image(&guest.plugin, lamp, entity.id, &image, &guest.error), is_there);
        EXPECT_EQ(image.light != -1, is_there != 0);
        return is_there;
    };
    EXPECT_EQ(has(self), 0);
    ASSERT_TRUE(database.add(self, Lamp{3}).ok());
    EXPECT_EQ(has(self), 1);
    EXPECT_EQ(has(other), 0) << "its row has no lamp";
    ASSERT_TRUE(database.remove<Lamp>(self).ok());
    EXPECT_EQ(has(self), 0) << "it is disabled";
    ASSERT_TRUE(database.add(self, Lamp{4}).ok());
    EXPECT_EQ(has(self), 1);
    guest.entities.destroy(self);
    EXPECT_EQ(has(self), 0) << "the row goes at the next settle only";
    EXPECT_EQ(has(kNullEntity), 0);
}

TEST(PluginHost, a_query_writes_and_marks_all_columns_that_it_has_asked_for_and_no_others) {
    GuestWorld guest;
    Manager<Crate>& crates = guest.world.manager<Crate>();
    Manager<Lamp>& lamps = guest.world.manager<Lamp>();
    const Entity self = guest.entities.create().value();
    ASSERT_TRUE(crates.add(self, Crate{}) && lamps.add(self, Lamp{}));
    const auto marks_of = [&](const char* text, std::vector<const char*> columns) {
        shoal_query* const query = guest.table.make_query(&guest.plugin, text, columns.data(),
                                                          static_cast<std::uint32_t>(columns.size()), &guest.error);
        EXPECT_NE(query, nullptr) << guest.error.text;
        guest.world.settle();
        std::string marks;
        const auto note = [](void* to, const shoal_pass*, const shoal_batch* batch) {
            auto& [shown, count] = *static_cast<std::pair<std::string, std::size_t>*>(to);
            for (std::size_t i = 0; i < count; ++i) shown += batch->columns[i]->first_written == nullptr ? 'r' : 'w';
        };
        std::pair<std::string, std::size_t> shown{"", columns.size()};
        EXPECT_EQ(guest.table.for_each_batch(&guest.plugin, query, 0, note, &shown, &guest.error), 1);
        const auto add_marks = [&](const Table& table) {
            for (std::uint32_t c = 0; c < table.schema().columns().size(); ++c)
                marks += table.written_stamp(c, 0) == guest.world.stamp() ? '+' : '-';
        };
        add_marks(crates.core().table()), add_marks(lamps.core().table());
        return shown.first + ' ' + marks;
    };
    EXPECT_EQ(marks_of("&crate", {"crate.mass", "crate.place.z"}), "ww +--+-");
    EXPECT_EQ(marks_of("&crate", {"crate.place.z", "crate.place.x", "crate.mass"}), "www ++-+-");
    EXPECT_EQ(marks_of("&crate, lamp", {"lamp.light", "crate.place.y"}), "rw --+--");
    EXPECT_EQ(marks_of("&crate, &lamp", {"crate.place.y", "lamp.light", "crate.mass"}), "www +-+-+");
    EXPECT_EQ(marks_of("crate, &lamp", {"crate.mass", "lamp.light"}), "rw ----+");
    EXPECT_EQ(marks_of("crate, lamp", {"crate.mass", "lamp.light"}), "rr -----");
    // Of as many columns as there may be, too.
    std::vector<std::string> names;
    std::vector<shoal_field> fields;
    for (int i = 0; i < 64; ++i) names.push_back(concat("n", i));
    for (const std::string& name : names) {
        fields.push_back(kBox[0]);
        fields.back().name = name.c_str();
    }
    const shoal_schema wide{sizeof wide, 1, "wide", fields.data(), 64, 0};
    const shoal_component* const type = guest.table.declare_component(&guest.plugin, &wide, &guest.error);
    ASSERT_NE(type, nullptr) << guest.error.text;
    ASSERT_EQ(guest.table.add_rows(&guest.plugin, type, &self.id, 1, nullptr, 0, &guest.error), 1);
    const Table& rows = *guest.world.directory().find(ComponentId("wide"))->tables()[0];
    for (const std::uint32_t asked : {0u, 31u, 32u, 63u}) {
        EXPECT_EQ(marks_of("&wide", {concat("wide.n", asked).c_str()}), "w -----");
        for (std::uint32_t c = 0; c < 64; ++c)
            EXPECT_EQ(rows.written_stamp(c, 0) == guest.world.stamp(), c == asked) << asked << ' ' << c;
    }
    guest.plugin.remove_calls();
}

TEST(PluginHost, a_channel_is_shared_by_its_name_until_the_last_has_left) {
    const LeakCheck leaks;
    GuestWorld guest;
    shoal_world other(guest.host, "other");
    const std::uint32_t sent[] = {4, 5, 6};
    shoal_channel* const to = guest.table.open_channel(&guest.plugin, "numbers", 4, &guest.error);
    shoal_channel* const from = guest.table.open_channel(&other, "numbers", 4, &guest.error);
    ASSERT_TRUE(to != nullptr && from != nullptr);
    EXPECT_EQ(guest.table.open_channel(&guest.plugin, "numbers", 4, &guest.error), to);
    EXPECT_EQ(guest.table.open_channel(&other, "numbers", 8, &guest.error), nullptr);
    EXPECT_EQ(guest.take_error(),
              "the events of channel \"numbers\" have 4 bytes, not 8; give one of the two another name");
    EXPECT_EQ(guest.table.write_events(&other, to, sent, 1), 0) << "it is the other plugin's";
    EXPECT_EQ(guest.table.write_events(&guest.plugin, to, sent, 3), 1);
    guest.plugin.remove_channels();
    const void* events = nullptr;
    ASSERT_EQ(guest.table.read_events(&other, from, &events), 3u);
    EXPECT_EQ(static_cast<const std::uint32_t*>(events)[2], 6u);
    EXPECT_EQ(guest.table.read_last_events(&other, from, &events), 0u) << "they are of this frame";
    guest.world.step(0);
    EXPECT_EQ(guest.table.write_events(&other, from, &sent[1], 2), 1);
    EXPECT_EQ(guest.table.read_events(&other, from, &events), 2u);
    ASSERT_EQ(guest.table.read_last_events(&other, from, &events), 3u);
    EXPECT_EQ(static_cast<const std::uint32_t*>(events)[0], 4u);
    other.remove_channels();
    EXPECT_NE(guest.table.open_channel(&other, "numbers", 8, &guest.error), nullptr) << "nobody has the first";
}

/// Adds crates to all that have none, takes heavy ones away, and makes one entity for each that is taken.
void exchange(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    const GuestWorld& guest = *static_cast<const GuestWorld*>(context);
    const shoal_host& host = guest.table;
    const shoal_component* const crate =
        guest.table.find_component(const_cast<shoal_world*>(&guest.plugin), "crate", nullptr);
    for (std::uint32_t i = 0; i < batch->num_rows; ++i) {
        const auto* mass = static_cast<const float*>(shoal_read(batch->columns[0], i));
        if (mass == nullptr) {
            EXPECT_EQ(host.command_add(pass->commands, batch->entities[i], crate, nullptr), 1);
        } else if (*mass > 5) {
            const Crate light{.mass = 1, .place = {4, 5, 6}};
            const shoal_entity made = host.command_create(pass->commands);
            EXPECT_EQ(host.command_add(pass->commands, made, crate, &light), 1);
            EXPECT_EQ(host.command_remove(pass->commands, batch->entities[i], crate), 1);
        }
    }
}

struct Marker {
    std::uint32_t number = 0;
};
SHOAL_COMPONENT(Marker, number)

TEST(PluginHost, commands_reach_component_types_in_managers_and_in_the_database) {
    for (const bool in_database : {false, true}) {
        SCOPED_TRACE(in_database);
        GuestWorld guest;
        if (in_database)
            ASSERT_TRUE(guest.world.directory().claim<Crate>(guest.world.database()));
        else
            guest.world.manager<Crate>();
        std::vector<Entity> marked(300);
        ASSERT_TRUE(guest.entities.create(marked));
        ASSERT_TRUE(guest.world.manager<Marker>().add(marked, Marker{}));
        for (std::size_t i = 0; i < marked.size(); i += 3)
            guest.world.commands().add(marked[i], Crate{.mass = i % 2 == 0 ? 9.0f : 2.0f});
        guest.world.settle();
        const char* const columns[] = {"crate.mass"};
        shoal_pass_definition pass{};
        pass.size = sizeof pass;
        pass.name = "exchange", pass.query = "marker, ?crate", pass.run = exchange, pass.context = &guest;
        pass.columns = columns, pass.num_columns = 1;
        ASSERT_EQ(guest.table.add_pass(&guest.plugin, &pass, &guest.error), 1) << guest.error.text;
        guest.world.step(1);
        std::size_t num_light = 0, num_usual = 0, num_heavy = 0;
        const Result<TextQuery> crates = TextQuery::make(guest.world.directory(), "crate");
        ASSERT_TRUE(crates);
        crates->for_each_batch([&](const TextBatch& batch) {
            for (std::uint32_t i = 0; i < batch.num_rows(); ++i) {
                const float mass = *batch.column(0, 0).read<float>(i);
                num_light += mass == 1 && *batch.column(0, 3).read<float>(i) == 6;
                num_usual += mass == 3 || mass == 2;
                num_heavy += mass > 5;
            }
        });
        EXPECT_EQ(num_light, 50u);
        EXPECT_EQ(num_usual, 250u);
        EXPECT_EQ(num_heavy, 0u);
        EXPECT_EQ(guest.world.settle_statistics().total.num_dropped, 0u);
        guest.plugin.remove_calls();
    }
}

TEST(PluginHost, blobs_are_checked_and_spawned_unless_rows_would_refer_to_them) {
    GuestWorld guest;
    std::vector<Entity> crates(3);
    ASSERT_TRUE(guest.entities.create(crates));
    ASSERT_TRUE(guest.world.manager<Crate>().add(crates, Crate{.mass = 8}));
    Result<EntityBlob> saved = save_entities(guest.world, crates);
    ASSERT_TRUE(saved);
    shoal_entity first = 0;
    const auto spawn = [&] {
        return guest.table.spawn_blob(&guest.plugin, saved->bytes.data(), saved->bytes.size(), &first, &guest.error);
    };
    EXPECT_EQ(spawn(), 3u) << guest.error.text;
    EXPECT_EQ(*guest.world.get<float>(Entity{first}, "crate.mass"), 8);
    EXPECT_EQ(guest.world.manager<Crate>().num_rows(), 6u);
    // What it makes while it loads goes with a load that fails, and with no later one.
    std::vector<std::pair<Entity, bool>> all_made;
    std::uint32_t num_crates = 6;
    constexpr bool kKeeps[] = {false, true, false, true, false};
    for (std::size_t round = 0; round < std::size(kKeeps); ++round) {
        const bool keeps = kKeeps[round];
        const std::string kind = "kind" + std::to_string(round);
        shoal_schema schema = box();
        schema.name = kind.c_str();
        guest.plugin.is_loading = true;
        shoal_entity made = 0, copied = 0;
        EXPECT_EQ(guest.table.create_entities(&guest.plugin, &made, 1, &guest.error), 1);
        EXPECT_EQ(spawn(), 3u) << guest.error.text;
        EXPECT_EQ(guest.table.copy_entity(&guest.plugin, crates[0].id, &copied, &guest.error), 1);
        const shoal_component* const type = guest.table.declare_component(&guest.plugin, &schema, &guest.error);
        ASSERT_NE(type, nullptr) << guest.error.text;
        ASSERT_EQ(guest.table.add_rows(&guest.plugin, type, &made, 1, nullptr, 0, &guest.error), 1);
        guest.plugin.finish_load(keeps);
        for (const shoal_entity one : {made, first, copied}) all_made.emplace_back(Entity{one}, keeps);
        for (const auto& [entity, is_kept] : all_made) EXPECT_EQ(guest.entities.alive(entity), is_kept) << round;
        for (std::size_t i = 0; i <= round; ++i)
            EXPECT_EQ(bool(guest.world.directory().find_kept(ComponentId("kind" + std::to_string(i)))), kKeeps[i]);
        guest.world.settle();
        num_crates += keeps ? 4 : 0;
        EXPECT_EQ(guest.world.manager<Crate>().num_rows(), num_crates);
        if (!keeps) continue;
        EXPECT_EQ(guest.table.has_component(&guest.plugin, type, made), 1);
    }
    shoal_schema again = box();
    again.name = "kind0";
    ASSERT_NE(guest.table.declare_component(&guest.plugin, &again, &guest.error), nullptr);
    EXPECT_EQ(guest.world.directory().find(ComponentId("kind0"))->tables()[0]->num_rows(), 0u);
    saved->bytes[saved->bytes.size() / 2] ^= std::byte(0xFF);
    EXPECT_EQ(spawn(), 0u);
    EXPECT_NE(guest.take_error(), "");
    EXPECT_EQ(guest.world.manager<Crate>().num_rows(), num_crates);
    const Result<std::vector<std::byte>> empty = BlobWriter().write();
    ASSERT_TRUE(empty);
    EXPECT_EQ(guest.table.spawn_blob(&guest.plugin, empty->data(), empty->size(), &first, &guest.error), 0u);
    EXPECT_EQ(guest.take_error(), "the blob has no entities");
    const BlobArrayBase nobodys;
    std::uint32_t count = 7;
    EXPECT_EQ(guest.table.find_array(&guest.plugin, &nobodys, SHOAL_FLOAT, &count), nullptr);
    EXPECT_EQ(count, 0u);
}

struct Tune {
    BlobArray<float> notes;
};
SHOAL_COMPONENT(Tune, notes)

TEST(PluginHost, an_array_is_found_by_its_type_in_the_resource_that_it_is_of) {
    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    PluginHost host(world);
    shoal_world plugin(host, "guest");
    Manager<Tune>& tunes = world.manager<Tune>();
    BlobWriter writer;
    writer.set_name("tune");
    const float notes[] = {1, 2, 3};
    Tune tune;
    static_cast<BlobArrayBase&>(tune.notes) =
        writer.add_array(FieldType::kFloat, std::as_bytes(std::span<const float>(notes)));
    const std::uint32_t type = *writer.add_component_type(*tunes.core().schemas()[0]);
    writer.add_component(type, writer.add_entity({}), std::as_bytes(std::span(&tune, 1)));
    const Result<const Blob*> blob = library.load(*writer.write());
    ASSERT_TRUE(blob) << blob.message();
    const Result<Spawned> spawned = world.spawn(**blob, {});
    ASSERT_TRUE(spawned) << spawned.message();
    BlobArrayBase stored = tunes.get<&Tune::notes>(tunes.instance(spawned->entity(0)));
    std::uint32_t count = 7;
    const auto find = [&](std::uint32_t of) {
        count = 7;
        return static_cast<const float*>(plugin_host_table().find_array(&plugin, &stored, of, &count));
    };
    const float* const found = find(SHOAL_FLOAT);
    ASSERT_EQ(count, 3u);
    EXPECT_EQ((std::vector<float>{found, found + 3}), (std::vector<float>{1, 2, 3}));
    for (const std::uint32_t none : {0u, unsigned(SHOAL_ENUM), unsigned(SHOAL_BLOB_ARRAY), 1000u}) {
        EXPECT_EQ(find(none), nullptr) << none << " is no type of an array";
        EXPECT_EQ(count, 0u);
    }
    stored.resource = ResourceId("nowhere");
    EXPECT_EQ(find(SHOAL_FLOAT), nullptr);
    EXPECT_EQ(count, 0u);
}

TEST(PluginHost, a_generator_goes_on_as_one_of_the_library_with_the_same_state_does) {
    GuestWorld guest;
    std::uint64_t generator = guest.table.random_for_key(nullptr, 7);
    Random same(7);
    EXPECT_EQ(generator, same.state());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(guest.table.random_next(&generator), same.next());
        EXPECT_EQ(guest.table.random_unit(&generator), same.unit());
        EXPECT_EQ(generator, same.state());
    }
}

TEST(PluginHost, passes_run_before_and_after_others_and_every_so_many_frames_until_they_are_removed) {
    GuestWorld guest;
    std::string order;
    guest.world.schedule().add("own", [&](PassContext&) { order += 'o'; });
    struct Noted {
        std::string* to;
        char name;
    } noted[] = {{&order, 'a'}, {&order, 'b'}, {&order, 'c'}};
    const auto note = [](void* context, const shoal_pass*, const shoal_batch*) {
        *static_cast<Noted*>(context)->to += static_cast<Noted*>(context)->name;
    };
    const char* const own[] = {"own"};
    const char* const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; ++i) {
        shoal_pass_definition pass{};
        pass.size = sizeof pass, pass.name = names[i], pass.run = note, pass.context = &noted[i];
        if (i != 1) pass.runs_before = own, pass.num_runs_before = 1;
        if (i == 1) pass.runs_after = own, pass.num_runs_after = 1;
        pass.every_frames = i == 2 ? 2 : 1;
        ASSERT_EQ(guest.table.add_pass(&guest.plugin, &pass, &guest.error), 1) << guest.error.text;
    }
    guest.world.schedule().add("last", [&](PassContext&) { order += 'l'; }).after("b");
    for (int i = 0; i < 4; ++i) guest.world.step(0);
    EXPECT_EQ(order, "acoblaoblacoblaobl");
    ASSERT_EQ(guest.table.remove_pass(&guest.plugin, "b", &guest.error), 1) << guest.error.text;
    EXPECT_EQ(guest.table.remove_pass(&guest.plugin, "b", &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "the plugin has no pass \"b\"");
    order.clear();
    guest.world.step(0);
    EXPECT_EQ(order, "acol") << "what came after it has an order without it";
    guest.plugin.remove_calls();
}

TEST(PluginHost, passes_run_as_often_as_time_reaches_a_multiple_and_are_disabled_by_name) {
    GuestWorld guest;
    int num_runs = 0;
    shoal_pass_definition pass{};
    pass.size = sizeof pass, pass.name = "tick", pass.context = &num_runs, pass.every_seconds = 1;
    pass.run = [](void* context, const shoal_pass*, const shoal_batch*) { ++*static_cast<int*>(context); };
    ASSERT_EQ(guest.table.add_pass(&guest.plugin, &pass, &guest.error), 1) << guest.error.text;
    for (int i = 0; i < 8; ++i) guest.world.step(0.25f);
    EXPECT_EQ(num_runs, 2);
    ASSERT_EQ(guest.table.enable_pass(&guest.plugin, "tick", 0, &guest.error), 1) << guest.error.text;
    for (int i = 0; i < 8; ++i) guest.world.step(0.25f);
    EXPECT_EQ(num_runs, 2);
    ASSERT_EQ(guest.table.enable_pass(&guest.plugin, "tick", 1, &guest.error), 1);
    guest.world.step(1);
    EXPECT_EQ(num_runs, 3);
    EXPECT_EQ(guest.table.enable_pass(&guest.plugin, "tock", 1, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "the schedule has no pass called \"tock\"");
    // Of frames and seconds, both have passed when it runs.
    int num_rare = 0, num_same = 0;
    shoal_pass_definition rare = pass;
    rare.name = "rare", rare.every_frames = 3, rare.context = &num_rare;
    ASSERT_EQ(guest.table.add_pass(&guest.plugin, &rare, &guest.error), 1) << guest.error.text;
    guest.world.schedule().add("same", [&](PassContext&) { ++num_same; }).every_frames(3).every_seconds(1);
    for (int i = 0; i < 24; ++i) {
        guest.world.step(0.25f);
        EXPECT_EQ(num_rare, num_same) << i;
    }
    EXPECT_GT(num_same, 0);
    ASSERT_TRUE(guest.world.schedule().remove("same"));
    pass.name = "never", pass.every_seconds = -1;
    EXPECT_EQ(guest.table.add_pass(&guest.plugin, &pass, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "pass \"never\": every_seconds is from 0 to 1e9");
    pass.size = offsetof(shoal_pass_definition, every_seconds);
    EXPECT_EQ(guest.table.add_pass(&guest.plugin, &pass, &guest.error), 1) << "an older plugin does not give it";
    guest.plugin.remove_calls();
}

TEST(PluginHost, entities_are_copied_at_once_or_when_the_world_settles_and_get_names) {
    GuestWorld guest;
    Manager<Crate>& crates = guest.world.manager<Crate>();
    const Entity crate = guest.entities.create().value();
    ASSERT_TRUE(crates.add(crate, Crate{.mass = 5}));
    Entity made;
    ASSERT_EQ(guest.table.copy_entity(&guest.plugin, crate.id, &made.id, &guest.error), 1) << guest.error.text;
    EXPECT_EQ(crates.get<&Crate::mass>(crates.instance(made)), 5);
    const auto copy_and_name = [](void* context, shoal_commands* commands) {
        const shoal_host& table = plugin_host_table();
        const shoal_entity copied = table.command_copy(commands, static_cast<const Entity*>(context)->id);
        table.command_name(commands, copied, "twin");
    };
    ASSERT_EQ(guest.table.with_commands(&guest.plugin, copy_and_name, &made, &guest.error), 1) << guest.error.text;
    EXPECT_EQ(crates.num_rows(), 2u) << "the world has not settled";
    guest.world.settle();
    ASSERT_EQ(crates.num_rows(), 3u);
    const Entity twin = crates.core().table().entities()[2];
    std::uint64_t name = 0;
    ASSERT_EQ(guest.table.get_field(&guest.plugin, twin.id, "debug_name.name", &name, sizeof name, &guest.error), 1);
    EXPECT_EQ(name, StringId("twin").hash);
    guest.entities.destroy(made);
    EXPECT_EQ(guest.table.copy_entity(&guest.plugin, made.id, &made.id, &guest.error), 0);
    EXPECT_NE(guest.take_error().find("is dead"), std::string::npos);
}

TEST(PluginHost, an_image_has_all_fields_of_a_component) {
    GuestWorld guest;
    const Entity crate = guest.entities.create().value(), other = guest.entities.create().value();
    ASSERT_TRUE(guest.world.manager<Crate>().add(crate, Crate{.mass = 5, .place = {1, 2, 3}}));
    const shoal_component* const type = guest.table.find_component(&guest.plugin, "crate", &guest.error);
    ASSERT_EQ(guest.table.image_bytes(&guest.plugin, type), sizeof(Crate));
    Crate image;
    ASSERT_EQ(guest.table.get_image(&guest.plugin, type, crate.id, &image, &guest.error), 1) << guest.error.text;
    EXPECT_EQ(image.mass, 5);
    EXPECT_EQ(image.place.z, 3);
    EXPECT_EQ(guest.table.get_image(&guest.plugin, type, other.id, &image, &guest.error), 0);
    EXPECT_TRUE(guest.take_error().ends_with("has no \"crate\""));
}

TEST(PluginHost, a_pass_that_closes_a_circle_is_refused_and_leaves_nothing) {
    GuestWorld guest;
    guest.world.manager<Crate>();
    int num_runs = 0;
    guest.world.schedule().add("own", [&](PassContext&) { ++num_runs; });
    guest.world.step(0);
    const char* const own[] = {"own"};
    shoal_pass_definition pass{};
    pass.size = sizeof pass, pass.name = "round", pass.query = "crate", pass.runs_before = own, pass.runs_after = own;
    pass.num_runs_before = pass.num_runs_after = 1;
    pass.run = [](void*, const shoal_pass*, const shoal_batch*) {};
    EXPECT_EQ(guest.table.add_pass(&guest.plugin, &pass, &guest.error), 0);
    EXPECT_NE(guest.take_error(), "");
    EXPECT_FALSE(guest.world.schedule().is_taken("round"));
    guest.world.step(0);
    EXPECT_EQ(num_runs, 2);
    pass.num_runs_after = 0;
    EXPECT_EQ(guest.table.add_pass(&guest.plugin, &pass, &guest.error), 1) << guest.error.text;
    guest.plugin.remove_calls();
}

TEST(PluginHost, a_pass_sees_the_frame_and_draws_its_random_numbers_as_one_of_the_program_does) {
    GuestWorld guest, other;
    struct Seen {
        float dt = 0;
        std::uint64_t frame = 0, seed = 0, generator = 0;
        bool operator==(const Seen&) const = default;
    } own, of_plugin;
    other.world.schedule().add("look", [&](PassContext& context) {
        own = {context.dt, context.frame, context.random_seed, context.random_for(7).state()};
    });
    shoal_pass_definition pass{};
    pass.size = sizeof pass, pass.name = "look", pass.context = &of_plugin;
    pass.run = [](void* to, const shoal_pass* at, const shoal_batch*) {
        *static_cast<Seen*>(to) = {at->dt, at->frame, at->random_seed, plugin_host_table().random_for_key(at, 7)};
    };
    ASSERT_EQ(guest.table.add_pass(&guest.plugin, &pass, &guest.error), 1) << guest.error.text;
    for (int i = 0; i < 3; ++i) {
        guest.world.step(0.25f), other.world.step(0.25f);
        EXPECT_TRUE(of_plugin == own) << i;
    }
    guest.plugin.remove_calls();
}

TEST(PluginHost, tags_are_given_and_taken_and_commands_are_those_of_the_innermost_call) {
    GuestWorld guest;
    const Entity crate = guest.entities.create().value();
    ASSERT_TRUE(guest.world.manager<Crate>().add(crate, Crate{}));
    struct Nested {
        GuestWorld* guest;
        Entity crate;
    } nested{&guest, crate};
    const auto num_red = [&] {
        const Result<TextQuery> red = TextQuery::make(guest.world.directory(), "crate, #red");
        std::uint32_t count = 0;
        if (red) red->for_each_batch([&](const TextBatch& batch) { count += batch.num_rows(); });
        return count;
    };
    const auto tag = [](void* context, shoal_commands* commands) {
        const auto& [in, entity] = *static_cast<Nested*>(context);
        EXPECT_EQ(in->table.with_commands(
                      &in->plugin,
                      [](void* of, shoal_commands* inner) {
                          EXPECT_EQ(plugin_host_table().command_tag(inner, static_cast<Nested*>(of)->crate.id, "blue"),
                                    1);
                      },
                      context, &in->error),
                  1);
        EXPECT_EQ(in->table.command_tag(commands, entity.id, "red"), 1) << "they are open again";
        LogLines log;
        EXPECT_EQ(in->table.command_tag(commands, entity.id, ""), 0);
        EXPECT_EQ(log.take(), "a plugin called command_tag: the tag is empty");
        EXPECT_EQ(in->table.command_name(commands, entity.id, ""), 0);
        EXPECT_EQ(log.take(), "a plugin called command_name: the name is empty");
    };
    ASSERT_EQ(guest.table.with_commands(&guest.plugin, tag, &nested, &guest.error), 1);
    guest.world.settle();
    EXPECT_EQ(num_red(), 1u);
    const auto untag = [](void* context, shoal_commands* commands) {
        const auto& [in, entity] = *static_cast<Nested*>(context);
        EXPECT_EQ(in->table.command_untag(commands, entity.id, "red"), 1);
    };
    ASSERT_EQ(guest.table.with_commands(&guest.plugin, untag, &nested, &guest.error), 1);
    guest.world.settle();
    EXPECT_EQ(num_red(), 0u);
}

TEST(PluginHost, a_pass_without_commands_gets_none) {
    GuestWorld guest;
    const Entity crate = guest.entities.create().value();
    ASSERT_TRUE(guest.world.manager<Crate>().add(crate, Crate{}));
    bool has_commands = false;
    const auto look = [](void* context, const shoal_pass* pass, const shoal_batch*) {
        *static_cast<bool*>(context) = pass->commands != nullptr;
    };
    for (const std::uint32_t flags : {0u, std::uint32_t(SHOAL_NO_COMMANDS)}) {
        shoal_pass_definition pass{};
        pass.size = sizeof pass, pass.name = "look", pass.query = "crate", pass.run = look;
        pass.context = &has_commands, pass.flags = flags;
        ASSERT_EQ(guest.table.add_pass(&guest.plugin, &pass, &guest.error), 1) << guest.error.text;
        guest.world.step(0);
        EXPECT_EQ(has_commands, flags == 0);
        ASSERT_EQ(guest.table.remove_pass(&guest.plugin, "look", &guest.error), 1);
    }
}

TEST(PluginHost, a_query_shows_no_column_of_numbers_that_do_not_lie_side_by_side) {
    GuestWorld guest;
    guest.world.transforms();
    const char* const columns[] = {"world_pose.position"};
    EXPECT_EQ(guest.table.make_query(&guest.plugin, "world_pose", columns, 1, &guest.error), nullptr);
    EXPECT_NE(guest.take_error().find("the numbers of \"world_pose.position\" do not lie side by side; name them: "
                                      "world_pose.position.x"),
              std::string::npos);
    const char* const lanes[] = {"world_pose.position.x", "world_pose.position.z"};
    EXPECT_NE(guest.table.make_query(&guest.plugin, "world_pose", lanes, 2, &guest.error), nullptr) << guest.error.text;
    guest.plugin.remove_calls();
}

TEST(PluginHost, a_query_is_not_destroyed_while_a_loop_or_a_pass_uses_it) {
    GuestWorld guest;
    const Entity crate = guest.entities.create().value();
    ASSERT_TRUE(guest.world.manager<Crate>().add(crate, Crate{}));
    struct Destroys {
        GuestWorld* guest;
        shoal_query* query;
        std::string error;
    } self{&guest, guest.table.make_query(&guest.plugin, "crate", nullptr, 0, &guest.error), ""};
    ASSERT_NE(self.query, nullptr);
    const auto destroy = [](void* context, const shoal_pass*, const shoal_batch*) {
        auto& [in, query, error] = *static_cast<Destroys*>(context);
        const auto nothing = [](void*, const shoal_pass*, const shoal_batch*) {};
        EXPECT_EQ(in->table.for_each_batch(&in->plugin, query, 0, nothing, nullptr, &in->error), 1);
        EXPECT_EQ(in->table.destroy_query(&in->plugin, query, &in->error), 0);
        error = in->take_error();
    };
    EXPECT_EQ(guest.table.for_each_batch(&guest.plugin, self.query, 0, destroy, &self, &guest.error), 1);
    EXPECT_EQ(self.error, "destroy_query: for_each_batch() runs over the query; destroy it when that has returned");
    EXPECT_EQ(guest.table.destroy_query(&guest.plugin, self.query, &guest.error), 1);
}

// req: D6
TEST(PluginHost, blobs_are_spawned_with_values_in_place_of_their_own) {
    GuestWorld guest;
    guest.world.manager<Crate>();
    BlobWriter writer;
    writer.set_name("store");
    const std::uint32_t type = *writer.add_component_type(schema_of<Crate>());
    for (const std::string_view name : {"left", "right"})
        writer.add_component(type, writer.add_entity({.name = name}), schema_of<Crate>().default_image());
    const Result<std::vector<std::byte>> bytes = writer.write();
    ASSERT_TRUE(bytes);
    const float mass = 7, height = 5;
    const double wide = 7;
    shoal_entity first = 0;
    const auto spawn = [&](const std::vector<shoal_override>& overrides) {
        return guest.table.spawn_overridden(&guest.plugin, bytes->data(), bytes->size(), overrides.data(),
                                            static_cast<std::uint32_t>(overrides.size()), &first, &guest.error);
    };
    constexpr std::uint32_t kSize = sizeof(shoal_override);
    ASSERT_EQ(spawn({{kSize, 4, "right", "crate.mass", &mass}, {kSize, 4, "left", "crate.place.z", &height}}), 2u)
        << guest.error.text;
    EXPECT_EQ(*guest.world.get<float>(Entity{first}, "crate.place.z"), 5);
    const std::span<const Entity> crates = guest.world.manager<Crate>().core().table().entities();
    ASSERT_EQ(crates.size(), 2u);
    EXPECT_EQ(*guest.world.get<float>(crates[1], "crate.mass"), 7);
    EXPECT_EQ(*guest.world.get<float>(crates[1], "crate.place.z"), 0);
    const std::pair<shoal_override, std::string_view> wrong[] = {
        {{kSize, 4, "top", "crate.mass", &mass}, "there is no entity \"top\"; it has left, right"},
        {{kSize, 4, "left", "crate.mas", &mass}, "did you mean \"mass\"?"},
        {{kSize, 8, "left", "crate.mass", &wide}, "crate.mass"},
        {{kSize, 4, nullptr, "crate.mass", &mass}, "the name of an entity is NULL"},
        {{kSize, 4, "left", nullptr, &mass}, "the path of a field is NULL"},
        {{kSize, 4, "left", "crate.mass", nullptr}, "the value is NULL"},
        {{8, 4, "left", "crate.mass", &mass}, "does not begin with sizeof(shoal_override)"}};
    for (const auto& [given, message] : wrong) {
        EXPECT_EQ(spawn({given}), 0u);
        const std::string error = guest.take_error();
        EXPECT_NE(error.find(message), std::string::npos) << error;
        EXPECT_EQ(guest.world.manager<Crate>().num_rows(), 2u);
    }
    EXPECT_EQ(spawn({}), 2u) << guest.error.text;
}

TEST(PluginHost, an_observer_names_a_kind_and_a_field_that_there_are) {
    GuestWorld guest;
    const shoal_schema schema = box();
    const shoal_component* const type = guest.table.declare_component(&guest.plugin, &schema, &guest.error);
    const auto nothing = [](void*, const shoal_change*) {};
    const auto add = [&](std::uint32_t kind, const char* field, shoal_observer_function run) {
        EXPECT_EQ(guest.table.add_observer(&guest.plugin, kind, type, field, run, nullptr, &guest.error), 0u);
        return guest.take_error();
    };
    EXPECT_EQ(add(3, nullptr, nothing), "there is no kind 3 of observers");
    EXPECT_EQ(add(SHOAL_ON_CHANGE, "mess", nothing), "\"box\" has no field \"mess\"; did you mean \"mass\"?");
    EXPECT_EQ(add(SHOAL_ON_ADD, "mass", nothing), "only an observer of changes names a field");
    EXPECT_EQ(add(SHOAL_ON_ADD, nullptr, nullptr), "add_observer: the function is NULL");
}

TEST(PluginHost, an_observer_of_a_field_hears_of_that_one_alone) {
    GuestWorld guest;
    Manager<Crate>& crates = guest.world.manager<Crate>();
    const Entity made = guest.entities.create().value();
    ASSERT_TRUE(crates.add(made, Crate{}));
    const shoal_component* const type = guest.table.find_component(&guest.plugin, "crate", &guest.error);
    std::uint32_t num_told[3] = {};
    const auto count = [](void* to, const shoal_change* change) {
        *static_cast<std::uint32_t*>(to) += change->num_entities;
    };
    const char* const fields[] = {"mass", "place", nullptr};
    for (int i = 0; i < 3; ++i)
        ASSERT_NE(guest.table.add_observer(&guest.plugin, SHOAL_ON_CHANGE, type, fields[i], count, &num_told[i],
                                           &guest.error),
                  0u)
            << guest.error.text;
    crates.set<&Crate::mass>(crates.instance(made), 8);
    guest.world.settle();
    EXPECT_EQ((std::vector<std::uint32_t>{num_told[0], num_told[1], num_told[2]}),
              (std::vector<std::uint32_t>{1, 0, 1}));
    crates.set<&Crate::place>(crates.instance(made), {1, 2, 3});
    guest.world.settle();
    EXPECT_EQ((std::vector<std::uint32_t>{num_told[0], num_told[1], num_told[2]}),
              (std::vector<std::uint32_t>{1, 1, 2}));
    guest.plugin.remove_calls();
}

struct Dent {
    float depth = 0;
};
SHOAL_COMPONENT((Dent, many), depth)

TEST(PluginHost, an_observer_is_told_values_unless_an_entity_may_have_several_until_it_is_removed) {
    GuestWorld guest;
    Manager<Crate>& crates = guest.world.manager<Crate>();
    Manager<Dent>& dents = guest.world.manager<Dent>();
    std::string told;
    const auto tell = [](void* to, const shoal_change* change) {
        const auto* const mass = static_cast<const float*>(change->values_before);
        *static_cast<std::string*>(to) += std::to_string(change->num_entities) + (mass == nullptr ? "-" : "+");
    };
    const auto listen = [&](std::uint32_t kind, const char* name) {
        const shoal_component* const type = guest.table.find_component(&guest.plugin, name, &guest.error);
        return guest.table.add_observer(&guest.plugin, kind, type, nullptr, tell, &told, &guest.error);
    };
    const std::uint32_t first = listen(SHOAL_ON_REMOVE, "crate");
    ASSERT_NE(first, 0u) << guest.error.text;
    ASSERT_NE(listen(SHOAL_ON_REMOVE, "dent"), 0u) << guest.error.text;
    ASSERT_NE(listen(SHOAL_ON_ADD, "dent"), 0u) << guest.error.text;
    std::vector<Entity> made(3);
    ASSERT_TRUE(guest.entities.create(made).ok() && crates.add(made).ok() && dents.add(made).ok());
    guest.world.settle();
    EXPECT_EQ(told, "3-");
    told.clear();
    crates.remove(made[0]), dents.remove({&made[1], 1});
    guest.world.settle();
    EXPECT_EQ(told, "1+1-");
    ASSERT_EQ(guest.table.remove_observer(&guest.plugin, first, &guest.error), 1);
    EXPECT_EQ(guest.table.remove_observer(&guest.plugin, first, &guest.error), 0);
    EXPECT_EQ(guest.take_error(), "plugin \"guest\" has no observer 1");
    told.clear();
    crates.remove(made[1]);
    guest.world.settle();
    EXPECT_EQ(told, "");
    const std::uint32_t later = listen(SHOAL_ON_REMOVE, "crate");
    EXPECT_EQ(later, 4u) << "no two have one number, whatever was removed";
    ASSERT_EQ(guest.table.remove_observer(&guest.plugin, later, &guest.error), 1);
    dents.remove({&made[2], 1});
    guest.world.settle();
    EXPECT_EQ(told, "1-") << "the others listen on";
    guest.plugin.remove_calls();
}

TEST(PluginHost, null_is_refused_with_a_message_in_every_call) {
    GuestWorld guest;
    LogLines log;
    const shoal_host& host = guest.table;
    shoal_world* const world = &guest.plugin;
    shoal_error* const error = &guest.error;
    const shoal_schema schema = box();
    const shoal_component* const type = host.declare_component(world, &schema, error);
    shoal_entity entity = 0;
    ASSERT_EQ(host.create_entities(world, &entity, 1, error), 1);
    const auto nothing = [](void*, const shoal_change*) {};
    const auto is_refused = [&](auto result, const char* says) {
        EXPECT_FALSE(result) << says;
        EXPECT_EQ(guest.take_error() + log.take(), says);
    };
    is_refused(host.create_entities(nullptr, &entity, 1, error), "create_entities: the world is NULL");
    is_refused(host.create_entities(world, nullptr, 1, error), "create_entities: the list of entities is NULL");
    is_refused(host.destroy_entities(world, nullptr, 1),
               "a plugin called destroy_entities: the list of entities is NULL");
    is_refused(host.is_alive(nullptr, entity), "a plugin called is_alive: the world is NULL");
    is_refused(host.declare_component(world, nullptr, error), "declare_component: the schema is NULL");
    is_refused(host.define_component(world, type, nullptr, error), "define_component: the definition is NULL");
    is_refused(host.find_component(world, nullptr, error), "find_component: the name is NULL");
    is_refused(host.image_bytes(world, nullptr), "a plugin called image_bytes: the component is NULL");
    is_refused(host.has_component(world, nullptr, entity), "a plugin called has_component: the component is NULL");
    is_refused(host.add_rows(world, nullptr, &entity, 1, nullptr, 0, error), "add_rows: the component is NULL");
    is_refused(host.remove_rows(world, nullptr, &entity, 1, error), "remove_rows: the component is NULL");
    is_refused(host.get_field(world, entity, nullptr, &entity, 4, error), "get_field: the path is NULL");
    is_refused(host.get_field(world, entity, "box.mass", nullptr, 4, error), "get_field: the value is NULL");
    is_refused(host.set_field(world, entity, nullptr, &entity, 4, error), "set_field: the path is NULL");
    is_refused(host.add_store(world, &schema, nullptr, error), "add_store: the store is NULL");
    is_refused(host.rows_moved(world, nullptr, error), "rows_moved: the component is NULL");
    is_refused(host.write_bytes(nullptr, "x", 1), "a plugin called write_bytes: the writer is NULL");
    is_refused(host.make_query(world, nullptr, nullptr, 0, error), "make_query: the text is NULL");
    is_refused(host.destroy_query(world, nullptr, error), "destroy_query: the query is NULL");
    is_refused(host.num_rows(world, nullptr), "a plugin called num_rows: the query is NULL");
    shoal_query* const query = host.make_query(world, "box", nullptr, 0, error);
    is_refused(host.for_each_batch(world, query, 0, nullptr, nullptr, error), "for_each_batch: the function is NULL");
    is_refused(host.add_pass(world, nullptr, error), "add_pass: the pass is NULL");
    is_refused(host.remove_pass(world, nullptr, error), "remove_pass: the name is NULL");
    is_refused(host.command_create(nullptr), "a plugin called command_create: the object of the commands is NULL");
    is_refused(host.command_tag(nullptr, entity, "x"),
               "a plugin called command_tag: the object of the commands is NULL");
    is_refused(host.open_channel(world, nullptr, 4, error), "open_channel: the name is NULL");
    is_refused(host.write_events(world, nullptr, &entity, 1), "a plugin called write_events: the channel is NULL");
    const void* events = nullptr;
    is_refused(host.read_events(world, nullptr, &events), "a plugin called read_events: the channel is NULL");
    is_refused(host.add_observer(world, SHOAL_ON_ADD, nullptr, nullptr, nothing, nullptr, error),
               "add_observer: the component is NULL");
    is_refused(host.random_next(nullptr), "a plugin called random_next: the generator is NULL");
    is_refused(host.for_rows(world, nullptr, 5, nullptr, nullptr), "a plugin called for_rows: the function is NULL");
    is_refused(host.spawn_blob(world, nullptr, 5, nullptr, error), "spawn_blob: the blob is NULL");
    is_refused(host.spawn_overridden(world, nullptr, 5, nullptr, 0, nullptr, error),
               "spawn_overridden: the blob is NULL");
    is_refused(host.spawn_overridden(world, &entity, 4, nullptr, 1, nullptr, error),
               "spawn_overridden: the overrides are NULL");
    is_refused(host.find_array(world, nullptr, SHOAL_FLOAT, nullptr), "a plugin called find_array: the array is NULL");
    is_refused(host.string_id(world, nullptr, nullptr, error), "string_id: the text is NULL");
    is_refused(host.enable_pass(world, nullptr, 1, error), "enable_pass: the name is NULL");
    is_refused(host.copy_entity(world, entity, nullptr, error), "copy_entity: where the copy goes is NULL");
    is_refused(host.command_copy(nullptr, entity), "a plugin called command_copy: the object of the commands is NULL");
    is_refused(host.command_name(nullptr, entity, "x"),
               "a plugin called command_name: the object of the commands is NULL");
    is_refused(host.with_commands(world, nullptr, nullptr, error), "with_commands: the function is NULL");
    is_refused(host.get_image(world, type, entity, nullptr, error), "get_image: the image is NULL");
    is_refused(host.add_verb(world, nullptr, error), "add_verb: the verb is NULL");
    is_refused(host.compile_error(nullptr, {}, "x"), "a plugin called compile_error: the compilation is NULL");
    // And what was destroyed, or belongs to a call that has ended.
    ASSERT_EQ(host.destroy_query(world, query, error), 1);
    is_refused(host.destroy_query(world, query, error),
               "destroy_query: plugin \"guest\" has no such query; it was destroyed");
}

TEST(PluginHost, fields_are_enums_relations_and_arrays_of_the_blob) {
    GuestWorld guest;
    const shoal_enumerator moods[] = {{"calm", 0}, {"wild", 300}};
    const std::uint16_t wild = 300;
    const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_ENUM, "mood", nullptr, &wild, 0, 2, 0, 0, moods, 2, 0},
        {sizeof(shoal_field), SHOAL_ENTITY, "rider", nullptr, nullptr, 0, 0, SHOAL_DIES_TOO, 0, nullptr, 0, 0},
        {sizeof(shoal_field), SHOAL_BLOB_ARRAY, "song", nullptr, nullptr, 0, 0, 0, SHOAL_FLOAT, nullptr, 0, 0}};
    shoal_schema horse{sizeof horse, 1, "horse", fields, 3, 0};
    const shoal_component* const type = guest.table.declare_component(&guest.plugin, &horse, &guest.error);
    ASSERT_NE(type, nullptr) << guest.error.text;
    shoal_entity made[2];
    ASSERT_EQ(guest.table.create_entities(&guest.plugin, made, 2, &guest.error), 1);
    ASSERT_EQ(guest.table.add_rows(&guest.plugin, type, made, 1, nullptr, 0, &guest.error), 1) << guest.error.text;
    EXPECT_EQ(guest.world.get(Entity{made[0]}, "horse.mood")->to_text(), "\"wild\"");
    ASSERT_EQ(guest.table.set_field(&guest.plugin, made[0], "horse.rider", &made[1], sizeof made[1], &guest.error), 1);
    guest.world.settle();
    guest.table.destroy_entities(&guest.plugin, &made[1], 1);
    guest.world.settle();
    EXPECT_FALSE(guest.entities.alive(Entity{made[0]})) << "it dies with its rider";
    const auto declare = [&](shoal_field field) {
        const shoal_schema odd{sizeof odd, 1, "odd", &field, 1, 0};
        EXPECT_EQ(guest.table.declare_component(&guest.plugin, &odd, &guest.error), nullptr);
        return guest.take_error();
    };
    shoal_field field = fields[0];
    field.num_enumerators = 0;
    EXPECT_EQ(declare(field), "component \"odd\": field \"mood\" is an enum without enumerators");
    field = fields[1];
    field.flags = SHOAL_CLEARED | SHOAL_DIES_TOO;
    EXPECT_EQ(declare(field),
              "component \"odd\": field \"rider\" cannot be cleared and die too, when its target dies; choose one");
    field.type = SHOAL_UINT32, field.flags = SHOAL_RELATION;
    EXPECT_EQ(declare(field), "component \"odd\": field \"rider\" is a relation, but no entity");
    field = fields[2];
    field.element_type = 0;
    EXPECT_EQ(
        declare(field),
        "component \"odd\": field \"song\" is a blob array of type 0, which is none of SHOAL_BOOL to SHOAL_ENTITY");
}

}  // namespace
