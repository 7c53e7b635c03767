// Tables that are written to snapshots and read back.

#include "shoal/state/snapshot.h"

#include "shoal/table/describe.h"
#include "shoal/table/detail/saved_rows.h"
#include "shoal/table/detail/value_check.h"

#include "table/table_fixture.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shoal {
namespace {

using namespace shoal_test;

constexpr std::uint32_t kRows = kElementsPerSnapshotBlock + kRowsPerStampBlock + 7;

struct TableState : testing::Test {
    TableState() { append_filled(table, kRows, Image(schema.struct_bytes(), std::byte(5))); }

    Snapshot save(Table& from, const Snapshot* before = nullptr, std::uint64_t since = 0) {
        Snapshot state;
        SnapshotWriter to(state, before, since);
        from.save(to);
        EXPECT_TRUE(to.status().ok());
        return state;
    }
    void load(Table& to, const Snapshot& state, const Snapshot* present) {
        SnapshotReader from(state, true, present);
        const Status status = to.load(from);
        ASSERT_TRUE(status.ok()) << status.message();
    }
    /// Writes behind the back of stamps.
    static void smear(Table& to, std::uint32_t row) {
        const_cast<std::byte&>(*(to.column(1) + row * sizeof(float))) = std::byte(77);
    }
    static std::byte byte_of(const Table& of, std::uint32_t row) { return *(of.column(1) + row * sizeof(float)); }

    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kFloat, 3);
    Table table{schema, pool};
};

TEST_F(TableState, loading_copies_only_the_rows_that_have_been_written_since_eight_at_a_time) {
    const Snapshot state = save(table);
    table.set_stamp(9);
    *table.write_element(1, kElementsPerSnapshotBlock) = std::byte(6);
    for (const std::uint32_t row : {kElementsPerSnapshotBlock + 7, kElementsPerSnapshotBlock + 8, 2u})
        smear(table, row);
    const Snapshot present = save(table, &state, 9);
    EXPECT_LT(present.num_own_bytes(), 250u) << "8 elements, and stamps";
    load(table, state, &present);
    EXPECT_EQ(byte_of(table, kElementsPerSnapshotBlock), std::byte(5));
    EXPECT_EQ(byte_of(table, kElementsPerSnapshotBlock + 7), std::byte(5))
        << "it was written together with the first row";
    EXPECT_EQ(byte_of(table, kElementsPerSnapshotBlock + 8), std::byte(77))
        << "more rows were copied than were written";
    EXPECT_EQ(byte_of(table, 2), std::byte(77)) << "the block was copied, though both states share it";
    load(table, state, nullptr);
    EXPECT_EQ(byte_of(table, 2), std::byte(5));
}

TEST_F(TableState, a_table_that_was_loaded_has_the_stamps_of_the_state_and_none_of_its_own) {
    Table small(schema, pool);
    small.set_stamp(5);
    append_filled(small, 2 * kRowsPerStampBlock, Image(schema.struct_bytes()));
    small.set_stamp(9);
    small.write_element(1, kRowsPerStampBlock);
    const Snapshot state = save(small);
    for (const std::uint64_t later : {500u, 501u, 40u}) {
        table.set_stamp(later);
        for (std::uint32_t row = 0; row < table.num_rows(); row += 8) table.write_element(row % 3, row);
        load(table, state, nullptr);
        EXPECT_EQ(table.stamp(), 9u);
        for (const std::uint32_t c : {0u, 1u, 2u}) {
            EXPECT_EQ(table.written_stamp(c, 0), 5u);
            EXPECT_EQ(table.written_stamp(c, 1), c == 1 ? 9u : 5u);
            EXPECT_TRUE(table.written_since(0, 0, 8).is_empty());
            EXPECT_EQ(table.written_since(c, 0, 9).is_empty(), c != 1);
        }
        append_filled(table, kRowsPerStampBlock, Image(schema.struct_bytes()));
        for (const std::uint32_t c : {0u, 1u, 2u}) EXPECT_EQ(table.written_stamp(c, 2), 9u) << "not of rows before";
        table.set_stamp(10);
        table.write_element(2, 3);
        EXPECT_EQ(table.written_stamp(2, 0), 10u);
        EXPECT_EQ(table.written_since(2, 0, 10).count(), 1u);
        append_filled(table, kRows - table.num_rows(), Image(schema.struct_bytes()));
    }
}

