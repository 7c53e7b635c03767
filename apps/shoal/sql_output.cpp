#include "sql_output.h"

#if defined(SHOAL_TOOL_HAS_SQL)

#include "shoal/base/text.h"
#include "shoal/table/detail/value_text.h"

#include <algorithm>
#include <utility>

namespace shoal_tool {

using namespace shoal;

namespace {

/// Returns a string as one line, without terminal control characters.
std::string on_one_line(std::string_view text) {
    std::string line = utf8_text(text);
    for (char& c : line)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return line;
}

/// Returns a string as a CSV field (RFC 4180). NULL is an empty field, and an empty string is quoted.
std::string csv_field(std::string_view text) {
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string field = "\"";
    for (const char c : text) field.append(c == '"' ? 2 : 1, c);
    return field + '"';
}

/// Returns unique names for the columns.
std::vector<std::string> different_names(const std::vector<sql::Column>& columns) {
    std::vector<std::string> names;
    for (const sql::Column& column : columns) {
        std::string name = column.name;
        for (int i = 2; std::find(names.begin(), names.end(), name) != names.end(); ++i)
            name = concat(column.name, '_', i);
        names.push_back(std::move(name));
    }
    return names;
}

void write_json_value(DocumentBuilder& builder, const sql::Value& value) {
    switch (value.kind) {
        case sql::Kind::kNull:
            return builder.null();
        case sql::Kind::kInteger:
            return builder.integer(value.integer);
        case sql::Kind::kReal:
            return value.is_float ? write_number(builder, static_cast<float>(value.real))
                                  : write_number(builder, value.real);
        default:
            return builder.string(utf8_text(value.to_text()));
    }
}

}  // namespace

void AnswerPrinter::begin(const std::vector<sql::Column>& columns) {
    finish();
    is_open_ = true;
    names_ = different_names(columns);
    if (format_ == Format::kJson) {
        const TextFunction print = [](void* to, std::string_view text) { static_cast<Console*>(to)->print(text); };
        json_.emplace(TextFormat::kJson, print, &console_);
        return json_->begin_list();
    }
    std::vector<std::string> header;
    for (const sql::Column& column : columns) header.push_back(on_one_line(column.name));
    if (format_ == Format::kTable) return void(table_.emplace(std::move(header)));
    std::string line;
    for (const sql::Column& column : columns)
        line += concat(&column == columns.data() ? "" : ",", csv_field(column.name));
    console_.print(line + '\n');
}

bool AnswerPrinter::take(const sql::Row& row) {
    if (format_ == Format::kCsv) return take_csv(row), true;
    if (format_ == Format::kJson) return take_json(row), true;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < row.num_columns(); ++i) texts.push_back(on_one_line(row[i].to_text()));
    table_->add_row(std::move(texts));
    return true;
}

void AnswerPrinter::take_csv(const sql::Row& row) {
    std::string line;
    for (std::size_t i = 0; i < row.num_columns(); ++i) {
        const sql::Value value = row[i];
        line += concat(i == 0 ? "" : ",", value.kind == sql::Kind::kNull ? std::string() : csv_field(value.to_text()));
    }
    console_.print(line + '\n');
}

void AnswerPrinter::take_json(const sql::Row& row) {
    json_->begin_mapping();
    for (std::size_t i = 0; i < row.num_columns(); ++i) {
        json_->key(utf8_text(names_[i]));
        write_json_value(*json_, row[i]);
    }
    json_->end();
}

void AnswerPrinter::finish() {
    if (!std::exchange(is_open_, false)) return;
    if (table_) console_.print(table_->text());
    table_.reset();
    if (!json_) return;
    json_->end();
    json_->finish();
    json_.reset();
}

}  // namespace shoal_tool

#endif
