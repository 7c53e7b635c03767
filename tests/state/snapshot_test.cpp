#include "shoal/state/snapshot.h"

#include "shoal/base/random.h"
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

TEST(Snapshot, may_take_64_times_the_bytes_of_its_file_and_at_least_a_gibibyte) {
    constexpr std::uint64_t kGibibyte = std::uint64_t(1) << 30;
    for (const std::uint64_t few : {std::uint64_t(0), std::uint64_t(1), kGibibyte / 64 - 1, kGibibyte / 64})
        EXPECT_EQ(max_snapshot_bytes(few), kGibibyte) << few;
    for (const std::uint64_t many : {kGibibyte / 64 + 1, kGibibyte}) EXPECT_EQ(max_snapshot_bytes(many), 64 * many);
}

TEST(Snapshot, parts_are_found_by_their_words_of_today_and_by_those_of_older_versions) {
    const std::string now = "observers/observer/0/hull", then = Snapshot::older_path(now);
    ASSERT_FALSE(then.empty() || then == now);
    for (const std::string& written : {now, then}) {
        Snapshot state;
        SnapshotWriter(state).value(written, 7);
        for (const std::string& asked : {now, then}) EXPECT_EQ(state.find(asked), 0u) << written << ", " << asked;
        EXPECT_EQ(state.find("hull"), state.num_parts());
    }
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
    EXPECT_EQ(from.left_memory(), 0u);
    EXPECT_TRUE(SnapshotReader(state, true).take_memory("number", 1000)) << "a trusted one has no limit";
}

