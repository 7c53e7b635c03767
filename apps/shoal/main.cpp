// The command-line tool. main() finds the verb and keeps exceptions from getting out.

#include "shoal/base/text.h"
#include "signals.h"
#include "sources.h"
#include "verbs.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

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

int run_words(std::span<const std::string_view> words, Console& console) {
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
