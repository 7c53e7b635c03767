#include "source_tree.h"

#include <algorithm>
#include <vector>

namespace structure {
namespace {

/// Returns the lines as one text, without their common indent and without white space at the ends of lines.
std::string without_indent(const Lines& lines) {
    std::size_t indent = std::string::npos;
    for (const std::string& line : lines)
        if (!trim(line).empty()) indent = std::min(indent, line.find_first_not_of(' '));
    std::string text;
    for (const std::string& line : lines) {
        const std::string rest = trim(line).empty() ? "" : line.substr(indent);
        text += rest.substr(0, rest.find_last_not_of(" \t\r") + 1) + "\n";
    }
    return text;
}

bool is_region_mark(std::string_view line) {
    line = trim(line);
    return line.starts_with("// [") && line.ends_with("]");
}

std::string without_space(std::string_view text) {
    std::string result;
    for (const char c : text)
        if (c != ' ' && c != '\n') result += c;
    return result;
}

/// Calls visit(code) for each `code` in the last cell of a row of a table.
template <class Visit>
void for_each_code_of_last_cell(std::string_view line, Visit&& visit) {
    line = line.substr(0, line.rfind('|'));
    line.remove_prefix(std::min(line.rfind(" | "), line.size()));
    for (std::size_t at = line.find('`'); at != std::string_view::npos; at = line.find('`', at + 1)) {
        const std::size_t begin = at + 1;
        at = line.find('`', begin);
        if (at == std::string_view::npos) return;
        visit(line.substr(begin, at - begin));
    }
}

void collect_regions(const Path& file, Lines& regions) {
    Lines region;
    std::string open;
    for (const std::string& line : read_lines(file)) {
        if (!is_region_mark(line)) {
            if (!open.empty()) region.push_back(line);
        } else if (open.empty()) {
            open = trim(line);
        } else if (open == trim(line)) {
            regions.push_back(without_indent(region));
            region.clear();
            open.clear();
        }
    }
}

/// What the blocks of documents are compared with.
struct Shown {
    Lines regions;
    Lines outputs;  // of the examples
};

/// Returns what is wrong with a block that begins with `fence`; empty if nothing is.
std::string wrong_with_block(std::string_view fence, const std::string& block, const Shown& shown) {
    const auto is_output = [&](const std::string& output) { return output.find(block) != std::string::npos; };
    if (fence == "```cpp" && std::find(shown.regions.begin(), shown.regions.end(), block) == shown.regions.end())
        return "this C++ is no region `// [name]` of a source in examples/ or tests/";
    if (fence == "```text" && std::none_of(shown.outputs.begin(), shown.outputs.end(), is_output))
        return "no example prints this; its output is in an .expected file in examples/";
    return {};
}

void check_document(const Path& root, const Path& document, const Shown& shown, Lines& broken) {
    Lines block;
    std::string fence;
    int number = 0, first = 0;
    for (const std::string& line : read_lines(document)) {
        ++number;
        if (fence.empty()) {
            if (trim(line).starts_with("```")) fence = trim(line);
            first = number;
        } else if (trim(line) != "```") {
            block.push_back(line);
        } else {
            if (const std::string wrong = wrong_with_block(fence, without_indent(block), shown); !wrong.empty())
                broken.push_back(std::filesystem::relative(document, root).string() + ":" + std::to_string(first) +
                                 ": " + wrong);
            block.clear();
            fence.clear();
        }
    }
}

std::vector<Path> documents_of(const Path& root) {
    std::vector<Path> documents = files_beneath(root, "docs", {".md"});
    for (const auto& entry : std::filesystem::directory_iterator(root))
        if (entry.path().extension() == ".md") documents.push_back(entry.path());
    return documents;
}

/// Calls visit(target) for each `[text](target)` of a line, but not for pictures, `![text](target)`, and not in code.
template <class Visit>
void for_each_link(std::string_view line, Visit&& visit) {
    for (std::size_t at = line.find("]("); at != std::string_view::npos; at = line.find("](", at + 1)) {
        const std::size_t begin = line.rfind('[', at), end = line.find(')', at);
        const bool is_picture = begin != std::string_view::npos && begin > 0 && line[begin - 1] == '!';
        const bool is_code = std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at), '`') % 2 != 0;
        if (end != std::string_view::npos && !is_picture && !is_code) visit(line.substr(at + 2, end - at - 2));
    }
}

