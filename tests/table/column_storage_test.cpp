// Where rows lie, without a table around: room, places, and elements that keep their bytes.

#include "shoal/table/detail/column_storage.h"

#include "shoal/table/describe.h"
#include "table/table_fixture.h"

#include <cstring>
#include <vector>

namespace shoal {
namespace {

using namespace shoal_test;

void expect_sound(const ColumnStorage& storage) {
    const Status status = storage.validate();
    ASSERT_TRUE(status.ok()) << status.message();
}

/// Writes bytes that only this row and column have, owner and links included.
void mark_row(ColumnStorage& storage, std::uint32_t row, std::uint32_t serial) {
    for (std::uint32_t c = 0; c < storage.schema().columns().size(); ++c)
        std::memset(storage.element(c, row), static_cast<int>(serial * 31 + c * 7) & 0xFF,
                    storage.schema().columns()[c].element_bytes);
    storage.owners()[row] = make_entity(1 + serial % 1'000'000, 1);
    storage.links(1)[row] = serial;
}

bool is_marked(const ColumnStorage& storage, std::uint32_t row, std::uint32_t serial) {
    for (std::uint32_t c = 0; c < storage.schema().columns().size(); ++c)
        for (std::uint32_t i = 0; i < storage.schema().columns()[c].element_bytes; ++i)
            if (storage.element(c, row)[i] != std::byte((serial * 31 + c * 7) & 0xFF)) return false;
    return storage.owners()[row] == make_entity(1 + serial % 1'000'000, 1) && storage.links(1)[row] == serial;
}

TEST(ColumnStorage, rows_keep_their_bytes_wherever_they_come_to_lie) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    PagePool pool;
    const Schema schema = mixed_schema(Layout::kSplit);
    ColumnStorage storage(schema, pool, 1u << 22, 2);
    std::vector<std::uint32_t> model;
    std::uint32_t next = 0;
    std::uint64_t placement = storage.placement();
    bool was_small = false;
    for (std::int64_t i = scaled_operations(3000); i > 0; --i) {
        const std::uint32_t choice = model.empty() ? 0 : random.below(10);
        if (choice < 4) {
            const std::uint32_t count = 1 + random.below(20);
            const std::byte* const before = storage.column(0);
            ASSERT_TRUE(storage.reserve(count));
            if (storage.placement() == placement) {
                ASSERT_EQ(storage.column(0), before);
            }
            placement = storage.placement();
            for (std::uint32_t row = storage.extend(count); row < storage.num_rows(); ++row) {
                mark_row(storage, row, next);
                model.push_back(next++);
            }
        } else if (choice < 7) {
            const auto last = static_cast<std::uint32_t>(model.size() - 1), row = random.below(last + 1);
            storage.move_row(last, row);
            storage.cut(last);
            model[row] = model[last];
            model.pop_back();
        } else if (choice < 9) {
            const std::uint32_t a = random.below(storage.num_rows()), b = random.below(storage.num_rows());
            storage.swap_rows(a, b);
            std::swap(model[a], model[b]);
        } else {
            if (random.below(20) == 0) {
                storage.cut(0);
                model.clear();
                storage.shrink();
            }
            storage.settle();
            placement = storage.placement();
        }
        was_small |= storage.in_slab() && !model.empty();
        if (i % 50 != 0) continue;
        expect_sound(storage);
        ASSERT_EQ(storage.num_rows(), model.size());
        for (std::uint32_t row = 0; row < model.size(); ++row) ASSERT_TRUE(is_marked(storage, row, model[row])) << row;
    }
    EXPECT_TRUE(was_small);
}

TEST(ColumnStorage, room_that_was_reserved_is_there_and_more_than_the_most_rows_is_a_status) {
    PagePool pool;
    const Schema schema = mixed_schema(Layout::kApart);
    ColumnStorage storage(schema, pool, 100, 0);
    ASSERT_TRUE(storage.reserve(60));
    EXPECT_TRUE(storage.has_room_for(60));
    storage.extend(60);
    const Status status = storage.reserve(41);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(std::string(status.message()).find("at most 100"), std::string::npos) << status.message();
    EXPECT_TRUE(storage.reserve(40));
    EXPECT_EQ(storage.num_rows(), 60u);
    expect_sound(storage);
}

TEST(ColumnStorage, an_order_takes_every_column_along) {
    PagePool pool;
    const Schema schema = mixed_schema(Layout::kWhole);
    ColumnStorage storage(schema, pool, 100, 2);
    ASSERT_TRUE(storage.reserve(5));
    storage.extend(5);
    for (std::uint32_t row = 0; row < 5; ++row) mark_row(storage, row, row);
    const std::uint32_t from[] = {3, 1, 2};
    std::vector<std::byte> copy(3 * storage.most_element_bytes());
    storage.permute({1, 4}, from, copy.data());
    for (std::uint32_t row = 0; row < 5; ++row)
        EXPECT_TRUE(is_marked(storage, row, row == 0 || row == 4 ? row : from[row - 1])) << row;
    storage.copy_rows(RowRange{3, 5}, RowRange{0, 2});
    EXPECT_TRUE(is_marked(storage, 0, 2));
    EXPECT_TRUE(is_marked(storage, 1, 4));
}

struct Told {
    static inline int num_ended = 0;
    int value = 0;
    bool is_moved_from = false;
    std::byte ballast[300] = {};

    Told() = default;
    Told(Told&& other) noexcept : value(other.value) { other.is_moved_from = true; }
    ~Told() { num_ended += !is_moved_from; }
};
struct Told2 {
    Told told;
};
SHOAL_COMPONENT(Told2, told)

TEST(ColumnStorage, opaque_elements_taken_out_of_a_row_end_with_the_object_that_holds_them) {
    PagePool pool;
    ColumnStorage storage(schema_of<Told2>(), pool, 100, 0);
    ASSERT_TRUE(storage.reserve(2));
    storage.extend(2);
    storage.construct_opaque({0, 2});
    reinterpret_cast<Told*>(storage.element(0, 1))->value = 5;
    Told::num_ended = 0;
    {
        ColumnStorage::OpaqueRow taken(storage, 0);
        storage.move_row(1, 0);
        storage.cut(1);
        EXPECT_EQ(Told::num_ended, 0);
        EXPECT_EQ(reinterpret_cast<Told*>(storage.element(0, 0))->value, 5);
    }
    EXPECT_EQ(Told::num_ended, 1);
    {
        ColumnStorage::OpaqueRow taken(storage, 0);
        taken.put(0);
    }
    EXPECT_EQ(Told::num_ended, 1) << "it was put back";
    EXPECT_EQ(reinterpret_cast<Told*>(storage.element(0, 0))->value, 5);
}

}  // namespace
}  // namespace shoal
