// Answers SQL queries.

#include "inspector/answers.h"
#include "inspector/json_text.h"
#include "shoal/base/clock.h"
#include "shoal/base/text.h"
#include "shoal/inspect/text_table.h"
#include "shoal/sql/sql.h"

#include <charconv>

namespace shoal::inspect {
namespace {

constexpr std::size_t kMostRows = 1000;  // per statement
constexpr double kMostSeconds = 2;       // the world waits while the query runs

/// Writes the rows of the last statement that returns rows.
class JsonRows final : public sql::RowSink {
public:
    void begin(const std::vector<sql::Column>& columns) override {
        columns_ = columns;
        rows_.clear();
        has_more_ = false;
    }
    bool take(const sql::Row& row) override {
        if (rows_.size() == kMostRows) {
            has_more_ = true;
            return false;
        }
        JsonText json;
        json.builder.begin_list();
        for (std::size_t i = 0; i < row.num_columns(); ++i) write(row[i], json);
        json.builder.end();
        rows_.push_back(json.finish());
        return true;
    }
    std::string text(std::uint64_t num_updated, std::int64_t ns) const {
        JsonText head;
        head.builder.begin_list();
        for (const sql::Column& column : columns_) head.text(column.name);
        head.builder.end();
        std::string text = concat("{\"columns\": ", head.finish(), ", \"rows\": [");
        for (std::size_t i = 0; i < rows_.size(); ++i) text += concat(i == 0 ? "" : ", ", rows_[i]);
        return text + concat("], \"more\": ", has_more_ ? "true" : "false", ", \"updated\": ", num_updated,
                             ", \"ms\": ", decimal_text(ms(ns), 3), '}');
    }

private:
    static void write(const sql::Value& value, JsonText& json) {
        switch (value.kind) {
            case sql::Kind::kNull:
                return json.builder.null();
            case sql::Kind::kInteger:
                return json.builder.integer(value.integer);
            case sql::Kind::kReal:
                return write_real(value, json);
            default:
                return json.text(value.to_text());
        }
    }
    static void write_real(const sql::Value& value, JsonText& json) {
        if (value.real - value.real != 0) return json.text(value.to_text());  // infinite or not a number
        json.builder.number(value.real);
    }

    std::vector<sql::Column> columns_;
    std::vector<std::string> rows_;
    bool has_more_ = false;
};

/// Refuses a request with an SQL error. A position at the start of the message, as in "1:15: ", becomes the line and
/// the column of the response.
Response refuse_sql(std::string_view message) {
    std::uint32_t line = 0, column = 0;
    const char* const end = message.data() + message.size();
    const auto first = std::from_chars(message.data(), end, line);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return refuse(400, message);
    const auto second = std::from_chars(first.ptr + 1, end, column);
    if (second.ec != std::errc() || end - second.ptr < 2 || second.ptr[0] != ':') return refuse(400, message);
    return refuse(400, message.substr(static_cast<std::size_t>(second.ptr + 2 - message.data())), line, column);
}

}  // namespace

Response ask_sql(Session& session, const Request& request) {
    const RequestBody body(request);
    if (body.refusal) return *body.refusal;
    if (body.text("text").empty()) return refuse(400, "`text` is what is asked, in SQL");
    if (!session.sql) session.sql = std::make_unique<sql::Connection>(session.world);
    JsonRows rows;
    const std::int64_t begin_ns = monotonic_ns();
    const Result<std::uint64_t> updated = session.sql->ask(
        body.text("text"), rows, {.max_seconds = kMostSeconds, .allow_updates = session.options.allow_edits});
    if (!updated) return refuse_sql(updated.status().message());
    if (*updated != 0) session.has_unkept_edits = true;
    return {200, "application/json", rows.text(*updated, monotonic_ns() - begin_ns)};
}

Response list_tables(Session& session, const Request&) {
    if (!session.sql) session.sql = std::make_unique<sql::Connection>(session.world);
    const auto tables = session.sql->tables();
    if (!tables) return refuse(500, tables.status().message());
    JsonText json;
    json.builder.begin_mapping();
    json.builder.begin_list("tables");
    for (const sql::TableDescription& table : *tables) {
        json.builder.begin_mapping();
        json.text("name", table.name);
        json.text("declaration", table.declaration);
        json.builder.begin_list("columns");
        for (const std::string& column : table.columns) json.text(column);
        json.builder.end();
        json.builder.end();
    }
    json.builder.end();
    json.builder.end();
    return {200, "application/json", json.finish()};
}

}  // namespace shoal::inspect
