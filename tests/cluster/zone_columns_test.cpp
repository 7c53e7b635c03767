#include "cluster/zone_columns.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace {

using namespace shoal;
using namespace shoal::cluster;

std::vector<Name> read_again(const std::vector<Name>& names, std::size_t* num_bytes = nullptr) {
    MessageWriter to;
    write_names(names, to);
    if (num_bytes != nullptr) *num_bytes = to.bytes().size();
    MessageReader from(to.bytes());
    std::vector<Name> read = read_names(from);
    EXPECT_TRUE(from.is_done());
    return read;
}

TEST(NamesOfRows, are_read_as_they_were_written_and_runs_are_short) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<Name> names;
        for (std::size_t runs = random() % 20; runs-- > 0;) {
            const Name first = random();
            for (Name i = 0, count = random() % (round % 2 == 0 ? 3 : 40); i <= count; ++i) names.push_back(first + i);
        }
        EXPECT_EQ(read_again(names), names);
    }
    std::vector<Name> many(100'000);
    for (Name i = 0; i < many.size(); ++i) many[i] = 77 + i;
    std::size_t num_bytes = 0;
    EXPECT_EQ(read_again(many, &num_bytes), many);
    EXPECT_LT(num_bytes, 100u);
}

TEST(NamesOfRows, that_are_damaged_are_refused) {
    const auto refused = [](std::uint64_t count, bool as_runs, const std::vector<std::uint64_t>& numbers) {
        MessageWriter to;
        to.value(count), to.value(as_runs);
        to.value(static_cast<std::uint64_t>(as_runs ? numbers.size() / 2 : numbers.size()));
        for (const std::uint64_t number : numbers) to.value(number);
        MessageReader from(to.bytes());
        read_names(from);
        return !from.is_sound();
    };
    EXPECT_FALSE(refused(3, true, {5, 3}));
    EXPECT_TRUE(refused(3, true, {5, 4})) << "a run that is too long";
    EXPECT_TRUE(refused(3, true, {5, 2})) << "too few names";
    EXPECT_TRUE(refused(3, true, {5, ~std::uint64_t(0)}));
    EXPECT_TRUE(refused(3, false, {5, 6}));
    EXPECT_TRUE(refused(std::uint64_t(1) << 40, true, {5, std::uint64_t(1) << 40})) << "more than fits into memory";
}

TEST(EntitiesByName, are_those_of_a_map) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 30; ++round) {
        EntitiesByName pages;
        std::map<Name, Entity> model;
        for (int step = 0; step < 2000; ++step) {
            const Name name = (random() % 3 << kNameCountBits) + 1 + random() % (round % 3 == 0 ? 20 : 200);
            const Entity entity{static_cast<EntityBits>(1 + random() % 1000)};
            if (random() % 2 == 0)
                pages.set(name, entity), model[name] = entity;
            else
                pages.erase(name), model.erase(name);
            const Name other = name + random() % 20;
            const auto found = model.find(other);
            ASSERT_EQ(pages.find(other), found == model.end() ? kNullEntity : found->second);
        }
        for (const auto& [name, entity] : model) ASSERT_EQ(pages.find(name), entity);
    }
}

TEST(EntitiesByName, many_at_once_are_as_one_by_one) {
    std::mt19937_64 random(6);
    EntitiesByName all, single;
    for (int step = 0; step < 3000; ++step) {
        std::vector<Name> names;
        for (std::size_t runs = random() % 4; runs-- > 0;) {
            if (random() % 4 == 0) names.push_back(0);  // an entity without a name
            const Name first = 1 + random() % 300;
            for (Name i = 0, count = random() % 50; i < count; ++i) names.push_back(first + i);
        }
        std::vector<Entity> entities;
        bool are_new = true;
        for (std::size_t i = 0; i < names.size(); ++i)
            entities.push_back({static_cast<EntityBits>(1 + (random() % 8 == 0 ? random() % 1000 : names[i]))});
        if (random() % 2 == 0) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (names[i] == 0) continue;
                are_new &= !single.find(names[i]) || single.find(names[i]) == entities[i];
                single.set(names[i], entities[i]);
            }
            ASSERT_EQ(all.set(names, entities), are_new);
        } else {
            for (const Name name : names)
                if (name != 0) single.erase(name);
            all.erase(names);
        }
        std::vector<Name> asked(names);
        for (Name name = 0; name < 360; ++name) asked.push_back(name);
        std::vector<Entity> found(asked.size());
        all.find(asked, found);
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const Entity expected = asked[i] == 0 ? kNullEntity : single.find(asked[i]);
            ASSERT_EQ(found[i], expected);
            ASSERT_EQ(all.find(asked[i]), expected);
        }
    }
}

TEST(EntityNames, many_at_once_are_as_one_by_one) {
    std::mt19937_64 random(7);
    EntityNames all(2), single(2);
    Name next = 1;
    for (int step = 0; step < 2000; ++step) {
        std::vector<Entity> entities;
        std::vector<Name> names;
        for (std::uint32_t index = 1 + random() % 200; entities.size() < 20 && index < 300; index += random() % 8 / 7) {
            const Entity entity = make_entity(index++, 1);
            entities.push_back(entity);
            names.push_back(single.name(entity) != 0 ? single.name(entity) : random() % 4 == 0 ? 0 : next++);
        }
        const auto what = random() % 4;
        EXPECT_TRUE(what != 0 || all.set(entities, names));
        if (what == 1) all.erase(entities);
        if (what == 2) all.mark_come(entities);
        if (what == 3) all.mark_gone(entities);
        for (std::size_t i = 0; i < entities.size(); ++i) {
            if (what == 0 && names[i] != 0) single.set(entities[i], names[i]);
            if (what == 1) single.erase(entities[i]);
            if (what < 2 || single.name(entities[i]) == 0) continue;
            if (what == 2) single.mark_copy(entities[i], false);
            single.mark_away(entities[i], what == 3);
            single.mark_known_elsewhere(entities[i]);
        }
        std::vector<Entity> away, expected;
        all.for_each_away([&](Entity entity, Name) { away.push_back(entity); });
        for (std::uint32_t index = 1; index < 330; ++index) {
            const Entity entity = make_entity(index, 1);
            ASSERT_EQ(all.name(entity), single.name(entity));
            EXPECT_TRUE(all.name(entity) == 0 || all.find(all.name(entity)) == entity);
            ASSERT_EQ(all.is_away(entity), single.is_away(entity));
            ASSERT_EQ(all.is_known_elsewhere(entity), single.is_known_elsewhere(entity));
            if (single.is_away(entity)) expected.push_back(entity);
        }
        ASSERT_EQ(away, expected);
    }
}

}  // namespace
