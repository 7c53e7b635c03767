#pragma once
// Where programs play: component types of every kind, and three worlds that keep them in different stores. `sea` and `lake`
// share an entity manager; `pond` has one of its own, so it alone can be saved and loaded. Programs that were printed
// include this header; what it does with shoal is what any engineer would write.
//
//     Stage stage({.in_database = {0, 0x1fff, 0x555}});  // sea: managers; lake: the database; pond: every second type
//     World& sea = stage.sea;
//     expect(sea.entities().create(std::span(&e[2], 3)), "ok");
//     expect(sea.manager<Mark>().add(e[2], Mark{5}).ok(), "true");
//
// Entities have names: e[0] to e[15] are those of sea and lake, p[0] to p[15] those of pond. e[0] and p[0] are always
// null, e[1] and p[1] are ids that nobody has created.

#include "shoal/command/commands.h"
#include "shoal/components/activity.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/query/query.h"
#include "shoal/query/text_query.h"
#include "shoal/react/observers.h"
#include "shoal/react/position_links.h"
#include "shoal/react/relations.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/detail/blob_values.h"
#include "shoal/resource/migration.h"
#include "shoal/save/frames.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/state/snapshot.h"
#include "shoal/transform/transform.h"
#include "shoal/world/copy.h"
#include "shoal/world/entity_blob.h"
#include "shoal/world/world.h"
#include "support/thread_pool_executor.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace programs {

using namespace shoal;

// --- component types -------------------------------------------------------------------------------------------------

struct Mark {
    int n = 0;
};
SHOAL_COMPONENT(Mark, n)
struct Place {
    int n = 0;
    Vec3 at{};
};
SHOAL_COMPONENT(Place, n, (at, split))
struct Body {
    int n = 0;
    double weight = 0;
    bool is_odd = false;
};
SHOAL_COMPONENT((Body, whole), n, weight, is_odd)
struct Scar {
    int n = 0;
};
SHOAL_COMPONENT((Scar, many), n)
struct Title {
    std::string text;
};
SHOAL_COMPONENT(Title, text)
struct Hungry {
    int n = 0;
};
SHOAL_COMPONENT((Hungry, enableable), n)
struct Wet {};
SHOAL_COMPONENT(Wet)
struct Hunts {
    Entity who;
};
SHOAL_COMPONENT(Hunts, (who, relation))
struct Likes {
    Entity who;
};
SHOAL_COMPONENT(Likes, (who, relation(cleared)))
struct Rides {
    Entity who;
};
SHOAL_COMPONENT(Rides, (who, relation(dies_too)))
struct Song {
    int n = 0;
    BlobArray<int> notes;
};
SHOAL_COMPONENT(Song, n, notes)
/// Its places lie on the x axis: they follow transforms, or are followed, and say in which zone a row lies.
struct Buoy {
    Vec3 at{}, seen{};
};
SHOAL_COMPONENT(Buoy, (at, split), seen)
struct Coin {
    int n = 0;
};
SHOAL_COMPONENT(Coin, n)
struct Wind {
    int n = 0;
};
SHOAL_COMPONENT((Wind, singleton), n)
/// The place of an entity in its blob. Only blobs have it: entities lose it as soon as they are made, so it tells who is new.
struct Origin {
    std::uint32_t number = 0;
};
SHOAL_COMPONENT(Origin, number)

/// Versions of a scene, which differ in all that a reload matches: who is in it, by GUID, in which order, what they have, which
/// fields a component type without a C++ type has, and which models there are.
struct SceneEntity {
    int guid = 0, mark = 0;
    bool has_relic = false;
    int n = 0, extra = 0;  // of the relic
    int tree = -1;         // of kModels; -1: no model
};
inline constexpr int kRelicDefaults[] = {1, 7};
/// Whether a relic has `n`, in bit 0, and `extra`, in bit 1.
inline int relic_fields_of(int scene) { return 1 + scene % 3; }
/// The version of a relic with these fields: `extra` has come after `n`, which has gone then.
inline std::uint32_t relic_version_of(int fields) { return fields == 1 ? 1 : fields == 3 ? 2 : 3; }
/// What migrations say that a version adds to a field of the one before.
inline constexpr int kAddedToRelics = 100;
/// Versions 2k and 2k + 1 have the same trees, in another order. Some have no models.
inline int tree_of(int scene, int guid) {
    const int which = scene % 5 == 4 ? 0 : (scene / 2 + guid / 2) % 4;
    return which == 0 ? -1 : 1 + which;
}
inline std::vector<SceneEntity> scene_of(int scene) {
    std::vector<SceneEntity> all;
    for (int guid = 1; guid <= 3; ++guid)
        if (guid == 1 || (scene / 3 + guid) % 4 != 0)
            all.push_back({guid, 100 * guid + scene, guid != 2 || scene % 2 == 0, 10 * guid + scene % 5, scene % 4 + 5,
                           tree_of(scene, guid)});
    if (scene % 2 == 1) std::reverse(all.begin(), all.end());
    return all;
}

struct Bell {
    Entity who;
    EntityBits n = 0;  // without bytes behind it
};

/// The tiles of worlds, to the left of x = 2 and to the right of it. Zone 3 is for what is larger than a tile.
inline const GridZones kTiles({.tile_size = 2, .num_x = 2, .first_zone = 1});

/// A store of a class of its own, which is attached and detached.
class CoinStore final : public Store {
public:
    CoinStore(EntityManager& entities, PagePool& pool)
        : rows_(schema_of<Coin>(), entities, pool, {.store = this, .kind = "the coins"}) {}

    std::string_view kind() const override { return "the coins"; }
    std::span<const Schema* const> schemas() const override { return rows_.schemas(); }
    OwnedColumns find_columns(const Schema& component) override { return rows_.find_columns(component); }
    Status spawn(const SpawnBatch& batch) override { return rows_.spawn(batch); }
    void drop(std::span<const Entity> entities) override { rows_.remove(entities); }
    Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                     const AddedValues& values) override {
        return rows_.add_values(component, entities, values);
    }
    Result<std::uint32_t> remove_values(const Schema&, std::span<const Entity> entities) override {
        return rows_.remove(entities);
    }
    void hold_rows(bool hold) override { rows_.hold(hold); }
    void settle(const SettleContext& context) override { rows_.settle(context); }
    void save(SnapshotWriter& to) const override { rows_.save(to); }
    Status load(SnapshotReader& from) override { return rows_.load(from); }
    std::span<const Table* const> tables() const override { return rows_.tables(); }
    std::size_t statistics(std::span<StoreStatistics> out) const override { return rows_.statistics(out); }
    Status validate() const { return rows_.validate(); }

private:
    OwnedRows rows_;
};

// --- texts -----------------------------------------------------------------------------------------------------------

