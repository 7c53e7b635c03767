#pragma once
// Limits what a query may do, how long it may take, and how large its answer may be.

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

    /// Sets SQLite's limits for as long as the database is open.
    static void limit(sqlite3* database);
    /// Until end(), refuses actions that the options do not allow, and counts steps and bytes.
    void begin(sqlite3* database, const Options& options);
    void end(sqlite3* database);

    /// Counts a row of an answer. Errors: the limit is exceeded.
    Status count_row(std::size_t num_bytes);
    /// Counts bytes that are kept in addition to an answer. Errors: the limit is exceeded.
    Status count_bytes(std::size_t num_bytes);
    /// The reason why the guard has refused or interrupted a statement; empty if it has not.
    const std::string& reason() const { return reason_; }
    void refuse(std::string why) { reason_ = std::move(why); }
    /// The part of the statement that the reason refers to; empty if it is the first word.
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
