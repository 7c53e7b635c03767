#pragma once
// What a question may do, how long, and how much.

#include "shoal/base/status.h"
#include "shoal/sql/sql.h"

#include <cstdint>
#include <string>

struct sqlite3;

namespace shoal::sql {

class Session;

class Guard {
public:
    explicit Guard(const Session& session) : session_(session) {}

    /// Sets the limits of SQLite that hold as long as the database is open.
    static void limit(sqlite3* database);
    /// Refuses what the options do not allow, and counts from now on, until end().
    void begin(sqlite3* database, const Options& options);
    void end(sqlite3* database);

    /// Counts a row of an answer. Errors: it is one too many.
    Status count_row(std::size_t num_bytes);
    /// Counts what is kept beside an answer. Errors: it is too much.
    Status count_bytes(std::size_t num_bytes);
    /// Why SQLite has refused or interrupted a statement; empty: it has its own reasons.
    const std::string& reason() const { return reason_; }
    void refuse(std::string why) { reason_ = std::move(why); }
    /// Part of the statement that the reason is about; empty: its first word.
    const std::string& culprit() const { return culprit_; }

private:
    static int authorize(void* guard, int action, const char* first, const char* second, const char* database,
                         const char* view);
    static int check_progress(void* guard);
    bool allows(int action, std::string_view first, std::string_view second);
    bool allows_setting(std::string_view table, std::string_view column);
    bool is_within_limits();

    const Session& session_;
    Options options_;
    std::string reason_, culprit_;
    std::int64_t deadline_ns_ = 0;
    std::int64_t memory_before_ = 0;
    std::uint64_t num_steps_ = 0, num_rows_ = 0, num_bytes_ = 0;
};

}  // namespace shoal::sql
