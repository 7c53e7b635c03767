#include "source_tree.h"

#include <algorithm>

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

void check_document(const Path& root, const Path& document, const Lines& regions, Lines& broken) {
    Lines block;
    bool inside = false;
    int number = 0, first = 0;
    for (const std::string& line : read_lines(document)) {
        ++number;
        if (!inside) {
            inside = trim(line) == "```cpp";
            first = number;
        } else if (trim(line) != "```") {
            block.push_back(line);
        } else {
            if (std::find(regions.begin(), regions.end(), without_indent(block)) == regions.end())
                broken.push_back(std::filesystem::relative(document, root).string() + ":" + std::to_string(first) +
                                 ": this C++ is no region `// [name]` of a source in examples/ or tests/");
            block.clear();
            inside = false;
        }
    }
}

}  // namespace

Lines broken_snippets(const Path& root) {
    Lines regions, broken;
    for (const std::string folder : {"examples", "tests"})
        for (const Path& file : files_beneath(root, folder, {".cpp"})) collect_regions(file, regions);
    std::vector<Path> documents = files_beneath(root, "docs", {".md"});
    for (const auto& entry : std::filesystem::directory_iterator(root))
        if (entry.path().extension() == ".md") documents.push_back(entry.path());
    for (const Path& document : documents) check_document(root, document, regions, broken);
    return broken;
}

}  // namespace structure
