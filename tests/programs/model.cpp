#include "programs/model.h"

#include "support/merged_list.h"

#include <utility>
#include <vector>

namespace programs {

namespace {

void erase_one(std::vector<Entity>& all, Entity who) { all.erase(std::remove(all.begin(), all.end(), who), all.end()); }

template <class Map>
auto find_or(const Map& map, Entity who, typename Map::mapped_type otherwise) {
    const auto found = map.find(who);
    return found == map.end() ? otherwise : found->second;
}
template <class Map>
const typename Map::mapped_type* find_in(const Map& map, Entity who) {
    const auto found = map.find(who);
    return found == map.end() ? nullptr : &found->second;
}

/// Calls visit(a, b) with all that an entity has in one world and in another. Returns whether all calls do.
template <class Visit>
bool is_same_in(const ModelWorld& a, const ModelWorld& b, Entity who, Visit&& visit) {
    for (int type = 0; type < kNumTypes; ++type)
        if (!visit(find_or(a.rows[type], who, {}), find_or(b.rows[type], who, {}))) return false;
    return visit(find_or(a.zones, who, -1), find_or(b.zones, who, -1)) &&
           visit(a.positions.contains(who), b.positions.contains(who)) &&
           visit(find_or(a.positions, who, 0), find_or(b.positions, who, 0)) &&
           visit(find_or(a.parents, who, {}), find_or(b.parents, who, {})) &&
           visit(find_or(a.owners, who, {}), find_or(b.owners, who, {})) &&
           visit(find_or(a.tags, who, {}), find_or(b.tags, who, {})) &&
           visit(find_or(a.names, who, {}), find_or(b.names, who, {})) &&
           visit(find_or(a.properties, who, {}), find_or(b.properties, who, {})) &&
           visit(a.inactive.contains(who), b.inactive.contains(who));
}

}  // namespace

// --- lives -----------------------------------------------------------------------------------------------------------

void Model::before_all(int number) {
    if (number == 1) return;  // the lake shares the entities of the sea
    const World& world = stage_.world(number);
    side(number).living.insert(world.directory().singletons().entity());
    if (number == 0) side(number).living.insert(stage_.lake.directory().singletons().entity());
    side(number).known = side(number).living;
}

bool Model::born(int world, Entity who) {
    side(world).living.insert(who);
    return who && side(world).known.insert(who).second;
}

bool Model::born(int world, const std::vector<Entity>& all) {
    return std::all_of(all.begin(), all.end(), [&](Entity who) { return born(world, who); });
}

int Model::destroy(int number, const std::vector<Entity>& all) {
    int num_destroyed = 0;
    std::vector<Entity> dead;
    for (const Entity who : all)
        if (side(number).living.erase(who) != 0) dead.push_back(who), ++num_destroyed;
    const auto dies_too = [&](Entity who) {
        if (side(number).living.erase(who) != 0) dead.push_back(who);
    };
    for (std::size_t i = 0; i < dead.size(); ++i)  // who dies with them is appended
        for (int w = 0; w < 3; ++w) {
            if (&side(w) != &side(number)) continue;
            for (const Entity one : find_or(world(w).owned, dead[i], {})) dies_too(one);
            if (stage_.options.children == ChildrenOfDead::kDie)
                for (const Entity one : find_or(world(w).children, dead[i], {})) dies_too(one);
        }
    for (const Entity who : dead)
        for (int w = 0; w < 3; ++w)
            if (&side(w) == &side(number)) bury(w, who);
    return num_destroyed;
}

/// What goes at once when an entity dies.
void Model::bury(int number, Entity who) {
    ModelWorld& world = this->world(number);
    release(number, who);
    for (const Entity one : find_or(world.owned, who, {})) release(number, one);
    world.tags.erase(who), world.names.erase(who), world.properties.erase(who), world.inactive.erase(who);
    for (int type = 0; type < kNumTypes; ++type) {
        const bool goes_at_once = (type == kPlace || type == kBody || type == kHunts) && !in_database(number, type) &&
                                  stage_.options.death == DeathPolicy::kByCallback;
        if (goes_at_once) world.rows[type].erase(who);
    }
}

// --- components ------------------------------------------------------------------------------------------------------

bool Model::has(int number, int type, Entity who) const {
    const auto found = world(number).rows[type].find(who);
    return found != world(number).rows[type].end() && found->second.is_enabled;
}

bool Model::has_no_dead(int number) const {
    const auto lives = [&](const auto& row) { return alive(number, row.first); };
    for (const auto& rows : world(number).rows)
        if (!std::all_of(rows.begin(), rows.end(), lives)) return false;
    return std::all_of(world(number).zones.begin(), world(number).zones.end(), lives);
}

/// An entity that gets a row takes the place of a dead one on the same index.
void Model::drop_stale(int number, int type, Entity who) {
    const auto is_stale = [&](const auto& row) { return row.first.index() == who.index() && row.first != who; };
    if (type != kNumTypes && !in_database(number, type))
        return static_cast<void>(std::erase_if(world(number).rows[type], is_stale));
    std::vector<Entity> stale;
    for (const auto& row : world(number).zones)
        if (is_stale(row)) stale.push_back(row.first);
    for (const Entity one : stale) drop_from_database(number, one);
}

AddCounts Model::add(int number, int type, const std::vector<Entity>& all, const Value& value, bool is_enabled) {
    AddCounts counts;
    for (const Entity who : all) {
        if (!alive(number, who)) {
            ++counts.num_skipped;
            continue;
        }
        const bool had = has(number, type, who);
        drop_stale(number, type, who);
        Row& row = world(number).rows[type][who];
        if (type == kScar && had)
            row.values.insert(row.values.begin(), value);
        else
            row.values = {value};
        row.is_enabled = is_enabled;
        if (in_database(number, type)) world(number).zones.emplace(who, 0);
        ++(had && type != kScar ? counts.num_set : counts.num_added);
    }
    return counts;
}

int Model::remove(int number, int type, const std::vector<Entity>& all) {
    int num_removed = 0;
    for (const Entity who : all) {
        const auto found = world(number).rows[type].find(who);
        if (found == world(number).rows[type].end() || !found->second.is_enabled) continue;
        num_removed += in_database(number, type) ? 1 : int(found->second.values.size());
        if (in_database(number, type) && type == kHungry)
            found->second.is_enabled = false;
        else
            world(number).rows[type].erase(found);
    }
    return num_removed;
}

bool Model::insert(int number, int type, Entity who, int zone, const Value& value) {
    if (!alive(number, who) || world(number).zones.contains(who)) return false;
    drop_stale(number, type, who);
    world(number).zones[who] = zone;
    world(number).rows[type][who] = {{value}, true};
    return true;
}

bool Model::remove_value(int number, int type, Entity who, int index) {
    auto& rows = world(number).rows[type];
    const auto found = rows.find(who);
    if (found == rows.end() || std::size_t(index) >= found->second.values.size() || !found->second.is_enabled)
        return false;
    if (found->second.values.size() == 1) return remove(number, type, {who}) != 0;
    found->second.values.erase(found->second.values.begin() + index);
    return true;
}

int Model::move(int number, const std::vector<Entity>& all, int zone) {
    int num_moved = 0;
    for (const Entity who : all) {
        const auto found = world(number).zones.find(who);
        if (found == world(number).zones.end() || found->second == zone) continue;
        found->second = zone;
        ++num_moved;
    }
    return num_moved;
}

void Model::drop_from_database(int number, Entity who) {
    world(number).zones.erase(who);
    for (int type = 0; type < kNumTypes; ++type)
        if (in_database(number, type)) world(number).rows[type].erase(who);
}

int Model::destroy_in_database(int number, const std::vector<Entity>& all) {
    const int num_destroyed = destroy(number, all);
    for (const Entity who : all) drop_from_database(number, who);
    return num_destroyed;
}

int Model::clear_zone(int number, int zone) {
    std::vector<Entity> all;
    for (const auto& [who, its] : world(number).zones)
        if (its == zone) all.push_back(who);
    return destroy_in_database(number, all);
}

// --- transforms and owners -------------------------------------------------------------------------------------------

int Model::world_position(int number, Entity who) const {
    const auto parent = world(number).parents.find(who);
    const int above = parent == world(number).parents.end() ? 0 : world_position(number, parent->second);
    return above + find_or(world(number).positions, who, 0);
}

bool Model::is_below(int number, Entity who, Entity above) const {
    if (who == above) return true;
    const auto parent = world(number).parents.find(who);
    return parent != world(number).parents.end() && is_below(number, parent->second, above);
}

std::vector<Entity> Model::transforms_of_dead(int number) const {
    std::vector<Entity> all;
    for (const auto& row : world(number).positions)
        if (!alive(number, row.first)) all.push_back(row.first);
    return all;
}

AddCounts Model::add_transform(int number, Entity who, int position) {
    if (!alive(number, who)) return {0, 0, 1};
    for (const Entity stale : transforms_of_dead(number))
        if (stale.index() == who.index()) remove_transform(number, stale);
    const bool had = world(number).positions.contains(who);
    world(number).positions[who] = position;
    return {had ? 0u : 1u, had ? 1u : 0u, 0};
}

bool Model::remove_transform(int number, Entity who) {
    ModelWorld& world = this->world(number);
    if (!world.positions.contains(who)) return false;
    for (const Entity child : find_or(world.children, who, {})) {
        if (forgets_ == Forgets::kChildrenStayWhereTheyAre)
            world.parents.erase(child);
        else
            unlink(number, child);
    }
    unlink(number, who);
    world.positions.erase(who), world.children.erase(who);
    return true;
}

bool Model::link(int number, Entity child, Entity parent) {
    ModelWorld& world = this->world(number);
    if (is_below(number, parent, child)) return false;
    const Entity before = find_or(world.parents, child, {});
    if (before == parent) return true;
    if (before) erase_one(world.children[before], child);
    world.parents[child] = parent;
    world.children[parent].insert(world.children[parent].begin(), child);
    return true;
}

/// The child stays where it is.
void Model::unlink(int number, Entity child) {
    if (!world(number).parents.contains(child)) return;
    world(number).positions[child] = world_position(number, child);
    leave_parent(number, child);
}

/// Its position is the same number, in the world then.
void Model::leave_parent(int number, Entity child) {
    ModelWorld& world = this->world(number);
    const Entity parent = find_or(world.parents, child, {});
    if (!parent) return;
    world.parents.erase(child);
    erase_one(world.children[parent], child);
    touched_.insert(parent);
}

bool Model::own(int number, Entity owner, Entity owned) {
    ModelWorld& world = this->world(number);
    if (!alive(number, owner)) return false;
    if (!alive(number, owned)) return true;  // skipped
    for (Entity above = owner; above; above = find_or(world.owners, above, {}))
        if (above == owned) return false;
    if (find_or(world.owners, owned, {}) == owner) return true;
    release(number, owned);
    world.owners[owned] = owner;
    world.owned[owner].insert(world.owned[owner].begin(), owned);
    return true;
}

bool Model::release(int number, Entity owned) {
    ModelWorld& world = this->world(number);
    const Entity owner = find_or(world.owners, owned, {});
    if (!owner) return false;
    world.owners.erase(owned);
    erase_one(world.owned[owner], owned);
    touched_.insert(owner);
    return true;
}

// --- active or not ---------------------------------------------------------------------------------------------------

bool Model::is_inactive(int number, Entity who) const {
    const auto by_itself = [&](Entity one) {
        for (int w = 0; w < 3; ++w)
            if (&side(w) == &side(number) && world(w).inactive.contains(one)) return true;
        return false;
    };
    for (int w = 0; w < 3; ++w) {
        if (&side(w) != &side(number)) continue;
        for (Entity one = who; one && (one == who || alive(number, one)); one = find_or(world(w).parents, one, {}))
            if (by_itself(one)) return true;
    }
    return false;
}

void Model::set_active(int number, Entity who, bool is_active) {
    if (is_active)
        world(number).inactive.erase(who);
    else if (alive(number, who))
        world(number).inactive.insert(who);
}

// --- copies ----------------------------------------------------------------------------------------------------------

/// An entity, what it owns and what hangs below it, and so on, in the order in which they are in a blob.
std::vector<Entity> Model::below(int number, Entity who) const {
    std::vector<Entity> all = {who};
    const auto has = [&](Entity one) { return std::find(all.begin(), all.end(), one) != all.end(); };
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const auto* lists : {&world(number).owned, &world(number).children})
            for (const Entity one : find_or(*lists, all[i], {}))
                if (alive(number, one) && !has(one)) all.push_back(one);
    return parents_first(number, all, who);
}

