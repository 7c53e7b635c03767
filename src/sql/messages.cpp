#include "sql/messages.h"

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"

#include <algorithm>

namespace shoal::sql {
namespace {

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0;
}

/// Returns the offset of the first occurrence of a word, starting at `offset`; npos if there is none.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t offset) {
    for (std::size_t at = offset; !word.empty() && at + word.size() <= text.size(); ++at) {
        if (!is_same_name(text.substr(at, word.size()), word)) continue;
        const bool begins = at == 0 || !is_word_character(text[at - 1]);
        const bool ends = at + word.size() == text.size() || !is_word_character(text[at + word.size()]);
        if (begins && ends) return at;
    }
    return std::string_view::npos;
}

/// "; did you mean ...?", or nothing if no name is close.
std::string close_hint(std::string_view name, const std::vector<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    const int close = closest_text(name, views.data(), views.size());
    return close < 0 ? std::string() : concat("; did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?");
}

/// Like close_hint(), but lists all names if none is close.
std::string full_hint(std::string_view name, const std::vector<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    return concat("; ", hint_for(name, views));
}

/// Returns the columns of the tables that the statement names.
std::vector<std::string> columns_in(const Session& session, std::string_view statement) {
    std::vector<std::string> names;
    for (const TableDescription& table : session.describe())
        if (find_word(statement, table.name, 0) != std::string_view::npos)
            for (const std::string& column : table.columns)
                if (std::find(names.begin(), names.end(), column) == names.end()) names.push_back(column);
    return names;
}

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
    return result;
}

std::string computed_table(std::string_view name) {
    return concat(quoted(name), " is computed from component types; set fields of these");
}

/// A message about a part of a statement.
struct Complaint {
    std::string_view culprit;
    std::string message;
};

/// Rewords SQLite's message, and adds a hint.
Complaint complain(const Session& session, std::string_view statement, std::string_view message) {
    const auto rest_after = [&](std::string_view start) {
        return message.starts_with(start) ? message.substr(start.size()) : std::string_view();
    };
    if (const std::string_view name = rest_after("no such table: "); !name.empty()) {
        const std::string_view bare = name.substr(name.rfind('.') + 1);
        return {bare, concat("there is no table ", quoted(bare), full_hint(bare, session.names()))};
    }
    if (const std::string_view name = rest_after("no such column: "); !name.empty()) {
        const std::string_view bare = name.substr(name.rfind('.') + 1);
        return {bare, concat("there is no column ", quoted(name), full_hint(bare, columns_in(session, statement)))};
    }
    if (const std::string_view name = rest_after("no such function: "); !name.empty())
        return {name, concat("there is no function ", quoted(name),
                             close_hint(name, {"entity", "entity_text", "count", "sum", "total", "avg", "min", "max",
                                               "round", "group_concat", "coalesce", "length"}))};
    if (const std::string_view rest = rest_after("near \""); !rest.empty() && message.ends_with("\": syntax error")) {
        const std::string_view word = rest.substr(0, rest.size() - std::string_view("\": syntax error").size());
        return {word, concat("SQL does not expect ", quoted(word), " here", close_hint(upper(word), keywords()))};
    }
    if (const std::string_view name = rest_after("ambiguous column name: "); !name.empty())
        return {name,
                concat(quoted(name), " is a column of several tables; write the table before it, as in body.", name)};
    if (const std::string_view rest = rest_after("table "); rest.ends_with(" may not be modified"))
        return {{}, computed_table(rest.substr(0, rest.find(' ')))};
    if (const std::string_view rest = rest_after("cannot modify "); !rest.empty())
        return {{}, computed_table(rest.substr(0, rest.find(' ')))};
    if (message == "incomplete input") return {{}, "the statement is not complete"};
    return {{}, std::string(message)};
}

}  // namespace

const std::vector<std::string>& keywords() {
    static const std::vector<std::string> kWords = {
        "SELECT", "FROM",   "WHERE", "GROUP", "ORDER", "BY",   "HAVING",  "LIMIT",   "OFFSET", "JOIN",
        "LEFT",   "USING",  "AND",   "NOT",   "NULL",  "LIKE", "BETWEEN", "UNION",   "WITH",   "DISTINCT",
        "SET",    "UPDATE", "CASE",  "WHEN",  "THEN",  "ELSE", "END",     "EXPLAIN", "EXISTS", "VALUES"};
    return kWords;
}

bool is_complete(const std::string& text) { return sqlite3_complete(text.c_str()) != 0; }

Status error_at(std::string_view text, std::size_t offset, std::string_view message) {
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.refer_file("SQL", text);
    const SourceLocation at = diagnostics.locate({file, static_cast<std::uint32_t>(std::min(offset, text.size()))});
    return Status::error(concat(at.line, ':', at.column, ": ", message));
}

std::size_t skip_blanks(std::string_view text, std::size_t offset) {
    while (offset < text.size()) {
        if (std::string_view(" \t\r\n\f;").find(text[offset]) != std::string_view::npos)
            ++offset;
        else if (text.substr(offset).starts_with("--"))
            offset = std::min(text.find('\n', offset), text.size());
        else if (text.substr(offset).starts_with("/*"))
            offset = std::min(text.find("*/", offset), text.size() - 2) + 2;
        else
            break;
    }
    return std::min(offset, text.size());
}

Status error_of(const Session& session, std::string_view text, std::size_t offset, int code) {
    const std::size_t begin = skip_blanks(text, offset);
    const Guard& guard = const_cast<Session&>(session).guard();
    const std::string message =
        code == SQLITE_TOOBIG ? "the text is too long, or a value is" : sqlite3_errmsg(session.database());
    Complaint complaint{guard.culprit(), guard.reason()};
    const bool is_refused = !guard.reason().empty();
    if (!is_refused) complaint = complain(session, text.substr(begin), message);
    std::size_t at = begin;
    const int error_offset = is_refused ? -1 : sqlite3_error_offset(session.database());
    if (error_offset >= 0)
        at = offset + static_cast<std::size_t>(error_offset);
    else if (const std::size_t found = find_word(text, complaint.culprit, begin); found != std::string_view::npos)
        at = found;
    return error_at(text, at, complaint.message);
}

std::vector<Column> columns_of(sqlite3_stmt* statement) {
    std::vector<Column> columns;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const char* const name = sqlite3_column_name(statement, i);
        const char* const type = sqlite3_column_decltype(statement, i);
        Column column{name == nullptr ? "" : name, type == nullptr ? "" : type};
        for (char& c : column.type)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
        columns.push_back(std::move(column));
    }
    return columns;
}

}  // namespace shoal::sql
