// The lists of the owners of each value, and the rows made from them, against a map.

#include "shoal/store/detail/owners_by_value.h"

#include "shoal/store/detail/owned_rows.h"
#include "shoal/table/describe.h"
#include "support/testing.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace {

using namespace shoal;

struct Label {
    StringId text{};
};
SHOAL_COMPONENT((Label, many), text)

TEST(OwnersByValue, lists_and_rows_are_what_a_map_says_after_every_change) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    EntityManager entities({.minimum_free_ids = 1});
    PagePool pool;
    OwnedRows labels(schema_of<Label>(), entities, pool);
    OwnersByValue& owners = labels.owners_by_value();
    const StringId values[] = {StringId("red"), StringId("green"), StringId("blue"), StringId("nobody's")};
    std::vector<Entity> known(60);
    ASSERT_TRUE(entities.create(known));
    std::map<Entity, std::vector<StringId>> model;
    SettleCounts counts;  // a sum
    std::uint64_t stamp = 1, num_removed = 0;
    for (int round = 0; round < 1500; ++round) {
        Entity& entity = known[random.below(60)];
        const std::uint32_t what = random.below(12);
        if (what < 5) {
            model[entity].push_back(values[random.below(3)]);
            const auto* const image = reinterpret_cast<const std::byte*>(&model[entity].back());
            ASSERT_TRUE(labels.add_values(schema_of<Label>(), {&entity, 1}, {.images = image}));
        } else if (what < 7) {
            labels.remove({&entity, 1});
            model.erase(entity);
        } else if (what < 9) {
            entities.destroy(entity);  // its rows stay
        } else if (what == 9 && random.below(8) == 0) {
            labels.clear();
            model.clear();
        } else if (what == 9 && !entities.alive(entity)) {
            entity = *entities.create();
        } else if (what == 10 && random.below(4) == 0) {
            for (auto at = model.begin(); at != model.end();) {
                const bool is_dead = !entities.alive(at->first);
                num_removed += is_dead ? at->second.size() : 0;
                at = is_dead ? model.erase(at) : std::next(at);
            }
            labels.settle({.stamp = ++stamp, .counts = &counts});
            ASSERT_EQ(counts.num_removed, num_removed);
        }
        if (!entities.alive(entity) && what < 5) {  // the dead get none
            model[entity].pop_back();
            if (model[entity].empty()) model.erase(entity);
        }
        if (random.below(3) == 0) continue;  // several changes at once
        owners.refresh();
        for (const StringId value : values) {
            std::set<Entity> wanted;
            for (const auto& [owner, texts] : model)
                if (entities.alive(owner) && std::ranges::find(texts, value) != texts.end()) wanted.insert(owner);
            const std::span<const Entity> listed = owners.living(value);
            ASSERT_EQ(std::set<Entity>(listed.begin(), listed.end()), wanted);
            ASSERT_EQ(listed.size(), wanted.size()) << "each is listed once";
            std::size_t num_rows = 0;
            for (const Entity owner : owners.rows_of(value).table().entities()) {
                if (!entities.alive(owner)) continue;
                ++num_rows;
                ASSERT_TRUE(wanted.contains(owner));
                ASSERT_TRUE(owners.rows_of(value).has(owner));
            }
            ASSERT_EQ(num_rows, wanted.size());
        }
    }
}

}  // namespace