inline std::string text_of(bool value) { return value ? "true" : "false"; }
template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
std::string text_of(T value) {
    return std::to_string(static_cast<long long>(value));
}
inline std::string text_of(const int* value) { return value == nullptr ? "nothing" : text_of(*value); }
inline std::string text_of(const Status& status) { return status ? "ok" : "refused"; }
inline std::string text_of(const ReloadReport& report) {
    return std::to_string(report.num_copies) + " copies, " + std::to_string(report.num_created) + " created, " +
           std::to_string(report.num_destroyed) + " destroyed, " + std::to_string(report.num_changed) + " changed";
}
inline std::string text_of(std::string_view text) { return std::string(text); }
inline std::string text_of(const AddCounts& counts) {
    return std::to_string(counts.num_added) + " added, " + std::to_string(counts.num_set) + " set, " +
           std::to_string(counts.num_skipped) + " skipped";
}
inline std::string text_of(const Mark& value) { return std::to_string(value.n); }
inline std::string text_of(const Scar& value) { return std::to_string(value.n); }
inline std::string text_of(const Hungry& value) { return std::to_string(value.n); }
inline std::string text_of(const Coin& value) { return std::to_string(value.n); }
inline std::string text_of(const Title& value) { return value.text; }
inline std::string text_of(const Wet&) { return "there"; }
inline std::string text_of(const Place& value) {
    return std::to_string(value.n) + "/" + std::to_string(int(value.at.x)) + " " + std::to_string(int(value.at.z));
}
inline std::string text_of(const Body& value) {
    return std::to_string(value.n) + "/" + std::to_string(int(value.weight)) + (value.is_odd ? " odd" : " even");
}

inline std::string text_of(const Buoy& value) {
    return std::to_string(int(value.at.x)) + " " + std::to_string(int(value.seen.x));
}
template <class T>
std::string text_of(const Result<T>& result) {
    return result ? text_of(*result) : "refused";
}

inline int num_unexpected = 0;

/// Says where a value is not what the model of the tests says.
template <class T>
void expect(const T& value, const char* expected, const std::source_location& where = std::source_location::current()) {
    const std::string found = text_of(value);
    if (found == expected) return;
    std::printf("%s:%u: expected \"%s\", found \"%s\"\n", where.file_name(), unsigned(where.line()), expected,
                found.c_str());
    ++num_unexpected;
}

// --- the stage -------------------------------------------------------------------------------------------------------

/// What a pass does with each entity whose mark is not below a number.
struct Rule {
    enum Action {
        kNothing,
        kDestroy,
        kAddScar,
        kRemoveScars,
        kAddHungry,
        kRemoveHungry,
        kAddPlace,
        kRemovePlace,
        kMove,
        kCreate,  ///< this and the others that make some: only for those with names, or there would be ever more
        kRing,
        kTag,
        kSleep,
        kFirstOfSecond,
        kWake = kFirstOfSecond,
        kSet,         ///< the mark
        kRemoveMark,  ///< itself
        kSetProperty,
        kLink,  ///< below the other
        kUnlink,
        kOwn,  ///< is given to the other
        kRelease,
        kCopy,   ///< only who has a name: otherwise there would be twice as many in each frame
        kSpawn,  ///< the last blob, if it is a tree, once for each who has a name
        kBrood,  ///< creates one that it owns and likes
        kNumActions
    };
    int from = 0;
    Action action = kNothing;
    int growth = 0;  ///< of all marks, in each frame
    Entity other{};
};

/// What differs from program to program. Bit i of in_database[w]: world w keeps type i of kTypeNames in its database.
struct StageOptions {
    std::array<unsigned, 3> in_database{};
    RowIndexKind index = RowIndexKind::kPaged;   // of managers of Mark, Place, Body, Hungry and Wet
    DeathPolicy death = DeathPolicy::kAtSettle;  // of managers of Place, Body and Hunts
    ChildrenOfDead children = ChildrenOfDead::kBecomeRoots;
    unsigned num_workers = 1;
    std::uint32_t minimum_free_ids = 1029;
};

inline constexpr int kNumNames = 16;
inline constexpr const char* kTypeNames[] = {"Mark",  "Place", "Body",  "Scar", "Title", "Hungry",         "Wet",
                                             "Hunts", "Likes", "Rides", "Buoy", "Song",  "AttachedToNode", "Coin"};

/// Nodes of models, by which entities are attached to them. No model has the last one.
inline constexpr const char* kNodeNames[] = {"hip", "knee", "tail", "hat"};
inline StringId node_name(int node) { return StringId(std::string_view(kNodeNames[node % 4])); }
/// The models: one that programs give to entities, one that lies in a blob, and those of scenes.
struct ModelTree {
    std::vector<int> names;  // of kNodeNames
    std::vector<std::uint32_t> parents;
    std::vector<int> places;  // on the x axis
};
inline const ModelTree kModels[] = {{{0, 1, 2}, {kNilRow, 0, 0}, {1, 2, 3}},
                                    {{0, 1}, {kNilRow, 0}, {5, 6}},
                                    {{0, 1}, {kNilRow, 0}, {7, 8}},
                                    {{2, 0, 1}, {kNilRow, 0, 1}, {4, 1, 2}},
                                    {{1, 0}, {kNilRow, kNilRow}, {7, 8}}};

inline std::string text_of(const AttachedToNode& value) {
    int node = 0;
    while (node < 3 && value.node != node_name(node)) ++node;
    return std::string(kNodeNames[node]) + " " + std::to_string(int(value.position.x));
}

/// Gives an entity that a command creates its name.
struct NameAs {
    Entity* name;
    void operator()(Entity self) const { *name = self; }
};

class Stage {
public:
    explicit Stage(const StageOptions& given = {})
        : options(given),
          entities({.minimum_free_ids = given.minimum_free_ids}),
          pond_entities({.minimum_free_ids = given.minimum_free_ids}),
          executor(given.num_workers),
          sea(entities, {.executor = &executor, .library = &libraries[0]}),
          lake(entities, {.executor = &executor, .library = &libraries[1]}),
          pond(pond_entities, {.executor = &executor, .library = &libraries[2]}),
          coins{CoinStore(entities, sea.pool()), CoinStore(entities, lake.pool()),
                CoinStore(pond_entities, pond.pool())} {
        e[1] = p[1] = make_entity(4000, 7);
        for (int world = 0; world < 3; ++world) set_up(world);
    }
    ~Stage() {
        for (int i = 0; i < 3; ++i)
            if (is_attached[std::size_t(i)]) world(i).detach(coins[std::size_t(i)]);
        static_cast<void>(persistence(pond).stop());  // before its folder goes
        std::error_code ignored;
        if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    }
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    Frames& frames(const World& world) { return beside_of(world).frames; }
    ZoneStreaming& zones(const World& world) { return beside_of(world).zones; }
    Persistence& persistence(const World& world) { return beside_of(world).persistence; }
    Reloader& reloader(const World& world) { return beside_of(world).reloader; }

    World& world(int number) { return number == 0 ? sea : number == 1 ? lake : pond; }
    int number_of(const World& world) const { return &world == &sea ? 0 : &world == &lake ? 1 : 2; }
    bool in_database(int world, int type) const {
        return (options.in_database[std::size_t(world)] >> unsigned(type) & 1) != 0;
    }
    std::array<Entity, kNumNames>& names(const World& world) { return &world == &pond ? p : e; }
    CoinStore& coins_of(const World& world) { return coins[std::size_t(number_of(world))]; }
    ResourceLibrary& library(const World& world) { return libraries[std::size_t(number_of(world))]; }
    Rule& rule(const World& world) { return rules[std::size_t(number_of(world))]; }
    /// Folders, which go with the stage, for what a world persists and for its zones, and a file beside them.
    std::string folder(const World& world) { return folder() + "/" + std::to_string(number_of(world)); }
    std::string zones_folder(const World& world) { return folder(world) + "_zones"; }
    std::string file() { return folder() + "/pond.save"; }

