#pragma once
// Error messages for queries, with the position of the error, similar names, and advice on what to do.

#include "sql/session.h"

namespace shoal::sql {

/// Returns an error whose message begins with the line and the column of an offset in the text.
Status error_at(std::string_view text, std::size_t offset, std::string_view message);
/// Returns the error of the statement that begins at `offset`, from SQLite and the guard.
Status error_of(const Session& session, std::string_view text, std::size_t offset, int code);
/// Skips blanks and comments, and returns the offset of the next token.
std::size_t skip_blanks(std::string_view text, std::size_t offset);
/// The columns of an answer.
std::vector<Column> columns_of(sqlite3_stmt* statement);

}  // namespace shoal::sql
