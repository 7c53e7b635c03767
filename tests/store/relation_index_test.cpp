// What tells stores apart: mirrors that find what has changed, and indices of who refers to whom.

#include "shoal/store/detail/relation_index.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_mirror.h"
#include "shoal/store/manager.h"
#include "support/testing.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <type_traits>
#include <vector>

namespace {

using namespace shoal;

struct Hook {
    Entity fish;
    float depth = 0;
};
SHOAL_COMPONENT(Hook, (fish, relation), depth)
struct Note {
    std::vector<int> lines;  // more than bytes, beside a relation
    Entity about;
};
SHOAL_COMPONENT(Note, lines, (about, relation(cleared)))

using Entities = std::vector<Entity>;

std::set<Entity> set_of(std::span<const Entity> entities) { return {entities.begin(), entities.end()}; }

class RelationIndices : public ::testing::TestWithParam<RowIndexKind> {
protected:
    Random random{shoal_test::seed()};
    EntityManager entities{{.minimum_free_ids = 1}};  // so that indices are used again
    PagePool pool;
    Manager<Hook> hooks{entities, pool, {.index = GetParam()}};
};

TEST_P(RelationIndices, lists_are_what_a_scan_finds_and_lead_back) {
    SCOPED_TRACE(shoal_test::seed_text());
    RelationIndex index(hooks.core(), schema_of<Hook>(), 0, entities);
    Entities known(300);
    ASSERT_TRUE(entities.create(known));
    Array<Entity> dead{Owner("test")};
    const std::int64_t num_rounds = shoal_test::scaled_operations(200);
    for (std::int64_t round = 0; round < num_rounds; ++round) {
        for (std::uint32_t i = random.below(80); i-- > 0;) {
            Entity& entity = known[random.below(300)];
            const Entity target = random.below(5) == 0 ? kNullEntity : known[random.below(300)];
            switch (random.below(6)) {
                case 0:
                    hooks.remove(entity);
                    break;
                case 1:
                    entities.destroy(entity);
                    hooks.core().drop({&entity, 1});
                    entity = *entities.create();
                    break;
                default:
                    ASSERT_TRUE(hooks.add(entity, Hook{target, 1}));
            }
        }
        dead.clear();
        if (round % 8 == 7) {  // it goes on with what was saved, over what it has
            Snapshot state;
            SnapshotWriter to(state);
            index.save(to);
            index.refresh(dead);
            SnapshotReader from(state, false);
            ASSERT_TRUE(index.load(from));
        }
        index.refresh(dead);
        ASSERT_TRUE(index.validate()) << index.validate().message();
        std::map<Entity, std::set<Entity>> scanned;
        for (std::uint32_t row = 0; row < hooks.num_rows(); ++row)
            if (hooks.entities()[row]) scanned[hooks.get<&Hook::fish>({row})].insert(hooks.entities()[row]);
        for (const Entity target : known) {
            const Referrers referrers = index.referrers(target);
            ASSERT_EQ(std::set<Entity>(referrers.begin(), referrers.end()), scanned[target]);
            ASSERT_EQ(referrers.size(), scanned[target].size()) << "each is listed once";
        }
    }
}

TEST_P(RelationIndices, algorithms_of_the_standard_library_go_over_referrers) {
    static_assert(std::forward_iterator<Referrers::Iterator> && std::ranges::sized_range<const Referrers>);
    static_assert(std::is_same_v<std::iterator_traits<Referrers::Iterator>::value_type, Entity>);
    Entities made(4);
    ASSERT_TRUE(entities.create(made));
    for (const Entity referrer : {made[1], made[3]}) ASSERT_TRUE(hooks.add(referrer, Hook{made[0], 1}));
    RelationIndex index(hooks.core(), schema_of<Hook>(), 0, entities);
    Array<Entity> dead{Owner("test")};
    index.refresh(dead);
    const Referrers referrers = index.referrers(made[0]);
    EXPECT_EQ(std::count(referrers.begin(), referrers.end(), made[3]), 1);
    EXPECT_EQ(std::ranges::find(referrers, made[2]), referrers.end());
    EXPECT_EQ(*std::max_element(referrers.begin(), referrers.end()), made[3]);
    auto at = referrers.begin();
    EXPECT_EQ(at->id, (*at).id);
    EXPECT_EQ(*at++, *referrers.begin());
    EXPECT_EQ(std::next(at), referrers.end());
    EXPECT_EQ(index.referrers(made[1]).size(), 0u);
}

TEST_P(RelationIndices, of_the_dead_the_referrers_are_forgotten_and_the_targets_found) {
    RelationIndex index(hooks.core(), schema_of<Hook>(), 0, entities);
    Entities made(4);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(hooks.add(std::span(made).first(2), Hook{made[2], 1}));
    ASSERT_TRUE(hooks.add(made[3], Hook{made[0], 1}));
    Array<Entity> dead{Owner("test")};
    index.refresh(dead);
    EXPECT_TRUE(dead.empty());
    entities.destroy(made[0]);
    index.find_dead(dead);
    EXPECT_EQ(set_of(dead), std::set<Entity>{made[0]});
    Entities listed;
    for (const Entity referrer : index.referrers(made[2])) listed.push_back(referrer);
    EXPECT_EQ(listed, Entities{made[1]}) << "a dead referrer is forgotten";
    index.clear_references(made[0]);
    EXPECT_EQ(hooks.get<&Hook::fish>(hooks.instance(made[3])), kNullEntity);
    EXPECT_TRUE(index.referrers(made[0]).empty());
    EXPECT_TRUE(index.validate());
    EXPECT_TRUE(index.has_cleared());
    index.refresh(dead);
    EXPECT_FALSE(index.has_cleared());
}

TEST_P(RelationIndices, a_mirror_sees_rows_values_and_holes) {
    Entities made(3000);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(hooks.add(made, Hook{}));
    ComponentMirror mirror(hooks.core(), schema_of<Hook>());
    mirror.watch_field(1);
    mirror.compare();
    EXPECT_TRUE(mirror.added().empty() && mirror.removed().empty() && mirror.changed().empty());
    hooks.remove(made[5]);
    hooks.set<&Hook::depth>(hooks.instance(made[2500]), 7);
    hooks.set<&Hook::fish>(hooks.instance(made[100]), made[0]);  // is not watched
    hooks.set<&Hook::depth>(hooks.instance(made[2999]), 3);      // its row has moved, except with an identity index
    mirror.compare();
    EXPECT_EQ(set_of(mirror.removed()), std::set<Entity>{made[5]});
    EXPECT_EQ(set_of(mirror.changed()), (std::set<Entity>{made[2500], made[2999]}));
    for (std::size_t i = 0; i < mirror.changed().size(); ++i) {
        Hook before;
        std::memcpy(static_cast<void*>(&before), mirror.changed_values() + i * sizeof before, sizeof before);
        EXPECT_EQ(before.depth, 0);
    }
    EXPECT_TRUE(mirror.added().empty());
    ASSERT_TRUE(hooks.add(made[5], Hook{}));
    mirror.compare();
    EXPECT_EQ(set_of(mirror.added()), std::set<Entity>{made[5]});
    hooks.clear();
    mirror.compare();
    EXPECT_EQ(mirror.removed().size(), 3000u);
    ComponentMirror empty(hooks.core(), schema_of<Hook>(), ComponentMirror::Start::kNoRows);
    ASSERT_TRUE(hooks.add(made[7], Hook{}));
    empty.compare();
    EXPECT_EQ(set_of(empty.added()), std::set<Entity>{made[7]});
}

/// What a mirror says has come, gone or changed, against maps of what was there at the last comparison.
class MirrorComparison {
public:
    using Values = std::map<Entity, std::pair<Entity, float>>;  // the fields of a hook