    // --- what can be seen --------------------------------------------------------------------------------------------

    /// "e[3]", "null", or "another" if no name has it.
    std::string name(const World& world, Entity entity) {
        if (!entity) return "null";
        const auto& all = names(world);
        for (std::size_t i = 1; i < all.size(); ++i)
            if (all[i] == entity) return (&world == &pond ? "p[" : "e[") + std::to_string(i) + "]";
        return "another";
    }
    /// Names in a fixed order, "e[2] e[5] another another".
    std::string set_of(const World& world, std::vector<Entity> all) {
        std::vector<std::string> texts;
        for (const Entity entity : all)
            if (world.entities().alive(entity)) texts.push_back(name(world, entity));
        std::sort(texts.begin(), texts.end());
        return joined(texts);
    }
    /// The same in the order in which they are given, and the dead too.
    std::string list_of(const World& world, const std::vector<Entity>& all) {
        std::vector<std::string> texts;
        for (const Entity entity : all) texts.push_back(name(world, entity));
        return joined(texts);
    }
    static std::string joined(const std::vector<std::string>& texts) {
        std::string result;
        for (const std::string& text : texts) result += (result.empty() ? "" : " ") + text;
        return result;
    }

    /// The values that a living entity has of a type: "3", "none", "5 4" for several, "disabled".
    template <class T>
    std::string values(World& world, Entity entity) {
        if (!world.entities().alive(entity)) return "dead";
        const Store* const store = world.directory().find(schema_of<T>().id());
        if (store == nullptr) return "no store";
        const ComponentRow at = store->find_row(schema_of<T>().id(), entity, 0);
        if (!at) return "none";
        if (!at.is_enabled) return "disabled";
        if constexpr (std::is_same_v<T, Coin>) {
            return text_of(world.get<int>(entity, "coin.n"));
        } else {
            return in_database(number_of(world), type_of<T>()) ? values_in_database<T>(world, entity)
                                                               : values_in_manager<T>(world, entity);
        }
    }
    /// Who a query visits, without the dead.
    template <class Query>
    std::string visited(World& world, const Query& query) {
        std::vector<Entity> all;
        query.for_each([&](Entity who, auto&&...) { all.push_back(who); });
        return set_of(world, all);
    }
    /// The same with the sum of the numbers that it reads of the living.
    template <class Query>
    std::string sum(World& world, const Query& query) {
        long long total = 0;
        query.for_each([&](Entity who, int n) { total += world.entities().alive(who) ? n : 0; });
        return std::to_string(total);
    }
    /// The same for a query from text.
    std::string visited(World& world, const char* text) {
        const Result<TextQuery> query = TextQuery::make(world.directory(), text);
        if (!query) return std::string(query.message());
        std::vector<Entity> all;
        query->for_each_batch(
            [&](const TextBatch& batch) { all.insert(all.end(), batch.entities().begin(), batch.entities().end()); });
        return set_of(world, all);
    }
    std::string parent(World& world, Entity entity) {
        TransformManager& transforms = world.transforms();
        if (!world.entities().alive(entity) || !transforms.has(entity)) return "no transform";
        const Instance above = transforms.parent(transforms.instance(entity));
        return above ? name(world, transforms.entity(above)) : "root";
    }
    std::string children(World& world, Entity entity) {
        if (!world.entities().alive(entity) || !world.transforms().has(entity)) return "no transform";
        return list_of(world, list_children(world, entity));
    }
    /// Requires: the entity has a transform.
    static std::vector<Entity> list_children(World& world, Entity entity) {
        TransformManager& transforms = world.transforms();
        std::vector<Entity> all;
        for (Instance i = transforms.first_child(transforms.instance(entity)); i; i = transforms.next_sibling(i))
            all.push_back(transforms.entity(i));
        return all;
    }
    std::string position(World& world, Entity entity) {
        TransformManager& transforms = world.transforms();
        if (!world.entities().alive(entity) || !transforms.has(entity)) return "no transform";
        const Instance i = transforms.instance(entity);
        return std::to_string(int(transforms.local(i).position.x)) + " " +
               std::to_string(int(transforms.world_position(i).x));
    }
    std::string owned(World& world, Entity entity) { return list_of(world, list_owned(world, entity)); }
    static std::vector<Entity> list_owned(World& world, Entity entity) {
        std::vector<Entity> all;
        world.ownership().for_each_owned(entity, [&](Entity one) { all.push_back(one); });
        return all;
    }
    std::string tags(World& world, Entity entity) {
        std::vector<std::string> all;
        TagManager tags(world.manager<Tag>(), world.strings());
        tags.for_each_tag(entity, [&](StringId tag) { all.emplace_back(tags.text(tag)); });
        std::sort(all.begin(), all.end());
        return joined(all);
    }
    std::string zone(World& world, Entity entity) {
        if (!world.entities().alive(entity)) return "dead";
        const DatabaseRow at = world.database().find(entity);
        return at ? std::to_string(at.table->zone()) : "no row";
    }
    template <auto kMember>
    std::string referrers(World& world, Entity entity) {
        if (!world.entities().alive(entity)) return "dead";
        std::vector<Entity> all;
        for (const Entity one : world.relations().referrers<kMember>(entity)) all.push_back(one);
        return set_of(world, all);
    }
    Status validate(World& world) {
        for (const Status& status :
             {world.database().validate(), world.transforms().validate(), world.ownership().validate(),
              world.activity().validate(), world.properties().validate(), world.model_poses().validate(),
              world.manager<Tag>().core().validate(), coins_of(world).validate()})
            if (!status) return status;
        return {};
    }
    /// The zones that lie in files, with how many rows, and how often any were unloaded and loaded.
    std::string unloaded(const World& world) {
        const ZoneFileStatistics statistics = zones(world).statistics();
        std::string all;
        zones(world).unloaded().for_each([&](Zone zone) { all += std::to_string(zone) + " "; });
        return all + "with " + std::to_string(statistics.num_rows) + " rows, unloaded " +
               std::to_string(statistics.num_unloads) + ", loaded " + std::to_string(statistics.num_loads);
    }
    /// What observers were told by the last settle.
    std::string told(const World& world) {
        std::vector<std::string> all;
        for (const Told& one : told_[std::size_t(number_of(world))])
            if (one.settle + 1 == world.settle_statistics().num_settles) all.push_back(one.text);
        std::sort(all.begin(), all.end());
        return joined(all);
    }

    // --- what takes more than a call ---------------------------------------------------------------------------------