TEST_F(TableState, loading_copies_all_blocks_where_rows_lie_elsewhere_than_the_present_state_says) {
    const Snapshot state = save(table);
    Table other(schema, pool);
    append_filled(other, kRows, Image(schema.struct_bytes(), std::byte(8)));
    const Snapshot present = save(table, &state, 9);  // of the first table
    load(other, state, &present);
    EXPECT_EQ(byte_of(other, 2), std::byte(5)) << "another table";
    Table small(schema, pool);
    append_filled(small, 1, Image(schema.struct_bytes(), std::byte(8)));
    Snapshot before = save(small);
    load(small, state, &before);
    for (std::uint32_t row = 0; row < kRows; ++row) ASSERT_EQ(byte_of(small, row), std::byte(5)) << row;
    expect_valid(small);
}

TEST_F(TableState, loading_copies_all_blocks_if_the_table_moves_to_make_room_for_them) {
    const Schema small = uniform_schema(FieldType::kUint8, 1);
    Table grown(small, pool), other(small, pool);
    append_filled(grown, kElementsPerSnapshotBlock, Image(1, std::byte(5)));
    const Snapshot before = save(grown);
    grown.set_stamp(9);
    append_filled(grown, 2 * kElementsPerSnapshotBlock, Image(1, std::byte(6)), kElementsPerSnapshotBlock + 1);
    const Snapshot after = save(grown, &before, 9);
    load(other, before, nullptr);
    const Snapshot present = save(other, &before, 0);
    ASSERT_EQ(present.num_own_bytes(), 0u) << "the first block is that of both states";
    const std::byte* const place = other.column(0);
    load(other, after, &present);
    ASSERT_NE(std::as_const(other).column(0), place) << "the table has moved, or the test shows nothing";
    for (std::uint32_t row = 0; row < other.num_rows(); ++row)
        ASSERT_EQ(image_of(other, row), image_of(grown, row)) << row;
    expect_valid(other);
}

TEST_F(TableState, a_state_of_the_same_bytes_shares_the_blocks_of_an_earlier_one_also_after_loading) {
    const Snapshot state = save(table);
    load(table, state, nullptr);  // its stamps tell nothing of that state from here on
    const Snapshot again = save(table, &state, 0);
    EXPECT_EQ(again.num_own_bytes(), 0u);
    *table.write_element(0, 1) = std::byte(6);
    const Snapshot changed = save(table, &state, 0);
    EXPECT_EQ(changed.num_own_bytes() / sizeof(float) / kElementsPerSnapshotBlock, 1u);
}

/// What a table has in its rows, as plain copies.
std::string plain_copy(const Table& table) {
    const auto bytes_of = [](const void* data, std::size_t num_bytes) {
        return std::string(static_cast<const char*>(data), num_bytes);
    };
    std::string copy = bytes_of(table.entities().data(), table.num_rows() * sizeof(Entity));
    for (std::uint32_t c = 0; c < table.schema().columns().size(); ++c)
        copy += bytes_of(table.column(c), std::size_t(table.num_rows()) * table.schema().columns()[c].element_bytes);
    return copy;
}

/// The same of a state.
std::string plain_copy(const Snapshot& state, const Schema& schema) {
    std::string copy;
    const auto add = [&](const std::string& path) {
        const SnapshotPart part = state.part(state.find(path));
        const std::size_t before = copy.size();
        copy.resize(before + static_cast<std::size_t>(part.num_bytes()));
        state.copy(part, 0, part.num_elements, copy.data() + before);
    };
    add("owner");
    for (std::uint32_t c = 0; c < schema.columns().size(); ++c) add(saved_column_name(schema, c));
    return copy;
}

