#pragma once
// What worlds hold, as the documents say it, in maps and lists: so simple that one sees that it is right. It learns the ids
// of entities from the library, and knows all else by itself.

#include "programs/stage.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace programs {

enum Type : int {
    kMark,
    kPlace,
    kBody,
    kScar,
    kTitle,
    kHungry,
    kWet,
    kHunts,
    kLikes,
    kRides,
    kBuoy,
    kSong,
    kAttached,
    kCoin,
    kNumTypes
};

/// The database may keep all but the coins: see StageOptions.
inline constexpr unsigned kAllInDatabase = (1u << unsigned(kCoin)) - 1;

inline constexpr const char* kWords[] = {"red", "green", "blue"};

inline constexpr bool is_reference(int type) { return type == kHunts || type == kLikes || type == kRides; }

/// A component: which of these a type has is the business of value_of(). Of a buoy, `n` is where it is, and `m` where it is seen;
/// of a song, `m` says which notes it has; of one that is attached, `n` names the node, and `m` says how far from it.
struct Value {
    int n = 0, m = 0;
    Entity who{};
    bool is_odd = false;
    bool is_packed = false;  // a song whose notes lie in the blob that the library has: see Stage::offer()
    friend bool operator==(const Value&, const Value&) = default;
};

struct Row {
    std::vector<Value> values;  // the first one first
    bool is_enabled = true;
    friend bool operator==(const Row&, const Row&) = default;
};

struct Prefab;

struct Command {
    enum What {
        kDestroy,
        kCreate,
        kSpawn,
        kCopy,
        kMove,
        kAdd,
        kRemove,
        kSet,
        kLink,
        kUnlink,
        kOwn,
        kRelease,
        kName,
        kTag,
        kUntag,
        kProperty
    };
    What what = kDestroy;
    Entity who{};   // a creation learns it when the world settles
    int name = -1;  // of what is created, or of the first entity of a copy; -1: see Stage::acted
    Entity by{};    // for whom a pass asked for it
    int type = 0;
    Value value{};
    bool is_enabled = true;
    int zone = 0;
    std::string text{};
    std::shared_ptr<const Prefab> prefab{};
    bool has_pose = false;  // of a copy: the number in `value` is where it lies
};

/// What a rule of the documents is called that the model may forget, to show that programs notice.
enum class Forgets { kNothing, kChildrenStayWhereTheyAre, kLastMoveCounts, kReloadLeavesWhatTheSourceLeaves };

/// The entities of a copy of a blob, in the order of the blob, and how far away it was spawned.
struct SpawnedCopy {
    std::vector<Entity> all;
    int offset = 0;
};

/// A copy of a scene: who is who by GUID. Null: another copy has it now.
struct SceneCopy {
    int scene = 0;
    std::map<int, Entity> all;
};

/// A model: where its nodes are to be, and where they are as of the last computation.
struct Posed {
    int tree = 0;  // of kModels
    std::vector<int> locals, poses;
    std::set<int> held;        // nodes that were moved, and those below do not follow yet
    bool is_in_scene = false;  // its tree lies in the scene that the library has

    int parent(std::size_t node) const {
        const std::uint32_t parent = kModels[tree].parents[node];
        return parent == kNilRow ? 0 : poses[parent];
    }
    void compute() {
        held.clear();
        for (std::size_t node = 0; node < locals.size(); ++node) poses[node] = parent(node) + locals[node];
    }
};

