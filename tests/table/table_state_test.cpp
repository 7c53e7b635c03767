// Tables that are written to saved states and read back.

#include "shoal/base/saved_state.h"

#include "shoal/table/describe.h"
#include "table/table_fixture.h"

namespace shoal {
namespace {

using namespace shoal_test;

constexpr std::uint32_t kRows = 3 * kRowsPerStampBlock + 7;

struct TableState : testing::Test {
    TableState() { append_filled(table, kRows, Image(schema.struct_bytes(), std::byte(5))); }

    SavedState save(Table& from, const SavedState* before = nullptr, std::uint64_t since = 0) {
        SavedState state;
        StateWriter to(state, before, since);
        from.save(to);
        EXPECT_TRUE(to.status().ok());
        return state;
    }
    void load(Table& to, const SavedState& state, const SavedState* present) {
        StateReader from(state, true, present);
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

TEST_F(TableState, loading_copies_only_the_blocks_that_have_been_written_since) {
    const SavedState state = save(table);
    table.set_stamp(9);
    *table.write_element(1, kRowsPerStampBlock) = std::byte(6);
    smear(table, kRowsPerStampBlock), smear(table, 2);
    const SavedState present = save(table, &state, 9);
    EXPECT_EQ(present.num_own_bytes() / sizeof(float) / kRowsPerStampBlock, 1u) << "one block, and stamps";
    load(table, state, &present);
    EXPECT_EQ(byte_of(table, kRowsPerStampBlock), std::byte(5));
    EXPECT_EQ(byte_of(table, 2), std::byte(77)) << "the block was copied, though both states share it";
    load(table, state, nullptr);
    EXPECT_EQ(byte_of(table, 2), std::byte(5));
}

TEST_F(TableState, loading_copies_all_blocks_where_rows_lie_elsewhere_than_the_present_state_says) {
    const SavedState state = save(table);
    Table other(schema, pool);
    append_filled(other, kRows, Image(schema.struct_bytes(), std::byte(8)));
    const SavedState present = save(table, &state, 9);  // of the first table
    load(other, state, &present);
    EXPECT_EQ(byte_of(other, 2), std::byte(5)) << "another table";
    Table small(schema, pool);
    append_filled(small, 1, Image(schema.struct_bytes(), std::byte(8)));
    SavedState before = save(small);
    load(small, state, &before);
    for (std::uint32_t row = 0; row < kRows; ++row) ASSERT_EQ(byte_of(small, row), std::byte(5)) << row;
    expect_valid(small);
}

TEST_F(TableState, a_state_of_the_same_bytes_shares_the_blocks_of_an_earlier_one_also_after_loading) {
    const SavedState state = save(table);
    load(table, state, nullptr);  // its stamps tell nothing of that state from here on
    const SavedState again = save(table, &state, 0);
    EXPECT_EQ(again.num_own_bytes(), 0u);
    *table.write_element(0, 1) = std::byte(6);
    const SavedState changed = save(table, &state, 0);
    EXPECT_EQ(changed.num_own_bytes() / sizeof(float) / kRowsPerStampBlock, 1u);
}

struct Padded {
    std::uint64_t number = 0;
    std::uint8_t flag = 0;
};
SHOAL_COMPONENT((Padded, whole), number, flag)

TEST_F(TableState, bytes_of_a_component_that_belong_to_no_field_are_saved_as_zeros) {
    Table padded(schema_of<Padded>(), pool);
    append_filled(padded, 3, Image(sizeof(Padded), std::byte(5)));
    const SavedState state = save(padded);
    const StatePart part = state.part(state.find("field/number..."));
    ASSERT_EQ(part.num_bytes(), 3 * sizeof(Padded));
    std::vector<std::byte> bytes(part.num_bytes());
    state.copy(part, 0, 3, bytes.data());
    for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], std::byte(i % sizeof(Padded) < 9 ? 5 : 0)) << i;
}

}  // namespace
}  // namespace shoal