    /// Creates entities that get no names, with a mark.
    Status crowd(World& world, std::uint32_t count, int n) {
        std::vector<Entity>& all = crowds[std::size_t(number_of(world))];
        all.resize(count);
        if (Status status = world.entities().create(all); !status) return status;
        if (in_database(number_of(world), 0))
            return world.database().insert<Mark>(all, 0, std::vector<Mark>(count, {n})).status();
        return world.manager<Mark>().add(all, Mark{n}).status();
    }
    /// Gives entities marks, by which passes act, wherever the world keeps them.
    Result<AddCounts> mark(World& world, std::span<const Entity> all, int n) {
        if (in_database(number_of(world), 0)) return world.database().add(all, Mark{n});
        return world.manager<Mark>().add(all, Mark{n});
    }
    /// Gives an entity a buoy and a transform.
    Result<AddCounts> float_there(World& world, Entity entity, int n, int m) {
        if (const auto added = world.transforms().add({&entity, 1}, {.position = {float(n), 0, 0}}); !added)
            return added.status();
        const Buoy buoy{{float(n), 0, 0}, {float(m), 0, 0}};
        if (in_database(number_of(world), 10)) return world.database().add(std::span(&entity, 1), buoy);
        return world.manager<Buoy>().add(std::span(&entity, 1), buoy);
    }
    /// Attaches an entity to a node of another one, below which it hangs then, if it can.
    Result<AddCounts> attach_to_node(World& world, Entity entity, Entity parent, int n, int m) {
        TransformManager& transforms = world.transforms();
        if (const auto added = transforms.add({&parent, 1}, {.position = {float(m), 0, 0}}); !added)
            return added.status();
        if (const auto added = transforms.add({&entity, 1}, {.position = {float(n), 0, 0}}); !added)
            return added.status();
        static_cast<void>(transforms.link(transforms.instance(entity), transforms.instance(parent)));
        const AttachedToNode attached{.node = node_name(n), .position = {float(m), 0, 0}};
        if (in_database(number_of(world), 12)) return world.database().add(std::span(&entity, 1), attached);
        return world.manager<AttachedToNode>().add(std::span(&entity, 1), attached);
    }
    Status attach(World& world) {
        const Status status = world.attach(coins_of(world));
        if (status) is_attached[std::size_t(number_of(world))] = true;
        return status;
    }
    Status detach(World& world) {
        world.detach(coins_of(world));
        is_attached[std::size_t(number_of(world))] = false;
        return {};
    }
    /// Loads what was saved, or goes back some frames, and forgets the ids of those who do not live then: a later life may
    /// have the same.
    template <class From>
    Status load(World& world, const From& from) {
        const Status status = shoal::load(world, from);
        return status ? forget_dead(world) : status;
    }
    /// The same for what was persisted.
    std::string recover(World& world) {
        const Result<Recovered> recovered = persistence(world).recover(folder(world));
        if (!recovered) return "refused";
        if (!recovered->damage.empty()) return recovered->damage;
        return recovered->found ? text_of(forget_dead(world)) : "nothing there";
    }
    Status go_back(World& world, std::uint64_t num_frames) {
        const Status status = frames(world).rewind(frames(world).statistics().last - num_frames);
        return status ? forget_dead(world) : status;
    }
    /// Settles, and brings what a reader of changes knows of all marks, or of another type, up to date: by the journal
    /// who has one, and by the rows that were written since what it says. It begins anew after a load, and when the
    /// journal has forgotten too much.
    template <class T = Mark>
    std::string catch_up(World& world) {
        world.settle();
        Reader& reader = readers_[std::size_t(number_of(world))][std::size_t(type_of<T>())];
        const Journal journal = world.observers().journal(reader.since);
        const auto note = [&](Entity who, int n) { reader.numbers[who] = n; };
        if (!reader.is_current || !journal.is_complete) {
            reader.numbers.clear();
            world.query<Read<&T::n>>().with_inactive().for_each(note);
        } else {
            for (const JournalEntry& entry : journal.entries)
                for (const Entity who : entry.entities) reader.hear(entry, schema_of<T>().id(), who);
            world.query<Read<&T::n>>().with_inactive().changed_since(reader.since).for_each([&](Entity who, int n) {
                if (reader.numbers.contains(who)) note(who, n);  // the journal names those that are new
            });
        }
        reader.since = world.stamp(), reader.is_current = true;
        std::vector<std::string> all;
        for (const auto& [who, n] : reader.numbers) all.push_back(name(world, who) + ":" + std::to_string(n));
        std::sort(all.begin(), all.end());
        return joined(all);
    }
    /// Readers that have read it since the last settle miss nothing.
    static void keep_journal_again(World& world) { world.observers().keep_journal(100); }
    /// Ends the observers of scars, and adds them again.
    void listen_again(World& world) {
        ObserverId* const ids = scar_observers_[std::size_t(number_of(world))].data();
        for (int i = 0; i < 2; ++i) world.observers().remove(ids[i]);
        listen_to_scars(number_of(world));
    }
    /// Gives the copies of an entity names.
    Status copy(World& world, Entity original, Entity* names, const SpawnOptions& given = {}) {
        below = entities_below(world, original);
        return name_copies(world, shoal::copy(world, original, given), names);
    }
    /// The same at x, x + 1, and so on.
    Status copy_to(World& world, Entity original, Entity* names, std::uint32_t count, int x) {
        const std::vector<RootPose> poses = poses_from(count, x);
        return copy(world, original, names, {.copies = count, .root_poses = poses});
    }

    /// Makes a blob of an entity and all below it, to be spawned. All are builds of one resource.
    Status pack(World& world, Entity entity, bool keeps_zones) {
        return pack(world, entities_below(world, entity),
                    [&] { return save_entities(world, below, {.name = kPrefab, .keeps_zones = keeps_zones}); });
    }
    /// The same of all that lies in a zone of the database, and what is below it and in no zone.
    Status pack_zone(World& world, Zone zone, bool keeps_zones) {
        return pack(world, entities_in(world, {zone}),
                    [&] { return save_zones(world, {zone}, {.name = kPrefab, .keeps_zones = keeps_zones}); });
    }
    template <class Save>
    Status pack(World& world, std::vector<Entity> all, Save save) {
        below = std::move(all);
        auto& origins = world.manager<Origin>();
        for (std::uint32_t i = 0; i < below.size(); ++i) static_cast<void>(origins.add(below[i], {i}));
        const Result<EntityBlob> saved = save();
        origins.remove(below);
        if (!saved) return saved.status();
        Result<Blob> blob = Blob::load(saved->bytes);
        if (!blob) return blob.status();
        prefabs.push_back(std::move(*blob));
        const std::vector<Entity> led = below.empty() ? below : entities_below(world, below[0]);
        is_last_a_tree = !below.empty() && std::is_permutation(led.begin(), led.end(), below.begin(), below.end());
        return {};
    }
    /// The first of these blobs that has the bytes of this one: they are the same to a world.
    std::size_t version_of(const Blob& blob) const {
        return std::size_t(
            std::find_if(prefabs.begin(), prefabs.end(),
                         [&](const Blob& other) { return std::ranges::equal(other.bytes(), blob.bytes()); }) -
            prefabs.begin());
    }
    /// Spawns the last of these blobs, and gives the first entities of the copies names.
    Status spawn(World& world, Entity* names, const SpawnOptions& given) {
        return name_copies(world, world.spawn(prefabs.back(), given), names);
    }
    /// Destroys what the last spawn() or copy() in a world has made, and still lives.
    std::uint32_t destroy_spawned(World& world) {
        return spawned[std::size_t(number_of(world))].destroy(world.entities());
    }
    /// Reloads one of these blobs as another, both counted from the last one. Lists the entities that are new, copy after
    /// copy, and in the order of the blob: those too that did not stay.
    Result<ReloadReport> reload(World& world, int before, int after) {
        const auto blob = [&](int number) -> const Blob& { return prefabs[prefabs.size() - 1 - std::size_t(number)]; };
        Result<ReloadReport> report = reload(world, blob(before), blob(after));
        take_new(world);
        return report;
    }
    // --- scenes ------------------------------------------------------------------------------------------------------