TEST_F(TableState, states_that_share_with_any_earlier_one_have_what_plain_copies_have_and_bring_it_back) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    struct Kept {
        Snapshot state;
        std::uint64_t stamp;
        std::string copy;
    };
    std::vector<Kept> kept;
    const Image image(schema.struct_bytes(), std::byte(9));
    std::uint64_t num_shared_bytes = 0;
    for (std::int64_t i = scaled_operations(20'000); i > 0; --i) {
        const std::uint32_t row = random.below(table.num_rows()), c = random.below(3), dice = random.below(32);
        const RowRange rows{row, std::min(row + 1 + random.below(dice % 2 == 0 ? 20 : 2000), table.num_rows())};
        if (dice < 20) *table.write_element(c, row) = std::byte(random.below(256));
        if (dice == 20 || dice == 21)
            std::memset(table.write_column(c, rows) + rows.begin * sizeof(float), int(random.below(256)),
                        rows.size() * sizeof(float));
        if (dice == 22 && table.num_rows() < 2 * kRows) append_filled(table, random.below(300), image);
        if (dice == 23 && table.num_rows() > kRows / 2) table.remove(row);
        if (dice == 24) table.swap(row, random.below(table.num_rows()));
        if (dice == 25 && table.num_rows() > kRows) table.remove_rows(RowRange{table.num_rows() - 9, table.num_rows()});
        if (dice == 26) table.set_stamp(table.stamp() + (random.below(20) == 0 ? random.below(400) : 1));
        if (dice >= 27 && dice < 31) {
            const Kept* const before = kept.empty() ? nullptr : &kept[random.below(std::uint32_t(kept.size()))];
            Kept made{save(table, before == nullptr ? nullptr : &before->state, before == nullptr ? 0 : before->stamp),
                      table.stamp(), plain_copy(table)};
            num_shared_bytes += made.state.num_bytes() - made.state.num_own_bytes();
            ASSERT_EQ(plain_copy(made.state, schema) == made.copy, true) << "a state has other bytes than its table";
            if (kept.size() == 6) kept.erase(kept.begin() + random.below(6));
            kept.push_back(std::move(made));
        }
        if (dice == 31 && !kept.empty() && random.below(4) == 0) {
            const Kept& back = kept[random.below(std::uint32_t(kept.size()))];
            const Snapshot present = save(table, &back.state, back.stamp);
            load(table, back.state, random.below(4) == 0 ? nullptr : &present);
            ASSERT_EQ(plain_copy(table) == back.copy, true)
                << "a table has other bytes than the state it was loaded from";
        }
        if (!kept.empty() && i % 64 == 0) {
            const Kept& one = kept[random.below(std::uint32_t(kept.size()))];
            ASSERT_EQ(plain_copy(one.state, schema) == one.copy, true) << "a state has changed";
        }
    }
    expect_valid(table);
    EXPECT_GT(num_shared_bytes, 0u);
}

TEST_F(TableState, states_of_which_each_follows_the_one_before_take_no_more_memory_in_time) {
    Snapshot states[2] = {save(table), Snapshot()};
    std::uint32_t number = 0;
    const auto bytes_after = [&](std::uint32_t last) {
        for (; number < last; ++number) {
            table.set_stamp(table.stamp() + 1);
            for (std::uint32_t row = number * 37 % 100; row < kRows; row += 100)
                *table.write_element(number % 3, row) ^= std::byte(1);
            states[(number + 1) % 2] = save(table, &states[number % 2], table.stamp());
        }
        return bookkeeping_bytes();
    };
    const std::size_t usual = bytes_after(100);
    EXPECT_LT(bytes_after(1000), usual * 5 / 4);
}

struct Padded {
    std::uint64_t number = 0;
    std::uint8_t flag = 0;
};
SHOAL_COMPONENT((Padded, whole), number, flag)
struct PaddedByOne {
    std::uint16_t number = 0;
    std::uint8_t flag = 0;
};
SHOAL_COMPONENT((PaddedByOne, whole), number, flag)

