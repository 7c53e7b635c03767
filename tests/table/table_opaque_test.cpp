// Columns of C++ types with operations of their own, and the misuse that a table catches.

#include "table/table_fixture.h"

#include "shoal/table/describe.h"

#include <cstdlib>
#include <utility>
#include <vector>

namespace shoal {
namespace {

using namespace shoal_test;

/// Counts its living values, and knows whether it has been moved bytewise.
template <std::size_t kBytes, std::size_t kAlignment>
struct alignas(kAlignment) Counted {
    static inline std::int64_t num_living = 0;
    const void* self = this;
    int value = -1;
    std::byte ballast[kBytes] = {};

    Counted() { ++num_living; }
    Counted(Counted&& other) noexcept : value(std::exchange(other.value, -2)) {
        EXPECT_TRUE(other.is_sound());
        ++num_living;
    }
    ~Counted() {
        EXPECT_TRUE(is_sound());
        --num_living;
    }
    bool is_sound() const { return self == this && reinterpret_cast<std::uintptr_t>(this) % kAlignment == 0; }
};

using CountedSmall = Counted<1, 8>;
using CountedLarge = Counted<400, 64>;

struct Guarded {
    float plain = 1;
    CountedSmall small;
    CountedLarge large;
    std::string text = "made by default";
};
SHOAL_COMPONENT(Guarded, plain, small, large, text)

TEST(TableOpaque, values_are_made_moved_and_ended_exactly_once) {
    const LeakCheck leaks;
    SCOPED_TRACE(seed_text());
    Random random(seed());
    {
        PagePool pool;
        const Schema& schema = schema_of<Guarded>();
        ASSERT_TRUE(schema.has_opaque());
        Table table(schema, pool);
        std::vector<int> model;
        int next = 0;
        bool was_large = false;
        const auto at = [&]<class T>(std::uint32_t c, std::uint32_t row, T*) -> T& {
            return reinterpret_cast<T*>(table.write_column(c))[row];
        };
        for (std::int64_t i = scaled_operations(40'000); i > 0; --i) {
            const std::uint32_t num_rows = table.num_rows();
            const std::uint32_t choice = num_rows == 0 ? 0 : random.below(10);
            if (choice < 4 && num_rows < 400) {
                ASSERT_TRUE(table.reserve(2));
                table.append(std::array{make_entity(1, 1)});
                table.append_one(make_entity(2, 1));
                for (std::uint32_t row = num_rows; row < num_rows + 2; ++row) {
                    ASSERT_EQ(at(3, row, static_cast<std::string*>(nullptr)), "") << "made by its own default";
                    at(1, row, static_cast<CountedSmall*>(nullptr)).value = next;
                    at(2, row, static_cast<CountedLarge*>(nullptr)).value = next;
                    at(3, row, static_cast<std::string*>(nullptr)) =
                        "a text that needs memory of its own " + std::to_string(next);
                    model.push_back(next++);
                }
            } else if (choice < 7) {
                const std::uint32_t row = random.below(num_rows);
                table.remove(row);
                model[row] = model.back();
                model.pop_back();
            } else if (choice < 9) {
                const std::uint32_t a = random.below(num_rows), b = random.below(num_rows);
                table.swap(a, b);
                std::swap(model[a], model[b]);
            } else if (random.below(300) == 0) {
                table.clear();
                model.clear();
            } else if (random.below(20) == 0) {
                table.shrink();
            }
            was_large |= table.num_promotions() > 0;
            ASSERT_EQ(CountedSmall::num_living, static_cast<std::int64_t>(model.size()));
            ASSERT_EQ(CountedLarge::num_living, static_cast<std::int64_t>(model.size()));
            if (model.empty()) continue;
            const std::uint32_t row = random.below(table.num_rows());
            ASSERT_EQ(at(1, row, static_cast<CountedSmall*>(nullptr)).value, model[row]);
            ASSERT_EQ(at(2, row, static_cast<CountedLarge*>(nullptr)).value, model[row]);
            ASSERT_TRUE(at(3, row, static_cast<std::string*>(nullptr)).ends_with(' ' + std::to_string(model[row])));
        }
        EXPECT_TRUE(was_large);
        expect_valid(table);
    }
    EXPECT_EQ(CountedSmall::num_living, 0);
    EXPECT_EQ(CountedLarge::num_living, 0);
}

/// Ends another row of its table when it ends.
struct Ending {
    Table* table = nullptr;
    Entity other;
    bool is_moved_from = false;
    std::string text = "a text that needs memory of its own";

    Ending() = default;
    Ending(Ending&& end) noexcept
        : table(std::exchange(end.table, nullptr)), other(end.other), text(std::move(end.text)) {}
    ~Ending() {
        if (table != nullptr) table->remove_owned({&other, 1});
    }
};
struct Linked {
    int serial = 0;
    Ending ending;
};
SHOAL_COMPONENT(Linked, serial, ending)

TEST(TableOpaque, a_destructor_may_remove_another_row) {
    const LeakCheck leaks;
    constexpr std::uint32_t kRows = 5;
    for (const RowIndexKind kind : {RowIndexKind::kPaged, RowIndexKind::kIdentity})
        for (std::uint32_t first = 0; first < kRows; ++first)
            for (std::uint32_t second = 0; second < kRows; ++second) {
                if (first == second) continue;
                SCOPED_TRACE(testing::Message() << "row " << first << " ends row " << second);
                PagePool pool;
                RowIndex index(kind);
                Table table(schema_of<Linked>(), pool);
                table.attach_index(&index);
                ASSERT_TRUE(table.reserve(kRows + 1));
                ASSERT_TRUE(index.reserve(kRows, kRows));
                const auto element = [&](Entity owner) {
                    return reinterpret_cast<Ending*>(table.write_element(1, index.find(owner)));
                };
                for (std::uint32_t i = 0; i < kRows; ++i) {
                    const Entity owner = make_entity(i + 1, 1);
                    if (kind == RowIndexKind::kIdentity)
                        table.occupy(owner);
                    else
                        index.set(owner, table.append({&owner, 1}));
                    element(owner)->text += std::to_string(i);
                }
                element(make_entity(first + 1, 1))->table = &table;
                element(make_entity(first + 1, 1))->other = make_entity(second + 1, 1);
                table.remove(index.find(make_entity(first + 1, 1)));
                expect_valid(table);
                EXPECT_EQ(table.num_rows() - table.num_holes(), kRows - 2);
                for (std::uint32_t i = 0; i < kRows; ++i) {
                    const Entity owner = make_entity(i + 1, 1);
                    ASSERT_EQ(index.find(owner) == kNilRow, i == first || i == second);
                    if (i != first && i != second) {
                        EXPECT_TRUE(element(owner)->text.ends_with("own" + std::to_string(i)));
                    }
                }
                if (table.num_rows() != 0) table.clear();
                expect_valid(table);
            }
}

TEST(TableDeathTest, misuse_is_caught) {
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kFloat, 2);
    Table table(schema, pool);
    append_filled(table, 3, Image(schema.struct_bytes()));
    const Image image(schema.struct_bytes());
    EXPECT_DEATH(table.remove(3), "the row does not exist");
    EXPECT_DEATH(table.swap(0, 3), "the row does not exist");
    EXPECT_DEATH(table.fill({2, 4}, image.data()), "the rows do not exist");
    EXPECT_DEATH(table.scatter({3, 2}, image.data(), 8), "the rows do not exist");
    EXPECT_DEATH(table.mark_written(0, {0, 4}), "the rows do not exist");
    EXPECT_DEATH(table.mark_written(2, {0, 1}), "the column does not exist");
    const std::vector<Entity> many(100'000, make_entity(1, 1));
    EXPECT_DEATH(table.append(many), "were not reserved");
    EXPECT_DEATH(table.push_chain(0), "without a chain");
    EXPECT_DEATH(table.link_tree(0, 1), "without a tree");
    Table opaque(schema_of<Guarded>(), pool);
    ASSERT_TRUE(opaque.reserve(1));
    opaque.append_one(make_entity(1, 1));
    const Image guarded(schema_of<Guarded>().struct_bytes());
    EXPECT_DEATH(opaque.fill({0, 1}, guarded.data()), "opaque fields cannot be filled");
}

void* refuse_tables(void*, std::size_t bytes, const char* owner) {
    return std::string_view(owner) == "table" ? nullptr : std::malloc(bytes);
}
void release_to_heap(void*, void* memory, std::size_t, const char*) { std::free(memory); }

TEST(TableDeathTest, bookkeeping_memory_that_runs_out_names_the_table) {
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kFloat, 2);
    EXPECT_DEATH(
        {
            set_memory_hooks({&refuse_tables, &release_to_heap, nullptr});
            Table table(schema, pool);
        },
        "out of bookkeeping memory: table asked for");
}

}  // namespace
}  // namespace shoal