    /// Spawns a version of the scene, and gives its entities names. Its models lie in the library, which has one version: another
    /// one has to go first.
    Status spawn_scene(World& world, Entity* names, int scene) {
        const Blob& blob = this->scene(scene);
        if (Status status = world.adopt_schemas(blob); !status) return status;
        ResourceLibrary& all = library(world);
        if (all.find(kScene) != nullptr && !has_scene(world, scene))
            if (Status status = all.unload(kScene); !status) return status;
        if (all.find(kScene) == nullptr)
            if (const auto loaded = all.load(blob.bytes()); !loaded) return loaded.status();
        const Result<Spawned> made = world.spawn(*all.find(kScene));
        if (!made) return made.status();
        world.manager<Origin>().remove(made->entities());
        std::copy(made->entities().begin(), made->entities().end(), names);
        return {};
    }
    /// The newer version comes in place of the one that the library has.
    Result<ReloadReport> reload_scene(World& world, int before, int after) {
        Result<ReloadReport> report = exchange_scene(world, before, after);
        take_new(world);
        return report;
    }
    /// Loads what was saved with what has become of older relics, which only the versions that came later can say.
    Status load_older(World& world) {
        if (const Store* const relics = world.directory().find(ComponentId("relic"))) {
            const auto added = [](int value) { return value + kAddedToRelics; };
            const Schema& now = *relics->schemas()[0];
            Migrations& said = world.registry().migrations(now);
            if (now.version() > 1) said.from(1).convert("n", added);
            if (now.version() > 2) said.from(2).convert("extra", added).remove("n");
        }
        const Status status = load(world, file());
        world.registry().remove("relic");
        return status;
    }
    /// Whether the models of two scenes lie in the same places.
    bool have_same_models(int one, int other) {
        const auto same = [&](BlobSectionKind kind) {
            return std::ranges::equal(section_bytes(scene(one), kind), section_bytes(scene(other), kind));
        };
        return same(BlobSectionKind::kArrays) && same(BlobSectionKind::kArrayData);
    }
    /// "n=3 extra=7", with the fields that a relic has now.
    std::string relic(World& world, Entity entity) {
        if (!world.entities().alive(entity)) return "dead";
        const Store* const store = world.directory().find(ComponentId("relic"));
        const ComponentRow at = store == nullptr ? ComponentRow() : store->find_row(ComponentId("relic"), entity, 0);
        std::vector<std::string> fields;
        for (const char* const name : {"n", "extra"})
            if (const auto value = world.get<int>(entity, std::string("relic.") + name))
                fields.push_back(std::string(name) + "=" + std::to_string(*value));
        return at ? joined(fields) : "none";
    }

    // --- models ------------------------------------------------------------------------------------------------------

    /// Where the nodes of the model of an entity are: by themselves, in the model, and in the world.
    std::string model(World& world, Entity entity) {
        const ModelPoseManager& models = world.model_poses();
        if (!world.entities().alive(entity)) return "dead";
        const Instance at = models.instance(entity);
        if (!at) return "none";
        std::vector<std::string> all;
        for (std::uint32_t node = 0; node < models.models(at).size(); ++node)
            all.push_back(std::to_string(int(models.local(at, node).position.x)) + "/" +
                          std::to_string(int(models.model(at, node).row[0].w)) + "/" +
                          std::to_string(int(models.node_world(at, node).row[0].w)));
        return joined(all);
    }
    Status spawn_model(World& world, Entity* name) {
        const Result<Spawned> made = world.spawn(*library(world).find("models/1"));
        if (made) *name = made->entity(0);
        return made.status();
    }
    NodeTreeId tree(const World& world) const { return trees[std::size_t(number_of(world))]; }
    void set_node(World& world, Entity entity, int node, int n) {
        world.model_poses().set_local(world.model_poses().instance(entity), std::uint32_t(node),
                                      {.position = {float(n), 0, 0}});
    }
    /// Moves a node to a place in the world.
    void hold_node(World& world, Entity entity, int node, int n) {
        Matrix3x4 there;
        there.row[0].w = float(n);
        world.model_poses().set_node_world(world.model_poses().instance(entity), std::uint32_t(node), there);
    }
    /// Sets all nodes of all models of the tree that lies in no blob.
    void set_all_nodes(World& world, int n) {
        for (Vec3& place : world.model_poses().write_locals(tree(world)).positions) place = {float(n), 0, 0};
    }

    // --- songs -------------------------------------------------------------------------------------------------------

    /// Spawns a song: its notes lie in a blob of its own.
    static constexpr int kNumSongs = 4;  // 0: none
    Status sing(World& world, Entity* name, int song) {
        const Blob* const blob = library(world).find("songs/" + std::to_string(song));
        const Result<Spawned> made = world.spawn(*blob);
        if (made) *name = made->entity(0);
        return made.status();
    }
    /// What an entity sings, whose notes lie wherever they lie. Requires: it does.
    Song song_of(World& world, Entity entity) {
        if (!in_database(number_of(world), 11))
            return world.manager<Song>().value(world.manager<Song>().instance(entity));
        const DatabaseRow at = world.database().find(entity);
        return {world.database().get<&Song::n>(at), world.database().get<&Song::notes>(at)};
    }
    /// Gives an entity the song of another one.
    Result<AddCounts> teach(World& world, Entity entity, Entity teacher) {
        const Song song = song_of(world, teacher);
        if (in_database(number_of(world), 11)) return world.database().add(std::span(&entity, 1), song);
        return world.manager<Song>().add(std::span(&entity, 1), song);
    }
    /// Lets the library of a world have the last blob, in place of another one to which nothing refers: songs lie in it.
    Status offer(World& world) {
        ResourceLibrary& all = library(world);
        if (all.find(kPrefab) != nullptr)
            if (Status status = all.unload(kPrefab); !status) return status;
        return all.load(prefabs.back().bytes()).status();
    }
    static bool has_songs(const Blob& blob) { return blob.find_components(schema_of<Song>().id()) != nullptr; }
    /// Whether a world can have what lies in a blob.
    bool can_have(const World& world, const Blob& blob) {
        const Blob* const there = library(world).find(kPrefab);
        return arrays_of(blob).empty() || (there != nullptr && std::ranges::equal(there->bytes(), blob.bytes()));
    }
    /// Whether the songs of two blobs lie in the same places. By their versions.
    bool have_same_arrays(std::size_t one, std::size_t other) const {
        const auto same = [&](BlobSectionKind kind) {
            return std::ranges::equal(section_bytes(prefabs[one], kind), section_bytes(prefabs[other], kind));
        };
        return same(BlobSectionKind::kArrays) && same(BlobSectionKind::kArrayData);
    }