TEST_F(TableState, bytes_of_a_component_that_belong_to_no_field_are_saved_as_zeros) {
    const auto expect_zeros = [this](const Schema& with_gap, std::size_t num_used) {
        const std::size_t size = with_gap.struct_bytes();
        Table padded(with_gap, pool);
        append_filled(padded, 3, Image(size, std::byte(5)));
        const Snapshot state = save(padded);
        const SnapshotPart part = state.part(state.find("field/number..."));
        ASSERT_EQ(part.num_bytes(), 3 * size);
        std::vector<std::byte> bytes(part.num_bytes());
        state.copy(part, 0, 3, bytes.data());
        for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], std::byte(i % size < num_used ? 5 : 0)) << i;
    };
    expect_zeros(schema_of<Padded>(), 9);
    expect_zeros(schema_of<PaddedByOne>(), 3);
}

TEST_F(TableState, a_table_has_no_rows_after_columns_that_do_not_fit) {
    const Schema bools = uniform_schema(FieldType::kBool, 3);
    Table other(bools, pool);
    append_filled(other, 5, Image(bools.struct_bytes(), std::byte(1)));
    const Snapshot state = save(table);
    SnapshotReader from(state);
    EXPECT_FALSE(other.load(from));
    EXPECT_EQ(other.num_rows(), 0u);
    append_filled(other, 2, Image(bools.struct_bytes(), std::byte(1)));
    EXPECT_EQ(other.num_rows(), 2u);
}

TEST_F(TableState, a_table_is_filled_to_its_capacity_by_loading_and_no_further) {
    for (const std::uint32_t capacity : {kRows, kRows - 1}) {
        Table other(schema, pool, {.capacity_rows = capacity});
        append_filled(other, 3, Image(schema.struct_bytes(), std::byte(4)));
        const Snapshot state = save(table);
        SnapshotReader from(state);
        const Status status = other.load(from);
        EXPECT_EQ(status.ok(), capacity == kRows) << status.message();
        EXPECT_EQ(other.num_rows(), capacity == kRows ? kRows : 3) << "a refusal leaves what there was";
    }
}

TEST_F(TableState, a_bool_that_is_none_is_found_in_any_row_of_any_block) {
    const Schema bools = uniform_schema(FieldType::kBool, 2);
    Table lamps(bools, pool);
    append_filled(lamps, kRows, Image(bools.struct_bytes(), std::byte(1)));
    for (const std::uint32_t row : {0u, kElementsPerSnapshotBlock - 1, kElementsPerSnapshotBlock, kRows - 1})
        for (const std::uint32_t column : {0u, 1u}) {
            for (const std::byte value : {std::byte(2), std::byte(0)}) {
                *lamps.write_element(column, row) = value;
                Snapshot state;
                SnapshotWriter to(state);
                to.check_values();
                lamps.save(to);
                EXPECT_EQ(to.status().ok(), value == std::byte(0)) << row << ' ' << column;
            }
        }
}

TEST_F(TableState, garbage_in_a_hole_hides_no_bool_that_is_none_after_it) {
    const Schema bools = uniform_schema(FieldType::kBool, 1);
    RowIndex index(RowIndexKind::kIdentity, &pool);
    Table lamps(bools, pool);
    lamps.attach_index(&index);
    ASSERT_TRUE(index.reserve(1, 9) && lamps.reserve(10));
    lamps.occupy(make_entity(9, 1));
    for (const std::uint32_t hole : {0u, 4u, 8u}) *lamps.write_element(0, hole) = std::byte(7);
    for (const std::byte value : {std::byte(2), std::byte(0)}) {
        *lamps.write_element(0, 9) = value;
        const Snapshot state = save(lamps);
        Snapshot checked;
        SnapshotWriter to(checked);
        to.check_values();
        lamps.save(to);
        EXPECT_EQ(to.status().ok(), value == std::byte(0));
        Table loaded(bools, pool);
        SnapshotReader from(state, false);
        EXPECT_EQ(loaded.load(from).ok(), value == std::byte(0));
    }
}

