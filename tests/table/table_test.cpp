// Tables against a naive vector of rows: columns, index, promotion, capacity.

#include "table/table_fixture.h"

#include <cstring>
#include <deque>
#include <optional>
#include <vector>

namespace shoal {
namespace {

using namespace shoal_test;

/// A table and its model, under the same random operations.
class TwinTables {
public:
    TwinTables(const Schema& schema, const std::optional<RowIndexKind>& kind)
        : schema_(schema), index_(kind.value_or(RowIndexKind::kPaged)), table_(schema, pool_, {.capacity_rows = 3000}) {
        if (kind) table_.attach_index(&index_);
        for (std::uint32_t i = 1; i <= 4000; ++i) free_.push_back(make_entity(i, 1));
    }

    void operate(Random& random, std::uint32_t wanted) {
        const std::uint32_t choice = random.below(100);
        const std::uint32_t num_rows = table_.num_rows();
        if (num_rows == 0 || (num_rows < wanted ? choice < 45 : choice < 5))
            append(random, 1 + random.below(8));
        else if (choice < 65)
            remove(random.below(8) == 0 ? num_rows - 1 : random.below(num_rows));
        else if (choice < 80)
            swap(random.below(num_rows), random.below(num_rows));
        else if (choice < 98)
            write(random.below(num_rows), random);
        else if (choice < 99)
            table_.settle_memory();
        else if (random.below(20) == 0)
            clear();
        else
            table_.shrink();
    }

    void compare() {
        expect_valid(table_);
        expect_equal(table_, model_);
    }

    const Table& table() const { return table_; }

private:
    void append(Random& random, std::uint32_t count) {
        count = std::min(count, table_.capacity_rows() - table_.num_rows());
        if (count == 0) return;
        if (!table_.reserve(count)) FAIL() << "no room";
        std::vector<Entity> owners(count);
        for (Entity& owner : owners) {
            owner = free_.front();
            free_.pop_front();
        }
        std::uint32_t first = table_.num_rows();
        switch (random.below(3)) {
            case 0:
                first = table_.append(owners);
                break;
            case 1:
                for (const Entity owner : owners) table_.append_one(owner);
                break;
            default:
                std::copy(owners.begin(), owners.end(), table_.append_unowned(count).begin());
        }
        const RowRange rows{first, first + count};
        std::vector<Image> images;
        for (std::uint32_t i = 0; i < count; ++i) images.push_back(random_image(schema_, random));
        switch (random.below(3)) {
            case 0:
                for (Image& image : images) image = images[0];
                table_.fill(rows, images[0].data());
                break;
            case 1:
                scatter(rows, images);
                break;
            default:
                copy_columns(rows, images);
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            model_.push_back({owners[i], images[i]});
            if (table_.index() == nullptr) continue;
            ASSERT_TRUE(index_.reserve(1, owners[i].index()));
            index_.set(owners[i], first + i);
        }
    }

    void scatter(RowRange rows, const std::vector<Image>& images) {
        const std::size_t stride = schema_.struct_bytes() + 8;
        Image all(stride * images.size());
        for (std::size_t i = 0; i < images.size(); ++i)
            std::memcpy(all.data() + i * stride, images[i].data(), images[i].size());
        table_.scatter(rows, all.data(), stride);
    }

    void copy_columns(RowRange rows, const std::vector<Image>& images) {
        std::vector<Image> columns;
        std::vector<const std::byte*> pointers;
        for (const ColumnDefinition& column : schema_.columns()) {
            Image bytes;
            for (const Image& image : images)
                bytes.insert(bytes.end(), image.begin() + column.struct_offset,
                             image.begin() + column.struct_offset + column.element_bytes);
            columns.push_back(std::move(bytes));
        }
        for (const Image& column : columns) pointers.push_back(column.data());
        table_.copy_columns(rows, pointers);
    }

    /// The entity dies; its index comes back later in another generation.
    void release(Entity entity) {
        free_.push_back(make_entity(entity.index(), static_cast<Generation>(entity.generation() % 200 + 1)));
    }

    void remove(std::uint32_t row) {
        table_.remove(row);
        release(model_[row].owner);
        model_[row] = model_.back();
        model_.pop_back();
    }