    /// The same at x, x + 1, and so on.
    Status spawn_at(World& world, Entity* names, std::uint32_t count, int x) {
        const std::vector<RootPose> poses = poses_from(count, x);
        return spawn(world, names, {.copies = count, .root_poses = poses});
    }
    static std::vector<RootPose> poses_from(std::uint32_t count, int x) {
        std::vector<RootPose> poses(count);
        for (std::uint32_t copy = 0; copy < count; ++copy) poses[copy] = pose(x + int(copy));
        return poses;
    }
    static RootPose pose(int x) { return {.position = {float(x), 0, 0}}; }
    /// For a copy that a command makes: gives its first entity a name, and notes who is below it.
    auto learn(World& world, Entity* name) {
        learned.erase(name);
        return [this, &world, name](Entity self) {
            *name = self;
            learned[name] = entities_below(world, self);
            world.manager<Origin>().remove(learned[name]);
        };
    }

    static constexpr const char *kPrefab = "prefabs/any", *kScene = "scenes/any";
    std::deque<Blob> prefabs;     // which commands refer to
    bool is_last_a_tree = false;  // of them: its first entity leads to all others
    const StageOptions options;
    EntityManager entities, pond_entities;
    shoal_test::ThreadPoolExecutor executor;
    std::array<ResourceLibrary, 3> libraries;
    World sea, lake, pond;

private:
    struct Beside {
        explicit Beside(World& world) : frames(world, 0), zones(world), persistence(world), reloader(world) {}
        Frames frames;
        ZoneStreaming zones;
        Persistence persistence;
        Reloader reloader;
    };
    Beside& beside_of(const World& world) {
        return &world == &sea ? beside_sea_ : &world == &lake ? beside_lake_ : beside_pond_;
    }
    Beside beside_sea_{sea}, beside_lake_{lake}, beside_pond_{pond};

public:
    std::array<CoinStore, 3> coins;
    std::array<bool, 3> is_attached{};
    std::array<Entity, kNumNames> e{}, p{};
    std::array<Rule, 3> rules{};
    std::array<NodeTreeId, 3> trees{};
    std::array<std::vector<Entity>, 3> crowds;  // of the last crowd()
    std::vector<Entity> below, copies;          // of the last copy(), pack(), spawn() or reload()
    std::array<Spawned, 3> spawned;
    std::map<const Entity*, std::vector<Entity>> learned;
    /// What a pass asked for, in the order in which it was carried out.
    struct Acted {
        Entity by;                  // for whom
        Entity self;                // who was made
        std::vector<Entity> below;  // this one
    };
    std::array<std::vector<Acted>, 3> acted;  // since the model has looked
    Snapshot saved;

