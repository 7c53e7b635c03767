// shoal completion: completion scripts for bash, zsh and fish, generated from the table of verbs and flags.

#include "console.h"
#include "shoal/base/text.h"
#include "verbs.h"

#include <vector>

namespace shoal_tool {

using shoal::concat;

namespace {

// One paragraph per line.
constexpr std::string_view kCompletionManual =
    "Prints a script that makes a shell complete verbs, flags, values and files. `cmake --install` puts the scripts "
    "where "
    "the shells look for them.\n";

constexpr std::string_view kCompletionExamples =
    "shoal completion bash > ~/.local/share/bash-completion/completions/shoal\n"
    "shoal completion zsh > ~/.zfunc/_shoal\n"
    "shoal completion fish > ~/.config/fish/completions/shoal.fish\n";

/// Returns the beginning of a help text, cut to fit into one line of a menu.
std::string_view brief(std::string_view help) {
    for (const std::string_view end : {";", " (", ": ", ", such"}) help = help.substr(0, help.find(end));
    return help;
}

/// Returns `text` with a backslash before each of `characters`.
std::string escaped(std::string_view text, std::string_view characters) {
    std::string result;
    for (const char c : text) {
        if (characters.find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

/// Quotes a string for a shell. At a quote in the string, the quoted part ends; after the escaped quote, another quoted
/// part starts.
std::string in_quotes(std::string_view text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

std::string joined(std::span<const std::string_view> words) {
    std::string result;
    for (const std::string_view word : words) result += concat(result.empty() ? "" : " ", word);
    return result;
}

std::string names_of_verbs() {
    std::vector<std::string_view> names;
    for (const Verb* verb : verbs()) names.push_back(verb->name);
    return joined(names);
}

/// Returns the words that are allowed as a value or an operand.
std::string words_of(Takes takes, std::string_view value) {
    return takes == Takes::kVerb ? names_of_verbs() : joined(choices_of(value));
}

bool is_one_of_words(Takes takes) { return takes == Takes::kOneOf || takes == Takes::kVerb; }

// --- bash ------------------------------------------------------------------------------------------------------------

std::string bash_flags(std::span<const Flag> flags) {
    std::string words;
    for (const Flag& flag : flags)
        words += concat(words.empty() ? "" : " ", "--", flag.name, flag.letter != 0 ? concat(" -", flag.letter) : "");
    return words;
}

std::string bash_values(Takes takes, std::string_view value) {
    if (takes == Takes::kInput || takes == Takes::kOutput) return "_shoal_files";
    if (takes == Takes::kFolder) return "_shoal_files -d";
    return is_one_of_words(takes) ? concat("_shoal_words ", in_quotes(words_of(takes, value))) : std::string(":");
}

std::string bash_verb(const Verb& verb) {
    std::string text = concat("        ", verb.name, ")\n            case $flag in\n");
    for (const Flag& flag : verb.flags) {
        if (flag.takes == Takes::kNothing) continue;
        text += concat("                --", flag.name, flag.letter != 0 ? concat(" | -", flag.letter) : "", ") ",
                       bash_values(flag.takes, flag.value), "; return ;;\n");
    }
    return concat(text, "            esac\n            if [[ $cur == -* ]]; then _shoal_words ",
                  in_quotes(concat(bash_flags(verb.flags), verb.flags.empty() ? "" : " ", "--help")), "; else ",
                  bash_values(verb.takes, verb.operands), "; fi ;;\n");
}

std::string bash_script() {
    std::string cases;
    for (const Verb* verb : verbs()) cases += bash_verb(*verb);
    return concat(
        "# Completion of shoal for bash, made by `shoal completion bash`.\n"
        "_shoal_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
        "_shoal_files() {\n"
        "    compopt -o filenames 2>/dev/null\n"
        "    mapfile -t COMPREPLY < <(compgen \"${1:--f}\" -- \"$cur\")\n"
        "}\n"
        "_shoal() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]} verb='' i\n"
        "    COMPREPLY=()\n"
        "    # `--flag=value` is three words.\n"
        "    if [[ $cur == = ]]; then cur=''; fi\n"
        "    if [[ $flag == = ]]; then flag=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        if [[ ${COMP_WORDS[i]} != -* ]]; then verb=${COMP_WORDS[i]} && break; fi\n"
        "    done\n"
        "    case $verb in\n"
        "        '') _shoal_words ",
        in_quotes(concat(names_of_verbs(), " ", bash_flags(flags_of_tool()))), " ;;\n", cases,
        "    esac\n"
        "}\n"
        "complete -F _shoal shoal\n");
}

// --- zsh -------------------------------------------------------------------------------------------------------------

std::string zsh_values(Takes takes, std::string_view value) {
    if (takes == Takes::kInput || takes == Takes::kOutput) return "_files";
    if (takes == Takes::kFolder) return "_files -/";
    return is_one_of_words(takes) ? concat("(", words_of(takes, value), ")") : std::string(" ");
}

std::string zsh_flag(const Flag& flag) {
    const bool takes_value = flag.takes != Takes::kNothing;
    const std::string name = concat("--", flag.name, takes_value ? "=" : "");
    const std::string rest =
        concat("[", escaped(brief(flag.help), "[]:\\"), "]",
               takes_value ? concat(":", escaped(flag.value, ":\\"), ":", zsh_values(flag.takes, flag.value)) : "");
    if (flag.letter == 0) return in_quotes(concat(flag.repeats ? "*" : "", name, rest));
    const std::string letter = concat("-", flag.letter);
    return concat(in_quotes(concat("(", letter, " --", flag.name, ")")), "{", letter, takes_value ? "+" : "", ",", name,
                  "}", in_quotes(rest));
}

std::string zsh_verb(const Verb& verb) {
    std::string text = concat("                ", verb.name, ")\n                    _arguments");
    for (const Flag& flag : verb.flags) text += concat(" \\\n                        ", zsh_flag(flag));
    text += " \\\n                        '(- *)--help[print the manual of the verb]'";
    if (verb.max_operands > 0)
        text += concat(" \\\n                        ",
                       in_quotes(concat(verb.max_operands == 1 ? "1:" : "*:", escaped(verb.operands, ":\\"), ":",
                                        zsh_values(verb.takes, verb.operands))));
    return text + " ;;\n";
}

std::string zsh_script() {
    std::string list, cases, flags;
    for (const Verb* verb : verbs()) {
        list += concat("                ", in_quotes(concat(verb->name, ":", escaped(verb->summary, ":\\"))), "\n");
        cases += zsh_verb(*verb);
    }
    for (const Flag& flag : flags_of_tool()) flags += concat(zsh_flag(flag), " ");
    return concat(
        "#compdef shoal\n"
        "# Completion of shoal for zsh, made by `shoal completion zsh`.\n"
        "_shoal() {\n"
        "    local curcontext=$curcontext state line\n"
        "    local -a verbs\n"
        "    _arguments -C ",
        flags,
        "'1:verb:->verb' '*::argument:->argument'\n"
        "    case $state in\n"
        "        verb)\n"
        "            verbs=(\n",
        list,
        "            )\n"
        "            _describe verb verbs ;;\n"
        "        argument)\n"
        "            case $line[1] in\n",
        cases,
        "            esac ;;\n"
        "    esac\n"
        "}\n"
        "if [[ $funcstack[1] == _shoal ]]; then _shoal \"$@\"; else compdef _shoal shoal; fi\n");
}

// --- fish ------------------------------------------------------------------------------------------------------------

std::string fish_quotes(std::string_view text) { return concat("'", escaped(text, "'\\"), "'"); }

std::string fish_values(Takes takes, std::string_view value) {
    if (takes == Takes::kInput || takes == Takes::kOutput) return " -r -F";
    if (takes == Takes::kFolder) return " -x -a '(__fish_complete_directories)'";
    return is_one_of_words(takes) ? concat(" -x -a ", fish_quotes(words_of(takes, value))) : std::string(" -x");
}

std::string fish_flag(std::string_view condition, const Flag& flag) {
    return concat("complete -c shoal -n ", fish_quotes(condition), flag.letter != 0 ? concat(" -s ", flag.letter) : "",
                  " -l ", flag.name, flag.takes == Takes::kNothing ? "" : fish_values(flag.takes, flag.value), " -d ",
                  fish_quotes(brief(flag.help)), "\n");
}

std::string fish_verb(const Verb& verb) {
    const std::string condition = concat("__fish_seen_subcommand_from ", verb.name);
    std::string text =
        concat("complete -c shoal -n __fish_use_subcommand -a ", verb.name, " -d ", fish_quotes(verb.summary), "\n");
    for (const Flag& flag : verb.flags) text += fish_flag(condition, flag);
    text += fish_flag(condition, {.name = "help", .help = "print the manual of the verb"});
    if (verb.takes == Takes::kInput) text += concat("complete -c shoal -n ", fish_quotes(condition), " -F\n");
    if (is_one_of_words(verb.takes))
        text += concat("complete -c shoal -n ", fish_quotes(condition), " -a ",
                       fish_quotes(words_of(verb.takes, verb.operands)), "\n");
    return text;
}

std::string fish_script() {
    std::string text = "# Completion of shoal for fish, made by `shoal completion fish`.\ncomplete -c shoal -f\n";
    for (const Flag& flag : flags_of_tool()) text += fish_flag("__fish_use_subcommand", flag);
    for (const Verb* verb : verbs()) text += fish_verb(*verb);
    return text;
}

int run_completion(const Arguments& arguments, Files&, Console& console) {
    const std::string& shell = arguments.operands()[0];
    console.print_out(shell == "bash" ? bash_script() : shell == "zsh" ? zsh_script() : fish_script());
    return 0;
}

}  // namespace

const Verb kCompletionVerb{.name = "completion",
                           .summary = "print a script that completes command lines in a shell",
                           .operands = "bash|zsh|fish",
                           .takes = Takes::kOneOf,
                           .min_operands = 1,
                           .max_operands = 1,
                           .flags = {},
                           .manual = kCompletionManual,
                           .examples = kCompletionExamples,
                           .run = run_completion};

}  // namespace shoal_tool