/// Whether a line ends a statement: texts in other languages do not, and drawings that are explained at their right.
bool is_statement(std::string_view line) {
    line = trim(line.substr(0, line.find("//")));
    return line.ends_with(';') && !line.starts_with('|');
}

void check_block(const std::string& place, const Lines& block, const Lines& regions, Lines& broken) {
    if (std::none_of(block.begin(), block.end(), is_statement)) return;
    const std::string text = without_indent(block);
    if (std::find(regions.begin(), regions.end(), text) == regions.end())
        broken.push_back(place + ": this C++ is no region `// [name]` of a source in examples/ or tests/");
}

/// Looks at the blocks of the comment that a header opens with: lines indented by five spaces or more.
void check_header(const Path& root, const Path& header, const Lines& regions, Lines& broken) {
    const Lines lines = read_lines(header);
    const std::string name = std::filesystem::relative(header, root).string();
    Lines block;
    for (std::size_t i = 1; i <= lines.size(); ++i) {
        const bool is_comment = i < lines.size() && lines[i].starts_with("//");
        const std::string text = is_comment ? lines[i].substr(2) : "";
        if (text.starts_with("     ")) {
            block.push_back(text);
            continue;
        }
        check_block(name + ":" + std::to_string(i), block, regions, broken);
        block.clear();
        if (!is_comment) return;
    }
}

Lines all_regions(const Path& root) {
    Lines regions;
    for (const std::string folder : {"examples", "tests"})
        for (const Path& file : files_beneath(root, folder, {".cpp", ".h", ".c"})) collect_regions(file, regions);
    return regions;
}

}  // namespace

Lines broken_header_snippets(const Path& root, const Lines& rooms) {
    const Lines regions = all_regions(root);
    Lines broken;
    for (const std::string& room : rooms)
        for (const Path& header : files_beneath(root, "include/shoal/" + room, {".h"}))
            check_header(root, header, regions, broken);
    return broken;
}

Lines broken_snippets(const Path& root) {
    Shown shown{all_regions(root), {}};
    for (const Path& file : files_beneath(root, "examples", {".expected"})) shown.outputs.push_back(read_text(file));
    Lines broken;
    for (const Path& document : documents_of(root)) check_document(root, document, shown, broken);
    return broken;
}

Lines calls_not_compiled(const Path& root, const Path& document, const Path& source) {
    const std::string compiled = without_space(read_text(root / source));
    Lines broken;
    int number = 0;
    for (const std::string& line : read_lines(root / document)) {
        ++number;
        if (line.starts_with("| "))
            for_each_code_of_last_cell(line, [&](std::string_view code) {
                if (compiled.find(without_space(code)) == std::string::npos)
                    broken.push_back(document.string() + ":" + std::to_string(number) + ": " + source.string() +
                                     " does not have `" + std::string(code) + "`");
            });
    }
    return broken;
}

Lines broken_links(const Path& root) {
    Lines broken;
    for (const Path& document : documents_of(root)) {
        int number = 0;
        bool in_code = false;
        for (const std::string& line : read_lines(document)) {
            ++number;
            if (line.starts_with("```")) in_code = !in_code;
            if (!in_code)
                for_each_link(line, [&](std::string_view target) {
                    const std::string path(target.substr(0, target.find('#')));
                    if (path.empty() || path.find("://") != std::string::npos) return;
                    if (!std::filesystem::exists(document.parent_path() / path))
                        broken.push_back(std::filesystem::relative(document, root).string() + ":" +
                                         std::to_string(number) + ": there is no file " + path);
                });
        }
    }
    return broken;
}

}  // namespace structure