/// The same entities, with parents before their children, whoever the parent of `top` is. Otherwise the order stays.
std::vector<Entity> Model::parents_first(int number, const std::vector<Entity>& all, Entity top) const {
    std::vector<std::pair<int, std::size_t>> by_depth;  // with the place before
    for (std::size_t i = 0; i < all.size(); ++i) {
        int depth = 0;
        for (Entity at = all[i]; at != top; ++depth) {
            at = find_or(world(number).parents, at, {});
            if (!at || std::find(all.begin(), all.end(), at) == all.end()) break;
        }
        by_depth.emplace_back(depth, i);
    }
    std::sort(by_depth.begin(), by_depth.end());
    std::vector<Entity> sorted;
    for (const auto& [depth, place] : by_depth) sorted.push_back(all[place]);
    return sorted;
}

Prefab Model::prefab_of(int number, const std::vector<Entity>& all) const {
    const ModelWorld& from = world(number);
    Prefab result;
    result.all = all;
    ModelWorld& to = result.world;
    const auto take = [](const auto& map, auto& into, Entity one) {
        if (const auto found = map.find(one); found != map.end()) into.insert(*found);
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Entity one = all[i];
        for (int type = 0; type < kNumTypes; ++type)
            if (has_store(number, type)) take(from.rows[type], to.rows[type], one);
        take(from.zones, to.zones, one), take(from.tags, to.tags, one), take(from.names, to.names, one);
        take(from.properties, to.properties, one), take(from.owners, to.owners, one), take(from.relics, to.relics, one);
        if (from.inactive.contains(one)) to.inactive.insert(one);
        take(from.positions, to.positions, one);
        const Entity parent = find_or(from.parents, one, {});
        if (parent &&
            std::find(all.begin(), all.begin() + std::ptrdiff_t(i), parent) != all.begin() + std::ptrdiff_t(i))
            to.parents[one] = parent;
        else if (from.positions.contains(one))
            to.positions[one] = world_position(number, one);
    }
    for (const Entity one : all)  // children come in the order of the blob
        if (const Entity parent = find_or(to.parents, one, {})) to.children[parent].push_back(one);
    return result;
}

/// Gives new entities what those of a prefab had. References among these lead to the new ones.
void Model::put(int number, const Prefab& from, const std::vector<Entity>& twins, const std::map<Entity, int>& zones,
                int offset) {
    Twins twin_of;
    for (std::size_t i = 0; i < twins.size(); ++i) twin_of[from.all[i]] = twins[i];
    for (const Entity one : from.all) put_one(number, from, one, twin_of, zones, offset);
    for (const auto& [one, children] : from.world.children)
        for (std::size_t i = children.size(); i-- > 0;) link(number, twin_of[children[i]], twin_of[one]);
    for (const Entity one : from.all) {
        const Entity owner = find_or(from.world.owners, one, {});
        if (owner) own(number, find_or(twin_of, owner, owner), twin_of[one]);
    }
}

/// The same for one of them, without a parent and an owner.
void Model::put_one(int number, const Prefab& from, Entity one, const Twins& twins, const std::map<Entity, int>& zones,
                    int offset) {
    ModelWorld& world = this->world(number);
    const Entity twin = twins.at(one);
    for (int type = 0; type < kNumTypes; ++type)
        if (const Row* const row = find_in(from.world.rows[type], one); row != nullptr && has_store(number, type))
            put_row(number, type, twin, *row, twins, offset);
    if (zones.contains(one)) drop_stale(number, kNumTypes, twin), world.zones[twin] = zones.at(one);
    if (from.world.tags.contains(one)) world.tags[twin] = from.world.tags.at(one);
    if (from.world.names.contains(one)) world.names[twin] = from.world.names.at(one);
    if (from.world.properties.contains(one)) world.properties[twin] = from.world.properties.at(one);
    if (from.world.inactive.contains(one)) world.inactive.insert(twin);
    if (from.world.relics.contains(one)) world.relics[twin] = from.world.relics.at(one);
    const bool is_root = !from.world.parents.contains(one);
    if (from.world.positions.contains(one))
        add_transform(number, twin, from.world.positions.at(one) + (is_root ? offset : 0));
}

void Model::put_row(int number, int type, Entity twin, Row row, const Twins& twins, int offset) {
    drop_stale(number, type, twin);
    for (Value& value : row.values) value.who = find_or(twins, value.who, value.who);
    for (int field = 0; field < 2; ++field)
        if (is_place(number, type, field)) place_of(row.values[0], field) += offset;
    row.is_enabled |= !in_database(number, type);
    world(number).rows[type][twin] = row;
}

bool Model::can_copy(int number, Entity original) const {
    if (!alive(number, original)) return false;
    const std::vector<Entity> all = below(number, original);
    return std::none_of(all.begin(), all.end(),
                        [&](Entity one) { return is_unloaded(number, one) || world(number).models.contains(one); });
}

/// Learns from the stage who is whose copy.
std::string Model::copy(int number, Entity original, const Placing& at) {
    if (!can_copy(number, original)) return "refused";
    if (below(number, original) != stage_.below) return "copies others than those below";
    const Prefab from = prefab_of(number, stage_.below);
    const int was = at.has_pose ? place_in(number, from, original) : 0;
    return put_all(number, from, [&](int offset) { return copy_zones(number, from, at, offset); }, at.x - was, at.step);
}

/// Where an entity is in the world: by its transform, otherwise by the field that says in which tile it lies.
int Model::place_in(int number, const Prefab& from, Entity one) const {
    const Row* const buoy = find_in(from.world.rows[kBuoy], one);
    if (from.world.positions.contains(one) || declared[number].tiled < 0 || buoy == nullptr)
        return find_or(from.world.positions, one, 0);
    Value value = buoy->values[0];
    return place_of(value, declared[number].tiled);
}

/// Whether a field says in which tile rows lie, so that copies which are placed have it placed.
bool Model::is_place(int number, int type, int field) const { return type == kBuoy && declared[number].tiled == field; }

