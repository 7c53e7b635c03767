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
            const Name name = (random() % 3 << kNameCountBits) + random() % (round % 3 == 0 ? 20 : 200);
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

}  // namespace
