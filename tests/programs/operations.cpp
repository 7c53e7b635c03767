// All operations that change something, and what the model does in their place.

#include "programs/operation.h"

#include <cstdlib>
#include <utility>
#include <vector>

namespace programs {
namespace {

using Call = std::function<bool(const Model&, const Arguments&)>;

// --- when an operation can be carried out ----------------------------------------------------------------------------

bool names_enough(const Arguments& a, int count) { return a.e >= 2 && a.e + count <= kNumNames; }
int count_of(const Arguments& a) { return 1 + a.m % 3; }
int zone_of(const Arguments& a) { return a.n % 3; }
std::string word_of(const Arguments& a) { return kWords[a.n % 3]; }
Entity e_of(const Model& model, const Arguments& a) { return model.entity(a.world, a.e); }
Entity f_of(const Model& model, const Arguments& a) { return model.entity(a.world, a.f); }
std::vector<Entity> span_of(const Model& model, const Arguments& a) {
    return model.entities_from(a.world, a.e, count_of(a));
}
std::vector<Entity> repeated(const Model& model, const Arguments& a) {
    return {e_of(model, a), f_of(model, a), e_of(model, a)};
}
bool has_span(const Model&, const Arguments& a) { return a.e + count_of(a) <= kNumNames; }

template <class T>
bool keeps(const Model& model, const Arguments& a, bool in_database) {
    constexpr int kType = Stage::type_of<T>();
    return !(kType == kTitle && a.world == 2) && kType != kCoin && model.in_database(a.world, kType) == in_database;
}
template <class T>
bool in_manager(const Model& model, const Arguments& a) {
    return keeps<T>(model, a, false);
}
template <class T>
bool in_database(const Model& model, const Arguments& a) {
    return keeps<T>(model, a, true);
}
/// Rows of the dead that stay for nobody knows how long have no place in a program.
template <class T>
bool lives_or_is_settled(const Model& model, const Arguments& a, const std::vector<Entity>& all) {
    constexpr int kType = Stage::type_of<T>();
    if (!model.may_linger(a.world, kType)) return true;
    return std::all_of(all.begin(), all.end(), [&](Entity who) { return model.alive(a.world, who); });
}
template <class T>
bool has(const Model& model, const Arguments& a) {
    return model.alive(a.world, e_of(model, a)) && model.has(a.world, Stage::type_of<T>(), e_of(model, a));
}
bool has_transform(const Model& model, int world, Entity who) { return model.world(world).positions.contains(who); }
bool asks_nothing_of(const Model& model, int world, Command::What first, Command::What last) {
    for (const Command& command : model.world(world).commands)
        if (command.what >= first && command.what <= last) return false;
    return true;
}

/// Whether no command waits that gives the name too.
bool is_free(const Model& model, const Arguments& a) {
    for (int world = 0; world < 3; ++world)
        for (const Command& command : model.world(world).commands)
            if ((world == 2) == (a.world == 2) && command.name == a.e) return false;
    return a.e >= 2;
}

void ask(Model& model, const Arguments& a, const Command& command) { model.world(a.world).commands.push_back(command); }

// --- lives -----------------------------------------------------------------------------------------------------------

void list_lives(std::vector<Operation>& all) {
    const auto created = [](int count) {
        return [count](Model& model, const Arguments& a) -> std::string {
            const int number = count == 0 ? count_of(a) : count;
            for (const Entity who : model.created_from(a.world, a.e, number))
                if (!model.born(a.world, who)) return "an id that was used before";
            return "ok";
        };
    };
    all.push_back({CALL(world.entities().create(std::span(&e, 8))), created(8),
                   [](const Model&, const Arguments& a) { return names_enough(a, 8); }});
    all.push_back({CALL(world.entities().create(std::span(&e, count))),
                   created(0),
                   [](const Model&, const Arguments& a) { return names_enough(a, count_of(a)); },
                   {},
                   {},
                   {},
                   2});
    all.push_back({CALL(stage.crowd(world, 100 * count, n)), [](Model& model, const Arguments& a) -> std::string {
                       const std::vector<Entity>& made = model.stage().crowds[std::size_t(a.world)];
                       for (const Entity who : made)
                           if (!model.born(a.world, who)) return "an id that was used before";
                       static_cast<void>(model.add(a.world, kMark, made, {a.n, 0, {}}));
                       return "ok";
                   }});
    all.push_back(
        {CALL(world.entities().destroy(e)),
         [](Model& model, const Arguments& a) { return text_of(model.destroy(a.world, {e_of(model, a)}) != 0); },
         nullptr,
         {},
         {},
         {},
         2});
    all.push_back({CALL(world.entities().destroy(std::array{e, f, e})), [](Model& model, const Arguments& a) {
                       return text_of(model.destroy(a.world, repeated(model, a)));
                   }});
    all.push_back({CALL(world.activity().set_active(e, m % 2 == 1)),
                   [](Model& model, const Arguments& a) {
                       model.set_active(a.world, e_of(model, a), a.m % 2 == 1);
                       return std::string("ok");
                   },
                   nullptr,
                   {},
                   {},
                   {},
                   3});
}

// --- managers and the database ---------------------------------------------------------------------------------------

/// The first field is set.
template <class T>
std::string refers(Model& model, const Arguments& a) {
    model.world(a.world).rows[Stage::type_of<T>()][e_of(model, a)].values[0].who = f_of(model, a);
    return "";
}
template <class T>
std::string counts(Model& model, const Arguments& a) {
    model.world(a.world).rows[Stage::type_of<T>()][e_of(model, a)].values[0].n = a.n;
    return "";
}

template <class T>
void list_managers(std::vector<Operation>& all) {
    constexpr int kType = Stage::type_of<T>();
    const auto add = [&](Operation operation, const Call& more = nullptr) {
        operation.can = [more](const Model& model, const Arguments& a) {
            return in_manager<T>(model, a) && (more == nullptr || more(model, a));
        };
        all.push_back(of_type<T>(operation));
    };
    add({CALL(bool(*world.manager<T>().add(e, value))),
         [](Model& model, const Arguments& a) {
             return text_of(model.add(a.world, kType, {e_of(model, a)}, value_of<T>(model, a)).num_skipped == 0);
         },
         nullptr,
         {},
         {},
         {},
         3});
    add({CALL(world.manager<T>().add(std::span(&e, count), value)),
         [](Model& model, const Arguments& a) {
             return text_of(model.add(a.world, kType, span_of(model, a), value_of<T>(model, a)));
         },
         nullptr,
         {},
         {},
         {},
         2},
        has_span);
    add({CALL(world.manager<T>().add(std::array{e, f, e}, value)), [](Model& model, const Arguments& a) {
             return text_of(model.add(a.world, kType, repeated(model, a), value_of<T>(model, a)));
         }});
    add({CALL(world.manager<T>().remove(e)),
         [](Model& model, const Arguments& a) { return text_of(model.remove(a.world, kType, {e_of(model, a)}) != 0); },
         nullptr,
         {},
         {},
         {},
         2},
        [](const Model& model, const Arguments& a) { return lives_or_is_settled<T>(model, a, {e_of(model, a)}); });
    add({CALL(world.manager<T>().remove(std::array{e, f, e})),
         [](Model& model, const Arguments& a) { return text_of(model.remove(a.world, kType, repeated(model, a))); }},
        [](const Model& model, const Arguments& a) { return lives_or_is_settled<T>(model, a, repeated(model, a)); });
    if constexpr (requires(T value) { value.who; })
        add({DO(world.manager<T>().template set<&T::who>(world.manager<T>().instance(e), f)),
             refers<T>,
             nullptr,
             {},
             {},
             {},
             2},
            has<T>);
    if constexpr (requires(T value) { value.n; })
        add({DO(world.manager<T>().template set<&T::n>(world.manager<T>().instance(e), n)), counts<T>}, has<T>);
}

template <class T>
void list_database(std::vector<Operation>& all) {
    constexpr int kType = Stage::type_of<T>();
    const auto add = [&](Operation operation, const Call& more = nullptr) {
        operation.can = [more](const Model& model, const Arguments& a) {
            return in_database<T>(model, a) && (more == nullptr || more(model, a));
        };
        all.push_back(of_type<T>(operation));
    };
    add({CALL(world.database().create<T>(std::span(&e, count), zone, value)),
         [](Model& model, const Arguments& a) -> std::string {
             for (const Entity who : model.created_from(a.world, a.e, count_of(a))) {
                 if (!model.born(a.world, who)) return "an id that was used before";
                 model.insert(a.world, kType, who, zone_of(a), value_of<T>(model, a));
             }
             return "ok";
         },
         nullptr,
         {},
         {},
         {},
         2},
        [](const Model&, const Arguments& a) { return names_enough(a, count_of(a)); });
    add({CALL(world.database().insert(e, zone, value)),
         [](Model& model, const Arguments& a) {
             return text_of(model.insert(a.world, kType, e_of(model, a), zone_of(a), value_of<T>(model, a)));
         },
         nullptr,
         {},
         {},
         {},
         2});
    add({CALL(world.database().add(e, value)),
         [](Model& model, const Arguments& a) {
             return text_of(model.add(a.world, kType, {e_of(model, a)}, value_of<T>(model, a)));
         },
         nullptr,
         {},
         {},
         {},
         3});
    add({CALL(world.database().add(std::span(&e, count), value)),
         [](Model& model, const Arguments& a) {
             return text_of(model.add(a.world, kType, span_of(model, a), value_of<T>(model, a)));
         },
         nullptr,
         {},
         {},
         {},
         2},
        has_span);
    add({CALL(world.database().add(std::array{e, f, e}, value)), [](Model& model, const Arguments& a) {
             return text_of(model.add(a.world, kType, repeated(model, a), value_of<T>(model, a)));
         }});
    add({CALL(world.database().remove<T>(e)),
         [](Model& model, const Arguments& a) { return text_of(model.remove(a.world, kType, {e_of(model, a)}) != 0); },
         nullptr,
         {},
         {},
         {},
         2});
    add({CALL(world.database().remove<T>(std::array{e, f, e})),
         [](Model& model, const Arguments& a) { return text_of(model.remove(a.world, kType, repeated(model, a))); }});
    if constexpr (requires(T value) { value.who; })
        add({DO(world.database().template set_value<&T::who>(e, 0, f)), refers<T>, nullptr, {}, {}, {}, 2}, has<T>);
    if constexpr (requires(T value) { value.n; })
        add({DO(world.database().template set<&T::n>(world.database().find(e), n)), counts<T>}, has<T>);
}

void list_rest_of_database(std::vector<Operation>& all) {
    all.push_back({CALL(world.database().remove_value<Scar>(e, std::uint32_t(m))),
                   [](Model& model, const Arguments& a) {
                       return text_of(model.remove_value(a.world, kScar, e_of(model, a), a.m));
                   },
                   in_database<Scar>});
    all.push_back({CALL(world.database().add(e, Disabled{Hungry{n}}).ok()),
                   [](Model& model, const Arguments& a) {
                       static_cast<void>(model.add(a.world, kHungry, {e_of(model, a)}, {a.n, 0, {}}, false));
                       return std::string("true");
                   },
                   in_database<Hungry>});
    all.push_back({CALL(world.database().move(e, zone)),
                   [](Model& model, const Arguments& a) {
                       return text_of(model.move(a.world, {e_of(model, a)}, zone_of(a)) != 0);
                   },
                   nullptr,
                   {},
                   {},
                   {},
                   2});
    all.push_back({CALL(world.database().move(std::array{e, f, e}, zone)), [](Model& model, const Arguments& a) {
                       return text_of(model.move(a.world, repeated(model, a), zone_of(a)));
                   }});
    all.push_back({CALL(world.database().destroy(std::array{e, f, e})), [](Model& model, const Arguments& a) {
                       return text_of(model.destroy_in_database(a.world, repeated(model, a)));
                   }});
    all.push_back({CALL(world.database().clear_zone(zone)),
                   [](Model& model, const Arguments& a) { return text_of(model.clear_zone(a.world, zone_of(a))); }});
}

// --- fields by name, and singletons ----------------------------------------------------------------------------------

template <class T>
void list_fields(std::vector<Operation>& all) {
    constexpr int kType = Stage::type_of<T>();
    const auto set = [](Model& model, const Arguments& a) {
        if (!has<T>(model, a)) return std::string("refused");
        model.world(a.world).rows[kType][e_of(model, a)].values[0].n = a.n;
        return std::string("ok");
    };
    const auto is_there = [](const Model& model, const Arguments& a) {  // one that is disabled keeps a value
        return model.has_store(a.world, kType) && (kType != kHungry || has<T>(model, a));
    };
    all.push_back(of_type<T>({CALL(world.set(e, path, n)), set, is_there}));
    all.push_back(of_type<T>({CALL(world.set<&T::n>(e, n)), set, is_there}));
    all.push_back(of_type<T>(
        {DO(world.commands().set<&T::n>(e, n)), [](Model& model, const Arguments& a) {
             ask(model, a, {.what = Command::kSet, .who = e_of(model, a), .type = Stage::type_of<T>(), .value = {a.n}});
             return std::string();
         }}));
}

void list_singletons(std::vector<Operation>& all) {
    all.push_back({DO(world.singleton<Wind>().n = n), [](Model& model, const Arguments& a) {
                       model.world(a.world).wind = a.n;
                       return std::string();
                   }});
    all.push_back({DO(world.events<Bell>().write({e, EntityBits(n)})), [](Model& model, const Arguments& a) {
                       model.world(a.world).bells.push_back({e_of(model, a), EntityBits(a.n)});
                       return std::string();
                   }});
}

// --- what built-in components say ------------------------------------------------------------------------------------

void list_transforms(std::vector<Operation>& all) {
    const auto has_e = [](const Model& model, const Arguments& a) {
        return has_transform(model, a.world, e_of(model, a));
    };
    const auto has_both = [](const Model& model, const Arguments& a) {
        return has_transform(model, a.world, e_of(model, a)) && has_transform(model, a.world, f_of(model, a));
    };
    all.push_back(
        {CALL(world.transforms().add(std::span(&e, 1), {.position = {float(n), 0, 0}})),
         [](Model& model, const Arguments& a) { return text_of(model.add_transform(a.world, e_of(model, a), a.n)); },
         nullptr,
         {},
         {},
         {},
         12});
    all.push_back({CALL(world.transforms().remove(std::span(&e, 1))), [](Model& model, const Arguments& a) {
                       return text_of(model.remove_transform(a.world, e_of(model, a)) ? 1 : 0);
                   }});
    all.push_back({CALL(world.transforms().link(world.transforms().instance(e), world.transforms().instance(f))),
                   [](Model& model, const Arguments& a) -> std::string {
                       return model.link(a.world, e_of(model, a), f_of(model, a)) ? "ok" : "refused";
                   },
                   has_both,
                   {},
                   {},
                   {},
                   6});
    all.push_back({DO(world.transforms().unlink(world.transforms().instance(e))),
                   [](Model& model, const Arguments& a) {
                       model.unlink(a.world, e_of(model, a));
                       return std::string();
                   },
                   has_e});
    all.push_back({DO(world.transforms().set_position(world.transforms().instance(e), {float(n), 0, 0})),
                   [](Model& model, const Arguments& a) {
                       model.world(a.world).positions[e_of(model, a)] = a.n;
                       return std::string();
                   },
                   has_e,
                   {},
                   {},
                   {},
                   2});
    all.push_back({CALL(world.transforms().set_positions(std::array{e, f},
                                                         std::array{Vec3{float(n), 0, 0}, Vec3{float(m), 0, 0}})),
                   [](Model& model, const Arguments& a) {
                       int num_set = 0;
                       for (const auto& [who, position] :
                            {std::pair(e_of(model, a), a.n), std::pair(f_of(model, a), a.m)})
                           if (has_transform(model, a.world, who))
                               model.world(a.world).positions[who] = position, ++num_set;
                       return text_of(num_set);
                   }});
}

void list_places(std::vector<Operation>& all) {
    const auto add = [&](const Code& code, const auto& expected, const Call& can, int weight) {
        all.push_back({code, expected, can, {}, {}, {}, weight});
    };
    const auto followed = [](Follower follower) {
        return [follower](Model& model, const Arguments& a) { return model.follow_places(a.world, a.m % 2, follower); };
    };
    const auto moved = [](int field) {
        return [field](Model& model, const Arguments& a) -> std::string {
            if (!has<Buoy>(model, a)) return "refused";
            Model::place_of(model.world(a.world).rows[kBuoy][e_of(model, a)].values[0], field) = a.n;
            return "ok";
        };
    };
    add(CALL(world.position_links().follow(schema_of<Buoy>().id(), m % 2, Follower::kTransform)),
        followed(Follower::kTransform), nullptr, 2);
    add(CALL(world.position_links().follow(schema_of<Buoy>().id(), m % 2, Follower::kField)),
        followed(Follower::kField), nullptr, 3);
    add(
        CALL(world.position_links().keep_in_tiles(schema_of<Buoy>().id(), m % 2, kTiles)),
        [](Model& model, const Arguments& a) { return model.keep_in_tiles(a.world, a.m % 2); }, nullptr, 3);
    add(CALL(world.set(e, "buoy.at", Vec3{float(n), 0, 0})), moved(0), nullptr, 8);
    add(CALL(world.set(e, "buoy.seen.x", float(n))), moved(1), nullptr, 8);
    add(
        CALL(world.database().move(e, kTiles.large_zone())),
        [](Model& model, const Arguments& a) {
            return text_of(model.move(a.world, {e_of(model, a)}, int(kTiles.large_zone())) != 0);
        },
        nullptr, 2);
    add(
        CALL(stage.float_there(world, e, n, m)),
        [](Model& model, const Arguments& a) {
            const Entity who = e_of(model, a);
            const AddCounts counts = model.add(a.world, kBuoy, {who}, {a.n, a.m, {}});
            if (model.alive(a.world, who)) static_cast<void>(model.add_transform(a.world, who, a.n));
            return text_of(counts);
        },
        nullptr, 8);
}

void list_models(std::vector<Operation>& all) {
    const auto add = [&](const Code& code, const auto& expected, const Call& can, int weight) {
        all.push_back({code, expected, can, {}, {}, {}, weight});
    };
    const auto has_model = [](const Model& model, const Arguments& a) {
        return model.alive(a.world, e_of(model, a)) && model.world(a.world).models.contains(e_of(model, a));
    };
    const auto posed = [](Model& model, const Arguments& a) -> Posed& {
        return model.world(a.world).models.at(e_of(model, a));
    };
    add(
        CALL(world.model_poses().add(std::span(&e, count), stage.tree(world))),
        [](Model& model, const Arguments& a) { return text_of(model.add_models(a.world, 0, span_of(model, a))); },
        has_span, 6);
    add(
        CALL(world.model_poses().remove(std::array{e, f, e})),
        [](Model& model, const Arguments& a) { return text_of(model.remove_models(a.world, repeated(model, a))); },
        nullptr, 2);
    add(
        CALL(stage.spawn_model(world, &e)),
        [](Model& model, const Arguments& a) -> std::string {
            const Entity who = model.created(a.world, a.e);
            if (!model.born(a.world, who)) return "an id that was used before";
            static_cast<void>(model.add_models(a.world, 1, {who}));
            return "ok";
        },
        [](const Model&, const Arguments& a) { return names_enough(a, 1); }, 4);
    add(
        DO(stage.set_node(world, e, n % 2, m)),
        [posed](Model& model, const Arguments& a) {
            posed(model, a).locals[std::size_t(a.n % 2)] = a.m;
            return std::string();
        },
        has_model, 6);
    add(
        DO(stage.set_all_nodes(world, n)),
        [](Model& model, const Arguments& a) {
            for (auto& [who, its] : model.world(a.world).models)
                if (its.tree == 0) its.locals.assign(its.locals.size(), a.n);
            return std::string();
        },
        nullptr, 2);
    add(
        DO(world.model_poses().compute(&world.executor())),
        [](Model& model, const Arguments& a) {
            model.compute_models(a.world);
            return std::string();
        },
        nullptr, 10);
    add(
        DO(stage.hold_node(world, e, n % 2, m)),
        [posed](Model& model, const Arguments& a) {
            posed(model, a).poses[std::size_t(a.n % 2)] = a.m - model.world_position(a.world, e_of(model, a));
            posed(model, a).held.insert(a.n % 2);
            return std::string();
        },
        has_model, 4);
    add(
        DO(world.model_poses().apply_constraints(&world.executor())),
        [](Model& model, const Arguments& a) {
            model.let_nodes_follow(a.world);
            return std::string();
        },
        nullptr, 4);
    add(
        CALL(stage.attach_to_node(world, e, f, n, m)),
        [](Model& model, const Arguments& a) {
            static_cast<void>(model.add_transform(a.world, f_of(model, a), a.m));
            static_cast<void>(model.add_transform(a.world, e_of(model, a), a.n));
            static_cast<void>(model.link(a.world, e_of(model, a), f_of(model, a)));
            return text_of(model.add(a.world, kAttached, {e_of(model, a)}, {a.n % 4, a.m, {}}));
        },
        [](const Model& model, const Arguments& a) {
            return model.alive(a.world, e_of(model, a)) && model.alive(a.world, f_of(model, a));
        },
        8);
}

void list_owners(std::vector<Operation>& all) {
    all.push_back({CALL(world.ownership().own(e, f)),
                   [](Model& model, const Arguments& a) -> std::string {
                       return model.own(a.world, e_of(model, a), f_of(model, a)) ? "ok" : "refused";
                   },
                   nullptr,
                   {},
                   {},
                   {},
                   6});
    all.push_back({CALL(world.ownership().release(e)),
                   [](Model& model, const Arguments& a) { return text_of(model.release(a.world, e_of(model, a))); }});
}

void list_texts(std::vector<Operation>& all) {
    const auto lives = [](const Model& model, const Arguments& a) { return model.alive(a.world, e_of(model, a)); };
    all.push_back({CALL(TagManager(world.manager<Tag>(), world.strings()).add_tag(e, text)),
                   [lives](Model& model, const Arguments& a) -> std::string {
                       if (!lives(model, a)) return "refused";
                       model.world(a.world).tags[e_of(model, a)].insert(word_of(a));
                       return "ok";
                   },
                   nullptr,
                   {},
                   {},
                   {},
                   2});
    all.push_back({CALL(TagManager(world.manager<Tag>(), world.strings()).remove_tag(e, text)),
                   [](Model& model, const Arguments& a) {
                       return text_of(model.world(a.world).tags[e_of(model, a)].erase(word_of(a)) != 0);
                   }});
    all.push_back({CALL(DebugNameManager(world.manager<DebugName>(), world.strings()).set_name(e, text)),
                   [lives](Model& model, const Arguments& a) -> std::string {
                       if (!lives(model, a)) return "refused";
                       model.world(a.world).names[e_of(model, a)] = word_of(a);
                       return "ok";
                   }});
    all.push_back({CALL(world.properties().set(e, text, n)), [lives](Model& model, const Arguments& a) -> std::string {
                       if (!lives(model, a)) return "refused";
                       model.world(a.world).properties[e_of(model, a)][word_of(a)] = a.n;
                       return "ok";
                   }});
    all.push_back({CALL(world.properties().reset(e, text)),
                   [](Model& model, const Arguments& a) {
                       return text_of(model.world(a.world).properties[e_of(model, a)].erase(word_of(a)) != 0);
                   },
                   lives});
}

// --- commands --------------------------------------------------------------------------------------------------------

template <class T>
void list_typed_commands(std::vector<Operation>& all) {
    constexpr int kType = Stage::type_of<T>();
    const auto is_kept = [](const Model& model, const Arguments& a) {
        return !(kType == kTitle && a.world == 2) && model.has_store(a.world, kType);
    };
    const auto add = [&](Operation operation) { all.push_back(of_type<T>(operation)); };
    const auto asked = [](Command::What what) {
        return [what](Model& model, const Arguments& a) {
            ask(model, a, {.what = what, .who = e_of(model, a), .type = kType, .value = value_of<T>(model, a)});
            return std::string();
        };
    };
    add({DO(world.commands().add(e, value)), asked(Command::kAdd), is_kept, {}, {}, {}, 2});
    add({DO(world.commands().remove<T>(e)), asked(Command::kRemove), is_kept});
    add({DO(world.commands().call(world.commands().create(value), NameAs{&e})),
         [](Model& model, const Arguments& a) {
             ask(model, a, {.what = Command::kCreate, .name = a.e, .type = kType, .value = value_of<T>(model, a)});
             return std::string();
         },
         [is_kept](const Model& model, const Arguments& a) { return is_free(model, a) && is_kept(model, a); }});
    if constexpr (std::is_trivially_copyable_v<T> && !std::is_empty_v<T>)
        add({DO(world.commands().add(e, schema_of<T>(), reinterpret_cast<const std::byte*>(std::array{value}.data()))),
             asked(Command::kAdd), is_kept});
}

void list_commands(std::vector<Operation>& all) {
    const auto asked = [](Command::What what, int type = 0) {
        return [what, type](Model& model, const Arguments& a) {
            Command command{.what = what, .who = e_of(model, a), .type = type};
            command.value = {a.n, 0, f_of(model, a)};
            command.zone = zone_of(a), command.text = word_of(a);
            ask(model, a, command);
            return std::string();
        };
    };
    const auto one_link = [](const Model& model, const Arguments& a) {
        return asks_nothing_of(model, a.world, Command::kLink, Command::kUnlink);
    };
    const auto one_owner = [](const Model& model, const Arguments& a) {
        return asks_nothing_of(model, a.world, Command::kOwn, Command::kRelease);
    };
    all.push_back({DO(world.commands().destroy(e)), asked(Command::kDestroy), nullptr, {}, {}, {}, 2});
    all.push_back({DO(world.commands().move(e, zone)), asked(Command::kMove), nullptr, {}, {}, {}, 2});
    all.push_back({DO(world.commands().add(e, Disabled{Hungry{n}})),
                   [](Model& model, const Arguments& a) {
                       Command command{.what = Command::kAdd, .who = e_of(model, a), .type = kHungry};
                       command.value.n = a.n, command.is_enabled = false;
                       ask(model, a, command);
                       return std::string();
                   },
                   in_database<Hungry>});
    all.push_back({DO(world.commands().add(e, ChildOf{f})), asked(Command::kLink), one_link, {}, {}, {}, 2});
    all.push_back({DO(world.commands().remove<ChildOf>(e)), asked(Command::kUnlink), one_link});
    all.push_back(
        {DO(world.commands().add(e, Owned{f})),
         asked(Command::kOwn),
         [one_owner](const Model& model, const Arguments& a) { return one_owner(model, a) && bool(f_of(model, a)); },
         {},
         {},
         {},
         2});
    all.push_back({DO(world.commands().remove<Owned>(e)), asked(Command::kRelease), one_owner});
    all.push_back({DO(world.commands().name(e, text)), asked(Command::kName)});
    all.push_back({DO(world.commands().tag(e, text)), asked(Command::kTag)});
    all.push_back({DO(world.commands().untag(e, text)), asked(Command::kUntag)});
    all.push_back({DO(world.commands().add(e, PropertyValue("armor.front", n))), asked(Command::kProperty)});
    all.push_back({DO(world.commands().add(e, Inactive{})), asked(Command::kAdd, -1)});
    all.push_back({DO(world.commands().remove<Inactive>(e)), asked(Command::kRemove, -1)});
}

void list_copying_commands(std::vector<Operation>& all) {
    const auto asked = [](Command::What what, bool has_pose, bool has_zone) {
        return [=](Model& model, const Arguments& a) {
            Command command{.what = what, .name = a.e, .has_pose = has_pose};
            command.value.n = a.m, command.zone = has_zone ? zone_of(a) : -1;
            if (what == Command::kCopy) command.who = f_of(model, a);
            if (what == Command::kSpawn) command.prefab = model.prefabs.back();
            ask(model, a, command);
            return std::string();
        };
    };
    // In which order copies with and without a place are made, or in different zones, is nowhere said.
    const auto can = [](Command::What what, bool has_pose, bool has_zone) {
        return [=](const Model& model, const Arguments& a) {
            const int zone = has_zone ? zone_of(a) : -1;
            for (const Command& command : model.world(a.world).commands)
                if (command.what == what && (command.has_pose != has_pose || command.zone != zone)) return false;
            return is_free(model, a) && (what == Command::kCopy || (!model.prefabs.empty() && model.prefab().is_tree &&
                                                                    model.can_have(a.world, model.prefab())));
        };
    };
    const auto add = [&](const Code& code, const auto& expected, const Call& can) {
        all.push_back({code, expected, can, {}, {}, {}, 4});
    };
    add(DO(world.commands().call(world.commands().spawn(stage.prefabs.back()), stage.learn(world, &e))),
        asked(Command::kSpawn, false, false), can(Command::kSpawn, false, false));
    add(DO(world.commands().call(world.commands().spawn(stage.prefabs.back(), stage.pose(m), zone),
                                 stage.learn(world, &e))),
        asked(Command::kSpawn, true, true), can(Command::kSpawn, true, true));
    add(DO(world.commands().call(world.commands().copy(f), stage.learn(world, &e))),
        asked(Command::kCopy, false, false), can(Command::kCopy, false, false));
    add(DO(world.commands().call(world.commands().copy(f, stage.pose(m)), stage.learn(world, &e))),
        asked(Command::kCopy, true, false), can(Command::kCopy, true, false));
}

// --- blobs -----------------------------------------------------------------------------------------------------------

/// Whether somebody lives in a zone, or it is unloaded. More and more do if they are spawned into it.
bool can_pack_zone(const Model& model, const Arguments& a) {
    const std::set<Entity> all = model.entities_in(a.world, zone_of(a));
    if (model.has_relics(a.world, {all.begin(), all.end()})) return false;
    const std::size_t num = all.size();
    return (num > 0 && num < 250) || model.streaming[a.world].unloaded.contains(zone_of(a));
}

void list_blobs(std::vector<Operation>& all) {
    const auto add = [&](const Code& code, const auto& expected, const Call& can, int weight) {
        all.push_back({code, expected, can, {}, {}, {}, weight});
    };
    const auto can_spawn = [](int count) {
        return [count](const Model& model, const Arguments& a) {
            return !model.prefabs.empty() && model.can_have(a.world, model.prefab()) &&
                   names_enough(a, count == 0 ? count_of(a) : count);
        };
    };
    add(
        CALL(stage.pack(world, e, m % 2 == 1)),
        [](Model& model, const Arguments& a) { return model.pack(a.world, e_of(model, a), a.m % 2 == 1); },
        [](const Model& model, const Arguments& a) {
            return !model.has_relics(a.world, model.below(a.world, e_of(model, a)));
        },
        6);
    add(
        CALL(stage.spawn(world, &e, {.copies = count})),
        [](Model& model, const Arguments& a) { return model.spawn(a.world); }, can_spawn(0), 4);
    add(
        CALL(stage.spawn(world, &e, {.zone = zone})),
        [](Model& model, const Arguments& a) { return model.spawn(a.world, {.zone = zone_of(a)}); }, can_spawn(1), 4);
    add(
        CALL(stage.spawn(world, &e, {.copies = count, .zone = zone, .fail_on_unknown = true, .keep_names = false})),
        [](Model& model, const Arguments& a) { return model.spawn(a.world, {.zone = zone_of(a)}, true); }, can_spawn(0),
        2);
    add(
        CALL(stage.spawn_at(world, &e, count, n)),
        [](Model& model, const Arguments& a) { return model.spawn(a.world, {.x = a.n, .step = 1}); }, can_spawn(0), 4);
    add(
        CALL(stage.spawn(world, &e, {.first_entities = std::span(&e, 1)})),
        [](Model& model, const Arguments& a) { return model.spawn(a.world); },
        [](const Model& model, const Arguments& a) {
            return !model.prefabs.empty() && model.can_have(a.world, model.prefab()) &&
                   model.has_nothing(a.world, e_of(model, a));
        },
        4);
    add(
        CALL(stage.pack_zone(world, zone, m % 2 == 1)),
        [](Model& model, const Arguments& a) { return model.pack_zone(a.world, zone_of(a), a.m % 2 == 1); },
        can_pack_zone, 6);
    add(
        CALL(stage.destroy_spawned(world)),
        [](Model& model, const Arguments& a) { return text_of(model.destroy_spawned(a.world)); }, nullptr, 2);
    add(
        CALL(stage.reload(world, n, m)),
        [](Model& model, const Arguments& a) { return model.reload(a.world, a.n, a.m); },
        [](const Model& model, const Arguments& a) {
            if (std::size_t(std::max(a.n, a.m)) >= model.prefabs.size()) return false;
            const Prefab &before = model.prefab(a.n), &after = model.prefab(a.m);
            const bool has_coins = !after.world.rows[kCoin].empty();
            if (has_coins && !model.has_store(a.world, kCoin)) return false;  // they would get another store
            const std::optional<std::size_t>& offered = model.offered[a.world];
            if (!before.world.rows[kSong].empty() || !after.world.rows[kSong].empty())
                if (offered ? *offered != before.version : before.has_arrays) return false;
            return model.world(a.world).copies.contains(before.version) &&
                   asks_nothing_of(model, a.world, Command::kSpawn, Command::kSpawn);
        },
        10);
}

void list_scenes(std::vector<Operation>& all) {
    const auto add = [&](const Code& code, const auto& expected, const Call& can, int weight) {
        all.push_back({code, expected, can, {}, {}, {}, weight});
    };
    const auto set = [](int field) {
        return [field](Model& model, const Arguments& a) -> std::string {
            ModelWorld& world = model.world(a.world);
            const auto found = world.relics.find(e_of(model, a));
            const bool has = found != world.relics.end() && (world.relic_fields >> field & 1) != 0;
            if (!has || !model.alive(a.world, e_of(model, a))) return "refused";
            found->second[std::size_t(field)] = a.m;
            return "ok";
        };
    };
    add(
        CALL(stage.spawn_scene(world, &e, n)),
        [](Model& model, const Arguments& a) { return model.spawn_scene(a.world, a.e, a.n); },
        [](const Model&, const Arguments& a) { return names_enough(a, 3); }, 8);
    add(
        CALL(stage.reload_scene(world, n, m)),
        [](Model& model, const Arguments& a) { return model.reload_scene(a.world, a.n, a.m); },
        [](const Model& model, const Arguments& a) { return model.can_reload_scene(a.world, a.n, a.m); }, 20);
    add(CALL(world.set(e, "relic.n", m)), set(0), nullptr, 3);
    add(CALL(world.set(e, "relic.extra", m)), set(1), nullptr, 3);
}

/// In one group: what a reload leaves of models is seen where programs have posed them.
void list_models_and_scenes(std::vector<Operation>& all) { list_models(all), list_scenes(all); }

void list_songs(std::vector<Operation>& all) {
    const auto add = [&](const Code& code, const auto& expected, const Call& can, int weight) {
        all.push_back({code, expected, can, {}, {}, {}, weight});
    };
    const auto song_of = [](const Model& model, const Arguments& a) {
        return model.world(a.world).rows[kSong].at(f_of(model, a)).values[0];
    };
    const auto has_song = [](const Model& model, const Arguments& a) {
        return model.alive(a.world, f_of(model, a)) && model.has(a.world, kSong, f_of(model, a));
    };
    add(
        CALL(stage.sing(world, &e, int(count))),
        [](Model& model, const Arguments& a) -> std::string {
            const Entity who = model.created(a.world, a.e);
            if (!model.born(a.world, who)) return "an id that was used before";
            static_cast<void>(model.add(a.world, kSong, {who}, {count_of(a), count_of(a), {}}));
            return "ok";
        },
        [](const Model&, const Arguments& a) { return names_enough(a, 1); }, 6);
    add(
        CALL(stage.teach(world, e, f)),
        [song_of](Model& model, const Arguments& a) {
            return text_of(model.add(a.world, kSong, {e_of(model, a)}, Value(song_of(model, a))));
        },
        has_song, 4);
    add(
        DO(world.commands().add(e, stage.song_of(world, f))),
        [song_of](Model& model, const Arguments& a) {
            const Value song = song_of(model, a);
            ask(model, a, {.what = Command::kAdd, .who = e_of(model, a), .type = kSong, .value = song});
            return std::string();
        },
        has_song, 4);
    add(
        CALL(stage.offer(world)), [](Model& model, const Arguments& a) { return model.offer(a.world); },
        [](const Model& model, const Arguments& a) {
            return !model.prefabs.empty() && asks_nothing_of(model, a.world, Command::kSpawn, Command::kSpawn);
        },
        8);
}

// --- time, stores, copies and saves ----------------------------------------------------------------------------------

/// In which order copies with and without a place are made is nowhere said, nor whether an owner or a parent that is given by a
/// command from outside of passes is there before passes give one.
bool can_step(const Model& model, const Arguments& a) {
    for (const Command& command : model.world(a.world).commands)
        if ((command.what == Command::kCopy || command.what == Command::kSpawn) && command.has_pose) return false;
    const Rule::Action action = model.rule(a.world).action;
    if (action == Rule::kOwn || action == Rule::kRelease)
        return asks_nothing_of(model, a.world, Command::kOwn, Command::kRelease);
    if (action == Rule::kLink || action == Rule::kUnlink)
        return asks_nothing_of(model, a.world, Command::kLink, Command::kUnlink);
    return true;
}

/// What readers of changes know after a settle: the first number of all rows of a type.
template <int kType>
std::string catches_up(Model& model, const Arguments& a) {
    model.settle(a.world);
    std::vector<std::string> all;
    for (const auto& [who, row] : model.world(a.world).rows[kType])
        all.push_back(model.name(a.world, who) + ":" + std::to_string(row.values[0].n));
    std::sort(all.begin(), all.end());
    return Stage::joined(all);
}

void list_time(std::vector<Operation>& all) {
    all.push_back({DO(world.settle()),
                   [](Model& model, const Arguments& a) {
                       model.settle(a.world);
                       return std::string();
                   },
                   nullptr,
                   {},
                   {},
                   {},
                   10});
    all.push_back({DO(world.step(0.5f)),
                   [](Model& model, const Arguments& a) {
                       model.step(a.world);
                       return std::string();
                   },
                   can_step,
                   {},
                   {},
                   {},
                   10});
    all.push_back({CALL(stage.catch_up(world)), catches_up<kMark>, nullptr, {}, {}, {}, 8});
}

/// Other types whose rows readers of changes know.
template <class T>
void list_reading(std::vector<Operation>& all) {
    constexpr int kType = Stage::type_of<T>();
    all.push_back(of_type<T>({CALL(stage.catch_up<T>(world)),
                              catches_up<kType>,
                              [](const Model& model, const Arguments& a) { return !model.may_linger(a.world, kType); },
                              {},
                              {},
                              {},
                              4}));
}

/// Calls that were made before, when the stage was set up.
void list_second_calls(std::vector<Operation>& all) {
    all.push_back({DO(stage.keep_journal_again(world)),
                   [](Model&, const Arguments&) { return std::string(); },
                   nullptr,
                   {},
                   {},
                   {},
                   2});
    all.push_back({DO(stage.listen_again(world)),
                   [](Model& model, const Arguments& a) {
                       model.world(a.world).told_rows[kScar] = model.world(a.world).rows[kScar];
                       return std::string();
                   },
                   nullptr,
                   {},
                   {},
                   {},
                   4});
}

void list_rules(std::vector<Operation>& all) {
    all.push_back({CALL(stage.mark(world, std::span(&e, count), n)),
                   [](Model& model, const Arguments& a) {
                       return text_of(model.add(a.world, kMark, span_of(model, a), {a.n, 0, {}}));
                   },
                   has_span,
                   {},
                   {},
                   {},
                   8});
    all.push_back({DO(stage.rule(world) = {n, Rule::Action(m), n % 2}),
                   [](Model&, const Arguments&) { return std::string(); },
                   [](const Model&, const Arguments& a) { return a.m < Rule::kFirstOfSecond; },
                   {},
                   {},
                   {},
                   4});
    all.push_back({DO(stage.rule(world) = {n, Rule::Action(Rule::kFirstOfSecond + m), n % 2, f}),
                   [](Model&, const Arguments&) { return std::string(); },
                   [](const Model&, const Arguments& a) { return Rule::kFirstOfSecond + a.m < Rule::kNumActions; },
                   {},
                   {},
                   {},
                   6});
}

void list_copies(std::vector<Operation>& all) {
    all.push_back({CALL(stage.copy(world, e, &f)),
                   [](Model& model, const Arguments& a) { return model.copy(a.world, e_of(model, a)); },
                   [](const Model&, const Arguments& a) { return a.f >= 2 && a.e != a.f; },
                   {},
                   {},
                   {},
                   3});
    const auto names_copies = [](const Model&, const Arguments& a) {
        return a.f >= 2 && a.e != a.f && a.f + count_of(a) <= kNumNames;
    };
    all.push_back(
        {CALL(stage.copy(world, e, &f, {.copies = count, .zone = zone})),
         [](Model& model, const Arguments& a) { return model.copy(a.world, e_of(model, a), {.zone = zone_of(a)}); },
         names_copies});
    all.push_back({CALL(stage.copy_to(world, e, &f, count, n)),
                   [](Model& model, const Arguments& a) {
                       return model.copy(a.world, e_of(model, a), {.has_pose = true, .x = a.n, .step = 1});
                   },
                   names_copies});
    all.push_back({CALL(stage.copy(world, e, &f, {.first_entities = std::span(&f, 1)})),
                   [](Model& model, const Arguments& a) { return model.copy(a.world, e_of(model, a)); },
                   [](const Model& model, const Arguments& a) {
                       return a.e != a.f && e_of(model, a) != f_of(model, a) &&
                              model.has_nothing(a.world, f_of(model, a));
                   },
                   {},
                   {},
                   {},
                   4});
}

void list_attaching(std::vector<Operation>& all) {
    all.push_back({CALL(stage.detach(world)), [](Model&, const Arguments&) { return std::string("ok"); },
                   [](const Model& model, const Arguments& a) {
                       for (const Command& command : model.world(a.world).commands)
                           if (command.type == kCoin) return false;
                       return model.has_store(a.world, kCoin);
                   }});
    all.push_back({CALL(stage.attach(world)),
                   [](Model& model, const Arguments& a) {
                       std::erase_if(model.world(a.world).rows[kCoin],
                                     [&](const auto& row) { return !model.alive(a.world, row.first); });
                       return std::string("ok");
                   },
                   [](const Model& model, const Arguments& a) { return !model.has_store(a.world, kCoin); }});
}

/// Whether a call of a C++ function waits, which cannot be saved, nor brought back if loading fails.
bool waits_for_call(const Model& model, int world) {
    const std::vector<Command>& commands = model.world(world).commands;
    return std::any_of(commands.begin(), commands.end(), [](const Command& command) { return command.name >= 0; });
}

void list_zones(std::vector<Operation>& all) {
    const auto add = [&](const Code& code, const auto& expected, const Call& can, int weight) {
        all.push_back({code, expected, can, {}, {}, {}, weight});
    };
    add(
        CALL(stage.zones(world).start(stage.zones_folder(world))),
        [](Model& model, const Arguments& a) { return model.stream_zones(a.world, 0, false, {}); }, nullptr, 2);
    add(
        CALL(stage.zones(world).start(stage.zones_folder(world), {.max_rows = count, .max_bytes = 0, .kept = {zone}})),
        [](Model& model, const Arguments& a) {
            return model.stream_zones(a.world, std::uint64_t(count_of(a)), false, {zone_of(a)});
        },
        nullptr, 4);
    add(
        CALL(stage.zones(world).start(stage.zones_folder(world), {.max_rows = 0, .max_bytes = 1, .kept = {}})),
        [](Model& model, const Arguments& a) { return model.stream_zones(a.world, 0, true, {}); }, nullptr, 2);
    add(
        CALL(stage.zones(world).unload(zone)),
        [](Model& model, const Arguments& a) { return model.unload_zone(a.world, zone_of(a)); },
        [](const Model& model, const Arguments& a) { return model.has_no_dead(a.world); }, 10);
    add(
        CALL(stage.zones(world).load(zone)),
        [](Model& model, const Arguments& a) { return model.load_zone(a.world, zone_of(a)); }, nullptr, 3);
    add(
        CALL(stage.visited(world, query<With<Wet>>(world.database()).in({zone})).empty()),
        [](Model& model, const Arguments& a) {
            if (model.streaming[a.world].is_on) model.streaming[a.world].visited.insert(zone_of(a));
            const ModelWorld& its = model.world(a.world);
            for (const auto& [who, row] : its.rows[kWet])
                if (its.zones.at(who) == zone_of(a) && model.alive(a.world, who) && !model.is_inactive(a.world, who))
                    return text_of(false);
            return text_of(true);
        },
        in_database<Wet>, 4);
    add(
        CALL(stage.zones(world).load_all()),
        [](Model& model, const Arguments& a) { return model.load_all_zones(a.world); }, nullptr, 1);
    add(
        CALL(stage.zones(world).stop()),
        [](Model& model, const Arguments& a) {
            const std::string loaded = model.load_all_zones(a.world);
            if (loaded == "ok") model.streaming[a.world] = {};
            return loaded;
        },
        nullptr, 1);
}

/// The same world in memory, in a file, and in a folder with a log.
void list_saves_of(std::vector<Operation>& all, int place, const Code& save, const Code& load) {
    const Model::Fields fields = place == Model::kMemory ? Model::Fields::kSame : Model::Fields::kMayCome;
    all.push_back({save,
                   [place](Model& model, const Arguments& a) -> std::string {
                       if (waits_for_call(model, a.world)) {
                           if (place == Model::kMemory) model.saved[place].reset();
                           return "refused";
                       }
                       model.saved[place] = model.picture();
                       return "ok";
                   },
                   [](const Model&, const Arguments& a) { return a.world == 2; },
                   {},
                   {},
                   {},
                   6});
    all.push_back({load,
                   [place, fields](Model& model, const Arguments& a) -> std::string {
                       if (a.world != 2 || waits_for_call(model, a.world)) return "refused";
                       return model.load(*model.saved[place], fields);
                   },
                   [place](const Model& model, const Arguments&) {
                       return model.saved[place].has_value() && model.has_store(2, kCoin);
                   },
                   {},
                   {},
                   {},
                   6});
}

void list_persisting(std::vector<Operation>& all) {
    const auto add = [&](const Code& code, const auto& expected, const Call& can, int weight) {
        all.push_back({code, expected, can, {}, {}, {}, weight});
    };
    const auto rests = [](const Model& model, const Arguments& a) { return !waits_for_call(model, a.world); };
    add(
        CALL(stage.persistence(world).start(stage.folder(world), {.replace = true})),
        [](Model& model, const Arguments& a) -> std::string {
            if (a.world != 2 || model.is_persisted) return "refused";
            model.saved[Model::kFolder] = model.picture();
            model.is_persisted = true;
            return "ok";
        },
        rests, 6);
    add(
        CALL(stage.persistence(world).flush()),
        [](Model& model, const Arguments&) {
            if (model.is_persisted) model.saved[Model::kFolder] = model.picture();
            return std::string("ok");
        },
        [rests](const Model& model, const Arguments& a) { return a.world == 2 && rests(model, a); }, 3);
    add(
        CALL(stage.persistence(world).stop()),
        [](Model& model, const Arguments&) {
            if (std::exchange(model.is_persisted, false)) model.saved[Model::kFolder] = model.picture();
            return std::string("ok");
        },
        [rests](const Model& model, const Arguments& a) { return a.world == 2 && rests(model, a); }, 6);
    add(
        CALL(stage.recover(world)),
        [](Model& model, const Arguments&) -> std::string {
            if (model.is_persisted) return "refused";
            if (!model.saved[Model::kFolder]) return "nothing there";
            return model.load(*model.saved[Model::kFolder], Model::Fields::kMayCome);
        },
        [rests](const Model& model, const Arguments& a) {
            return a.world == 2 && rests(model, a) && model.has_store(2, kCoin);
        },
        8);
}

void list_saves(std::vector<Operation>& all) {
    list_saves_of(all, Model::kMemory, CALL(save(world, stage.saved)), CALL(stage.load(world, stage.saved)));
    list_saves_of(all, Model::kFile, CALL(save(world, stage.file())), CALL(stage.load(world, stage.file())));
    all.push_back({CALL(stage.load_older(world)),
                   [](Model& model, const Arguments& a) -> std::string {
                       if (waits_for_call(model, a.world)) return "refused";
                       return model.load(*model.saved[Model::kFile], Model::Fields::kAsMigrationsSay);
                   },
                   [](const Model& model, const Arguments& a) {
                       return a.world == 2 && model.saved[Model::kFile].has_value() && model.has_store(2, kCoin);
                   },
                   {},
                   {},
                   {},
                   6});
}

void list_frames(std::vector<Operation>& all) {
    all.push_back({DO(stage.frames(world).keep(count)),
                   [](Model& model, const Arguments& a) {
                       model.max_frames = std::size_t(count_of(a));
                       model.frames = {model.picture()};
                       return std::string();
                   },
                   [](const Model& model, const Arguments& a) {
                       return a.world == 2 && model.has_store(2, kCoin) && !waits_for_call(model, 2);
                   },
                   {},
                   {},
                   {},
                   2});
    all.push_back({CALL(stage.go_back(world, n)),
                   [](Model& model, const Arguments& a) -> std::string {
                       if (waits_for_call(model, a.world)) return "refused";
                       if (model.take_back(model.frames[model.frames.size() - 1 - std::size_t(a.n)]) != "ok")
                           return "refused";
                       model.frames.resize(model.frames.size() - std::size_t(a.n));
                       return "ok";
                   },
                   [](const Model& model, const Arguments& a) {
                       return a.world == 2 && std::size_t(a.n) < model.frames.size() && model.has_store(2, kCoin);
                   },
                   {},
                   {},
                   {},
                   6});
}

/// For tests of what finds faults. No random program has it.
void list_faults(std::vector<Operation>& all) {
    all.push_back({DO(std::abort()), [](Model&, const Arguments&) { return std::string(); }, nullptr, {}, {}, {}, 0});
}

template <class... Ts, class Function>
void for_each_type(Function&& function) {
    (function(std::type_identity<Ts>()), ...);
}

std::vector<Operation> make_operations() {
    std::vector<Operation> all;
    list_lives(all);
    for_each_type<Mark, Place, Body, Scar, Title, Hungry, Wet, Hunts, Likes, Rides, Buoy, Song, AttachedToNode>(
        [&]<class T>(std::type_identity<T>) { list_managers<T>(all), list_database<T>(all); });
    for_each_type<Mark, Place, Body, Scar, Title, Hungry, Wet, Hunts, Likes, Rides, Buoy, Song, AttachedToNode, Coin>(
        [&]<class T>(std::type_identity<T>) { list_typed_commands<T>(all); });
    for_each_type<Mark, Place, Body, Scar, Hungry, Song, Coin>(
        [&]<class T>(std::type_identity<T>) { list_fields<T>(all); });
    list_time(all);
    for_each_type<Place, Body, Song>([&]<class T>(std::type_identity<T>) { list_reading<T>(all); });
    int group = 0;  // those until here, without which others make little sense
    for (const auto list : {list_rest_of_database,
                            list_singletons,
                            list_rules,
                            list_transforms,
                            list_places,
                            list_models_and_scenes,
                            list_owners,
                            list_texts,
                            list_commands,
                            list_copies,
                            list_blobs,
                            list_copying_commands,
                            list_songs,
                            list_saves,
                            list_persisting,
                            list_zones,
                            list_frames,
                            list_attaching,
                            list_second_calls,
                            list_faults}) {
        const std::size_t first = all.size();
        list(all), ++group;
        for (std::size_t i = first; i < all.size(); ++i) all[i].group = group;
    }
    return all;
}

}  // namespace

const std::vector<Operation>& operations() {
    static const std::vector<Operation> all = make_operations();
    return all;
}

}  // namespace programs