    void swap(std::uint32_t a, std::uint32_t b) {
        table_.swap(a, b);
        std::swap(model_[a], model_[b]);
    }

    void write(std::uint32_t row, Random& random) {
        const std::uint32_t c = random.below(static_cast<std::uint32_t>(schema_.columns().size()));
        const ColumnDefinition& column = schema_.columns()[c];
        const Image image = random_image(schema_, random);
        std::byte* const target = random.below(2) == 0
                                      ? table_.write_element(c, row)
                                      : table_.write_column(c) + std::size_t(row) * column.element_bytes;
        std::memcpy(target, image.data() + column.struct_offset, column.element_bytes);
        std::memcpy(model_[row].image.data() + column.struct_offset, image.data() + column.struct_offset,
                    column.element_bytes);
    }

    void clear() {
        table_.clear();
        for (const ModelRow& row : model_) release(row.owner);
        model_.clear();
    }

    const Schema& schema_;
    PagePool pool_;
    RowIndex index_;
    Table table_;
    std::vector<ModelRow> model_;
    std::deque<Entity> free_;
};

void agree_under_random_use(Layout layout, std::optional<RowIndexKind> kind) {
    const LeakCheck leaks;
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const Schema schema = mixed_schema(layout);
    TwinTables twins(schema, kind);
    std::uint32_t wanted = 20;
    bool was_small = false, was_large = false;
    const std::int64_t num_operations = scaled_operations(60'000);
    for (std::int64_t i = 0; i < num_operations; ++i) {
        if (i % 1500 == 0) wanted = random.below(3) == 0 ? random.below(30) : random.below(900);
        twins.operate(random, wanted);
        if (testing::Test::HasFatalFailure()) return;
        was_small |= twins.table().in_slab();
        was_large |= twins.table().num_rows() > 0 && !twins.table().in_slab();
        if (i % 100 == 0 || i + 1 == num_operations) twins.compare();
        if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_TRUE(was_small && was_large) << "both kinds of place must be tested";
}

TEST(Table, agrees_with_a_vector_of_rows_when_fields_lie_apart) {  // req: A6
    agree_under_random_use(Layout::kApart, RowIndexKind::kPaged);
}
TEST(Table, agrees_with_a_vector_of_rows_when_fields_are_split) {  // req: A6
    agree_under_random_use(Layout::kSplit, RowIndexKind::kHash);
}
TEST(Table, agrees_with_a_vector_of_rows_when_components_are_whole) {  // req: A6
    agree_under_random_use(Layout::kWhole, RowIndexKind::kPaged);
}
TEST(Table, agrees_with_a_vector_of_rows_without_an_index) { agree_under_random_use(Layout::kApart, std::nullopt); }

TEST(Table, removing_moves_the_last_row_in_and_the_index_follows) {  // req: B17
    PagePool pool;
    const Schema schema = mixed_schema(Layout::kApart);
    Table table(schema, pool);
    RowIndex index(RowIndexKind::kPaged);
    table.attach_index(&index);
    append_filled(table, 3, Image(schema.struct_bytes()));
    ASSERT_TRUE(index.reserve(3, 3));
    for (std::uint32_t row = 0; row < 3; ++row) index.set(make_entity(row + 1, 1), row);
    table.remove(0);
    EXPECT_EQ(index.find(make_entity(1, 1)), kNilRow);
    EXPECT_EQ(index.find(make_entity(3, 1)), 0u);
    expect_valid(table);
    table.remove(1);
    EXPECT_EQ(index.find(make_entity(2, 1)), kNilRow) << "the victim was the last row";
    EXPECT_EQ(index.find(make_entity(3, 1)), 0u);
    expect_valid(table);
    table.remove(0);
    EXPECT_EQ(index.find(make_entity(3, 1)), kNilRow) << "the victim was the only row";
    EXPECT_EQ(table.num_rows(), 0u);
    expect_valid(table);
}

TEST(Table, moving_or_removing_a_dead_row_leaves_the_newer_entity_on_its_index) {
    for (const RowIndexKind kind : {RowIndexKind::kPaged, RowIndexKind::kHash}) {
        PagePool pool;
        const Schema schema = mixed_schema(Layout::kApart);
        Table table(schema, pool);
        RowIndex index(kind);
        table.attach_index(&index);
        const Entity other = make_entity(1, 1), newer = make_entity(7, 2), dead = make_entity(7, 1);
        ASSERT_TRUE(table.reserve(3));
        ASSERT_TRUE(index.reserve(3, 7));
        table.append(std::array{other, newer, dead});
        index.set(other, 0);
        index.set(newer, 1);  // which displaces `dead`
        table.swap(0, 2);
        EXPECT_EQ(index.find(newer), 1u);
        table.swap(0, 2);
        EXPECT_EQ(index.find(newer), 1u);
        expect_valid(table);
        table.remove(0);
        EXPECT_EQ(table.entities()[0], dead) << "it moved";
        EXPECT_EQ(index.find(newer), 1u);
        expect_valid(table);
        table.remove(0);
        EXPECT_EQ(index.find(newer), 0u);
        expect_valid(table);
    }
}

TEST(Table, rows_of_an_identity_index_are_entity_indices_and_may_be_holes) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    PagePool pool;
    const Schema schema = mixed_schema(Layout::kApart);
    Table table(schema, pool);
    RowIndex index(RowIndexKind::kIdentity);
    table.attach_index(&index);
    std::vector<ModelRow> model;  // by entity index; holes have no owner
    for (std::int64_t i = scaled_operations(20'000); i > 0; --i) {
        const std::uint32_t row = 1 + random.below(500);
        if (row < model.size() && model[row].owner) {
            table.remove(row);
            EXPECT_EQ(index.find(model[row].owner), kNilRow);
            model[row].owner = kNullEntity;
            while (!model.empty() && !model.back().owner) model.pop_back();
        } else if (random.below(3) != 0) {
            if (row >= model.size()) {
                const std::uint32_t first = table.num_rows(), count = row + 1 - first;
                ASSERT_TRUE(table.reserve(count));
                const std::span<const std::byte> image = schema.default_image();
                model.resize(row + 1, {kNullEntity, Image(image.begin(), image.end())});
            }
            const Entity owner = make_entity(row, static_cast<Generation>(1 + random.below(200)));
            ASSERT_TRUE(index.reserve(1, row));
            table.occupy(owner);
            model[row] = {owner, random_image(schema, random)};
            table.fill({row, row + 1}, model[row].image.data());
            EXPECT_EQ(index.find(owner), row);
        }
        if (i % 100 != 0) continue;
        expect_valid(table);
        expect_equal(table, model);
        if (HasFatalFailure()) return;
    }
}

TEST(Table, a_cleared_table_has_no_holes) {
    PagePool pool;
    const Schema schema = mixed_schema(Layout::kApart);
    Table table(schema, pool);
    RowIndex index(RowIndexKind::kIdentity);
    table.attach_index(&index);
    ASSERT_TRUE(table.reserve(100) && index.reserve(2, 50));
    table.occupy(make_entity(50, 1));
    EXPECT_EQ(table.num_holes(), 50u);
    table.clear();
    EXPECT_EQ(table.num_rows(), 0u);
    EXPECT_EQ(table.num_holes(), 0u);
    table.occupy(make_entity(3, 1));
    EXPECT_EQ(table.num_holes(), 3u);
    expect_valid(table);
}

TEST(Table, validate_finds_a_wrong_index) {
    PagePool pool;
    const Schema schema = mixed_schema(Layout::kApart);
    Table table(schema, pool);
    RowIndex index(RowIndexKind::kPaged);
    table.attach_index(&index);
    append_filled(table, 2, Image(schema.struct_bytes()));
    EXPECT_FALSE(table.validate()) << "the index was not told";
    ASSERT_TRUE(index.reserve(2, 2));
    index.set(make_entity(1, 1), 0);
    index.set(make_entity(2, 1), 1);
    expect_valid(table);
    index.set(make_entity(2, 1), 0);
    EXPECT_NE(table.validate().message().find("the index says row 0"), std::string_view::npos)
        << table.validate().message();
    index.set(make_entity(2, 1), 1);
    expect_valid(table);
    index.set(make_entity(1, 1), 1);
    EXPECT_NE(table.validate().message().find("row 0: the index says row 1"), std::string_view::npos)
        << table.validate().message();
}

TEST(Table, after_promotion_growing_moves_no_address) {  // req: E8
    PagePool pool;
    const Schema schema = mixed_schema(Layout::kSplit);
    Table table(schema, pool, {.capacity_rows = 200'000});
    Random random(seed());
    const Image image = random_image(schema, random);
    append_filled(table, 10, image);
    EXPECT_TRUE(table.in_slab());
    EXPECT_EQ(table.num_promotions(), 0u);
    while (table.in_slab()) append_filled(table, 5, image);
    EXPECT_EQ(table.num_promotions(), 1u);
    EXPECT_LE(table.num_rows() * (schema.row_bytes() + sizeof(Entity)), 80u << 10) << "promoted at 64 KiB of rows";
    std::vector<const std::byte*> before;
    for (std::uint32_t c = 0; c < schema.columns().size(); ++c) before.push_back(table.column(c));
    const Entity* const entities = table.entities().data();
    append_filled(table, 20'000, image);
    append_singly(table, 1000, image);
    for (std::uint32_t c = 0; c < schema.columns().size(); ++c) EXPECT_EQ(table.column(c), before[c]);
    EXPECT_EQ(table.entities().data(), entities);
    EXPECT_EQ(table.num_promotions(), 1u);
    while (table.num_rows() > 10) table.remove(table.num_rows() - 1);
    append_filled(table, 100, image);
    EXPECT_EQ(table.column(0), before[0]);
    EXPECT_EQ(table.num_promotions(), 1u) << "once is once";
    EXPECT_EQ(image_of(table, 50), image);
}

TEST(Table, a_component_without_fields_has_entities_only) {
    PagePool pool;
    ComponentDefinition definition;
    definition.name = "marker";
    const Schema schema = make_schema(definition);
    Table table(schema, pool);
    append_filled(table, 50'000, Image());
    EXPECT_EQ(table.entities()[49'999], make_entity(50'000, 1));
    table.swap(0, 49'999);
    table.remove(1);
    EXPECT_EQ(table.entities()[1], make_entity(1, 1));
    expect_valid(table);
}

TEST(Table, a_capacity_that_is_reached_is_a_status_that_changes_nothing) {
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kFloat, 2);
    for (const std::uint32_t capacity : {1u, 10u, 5000u, 20'000u}) {
        Table table(schema, pool, {.capacity_rows = capacity});
        append_filled(table, capacity, Image(schema.struct_bytes(), std::byte(3)));
        const MemoryUse before = table.memory_use();
        const Status status = table.reserve(1);
        ASSERT_FALSE(status);
        EXPECT_NE(status.message().find("at most " + std::to_string(capacity)), std::string_view::npos)
            << status.message();
        EXPECT_FALSE(table.reserve(0xFFFFFFFF));
        EXPECT_EQ(table.num_rows(), capacity);
        EXPECT_FALSE(table.has_room());
        EXPECT_EQ(table.memory_use().committed_bytes, before.committed_bytes);
        EXPECT_EQ(image_of(table, capacity - 1), Image(schema.struct_bytes(), std::byte(3)));
        expect_valid(table);
        table.remove(0);
        EXPECT_TRUE(table.reserve(1)) << "removing makes room";
    }
}

TEST(Table, empty_calls_change_nothing) {
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kFloat, 2);
    Table table(schema, pool);
    EXPECT_TRUE(table.reserve(0));
    EXPECT_EQ(table.append({}), 0u);
    table.fill({0, 0}, nullptr);
    table.scatter({0, 0}, nullptr, 8);
    const std::byte* const none[2] = {};
    table.copy_columns({0, 0}, none);
    table.mark_written(0, {0, 0});
    table.write_column(0);
    table.clear();
    table.shrink();
    table.settle_memory();
    expect_valid(table);
    EXPECT_EQ(table.memory_use().reserved_bytes, 0u);
}

}  // namespace
}  // namespace shoal