/// Copies lie where the originals do, unless they are placed.
std::map<Entity, int> Model::copy_zones(int number, const Prefab& from, const Placing& at, int offset) const {
    std::map<Entity, int> zones = from.world.zones;
    for (auto& [one, zone] : zones) zone = at.zone >= 0 ? at.zone : zone;
    if (at.zone >= 0 || !at.has_pose || declared[number].tiled < 0) return zones;
    Prefab without = from;
    without.keeps_zones = false;
    without.world.rows[kTitle].clear();  // comes to the rows that are there then
    for (const auto& [one, zone] : spawn_zones(number, without, -1, offset)) zones[one] = zone;
    return zones;
}

std::string Model::put_all(int number, const Prefab& from, const ZonesAt& zones, int offset, int step) {
    const std::vector<Entity>& made = stage_.copies;
    last_made[number] = made;
    for (std::size_t first = 0; first < made.size(); first += from.all.size(), offset += step) {
        const auto begin = made.begin() + std::ptrdiff_t(first);
        const std::vector<Entity> twins(begin, begin + std::ptrdiff_t(from.all.size()));
        // One of them may be there already, see SpawnOptions::first_entities.
        if (!born(number, {twins.begin() + (has_nothing(number, twins[0]) ? 1 : 0), twins.end()}))
            return "an id is used twice";
        put(number, from, twins, zones(offset), offset);
    }
    return "ok";
}

std::string Model::pack(int number, Entity who, bool keeps_zones) {
    if (!can_copy(number, who)) return "refused";
    if (below(number, who) != stage_.below) return "saves others than those below";
    return add_prefab(number, keeps_zones);
}

/// In which order entities lie in a zone is nowhere said.
std::string Model::pack_zone(int number, int zone, bool keeps_zones) {
    const std::set<Entity> all = entities_in(number, zone);
    const auto is_away = [&](Entity who) { return is_unloaded(number, who) || world(number).models.contains(who); };
    if (streaming[number].unloaded.contains(zone) || std::any_of(all.begin(), all.end(), is_away)) return "refused";
    const std::vector<Entity>& found = stage_.below;
    if (found.size() != all.size() || std::set<Entity>(found.begin(), found.end()) != all)
        return "saves others than those in the zone";
    if (parents_first(number, found, {}) != found) return "saves children before their parents";
    return add_prefab(number, keeps_zones);
}

std::set<Entity> Model::entities_in(int number, int zone) const {
    std::vector<Entity> all;
    for (const auto& [who, its] : world(number).zones)
        if (its == zone && alive(number, who)) all.push_back(who);
    std::set<Entity> result(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const auto* lists : {&world(number).owned, &world(number).children})
            for (const Entity one : find_or(*lists, all[i], {})) {
                const bool lies_in_zone = world(number).zones.contains(one) || is_unloaded(number, one);
                if (alive(number, one) && !lies_in_zone && result.insert(one).second) all.push_back(one);
            }
    return result;
}

/// A blob keeps no texts of C++, and nothing about entities that are not in it.
std::string Model::add_prefab(int number, bool keeps_zones) {
    const std::vector<Entity>& all = stage_.below;
    Prefab made = prefab_of(number, all);
    if (!made.world.rows[kTitle].empty()) return "refused";
    const auto is_outside = [&](Entity one) { return std::find(all.begin(), all.end(), one) == all.end(); };
    for (auto& rows : made.world.rows)
        for (auto& [one, row] : rows)
            for (Value& value : row.values)
                if (is_outside(value.who)) value.who = {};
    std::erase_if(made.world.owners, [&](const auto& owner) { return is_outside(owner.second); });
    for (auto& [one, row] : made.world.rows[kSong])
        for (Value& value : row.values) value.is_packed = value.m != 0, made.has_arrays |= value.m != 0;
    made.keeps_zones = keeps_zones;
    const std::vector<Entity> led = below(number, all[0]);
    made.is_tree = std::is_permutation(led.begin(), led.end(), all.begin(), all.end());
    made.version = stage_.version_of(stage_.prefabs.back());
    prefabs.push_back(std::make_shared<const Prefab>(std::move(made)));
    return "ok";
}

/// The zone that a blob names for each entity, or for the nearest above it of which it names one; -1: none.
std::map<Entity, int> Model::named_zones(const Prefab& from) const {
    std::map<Entity, int> named;
    for (const Entity one : from.all) {  // parents first
        const int above = find_or(named, find_or(from.world.parents, one, {}), -1);
        named[one] = from.keeps_zones ? find_or(from.world.zones, one, above) : above;
    }
    return named;
}

/// Who has a component of the database lies in the zone that is named, or in `zone`, or in the tile of its place, or where its
/// parent lies. Of those before the first one nothing is known.
std::map<Entity, int> Model::spawn_zones(int number, const Prefab& from, int zone, int offset,
                                         std::size_t first) const {
    std::map<Entity, int> all, zones;
    const std::map<Entity, int> named = named_zones(from);
    for (std::size_t i = first; i < from.all.size(); ++i) {
        const Entity one = from.all[i];
        const Row* const buoy = find_in(from.world.rows[kBuoy], one);
        all[one] = find_or(all, find_or(from.world.parents, one, {}), 0);
        if (declared[number].tiled >= 0 && buoy != nullptr) {
            Value value = buoy->values[0];
            all[one] = int(kTiles.zone_of({float(place_of(value, declared[number].tiled) + offset), 0, 0}));
        }
        if (zone >= 0) all[one] = zone;
        if (named.at(one) >= 0) all[one] = named.at(one);
        for (int type = 0; type < kNumTypes; ++type)
            if (in_database(number, type) && from.world.rows[type].contains(one)) zones[one] = all[one];
    }
    return zones;
}

std::string Model::spawn(int number, const Placing& at, bool fails_on_unknown) {
    const Prefab& from = prefab();
    const std::vector<Entity>& made = stage_.copies;
    if (fails_on_unknown && !has_store(number, kCoin) && !from.world.rows[kCoin].empty()) return "refused";
    const std::string result =
        put_all(number, from, [&](int offset) { return spawn_zones(number, from, at.zone, offset); }, at.x, at.step);
    begin_at_transforms(number, made);
    for (std::size_t first = 0, i = 0; first < made.size(); first += from.all.size(), ++i) {
        for (auto& [version, copies] : world(number).copies)  // who was there is of this copy now
            for (SpawnedCopy& copy : copies) std::replace(copy.all.begin(), copy.all.end(), made[first], Entity());
        for (SceneCopy& copy : world(number).scenes)
            for (auto& [guid, who] : copy.all) who = who == made[first] ? Entity() : who;
        const auto begin = made.begin() + std::ptrdiff_t(first);
        world(number).copies[from.version].push_back(
            {{begin, begin + std::ptrdiff_t(from.all.size())}, at.x + int(i) * at.step});
    }
    return result;
}

// --- reloads ---------------------------------------------------------------------------------------------------------

namespace {

/// The number of an entity of a blob; of none, or of one that the other version does not have, a number that is no other's.
std::size_t number_in(const Prefab& prefab, Entity who) {
    return std::size_t(std::find(prefab.all.begin(), prefab.all.end(), who) - prefab.all.begin());
}
bool is_same_reference(const Prefab& before, Entity was, const Prefab& after, Entity is) {
    return was && is ? number_in(before, was) == number_in(after, is) : !was && !is;
}

}  // namespace

/// Entities of two versions are the same by their order: those that programs make have no GUIDs.
std::string Model::reload(int number, int before, int after) {
    if (!streaming[number].unloaded.empty()) return "refused";
    const Prefab &older = prefab(before), &newer = prefab(after);
    const ModelWorld world_before = world(number);
    const ModelEntities side_before = side(number);
    touched_.clear();
    const bool has_songs = !older.world.rows[kSong].empty() || !newer.world.rows[kSong].empty();
    ModelWorld moved = world_before;
    if (has_songs) move_songs(world(number), newer), move_songs(moved, newer);
    std::vector<Reloading> copies = begin_reload(number, older, newer);
    const std::size_t num_both = std::min(older.all.size(), newer.all.size());
    for (const Reloading& copy : copies)
        for (std::size_t i = 0; i < num_both; ++i)
            if (copy.now[i]) follow(number, copy, i);
    for (const Reloading& copy : copies) follow_links(number, copy);
    if (!follow_owners(number, copies)) {
        world(number) = world_before, side(number) = side_before;
        for (auto& [parent, children] : world(number).children)
            if (alive(number, parent)) children = stage_.list_children(stage_.world(number), parent);
        return "refused";
    }
    int num_changed = 0, num_created = 0;
    std::vector<Entity> gone;
    for (const Reloading& copy : copies) {
        for (std::size_t i = 0; i < num_both; ++i)
            if (copy.now[i] && older.world.positions.contains(older.all[i]) &&
                !newer.world.positions.contains(newer.all[i]))
                remove_transform(number, copy.now[i]);
        for (std::size_t i = 0; i < copy.now.size(); ++i) num_created += i >= num_both && copy.now[i];
        for (std::size_t i = num_both; i < copy.was.size(); ++i) gone.push_back(copy.was[i]);
    }
    const auto is_same = [](const auto& a, const auto& b) { return a == b; };
    for (const Reloading& copy : copies)
        for (std::size_t i = 0; i < num_both; ++i)
            num_changed += copy.now[i] && !is_same_in(moved, world(number), copy.now[i], is_same);
    const int num_destroyed = destroy(number, gone);
    if (has_songs) offered[number] = newer.version;
    if (!learn_orders(number, world_before)) return "children or possessions that the model does not know";
    if (stage_.copies.size() != copies.size() * (newer.all.size() - num_both)) return "others are new";
    std::vector<SpawnedCopy>& all = world(number).copies[newer.version];
    if (older.version == newer.version)
        all.clear();
    else
        world(number).copies.erase(older.version);
    for (const Reloading& copy : copies) all.push_back({copy.now, copy.offset});
    return std::to_string(copies.size()) + " copies, " + std::to_string(num_created) + " created, " +
           std::to_string(num_destroyed) + " destroyed, " + std::to_string(num_changed) + " changed";
}

