#include "sql_shell.h"

#if defined(SHOAL_TOOL_HAS_SQL)

#include "shoal/base/text.h"
#include "shoal/table/detail/value_text.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <set>
#include <utility>

#if defined(SHOAL_TOOL_HAS_READLINE)
#include <cstdio>  // must precede the headers of readline

#include <readline/history.h>
#include <readline/readline.h>
#endif

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr std::string_view kShellHelp =
    "SELECT ...;       asks; a statement ends with ; and may have several lines\n"
    ".tables           lists the tables\n"
    ".schema [TABLE]   shows the columns of all tables, or of one\n"
    ".help             shows this\n"
    ".quit             ends\n";

#if defined(SHOAL_TOOL_HAS_READLINE)

/// Returns the words for completion: the world's tables and columns, and SQL keywords.
std::set<std::string> completed_words(sql::Connection& connection) {
    std::set<std::string> words(sql::keywords().begin(), sql::keywords().end());
    if (const Result<std::vector<sql::TableDescription>> tables = connection.tables(); tables)
        for (const sql::TableDescription& table : *tables) {
            words.insert(table.name);
            words.insert(table.columns.begin(), table.columns.end());
        }
    return words;
}

const std::set<std::string>* g_words = nullptr;  // readline's callbacks get no context argument

/// Returns the next word that starts with `start`. Readline requires it to be allocated with malloc().
char* next_word(const char* start, int is_next) {
    static std::set<std::string>::const_iterator word;
    const std::string_view begin(start);
    if (is_next == 0) word = g_words->begin();
    for (; word != g_words->end(); ++word) {
        const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
        if (word->size() < begin.size() || !std::equal(begin.begin(), begin.end(), word->begin(), same)) continue;
        return ::strdup((word++)->c_str());
    }
    return nullptr;
}

char** complete_word(const char* start, int, int) {
    rl_attempted_completion_over = 1;  // do not complete file names
    return rl_completion_matches(start, next_word);
}

/// Creates the folder for the history file. Returns the path of the file, or an empty string on failure.
std::string history_path() {
    const char* const state = std::getenv("XDG_STATE_HOME");
    const char* const home = std::getenv("HOME");
    std::filesystem::path folder;
    if (state != nullptr && *state == '/')
        folder = state;
    else if (home != nullptr && *home != 0)
        folder = std::filesystem::path(home) / ".local/state";
    else
        return {};
    std::error_code failed;
    std::filesystem::create_directories(folder / "shoal", failed);
    return failed ? std::string() : (folder / "shoal/sql_history").string();
}

/// Delivers signals to this thread while this object exists, so that readline restores the terminal before a signal
/// ends the process.
struct ReceivedSignals {
    ReceivedSignals() {
        ::sigemptyset(&signals);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
        ::pthread_sigmask(SIG_UNBLOCK, &signals, &before);
    }
    ~ReceivedSignals() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t signals, before;
};

/// Reads lines with readline.
class EditedLines {
public:
    explicit EditedLines(sql::Connection& connection) : words_(completed_words(connection)), path_(history_path()) {
        g_words = &words_;
        rl_attempted_completion_function = complete_word;
        rl_completer_word_break_characters = " \t\n\"'`,;()=<>+-*/|&.";
        if (!path_.empty()) ::read_history(path_.c_str());
    }
    ~EditedLines() {
        constexpr int kMostKept = 1000;
        ::stifle_history(kMostKept);
        if (!path_.empty()) ::write_history(path_.c_str());
        g_words = nullptr;
    }
    bool read(bool goes_on, std::string& line) {
        const ReceivedSignals signals;
        char* const typed = ::readline(goes_on ? "   ...> " : "shoal> ");
        if (typed == nullptr) return false;
        line = typed;
        std::free(typed);  // NOLINT: readline has made it with malloc()
        if (!line.empty()) ::add_history(line.c_str());
        return true;
    }

private:
    std::set<std::string> words_;
    std::string path_;
};

#else

class EditedLines {
public:
    explicit EditedLines(sql::Connection&) {}
    bool read(bool goes_on, std::string& line) {
        std::cout << (goes_on ? "   ...> " : "shoal> ") << std::flush;
        return static_cast<bool>(std::getline(std::cin, line));
    }
};

#endif

class Shell {
public:
    Shell(sql::Connection& connection, AnswerPrinter& printer, const sql::Options& options, Console& console)
        : connection_(connection), printer_(printer), options_(options), console_(console) {}

    /// Handles a line. Returns false if it ends the shell.
    bool take(const std::string& line) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (statement_.empty() && begin == std::string::npos) return true;
        if (statement_.empty() && line[begin] == '.') return obey(line.substr(begin));
        statement_ += line + '\n';
        if (sql::is_complete(statement_)) ask();
        return true;
    }
    bool goes_on() const { return !statement_.empty(); }
    /// Runs the last statement if it has no `;`.
    void finish() {
        if (goes_on()) ask();
    }
    bool has_failed() const { return has_failed_; }

private:
    void ask() {
        const Result<std::uint64_t> updated = connection_.ask(std::exchange(statement_, {}), printer_, options_);
        printer_.finish();
        if (!updated) return fail_with(updated.message());
        if (*updated != 0)
            console_.print_error(concat(*updated, *updated == 1 ? " component" : " components", " updated\n"));
    }
    void fail_with(std::string_view message) {
        has_failed_ = true;
        console_.print_error(concat("error: ", message, '\n'));
    }

    bool obey(const std::string& line) {
        const std::string command = line.substr(0, line.find_first_of(" \t\r"));
        const std::size_t argument = std::min(line.find_first_not_of(" \t\r", command.size()), line.size());
        const std::string name = line.substr(argument, line.find_last_not_of(" \t\r;") + 1 - argument);
        if (command == ".quit" || command == ".exit") return false;
        if (command == ".help")
            console_.print_out(kShellHelp);
        else if (command == ".tables" || command == ".schema")
            show_tables(command == ".schema", name);
        else
            fail_with(concat("there is no command ", shoal::quoted(command), "; .help lists them"));
        return true;
    }
    void show_tables(bool with_columns, const std::string& name) {
        const Result<std::vector<sql::TableDescription>> tables = connection_.tables();
        if (!tables) return fail_with(tables.message());
        std::vector<std::string_view> names;
        for (const sql::TableDescription& table : *tables) {
            names.push_back(table.name);
            if (!name.empty() && table.name != name) continue;
            console_.print_out(concat(with_columns ? table.declaration : table.name, with_columns ? ";\n" : "\n"));
        }
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
            fail_with(concat("there is no table ", shoal::quoted(name), "; ", hint_for(name, names)));
    }

    sql::Connection& connection_;
    AnswerPrinter& printer_;
    const sql::Options& options_;
    Console& console_;
    std::string statement_;
    bool has_failed_ = false;
};

}  // namespace

bool run_shell(sql::Connection& connection, AnswerPrinter& printer, const sql::Options& options, Console& console) {
    Shell shell(connection, printer, options, console);
    std::string line;
    if (::isatty(STDIN_FILENO) != 1) {
        while (std::getline(std::cin, line) && shell.take(line)) continue;
        shell.finish();
        return !shell.has_failed();
    }
    EditedLines lines(connection);
    console.print_error("SQL about a world: .tables lists the tables, .help the commands, .quit ends\n");
    while (lines.read(shell.goes_on(), line) && shell.take(line)) console.flush();
    return true;
}

}  // namespace shoal_tool

#endif