TEST(ValueCheck, numbers_that_an_enum_names_are_good_and_no_others_whatever_its_order_gaps_and_aliases) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(),
                           kMost = std::numeric_limits<std::int64_t>::max();
    const std::vector<std::vector<std::int64_t>> enums = {{0},          {0, 1, 2},      {7, 5, 6},  {-1, 0, 1},
                                                          {0, 0, 2},    {0, 2, 2, 3},   {4, -2, 4}, {254, 255},
                                                          {-1, 255, 3}, {kLeast, kMost}};
    for (const std::uint32_t num_bytes : {1u, 2u, 4u, 8u})
        for (const std::vector<std::int64_t>& numbers : enums) {
            if (numbers.back() == kMost && num_bytes != 8) continue;
            ComponentDefinition definition{.name = "mood", .fields = {make_field("kind", FieldType::kEnum)}};
            definition.fields[0].value_bytes = num_bytes;
            for (std::size_t i = 0; i < numbers.size(); ++i)
                definition.fields[0].enumerators.push_back({"name" + std::to_string(i), numbers[i]});
            const Schema mood = make_schema(definition);
            std::vector<std::int64_t> asked = {kLeast, kMost};
            for (std::int64_t number = -300; number <= 300; ++number) asked.push_back(number);
            for (const std::int64_t number : asked) {
                std::byte value[sizeof number];
                std::memcpy(value, &number, sizeof number);  // the lowest bytes come first
                const bool is_named = std::ranges::any_of(
                    numbers, [&](std::int64_t named) { return std::memcmp(&named, value, num_bytes) == 0; });
                EXPECT_EQ(!find_bad_value(mood.fields()[0], {value, num_bytes, 1}), is_named)
                    << number << " of " << num_bytes << " bytes, first number " << numbers[0];
            }
        }
}

/// A loop that does each range on a thread of its own, the last one first.
struct ThreadPerRange {
    static void run(void* context, std::size_t count, std::size_t at_once,
                    void (*some)(void* job, std::size_t begin, std::size_t end), void* job) {
        std::vector<std::jthread> threads;
        for (std::size_t end = count; end != 0; end -= std::min(at_once, end))
            threads.emplace_back([=] { some(job, end - std::min(at_once, end), end); });
        static_cast<ThreadPerRange*>(context)->num_ranges += threads.size();
    }
    SnapshotLoop loop() { return {&run, this}; }

    std::size_t num_ranges = 0;
};

/// Tables with columns that are large enough for a loop, one with bytes between its fields.
struct LargeTableState : TableState {
    LargeTableState() {
        append_filled(large, kMany, Image(schema.struct_bytes(), std::byte(5)));
        append_filled(padded, kMany, Image(sizeof(Padded), std::byte(5)));
    }
    Snapshot save_in_loop(Table& from, const Snapshot* before, std::uint64_t since) {
        Snapshot state;
        SnapshotWriter to(state, before, since);
        to.use_loop(threads.loop());
        from.save(to);
        return state;
    }
    void load_in_loop(Table& to, const Snapshot& state, const Snapshot* present) {
        SnapshotReader from(state, true, present);
        from.use_loop(threads.loop());
        const Status status = to.load(from);
        ASSERT_TRUE(status.ok()) << status.message();
    }
    /// Writes some rows here and there, and all rows of a block.
    static void scatter(Table& to, Random& random) {
        const auto column = static_cast<std::uint32_t>(to.schema().columns().size() - 1);
        const std::size_t bytes = to.schema().columns()[column].element_bytes;
        for (int i = 0; i < 300; ++i) *to.write_element(column, random.below(kMany)) = std::byte(random.below(256));
        const std::uint32_t first = random.below(kMany / kRowsPerStampBlock) * kRowsPerStampBlock;
        const RowRange block{first, first + kRowsPerStampBlock};
        std::memset(to.write_column(column, block) + first * bytes, int(random.below(2)), block.size() * bytes);
    }
    void expect_loop_makes_no_difference(Table& table);

    static constexpr std::uint32_t kMany = 40 * kRowsPerStampBlock + 3;
    Table large{schema, pool}, padded{schema_of<Padded>(), pool};
    ThreadPerRange threads;
};