TEST(Snapshot, refuses_what_no_save_may_hold_and_keeps_the_first_reason) {
    Snapshot twice, large, odd, broken;
    SnapshotWriter first(twice), second(large), third(odd), fourth(broken);
    first.value("a", 1);
    first.value("a", 2);
    expect_error(first.status(), "two parts of the state are called \"a\"");
    second.elements("huge", nullptr, kMaxSnapshotElementBytes + 1, 0);
    second.refuse("another reason");
    expect_error(second.status(), "\"huge\" has values of 1048577 bytes");
    third.value(std::string(kMaxSnapshotPathBytes + 1, 'x'), 1);
    expect_error(third.status(), "longer than 4,000 bytes");
    fourth.value("\xff", 1);
    expect_error(fourth.status(), "is not UTF-8");
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
    EXPECT_TRUE(SnapshotWriter(third, &second).share("blob", 5)) << "what was shared is shared again";
    EXPECT_EQ(third.num_own_bytes(), 0u);
    Snapshot alone;
    EXPECT_FALSE(SnapshotWriter(alone).share("blob", 5)) << "there is no state before it";
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

// --- states that share blocks, against copies of what was written ------------------------------------------------

/// A column that changes from state to state, and when each of its elements was written last.
struct ChangingColumn {
    std::string name;
    std::uint32_t element_bytes;
    std::vector<SnapshotGap> gaps;
    std::uint64_t source = 0;
    std::vector<std::byte> bytes{};
    std::vector<std::uint64_t> written{};  // by piece: a stamp

    std::size_t size() const { return bytes.size() / element_bytes; }
    void write(std::size_t element, std::uint64_t stamp, Random& random) {
        bytes[element * element_bytes + random.below(element_bytes)] = std::byte(random.below(256));
        written[element / kElementsPerSnapshotMark] = stamp;
    }
    void resize(std::size_t size, std::uint64_t stamp) {
        const std::size_t old_size = std::min(this->size(), size);
        bytes.resize(size * element_bytes, std::byte(7));
        written.resize((size + kElementsPerSnapshotMark - 1) / kElementsPerSnapshotMark, stamp);
        if (old_size < size) written[old_size / kElementsPerSnapshotMark] = stamp;
    }
    /// The bytes that a state has, with zeros in the gaps.
    std::vector<std::byte> saved() const {
        std::vector<std::byte> result = bytes;
        for (std::size_t begin = 0; begin < result.size(); begin += element_bytes)
            for (const SnapshotGap& gap : gaps) std::memset(result.data() + begin + gap.begin, 0, gap.num_bytes);
        return result;
    }
    static SnapshotMarks find_written(const void* self, std::uint32_t, std::uint32_t block, std::uint64_t since) {
        const auto& column = *static_cast<const ChangingColumn*>(self);
        SnapshotMarks marks;
        for (std::size_t i = 0; i < SnapshotMarks::kCount; ++i)
            if (const std::size_t piece = block * SnapshotMarks::kCount + i; piece >= column.written.size())
                set_bits(marks.words, i, i + 1, true);  // past the end, marks mean nothing
            else if (column.written[piece] >= since)
                set_bits(marks.words, i, i + 1, true);
        return marks;
    }
};

class ChangingStates : public testing::Test {
protected:
    struct Kept {
        Snapshot state;
        std::uint64_t stamp = 0;
        std::vector<std::pair<std::string, std::vector<std::byte>>> parts{};  // as they were written
        std::uint64_t own_bytes = 0;
    };

    void change() {
        ++stamp;
        for (ChangingColumn& column : columns) {
            if (random.below(12) == 0) column.resize(random.below(3) * 4096 + random.below(60), stamp);
            if (random.below(8) == 0) continue;  // nothing is written in this frame
            const std::uint32_t num_writes = random.below(16) == 0 ? 4000 : random.below(12);
            for (std::uint32_t i = 0; i < num_writes && column.size() != 0; ++i)
                column.write(random.below(std::uint32_t(column.size())), stamp, random);
            if (random.below(20) == 0) renew(column);
        }
        if (random.below(3) == 0) list.resize(random.below(3) * 8192 + random.below(9), 5);
        if (random.below(3) == 0 && !list.empty()) ++list[random.below(std::uint32_t(list.size()))];
        if (random.below(5) == 0) text.assign(random.below(40), char('a' + random.below(26))), ++text_source;
    }
    /// The marks of the column mean nothing for states from before.
    void renew(ChangingColumn& column) {
        if (column.source != 0) column.source = ++num_sources;
        std::fill(column.written.begin(), column.written.end(), 0);
    }
    Kept save(const Kept* before) {
        Kept made;
        save(before, made);
        return made;
    }
    void save(const Kept* before, Kept& made, bool borrows = false) {
        made.stamp = stamp;
        SnapshotWriter to(made.state, before == nullptr ? nullptr : &before->state,
                          before == nullptr ? 0 : before->stamp + 1);
        if (borrows) to.borrow_columns();
        const bool gathers = random.below(2) == 0;
        if (gathers) to.gather_columns();
        for (const ChangingColumn& column : columns) {
            const WrittenSince written{&ChangingColumn::find_written, &column};
            to.column(column.name, column.bytes.data(), column.element_bytes, column.size(), written, column.source,
                      column.gaps);
            const SnapshotPart part = made.state.part(made.state.find(column.name));
            for (std::uint32_t b = 0; b < part.num_blocks() && !gathers && before != nullptr; ++b)
                if (!to.may_be_new(b, written)) expect_same_block(made, *before, column, b);
            made.parts.emplace_back(column.name, column.saved());
        }
        if (gathers) to.finish_columns();
        EXPECT_FALSE(to.share("list", 0)) << "it has no source";
        to.array("list", list);
        if (!to.share("text", text_source)) to.elements("text", text.data(), 1, text.size(), text_source);
        const auto* const of_list = reinterpret_cast<const std::byte*>(list.data());
        const auto* const of_text = reinterpret_cast<const std::byte*>(text.data());
        made.parts.emplace_back("list", std::vector<std::byte>(of_list, of_list + list.size() * sizeof list[0]));
        made.parts.emplace_back("text", std::vector<std::byte>(of_text, of_text + text.size()));
        EXPECT_TRUE(to.status().ok());
        made.own_bytes = made.state.num_own_bytes();
        made.state.set_max_bytes(1000 + stamp);
    }
    static void expect_same_block(const Kept& made, const Kept& before, const ChangingColumn& column, std::size_t b) {
        const SnapshotPart part = made.state.part(made.state.find(column.name));
        const SnapshotPart known = before.state.part(before.state.find(column.name));
        ASSERT_LT(b, known.num_blocks());
        EXPECT_TRUE(made.state.difference(part, b, before.state, known, b).is_empty());
    }
    void expect_as_written(const Kept& kept) {
        std::uint64_t num_bytes = 0;
        for (const auto& [path, bytes] : kept.parts) {
            const SnapshotPart part = kept.state.part(kept.state.find(path));
            ASSERT_EQ(part.num_bytes(), bytes.size());
            num_bytes += bytes.size();
            const std::uint64_t begin = random.below(std::uint32_t(bytes.size()) + 1);
            const std::uint64_t count = random.below(std::uint32_t(bytes.size() - begin) + 1);
            std::vector<std::byte> some(count + 1, std::byte(0xEE));  // a byte more, which stays
            kept.state.copy_bytes(part, begin, count, some.data());
            ASSERT_EQ(std::memcmp(some.data(), bytes.data() + begin, count), 0) << path;
            ASSERT_EQ(some.back(), std::byte(0xEE)) << path;
            Array<std::byte> room;
            std::size_t at = 0;
            for (std::size_t b = 0; b < part.num_blocks(); ++b) {
                const std::span<const std::byte> block = kept.state.block(part, b, room);
                ASSERT_EQ(block.size(), kept.state.block_bytes(part, b));
                ASSERT_EQ(std::memcmp(block.data(), bytes.data() + at, block.size()), 0) << path << " block " << b;
                at += block.size();
            }
            ASSERT_EQ(at, bytes.size());
        }
        ASSERT_EQ(kept.state.num_bytes(), num_bytes);
        ASSERT_EQ(kept.state.num_own_bytes(), kept.own_bytes);
        ASSERT_EQ(kept.state.max_bytes(), 1000 + kept.stamp);
    }
    /// What is marked as different, copied over the one, makes the other.
    void expect_difference(const Kept& kept, const Kept& other) {
        for (const ChangingColumn& column : columns) {
            const SnapshotPart part = kept.state.part(kept.state.find(column.name));
            const SnapshotPart before = other.state.part(other.state.find(column.name));
            for (std::size_t b = 0; b < std::min(part.num_blocks(), before.num_blocks()); ++b) {
                const std::size_t num_bytes = kept.state.block_bytes(part, b);
                if (other.state.block_bytes(before, b) != num_bytes) continue;
                const SnapshotMarks marks = kept.state.difference(part, b, other.state, before, b);
                if (marks.count() == SnapshotMarks::kCount) continue;  // they are unrelated
                std::vector<std::byte> bytes(num_bytes + 1, std::byte(0xEE));
                const std::uint64_t begin = std::uint64_t(b) * kElementsPerSnapshotBlock * column.element_bytes;
                other.state.copy_bytes(before, begin, num_bytes, bytes.data());
                kept.state.copy_marked(part, b, marks, bytes.data());
                std::vector<std::byte> expected(num_bytes + 1, std::byte(0xEE));
                kept.state.copy_bytes(part, begin, num_bytes, expected.data());
                ASSERT_EQ(bytes == expected, true) << column.name << " block " << b;
                if (&kept == &other) ASSERT_TRUE(marks.is_empty());
                if (b != 0) ASSERT_EQ(kept.state.difference(part, b, other.state, before, 0).count(), marks.kCount);
            }
        }
    }
    /// Reads the columns back; `present` is the state of now, or nullptr.
    void load(const Kept& back, const Kept* present) {
        SnapshotReader from(back.state, true, present == nullptr ? nullptr : &present->state);
        const bool gathers = random.below(2) == 0;
        if (gathers) from.gather_columns();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            ChangingColumn& column = columns[i];
            const std::size_t num_bytes = back.parts[i].second.size();
            // An array without the present's bytes, which has no source, or one that the present does not know.
            const bool is_other = present == nullptr || column.source == 0 || random.below(4) == 0;
            const std::uint64_t other_source = random.below(2) == 0 ? 0 : ++num_sources;
            if (is_other) column.bytes.assign(num_bytes, std::byte(0xEE));
            column.resize(num_bytes / column.element_bytes, stamp);
            ASSERT_TRUE(from.column(column.name, column.bytes.data(), column.element_bytes, column.size(),
                                    is_other ? other_source : column.source));
        }
        if (gathers) from.finish_columns();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            ASSERT_EQ(columns[i].saved() == back.parts[i].second, true) << columns[i].name;
            renew(columns[i]);
        }
    }

    Random random{shoal_test::seed()};
    std::uint64_t stamp = 1, num_sources = 3, text_source = 1;
    std::vector<ChangingColumn> columns = {
        {"small", 4, {}, 1}, {"usual", 12, {}, 2}, {"padded", 24, {{9, 7}, {20, 4}}, 3}, {"compared", 8, {}, 0}};
    std::vector<std::uint16_t> list;
    std::string text;
};

