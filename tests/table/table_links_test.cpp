// Chains (several rows per entity) and trees, kept right by every move.

#include "table/table_fixture.h"

#include <cstring>
#include <list>
#include <map>
#include <utility>
#include <vector>

namespace shoal {
namespace {

using namespace shoal_test;

Schema serial_schema() {
    ComponentDefinition definition;
    definition.name = "linked";
    definition.fields = {shoal_test::make_field("serial", FieldType::kUint32),
                         shoal_test::make_field("ballast", FieldType::kMatrix3x4)};
    return make_schema(definition);
}

std::uint32_t serial_at(const Table& table, std::uint32_t row) {
    std::uint32_t serial;
    std::memcpy(&serial, table.column(0) + std::size_t(row) * 4, 4);
    return serial;
}

std::uint32_t append_serial(Table& table, Entity owner, std::uint32_t serial) {
    EXPECT_TRUE(table.reserve(1));
    const std::uint32_t row = table.append({&owner, 1});
    std::memcpy(table.write_element(0, row), &serial, 4);
    return row;
}

// --- chains ------------------------------------------------------------------------------------------------------

class ChainTwins {
public:
    ChainTwins(const Schema& schema, RowIndexKind kind) : index_(kind), table_(schema, pool_, {.chain = true}) {
        table_.attach_index(&index_);
    }

    void operate(Random& random, std::uint32_t wanted) {
        const std::uint32_t num_rows = table_.num_rows();
        const std::uint32_t choice = num_rows == 0 ? 0 : random.below(100);
        if (choice < (num_rows < wanted ? 50u : 20u)) {
            for (std::uint32_t i = num_rows + 100 < wanted ? 10 : 1; i > 0; --i)
                push(make_entity(1 + random.below(40), 1));
        } else if (choice < 75)
            remove(random.below(num_rows));
        else if (choice < 98)
            swap(random.below(num_rows), random.below(num_rows));
        else if (choice < 99)
            table_.shrink();
        else if (random.below(30) == 0)
            clear();
    }

    void compare() {
        expect_valid(table_);
        ASSERT_EQ(table_.num_rows(), rows_.size());
        for (std::uint32_t row = 0; row < rows_.size(); ++row) ASSERT_EQ(serial_at(table_, row), rows_[row]);
        for (std::uint32_t i = 1; i <= 40; ++i) {
            const Entity entity = make_entity(i, 1);
            std::list<std::uint32_t> found;
            for (std::uint32_t row = index_.find(entity); row != kNilRow;
                 row = table_.links(LinkColumn::kChainNext)[row])
                found.push_back(serial_at(table_, row));
            ASSERT_EQ(found, chains_[i]) << "entity index " << i;
        }
    }
    bool is_large() const { return table_.num_promotions() > 0; }

private:
    void push(Entity owner) {
        const std::uint32_t serial = next_serial_++;
        const std::uint32_t row = append_serial(table_, owner, serial);
        ASSERT_TRUE(index_.reserve(1, owner.index()));
        table_.push_chain(row);
        rows_.push_back(serial);
        owners_[serial] = owner.index();
        chains_[owner.index()].push_front(serial);
    }
    void remove(std::uint32_t row) {
        table_.remove(row);
        chains_[owners_[rows_[row]]].remove(rows_[row]);
        rows_[row] = rows_.back();
        rows_.pop_back();
    }
    void swap(std::uint32_t a, std::uint32_t b) {
        table_.swap(a, b);
        std::swap(rows_[a], rows_[b]);
    }
    void clear() {
        table_.clear();
        rows_.clear();
        chains_.clear();
    }

