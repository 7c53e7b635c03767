#include "shoal/state/snapshot.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace shoal {
namespace {

void expect_error(const Status& status, std::string_view part) {
    EXPECT_FALSE(status.ok());
    if (!status) {
        EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    }
}

template <class T>
std::vector<T> values_of(const Snapshot& state, std::string_view path) {
    const SnapshotPart part = state.part(state.find(path));
    std::vector<T> values(static_cast<std::size_t>(part.num_elements));
    state.copy(part, 0, part.num_elements, values.data());
    return values;
}

TEST(Snapshot, is_read_back_part_by_part_under_the_paths_that_it_was_written_with) {
    Snapshot state;
    const std::uint16_t few[] = {3, 1, 4};
    {
        SnapshotWriter to(state);
        const SnapshotPath::Scope body = to.in("body");
        to.array("few", std::span<const std::uint16_t>(few));
        const SnapshotPath::Scope field = to.in("field");
        to.value("number", 7.5);
        to.text("name", "réef");
    }
    EXPECT_EQ(state.num_parts(), 3u);
    EXPECT_EQ(state.num_bytes(), 3 * 2u + 8u + 5u);
    SnapshotReader from(state);
    const SnapshotPath::Scope body = from.in("body");
    Array<std::uint16_t> read;
    double number = 0;
    ASSERT_TRUE(from.array("few", read) && from.value("field/number", number));
    EXPECT_TRUE(std::ranges::equal(read, few));
    EXPECT_EQ(number, 7.5);
    EXPECT_EQ(from.text("field/name").value(), "réef");
    EXPECT_TRUE(from.has("few") && !from.has("number"));
}

TEST(Snapshot, a_part_that_does_not_fit_is_an_error_that_names_it_and_changes_nothing) {
    Snapshot state;
    SnapshotWriter to(state);
    to.array("ids", std::span<const std::uint32_t>(std::vector<std::uint32_t>{1, 2, 3}));
    to.text("text", "\xff");
    SnapshotReader from(state);
    std::uint32_t ids[3] = {9, 9, 9};
    expect_error(from.elements("id", ids, 4, 3), "part \"id\": it is missing");
    expect_error(from.elements("ids", ids, 8, 1), "part \"ids\": its elements have 4 bytes, not 8");
    expect_error(from.elements("ids", ids, 4, 2), "it has 3 elements, not 2");
    expect_error(from.column("ids", ids, 4, 2, 0), "it has 3 elements, not 2");
    expect_error(from.text("text").status(), "part \"text\": it is no text");
    EXPECT_EQ(ids[0] + ids[1] + ids[2], 27u);
}

TEST(Snapshot, what_is_made_of_one_that_is_not_trusted_takes_no_more_memory_than_its_limit) {
    Snapshot state;
    SnapshotWriter(state).value("number", 1);
    state.set_max_bytes(100);
    SnapshotReader from(state, false);
    EXPECT_EQ(from.left_memory(), 96u);
    EXPECT_TRUE(from.take_memory("number", 90));
    EXPECT_EQ(from.left_memory(), 6u);
    expect_error(from.take_memory("number", 7), "takes 101 bytes in memory, and may take 100");
    EXPECT_TRUE(from.take_memory("number", 6)) << "what was refused was counted";
    EXPECT_TRUE(SnapshotReader(state, true).take_memory("number", 1000)) << "a trusted one has no limit";
}

TEST(Snapshot, refuses_what_no_save_may_hold_and_keeps_the_first_reason) {
    Snapshot twice, large, odd;
    SnapshotWriter first(twice), second(large), third(odd);
    first.value("a", 1);
    first.value("a", 2);
    expect_error(first.status(), "two parts of the state are called \"a\"");
    second.elements("huge", nullptr, kMaxSnapshotElementBytes + 1, 0);
    second.refuse("another reason");
    expect_error(second.status(), "\"huge\" has values of 1048577 bytes");
    third.value(std::string(kMaxSnapshotPathBytes + 1, 'x'), 1);
    expect_error(third.status(), "longer than 4,000 bytes");
}

TEST(Snapshot, has_room_for_a_block_that_is_longer_than_its_first_memory) {
    for (const std::uint32_t element_bytes : {12u, 17u, 40u, 64u, 65u, 200u}) {
        std::vector<std::byte> bytes(std::size_t(element_bytes) * kElementsPerSnapshotBlock, std::byte(element_bytes));
        Snapshot state;
        SnapshotWriter to(state);
        to.column("first", bytes.data(), element_bytes, kElementsPerSnapshotBlock, {}, 0);
        to.column("second", bytes.data(), element_bytes, kElementsPerSnapshotBlock, {}, 0);
        for (const char* name : {"first", "second"}) {
            const SnapshotPart part = state.part(state.find(name));
            std::vector<std::byte> found(bytes.size());
            state.copy(part, 0, part.num_elements, found.data());
            EXPECT_EQ(found == bytes, true) << name << " of " << element_bytes;
        }
    }
}

TEST(Snapshot, a_part_is_shared_by_its_source_alone) {
    Snapshot first, second, third;
    SnapshotWriter(first).elements("blob", "abc", 1, 3, 5);
    SnapshotWriter to(second, &first);
    EXPECT_FALSE(to.share("blob", 6) || to.share("blob", 0) || to.share("other", 5));
    EXPECT_TRUE(to.share("blob", 5));
    EXPECT_EQ(second.num_own_bytes(), 0u);
    first = Snapshot();
    EXPECT_EQ(values_of<char>(second, "blob"), (std::vector<char>{'a', 'b', 'c'})) << "the first had them alone";
    EXPECT_FALSE(SnapshotWriter(third).share("blob", 5)) << "there is no state before it";
}

TEST(Snapshot, that_is_filled_in_any_order_is_the_one_that_was_written) {
    Snapshot written, filled;
    std::vector<std::uint32_t> many(30'000);
    for (std::uint32_t i = 0; i < many.size(); ++i) many[i] = i * 2654435761u;
    SnapshotWriter to(written);
    to.array("many", std::span<const std::uint32_t>(many));
    to.text("few", "abc");
    SnapshotFiller filler(filled);
    filler.add_part("many", 4, many.size());
    filler.add_part("few", 1, 3);
    std::vector<std::byte> bytes(many.size() * 4 + 3);
    std::memcpy(bytes.data(), many.data(), many.size() * 4);
    std::memcpy(bytes.data() + many.size() * 4, "abc", 3);
    filler.reserve(bytes.size());
    constexpr std::size_t kStep = 10'007;  // pieces that end in the middle of blocks
    for (std::size_t begin = (bytes.size() - 1) / kStep * kStep;; begin -= kStep) {
        filler.put(begin, std::span(bytes).subspan(begin, std::min(kStep, bytes.size() - begin)));
        if (begin == 0) break;
    }
    EXPECT_EQ(values_of<std::uint32_t>(filled, "many") == many, true);
    EXPECT_EQ(values_of<char>(filled, "few"), values_of<char>(written, "few"));
    EXPECT_EQ(filled.num_bytes(), written.num_bytes());
}

}  // namespace
}  // namespace shoal