    MirrorComparison(Manager<Hook>& hooks, bool keeps_all) : hooks_(hooks), keeps_all_(keeps_all) {
        mirror_ = make(ComponentMirror::Start::kNoRows);
    }
    void compare() {
        mirror_->compare();
        const Values now = values_now();
        Values came, gone, changed;
        for (const auto& [entity, values] : now)
            if (!before_.contains(entity)) came[entity] = values;
        for (const auto& [entity, values] : before_) {
            const auto found = now.find(entity);
            if (found == now.end()) gone[entity] = values;
            if (found != now.end() && found->second.second != values.second) changed[entity] = values;
        }
        expect(mirror_->added(), keeps_all_ ? mirror_->added_values() : nullptr, came);
        expect(mirror_->removed(), mirror_->removed_values(), gone);
        expect(mirror_->changed(), mirror_->changed_values(), changed);
        before_ = now;
    }
    /// Goes on with what was saved, in place of the mirror.
    void save_and_load() {
        Snapshot state;
        SnapshotWriter to(state);
        mirror_->save(to);
        mirror_ = make(ComponentMirror::Start::kRowsOfNow);
        using enum ComponentMirror::Start;
        for (const auto& [is_complete, otherwise] : {std::pair(false, kRowsOfNow), {false, kNoRows}, {true, kNoRows}}) {
            SnapshotReader from(state);
            const auto nothing = from.in(is_complete ? "" : "elsewhere");
            const Result<bool> is_known = mirror_->load(from, otherwise);
            ASSERT_TRUE(is_known.ok() && *is_known == is_complete) << is_known.message();
            ASSERT_TRUE(mirror_->added().empty() && mirror_->removed().empty() && mirror_->changed().empty());
        }
    }

private:
    std::unique_ptr<ComponentMirror> make(ComponentMirror::Start start) {
        auto made = std::make_unique<ComponentMirror>(hooks_.core(), schema_of<Hook>(), start);
        if (keeps_all_) made->keep_values(), made->take_added_values();
        made->watch_field(1);
        return made;
    }
    Values values_now() const {
        Values now;
        for (std::uint32_t row = 0; row < hooks_.num_rows(); ++row)
            if (const Entity entity = hooks_.entities()[row])
                now[entity] = {hooks_.get<&Hook::fish>({row}), hooks_.get<&Hook::depth>({row})};
        return now;
    }
    void expect(std::span<const Entity> listed, const std::byte* images, const Values& wanted) const {
        ASSERT_EQ(listed.size(), wanted.size());
        for (std::size_t i = 0; i < listed.size(); ++i) {
            const auto found = wanted.find(listed[i]);
            ASSERT_NE(found, wanted.end());
            if (images == nullptr) continue;
            Hook was;
            std::memcpy(static_cast<void*>(&was), images + i * sizeof was, sizeof was);
            ASSERT_EQ(was.depth, found->second.second);
            ASSERT_EQ(was.fish, keeps_all_ ? found->second.first : Entity()) << "or its default";
        }
        ASSERT_EQ(set_of(listed).size(), wanted.size()) << "each is listed once";
    }

