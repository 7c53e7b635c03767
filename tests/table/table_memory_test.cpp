// What tables cost: slabs, ranges, pages that come and go, and whether the report is honest (the system is asked).

#include "table/table_fixture.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace shoal {
namespace {

using namespace shoal_test;

constexpr std::size_t kLargeColumnBytes = std::size_t(16) << 20;

/// Bytes of a table's range that are backed by memory. Requires: not in a slab.
std::size_t resident_bytes(const Table& table) {
    const std::byte* first = reinterpret_cast<const std::byte*>(table.entities().data());
    if (!table.schema().columns().empty()) first = table.column(0);
    const auto address = reinterpret_cast<std::uintptr_t>(first) / kLargePageBytes * kLargePageBytes;
    std::vector<unsigned char> present(table.memory_use().reserved_bytes / kPageBytes);
    EXPECT_EQ(::mincore(reinterpret_cast<void*>(address), table.memory_use().reserved_bytes, present.data()), 0);
    std::size_t count = 0;
    for (const unsigned char page : present) count += page & 1;
    return count * kPageBytes;
}

/// What may be committed beyond the rows: 5 %, and a page per column.
std::size_t allowed_bytes(const Table& table) {
    std::size_t used = 0, pages = 0;
    const auto add = [&](std::size_t element_bytes) {
        const std::size_t bytes = element_bytes * table.num_rows();
        used += bytes;
        pages += bytes > kLargeColumnBytes ? kLargePageBytes : kPageBytes;
    };
    for (const ColumnDefinition& column : table.schema().columns()) add(column.element_bytes);
    add(sizeof(Entity));
    return used + used / 20 + pages;
}

void expect_thrifty(const Table& table) {
    const MemoryUse use = table.memory_use();
    EXPECT_LE(use.used_bytes, use.committed_bytes);
    EXPECT_LE(use.committed_bytes, use.reserved_bytes);
    EXPECT_LE(use.committed_bytes, allowed_bytes(table)) << table.num_rows() << " rows";
    if (table.num_rows() == 0 || table.in_slab()) return;
    const std::size_t resident = resident_bytes(table);
    EXPECT_LE(resident, use.committed_bytes) << table.num_rows() << " rows: more is committed than reported";
    EXPECT_GE(resident, use.used_bytes) << table.num_rows() << " rows";
}

std::vector<Schema> shapes() {
    std::vector<Schema> result;
    result.push_back(uniform_schema(FieldType::kFloat, 1));
    result.push_back(uniform_schema(FieldType::kVec3, 4));
    result.push_back(uniform_schema(FieldType::kUint8, 64));
    result.push_back(uniform_schema(FieldType::kFloat, 13));
    result.push_back(uniform_schema(FieldType::kMatrix3x4, 3));
    result.push_back(uniform_schema(FieldType::kFloat, 2, 700));
    result.push_back(mixed_schema(Layout::kSplit));
    result.push_back(mixed_schema(Layout::kWhole));
    return result;
}

TEST(TableMemory, wastes_no_more_than_5_percent_and_a_page_per_column_when_filled_at_once) {
    for (const Schema& schema : shapes()) {
        SCOPED_TRACE(schema.to_text());
        const Image image(schema.struct_bytes(), std::byte(1));
        for (std::size_t rows : {1u, 8u, 100u, 1000u, 1500u, 1700u, 4097u, 20'000u, 60'000u, 200'000u, 1'600'000u}) {
            if (rows * schema.row_bytes() > (std::size_t(250) << 20)) continue;
            PagePool pool;
            Table table(schema, pool);
            append_filled(table, static_cast<std::uint32_t>(rows), image);
            expect_thrifty(table);
        }
    }
}

TEST(TableMemory, wastes_no_more_than_5_percent_and_a_page_per_column_while_it_grows) {
    for (const Schema& schema : shapes()) {
        SCOPED_TRACE(schema.to_text());
        const Image image(schema.struct_bytes(), std::byte(1));
        PagePool pool;
        Table table(schema, pool);
        const std::size_t most =
            std::min((std::size_t(scaled_operations(kThreadSanitized ? 20 : 60)) << 20) / (schema.row_bytes() + 4),
                     std::size_t(kDefaultCapacityRows));
        for (std::size_t rows = 1; rows < most; rows += rows / 7 + 1) {
            append_singly(table, static_cast<std::uint32_t>(rows) - table.num_rows(), image);
            if (HasFatalFailure()) return;
            expect_thrifty(table);
        }
    }
}

TEST(TableMemory, eight_rows_of_eight_columns_cost_at_most_a_page_of_slab) {
    for (const FieldType type :
         {FieldType::kUint8, FieldType::kFloat, FieldType::kVec3, FieldType::kVec4, FieldType::kMatrix3x4}) {
        const Schema schema = uniform_schema(type, 8);
        const Image image(schema.struct_bytes(), std::byte(1));
        for (const bool at_once : {true, false}) {
            PagePool pool;
            Table table(schema, pool);
            if (at_once)
                append_filled(table, 8, image);
            else
                append_singly(table, 8, image);
            EXPECT_TRUE(table.in_slab());
            EXPECT_LE(table.memory_use().committed_bytes, kPageBytes) << field_type_name(type);
            EXPECT_LE(pool.statistics().slab_used_bytes, kPageBytes) << "what it held before has been given back";
        }
    }
}

/// The bytes of a column's rows, owners and links included.
struct ColumnBytes {
    std::uintptr_t begin, end;
};

std::vector<ColumnBytes> columns_of(const Table& table) {
    std::vector<ColumnBytes> result;
    const auto add = [&](const void* data, std::size_t element_bytes) {
        const auto begin = reinterpret_cast<std::uintptr_t>(data);
        result.push_back({begin, begin + element_bytes * table.num_rows()});
    };
    for (std::uint32_t c = 0; c < table.schema().columns().size(); ++c)
        add(table.column(c), table.schema().columns()[c].element_bytes);
    add(table.entities().data(), sizeof(Entity));
    for (const LinkColumn link : {LinkColumn::kChainNext, LinkColumn::kTreeParent, LinkColumn::kTreeFirstChild,
                                  LinkColumn::kTreeNext, LinkColumn::kTreePrevious})
        add(table.links(link).data(), sizeof(std::uint32_t));
    return result;
}

TEST(TableMemory, every_column_starts_on_a_cache_line) {  // req: B5-B8 F13
    for (const Schema& schema : shapes())
        for (const std::uint32_t rows : {1u, 7u, 65u, 5000u}) {
            PagePool pool;
            Table table(schema, pool, {.chain = true, .tree = true});
            append_filled(table, rows, Image(schema.struct_bytes()));
            for (const ColumnBytes& column : columns_of(table)) EXPECT_EQ(column.begin % kCacheLineBytes, 0u);
        }
}

TEST(TableMemory, the_columns_of_a_table_divide_one_range_and_lie_apart) {  // req: B5-B8
    for (const Schema& schema : shapes())
        for (const std::uint32_t rows : {1u, 65u, 5000u, 40'000u}) {
            PagePool pool;
            Table table(schema, pool, {.chain = true, .tree = true});
            append_filled(table, rows, Image(schema.struct_bytes()));
            std::vector<ColumnBytes> columns = columns_of(table);
            std::sort(columns.begin(), columns.end(),
                      [](const ColumnBytes& a, const ColumnBytes& b) { return a.begin < b.begin; });
            for (std::size_t i = 0; i < columns.size(); ++i) {
                EXPECT_TRUE(table.contains(reinterpret_cast<const void*>(columns[i].begin)));
                EXPECT_TRUE(table.contains(reinterpret_cast<const void*>(columns[i].end - 1)));
                EXPECT_TRUE(i == 0 || columns[i - 1].end <= columns[i].begin) << "two columns overlap";
            }
            const std::uintptr_t all = columns.back().end - columns.front().begin;
            EXPECT_LE(all, table.memory_use().reserved_bytes) << "they lie in more than the table has reserved";
        }
}

TEST(TableMemory, large_tables_spread_their_columns_over_cache_sets) {
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kFloat, 8);
    Table table(schema, pool);
    append_filled(table, 100'000, Image(schema.struct_bytes()));
    for (std::uint32_t a = 0; a < 8; ++a)
        for (std::uint32_t b = 0; b < a; ++b)
            EXPECT_NE(reinterpret_cast<std::uintptr_t>(table.column(a)) % (16 * kPageBytes),
                      reinterpret_cast<std::uintptr_t>(table.column(b)) % (16 * kPageBytes));
}

TEST(TableMemory, a_vector_loop_may_write_up_to_the_next_64_bytes) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (const Layout layout : {Layout::kApart, Layout::kSplit, Layout::kWhole}) {
        const Schema schema = mixed_schema(layout);
        for (std::uint32_t rows : {1u, 3u, 9u, 17u, 100u, 139u, 1000u}) {
            PagePool pool;
            Table before(schema, pool), table(schema, pool), after(schema, pool);
            std::vector<ModelRow> model;
            for (Table* one : {&before, &table, &after})
                for (std::uint32_t row = 0; row < rows; ++row) {
                    const Image image = random_image(schema, random);
                    append_filled(*one, 1, image, row + 1);
                    model.push_back({make_entity(row + 1, 1), image});
                }
            for (std::uint32_t c = 0; c < schema.columns().size(); ++c) {
                const std::size_t end = std::size_t(rows) * schema.columns()[c].element_bytes;
                std::memset(table.write_column(c) + end, 0xFF, round_up(end, kCacheLineBytes) - end);
            }
            for (int i = 0; i < 3; ++i)
                expect_equal(i == 0   ? before
                             : i == 1 ? table
                                      : after,
                             {model.begin() + i * rows, model.begin() + (i + 1) * rows});
        }
    }
}

TEST(TableMemory, goes_back_after_a_burst) {  // req: B9
    const Schema schema = uniform_schema(FieldType::kVec3, 4);
    const Image image(schema.struct_bytes(), std::byte(9));
    PagePool pool;
    Table table(schema, pool);
    for (int burst = 0; burst < 2; ++burst) {
        append_filled(table, 700'000, image);
        expect_thrifty(table);
        while (table.num_rows() > 1000) table.remove(table.num_rows() - 1);
        const std::size_t held = table.memory_use().committed_bytes;
        EXPECT_GT(held, std::size_t(30) << 20);
        table.settle_memory();
        EXPECT_EQ(table.memory_use().committed_bytes, held) << "one quiet frame is no reason to give pages back";
        for (int frame = 0; frame < 10 && table.memory_use().committed_bytes == held; ++frame) table.settle_memory();
        expect_thrifty(table);
        EXPECT_LT(resident_bytes(table), 100u << 10);
        for (std::uint32_t row = 0; row < 1000; ++row) ASSERT_EQ(image_of(table, row), image);
        expect_valid(table);
        append_singly(table, 250'000, image);
        expect_thrifty(table);
        EXPECT_EQ(image_of(table, table.num_rows() - 1), image);
        table.clear();
    }
}

TEST(TableMemory, small_tables_shrink_too) {
    const Schema schema = uniform_schema(FieldType::kFloat, 4);
    const Image image(schema.struct_bytes(), std::byte(2));
    PagePool pool;
    Table table(schema, pool);
    append_filled(table, 2000, image);
    ASSERT_TRUE(table.in_slab());
    while (table.num_rows() > 10) table.remove(0);
    for (int frame = 0; frame < 10; ++frame) table.settle_memory();
    EXPECT_LE(table.memory_use().committed_bytes, 1024u);
    EXPECT_EQ(pool.statistics().slab_used_bytes, table.memory_use().committed_bytes);
    EXPECT_EQ(image_of(table, 9), image);
    expect_valid(table);
    EXPECT_EQ(table.num_promotions(), 0u);
}

TEST(TableMemory, an_empty_table_holds_nothing_after_shrink) {
    const Schema schema = uniform_schema(FieldType::kFloat, 4);
    for (const std::uint32_t rows : {1u, 1000u, 100'000u}) {
        PagePool pool;
        Table table(schema, pool);
        append_filled(table, rows, Image(schema.struct_bytes()));
        table.clear();
        table.shrink();
        EXPECT_EQ(table.memory_use().committed_bytes, 0u);
        EXPECT_EQ(table.memory_use().reserved_bytes, 0u);
        EXPECT_EQ(pool.statistics().slab_used_bytes, 0u);
        pool.trim();
        pool.trim();
        EXPECT_EQ(pool.statistics().kept_bytes, 0u);
        EXPECT_EQ(pool.statistics().num_kept_ranges, 0u);
        append_filled(table, rows, Image(schema.struct_bytes(), std::byte(1)));
        EXPECT_EQ(image_of(table, rows - 1), Image(schema.struct_bytes(), std::byte(1)));
        expect_valid(table);
    }
}

TEST(TableMemory, an_empty_table_is_given_up_when_it_stays_empty) {
    const Schema schema = uniform_schema(FieldType::kFloat, 4);
    for (const std::uint32_t rows : {1u, 100'000u}) {
        PagePool pool;
        Table table(schema, pool);
        append_filled(table, rows, Image(schema.struct_bytes()));
        table.clear();
        table.settle_memory();
        EXPECT_GT(table.memory_use().committed_bytes, 0u);
        for (int frame = 0; frame < 10; ++frame) table.settle_memory();
        EXPECT_EQ(table.memory_use().committed_bytes, 0u);
    }
}

TEST(TableMemory, rows_made_ready_and_never_added_do_not_stay_committed) {
    const Schema schema = uniform_schema(FieldType::kVec4, 2);
    const Image image(schema.struct_bytes(), std::byte(1));
    PagePool pool;
    Table table(schema, pool);
    ASSERT_TRUE(table.reserve(500'000));
    append_filled(table, 10, image);
    EXPECT_LE(resident_bytes(table), table.memory_use().committed_bytes);
    for (int frame = 0; frame < 10; ++frame) table.settle_memory();
    expect_thrifty(table);
    EXPECT_EQ(image_of(table, 9), image);
}

TEST(TableMemory, the_next_table_does_not_inherit_pages_that_nobody_counts) {
    const Schema schema = uniform_schema(FieldType::kVec4, 2);
    const Image image(schema.struct_bytes(), std::byte(1));
    PagePool pool;
    {
        Table table(schema, pool);
        ASSERT_TRUE(table.reserve(500'000));
        append_filled(table, 10, image);
    }
    Table next(schema, pool);
    append_filled(next, 5000, image);
    EXPECT_EQ(pool.statistics().num_kept_ranges, 0u) << "it got the same range";
    expect_thrifty(next);
}

TEST(TableMemory, a_range_is_reused_by_a_table_of_the_same_shape) {
    const Schema schema = uniform_schema(FieldType::kVec3, 4);
    const Schema other = uniform_schema(FieldType::kVec4, 4);
    const Image image(schema.struct_bytes(), std::byte(9));
    PagePool pool;
    const std::byte* place = nullptr;
    {
        Table table(schema, pool);
        append_filled(table, 400'000, image);
        place = table.column(0);
    }
    EXPECT_EQ(pool.statistics().num_kept_ranges, 1u);
    EXPECT_GT(pool.statistics().kept_bytes, 400'000u * 52);
    Table different(other, pool);
    append_filled(different, 10'000, Image(other.struct_bytes()));
    EXPECT_NE(different.column(0), place);
    EXPECT_EQ(pool.statistics().num_kept_ranges, 1u);
    Table table(schema, pool);
    append_filled(table, 2000, image);
    EXPECT_EQ(table.column(0), place);
    EXPECT_EQ(pool.statistics().num_kept_ranges, 0u);
    EXPECT_GT(table.memory_use().committed_bytes, 400'000u * 52) << "the pages came with it, and it says so";
    EXPECT_LE(resident_bytes(table), table.memory_use().committed_bytes);
    for (int frame = 0; frame < 10; ++frame) table.settle_memory();
    expect_thrifty(table);
    EXPECT_EQ(image_of(table, 1999), image);
    expect_valid(table);
}

// --- under a limit on address space --------------------------------------------------------------------------------

std::size_t address_space_bytes() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * kPageBytes;
}

/// Ends the process with 0 when a table under a limit of `more_bytes` further bytes holds at least `least_rows` rows
/// before it fails with a status, and all of them are right then.
[[noreturn]] void fill_under_limit(std::size_t more_bytes, std::uint32_t least_rows) {
    const Schema schema = uniform_schema(FieldType::kUint32, 4);
    PagePool pool;
    Table table(schema, pool);
    const rlim_t limit = address_space_bytes() + more_bytes;
    const rlimit limits{limit, limit};
    if (::setrlimit(RLIMIT_AS, &limits) != 0) ::_exit(2);
    std::uint32_t values[4] = {};
    for (;;) {
        if (!table.has_room()) {
            const Status status = table.reserve(1);
            if (!status && status.message().find("cannot") == std::string_view::npos) ::_exit(3);
            if (!status) break;
        }
        const std::uint32_t row = table.append_one(make_entity(table.num_rows() + 1, 1));
        for (std::uint32_t& value : values) value = row * 4 + static_cast<std::uint32_t>(&value - values);
        table.fill({row, row + 1}, reinterpret_cast<const std::byte*>(values));
    }
    if (table.num_rows() < least_rows) ::_exit(4);
    if (!table.validate()) ::_exit(5);
    for (std::uint32_t row = 0; row < table.num_rows(); ++row) {
        if (table.entities()[row] != make_entity(row + 1, 1)) ::_exit(6);
        for (std::uint32_t c = 0; c < 4; ++c)
            if (reinterpret_cast<const std::uint32_t*>(table.column(c))[row] != row * 4 + c) ::_exit(7);
    }
    table.remove(0);
    append_filled(table, 1, Image(schema.struct_bytes()));
    ::_exit(table.validate() ? 0 : 8);
}

TEST(TableMemory, tables_filled_at_once_share_large_pages_until_they_outgrow_them) {
    const Schema schema = uniform_schema(FieldType::kVec3, 4);
    const Image image(schema.struct_bytes(), std::byte(9));
    PagePool pool;
    Table table(schema, pool), next(schema, pool);
    append_filled(table, 20'000, image);
    append_filled(next, 15'000, image);
    EXPECT_TRUE(table.in_slab());
    EXPECT_EQ(pool.statistics().slab_committed_bytes, kLargePageBytes) << "1.8 MB of rows";
    expect_thrifty(table);
    expect_valid(table);
    const std::byte* const place = table.column(0);
    append_filled(table, 300, image);
    EXPECT_EQ(table.column(0), place) << "there is a little room";
    append_filled(table, 1000, image);
    EXPECT_FALSE(table.in_slab());
    EXPECT_EQ(table.num_promotions(), 1u);
    for (const std::uint32_t row : {0u, 19'999u, 20'299u, 21'299u}) EXPECT_EQ(image_of(table, row), image);
    expect_thrifty(table);
    expect_valid(table);
    while (next.num_rows() > 7000) next.remove(next.num_rows() - 1);
    next.shrink();
    EXPECT_TRUE(next.in_slab());
    EXPECT_EQ(image_of(next, 6999), image);
    expect_thrifty(next);
    expect_valid(next);
    next.clear();
    next.shrink();
    EXPECT_EQ(pool.statistics().slab_used_bytes, 0u);
}

TEST(TableMemoryDeathTest, a_reservation_is_halved_down_to_what_is_needed_and_then_a_status) {
    // The full reservation of 4 columns, entities and all, takes 84 MB: a table of 2^21 rows needs half of it.
    EXPECT_EXIT(fill_under_limit(std::size_t(60) << 20, 1u << 20), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(fill_under_limit(std::size_t(20) << 20, 10'000), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(fill_under_limit(std::size_t(6) << 20, 1000), testing::ExitedWithCode(0), "") << "it stays small";
}

TEST(TableMemoryDeathTest, a_table_that_finds_no_memory_at_all_is_a_status) {
    const auto try_all = [] {
        const Schema schema = uniform_schema(FieldType::kUint32, 4);
        PagePool pool;
        Table table(schema, pool);
        const rlim_t limit = address_space_bytes();
        const rlimit limits{limit, limit};
        if (::setrlimit(RLIMIT_AS, &limits) != 0) ::_exit(2);
        for (const std::uint32_t rows : {1u, 5000u, 1u << 22})
            if (table.reserve(rows) || table.num_rows() != 0 || table.has_room()) ::_exit(3);
        ::_exit(table.validate() ? 0 : 4);
    };
    EXPECT_EXIT(try_all(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace shoal