struct ModelWorld {
    std::map<Entity, Row> rows[kNumTypes];  // also of the dead, until a settle removes them
    std::map<Entity, int> zones;            // who has a row in the database
    std::map<Entity, int> positions;        // local ones, of those that have a transform
    std::map<Entity, Entity> parents;
    std::map<Entity, std::vector<Entity>> children;  // the first one first
    std::map<Entity, Entity> owners;
    std::map<Entity, std::vector<Entity>> owned;  // the newest one first
    std::map<Entity, std::set<std::string>> tags;
    std::map<Entity, std::string> names;
    std::map<Entity, std::map<std::string, int>> properties;
    std::set<Entity> inactive;
    std::map<Entity, Posed> models;               // also of the dead
    std::map<Entity, std::array<int, 2>> relics;  // `n` and `extra`, if they have them now
    int relic_fields = 0;                         // 0: nobody has had any
    std::vector<SceneCopy> scenes;
    int wind = 0;
    std::vector<Command> commands;
    std::vector<Bell> bells, last_bells;
    std::map<std::size_t, std::vector<SpawnedCopy>> copies;  // by Prefab::version
    // As of the last settle.
    std::map<Entity, Row> told_rows[kNumTypes];
    std::map<Entity, std::vector<Entity>> hunters;
    std::vector<std::string> told, missing;  // the second: copies that were not made as the rules say
    std::uint64_t frame = 0;
};

/// Some entities and what they have, to be copied.
struct Prefab {
    std::vector<Entity> all;
    ModelWorld world;  // roots lie where they lie in the world
    bool keeps_zones = true;
    bool is_tree = true;  // the first entity leads to all others
    bool has_arrays = false;
    std::size_t version = 0;  // the same for blobs with the same bytes
};

struct ModelEntities {
    std::set<Entity> living, known;
};

/// Rows of a zone of the database that lie in a file.
struct UnloadedZone {
    std::map<Entity, std::map<int, Row>> rows;  // by type
    std::uint64_t failed_at = 0;                // it was visited in this settle, but could not come back
};

/// Where copies lie that options place; those of one call each a step farther away.
struct Placing {
    int zone = -1;  // -1: where the blob or the original says, or in the first one
    bool has_pose = false;
    int x = 0, step = 0;
};

class Model {
public:
    explicit Model(Stage& stage, Forgets forgets = Forgets::kNothing) : stage_(stage), forgets_(forgets) {
        for (int i = 0; i < 3; ++i) before_all(i);
    }

    // --- names -------------------------------------------------------------------------------------------------------

    /// Whose name it was before the operation.
    Entity entity(int world, int name) const { return names_[world == 2 ? 1 : 0][static_cast<std::size_t>(name)]; }
    /// To whom the operation gave it.
    Entity created(int world, int name) const {
        return (world == 2 ? stage_.p : stage_.e)[static_cast<std::size_t>(name)];
    }
    std::vector<Entity> created_from(int world, int name, int count) const {
        std::vector<Entity> all;
        for (int i = 0; i < count; ++i) all.push_back(created(world, name + i));
        return all;
    }
    void begin_operation() { names_ = {stage_.e, stage_.p}; }
    std::vector<Entity> entities_from(int world, int name, int count) const {
        std::vector<Entity> all;
        for (int i = 0; i < count; ++i) all.push_back(entity(world, name + i));
        return all;
    }
    std::string name(int world, Entity who) const { return stage_.name(stage_.world(world), who); }
    /// Whether it had one before the operation.
    bool has_name(int world, Entity who) const {
        const auto& all = names_[world == 2 ? 1 : 0];
        return std::find(all.begin(), all.end(), who) != all.end();
    }

    // --- the calls of the documents ----------------------------------------------------------------------------------

    bool alive(int world, Entity who) const { return side(world).living.contains(who); }
    /// Takes note of a new entity. Returns false if the id was used before.
    bool born(int world, Entity who);
    bool born(int world, const std::vector<Entity>& all);
    int destroy(int world, const std::vector<Entity>& all);

    bool has(int world, int type, Entity who) const;
    /// Whether a world has no rows of the dead.
    bool has_no_dead(int world) const;
    bool in_database(int world, int type) const { return stage_.in_database(world, type); }
    /// Whether an entity that lives no more may still have rows, nobody knows for how long.
    bool may_linger(int world, int type) const {
        return !in_database(world, type) && (type == kPlace || type == kBody || type == kHunts) &&
               stage_.options.death == DeathPolicy::kRandomProbe;
    }
    AddCounts add(int world, int type, const std::vector<Entity>& all, const Value& value, bool is_enabled = true);
    int remove(int world, int type, const std::vector<Entity>& all);
    bool insert(int world, int type, Entity who, int zone, const Value& value);
    bool remove_value(int world, int type, Entity who, int index);
    int move(int world, const std::vector<Entity>& all, int zone);
    int destroy_in_database(int world, const std::vector<Entity>& all);
    int clear_zone(int world, int zone);

