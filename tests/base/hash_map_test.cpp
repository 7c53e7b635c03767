#include "shoal/base/detail/hash_map.h"

#include "shoal/base/text.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

namespace shoal {
namespace {

using shoal_test::LeakCheck;

/// A key with a given hash, so that tests choose which keys collide.
struct Homed {
    std::uint32_t number = 0;
    std::uint32_t home = 0;
    friend bool operator==(const Homed&, const Homed&) = default;
};
std::uint64_t hash_key(Homed key) { return std::uint64_t(key.home) << 32; }

TEST(HashMap, an_empty_map_holds_no_memory_and_finds_nothing) {
    const std::size_t held_bytes = bookkeeping_bytes();
    HashMap<std::uint64_t, int> map{Owner("map")};
    EXPECT_EQ(bookkeeping_bytes(), held_bytes);
    EXPECT_EQ(map.find(0), nullptr);
    EXPECT_EQ(map.find_or(0, 7), 7);
    EXPECT_FALSE(map.erase(0));
    EXPECT_TRUE(map.empty());
}

TEST(HashMap, any_key_and_any_value_may_be_kept) {
    HashMap<std::uint64_t, std::uint64_t> map{Owner("map")};
    for (const std::uint64_t edge : {std::uint64_t(0), ~std::uint64_t(0)}) {
        EXPECT_EQ(map.find(edge), nullptr);
        map.insert(edge, edge);
        EXPECT_EQ(map.find_or(edge, 5), edge);
    }
    EXPECT_EQ(map.size(), 2u);
}

TEST(HashMap, insert_leaves_a_value_that_is_there) {
    HashMap<StringId, int> map{Owner("map")};
    const auto first = map.insert(StringId("a"), 1);
    EXPECT_TRUE(first.is_new);
    const auto second = map.insert(StringId("a"), 2);
    EXPECT_FALSE(second.is_new);
    EXPECT_EQ(*second.value, 1);
    *second.value = 3;
    EXPECT_EQ(map.find_or(StringId("a"), 0), 3);
    EXPECT_EQ(map.size(), 1u);
}

TEST(HashMap, set_replaces_a_value_that_is_there) {
    HashMap<StringId, int> map{Owner("map")};
    EXPECT_EQ(map.set(StringId("a"), 1), 1);
    EXPECT_EQ(map.set(StringId("a"), 2), 2);
    EXPECT_EQ(map.find_or(StringId("a"), 0), 2);
    EXPECT_EQ(map.size(), 1u);
}

TEST(HashMap, texts_are_keys_that_are_compared) {
    const std::string kept[] = {"one", "two"};
    HashMap<std::string_view, int> map{Owner("map")};
    map.insert(kept[0], 1);
    map.insert(kept[1], 2);
    EXPECT_EQ(map.find_or(std::string("two"), 0), 2);
    EXPECT_EQ(map.find("three"), nullptr);
}

TEST(HashMap, one_key_may_have_several_values) {
    HashMap<std::uint32_t, std::uint32_t> map{Owner("map")};
    for (std::uint32_t i = 0; i < 100; ++i) map.add(i % 3, i);
    EXPECT_EQ(map.size(), 100u);
    for (std::uint32_t i = 0; i < 100; ++i) {
        const std::uint32_t* found = map.find_if(i % 3, [&](std::uint32_t value) { return value == i; });
        ASSERT_NE(found, nullptr);
        ASSERT_EQ(*found, i);
        ASSERT_EQ(map.find_if((i + 1) % 3, [&](std::uint32_t value) { return value == i; }), nullptr);
    }
    for (std::uint32_t num_left = 34; num_left > 0; --num_left) EXPECT_TRUE(map.erase(0));
    EXPECT_FALSE(map.erase(0));
    EXPECT_EQ(map.size(), 66u);
}

/// Erases in every order. The keys collide, overlap with the next slots, and wrap around the end of the slots.
TEST(HashMap, erasing_out_of_a_chain_keeps_the_others_findable) {
    const std::vector<Homed> keys = {{1, 14}, {2, 14}, {3, 15}, {4, 14}, {5, 0}, {6, 15}};
    std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5};
    do {
        HashMap<Homed, std::uint32_t> map{Owner("map")};
        for (const Homed key : keys) map.insert(key, key.number);
        for (std::size_t erased = 0; erased < order.size(); ++erased) {
            ASSERT_TRUE(map.erase(keys[order[erased]]));
            for (std::size_t i = 0; i < order.size(); ++i)
                ASSERT_EQ(map.find_or(keys[order[i]], 0), i <= erased ? 0 : keys[order[i]].number);
        }
        ASSERT_TRUE(map.empty());
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST(HashMap, a_key_out_of_the_map_itself_survives_growth) {
    HashMap<std::string, int> map{Owner("map")};
    for (int i = 0; i < 8; ++i) map.insert(concat("a text too long for the place inside a string, ", i), i);
    const std::string* kept = nullptr;
    map.for_each([&](const std::string& key, int value) {
        if (value == 5) kept = &key;
    });
    const std::string copy = *kept;
    const std::size_t held_bytes = bookkeeping_bytes();
    map.add(*kept, 100);
    EXPECT_GT(bookkeeping_bytes(), held_bytes) << "the map has not grown";
    EXPECT_NE(map.find_if(copy, [](int value) { return value == 100; }), nullptr);
}

TEST(HashMap, reserving_makes_room_for_so_many) {
    HashMap<std::uint32_t, std::uint32_t> map{Owner("map")};
    map.reserve(1000);
    const std::size_t held_bytes = bookkeeping_bytes();
    for (std::uint32_t i = 0; i < 1000; ++i) map.insert(i, i);
    EXPECT_EQ(bookkeeping_bytes(), held_bytes);
    map.clear();
    EXPECT_EQ(bookkeeping_bytes(), held_bytes);
    EXPECT_TRUE(map.empty());
    EXPECT_EQ(map.find(0), nullptr);
}

TEST(HashMap, values_that_own_memory_give_it_back) {
    const LeakCheck leaks;
    HashMap<std::uint32_t, Array<int>> map{Owner("map")};
    for (std::uint32_t i = 0; i < 100; ++i) map.insert(i, Array<int>(i + 1, 0, Owner("value")));
    for (std::uint32_t i = 0; i < 100; i += 2) EXPECT_TRUE(map.erase(i));
    for (std::uint32_t i = 1; i < 100; i += 2) ASSERT_EQ(map.find(i)->size(), i + 1);
}

TEST(HashMap, memory_belongs_to_the_owner_and_its_end_names_him) {
    static std::string owner;
    const auto note = [](void*, std::size_t bytes, const char* name) -> void* {
        owner = name;
        return std::malloc(bytes);
    };
    const auto release = [](void*, void* memory, std::size_t, const char*) { std::free(memory); };
    const MemoryHooks before = set_memory_hooks({note, release, nullptr});
    {
        HashMap<std::uint32_t, int> map{Owner("numbers by name")};
        map.insert(1, 1);
    }
    set_memory_hooks(before);
    EXPECT_EQ(owner, "numbers by name");
    const auto fail = [](void*, std::size_t, const char*) -> void* { return nullptr; };
    const auto insert_without_memory = [&] {
        set_memory_hooks({fail, release, nullptr});
        HashMap<std::uint32_t, int> map{Owner("numbers by name")};
        map.insert(1, 1);
    };
    EXPECT_DEATH(insert_without_memory(), "out of bookkeeping memory: numbers by name");
}

/// Many operations on few keys, so that chains are long and holes are filled again and again.
TEST(HashMap, does_what_the_standard_map_does) {
    const LeakCheck leaks;
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    HashMap<std::uint64_t, std::uint32_t> map{Owner("map")};
    std::unordered_map<std::uint64_t, std::uint32_t> model;
    for (std::int64_t i = shoal_test::scaled_operations(1'000'000); i > 0; --i) {
        const std::uint64_t key = random.below(1000) * std::uint64_t(0x100000001);
        if (random.below(200'000) == 0) {
            map.clear();
            model.clear();
        } else if (random.below(8) == 0) {
            map.set(key, static_cast<std::uint32_t>(i));
            model[key] = static_cast<std::uint32_t>(i);
        } else if (random.below(2) == 0) {
            const auto [value, is_new] = map.insert(key, static_cast<std::uint32_t>(i));
            const auto [at, expected_new] = model.emplace(key, static_cast<std::uint32_t>(i));
            ASSERT_EQ(is_new, expected_new);
            ASSERT_EQ(*value, at->second);
        } else {
            ASSERT_EQ(map.erase(key), model.erase(key) == 1);
        }
        const auto found = model.find(key);
        ASSERT_EQ(map.find_or(key, 0), found == model.end() ? 0 : found->second);
        ASSERT_EQ(map.size(), model.size());
    }
    std::size_t num_visited = 0;
    map.for_each([&](std::uint64_t key, std::uint32_t value) {
        ++num_visited;
        ASSERT_EQ(model.at(key), value);
    });
    EXPECT_EQ(num_visited, model.size());
}

}  // namespace
}  // namespace shoal
