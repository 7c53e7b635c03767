#pragma once
// Prints the results of `shoal sql` as tables, CSV or JSON.

#include "console.h"
#include "shoal/inspect/text_table.h"
#include "shoal/sql/sql.h"

#include <optional>

namespace shoal_tool {

/// Prints the rows that each statement returns. A table is printed when it is complete, because the width of a column
/// depends on all rows.
class AnswerPrinter final : public shoal::sql::RowSink {
public:
    enum class Format : std::uint8_t { kTable, kCsv, kJson };
    AnswerPrinter(Console& console, Format format) : console_(console), format_(format) {}

    void begin(const std::vector<shoal::sql::Column>& columns) override;
    bool take(const shoal::sql::Row& row) override;
    /// Ends the last result, even after an error, so that JSON is complete.
    void finish();

private:
    void take_csv(const shoal::sql::Row& row);
    void take_json(const shoal::sql::Row& row);

    Console& console_;
    Format format_;
    bool is_open_ = false;
    std::vector<std::string> names_;
    std::optional<shoal::TextTable> table_;
    std::optional<shoal::DocumentBuilder> json_;
};

}  // namespace shoal_tool
