// A world with every kind of store: each value is the one that FieldPath reads, by scans and by look-ups.

#include "support/whole_world.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/sql/sql.h"
#include "shoal/table/detail/number_value.h"
#include "sql/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace shoal {
namespace {

std::string text_of(const sql::Answer& answer) {
    std::string text;
    for (std::size_t row = 0; row < answer.num_rows(); ++row, text += '\n')
        for (std::size_t i = 0; i < answer.num_columns(); ++i) text += answer.at(row, i).to_text() + ' ';
    return text;
}

bool is_number(FieldType type) {
    return type == FieldType::kBool || (type >= FieldType::kInt8 && type <= FieldType::kDouble);
}

class WholeWorld : public testing::Test {
protected:
    WholeWorld() { sea.run(40); }

    std::string ask(const std::string& text) {
        const Result<sql::Answer> answer = connection.ask(text);
        EXPECT_TRUE(answer) << text << ": " << answer.message();
        return answer ? text_of(*answer) : std::string();
    }

    shoal_test::Sea sea;
    sql::Connection connection{sea.world};
};

TEST_F(WholeWorld, a_scan_finds_the_rows_that_look_ups_find) {
    std::size_t num_rows = 0;
    for (const sql::CatalogTable& table : sql::list_component_tables(sea.world)) {
        std::string columns;
        for (const sql::CatalogColumn& column : table.columns)
            columns += (columns.empty() ? "" : ", ") + concat("t.", sql::sql_name(column.name));
        const std::string select = concat("SELECT ", columns, " FROM ");
        const std::string name = sql::sql_name(table.name);
        const std::string scanned = ask(concat(select, name, " t ORDER BY ", columns));
        EXPECT_EQ(ask(concat(select, "entities CROSS JOIN ", name, " t USING (entity) ORDER BY ", columns)), scanned)
            << table.name;
        num_rows += static_cast<std::size_t>(std::count(scanned.begin(), scanned.end(), '\n'));
    }
    EXPECT_GT(num_rows, 200u);
}

TEST_F(WholeWorld, each_number_is_that_of_the_field) {
    std::size_t num_values = 0;
    for (const sql::CatalogTable& table : sql::list_component_tables(sea.world)) {
        if (table.list) continue;
        const std::string position = table.kept->many() ? "position_in_list" : "0";
        for (const sql::CatalogColumn& column : table.columns) {
            if (column.shows != sql::Shows::kField || !is_number(column.part.type.type)) continue;
            const Result<sql::Answer> answer = connection.ask(concat(
                "SELECT entity, ", position, ", ", sql::sql_name(column.name), " FROM ", sql::sql_name(table.name)));
            ASSERT_TRUE(answer) << answer.message();
            for (std::size_t row = 0; row < answer->num_rows(); ++row, ++num_values) {
                const std::string index = table.kept->many() ? concat('[', answer->at(row, 1).integer, ']') : "";
                const auto path =
                    FieldPath::find_in(sea.world.directory(), concat(table.kept->name(), index, '.', column.path));
                ASSERT_TRUE(path) << path.message();
                const Result<AnyValue> value = path->read(answer->at(row, 0).entity());
                ASSERT_TRUE(value) << value.message();
                EXPECT_EQ(answer->at(row, 2).number(), read_number(path->type().type, value->bytes().data()))
                    << path->name();
            }
        }
    }
    EXPECT_GT(num_values, 200u);
}

TEST_F(WholeWorld, asking_changes_nothing) {
    const std::string before = shoal_test::bytes_of(sea.world);
    for (const sql::CatalogTable& table : sql::list_component_tables(sea.world))
        ask("SELECT * FROM " + sql::sql_name(table.name));
    for (const char* table : {"entities", "links", "tags", "zones", "passes", "memory"})
        ask(std::string("SELECT * FROM ") + table);
    EXPECT_EQ(shoal_test::bytes_of(sea.world), before);
    sea.run(3);
    EXPECT_TRUE(sea.validate().ok());
}

}  // namespace
}  // namespace shoal