/// Songs lie in the newer version now, if it has the same notes; otherwise they have none.
void Model::move_songs(ModelWorld& world, const Prefab& after) const {
    std::set<int> there;
    for (const auto& [one, row] : after.world.rows[kSong])
        for (const Value& value : row.values) there.insert(value.m);
    for (auto& [who, row] : world.rows[kSong])
        for (Value& value : row.values)
            if (value.is_packed && !there.contains(value.m)) value.m = 0, value.is_packed = false;
    for (Command& command : world.commands)
        if (command.value.is_packed && !there.contains(command.value.m))
            command.value.m = 0, command.value.is_packed = false;
}

/// Lists the copies of which anybody lives, and makes the entities that are new. Those below one that has died do not stay.
std::vector<Model::Reloading> Model::begin_reload(int number, const Prefab& before, const Prefab& after) {
    constexpr std::uint32_t kNobody = 500'000;  // if the reload is refused, nobody knows them
    std::vector<Reloading> copies;
    std::size_t num_new = 0;
    for (const SpawnedCopy& copy : world(number).copies[before.version]) {
        const auto lives = [&](Entity one) { return alive(number, one); };
        if (std::none_of(copy.all.begin(), copy.all.end(), lives)) continue;
        Reloading& made = copies.emplace_back(Reloading{before, after, copy.all, {}, {}, copy.offset});
        for (std::size_t i = 0; i < after.all.size(); ++i) {
            Entity now = i < copy.all.size() && lives(copy.all[i]) ? copy.all[i] : Entity();
            const Entity parent = find_or(after.world.parents, after.all[i], {});
            const bool is_lost = i < copy.all.size() ? !now : parent && !made.twins.at(parent);
            if (i >= copy.all.size()) {
                now = num_new < stage_.copies.size() ? stage_.copies[num_new]
                                                     : make_entity(kNobody + std::uint32_t(num_new), 1);
                ++num_new;
            }
            made.now.push_back(is_lost ? Entity() : now);
            made.twins[after.all[i]] = made.now.back();
        }
        for (std::size_t i = copy.all.size(); i < made.now.size(); ++i)
            if (made.now[i]) born(number, made.now[i]);
        const std::map<Entity, int> zones =
            spawn_zones(number, after, -1, copy.offset, std::min(copy.all.size(), after.all.size()));
        for (std::size_t i = copy.all.size(); i < made.now.size(); ++i)
            if (made.now[i]) put_one(number, after, after.all[i], made.twins, zones, copy.offset);
    }
    return copies;
}

/// What differs between the versions is written; what the program has taken away stays away.
void Model::follow(int number, const Reloading& copy, std::size_t i) {
    ModelWorld& world = this->world(number);
    const ModelWorld &before = copy.before.world, &after = copy.after.world;
    const Entity was = copy.before.all[i], is = copy.after.all[i], who = copy.now[i];
    for (int type = 0; type < kNumTypes; ++type)
        if (has_store(number, type)) follow_rows(number, copy, i, type);
    const int zone_before = named_zones(copy.before)[was], zone_after = named_zones(copy.after)[is];
    if (zone_after >= 0 && zone_after != zone_before && world.zones.contains(who)) world.zones[who] = zone_after;
    if (const int* const position = find_in(after.positions, is); position != nullptr) {
        const int placed = *position + (after.parents.contains(is) ? 0 : copy.offset);
        const int* const older = find_in(before.positions, was);
        if (older == nullptr || (*older != *position && world.positions.contains(who)))
            add_transform(number, who, placed);
    }
    for (const char* const tag : kWords) {
        const bool had = find_or(before.tags, was, {}).contains(tag), has = find_or(after.tags, is, {}).contains(tag);
        if (has && !had) world.tags[who].insert(tag);
        if (had && !has) world.tags[who].erase(tag);
    }
    const std::string name_before = find_or(before.names, was, {}), name_after = find_or(after.names, is, {});
    if (name_after.empty() && !name_before.empty()) world.names.erase(who);
    if (!name_after.empty() && name_after != name_before && (name_before.empty() || world.names.contains(who)))
        world.names[who] = name_after;
    const std::map<std::string, int> older = find_or(before.properties, was, {}),
                                     newer = find_or(after.properties, is, {});
    for (const auto& [path, value] : older)
        if (!newer.contains(path)) world.properties[who].erase(path);
    for (const auto& [path, value] : newer)
        if (!older.contains(path) || (older.at(path) != value && world.properties[who].contains(path)))
            world.properties[who][path] = value;
    if (before.inactive.contains(was) != after.inactive.contains(is))
        set_active(number, who, !after.inactive.contains(is));
}

void Model::follow_rows(int number, const Reloading& copy, std::size_t i, int type) {
    auto& rows = world(number).rows[type];
    const Entity who = copy.now[i];
    const Row* const before = find_in(copy.before.world.rows[type], copy.before.all[i]);
    const Row* const after = find_in(copy.after.world.rows[type], copy.after.all[i]);
    const auto add_row = [&](const Row& row) {
        put_row(number, type, who, row, copy.twins, copy.offset);
        if (in_database(number, type)) world(number).zones.emplace(who, 0);
    };
    if (type == kScar) {
        const Row none;
        const std::vector<Value>& older = (before == nullptr ? none : *before).values;
        const std::vector<Value>& newer = (after == nullptr ? none : *after).values;
        std::vector<Value> values = find_or(rows, who, {}).values;
        shoal_test::merge_list(values, older, newer, [](Value& now, const Value& was, const Value& is) {
            shoal_test::merge(now.n, was.n, is.n);
        });
        if (values.empty()) return static_cast<void>(rows.erase(who));
        return add_row({values, true});
    }
    if (after == nullptr && before == nullptr) return;
    if (after == nullptr) return static_cast<void>(remove(number, type, {who}));
    if (before == nullptr) return add_row(*after);
    const auto found = rows.find(who);
    if (found == rows.end()) return;
    Value& now = found->second.values[0];
    const Value &was = before->values[0], &is = after->values[0];
    if (forgets_ == Forgets::kReloadLeavesWhatTheSourceLeaves) now.n = is.n;
    shoal_test::merge(now.is_odd, was.is_odd, is.is_odd);
    if (was.m != is.m) now.is_packed = is.is_packed;
    for (int field = 0; field < 2; ++field) {
        Value older = was, newer = is;
        const int offset = is_place(number, type, field) ? copy.offset : 0;
        if (place_of(older, field) != place_of(newer, field)) place_of(now, field) = place_of(newer, field) + offset;
    }
    if (!is_same_reference(copy.before, was.who, copy.after, is.who)) now.who = find_or(copy.twins, is.who, {});
    if (in_database(number, type)) shoal_test::merge(found->second.is_enabled, before->is_enabled, after->is_enabled);
}

/// Children get the parents that they have in the newer version, if it is another one than before. All leave the old ones
/// first. Of links that would close a cycle, because of what the program has linked, the last is left out.
void Model::follow_links(int number, const Reloading& copy) {
    ModelWorld& world = this->world(number);
    std::vector<std::array<Entity, 3>> links;  // the child, its parent in the world, and the new one
    for (std::size_t i = 0; i < copy.now.size(); ++i) {
        const Entity one = copy.after.all[i], parent = find_or(copy.after.world.parents, one, {});
        const Entity was = i < copy.was.size() ? find_or(copy.before.world.parents, copy.before.all[i], {}) : Entity();
        const Entity is = find_or(copy.twins, parent, {}), child = copy.now[i];
        if (is_same_reference(copy.before, was, copy.after, parent) || !world.positions.contains(child)) continue;
        if (parent && !world.positions.contains(is)) continue;
        if (find_or(world.parents, child, {}) != is) links.push_back({child, find_or(world.parents, child, {}), is});
    }
    for (const auto& [child, was, is] : links) leave_parent(number, child);
    for (const auto& [child, was, is] : links)
        if (is && !link(number, child, is) && was) static_cast<void>(link(number, child, was));
}

/// The same for owners. Returns false if one would own its own owner.
bool Model::follow_owners(int number, const std::vector<Reloading>& copies) {
    std::vector<std::pair<Entity, Entity>> owners;  // owned, owner
    for (const Reloading& copy : copies)
        for (std::size_t i = 0; i < copy.now.size(); ++i) {
            const Entity was =
                i < copy.was.size() ? find_or(copy.before.world.owners, copy.before.all[i], {}) : Entity();
            const Entity is = find_or(copy.after.world.owners, copy.after.all[i], {});
            const Entity owned = copy.now[i], owner = find_or(copy.twins, is, {});
            const Entity now = find_or(world(number).owners, owned, {});
            if (!owned || is_same_reference(copy.before, was, copy.after, is) || now == owner) continue;
            const bool is_left_out = is ? !owner || (was && !now) : false;
            if (!is_left_out) owners.emplace_back(owned, owner);
        }
    for (const auto& [owned, owner] : owners) release(number, owned);
    for (const auto& [owned, owner] : owners)
        if (owner && !own(number, owner, owned)) return false;
    return true;
}

