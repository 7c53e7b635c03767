#pragma once
// What is wrong with a question: where it is, what is there instead, what to do.

#include "sql/session.h"

namespace shoal::sql {

/// The message after the line and the column of a byte of the text.
Status error_at(std::string_view text, std::size_t offset, std::string_view message);
/// The error of the statement that begins at `offset`, from what SQLite and the guard know of it.
Status error_of(const Session& session, std::string_view text, std::size_t offset, int code);
/// Where the next word or sign is that is no blank and no comment.
std::size_t skip_blanks(std::string_view text, std::size_t offset);
/// The columns of an answer.
std::vector<Column> columns_of(sqlite3_stmt* statement);

}  // namespace shoal::sql