    Manager<Hook>& hooks_;
    const bool keeps_all_;
    std::unique_ptr<ComponentMirror> mirror_;
    Values before_;
};

TEST_P(RelationIndices, mirrors_say_what_maps_say_after_every_kind_of_change) {
    SCOPED_TRACE(shoal_test::seed_text());
    MirrorComparison depths(hooks, false), all(hooks, true);
    Entities known(3000);  // some blocks
    ASSERT_TRUE(entities.create(known));
    std::uint64_t stamp = 1;
    for (int round = 0; round < 100 && !HasFailure(); ++round) {
        const std::uint32_t what = random.below(10);
        const std::uint32_t count = round % 25 == 0 ? 2500 : random.below(12);
        for (std::uint32_t i = 0; i < count; ++i) {
            Entity& entity = known[random.below(3000)];
            if (what < 2) {
                hooks.remove(entity);
            } else if (what == 2) {
                entities.destroy(entity);
                hooks.core().drop({&entity, 1});
                entity = *entities.create();
            } else if (what < 6 || !hooks.has(entity)) {
                ASSERT_TRUE(hooks.add(entity, Hook{known[random.below(3000)], float(random.below(3))}));
            } else if (what == 6) {
                hooks.set<&Hook::fish>(hooks.instance(entity), known[0]);
            } else {
                hooks.set<&Hook::depth>(hooks.instance(entity), float(random.below(3)));
            }
        }
        if (random.below(50) == 0) hooks.clear();
        if (random.below(3) == 0) hooks.core().settle({.stamp = ++stamp});
        if (random.below(12) == 0) depths.save_and_load(), all.save_and_load();
        if (random.below(3) == 0) depths.compare();
        if (random.below(3) != 0) all.compare();
        if (random.below(9) == 0) all.compare();  // nothing is said twice
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RelationIndices,
                         ::testing::Values(RowIndexKind::kPaged, RowIndexKind::kHash, RowIndexKind::kIdentity));

TEST(RelationOfOpaque, a_relation_may_stand_beside_a_field_that_is_more_than_bytes) {
    EntityManager entities;
    PagePool pool;
    Manager<Note> notes(entities, pool);
    RelationIndex index(notes.core(), schema_of<Note>(), 1, entities);
    Entities made(2);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(notes.add(made[0], Note{{1, 2, 3}, made[1]}));
    Array<Entity> dead{Owner("test")};
    index.refresh(dead);
    EXPECT_FALSE(index.referrers(made[1]).empty());
    index.clear_references(made[1]);
    EXPECT_EQ(notes.get<&Note::about>(notes.instance(made[0])), kNullEntity);
    EXPECT_EQ(notes.get<&Note::lines>(notes.instance(made[0])).size(), 3u);
}

struct Barnacle {
    std::uint32_t age = 0;
};
SHOAL_COMPONENT((Barnacle, many), age)

Entities list(std::span<const Entity> entities) { return {entities.begin(), entities.end()}; }

TEST(ComponentMirror, of_several_components_of_an_entity_those_that_are_gone_are_counted_and_not_those_that_moved) {
    EntityManager entities;
    PagePool pool;
    Manager<Barnacle> barnacles(entities, pool);
    const Entity whale = *entities.create(), ship = *entities.create(), buoy = *entities.create();
    for (const Entity owner : {whale, whale, ship, ship, ship}) ASSERT_TRUE(barnacles.add(owner).ok());
    ComponentMirror mirror(barnacles.core(), schema_of<Barnacle>());
    ASSERT_TRUE(barnacles.remove(whale));  // rows of the ship move to where these were
    ASSERT_TRUE(barnacles.add(buoy).ok());
    mirror.compare();
    EXPECT_EQ(list(mirror.added()), (Entities{buoy}));
    EXPECT_EQ(list(mirror.removed()), (Entities{whale, whale}));
    ASSERT_TRUE(barnacles.add(ship).ok());
    mirror.compare();
    EXPECT_EQ(list(mirror.added()), (Entities{ship}));
    EXPECT_TRUE(mirror.removed().empty());
}

/// What a save says that is false: an entity has had so many components that comparing each with each would take hours.
TEST(ComponentMirror, that_is_loaded_with_one_owner_millions_of_times_is_compared_as_fast_as_any) {
    constexpr std::uint32_t kNumRows = 1u << 22;
    EntityManager entities;
    PagePool pool;
    Manager<Barnacle> barnacles(entities, pool);
    const Entity whale = *entities.create(), ship = *entities.create();
    ComponentMirror mirror(barnacles.core(), schema_of<Barnacle>());
    Snapshot state;
    SnapshotWriter to(state);
    const std::uint64_t picture[] = {0, ~std::uint64_t(0)};  // of a table that is gone
    to.value("layout", schema_of<Barnacle>().layout_hash());
    to.array("columns", std::span<const std::uint32_t>());
    to.elements("pictures", picture, sizeof picture, 1);
    to.array("picture/0/owners", std::span<const Entity>(Entities(kNumRows, whale)));
    SnapshotReader from(state, false);
    const Result<bool> loaded = mirror.load(from);
    ASSERT_TRUE(loaded.ok() && *loaded) << loaded.message();
    for (const Entity owner : {ship, whale, whale}) ASSERT_TRUE(barnacles.add(owner).ok());
    mirror.compare();
    EXPECT_EQ(list(mirror.added()), (Entities{ship}));
    EXPECT_EQ(mirror.removed().size(), kNumRows - 2);
}

}  // namespace