namespace {

/// Takes over in which order lists are that are not what they were before, or of which one has gone and come back. Returns
/// whether the same entities are in them.
template <class Lists, class Alive, class Find>
bool learn_lists(Lists& lists, const Lists& before, const std::set<Entity>& touched, Alive&& alive, Find&& find) {
    return std::all_of(lists.begin(), lists.end(), [&](auto& list) {
        auto& [above, all] = list;
        if (!alive(above) || (!touched.contains(above) && all == find_or(before, above, {}))) return true;
        const std::vector<Entity> found = find(above);
        const bool is_same = std::is_permutation(found.begin(), found.end(), all.begin(), all.end());
        all = found;
        return is_same;
    });
}

}  // namespace

/// In which order children and possessions lie that have come and gone in one call is nowhere said.
bool Model::learn_orders(int number, const ModelWorld& before) {
    World& world = stage_.world(number);
    const auto children = [&](Entity parent) {
        return world.transforms().has(parent) ? Stage::list_children(world, parent) : std::vector<Entity>();
    };
    const auto lives = [&](Entity one) { return alive(number, one); };
    return learn_lists(this->world(number).children, before.children, touched_, lives, children) &&
           learn_owned(number, before.owned);
}

bool Model::learn_owned(int number, const std::map<Entity, std::vector<Entity>>& before) {
    return learn_lists(
        world(number).owned, before, touched_, [&](Entity one) { return alive(number, one); },
        [&](Entity owner) { return Stage::list_owned(stage_.world(number), owner); });
}

// --- scenes ----------------------------------------------------------------------------------------------------------

bool Model::has_relics(int number, const std::vector<Entity>& all) const {
    return std::any_of(all.begin(), all.end(), [&](Entity who) { return world(number).relics.contains(who); });
}

/// Whether anybody of such a copy lives.
bool Model::has_scene(int number, int scene) const {
    for (const SceneCopy& copy : world(number).scenes)
        for (const auto& [guid, who] : copy.all)
            if (copy.scene == scene && alive(number, who)) return true;
    return false;
}

bool Model::refers_to_scene(int number) const {
    const auto& models = world(number).models;
    return std::any_of(models.begin(), models.end(), [](const auto& model) { return model.second.is_in_scene; });
}

bool Model::can_reload_scene(int number, int before, int after) const {
    return has_scene(number, before) &&
           (offered_scene[number] == before || offered_scene[number] == after || !refers_to_scene(number));
}

std::string Model::spawn_scene(int number, int name, int scene) {
    ModelWorld& world = this->world(number);
    const int fields = relic_fields_of(scene);
    if (world.relic_fields != 0 && world.relic_fields != fields) return "refused";
    world.relic_fields = fields;
    if (offered_scene[number] != scene && refers_to_scene(number)) return "refused";
    offered_scene[number] = scene;
    SceneCopy& copy = world.scenes.emplace_back(SceneCopy{scene, {}});
    for (const SceneEntity& one : scene_of(scene)) {
        const Entity who = copy.all[one.guid] = created(number, name++);
        if (!add_from_scene(number, who, one)) return "an id that was used before";
    }
    return "ok";
}

/// Returns false if the id was used before.
bool Model::add_from_scene(int number, Entity who, const SceneEntity& is) {
    if (!born(number, who)) return false;
    std::map<Entity, std::array<int, 2>>& relics = world(number).relics;
    static_cast<void>(add(number, kMark, {who}, {is.mark, 0, {}}));
    std::erase_if(relics, [&](const auto& relic) { return relic.first.index() == who.index(); });
    if (is.has_relic) relics[who] = {is.n, is.extra};
    if (is.tree >= 0) static_cast<void>(add_models(number, is.tree, {who}, true));
    return true;
}

/// Trees that the newer scene has, too, lie in it then. The others are in memory, and none of it refers to them.
void Model::move_scene(int number, int after) {
    const std::vector<SceneEntity> newer = scene_of(after);
    for (auto& [who, model] : world(number).models)
        model.is_in_scene &=
            std::any_of(newer.begin(), newer.end(), [&](const SceneEntity& one) { return one.tree == model.tree; });
    offered_scene[number] = after;
}

/// Entities are the same by their GUIDs. Fields that come have their defaults, and those that go are gone.
std::string Model::reload_scene(int number, int before, int after) {
    ModelWorld& world = this->world(number);
    if (!streaming[number].unloaded.empty()) return "refused";
    const int fields_before = world.relic_fields;
    world.relic_fields = relic_fields_of(after);
    for (auto& [who, relic] : world.relics)
        for (int f = 0; f < 2; ++f)
            if ((fields_before >> f & 1) == 0) relic[std::size_t(f)] = kRelicDefaults[f];
    move_scene(number, after);
    int num_copies = 0, num_created = 0, num_changed = 0;
    std::vector<Entity> gone;
    const std::vector<SceneEntity> older = scene_of(before), newer = scene_of(after);
    for (SceneCopy& copy : world.scenes) {
        const auto lives = [&](const auto& one) { return alive(number, one.second); };
        if (copy.scene != before || std::none_of(copy.all.begin(), copy.all.end(), lives)) continue;
        ++num_copies;
        copy.scene = after;
        const std::map<int, Entity> was = std::exchange(copy.all, {});
        for (const SceneEntity& is : newer) {
            const auto by_guid = [&](const SceneEntity& one) { return one.guid == is.guid; };
            const auto then = std::find_if(older.begin(), older.end(), by_guid);
            if (then != older.end()) {
                const Entity who = copy.all[is.guid] = was.at(is.guid);
                if (alive(number, who)) num_changed += follow_scene(number, who, *then, is, before, after);
                continue;
            }
            if (std::size_t(num_created) == stage_.copies.size()) return "others are new";
            const Entity who = copy.all[is.guid] = stage_.copies[std::size_t(num_created++)];
            if (!add_from_scene(number, who, is)) return "an id that was used before";
        }
        for (const auto& [guid, who] : was)
            if (!copy.all.contains(guid)) gone.push_back(who);
    }
    const int num_destroyed = destroy(number, gone);
    return std::to_string(num_copies) + " copies, " + std::to_string(num_created) + " created, " +
           std::to_string(num_destroyed) + " destroyed, " + std::to_string(num_changed) + " changed";
}

/// Returns whether anything differs.
bool Model::follow_scene(int number, Entity who, const SceneEntity& was, const SceneEntity& is, int before, int after) {
    std::map<Entity, Row>& marks = world(number).rows[kMark];
    const auto mark = marks.find(who);
    bool is_changed =
        mark != marks.end() && was.mark != is.mark && std::exchange(mark->second.values[0].n, is.mark) != is.mark;
    is_changed |= follow_relic(number, who, was, is, before, after);
    return follow_model(number, who, was, is) || is_changed;
}

/// What a version says of a field that it does not have is the default.
bool Model::follow_relic(int number, Entity who, const SceneEntity& was, const SceneEntity& is, int before, int after) {
    std::map<Entity, std::array<int, 2>>& relics = world(number).relics;
    const auto relic = relics.find(who);
    if (was.has_relic && !is.has_relic) return relics.erase(who) != 0;
    if (!is.has_relic || (was.has_relic && relic == relics.end())) return false;
    bool is_changed = relic == relics.end();
    const int olds[] = {was.n, was.extra}, news[] = {is.n, is.extra};
    std::array<int, 2>& values = relics[who];
    for (int f = 0; f < 2; ++f) {
        const bool has = (relic_fields_of(after) >> f & 1) != 0, had = (relic_fields_of(before) >> f & 1) != 0;
        if (has && (!was.has_relic || (had ? olds[f] : kRelicDefaults[f]) != news[f]))
            is_changed |= std::exchange(values[std::size_t(f)], news[f]) != news[f];
    }
    return is_changed;
}

/// A model with another tree starts anew, as one that comes does, also in place of one that the program has given. Others stay
/// posed.
bool Model::follow_model(int number, Entity who, const SceneEntity& was, const SceneEntity& is) {
    const bool has = world(number).models.contains(who);
    if (was.tree == is.tree || (was.tree >= 0 && !has)) return false;
    if (is.tree < 0) return remove_models(number, {who}) != 0;
    static_cast<void>(add_models(number, is.tree, {who}, true));
    return true;
}

/// None: the state is refused.
std::optional<ModelWorld> Model::with_fields_of_now(ModelWorld then, Fields fields) const {
    const int now = world(2).relic_fields, before = then.relic_fields;
    then.relic_fields = now != 0 ? now : before;
    if (now == 0 || before == 0 || now == before) return then;
    const std::uint32_t version_before = relic_version_of(before), version_now = relic_version_of(now);
    if (fields == Fields::kSame || version_before > version_now) return std::nullopt;
    if (fields == Fields::kMayCome && (before & ~now) != 0 && !then.relics.empty()) return std::nullopt;
    for (auto& [who, relic] : then.relics)
        for (int f = 0; f < 2; ++f) {
            // The first field is changed by the step from the first version, the second by that from the second.
            const auto changed_in = std::uint32_t(f + 1);
            const bool is_changed = version_before <= changed_in && changed_in < version_now;
            int& value = relic[std::size_t(f)];
            if ((before >> f & 1) == 0)
                value = kRelicDefaults[f];
            else if (is_changed && fields == Fields::kAsMigrationsSay)
                value += kAddedToRelics;
        }
    return then;
}

