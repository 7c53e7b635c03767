#include "shoal/base/detail/memory.h"
#include "shoal/base/detail/array.h"

#include "shoal/base/random.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace shoal {
namespace {

/// A heap that counts by owner and can be told to fail.
struct CountingHeap {
    std::map<std::string, std::size_t> held;
    std::size_t num_calls = 0;
    std::size_t fail_at_call = ~std::size_t(0);

    static void* allocate(void* context, std::size_t bytes, const char* owner) {
        auto* heap = static_cast<CountingHeap*>(context);
        if (heap->num_calls++ == heap->fail_at_call) return nullptr;
        heap->held[owner] += bytes;
        return std::malloc(bytes);
    }
    static void release(void* context, void* memory, std::size_t bytes, const char* owner) {
        static_cast<CountingHeap*>(context)->held[owner] -= bytes;
        std::free(memory);
    }
    MemoryHooks hooks() { return {&allocate, &release, this}; }
};

TEST(Memory, every_allocation_reaches_the_hooks_with_its_owner_and_size) {
    CountingHeap heap;
    const MemoryHooks before = set_memory_hooks(heap.hooks());
    {
        void* block = allocate_memory(100, "mine");
        EXPECT_EQ(heap.held["mine"], 100u);
        Array<int> numbers{Owner("numbers")};
        numbers.reserve(10);
        EXPECT_EQ(heap.held["numbers"], 10 * sizeof(int));
        release_memory(block, 100, "mine");
    }
    set_memory_hooks(before);
    EXPECT_EQ(heap.held["mine"], 0u);
    EXPECT_EQ(heap.held["numbers"], 0u);
}

TEST(Memory, setting_hooks_returns_those_before_and_none_restores_the_heap) {
    CountingHeap heap;
    set_memory_hooks(heap.hooks());
    EXPECT_EQ(set_memory_hooks({}).context, &heap);
    void* block = allocate_memory(64, "heap");
    ASSERT_NE(block, nullptr);
    std::memset(block, 1, 64);
    release_memory(block, 64, "heap");
    EXPECT_EQ(heap.num_calls, 0u);
}

TEST(Memory, held_bytes_are_counted_over_all_owners) {
    const std::size_t before = bookkeeping_bytes();
    void* a = allocate_memory(1000, "a");
    void* b = allocate_memory(24, "b");
    EXPECT_EQ(bookkeeping_bytes(), before + 1024);
    release_memory(a, 1000, "a");
    EXPECT_EQ(bookkeeping_bytes(), before + 24);
    release_memory(b, 24, "b");
    EXPECT_EQ(bookkeeping_bytes(), before);
}

TEST(Memory, releasing_nothing_is_allowed) {
    const shoal_test::LeakCheck leaks;
    release_memory(nullptr, 100, "nobody");
}

TEST(Memory, allocating_nothing_is_not_out_of_memory) {
    const shoal_test::LeakCheck leaks;
    release_memory(allocate_memory(0, "empty"), 0, "empty");
}

TEST(MemoryDeathTest, running_out_ends_the_program_and_names_the_owner) {
    EXPECT_DEATH(
        {
            CountingHeap heap;
            heap.fail_at_call = 0;
            set_memory_hooks(heap.hooks());
            allocate_memory(4096, "row index of lanterns");
        },
        "out of bookkeeping memory: row index of lanterns asked for 4096 bytes");
}

TEST(MemoryDeathTest, an_array_that_cannot_grow_ends_the_program_and_names_the_owner) {
    EXPECT_DEATH(
        {
            CountingHeap heap;
            heap.fail_at_call = 3;
            set_memory_hooks(heap.hooks());
            Array<int> numbers{Owner("numbers of fish")};
            for (int i = 0; i < 1000; ++i) numbers.push_back(i);
        },
        "out of bookkeeping memory: numbers of fish");
}

TEST(Array, keeps_its_owner_when_copied_and_moved) {
    CountingHeap heap;
    const MemoryHooks before = set_memory_hooks(heap.hooks());
    {
        Array<int> first({1, 2, 3}, Owner("first"));
        Array<int> copy = first;
        EXPECT_EQ(heap.held["first"], 6 * sizeof(int));
        EXPECT_STREQ(copy.owner().name, "first");
        Array<int> moved = std::move(copy);
        EXPECT_EQ(moved, first);
        EXPECT_STREQ(moved.owner().name, "first");
    }
    set_memory_hooks(before);
    EXPECT_EQ(heap.held["first"], 0u);
}

TEST(Array, memory_is_released_under_the_name_that_it_was_allocated_for) {
    CountingHeap heap;
    const MemoryHooks before = set_memory_hooks(heap.hooks());
    {
        Array<int> a({1, 2, 3}, Owner("a"));
        Array<int> b(100, 7, Owner("b"));
        a.swap(b);
        EXPECT_EQ(a.size(), 100u);
        EXPECT_STREQ(a.owner().name, "b");
        a = b;
        EXPECT_EQ(a, b);
        b = std::move(a);
        EXPECT_EQ(b.size(), 3u);
        a = Array<int>({4}, Owner("c"));
        EXPECT_STREQ(a.owner().name, "c");
    }
    set_memory_hooks(before);
    for (const auto& [owner, bytes] : heap.held) EXPECT_EQ(bytes, 0u) << owner;
}

TEST(Array, of_the_program_outlives_hooks_which_do_not_see_it_and_is_not_counted) {
    const std::size_t held_before = bookkeeping_bytes();
    Array<int> kept(kProgramOwner);
    kept.resize(10);
    EXPECT_EQ(bookkeeping_bytes(), held_before);
    CountingHeap heap;
    const MemoryHooks before = set_memory_hooks(heap.hooks());
    kept.resize(100);
    EXPECT_EQ(heap.num_calls, 0u);
    set_memory_hooks(before);
}

TEST(Random, gives_the_published_numbers) {
    Random zero(0);
    EXPECT_EQ(zero.next(), 0xE220A8397B1DCDAFull);
    EXPECT_EQ(zero.next(), 0x6E789E6AA1B965F4ull);
    Random other(1234567);
    EXPECT_EQ(other.next(), 6457827717110365317ull);
    EXPECT_EQ(other.next(), 3203168211198807973ull);
}

TEST(Random, below_and_unit_stay_in_range_and_reach_its_ends) {
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    bool low = false, high = false;
    for (int i = 0; i < 100000; ++i) {
        const std::uint32_t number = random.below(7);
        ASSERT_LT(number, 7u);
        low |= number == 0;
        high |= number == 6;
        const float fraction = random.unit();
        ASSERT_GE(fraction, 0.0f);
        ASSERT_LT(fraction, 1.0f);
    }
    EXPECT_TRUE(low && high);
    EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, the_state_continues_the_sequence) {
    Random first(99);
    first.next();
    Random second(first.state());
    EXPECT_EQ(first.next(), second.next());
}

}  // namespace
}  // namespace shoal