    int world_position(int world, Entity who) const;
    bool is_below(int world, Entity who, Entity above) const;
    std::vector<Entity> transforms_of_dead(int world) const;
    AddCounts add_transform(int world, Entity who, int position);
    bool remove_transform(int world, Entity who);
    bool link(int world, Entity child, Entity parent);
    void unlink(int world, Entity child);

    bool own(int world, Entity owner, Entity owned);
    bool release(int world, Entity owned);

    bool is_inactive(int world, Entity who) const;
    void set_active(int world, Entity who, bool is_active);

    std::vector<Entity> below(int world, Entity who) const;
    std::string copy(int world, Entity original, const Placing& at = {});
    std::string pack(int world, Entity who, bool keeps_zones);
    /// The same for all that lie in a zone, and those below them that lie in none.
    std::string pack_zone(int world, int zone, bool keeps_zones);
    std::set<Entity> entities_in(int world, int zone) const;
    /// Makes as many copies of a prefab as there are entities for.
    std::string spawn(int world, const Placing& at = {}, bool fails_on_unknown = false);
    int destroy_spawned(int world) { return destroy(world, std::exchange(last_made[world], {})); }
    /// The prefabs are counted from the last one.
    std::string reload(int world, int before, int after);
    bool has_nothing(int world, Entity who) const;

    std::string unload_zone(int world, int zone);
    std::string load_zone(int world, int zone);
    std::string load_all_zones(int world);
    bool is_unloaded(int world, Entity who) const;
    /// Begins, or goes on with another budget.
    std::string stream_zones(int world, std::uint64_t max_rows, bool keeps_few_bytes, const std::set<int>& kept);
    struct Streaming {
        bool is_on = false;
        std::uint64_t max_rows = 0;    // 0: any number
        bool keeps_few_bytes = false;  // fewer than a row has
        std::set<int> kept;            // whatever the budget is
        std::map<int, UnloadedZone> unloaded;
        std::set<int> visited;  // since the last settle
        std::uint64_t num_settles = 1, num_unloads = 0, num_loads = 0;
        std::map<int, std::uint64_t> last_visits, refused;  // in which settle
    };
    Streaming streaming[3];
    /// Takes what states have of it.
    static void take_zones(Streaming& to, const Streaming& from) {
        to.unloaded = from.unloaded, to.visited = from.visited, to.num_settles = from.num_settles;
        to.last_visits = from.last_visits, to.refused = from.refused;
    }
    std::vector<Entity> last_made[3];  // by spawn() and copy()

    void step(int world);
    void settle(int world);

    // --- places ------------------------------------------------------------------------------------------------------

    /// What a world has declared of the fields of buoys; it is no part of its state.
    struct Declared {
        std::optional<Follower> followers[2];
        int tiled = -1;  // which field
    };
    Declared declared[3];
    std::string follow_places(int world, int field, Follower follower);
    std::string keep_in_tiles(int world, int field);
    static int& place_of(Value& value, int field) { return field == 0 ? value.n : value.m; }

    bool has_store(int world, int type) const { return type != kCoin || stage_.is_attached[std::size_t(world)]; }

    ModelWorld& world(int number) { return worlds_[std::size_t(number)]; }
    const ModelWorld& world(int number) const { return worlds_[std::size_t(number)]; }
    ModelEntities& side(int world) { return sides_[world == 2 ? 1 : 0]; }
    const ModelEntities& side(int world) const { return sides_[world == 2 ? 1 : 0]; }
    Stage& stage() { return stage_; }
    const Rule& rule(int world) const { return stage_.rules[std::size_t(world)]; }