    template <class T>
    static constexpr int type_of() {
        constexpr auto kDescription = shoal_describe(ComponentTag<T>{});
        static_cast<void>(kDescription);
        if constexpr (std::is_same_v<T, Mark>) return 0;
        if constexpr (std::is_same_v<T, Place>) return 1;
        if constexpr (std::is_same_v<T, Body>) return 2;
        if constexpr (std::is_same_v<T, Scar>) return 3;
        if constexpr (std::is_same_v<T, Title>) return 4;
        if constexpr (std::is_same_v<T, Hungry>) return 5;
        if constexpr (std::is_same_v<T, Wet>) return 6;
        if constexpr (std::is_same_v<T, Hunts>) return 7;
        if constexpr (std::is_same_v<T, Likes>) return 8;
        if constexpr (std::is_same_v<T, Rides>) return 9;
        if constexpr (std::is_same_v<T, Buoy>) return 10;
        if constexpr (std::is_same_v<T, Song>) return 11;
        if constexpr (std::is_same_v<T, AttachedToNode>) return 12;
        return 13;
    }

private:
    Status name_copies(World& world, Result<Spawned> made, Entity* names) {
        if (!made) return made.status();
        copies.assign(made->entities().begin(), made->entities().end());
        world.manager<Origin>().remove(copies);
        for (std::uint32_t copy = 0; copy < made->num_copies(); ++copy) names[copy] = made->entity(0, copy);
        spawned[std::size_t(number_of(world))] = std::move(*made);
        return {};
    }
    /// What the library has for the world that has the older one, comes in its place.
    Result<ReloadReport> reload(World& world, const Blob& before, const Blob& after) {
        if (!has_songs(before) && !has_songs(after)) return reloader(world).reload(before, after);
        ResourceLibrary& all = library(world);
        const bool was_there = all.find(kPrefab) != nullptr;
        Result<Blob> newer = Blob::load(after.bytes());
        if (!newer) return newer.status();
        Result<Blob> older = was_there ? all.replace(std::move(*newer)) : Blob::load(before.bytes());
        if (!older) return older.status();
        if (!was_there)
            if (const auto added = all.add(std::move(*newer)); !added) return added.status();
        Result<ReloadReport> report = reloader(world).reload(*older, *all.find(kPrefab));
        if (!report && was_there) static_cast<void>(all.replace(std::move(*older)));
        if (!report && !was_there) static_cast<void>(all.unload(kPrefab));
        return report;
    }
    void make_models(int number) {
        World& world = this->world(number);
        const std::vector<StringId> names = names_of(kModels[0]);
        const std::vector<Vec3> places = places_of(kModels[0]), scales(3, Vec3{1, 1, 1});
        const std::vector<Quaternion> rotations(3);
        trees[std::size_t(number)] =
            *world.model_poses().add_node_tree({names, kModels[0].parents, places, rotations, scales});
        static_cast<void>(library(world).load(model_blob()));
    }
    static std::vector<Vec3> places_of(const ModelTree& tree) {
        std::vector<Vec3> places;
        for (const int place : tree.places) places.push_back({float(place), 0, 0});
        return places;
    }
    static std::vector<StringId> names_of(const ModelTree& tree) {
        std::vector<StringId> names;
        for (const int name : tree.names) names.push_back(node_name(name));
        return names;
    }
    static ModelPose pose_in(BlobWriter& writer, const ModelTree& tree) {
        const auto keep = [&]<class T>(BlobArray<T>& array, const std::vector<T>& values) {
            static_cast<BlobArrayBase&>(array) =
                writer.add_array(FieldTraits<T>::type, std::as_bytes(std::span<const T>(values)));
        };
        ModelPose pose;
        keep(pose.names, names_of(tree));
        keep(pose.parents, tree.parents);
        keep(pose.positions, places_of(tree));
        keep(pose.rotations, std::vector<Quaternion>(tree.parents.size()));
        keep(pose.scales, std::vector<Vec3>(tree.parents.size(), Vec3{1, 1, 1}));
        return pose;
    }
    static std::vector<std::byte> model_blob() {
        BlobWriter writer;
        writer.set_name("models/1");
        const ModelPose pose = pose_in(writer, kModels[1]);
        writer.add_component(*writer.add_component_type(schema_of<ModelPose>()), writer.add_entity({}),
                             std::as_bytes(std::span(&pose, 1)));
        return *writer.write();
    }
    /// Lists who has come with a reload.
    void take_new(World& world) {
        auto& origins = world.manager<Origin>();
        const std::span<const Entity> made = origins.core().table().entities();
        copies.assign(made.begin(), made.end());
        origins.remove(copies);
    }
    const Blob& scene(int number) {
        auto found = scenes_.find(number);
        if (found == scenes_.end()) found = scenes_.emplace(number, *Blob::load(scene_blob(number))).first;
        return found->second;
    }
    bool has_scene(World& world, int number) {
        return std::ranges::equal(library(world).find(kScene)->bytes(), scene(number).bytes());
    }
    Result<ReloadReport> exchange_scene(World& world, int before, int after) {
        ResourceLibrary& all = library(world);
        if (has_scene(world, after)) return reloader(world).reload(scene(before), *all.find(kScene));
        const bool has_older = has_scene(world, before);
        Result<Blob> newer = Blob::load(scene(after).bytes());
        if (!newer) return newer.status();
        Result<Blob> older = all.replace(std::move(*newer));
        if (!older) return older.status();
        Result<ReloadReport> report = reloader(world).reload(has_older ? *older : scene(before), *all.find(kScene));
        if (!report) static_cast<void>(all.replace(std::move(*older)));
        return report;
    }
    static std::vector<std::byte> scene_blob(int number) {
        ComponentDefinition definition{.name = "relic", .fields = {}};
        definition.version = relic_version_of(relic_fields_of(number));
        for (int f = 0; f < 2; ++f)
            if ((relic_fields_of(number) >> f & 1) != 0) {
                FieldDefinition& field = definition.fields.emplace_back();
                field.name = f == 0 ? "n" : "extra", field.type = FieldType::kInt32;
                const auto bytes = std::as_bytes(std::span(&kRelicDefaults[f], 1));
                field.default_value.assign(bytes.begin(), bytes.end());
            }
        const Schema relic = *Schema::make(std::move(definition));
        BlobWriter writer;
        writer.set_name(kScene);
        const std::uint32_t relics = *writer.add_component_type(relic);
        const std::uint32_t marks = *writer.add_component_type(schema_of<Mark>());
        const std::uint32_t origins = *writer.add_component_type(schema_of<Origin>());
        std::optional<std::uint32_t> models;
        for (const SceneEntity& one : scene_of(number)) {
            const std::uint32_t entity = writer.add_entity({.guid = std::uint64_t(one.guid)});
            const Mark mark{one.mark};
            const Origin origin{std::uint32_t(one.guid)};
            writer.add_component(marks, entity, std::as_bytes(std::span(&mark, 1)));
            writer.add_component(origins, entity, std::as_bytes(std::span(&origin, 1)));
            std::vector<int> values;
            if ((relic_fields_of(number) & 1) != 0) values.push_back(one.n);
            if ((relic_fields_of(number) & 2) != 0) values.push_back(one.extra);
            if (one.has_relic) writer.add_component(relics, entity, std::as_bytes(std::span(values)));
            if (one.tree < 0) continue;
            const ModelPose pose = pose_in(writer, kModels[one.tree]);
            if (!models) models = *writer.add_component_type(schema_of<ModelPose>());
            writer.add_component(*models, entity, std::as_bytes(std::span(&pose, 1)));
        }
        return *writer.write();
    }
    /// The bytes of a blob with an entity that sings.
    static std::vector<std::byte> song_blob(int song) {
        BlobWriter writer;
        writer.set_name("songs/" + std::to_string(song));
        std::vector<int> notes;
        for (int note = 1; note <= song; ++note) notes.push_back(note);
        Song value{song, {}};
        static_cast<BlobArrayBase&>(value.notes) =
            writer.add_array(FieldTraits<int>::type, std::as_bytes(std::span(notes)));
        writer.add_component(*writer.add_component_type(schema_of<Song>()), writer.add_entity({}),
                             std::as_bytes(std::span(&value, 1)));
        return *writer.write();
    }
    template <class T>
    std::string text_in(World& world, const T& value) {
        if constexpr (requires { value.who; })
            return name(world, value.who);
        else if constexpr (std::is_same_v<T, Song>) {
            std::string text = std::to_string(value.n) + ":";
            for (const int note : library(world).view(value.notes)) text += std::to_string(note);
            return text + (value.notes.count != library(world).view(value.notes).size() ? " lost" : "");
        } else
            return text_of(value);
    }
    template <class T>
    std::string values_in_manager(World& world, Entity entity) {
        const Manager<T>& manager = world.manager<T>();
        std::vector<std::string> all;
        for (Instance i = manager.instance(entity); i; i = manager.next(i))
            all.push_back(text_in(world, manager.value(i)));
        return joined(all);
    }
    template <class T>
    std::string values_in_database(World& world, Entity entity) {
        const Database& database = world.database();
        std::vector<std::string> all(database.num_values<T>(entity));
        for (std::uint32_t i = 0; i < all.size(); ++i) {
            T value{};
            DescriptionOf<T>::for_each_field([&]<auto kMember, std::uint32_t, bool>() {
                assign_value((&value)->*kMember, database.get_value<kMember>(entity, i));
            });
            all[i] = text_in(world, value);
        }
        return joined(all);
    }

