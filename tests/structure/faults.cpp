// The list of faults that `./dev soak faults` puts into the sources. tests/faults/README.md describes its format, and
// tests/faults/run.py reads it, too.

#include "source_tree.h"

#include <vector>

namespace structure {
namespace {

std::size_t times_in(const std::string& text, const std::string& part) {
    std::size_t times = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
    return times;
}

void add_line(std::string& text, const std::string& line) {
    if (!text.empty()) text.push_back('\n');
    text.append(line, 1);
}

/// What is wrong with a fault; empty when nothing is.
std::string broken_fault(const Path& root, const Fault& fault) {
    if (fault.file.empty() || fault.tests.empty() || fault.text.empty()) return "lacks its file, its tests or its text";
    if (fault.text == fault.replacement) return "changes nothing";
    if (!std::filesystem::is_regular_file(root / fault.file)) return "is in a file that does not exist: " + fault.file;
    const std::string program = fault.tests.substr(0, fault.tests.find(' '));
    const std::string name = program.substr(0, program.find("_tests"));
    const std::string folder = name == "duel" ? "samples" : name;
    if (name == program || !std::filesystem::is_directory(root / "tests" / folder))
        return "is tested by " + program + ", which has no folder in tests/";
    const std::size_t times = times_in(read_text(root / fault.file), fault.text);
    if (times == 1) return {};
    return "changes a text that is " + std::to_string(times) + " times in " + fault.file + ", and not once";
}

}  // namespace

std::vector<Fault> read_faults(const Path& root) {
    std::vector<Fault> faults;
    for (const Path& file : files_beneath(root, "tests/faults", {".txt"})) {
        for (const std::string& line : read_lines(file)) {
            if (line.starts_with("fault  ")) {
                faults.push_back({file, line.substr(7), {}, {}, {}, {}});
            } else if (faults.empty() || faults.back().list != file) {
                continue;  // the comment at the top
            } else if (line.starts_with("file   ")) {
                faults.back().file = line.substr(7);
            } else if (line.starts_with("tests  ")) {
                faults.back().tests = line.substr(7);
            } else if (line.starts_with('-')) {
                add_line(faults.back().text, line);
            } else if (line.starts_with('+')) {
                add_line(faults.back().replacement, line);
            }
        }
    }
    return faults;
}

Lines broken_faults(const Path& root) {
    Lines broken, names;
    for (const Fault& fault : read_faults(root)) {
        const std::string problem = broken_fault(root, fault);
        const std::string place = fault.list.filename().string() + ": \"" + fault.name + "\" ";
        if (!problem.empty()) broken.push_back(place + problem);
        for (const std::string& name : names)
            if (name == fault.name) broken.push_back(place + "has the name of another one");
        names.push_back(fault.name);
    }
    return broken;
}

}  // namespace structure
