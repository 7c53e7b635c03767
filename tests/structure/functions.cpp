// How long functions are, found without a compiler: comments, texts and preprocessor lines are blanked, then braces are
// matched. A brace belongs to a function when what stands before it has a parameter list and is not the head of a type or
// of a namespace. The sources are laid out by the formatter, which the scanner relies on: a space before a body's brace,
// none before that of an initializer.

#include "source_tree.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace structure {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns where the token ends that begins at `begin` and that is not code: a comment, a text, a preprocessor line.
/// Returns `begin` when it is code.
std::size_t end_of_blank(const std::string& text, std::size_t begin) {
    const auto after = [&](std::string_view end, std::size_t from) {
        const std::size_t found = text.find(end, from);
        return found == std::string::npos ? text.size() : found + end.size();
    };
    const std::string_view rest = std::string_view(text).substr(begin);
    if (rest.starts_with("//")) return std::min(text.size(), text.find('\n', begin));
    if (rest.starts_with("/*")) return after("*/", begin + 2);
    if (rest.starts_with("R\"") && (begin == 0 || !is_word(text[begin - 1]))) {
        const std::size_t open = text.find('(', begin);
        return after(")" + text.substr(begin + 2, open - begin - 2) + "\"", open);
    }
    const bool is_digit_separator = rest[0] == '\'' && begin > 0 && is_word(text[begin - 1]);
    if (rest[0] == '"' || (rest[0] == '\'' && !is_digit_separator)) {
        std::size_t i = begin + 1;
        while (i < text.size() && text[i] != rest[0] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
        return std::min(text.size(), i + 1);
    }
    const std::size_t line = text.find_last_of('\n', begin);
    if (rest[0] == '#' && trim(std::string_view(text).substr(line + 1, begin - line - 1)).empty()) {
        std::size_t end = text.find('\n', begin);
        while (end != std::string::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
        return std::min(text.size(), end);
    }
    return begin;
}

/// The code of a source: what is not code is made of spaces. Lines stay where they are.
std::string code_only(std::string text) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t end = end_of_blank(text, i);
        for (std::size_t k = i; k < end; ++k)
            if (text[k] != '\n') text[k] = ' ';
        i = std::max(end, i + 1);
    }
    return text;
}

/// Removes what stands in the brackets that follow `word`: template parameters, alignments.
void remove_brackets_after(std::string& head, std::string_view word, char open, char close) {
    for (std::size_t at = head.find(word); at != std::string::npos; at = head.find(word, at + 1)) {
        const std::size_t begin = head.find_first_not_of(' ', at + word.size());
        if (begin == std::string::npos || head[begin] != open) continue;
        std::size_t end = begin;
        int depth = 0;
        do {
            depth += head[end] == open ? 1 : head[end] == close ? -1 : 0;
        } while (depth > 0 && ++end < head.size());
        head.erase(begin, std::min(head.size(), end + 1) - begin);
    }
}

bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
    }
    return false;
}

enum class Brace { kScope, kFunction, kOther };

/// Says what a brace opens outside of functions. `head` is what stands before it in its statement.
Brace brace_after(std::string head) {
    remove_brackets_after(head, "template", '<', '>');
    remove_brackets_after(head, "alignas", '(', ')');
    const std::size_t last = head.find_last_not_of(" \n");
    if (last == std::string::npos || last + 1 == head.size()) return Brace::kOther;  // an initializer
    if (head[last] == '=' || has_word(head, "concept")) return Brace::kOther;
    for (const char* word : {"namespace", "class", "struct", "union", "enum", "extern"})
        if (has_word(head, word) && head.find_last_of(')') == std::string::npos) return Brace::kScope;
    // A macro may stand before a type without a semicolon: SHOAL_COMPONENT(Fish, speed) struct Shoal {
    const std::size_t line = head.find_last_of('\n', last) + 1;
    for (const char* word : {"namespace", "class", "struct", "union", "enum"})
        if (has_word(head.substr(line), word) && head.find('(', line) == std::string::npos) return Brace::kScope;
    return head.find(')') != std::string::npos ? Brace::kFunction : Brace::kOther;
}

}  // namespace

std::vector<Function> functions_of(const Path& file) {
    const std::string code = code_only(read_text(file));
    std::vector<Function> functions;
    std::vector<Brace> open;
    std::string head;
    int line = 1, parentheses = 0;
    const auto is_inside = [&] { return std::count(open.begin(), open.end(), Brace::kFunction) > 0; };
    for (const char c : code) {
        line += c == '\n';
        parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == '{') {
            const Brace brace = is_inside() || parentheses > 0 ? Brace::kOther : brace_after(head);
            if (brace == Brace::kFunction) functions.push_back({file, line, 0});
            if (brace == Brace::kScope) head.clear();
            open.push_back(brace);
        } else if (c == '}' && !open.empty()) {
            const Brace brace = open.back();
            open.pop_back();
            if (brace == Brace::kFunction) functions.back().num_lines = line - functions.back().line + 1;
            if (brace != Brace::kOther) head.clear();
        } else if (!is_inside()) {
            head.push_back(c);
            if (c == ';' && parentheses == 0) head.clear();
        }
    }
    return functions;
}

std::vector<Function> functions_beneath(const Path& root, const Lines& folders) {
    std::vector<Function> functions;
    for (const std::string& folder : folders)
        for (const Path& file : files_beneath(root, folder, {".h", ".cpp"}))
            for (const Function& function : functions_of(file)) functions.push_back(function);
    return functions;
}

Lines functions_longer_than(const Path& root, const std::vector<Function>& functions, int limit) {
    Lines broken;
    for (const Function& function : functions)
        if (function.num_lines > limit)
            broken.push_back(std::filesystem::relative(function.file, root).string() + ":" +
                             std::to_string(function.line) + ": a function of " + std::to_string(function.num_lines) +
                             " lines");
    return broken;
}

}  // namespace structure