TEST_F(ChangingStates, each_is_as_it_was_written_whatever_it_shares_with_others_and_in_whatever_order_they_end) {
    SCOPED_TRACE(shoal_test::seed_text());
    std::vector<Kept> kept;
    std::uint64_t num_shared = 0;
    for (int frame = 0; frame < 400 && !HasFailure(); ++frame) {
        change();
        const std::uint32_t dice = random.below(40);
        if (dice == 0) {  // the memory of one that has borrowed its columns is that of a copy after it
            Kept made;
            save(nullptr, made, true);
            expect_as_written(made);
            made.state.clear();
            made.parts.clear();
            ASSERT_EQ(made.state.num_bytes() + made.state.num_own_bytes(), 0u);
            ASSERT_EQ(made.state.max_bytes(), Snapshot().max_bytes()) << "one that is cleared is as a new one";
            save(nullptr, made);
            change();
            expect_as_written(made);
        }
        const Kept* const before = kept.empty() || dice == 1 ? nullptr
                                   : dice < 8                ? &kept[random.below(std::uint32_t(kept.size()))]
                                                             : &kept.back();
        Kept made = save(before);
        expect_as_written(made);
        if (before == nullptr) EXPECT_EQ(made.state.num_own_bytes(), made.state.num_bytes());
        if (before != nullptr) expect_difference(made, *before), expect_difference(*before, made);
        num_shared += made.state.num_bytes() - made.state.num_own_bytes();
        kept.push_back(std::move(made));
        if (dice == 2 || dice == 3) {  // nothing has changed, so that nothing is copied, even if it has to be compared
            for (ChangingColumn& column : columns)
                if (dice == 3) renew(column);
            const Kept same = save(&kept.back());
            ASSERT_EQ(same.state.num_own_bytes(), 0u);
            expect_difference(same, same);
        }
        if (dice > 36) {
            const Kept& back = kept[random.below(std::uint32_t(kept.size()))];
            const Kept present = save(&back);
            load(back, dice == 37 ? nullptr : &present);
        }
        while (kept.size() > 7 || (kept.size() > 1 && random.below(8) == 0)) {
            const std::uint32_t which = random.below(std::uint32_t(kept.size()));
            kept[which].state.set_max_bytes(5);
            kept[which].state.clear();
            EXPECT_EQ(kept[which].state.num_bytes() + kept[which].state.num_own_bytes(), 0u);
            EXPECT_EQ(kept[which].state.max_bytes(), max_snapshot_bytes(0));
            EXPECT_EQ(kept[which].state.find("list"), 0u) << "there are no parts";
            kept.erase(kept.begin() + which);
        }
        expect_as_written(kept[random.below(std::uint32_t(kept.size()))]);
    }
    EXPECT_GT(num_shared, 0u);
}

}  // namespace
}  // namespace shoal