// --- copies that commands make ---------------------------------------------------------------------------------------

/// Whether an entity lives and has no components.
bool Model::has_nothing(int number, Entity who) const {
    if (!alive(number, who)) return false;
    for (int w = 0; w < 3; ++w) {
        if (&side(w) != &side(number)) continue;
        const ModelWorld& its = world(w);
        for (const auto& rows : its.rows)
            if (rows.contains(who)) return false;
        const bool is_owner = its.owned.contains(who) && !its.owned.at(who).empty();
        if (its.zones.contains(who) || its.positions.contains(who) || its.owners.contains(who) || is_owner)
            return false;
        if (its.tags.contains(who) || its.names.contains(who) || its.properties.contains(who) ||
            its.inactive.contains(who))
            return false;
        if (its.models.contains(who) || its.relics.contains(who)) return false;
    }
    return true;
}

/// Spawns and copies what commands ask for. Who is whose copy is learned by the order in which a copy is found from its first
/// entity, so all is done twice: with ids that nobody has, to know that order, and with those of the world.
void Model::make_copies(int number, const std::vector<Command>& all) {
    std::vector<Command> asked;
    for (const Command::What what : {Command::kSpawn, Command::kCopy})
        for (std::size_t i = 0; i < all.size(); ++i) {  // copies of one original are made in one call
            const auto is_like = [&](const Command& other) { return other.what == what && other.who == all[i].who; };
            if (all[i].what != what || std::any_of(all.begin(), all.begin() + std::ptrdiff_t(i), is_like)) continue;
            std::copy_if(all.begin(), all.end(), std::back_inserter(asked), is_like);
        }
    if (asked.empty()) return;
    Model rehearsal = *this;
    std::vector<std::vector<Entity>> twins(asked.size());
    rehearsal.make_copies(number, asked, twins);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (twins[i].empty()) continue;
        const std::vector<Entity> order = rehearsal.below(number, twins[i][0]);
        const std::vector<Entity>& found = learned(number, asked[i]);
        if (found.size() != order.size()) {
            world(number).missing.push_back("a copy is not made, or not of all");
            return;
        }
        for (Entity& twin : twins[i])
            twin = found[std::size_t(std::find(order.begin(), order.end(), twin) - order.begin())];
    }
    make_copies(number, asked, twins);
}

/// Returns who was found below the first entity of a copy.
const std::vector<Entity>& Model::learned(int number, const Command& command) {
    static const std::vector<Entity> nobody;
    if (command.name >= 0) return stage_.learned[&(number == 2 ? stage_.p : stage_.e)[std::size_t(command.name)]];
    const Stage::Acted* const made = find_acted(number, command.by);
    return made == nullptr ? nobody : made->below;
}

void Model::make_copies(int number, const std::vector<Command>& asked, std::vector<std::vector<Entity>>& twins) {
    constexpr std::uint32_t kNobody = 500'000;
    std::uint32_t num_nobodies = 0;
    Prefab copied;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const Command& command = asked[i];
        const bool is_copy = command.what == Command::kCopy;
        if (is_copy && !can_copy(number, command.who)) continue;
        const bool is_like_last =
            is_copy && i > 0 && asked[i - 1].what == Command::kCopy && asked[i - 1].who == command.who;
        if (is_copy && !is_like_last) copied = prefab_of(number, below(number, command.who));
        const Prefab& from = is_copy ? copied : *command.prefab;
        if (twins[i].empty())
            for (std::size_t k = 0; k < from.all.size(); ++k)
                twins[i].push_back(make_entity(kNobody + num_nobodies++, 1));
        if (!born(number, twins[i])) world(number).missing.push_back("an id is used twice");
        const int was = is_copy ? place_in(number, from, command.who) : 0;
        const int offset = command.has_pose ? command.value.n - was : 0;
        put(number, from, twins[i],
            is_copy ? copy_zones(number, from, {.has_pose = command.has_pose}, offset)
                    : spawn_zones(number, from, command.zone, offset),
            offset);
        if (is_copy) continue;
        begin_at_transforms(number, twins[i]);
        world(number).copies[from.version].push_back({twins[i], offset});
    }
}

// --- zones in files --------------------------------------------------------------------------------------------------

bool Model::is_unloaded(int number, Entity who) const {
    for (const auto& [zone, its] : streaming[number].unloaded)
        if (its.rows.contains(who)) return true;
    return false;
}

std::string Model::unload_zone(int number, int zone) {
    ModelWorld& world = this->world(number);
    if (!streaming[number].is_on) return "refused";
    std::vector<Entity> all;
    for (const auto& [who, its] : world.zones)
        if (its == zone) all.push_back(who);
    if (all.empty()) return "ok";
    const auto has_text = [&](Entity who) { return world.rows[kTitle].contains(who); };
    if (in_database(number, kTitle) && std::any_of(all.begin(), all.end(), has_text)) return "refused";
    const auto has_notes = [&](Entity who) {
        const Row* const song = find_in(world.rows[kSong], who);
        return song != nullptr && song->values[0].m != 0;
    };
    if (in_database(number, kSong) && std::any_of(all.begin(), all.end(), has_notes)) return "refused";
    if (load_zone(number, zone) == "refused") return "refused";  // rows have come to it since
    all.clear();
    for (const auto& [who, its] : world.zones)
        if (its == zone) all.push_back(who);
    UnloadedZone& file = streaming[number].unloaded[zone];
    for (const Entity who : all) {
        file.rows[who];
        for (int type = 0; type < kNumTypes; ++type)
            if (in_database(number, type) && world.rows[type].contains(who))
                file.rows[who][type] = world.rows[type][who];
        drop_from_database(number, who);
    }
    ++streaming[number].num_unloads;
    streaming[number].refused.erase(zone);
    return "ok";
}

/// Rows of the dead do not come back. Whoever has got another row gains what is in the file, unless both have a type.
std::string Model::load_zone(int number, int zone) {
    ModelWorld& world = this->world(number);
    const auto found = streaming[number].unloaded.find(zone);
    if (found == streaming[number].unloaded.end()) return "ok";
    for (const auto& [who, rows] : found->second.rows) {
        if (!alive(number, who)) continue;
        for (const auto& [type, row] : rows) {
            const auto [at, is_new] = world.rows[type].emplace(who, row);
            if (is_new || type != kScar) continue;  // what was given since stays
            at->second.values.insert(at->second.values.end(), row.values.begin(), row.values.end());
        }
        world.zones[who] = zone;
    }
    streaming[number].unloaded.erase(found);
    streaming[number].last_visits[zone] = streaming[number].num_settles;
    ++streaming[number].num_loads;
    return "ok";
}

std::string Model::load_all_zones(int number) {
    std::string result = "ok";
    for (int zone = 0; zone <= int(kTiles.large_zone()); ++zone)
        if (load_zone(number, zone) != "ok") result = "refused";
    return result;
}

std::string Model::stream_zones(int number, std::uint64_t max_rows, bool keeps_few_bytes, const std::set<int>& kept) {
    Streaming& its = streaming[number];
    its.is_on = true;
    its.max_rows = max_rows, its.keeps_few_bytes = keeps_few_bytes, its.kept = kept;
    its.refused.clear();
    return "ok";
}

constexpr std::uint64_t kSettlesUntilRetry = 60;

void Model::load_visited(int number) {
    Streaming& its = streaming[number];
    if (its.is_on) ++its.num_settles;
    for (const int zone : std::exchange(its.visited, {})) {
        its.last_visits[zone] = its.num_settles;
        const auto found = its.unloaded.find(zone);
        if (found == its.unloaded.end()) continue;
        std::uint64_t& failed_at = found->second.failed_at;
        if (failed_at != 0 && its.num_settles - failed_at < kSettlesUntilRetry) continue;
        if (load_zone(number, zone) != "ok") failed_at = its.num_settles;
    }
}

/// Rows of the dead count: they are there until the stores settle.
void Model::keep_budget(int number) {
    Streaming& its = streaming[number];
    if (!its.is_on || (its.max_rows == 0 && !its.keeps_few_bytes)) return;
    std::map<int, std::uint64_t> num_rows;  // by zone
    for (const auto& [who, zone] : world(number).zones) ++num_rows[zone];
    std::vector<std::pair<std::uint64_t, int>> candidates;  // with the last visit before
    std::uint64_t num_left = 0;
    for (const auto& [zone, num] : num_rows) {
        num_left += num;
        const auto visited = its.last_visits.find(zone);
        const std::uint64_t last_visit = visited == its.last_visits.end() ? 0 : visited->second;
        if (zone == 0 || last_visit == its.num_settles || its.kept.contains(zone)) continue;
        const auto refused = its.refused.find(zone);
        if (refused != its.refused.end() && its.num_settles - refused->second < kSettlesUntilRetry) continue;
        candidates.emplace_back(last_visit, zone);
    }
    std::sort(candidates.begin(), candidates.end());
    for (const auto& [last_visit, zone] : candidates) {
        if ((its.max_rows == 0 || num_left <= its.max_rows) && (!its.keeps_few_bytes || num_left == 0)) return;
        if (unload_zone(number, zone) == "ok")
            num_left -= num_rows[zone];
        else
            its.refused[zone] = its.num_settles;
    }
}

