// All looks at what there is, and what the model sees.

#include "programs/operation.h"

#include <vector>

namespace programs {
namespace {

Entity e_of(const Model& model, const Arguments& a) { return model.entity(a.world, a.e); }

std::string text_in(const Model& model, int world, int type, const Value& value) {
    if (is_reference(type)) return value.who ? model.name(world, value.who) : "null";
    if (type == kPlace) return text_of(Place{value.n, {float(value.m), 0, 2}});
    if (type == kBody) return text_of(Body{value.n, double(value.m), value.is_odd});
    if (type == kBuoy) return text_of(Buoy{{float(value.n), 0, 0}, {float(value.m), 0, 0}});
    if (type == kAttached)
        return text_of(AttachedToNode{.node = node_name(value.n), .position = {float(value.m), 0, 0}});
    if (type == kSong) return std::to_string(value.n) + ":" + std::string("123", std::size_t(value.m));
    if (type == kTitle) return "title " + std::to_string(value.n);
    return type == kWet ? "there" : std::to_string(value.n);
}

std::string list_of(const Model& model, int world, const std::vector<Entity>& all) {
    std::vector<std::string> texts;
    for (const Entity who : all) texts.push_back(model.name(world, who));
    return Stage::joined(texts);
}
std::string set_of(const Model& model, int world, const std::vector<Entity>& all) {
    std::vector<std::string> texts;
    for (const Entity who : all)
        if (model.alive(world, who)) texts.push_back(model.name(world, who));
    std::sort(texts.begin(), texts.end());
    return Stage::joined(texts);
}

template <class Map>
auto find_or(const Map& map, Entity who, typename Map::mapped_type otherwise) {
    const auto found = map.find(who);
    return found == map.end() ? otherwise : found->second;
}

// --- one entity ------------------------------------------------------------------------------------------------------

template <class T>
void list_values(std::vector<Operation>& all) {
    constexpr int kType = Stage::type_of<T>();
    const auto is_there = [](const Model&, const Arguments& a) { return !(kType == kTitle && a.world == 2); };
    all.push_back(of_type<T>({CALL(stage.values<T>(world, e)),
                              [](Model& model, const Arguments& a) -> std::string {
                                  if (!model.alive(a.world, e_of(model, a))) return "dead";
                                  if (!model.has_store(a.world, kType)) return "no store";
                                  const auto& rows = model.world(a.world).rows[kType];
                                  const auto found = rows.find(e_of(model, a));
                                  if (found == rows.end()) return "none";
                                  if (!found->second.is_enabled) return "disabled";
                                  std::vector<std::string> texts;
                                  for (const Value& value : found->second.values)
                                      texts.push_back(text_in(model, a.world, kType, value));
                                  return Stage::joined(texts);
                              },
                              is_there}));
    if constexpr (requires(T value) { value.n; }) {
        all.push_back(of_type<T>({CALL(world.get<&T::n>(e)), [](Model& model, const Arguments& a) {
                                      const Entity who = e_of(model, a);
                                      const auto& rows = model.world(a.world).rows[kType];
                                      const auto found = rows.find(who);
                                      const bool has = model.alive(a.world, who) && model.has_store(a.world, kType) &&
                                                       found != rows.end() && found->second.is_enabled;
                                      return has ? text_of(found->second.values[0].n) : std::string("nothing");
                                  }}));
        all.push_back(of_type<T>({CALL(world.get<int>(e, path)),
                                  [](Model& model, const Arguments& a) {
                                      const Entity who = e_of(model, a);
                                      const bool has = model.alive(a.world, who) && model.has(a.world, kType, who);
                                      if (!has || !model.has_store(a.world, kType)) return std::string("refused");
                                      return text_of(model.world(a.world).rows[kType][who].values[0].n);
                                  },
                                  [](const Model& model, const Arguments& a) {  // one that is disabled keeps a value
                                      const auto& rows = model.world(a.world).rows[kType];
                                      const auto found = rows.find(e_of(model, a));
                                      return found == rows.end() || found->second.is_enabled;
                                  }}));
    }
}

void list_lives(std::vector<Operation>& all) {
    all.push_back({CALL(world.entities().alive(e)),
                   [](Model& model, const Arguments& a) { return text_of(model.alive(a.world, e_of(model, a))); }});
    all.push_back({CALL(world.entities().is_active(e)), [](Model& model, const Arguments& a) {
                       const Entity who = e_of(model, a);
                       return text_of(model.alive(a.world, who) && !model.is_inactive(a.world, who));
                   }});
    all.push_back({CALL(stage.zone(world, e)), [](Model& model, const Arguments& a) -> std::string {
                       if (!model.alive(a.world, e_of(model, a))) return "dead";
                       const auto found = model.world(a.world).zones.find(e_of(model, a));
                       return found == model.world(a.world).zones.end() ? "no row" : std::to_string(found->second);
                   }});
}

void list_transforms(std::vector<Operation>& all) {
    const auto looked_at = [](auto look) {
        return [look](Model& model, const Arguments& a) -> std::string {
            const Entity who = e_of(model, a);
            if (!model.alive(a.world, who) || !model.world(a.world).positions.contains(who)) return "no transform";
            return look(model, a.world, who);
        };
    };
    all.push_back({CALL(stage.parent(world, e)), looked_at([](Model& model, int world, Entity who) {
                       const Entity parent = find_or(model.world(world).parents, who, {});
                       return parent ? model.name(world, parent) : "root";
                   })});
    all.push_back({CALL(stage.children(world, e)), looked_at([](Model& model, int world, Entity who) {
                       return list_of(model, world, find_or(model.world(world).children, who, {}));
                   })});
    all.push_back({CALL(stage.position(world, e)), looked_at([](Model& model, int world, Entity who) {
                       return std::to_string(model.world(world).positions[who]) + " " +
                              std::to_string(model.world_position(world, who));
                   })});
}

void list_models(std::vector<Operation>& all) {
    all.push_back({CALL(stage.relic(world, e)), [](Model& model, const Arguments& a) -> std::string {
                       const ModelWorld& world = model.world(a.world);
                       if (!model.alive(a.world, e_of(model, a))) return "dead";
                       const auto found = world.relics.find(e_of(model, a));
                       if (found == world.relics.end()) return "none";
                       std::vector<std::string> fields;
                       for (int f = 0; f < 2; ++f)
                           if ((world.relic_fields >> f & 1) != 0)
                               fields.push_back((f == 0 ? "n=" : "extra=") +
                                                std::to_string(found->second[std::size_t(f)]));
                       return Stage::joined(fields);
                   }});
    all.push_back({CALL(stage.model(world, e)), [](Model& model, const Arguments& a) -> std::string {
                       const Entity who = e_of(model, a);
                       if (!model.alive(a.world, who)) return "dead";
                       const auto found = model.world(a.world).models.find(who);
                       if (found == model.world(a.world).models.end()) return "none";
                       std::vector<std::string> nodes;
                       for (std::size_t node = 0; node < found->second.locals.size(); ++node) {
                           const int pose = found->second.poses[node];
                           nodes.push_back(std::to_string(found->second.locals[node]) + "/" + std::to_string(pose) +
                                           "/" + std::to_string(model.world_position(a.world, who) + pose));
                       }
                       return Stage::joined(nodes);
                   }});
}

void list_owners_and_texts(std::vector<Operation>& all) {
    all.push_back({CALL(stage.name(world, world.ownership().owner(e))), [](Model& model, const Arguments& a) {
                       const Entity owner = find_or(model.world(a.world).owners, e_of(model, a), {});
                       return owner ? model.name(a.world, owner) : "null";
                   }});
    all.push_back({CALL(stage.owned(world, e)), [](Model& model, const Arguments& a) {
                       return list_of(model, a.world, find_or(model.world(a.world).owned, e_of(model, a), {}));
                   }});
    all.push_back({CALL(stage.tags(world, e)), [](Model& model, const Arguments& a) {
                       const std::set<std::string> tags = find_or(model.world(a.world).tags, e_of(model, a), {});
                       return Stage::joined({tags.begin(), tags.end()});
                   }});
    all.push_back(
        {CALL(DebugNameManager(world.manager<DebugName>(), world.strings()).name(e)),
         [](Model& model, const Arguments& a) { return find_or(model.world(a.world).names, e_of(model, a), {}); }});
    for (const bool is_word : {true, false}) {
        const Code code = is_word ? CALL(world.properties().get_or(e, text, -1))
                                  : CALL(world.properties().get_or(e, "armor.front", -1));
        all.push_back({code, [is_word](Model& model, const Arguments& a) {
                           const auto properties = find_or(model.world(a.world).properties, e_of(model, a), {});
                           const auto found = properties.find(is_word ? kWords[a.n % 3] : "armor.front");
                           return text_of(found == properties.end() ? -1 : found->second);
                       }});
    }
    all.push_back({CALL(stage.referrers<&Hunts::who>(world, e)), [](Model& model, const Arguments& a) -> std::string {
                       if (!model.alive(a.world, e_of(model, a))) return "dead";
                       return set_of(model, a.world, find_or(model.world(a.world).hunters, e_of(model, a), {}));
                   }});
}

// --- queries ---------------------------------------------------------------------------------------------------------

/// What a query visits: the living for which `matches` holds, without those that are inactive.
template <class Matches>
auto visits(Matches matches, bool sees_inactive = false) {
    return [matches, sees_inactive](Model& model, const Arguments& a) {
        std::vector<Entity> all;
        for (const Entity who : model.side(a.world).living)
            if ((sees_inactive || !model.is_inactive(a.world, who)) && matches(model, a.world, who)) all.push_back(who);
        return set_of(model, a.world, all);
    };
}
auto with(std::initializer_list<int> types, std::initializer_list<int> without = {}) {
    return [types = std::vector<int>(types), without = std::vector<int>(without)](Model& model, int world, Entity who) {
        const auto has = [&](int type) { return model.has(world, type, who); };
        return std::all_of(types.begin(), types.end(), has) && std::none_of(without.begin(), without.end(), has);
    };
}
int mark_of(Model& model, int world, Entity who) { return model.world(world).rows[kMark][who].values[0].n; }
bool has_tag(Model& model, int world, Entity who, const char* tag) {
    return find_or(model.world(world).tags, who, {}).contains(tag);
}

void list_queries(std::vector<Operation>& all) {
    all.push_back({CALL(stage.visited(world, world.query<Read<&Mark::n>>())), visits(with({kMark}))});
    all.push_back(
        {CALL(stage.visited(world, world.query<Read<&Mark::n>>().with_inactive())), visits(with({kMark}), true)});
    all.push_back({CALL(stage.visited(world, world.query<Read<&Place::at>, Read<&Mark::n>, Without<Wet>>())),
                   visits(with({kPlace, kMark}, {kWet}))});
    all.push_back(
        {CALL(stage.visited(world, world.query<Read<&Hungry::n>, Maybe<&Body::weight>>())), visits(with({kHungry}))});
    all.push_back(
        {CALL(stage.visited(world, world.query<With<Body>, Without<Hungry>>())), visits(with({kBody}, {kHungry}))});
    all.push_back({CALL(stage.visited(world, world.query<Read<&Mark::n>, AnyOf<Wet, Hungry, Scar>>())),
                   visits([](Model& model, int w, Entity who) {
                       return model.has(w, kMark, who) &&
                              (model.has(w, kWet, who) || model.has(w, kHungry, who) || model.has(w, kScar, who));
                   })});
    all.push_back({CALL(stage.visited(world, world.query<Read<&Mark::n>>().tagged("red"))),
                   visits([](Model& model, int w, Entity who) {
                       return model.has(w, kMark, who) && has_tag(model, w, who, "red");
                   })});
    all.push_back({CALL(stage.visited(world, world.query<With<Wet>>().untagged("red"))),
                   visits([](Model& model, int w, Entity who) {
                       return model.has(w, kWet, who) && !has_tag(model, w, who, "red");
                   })});
    all.push_back({CALL(stage.visited(world, world.query<Read<&Owned::owner>>())),
                   visits([](Model& model, int w, Entity who) { return model.world(w).owners.contains(who); })});
    all.push_back({CALL(stage.visited(world, world.query<Read<&ChildOf::parent>>())),
                   visits([](Model& model, int w, Entity who) { return model.world(w).parents.contains(who); })});
    all.push_back({CALL(stage.visited(world, world.query<Read<&WorldPose::matrix>, Maybe<&Coin::n>>())),
                   visits([](Model& model, int w, Entity who) { return model.world(w).positions.contains(who); }),
                   [](const Model& model, const Arguments& a) { return model.has_store(a.world, kCoin); }});
    const auto total = [](int type) {
        return [type](Model& model, const Arguments& a) {
            long long sum = 0;
            for (const auto& [who, row] : model.world(a.world).rows[type])
                if (row.is_enabled && model.alive(a.world, who) && !model.is_inactive(a.world, who))
                    for (const Value& value : row.values) sum += value.n;
            return std::to_string(sum);
        };
    };
    all.push_back({CALL(stage.sum(world, world.query<Read<&Mark::n>>())), total(kMark)});
    all.push_back({CALL(stage.sum(world, world.query<Read<&Hungry::n>>())), total(kHungry)});
    all.push_back({CALL(stage.sum(world, world.query<Read<&Scar::n>>())), total(kScar)});
    all.push_back({CALL(stage.visited(world, query<With<Mark>>(world.database()).in({zone}))),
                   [](Model& model, const Arguments& a) {
                       return visits([&](Model& of, int w, Entity who) {
                           return of.has(w, kMark, who) && of.world(w).zones[who] == a.n % 3;
                       })(model, a);
                   },
                   [](const Model& model, const Arguments& a) {  // otherwise it brings the zone back
                       return model.in_database(a.world, kMark) && !model.streaming[a.world].is_on;
                   }});
}

void list_text_queries(std::vector<Operation>& all) {
    all.push_back({CALL(stage.visited(world, "place, mark, !wet")), visits(with({kPlace, kMark}, {kWet}))});
    all.push_back({CALL(stage.visited(world, "?body, hungry")), visits(with({kHungry}))});
    all.push_back({CALL(stage.visited(world, "body, !hungry")), visits(with({kBody}, {kHungry}))});
    all.push_back({CALL(stage.visited(world, "scar, inactive")),
                   visits([](Model& model, int w,
                             Entity who) { return model.has(w, kScar, who) && model.world(w).inactive.contains(who); },
                          true)});
    all.push_back({CALL(stage.visited(world, "mark, wet | hungry | scar")), visits([](Model& model, int w, Entity who) {
                       return model.has(w, kMark, who) &&
                              (model.has(w, kWet, who) || model.has(w, kHungry, who) || model.has(w, kScar, who));
                   })});
    all.push_back({CALL(stage.visited(world, "mark.n >= 3, !#red")), visits([](Model& model, int w, Entity who) {
                       return model.has(w, kMark, who) && mark_of(model, w, who) >= 3 && !has_tag(model, w, who, "red");
                   })});
    all.push_back({CALL(stage.visited(world, "#red, mark")), visits([](Model& model, int w, Entity who) {
                       return model.has(w, kMark, who) && has_tag(model, w, who, "red");
                   })});
    all.push_back({CALL(stage.visited(world, "place, ^mark.n < 3")), visits([](Model& model, int w, Entity who) {
                       const Entity parent = find_or(model.world(w).parents, who, {});
                       return model.has(w, kPlace, who) && parent && model.has(w, kMark, parent) &&
                              mark_of(model, w, parent) < 3;
                   })});
}

// --- worlds ----------------------------------------------------------------------------------------------------------

void list_worlds(std::vector<Operation>& all) {
    all.push_back({CALL(stage.validate(world)), [](Model&, const Arguments&) { return std::string("ok"); }});
    all.push_back({CALL(stage.told(world)),
                   [](Model& model, const Arguments& a) { return Stage::joined(model.world(a.world).told); }});
    all.push_back({CALL(world.singleton<Wind>().n),
                   [](Model& model, const Arguments& a) { return text_of(model.world(a.world).wind); }});
    all.push_back({CALL(world.entities().num_alive()),
                   [](Model& model, const Arguments& a) { return text_of(model.side(a.world).living.size()); }});
    all.push_back({CALL(stage.unloaded(world)), [](Model& model, const Arguments& a) {
                       const Model::Streaming& its = model.streaming[a.world];
                       std::string zones;
                       std::size_t num_rows = 0;
                       for (const auto& [zone, file] : its.unloaded)
                           zones += std::to_string(zone) + " ", num_rows += file.rows.size();
                       return zones + "with " + std::to_string(num_rows) + " rows, unloaded " +
                              std::to_string(its.num_unloads) + ", loaded " + std::to_string(its.num_loads);
                   }});
    all.push_back({CALL(world.database().num_rows()),
                   [](Model& model, const Arguments& a) { return text_of(model.world(a.world).zones.size()); },
                   [](const Model& model, const Arguments& a) { return model.has_no_dead(a.world); }});
    all.push_back({CALL(world.manager<Mark>().num_components()),
                   [](Model& model, const Arguments& a) { return text_of(model.world(a.world).rows[kMark].size()); },
                   [](const Model& model, const Arguments& a) {
                       return !model.in_database(a.world, kMark) && model.has_no_dead(a.world);
                   }});
    all.push_back(
        {CALL(world.frame()), [](Model& model, const Arguments& a) { return text_of(model.world(a.world).frame); }});
    all.push_back({CALL(stage.frames(world).statistics().num_frames), [](Model& model, const Arguments& a) {
                       return text_of(a.world == 2 ? model.frames.size() : std::size_t(0));
                   }});
}

std::vector<Operation> make_looks() {
    std::vector<Operation> all;
    list_worlds(all), list_lives(all);
    const auto list = [&]<class... Ts>(std::type_identity<Ts>...) { (list_values<Ts>(all), ...); };
    list(std::type_identity<Mark>(), std::type_identity<Place>(), std::type_identity<Body>(),
         std::type_identity<Scar>(), std::type_identity<Title>(), std::type_identity<Hungry>(),
         std::type_identity<Wet>(), std::type_identity<Hunts>(), std::type_identity<Likes>(),
         std::type_identity<Rides>(), std::type_identity<Buoy>(), std::type_identity<Song>(),
         std::type_identity<AttachedToNode>(), std::type_identity<Coin>());
    list_transforms(all), list_models(all), list_owners_and_texts(all), list_queries(all), list_text_queries(all);
    return all;
}

}  // namespace

const std::vector<Operation>& looks() {
    static const std::vector<Operation> all = make_looks();
    return all;
}

}  // namespace programs
