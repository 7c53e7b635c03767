// The command-line tool. main() finds the verb and catches all exceptions.

#include "plugins.h"
#include "shoal/base/text.h"
#include "shoal/resource/detail/registry.h"
#include "signals.h"
#include "sources.h"
#include "verbs.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <vector>

namespace shoal_tool {
namespace {

using shoal::concat;
using shoal::quoted;

bool asks_for(std::span<const std::string_view> words, std::string_view flag) {
    const auto end = std::find(words.begin(), words.end(), "--");
    return std::find(words.begin(), end, flag) != end;
}

int no_verb(Console& console, std::string_view message) {
    fail(console, message);
    console.print_error("usage: shoal VERB [FLAGS] OPERANDS\n`shoal help` lists the verbs\n");
    return 2;
}

int print_version(std::span<const std::string_view> rest, Console& console) {
    if (!rest.empty()) return no_verb(console, concat("--version stands alone, but there is also ", quoted(rest[0])));
    console.print_out(concat("shoal ", SHOAL_VERSION_MAJOR, '.', SHOAL_VERSION_MINOR, '.', SHOAL_VERSION_PATCH, '\n'));
    return 0;
}

int run_verb(const Verb& verb, std::span<const std::string_view> words, Console& console) {
    const shoal::Result<Arguments> arguments = Arguments::parse(verb, words);
    if (!arguments) return fail_usage(console, verb, arguments.message());
    Files files(*arguments, console);
    if (shoal::Status status = files.check_usage(); !status) return fail_usage(console, verb, status.message());
    if (shoal::Status status = files.check_outputs(); !status) return fail(console, status.message());
    return verb.run(*arguments, files, console);
}

int run_words(std::span<const std::string_view> words, Console& console);

/// Strips `--plugin FILE` and `--plugin=FILE` arguments that precede the verb. Errors: a file is missing.
shoal::Status take_plugins(std::span<const std::string_view>& words, std::vector<std::string>& paths) {
    constexpr std::string_view kFlag = "--plugin";
    while (!words.empty() && words[0].starts_with(kFlag)) {
        const std::string_view rest = words[0].substr(kFlag.size());
        if (!rest.empty() && rest[0] != '=') break;
        if (rest.empty() && words.size() < 2) return shoal::Status::error("--plugin needs a value, FILE.so");
        paths.emplace_back(rest.empty() ? words[1] : rest.substr(1));
        words = words.subspan(rest.empty() ? 2 : 1);
    }
    return check_plugin_paths(paths);
}

/// Prints the manual of the tool or of a verb. The verb may be a plugin's.
int help_with_plugins(const LoadedPlugins& loaded, std::span<const std::string_view> words, Console& console) {
    if (words.size() == 2)
        if (const auto verb = loaded.find_verb(words[1])) return console.print_out(loaded.manual_of_verb(*verb)), 0;
    const int code = run_words(words, console);
    if (words.size() == 1 && code == 0) console.print_out(loaded.list_of_verbs());
    return code;
}

/// Runs a plugin's verb, or one of the tool's own verbs with the plugins loaded.
int run_with_plugins(std::span<const std::string_view> words, const std::vector<std::string>& paths, Console& console) {
    if (words.empty()) return no_verb(console, "no verb was given");
    const bool asks_help = words[0] == "help" || words[0] == "--help" || words[0] == "-h";
    if (!asks_help && find_verb(words[0]) != nullptr) {
        std::vector<std::string_view> given{words[0]};
        for (const std::string& path : paths) given.insert(given.end(), {"--plugin", path});
        given.insert(given.end(), words.begin() + 1, words.end());
        return run_words(given, console);
    }
    LoadedPlugins loaded;
    if (shoal::Status status = loaded.load(paths, {}); !status) return fail(console, status.message());
    if (asks_help) return help_with_plugins(loaded, words, console);
    const auto verb = loaded.find_verb(words[0]);
    if (!verb)
        return no_verb(console, concat("there is no verb ", quoted(words[0]), ", neither in the tool nor in a plugin"));
    const auto rest = words.subspan(1);
    if (asks_for(rest, "--help") || asks_for(rest, "-h")) return console.print_out(loaded.manual_of_verb(*verb)), 0;
    return loaded.run_verb(*verb, rest, console);
}

int run_words(std::span<const std::string_view> words, Console& console) {
    std::vector<std::string> plugins;
    if (shoal::Status status = take_plugins(words, plugins); !status) return no_verb(console, status.message());
    if (!plugins.empty()) return run_with_plugins(words, plugins, console);
    if (words.empty()) return no_verb(console, "no verb was given");
    const std::string_view name = words[0];
    const std::span<const std::string_view> rest = words.subspan(1);
    if (name == "--version" || name == "-V") return print_version(rest, console);
    const Verb* const verb = name == "--help" || name == "-h" ? &kHelpVerb : find_verb(name);
    if (verb == nullptr) return no_verb(console, concat("there is no verb ", quoted(name), suggest_verb(name)));
    if (asks_for(rest, "--help") || asks_for(rest, "-h")) return console.print_out(manual_of(*verb)), 0;
    return run_verb(*verb, rest, console);
}

int run_guarded(std::span<const std::string_view> words, Console& console) {
    try {
        return run_words(words, console);
    } catch (const std::bad_alloc&) {
        return fail(console, "out of memory", "use a smaller level or fewer copies");
    } catch (const std::exception& exception) {
        return fail(console, exception.what());
    }
}

int run_tool(std::span<const std::string_view> words) {
    Console console(asks_for(words, "--json"));
    const int code = run_guarded(words, console);
    if (console.flush()) return code;
    console.print_error("error: standard output could not be written\n");
    return 1;
}

}  // namespace
}  // namespace shoal_tool

int main(int argc, char** argv) {
    try {
        shoal_tool::end_cleanly_on_signals();
        return shoal_tool::run_tool(std::vector<std::string_view>(argv + std::min(argc, 1), argv + argc));
    } catch (...) {
        std::fputs("error: the message of another error could not be printed\n", stderr);
        return 1;
    }
}