// --- models ----------------------------------------------------------------------------------------------------------

AddCounts Model::add_models(int number, int tree, const std::vector<Entity>& all, bool is_in_scene) {
    AddCounts counts;
    std::map<Entity, Posed>& models = world(number).models;
    for (const Entity who : all) {
        if (!alive(number, who)) {
            ++counts.num_skipped;
            continue;
        }
        std::erase_if(models,
                      [&](const auto& model) { return model.first.index() == who.index() && model.first != who; });
        ++(models.contains(who) ? counts.num_set : counts.num_added);
        Posed& made = models[who] = {tree, kModels[tree].places, kModels[tree].places, {}, is_in_scene};
        made.compute();
    }
    return counts;
}

int Model::remove_models(int number, const std::vector<Entity>& all) {
    int num_removed = 0;
    for (const Entity who : all) num_removed += int(world(number).models.erase(who));
    return num_removed;
}

void Model::compute_models(int number) {
    for (auto& [who, model] : world(number).models) model.compute();
}

void Model::let_nodes_follow(int number) {
    for (auto& [who, model] : world(number).models) {
        std::set<int> moved = std::exchange(model.held, {});
        for (std::size_t node = 1; node < model.locals.size(); ++node) {
            const std::uint32_t parent = kModels[model.tree].parents[node];
            if (moved.contains(int(node)) || parent == kNilRow || !moved.contains(int(parent))) continue;
            model.poses[node] = model.parent(node) + model.locals[node];
            moved.insert(int(node));
        }
    }
}

/// Who is attached to a node of the parent is where it was computed last.
void Model::move_attached(int number) {
    ModelWorld& world = this->world(number);
    for (const auto& [who, row] : world.rows[kAttached]) {
        const Entity parent = find_or(world.parents, who, {});
        const Posed* const model = find_in(world.models, parent);
        const Value& attached = row.values[0];
        if (!world.positions.contains(who) || model == nullptr) continue;
        const std::vector<int>& names = kModels[model->tree].names;
        const auto node = std::find(names.begin(), names.end(), attached.n);
        if (node != names.end()) world.positions[who] = model->poses[std::size_t(node - names.begin())] + attached.m;
    }
}

// --- songs -----------------------------------------------------------------------------------------------------------

bool Model::refers_to_offered(int number) const {
    for (const auto& [who, row] : world(number).rows[kSong])
        for (const Value& value : row.values)
            if (value.is_packed) return true;
    const std::vector<Command>& commands = world(number).commands;
    return std::any_of(commands.begin(), commands.end(),
                       [](const Command& command) { return command.value.is_packed; });
}

std::string Model::offer(int number) {
    if (offered[number] && refers_to_offered(number)) return "refused";
    offered[number] = prefab().version;
    return "ok";
}

// --- places ----------------------------------------------------------------------------------------------------------

std::string Model::follow_places(int number, int field, Follower follower) {
    std::optional<Follower>& its = declared[number].followers[field];
    if (its) return *its == follower ? "ok" : "refused";
    if (follower == Follower::kTransform && declared[number].followers[1 - field] == follower) return "refused";
    its = follower;
    return "ok";
}

std::string Model::keep_in_tiles(int number, int field) {
    int& tiled = declared[number].tiled;
    if (!in_database(number, kBuoy) || (tiled >= 0 && tiled != field)) return "refused";
    tiled = field;
    return "ok";
}

/// What is spawned with the default has not been given a place: it begins where its transform lies, which follows it then.
void Model::begin_at_transforms(int number, const std::vector<Entity>& spawned) {
    ModelWorld& world = this->world(number);
    for (int field = 0; field < 2; ++field) {
        if (declared[number].followers[field] != Follower::kTransform) continue;
        for (const Entity who : spawned) {
            const auto row = world.rows[kBuoy].find(who);
            if (row == world.rows[kBuoy].end() || !world.positions.contains(who)) continue;
            int& place = place_of(row->second.values[0], field);
            if (place == 0) place = world.positions[who];
        }
    }
}

/// What is followed counts, whichever of the two was written.
void Model::move_places(int number, Follower follower) {
    ModelWorld& world = this->world(number);
    for (int field = 0; field < 2; ++field) {
        if (declared[number].followers[field] != follower) continue;
        for (auto& [who, row] : world.rows[kBuoy]) {
            if (!world.positions.contains(who)) continue;
            int& place = place_of(row.values[0], field);
            if (follower == Follower::kTransform)
                world.positions[who] = place;
            else
                place = world_position(number, who);
        }
    }
}

/// Rows in the first zone, and in tiles, move to the tile of their place.
void Model::move_to_tiles(int number) {
    ModelWorld& world = this->world(number);
    if (declared[number].tiled < 0) return;
    for (auto& [who, row] : world.rows[kBuoy]) {
        int& zone = world.zones[who];
        const int place = place_of(row.values[0], declared[number].tiled);
        if (zone < int(kTiles.large_zone())) zone = int(kTiles.zone_of({float(place), 0, 0}));
    }
}

// --- time ------------------------------------------------------------------------------------------------------------

void Model::act(int number, Rule rule, Entity who, int n) {
    ModelWorld& world = this->world(number);
    Command command{.who = who, .by = who};
    switch (rule.action) {
        case Rule::kDestroy:
            command.what = Command::kDestroy;
            break;
        case Rule::kAddScar:
            command.what = Command::kAdd, command.type = kScar, command.value = {n, 0, {}};
            break;
        case Rule::kRemoveScars:
            command.what = Command::kRemove, command.type = kScar;
            break;
        case Rule::kAddHungry:
            command.what = Command::kAdd, command.type = kHungry, command.value = {n, 0, {}};
            break;
        case Rule::kRemoveHungry:
            command.what = Command::kRemove, command.type = kHungry;
            break;
        case Rule::kAddPlace:
            command.what = Command::kAdd, command.type = kPlace, command.value = {n, 1, {}};
            break;
        case Rule::kRemovePlace:
            command.what = Command::kRemove, command.type = kPlace;
            break;
        case Rule::kMove:
            command.what = Command::kMove, command.zone = n % 3;
            break;
        case Rule::kCreate:
            if (!has_name(number, who)) return;
            command.what = Command::kCreate, command.type = kMark, command.value = {n + 10, 0, {}};
            command.who = {};
            break;
        case Rule::kRing:
            return world.bells.push_back({who, EntityBits(n)});
        case Rule::kTag:
            command.what = Command::kTag, command.text = "red";
            break;
        case Rule::kSleep:
            command.what = Command::kAdd, command.type = -1;
            break;
        case Rule::kWake:
            command.what = Command::kRemove, command.type = -1;
            break;
        case Rule::kSet:
            command.what = Command::kAdd, command.type = kMark, command.value = {n + 1, 0, {}};
            break;
        case Rule::kRemoveMark:
            command.what = Command::kRemove, command.type = kMark;
            break;
        case Rule::kSetProperty:
            command.what = Command::kProperty, command.value.n = n;
            break;
        default:
            return relate(number, rule, who, n);
    }
    world.commands.push_back(command);
}

void Model::relate(int number, Rule rule, Entity who, int n) {
    std::vector<Command>& commands = world(number).commands;
    Command command{.who = who, .by = who};
    command.value.who = rule.other;
    switch (rule.action) {
        case Rule::kLink:
            command.what = Command::kLink;
            break;
        case Rule::kUnlink:
            command.what = Command::kUnlink;
            break;
        case Rule::kOwn:
            if (!rule.other) return;
            command.what = Command::kOwn;
            break;
        case Rule::kRelease:
            command.what = Command::kRelease;
            break;
        case Rule::kCopy:
            if (!has_name(number, who)) return;
            command.what = Command::kCopy;
            break;
        case Rule::kSpawn:
            if (!has_name(number, who) || prefabs.empty() || !prefab().is_tree) return;
            if (!can_have(number, prefab())) return;
            command.what = Command::kSpawn, command.who = {}, command.zone = -1, command.prefab = prefabs.back();
            break;
        case Rule::kBrood:  // who is made is not known yet
            if (!has_name(number, who)) return;
            commands.push_back({.what = Command::kCreate, .by = who, .type = kMark, .value = {n + 10, 0, {}}});
            commands.push_back({.what = Command::kOwn, .by = who, .value = {0, 0, who}});
            commands.push_back({.what = Command::kAdd, .who = who, .by = who, .type = kLikes});
            return;
        default:
            return;
    }
    commands.push_back(command);
}

void Model::step(int number) {
    ModelWorld& world = this->world(number);
    const Rule rule = stage_.rules[std::size_t(number)];
    for (auto& [who, row] : world.rows[kMark]) {
        if (!alive(number, who) || is_inactive(number, who)) continue;
        if (row.values[0].n >= rule.from) act(number, rule, who, row.values[0].n);
        row.values[0].n += rule.growth;
    }
    for (const Bell& bell : world.bells) world.wind += int(bell.n);
    for (const Bell& bell : world.last_bells) world.wind += 100 * int(bell.n);
    world.last_bells = std::exchange(world.bells, {});
    ++world.frame;
    settle(number);
    if (number == 2 && is_persisted) saved[kFolder] = picture();
    if (number != 2 || max_frames == 0) return;
    frames.push_back(picture());
    if (frames.size() > max_frames) frames.pop_front();
}