    PagePool pool_;
    RowIndex index_;
    Table table_;
    std::uint32_t next_serial_ = 0;
    std::vector<std::uint32_t> rows_;                           // serial by row
    std::map<std::uint32_t, std::uint32_t> owners_;             // serial -> entity index
    std::map<std::uint32_t, std::list<std::uint32_t>> chains_;  // entity index -> serials, head first
};

void chains_agree(RowIndexKind kind) {
    const LeakCheck leaks;
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const Schema schema = serial_schema();
    ChainTwins twins(schema, kind);
    std::uint32_t wanted = 50;
    const std::int64_t num_operations = scaled_operations(200'000);
    for (std::int64_t i = 0; i < num_operations; ++i) {
        if (i % 2000 == 0) wanted = i != 0 && random.below(2) == 0 ? random.below(60) : 1600;
        twins.operate(random, wanted);
        if (i % 50 == 0 || i + 1 == num_operations) twins.compare();
        if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_TRUE(twins.is_large()) << "both kinds of place must be tested";
}

TEST(TableChain, survives_every_move_with_a_paged_index) { chains_agree(RowIndexKind::kPaged); }  // req: B13
TEST(TableChain, survives_every_move_with_a_hash_index) { chains_agree(RowIndexKind::kHash); }    // req: B13

TEST(TableChain, a_row_goes_without_a_search_from_the_head) {
    PagePool pool;
    const Schema schema = serial_schema();
    Table table(schema, pool, {.chain = true});
    RowIndex index(RowIndexKind::kPaged);
    table.attach_index(&index);
    ASSERT_TRUE(index.reserve(1, 9));
    for (std::uint32_t i = 0; i < 6; ++i) append_serial(table, make_entity(9, 1), i);
    for (std::uint32_t row = 6; row-- > 0;) table.push_chain(row);
    // The chain is 0 1 2 3 4 5. Without its first link, a search from the head finds nothing.
    auto* const next = const_cast<std::uint32_t*>(table.links(LinkColumn::kChainNext).data());
    ASSERT_EQ(next[0], 1u);
    next[0] = kNilRow;
    table.remove(5);
    table.remove(2);  // row 4 moves into its place
    next[0] = 1;
    expect_valid(table);
    EXPECT_EQ(next[1], 3u);
    EXPECT_EQ(next[3], 2u);
    EXPECT_EQ(next[2], kNilRow);
}

TEST(TableChain, rows_of_long_chains_go_without_a_search) {
    // With a search for the row before each, this would take 10^10 steps.
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kUint32, 1);
    Table table(schema, pool, {.chain = true});
    RowIndex index(RowIndexKind::kPaged);
    table.attach_index(&index);
    constexpr std::uint32_t kRows = 200'000;
    ASSERT_TRUE(table.reserve(kRows));
    ASSERT_TRUE(index.reserve(2, 2));
    const Entity owners[] = {make_entity(1, 1), make_entity(2, 1)};
    for (std::uint32_t row = 0; row < kRows; ++row) table.append_one(owners[row % 2]);
    for (std::uint32_t row = kRows; row-- > 0;) table.push_chain(row);
    for (std::uint32_t i = 0; i < kRows / 4; ++i) table.remove(i % table.num_rows());
    expect_valid(table);
    EXPECT_EQ(table.remove_owned({owners, 1}) + table.remove_owned({owners + 1, 1}), kRows - kRows / 4);
    EXPECT_EQ(table.num_rows(), 0u);
}

TEST(TableChain, rows_of_a_dead_entity_can_go_when_a_newer_one_has_its_index) {
    PagePool pool;
    const Schema schema = serial_schema();
    Table table(schema, pool, {.chain = true});
    RowIndex index(RowIndexKind::kPaged);
    table.attach_index(&index);
    ASSERT_TRUE(index.reserve(2, 9));
    const Entity dead = make_entity(9, 1), newer = make_entity(9, 2);
    for (std::uint32_t i = 0; i < 3; ++i) table.push_chain(append_serial(table, dead, i));
    for (std::uint32_t i = 3; i < 5; ++i) table.push_chain(append_serial(table, newer, i));
    expect_valid(table);
    table.swap(0, 4);
    table.swap(1, 2);
    table.remove(4);
    table.remove(1);
    EXPECT_EQ(serial_at(table, 1), 3u) << "a row of the newer entity moved in";
    table.remove(2);
    expect_valid(table);
    ASSERT_EQ(table.num_rows(), 2u);
    const std::uint32_t head = index.find(newer);
    ASSERT_EQ(head, 0u);
    EXPECT_EQ(serial_at(table, head), 4u);
    ASSERT_EQ(table.links(LinkColumn::kChainNext)[head], 1u);
    EXPECT_EQ(table.links(LinkColumn::kChainNext)[1], kNilRow);
}

// --- trees -------------------------------------------------------------------------------------------------------

constexpr std::uint32_t kNone = 0xFFFFFFFF;

class TreeTwins {
public:
    explicit TreeTwins(const Schema& schema) : table_(schema, pool_, {.tree = true}) {}

    std::uint32_t append() {
        const std::uint32_t serial = next_serial_++;
        const std::uint32_t row = append_serial(table_, make_entity(serial % 4'000'000 + 1, 1), serial);
        rows_.push_back(serial);
        nodes_[serial] = {};
        return row;
    }
    /// Links unless `parent` is the child or lies below it.
    void link(std::uint32_t child_row, std::uint32_t parent_row) {
        const std::uint32_t child = rows_[child_row];
        const std::uint32_t parent = parent_row == kNilRow ? kNone : rows_[parent_row];
        for (std::uint32_t above = parent; above != kNone; above = nodes_[above].parent)
            if (above == child) return;
        table_.link_tree(child_row, parent_row);
        leave_parent(child);
        nodes_[child].parent = parent;
        if (parent != kNone) nodes_[parent].children.push_front(child);
    }
    void remove(std::uint32_t row) {
        table_.remove(row);
        const std::uint32_t serial = rows_[row];
        leave_parent(serial);
        for (const std::uint32_t child : nodes_[serial].children) nodes_[child].parent = kNone;
        nodes_.erase(serial);
        rows_[row] = rows_.back();
        rows_.pop_back();
    }
    void swap(std::uint32_t a, std::uint32_t b) {
        table_.swap(a, b);
        std::swap(rows_[a], rows_[b]);
    }
    void clear() {
        table_.clear();
        rows_.clear();
        nodes_.clear();
    }
    void shrink() { table_.shrink(); }

    void compare() {
        expect_valid(table_);
        ASSERT_EQ(table_.num_rows(), rows_.size());
        for (std::uint32_t row = 0; row < rows_.size(); ++row) {
            ASSERT_EQ(serial_at(table_, row), rows_[row]);
            const Node& node = nodes_.at(rows_[row]);
            const std::uint32_t parent = table_.links(LinkColumn::kTreeParent)[row];
            ASSERT_EQ(parent == kNilRow ? kNone : serial_at(table_, parent), node.parent) << "row " << row;
            std::list<std::uint32_t> children;
            for (std::uint32_t child = table_.links(LinkColumn::kTreeFirstChild)[row], before = kNilRow;
                 child != kNilRow; before = child, child = table_.links(LinkColumn::kTreeNext)[child]) {
                children.push_back(serial_at(table_, child));
                ASSERT_EQ(table_.links(LinkColumn::kTreePrevious)[child], before) << "row " << child;
            }
            ASSERT_EQ(children, node.children) << "row " << row;
        }
    }
    std::uint32_t num_rows() const { return table_.num_rows(); }
    const Table& table() const { return table_; }

private:
    struct Node {
        std::uint32_t parent = kNone;
        std::list<std::uint32_t> children;  // first child first
    };
    void leave_parent(std::uint32_t serial) {
        const std::uint32_t parent = std::exchange(nodes_[serial].parent, kNone);
        if (parent != kNone) nodes_[parent].children.remove(serial);
    }

    PagePool pool_;
    Table table_;
    std::uint32_t next_serial_ = 0;
    std::vector<std::uint32_t> rows_;      // serial by row
    std::map<std::uint32_t, Node> nodes_;  // by serial
};

TEST(TableTree, swapping_any_two_rows_of_any_small_tree_keeps_every_link) {  // req: C24
    const Schema schema = serial_schema();
    constexpr std::uint32_t kNumRows = 5;
    std::uint32_t num_shapes = 1;
    for (std::uint32_t row = 1; row < kNumRows; ++row)
        num_shapes *= row + 1;  // each row: a root, or below one before it
    for (std::uint32_t shape = 0; shape < num_shapes; ++shape)
        for (std::uint32_t a = 0; a < kNumRows; ++a)
            for (std::uint32_t b = 0; b < kNumRows; ++b) {
                TreeTwins twins(schema);
                std::uint32_t rest = shape;
                for (std::uint32_t row = 0; row < kNumRows; ++row) {
                    twins.append();
                    const std::uint32_t parent = rest % (row + 1);
                    rest /= row + 1;
                    if (parent < row) twins.link(row, parent);
                }
                twins.swap(a, b);
                twins.compare();
                if (HasFatalFailure()) FAIL() << "shape " << shape << ", rows " << a << " and " << b;
                twins.remove(a);
                twins.compare();
                if (HasFatalFailure())
                    FAIL() << "shape " << shape << ", rows " << a << " and " << b << ", removed " << a;
            }
}

TEST(TableTree, agrees_with_a_tree_of_lists_under_random_use) {  // req: C24
    const LeakCheck leaks;
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const Schema schema = serial_schema();
    TreeTwins twins(schema);
    std::uint32_t wanted = 12;
    const std::int64_t num_operations = scaled_operations(200'000);
    for (std::int64_t i = 0; i < num_operations; ++i) {
        if (i % 3000 == 0) wanted = random.below(4) != 0 ? 2 + random.below(30) : 1200;
        const std::uint32_t n = twins.num_rows();
        const std::uint32_t choice = n == 0 ? 0 : random.below(100);
        if (choice < (n < wanted ? 30u : 5u))
            for (std::uint32_t k = n + 100 < wanted ? 10 : 1; k > 0; --k) twins.append();
        else if (choice < 50)
            twins.link(random.below(n), random.below(10) == 0 ? kNilRow : random.below(n));
        else if (choice < 85)
            twins.swap(random.below(n), random.below(n));
        else if (choice < 98)
            twins.remove(random.below(n));
        else if (choice < 99)
            twins.shrink();
        else if (random.below(50) == 0)
            twins.clear();
        if (n < 40 || i % 100 == 0 || i + 1 == num_operations) twins.compare();
        if (HasFatalFailure()) FAIL() << "operation " << i << ", choice " << choice;
    }
    EXPECT_GT(twins.table().num_promotions(), 0u) << "both kinds of place must be tested";
}

TEST(TableTree, removing_a_parent_makes_roots_of_its_children) {
    const Schema schema = serial_schema();
    TreeTwins twins(schema);
    for (int i = 0; i < 4; ++i) twins.append();
    twins.link(1, 0);
    twins.link(2, 0);
    twins.link(3, 2);
    twins.remove(0);
    twins.compare();
    EXPECT_EQ(twins.table().links(LinkColumn::kTreeParent)[1], kNilRow);
    EXPECT_EQ(twins.table().links(LinkColumn::kTreeNext)[1], kNilRow);
}

TEST(TableTree, a_chain_of_links_may_be_as_deep_as_the_table) {
    const Schema schema = serial_schema();
    PagePool pool;
    Table table(schema, pool, {.tree = true});
    const auto depth = static_cast<std::uint32_t>(scaled_operations(1'000'000));
    append_filled(table, depth, Image(schema.struct_bytes()));
    for (std::uint32_t row = 1; row < depth; ++row) table.link_tree(row, row - 1);
    expect_valid(table);
    table.swap(0, depth - 1);
    table.swap(depth / 2, depth / 2 + 1);
    table.remove(depth / 3);
    expect_valid(table);
}

}  // namespace
}  // namespace shoal