    template <class T>
    void keep(int number, const ManagerOptions& managers) {
        if (in_database(number, type_of<T>()))
            world(number).database().component<T>();
        else
            world(number).manager<T>(managers);
    }
    void set_up(int number) {
        World& world = this->world(number);
        keep<Mark>(number, {.index = options.index});
        keep<Place>(number, {.index = options.index, .death = options.death});
        keep<Body>(number, {.index = options.index, .death = options.death});
        keep<Scar>(number, {.index = options.index == RowIndexKind::kIdentity ? RowIndexKind::kPaged : options.index});
        if (number != 2) keep<Title>(number, {});
        keep<Hungry>(number, {.index = options.index});
        keep<Wet>(number, {.index = options.index});
        keep<Hunts>(number, {.death = options.death});
        keep<Likes>(number, {});
        keep<Rides>(number, {});
        keep<Buoy>(number, {.index = options.index});
        keep<Song>(number, {.index = options.index});
        keep<AttachedToNode>(number, {.index = options.index});
        for (int song = 1; song < kNumSongs; ++song) static_cast<void>(library(world).load(song_blob(song)));
        world.database(), world.ownership(), world.activity(), world.properties(), world.manager<Tag>();
        world.manager<DebugName>(), world.transforms({.children_of_dead = options.children});
        make_models(number);
        world.singleton<Wind>();
        world.manager<Origin>();
        world.events<Bell>();
        world.observers().keep_journal(100);
        if (!attach(world)) std::abort();
        add_observers(number);
        add_passes(number);
    }
    auto telling(int number, const char* what) {
        return [this, number, what](std::span<const Entity> all) {
            for (const Entity entity : all) note(number, what, entity);
        };
    }
    void add_observers(int number) {
        World& world = this->world(number);
        const auto tell = [&](const char* what) { return telling(number, what); };
        world.observers().on_add<Mark>(tell("+mark:"));
        world.observers().on_remove<Mark>([this, number](std::span<const Entity> all, std::span<const Mark> before) {
            for (std::size_t i = 0; i < all.size(); ++i) note(number, "-mark(" + text_of(before[i]) + "):", all[i]);
        });
        world.observers().on_change<&Mark::n>([this, number](std::span<const Entity> all, std::span<const int> before) {
            for (std::size_t i = 0; i < all.size(); ++i) note(number, "~mark(" + text_of(before[i]) + "):", all[i]);
        });
        world.observers().on_add<Hungry>(tell("+hungry:"));
        world.observers().on_remove<Hungry>(tell("-hungry:"));
        world.observers().on_change<&Buoy::seen>(tell("~seen:"));
        listen_to_scars(number);
    }
    /// The last ones: so observers have the same numbers when they are added again, and states find theirs.
    void listen_to_scars(int number) {
        World& world = this->world(number);
        scar_observers_[std::size_t(number)] = {world.observers().on_add<Scar>(telling(number, "+scar:")),
                                                world.observers().on_remove<Scar>(telling(number, "-scar:"))};
    }
    void add_passes(int number) {
        World& world = this->world(number);
        Events<Bell>& bells = world.events<Bell>();
        world.schedule().add("act", world.query<Read<&Mark::n>>().grain(64), {writes(bells)},
                             [this, number, &bells](Commands& commands, Entity who, int n) {
                                 const Rule rule = rules[std::size_t(number)];
                                 if (n >= rule.from && this->world(number).entities().alive(who))
                                     act(number, rule.action, bells, commands, who, n);
                             });
        world.schedule().add("grow", world.query<Write<&Mark::n>>().grain(64),
                             [this, number](auto&& n) { n += rules[std::size_t(number)].growth; });
        world.schedule().add("count", world.query<Singleton<Write<&Wind::n>>>(), {reads(bells)}, [&bells](auto&& n) {
            for (const Bell& bell : bells.read()) n += int(bell.n);
            for (const Bell& bell : bells.read_last()) n += 100 * int(bell.n);
        });
    }
    void act(int number, Rule::Action action, Events<Bell>& bells, Commands& commands, Entity who, int n) {
        switch (action) {
            case Rule::kDestroy:
                return commands.destroy(who);
            case Rule::kAddScar:
                return commands.add(who, Scar{n});
            case Rule::kRemoveScars:
                return commands.remove<Scar>(who);
            case Rule::kAddHungry:
                return commands.add(who, Hungry{n});
            case Rule::kRemoveHungry:
                return commands.remove<Hungry>(who);
            case Rule::kAddPlace:
                return commands.add(who, Place{n, {1, 0, 2}});
            case Rule::kRemovePlace:
                return commands.remove<Place>(who);
            case Rule::kMove:
                return commands.move(who, Zone(n % 3));
            case Rule::kCreate:
                if (has_name(number, who)) note_made(number, commands, commands.create(Mark{n + 10}), who);
                return;
            case Rule::kRing:
                return bells.write({who, EntityBits(n)});
            case Rule::kTag:
                return commands.tag(who, "red");
            case Rule::kSleep:
                return commands.add(who, Inactive{});
            case Rule::kWake:
                return commands.remove<Inactive>(who);
            case Rule::kSet:
                return commands.add(who, Mark{n + 1});
            case Rule::kRemoveMark:
                return commands.remove<Mark>(who);
            case Rule::kSetProperty:
                return commands.add(who, PropertyValue("armor.front", n));
            default:
                return relate(number, action, commands, who, n);
        }
    }
    /// Commands whose order can be seen in what they leave, and which are noted.
    void relate(int number, Rule::Action action, Commands& commands, Entity who, int n) {
        const Entity other = rules[std::size_t(number)].other;
        switch (action) {
            case Rule::kLink:
                commands.add(who, ChildOf{other});
                return note_done(number, commands, who);
            case Rule::kUnlink:
                return commands.remove<ChildOf>(who);
            case Rule::kOwn:
                if (other) commands.add(who, Owned{other});
                return;
            case Rule::kRelease:
                return commands.remove<Owned>(who);
            case Rule::kCopy:
                if (has_name(number, who)) note_made(number, commands, commands.copy(who), who);
                return;
            case Rule::kSpawn:
                if (has_name(number, who) && is_last_a_tree && can_have(world(number), prefabs.back()))
                    note_made(number, commands, commands.spawn(prefabs.back()), who);
                return;
            case Rule::kBrood: {
                if (!has_name(number, who)) return;
                const Entity made = commands.create(Mark{n + 10});
                commands.add(made, Owned{who});
                commands.add(who, Likes{made});
                return note_made(number, commands, made, who);
            }
            default:
                return;
        }
    }
    bool has_name(int number, Entity who) { return name(world(number), who) != "another"; }
    void note_done(int number, Commands& commands, Entity who) {
        commands.call(who, [this, number](Entity by) { acted[std::size_t(number)].push_back({by, {}, {}}); });
    }
    void note_made(int number, Commands& commands, Entity made, Entity who) {
        commands.call(made, who, [this, number](Entity self, Entity by) {
            acted[std::size_t(number)].push_back({by, self, entities_below(world(number), self)});
            world(number).manager<Origin>().remove(acted[std::size_t(number)].back().below);
        });
    }

    const std::string& folder() {
        if (folder_.empty()) {
            const std::filesystem::path all = std::filesystem::temp_directory_path();
            folder_ = (all / ("shoal_program_" + std::to_string(::getpid()))).string();
            std::filesystem::create_directories(folder_);
        }
        return folder_;
    }
    Status forget_dead(const World& world) {
        for (Reader& reader : readers_[std::size_t(number_of(world))]) reader.is_current = false;
        auto& all = names(world);
        for (std::size_t i = 2; i < all.size(); ++i)
            if (!world.entities().alive(all[i])) all[i] = {};
        return {};
    }
    void note(int number, const std::string& what, Entity entity) {
        const World& world = this->world(number);
        told_[std::size_t(number)].push_back({world.settle_statistics().num_settles, what + name(world, entity)});
    }

    struct Told {
        std::uint64_t settle;
        std::string text;
    };
    struct Reader {
        bool is_current = false;
        std::uint64_t since = 0;
        std::map<Entity, int> numbers;

        void hear(const JournalEntry& entry, ComponentId component, Entity who) {
            if (entry.component != component) return;
            if (entry.kind == JournalEntry::Kind::kRemoved)
                numbers.erase(who);
            else
                numbers[who] = -1;  // the row was written
        }
    };
    std::array<std::array<Reader, std::size(kTypeNames)>, 3> readers_;  // by world and type
    std::array<std::array<ObserverId, 2>, 3> scar_observers_{};
    std::array<std::vector<Told>, 3> told_;
    std::string folder_;
    std::map<int, Blob> scenes_;
};

}  // namespace programs