void Model::settle(int number) {
    ModelWorld& world = this->world(number);
    load_visited(number);
    const auto owned_before = world.owned;
    touched_.clear();
    const auto num_given = std::count_if(world.commands.begin(), world.commands.end(),
                                         [](const Command& command) { return command.what == Command::kOwn; });
    carry_out(number);
    keep_budget(number);
    settle_relations(number);
    move_places(number, Follower::kTransform);
    move_attached(number);
    std::erase_if(world.models, [&](const auto& model) { return !alive(number, model.first); });
    std::erase_if(world.relics, [&](const auto& relic) { return !alive(number, relic.first); });
    for (int type = 0; type < kNumTypes; ++type)
        if (has_store(number, type))
            std::erase_if(world.rows[type], [&](const auto& row) { return !alive(number, row.first); });
    std::erase_if(world.zones, [&](const auto& row) { return !alive(number, row.first); });
    for (const Entity dead : transforms_of_dead(number)) remove_transform(number, dead);
    move_places(number, Follower::kField);
    move_to_tiles(number);
    // In which order commands about several entities add components is nowhere said.
    if (num_given > 1 && !learn_owned(number, owned_before)) world.missing.push_back("others are owned");
    tell(number);
}

namespace {

/// Whether no later command gives the component type anew, or takes it. Of scars an entity may have several.
bool is_last_of_type(const std::vector<Command>& all, std::size_t i) {
    return std::none_of(all.begin() + std::ptrdiff_t(i) + 1, all.end(), [&](const Command& later) {
        if (later.who != all[i].who || later.type != all[i].type) return false;
        return later.what == Command::kRemove || (later.what == Command::kAdd && all[i].type != kScar);
    });
}

}  // namespace

/// The rules of command/commands.h: destroy, create, move, then the last add or remove of each type, then sets, then the calls.
void Model::carry_out(int number) {
    std::vector<Command> all = take_commands(number);
    std::vector<Entity> doomed;
    for (const Command& command : all)
        if (command.what == Command::kDestroy) doomed.push_back(command.who);
    destroy_in_database(number, doomed);
    for (Command& command : all) {
        if (command.what != Command::kCreate) continue;
        const Stage::Acted* const made = command.name < 0 ? find_acted(number, command.by) : nullptr;
        command.who = command.name >= 0 ? created(number, command.name) : made != nullptr ? made->self : Entity();
        born(number, command.who);
        add(number, command.type, {command.who}, command.value);
    }
    tell_broods(all);
    make_copies(number, all);
    std::map<Entity, int> zones;
    for (const Command& command : all) {
        if (command.what != Command::kMove || !alive(number, command.who)) continue;
        if (forgets_ == Forgets::kLastMoveCounts)
            zones.emplace(command.who, command.zone);
        else
            zones[command.who] = command.zone;
    }
    for (const auto& [who, zone] : zones) move(number, {who}, zone);
    for (const bool sets : {false, true})
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool is_one =
                sets ? all[i].what == Command::kSet : all[i].what == Command::kAdd || all[i].what == Command::kRemove;
            if (is_one && is_last_of_type(all, i) && alive(number, all[i].who)) carry_out(number, all[i]);
        }
    for (const Command& command : all)
        if (command.what >= Command::kLink && alive(number, command.who)) carry_out(number, command);
    stage_.acted[std::size_t(number)].clear();
}

/// Those of passes in the order in which the world has carried them out: it is that of the rows, which only the world knows.
std::vector<Command> Model::take_commands(int number) {
    std::vector<Command> all = std::exchange(world(number).commands, {});
    const std::vector<Stage::Acted>& acted = stage_.acted[std::size_t(number)];
    std::map<Entity, std::size_t> places = {{Entity(), 0}};  // nobody: those from outside of passes come first
    for (std::size_t i = 0; i < acted.size(); ++i) places.emplace(acted[i].by, i + 1);
    for (const Command& command : all) places.emplace(command.by, acted.size() + 1);
    std::multimap<std::size_t, Command> sorted;
    for (const Command& command : all) sorted.emplace(places[command.by], command);
    all.clear();
    for (const auto& [place, command] : sorted) all.push_back(command);
    return all;
}

const Stage::Acted* Model::find_acted(int number, Entity by) const {
    for (const Stage::Acted& one : stage_.acted[std::size_t(number)])
        if (one.by == by) return &one;
    return nullptr;
}

/// Who was created by a pass belongs to whom it was created for, who likes it.
void Model::tell_broods(std::vector<Command>& all) {
    for (const Command& made : all) {
        if (made.what != Command::kCreate || !made.by) continue;
        for (Command& command : all) {
            if (command.by != made.by) continue;
            if (command.what == Command::kOwn && command.value.who == made.by) command.who = made.who;
            if (command.what == Command::kAdd && command.type == kLikes) command.value.who = made.who;
        }
    }
}

void Model::carry_out(int number, const Command& command) {
    ModelWorld& world = this->world(number);
    const Entity who = command.who;
    switch (command.what) {
        case Command::kAdd:
            if (command.type < 0) return set_active(number, who, false);
            static_cast<void>(add(number, command.type, {who}, command.value, command.is_enabled));
            return;
        case Command::kRemove:
            if (command.type < 0) return set_active(number, who, true);
            static_cast<void>(remove(number, command.type, {who}));
            return;
        case Command::kSet:
            if (const auto row = world.rows[command.type].find(who);
                row != world.rows[command.type].end() && row->second.is_enabled)
                row->second.values[0].n = command.value.n;
            return;
        case Command::kLink:
            if (!command.value.who) return unlink(number, who);
            if (world.positions.contains(who) && alive(number, command.value.who) &&
                world.positions.contains(command.value.who))
                static_cast<void>(link(number, who, command.value.who));
            return;
        case Command::kUnlink:
            return unlink(number, who);
        case Command::kOwn:
            static_cast<void>(own(number, command.value.who, who));
            return;
        case Command::kRelease:
            static_cast<void>(release(number, who));
            return;
        case Command::kName:
            world.names[who] = command.text;
            return;
        case Command::kTag:
            world.tags[who].insert(command.text);
            return;
        case Command::kUntag:
            world.tags[who].erase(command.text);
            return;
        case Command::kProperty:
            world.properties[who]["armor.front"] = command.value.n;
            return;
        default:
            return;
    }
}

/// References to the dead become null, or their owners die.
void Model::settle_relations(int number) {
    ModelWorld& world = this->world(number);
    const auto is_dead = [&](Entity who) { return side(number).known.contains(who) && !alive(number, who); };
    for (bool again = true; again;) {
        again = false;
        for (auto& [who, row] : world.rows[kLikes])
            if (is_dead(row.values[0].who)) row.values[0].who = {};
        std::vector<Entity> doomed;
        for (const auto& [who, row] : world.rows[kRides])
            if (alive(number, who) && is_dead(row.values[0].who)) doomed.push_back(who);
        again = !doomed.empty();
        destroy(number, doomed);
    }
    world.hunters.clear();
    for (const auto& [who, row] : world.rows[kHunts])
        if (row.values[0].who) world.hunters[row.values[0].who].push_back(who);
}

void Model::tell(int number) {
    ModelWorld& world = this->world(number);
    world.told.clear();
    for (const auto& [who, row] : world.rows[kBuoy])
        if (const Row* const before = find_in(world.told_rows[kBuoy], who); before != nullptr)
            if (before->values[0].m != row.values[0].m) world.told.push_back("~seen:" + name(number, who));
    world.told_rows[kBuoy] = world.rows[kBuoy];
    const std::pair<int, const char*> types[] = {{kMark, "mark"}, {kHungry, "hungry"}, {kScar, "scar"}};
    for (const auto& [type, text] : types) {
        std::map<Entity, Row> now = world.rows[type];
        std::erase_if(now, [](const auto& row) { return !row.second.is_enabled; });
        const auto say = [&](char sign, Entity who, const std::string& values) {
            world.told.push_back(sign + std::string(text) + values + ":" + name(number, who));
        };
        for (const auto& [who, row] : world.told_rows[type]) {
            const auto found = now.find(who);
            const std::size_t num_left = found == now.end() ? 0 : found->second.values.size();
            const std::string value = type == kMark ? "(" + std::to_string(row.values[0].n) + ")" : "";
            for (std::size_t i = num_left; i < row.values.size(); ++i) say('-', who, value);
            if (type == kMark && num_left != 0 && found->second.values[0].n != row.values[0].n) say('~', who, value);
        }
        for (const auto& [who, row] : now) {
            const auto found = world.told_rows[type].find(who);
            const std::size_t num_before = found == world.told_rows[type].end() ? 0 : found->second.values.size();
            for (std::size_t i = num_before; i < row.values.size(); ++i) say('+', who, "");
        }
        world.told_rows[type] = now;
    }
    std::sort(world.told.begin(), world.told.end());
    for (const std::string& text : std::exchange(world.missing, {})) world.told.push_back(text);
}

}  // namespace programs