    // --- scenes ------------------------------------------------------------------------------------------------------

    std::string spawn_scene(int world, int name, int scene);
    std::string reload_scene(int world, int before, int after);
    bool has_scene(int world, int scene) const;
    /// Which scene the library of a world has.
    std::optional<int> offered_scene[3];
    bool refers_to_scene(int world) const;
    /// Whether the library can have the newer one in place of the one that it has.
    bool can_reload_scene(int world, int before, int after) const;
    bool has_relics(int world, const std::vector<Entity>& all) const;

    // --- models ------------------------------------------------------------------------------------------------------

    AddCounts add_models(int world, int tree, const std::vector<Entity>& all, bool is_in_scene = false);
    int remove_models(int world, const std::vector<Entity>& all);
    void compute_models(int world);
    void let_nodes_follow(int world);

    // --- songs -------------------------------------------------------------------------------------------------------

    /// Which blob the library of a world has, by its version.
    std::optional<std::size_t> offered[3];
    /// Whether rows, or commands that wait, refer to it.
    bool refers_to_offered(int world) const;
    bool can_have(int world, const Prefab& prefab) const {
        return !prefab.has_arrays || offered[world] == prefab.version;
    }
    std::string offer(int world);

    // The pond, as it was.
    struct Picture {
        ModelWorld world;
        ModelEntities entities;
        Streaming streaming;
        std::optional<std::size_t> refers_to;  // the version of the blob in which songs lie
        std::optional<int> refers_to_scene;    // in which models lie
    };
    Picture picture() const {
        Picture result = {worlds_[2], sides_[1], streaming[2], refers_to_offered(2) ? offered[2] : std::nullopt,
                          refers_to_scene(2) ? offered_scene[2] : std::nullopt};
        if (!has_store(2, kCoin)) result.world.rows[kCoin].clear();
        return result;
    }
    /// Whether the library has the songs and the models of then.
    bool fits(const Picture& picture) const {
        if (picture.refers_to_scene && !stage_.have_same_models(*picture.refers_to_scene, *offered_scene[2]))
            return false;
        return !picture.refers_to || (offered[2] && stage_.have_same_arrays(*picture.refers_to, *offered[2]));
    }
    /// What becomes of relics that have other fields now. States in memory have no schemas, so they are refused.
    enum class Fields { kSame, kMayCome, kAsMigrationsSay };
    std::optional<ModelWorld> with_fields_of_now(ModelWorld then, Fields fields) const;
    /// Where zones are not streamed, all rows come back, or it is refused.
    std::string take_back(const Picture& picture, Fields fields = Fields::kSame) {
        const std::optional<ModelWorld> world = with_fields_of_now(picture.world, fields);
        if (!fits(picture) || !world) return "refused";
        const Picture before = {worlds_[2], sides_[1], streaming[2], std::nullopt, std::nullopt};
        worlds_[2] = *world;
        worlds_[2].told = before.world.told;
        sides_[1] = picture.entities;
        take_zones(streaming[2], picture.streaming);
        if (streaming[2].is_on) return "ok";
        const bool is_whole = load_all_zones(2) == "ok";
        streaming[2] = {};
        if (!is_whole) worlds_[2] = before.world, sides_[1] = before.entities;
        return is_whole ? "ok" : "refused";
    }
    enum { kMemory, kFile, kFolder };  // where states are
    std::optional<Picture> saved[3];
    bool is_persisted = false;
    std::vector<std::shared_ptr<const Prefab>> prefabs;
    const Prefab& prefab(int from_last = 0) const { return **(prefabs.end() - 1 - from_last); }
    /// The pond becomes what it was, and the frames that it keeps begin anew.
    std::string load(const Picture& picture, Fields fields) {
        if (take_back(picture, fields) != "ok") return "refused";
        if (max_frames != 0) frames = {this->picture()};
        return "ok";
    }
    std::size_t max_frames = 0;
    std::deque<Picture> frames;

private:
    void before_all(int world);
    void bury(int world, Entity who);
    void drop_from_database(int world, Entity who);
    void drop_stale(int world, int type, Entity who);
    bool can_copy(int world, Entity original) const;
    std::vector<Entity> parents_first(int world, const std::vector<Entity>& all, Entity top) const;
    std::string add_prefab(int world, bool keeps_zones);
    using ZonesAt = std::function<std::map<Entity, int>(int offset)>;
    std::string put_all(int world, const Prefab& from, const ZonesAt& zones, int offset, int step);
    Prefab prefab_of(int world, const std::vector<Entity>& all) const;
    std::map<Entity, int> spawn_zones(int world, const Prefab& from, int zone, int offset, std::size_t first = 0) const;
    std::map<Entity, int> copy_zones(int world, const Prefab& from, const Placing& at, int offset) const;
    std::map<Entity, int> named_zones(const Prefab& from) const;
    int place_in(int world, const Prefab& from, Entity one) const;
    bool is_place(int world, int type, int field) const;
    using Twins = std::map<Entity, Entity>;  // of the entities of a prefab; null: dead
    void put(int world, const Prefab& from, const std::vector<Entity>& twins, const std::map<Entity, int>& zones,
             int offset);
    void put_one(int world, const Prefab& from, Entity one, const Twins& twins, const std::map<Entity, int>& zones,
                 int offset);
    void put_row(int world, int type, Entity twin, Row row, const Twins& twins, int offset);
    void leave_parent(int world, Entity child);
    // A reload of one copy.
    struct Reloading {
        const Prefab &before, &after;
        std::vector<Entity> was, now;  // in the order of the two; null: dead
        Twins twins;                   // of the newer version
        int offset;
    };
    std::vector<Reloading> begin_reload(int world, const Prefab& before, const Prefab& after);
    bool follow_scene(int world, Entity who, const SceneEntity& was, const SceneEntity& is, int before, int after);
    bool follow_relic(int world, Entity who, const SceneEntity& was, const SceneEntity& is, int before, int after);
    bool follow_model(int world, Entity who, const SceneEntity& was, const SceneEntity& is);
    bool add_from_scene(int world, Entity who, const SceneEntity& is);
    void move_scene(int world, int after);
    void move_songs(ModelWorld& world, const Prefab& after) const;
    void follow(int world, const Reloading& copy, std::size_t i);
    void follow_rows(int world, const Reloading& copy, std::size_t i, int type);
    void follow_links(int world, const Reloading& copy);
    bool follow_owners(int world, const std::vector<Reloading>& copies);
    bool learn_orders(int world, const ModelWorld& before);
    bool learn_owned(int world, const std::map<Entity, std::vector<Entity>>& before);
    std::set<Entity> touched_;  // whose children or possessions have come or gone in this call
    void make_copies(int world, const std::vector<Command>& all);
    void make_copies(int world, const std::vector<Command>& asked, std::vector<std::vector<Entity>>& twins);
    void load_visited(int world);
    void keep_budget(int world);
    void carry_out(int world);
    void carry_out(int world, const Command& command);
    void settle_relations(int world);
    void begin_at_transforms(int world, const std::vector<Entity>& spawned);
    void move_places(int world, Follower follower);
    void move_to_tiles(int world);
    void move_attached(int world);
    void tell(int world);
    void act(int world, Rule rule, Entity who, int n);
    void relate(int world, Rule rule, Entity who, int n);
    std::vector<Command> take_commands(int world);
    static void tell_broods(std::vector<Command>& all);
    const Stage::Acted* find_acted(int world, Entity by) const;
    const std::vector<Entity>& learned(int world, const Command& command);

    Stage& stage_;
    Forgets forgets_;
    std::array<std::array<Entity, kNumNames>, 2> names_{};
    std::array<ModelWorld, 3> worlds_;
    std::array<ModelEntities, 2> sides_;
};

}  // namespace programs
