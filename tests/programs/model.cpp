#include "programs/model.h"

namespace programs {

namespace {

void erase_one(std::vector<Entity>& all, Entity who) { all.erase(std::remove(all.begin(), all.end(), who), all.end()); }

template <class Map>
auto find_or(const Map& map, Entity who, typename Map::mapped_type otherwise) {
    const auto found = map.find(who);
    return found == map.end() ? otherwise : found->second;
}

}  // namespace

// --- lives -----------------------------------------------------------------------------------------------------------

void Model::before_all(int number) {
    if (number == 1) return;  // the lake shares the entities of the sea
    const World& world = stage_.world(number);
    side(number).living.insert(world.singles());
    if (number == 0) side(number).living.insert(stage_.lake.singles());
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
    world.tags.erase(who), world.names.erase(who), world.data.erase(who), world.inactive.erase(who);
    for (int type = 0; type < kNumTypes; ++type) {
        const bool goes_at_once = (type == kPlace || type == kBody || type == kHunts) && !in_database(number, type) &&
                                  stage_.options.death == DeathPolicy::kByCallback;
        if (goes_at_once) world.rows[type].erase(who);
    }
}

// --- components ------------------------------------------------------------------------------------------------------

bool Model::has(int number, int type, Entity who) const {
    const auto found = world(number).rows[type].find(who);
    return found != world(number).rows[type].end() && found->second.is_on;
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

AddCounts Model::add(int number, int type, const std::vector<Entity>& all, const Value& value, bool is_on) {
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
        row.is_on = is_on;
        if (in_database(number, type)) world(number).zones.emplace(who, 0);
        ++(had && type != kScar ? counts.num_set : counts.num_added);
    }
    return counts;
}

int Model::remove(int number, int type, const std::vector<Entity>& all) {
    int num_removed = 0;
    for (const Entity who : all) {
        const auto found = world(number).rows[type].find(who);
        if (found == world(number).rows[type].end() || !found->second.is_on) continue;
        num_removed += in_database(number, type) ? 1 : int(found->second.values.size());
        if (in_database(number, type) && type == kHungry)
            found->second.is_on = false;
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
    if (found == rows.end() || std::size_t(index) >= found->second.values.size() || !found->second.is_on) return false;
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
    ModelWorld& world = this->world(number);
    const Entity parent = find_or(world.parents, child, {});
    if (!parent) return;
    world.positions[child] = world_position(number, child);
    world.parents.erase(child);
    erase_one(world.children[parent], child);
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
        for (Entity one = who; one; one = find_or(world(w).parents, one, {}))
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
    std::vector<std::pair<int, std::size_t>> by_depth;  // with the place before
    for (std::size_t i = 0; i < all.size(); ++i) {
        int depth = 0;
        for (Entity at = all[i]; at != who; ++depth) {
            at = find_or(world(number).parents, at, {});
            if (!at || !has(at)) break;
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
        take(from.data, to.data, one), take(from.owners, to.owners, one);
        if (from.inactive.contains(one)) to.inactive.insert(one);
        take(from.positions, to.positions, one);
        const Entity parent = find_or(from.parents, one, {});
        if (parent &&
            std::find(all.begin(), all.begin() + std::ptrdiff_t(i), parent) != all.begin() + std::ptrdiff_t(i))
            to.parents[one] = parent;
        else if (from.positions.contains(one))
            to.positions[one] = world_position(number, one);
    }
    for (const Entity one : all)
        for (const Entity child : find_or(from.children, one, {}))
            if (find_or(to.parents, child, {}) == one) to.children[one].push_back(child);
    return result;
}

/// Gives new entities what those of a prefab had. References among these lead to the new ones.
void Model::put(int number, const Prefab& from, const std::vector<Entity>& twins, const std::map<Entity, int>& zones,
                int offset) {
    ModelWorld& world = this->world(number);
    std::map<Entity, Entity> twin_of;
    for (std::size_t i = 0; i < twins.size(); ++i) twin_of[from.all[i]] = twins[i];
    for (const auto& [one, twin] : twin_of) {
        for (int type = 0; type < kNumTypes; ++type) {
            const auto found = from.world.rows[type].find(one);
            if (found == from.world.rows[type].end() || !has_store(number, type)) continue;
            drop_stale(number, type, twin);
            Row row = found->second;
            for (Value& value : row.values) value.who = find_or(twin_of, value.who, value.who);
            row.is_on |= !in_database(number, type);
            world.rows[type][twin] = row;
        }
        if (zones.contains(one)) drop_stale(number, kNumTypes, twin), world.zones[twin] = zones.at(one);
        if (from.world.tags.contains(one)) world.tags[twin] = from.world.tags.at(one);
        if (from.world.names.contains(one)) world.names[twin] = from.world.names.at(one);
        if (from.world.data.contains(one)) world.data[twin] = from.world.data.at(one);
        if (from.world.inactive.contains(one)) world.inactive.insert(twin);
        const bool is_root = !from.world.parents.contains(one);
        if (from.world.positions.contains(one))
            add_transform(number, twin, from.world.positions.at(one) + (is_root ? offset : 0));
    }
    for (const auto& [one, children] : from.world.children)
        for (std::size_t i = children.size(); i-- > 0;) link(number, twin_of[children[i]], twin_of[one]);
    for (const Entity one : from.all) {
        const Entity owner = find_or(from.world.owners, one, {});
        if (owner) own(number, find_or(twin_of, owner, owner), twin_of[one]);
    }
}

bool Model::can_copy(int number, Entity original) const {
    if (!alive(number, original)) return false;
    const std::vector<Entity> all = below(number, original);
    return std::none_of(all.begin(), all.end(), [&](Entity one) { return is_unloaded(number, one); });
}

/// Learns from the stage who is whose copy.
std::string Model::copy(int number, Entity original) {
    if (!can_copy(number, original)) return "refused";
    if (below(number, original) != stage_.below) return "copies others than those below";
    if (!born(number, stage_.copies)) return "an id is used twice";
    const Prefab from = prefab_of(number, stage_.below);
    put(number, from, stage_.copies, from.world.zones, 0);
    return "ok";
}

std::string Model::pack(int number, Entity who, bool keeps_zones) {
    if (!can_copy(number, who)) return "refused";
    const std::vector<Entity> all = below(number, who);
    if (all != stage_.below) return "saves others than those below";
    return keep(number, all, keeps_zones, prefab);
}

/// Learns from the stage in which order they are saved.
std::string Model::pack_zone(int number, int zone, bool keeps_zones) {
    const std::set<Entity> all = entities_in(number, zone);
    const auto is_away = [&](Entity who) { return is_unloaded(number, who); };
    if (streaming[number].unloaded.contains(zone) || std::any_of(all.begin(), all.end(), is_away)) return "refused";
    const std::vector<Entity>& found = stage_.below;
    if (found.size() != all.size() || std::set<Entity>(found.begin(), found.end()) != all) return "saves others";
    return keep(number, found, keeps_zones, zone_prefab);
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
std::string Model::keep(int number, const std::vector<Entity>& all, bool keeps_zones,
                        std::shared_ptr<const Prefab>& to) const {
    Prefab made = prefab_of(number, all);
    if (!made.world.rows[kTitle].empty()) return "refused";
    const auto is_outside = [&](Entity one) { return std::find(all.begin(), all.end(), one) == all.end(); };
    for (auto& rows : made.world.rows)
        for (auto& [one, row] : rows)
            for (Value& value : row.values)
                if (is_outside(value.who)) value.who = {};
    std::erase_if(made.world.owners, [&](const auto& owner) { return is_outside(owner.second); });
    made.keeps_zones = keeps_zones;
    to = std::make_shared<const Prefab>(std::move(made));
    return "ok";
}

/// Who has a component of the database lies in the zone that it names, or that the nearest above it names, or in `zone`.
std::map<Entity, int> Model::spawn_zones(int number, const Prefab& from, int zone) const {
    std::map<Entity, int> named, zones;
    for (const Entity one : from.all) {  // parents first
        const int above = find_or(named, find_or(from.world.parents, one, {}), -1);
        named[one] = from.keeps_zones ? find_or(from.world.zones, one, above) : above;
        for (int type = 0; type < kNumTypes; ++type)
            if (in_database(number, type) && from.world.rows[type].contains(one))
                zones[one] = named[one] >= 0 ? named[one] : std::max(zone, 0);
    }
    return zones;
}

std::string Model::spawn(int number, const Prefab& from, int zone, int offset, int step) {
    const std::vector<Entity>& made = stage_.copies;
    const std::map<Entity, int> zones = spawn_zones(number, from, zone);
    for (std::size_t first = 0; first < made.size(); first += from.all.size(), offset += step) {
        const auto begin = made.begin() + std::ptrdiff_t(first);
        const std::vector<Entity> twins(begin, begin + std::ptrdiff_t(from.all.size()));
        // One of them may be there already, see SpawnOptions::first_entities.
        if (!born(number, {twins.begin() + (has_nothing(number, twins[0]) ? 1 : 0), twins.end()}))
            return "an id is used twice";
        put(number, from, twins, zones, offset);
    }
    return "ok";
}

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
        if (its.tags.contains(who) || its.names.contains(who) || its.data.contains(who) || its.inactive.contains(who))
            return false;
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
        const int was = is_copy ? find_or(from.world.positions, command.who, 0) : 0;
        put(number, from, twins[i], is_copy ? from.world.zones : spawn_zones(number, from, command.zone),
            command.has_pose ? command.value.n - was : 0);
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
    if (!streaming[number].is_on || (number == 2 && (max_frames != 0 || is_persisted))) return "refused";
    std::vector<Entity> all;
    for (const auto& [who, its] : world.zones)
        if (its == zone) all.push_back(who);
    if (all.empty()) return "ok";
    if (load_zone(number, zone) == "refused") return "refused";  // rows have come to it since
    all.clear();
    for (const auto& [who, its] : world.zones)
        if (its == zone) all.push_back(who);
    const auto has_text = [&](Entity who) { return world.rows[kTitle].contains(who); };
    if (in_database(number, kTitle) && std::any_of(all.begin(), all.end(), has_text)) return "refused";
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
    for (const auto& [who, rows] : found->second.rows)
        for (const auto& [type, row] : rows)
            if (alive(number, who) && world.rows[type].contains(who)) return "refused";
    for (const auto& [who, rows] : found->second.rows) {
        if (!alive(number, who)) continue;
        for (const auto& [type, row] : rows) world.rows[type][who] = row;
        world.zones[who] = zone;
    }
    streaming[number].unloaded.erase(found);
    streaming[number].last_visits[zone] = streaming[number].num_settles;
    ++streaming[number].num_loads;
    return "ok";
}

std::string Model::load_all_zones(int number) {
    std::string result = "ok";
    for (int zone = 0; zone < 3; ++zone)
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
        case Rule::kSetData:
            command.what = Command::kData, command.value.n = n;
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
            if (!has_name(number, who) || prefab == nullptr) return;
            command.what = Command::kSpawn, command.who = {}, command.zone = -1, command.prefab = prefab;
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
    carry_out(number);
    keep_budget(number);
    settle_relations(number);
    for (int type = 0; type < kNumTypes; ++type)
        if (has_store(number, type))
            std::erase_if(world.rows[type], [&](const auto& row) { return !alive(number, row.first); });
    std::erase_if(world.zones, [&](const auto& row) { return !alive(number, row.first); });
    for (const Entity dead : transforms_of_dead(number)) remove_transform(number, dead);
    tell(number);
}

/// The rules of command/commands.h: destroy, create, move, then the last add or remove of each type, then the calls.
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
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool is_last = std::none_of(all.begin() + std::ptrdiff_t(i) + 1, all.end(), [&](const Command& later) {
            if (later.who != all[i].who || later.type != all[i].type) return false;
            return later.what == Command::kRemove || (later.what == Command::kAdd && all[i].type != kScar);
        });
        const bool is_change = all[i].what == Command::kAdd || all[i].what == Command::kRemove;
        if (is_change && is_last && alive(number, all[i].who)) carry_out(number, all[i]);
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
    std::stable_sort(all.begin(), all.end(),
                     [&](const Command& a, const Command& b) { return places[a.by] < places[b.by]; });
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
            static_cast<void>(add(number, command.type, {who}, command.value, command.is_on));
            return;
        case Command::kRemove:
            if (command.type < 0) return set_active(number, who, true);
            static_cast<void>(remove(number, command.type, {who}));
            return;
        case Command::kLink:
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
        case Command::kData:
            world.data[who]["armor.front"] = command.value.n;
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
    const std::pair<int, const char*> types[] = {{kMark, "mark"}, {kHungry, "hungry"}, {kScar, "scar"}};
    for (const auto& [type, text] : types) {
        std::map<Entity, Row> now = world.rows[type];
        std::erase_if(now, [](const auto& row) { return !row.second.is_on; });
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
