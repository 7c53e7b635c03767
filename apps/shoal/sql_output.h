#pragma once
// The answers of `shoal sql` as a table for people, as CSV or as JSON.

#include "console.h"
#include "shoal/inspect/text_table.h"
#include "shoal/sql/sql.h"

#include <optional>

namespace shoal_tool {

/// Prints the rows of each statement. A table is printed when it is complete, because each column is as wide as its
/// widest text.
class AnswerPrinter final : public shoal::sql::RowSink {
public:
    enum class Format : std::uint8_t { kTable, kCsv, kJson };
    AnswerPrinter(Console& console, Format format) : console_(console), format_(format) {}

    void begin(const std::vector<shoal::sql::Column>& columns) override;
    bool take(const shoal::sql::Row& row) override;
    /// Ends the last answer, even after an error, so that JSON is complete.
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