void LargeTableState::expect_loop_makes_no_difference(Table& table) {
    Random random(seed());
    Snapshot before = save(table);
    const Snapshot first = save_in_loop(table, nullptr, 0);
    ASSERT_EQ(plain_copy(first, table.schema()) == plain_copy(before, table.schema()), true);
    for (int round = 0; round < 8; ++round) {
        const std::uint64_t since = table.stamp() + 1;
        table.set_stamp(since);
        scatter(table, random);
        Snapshot alone = save(table, &before, since), shared = save_in_loop(table, &before, since);
        ASSERT_EQ(plain_copy(shared, table.schema()) == plain_copy(alone, table.schema()), true) << round;
        ASSERT_EQ(shared.num_own_bytes(), alone.num_own_bytes()) << round;
        if (round % 4 == 1) {
            ASSERT_LT(shared.num_own_bytes(), shared.num_bytes() / 4) << "pieces were expected";
        }
        if (round % 4 == 3) {  // stamps tell nothing of states from before a load, so that the next one is compared
            load_in_loop(table, before, &shared);
            ASSERT_EQ(plain_copy(save(table), table.schema()) == plain_copy(before, table.schema()), true) << round;
            load_in_loop(table, shared, nullptr);
            ASSERT_EQ(plain_copy(save(table), table.schema()) == plain_copy(shared, table.schema()), true) << round;
        }
        before = std::move(shared);
    }
    EXPECT_GT(threads.num_ranges, 20u);
}

TEST_F(LargeTableState, is_the_same_whether_a_loop_compares_and_copies_the_blocks_or_not) {
    SCOPED_TRACE(seed_text());
    expect_loop_makes_no_difference(large);
}

TEST_F(LargeTableState, has_no_bytes_between_fields_when_a_loop_copies_the_blocks) {
    SCOPED_TRACE(seed_text());
    expect_loop_makes_no_difference(padded);
    const Snapshot state = save_in_loop(padded, nullptr, 0);
    const SnapshotPart part = state.part(state.find("field/number..."));
    std::vector<std::byte> bytes(part.num_bytes());
    state.copy(part, 0, part.num_elements, bytes.data());
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(Padded))
        ASSERT_EQ(
            std::count(bytes.begin() + std::ptrdiff_t(i) + 9, bytes.begin() + std::ptrdiff_t(i) + 16, std::byte(0)), 7)
            << i;
}

/// All parts of a state, with their bytes.
std::vector<std::pair<std::string, std::vector<std::byte>>> parts_of(const Snapshot& state) {
    std::vector<std::pair<std::string, std::vector<std::byte>>> parts;
    for (std::size_t i = 0; i < state.num_parts(); ++i) {
        const SnapshotPart part = state.part(i);
        std::vector<std::byte>& bytes = parts.emplace_back(part.path, part.num_bytes()).second;
        state.copy(part, 0, part.num_elements, bytes.data());
    }
    return parts;
}

TEST_F(LargeTableState, columns_of_several_tables_that_are_copied_in_one_loop_are_those_of_each_table_alone) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const auto save_both = [&](bool gathers, const Snapshot* before, std::uint64_t since) {
        Snapshot state;
        SnapshotWriter to(state, before, since);
        if (gathers) to.use_loop(threads.loop()), to.gather_columns();
        for (Table* table : {&padded, &large}) {
            const SnapshotPath::Scope scope = to.in(table == &large ? "large" : "padded");
            table->save(to);
        }
        if (gathers) to.finish_columns();
        return state;
    };
    Snapshot alone, gathered;
    for (std::uint64_t round = 0; round < 6; ++round) {
        const std::uint64_t since = large.stamp() + 1;
        for (Table* table : {&padded, &large}) table->set_stamp(since), scatter(*table, random);
        if (round == 3) load_in_loop(large, save(large), nullptr);  // so that its blocks are compared
        const bool is_first = round == 0;
        Snapshot alone_now = save_both(false, is_first ? nullptr : &alone, since);
        Snapshot gathered_now = save_both(true, is_first ? nullptr : &gathered, since);
        ASSERT_EQ(parts_of(gathered_now) == parts_of(alone_now), true) << round;
        ASSERT_EQ(gathered_now.num_own_bytes(), alone_now.num_own_bytes()) << round;
        alone = std::move(alone_now), gathered = std::move(gathered_now);
    }
}

}  // namespace
}  // namespace shoal
