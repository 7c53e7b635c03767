#include "source_tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

namespace structure {
namespace {

bool starts_with_any(std::string_view text, std::initializer_list<std::string> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return text.starts_with(p); });
}

std::string place(const Path& root, const Path& file, int line, const std::string& what) {
    return std::filesystem::relative(file, root).string() + ":" + std::to_string(line) + ": " + what;
}

std::string first_part(const std::string& name) { return name.substr(0, name.find('/')); }

/// Returns the index of a room, or -1.
int room_index(const Lines& rooms, const std::string& name) {
    const auto found = std::find(rooms.begin(), rooms.end(), name);
    return found == rooms.end() ? -1 : static_cast<int>(found - rooms.begin());
}

/// What is wrong with one include of a file that lives in rooms[from]; empty when nothing is.
std::string broken_include(const Lines& rooms, int from, const Include& include) {
    if (!include.quoted) return {};
    const bool is_public = include.name.starts_with("shoal/");
    const int to = room_index(rooms, first_part(is_public ? include.name.substr(6) : include.name));
    const std::string& room = rooms[static_cast<std::size_t>(from)];
    if (to < 0) return is_public ? "includes \"" + include.name + "\", which is in no room" : std::string();
    if (to > from) return "room " + room + " includes upwards: \"" + include.name + "\"";
    if (!is_public && to != from) return "room " + room + " includes a private header: \"" + include.name + "\"";
    return {};
}

}  // namespace

std::string read_text(const Path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

Lines read_lines(const Path& file) {
    std::ifstream stream(file);
    Lines lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string_view trim(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<Path> files_beneath(const Path& root, const std::string& folder, const Lines& extensions) {
    std::vector<Path> files;
    if (!std::filesystem::is_directory(root / folder)) return files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
        const std::string extension = entry.path().extension().string();
        const bool wanted =
            extensions.empty() || std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
        if (wanted && entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

namespace {

/// Adds the rooms of one line `set(SHOAL_..._ROOMS name name)`.
void add_rooms(const std::string& line, Lines& rooms) {
    const std::size_t end = line.find("_ROOMS ");
    if (!line.starts_with("set(SHOAL_") || end == std::string::npos || line.find('$') != std::string::npos) return;
    std::string word;
    for (const char c : line.substr(end + 7)) {
        if (c != ' ' && c != ')') {
            word.push_back(c);
        } else if (!word.empty()) {
            rooms.push_back(word);
            word.clear();
        }
    }
}

}  // namespace

Lines read_rooms(const Path& root) {
    Lines rooms;
    for (const std::string& line : read_lines(root / "cmake" / "rooms.cmake")) add_rooms(line, rooms);
    return rooms;
}

Lines read_runtime_rooms(const Path& root) {
    Lines rooms;
    for (const std::string& line : read_lines(root / "cmake" / "rooms.cmake"))
        if (line.starts_with("set(SHOAL_RUNTIME_ROOMS")) add_rooms(line, rooms);
    return rooms;
}

std::vector<Include> read_includes(const Path& file) {
    std::vector<Include> includes;
    int number = 0;
    for (const std::string& line : read_lines(file)) {
        ++number;
        std::string_view text = trim(line);
        if (!text.starts_with('#')) continue;
        text = trim(text.substr(1));
        if (!text.starts_with("include")) continue;
        text = trim(text.substr(7));
        const std::size_t end = text.find_first_of("\">", 1);
        if (end == std::string_view::npos) continue;
        includes.push_back({std::string(text.substr(1, end - 1)), text.front() == '"', number});
    }
    return includes;
}

Lines broken_room_order(const Path& root) {
    Lines broken;
    const Lines rooms = read_rooms(root);
    const int first_of_world = room_index(rooms, "react"), last_of_world = room_index(rooms, "reload");
    for (int from = 0; from < static_cast<int>(rooms.size()); ++from) {
        const std::string& room = rooms[static_cast<std::size_t>(from)];
        for (const std::string& folder : {"include/shoal/" + room, "src/" + room, "tests/" + room})
            for (const Path& file : files_beneath(root, folder, {".h", ".cpp"}))
                for (const Include& include : read_includes(file)) {
                    std::string what = broken_include(rooms, from, include);
                    // What happens around a world is tested in a whole one.
                    if (!what.empty() && folder.starts_with("tests/") && from >= first_of_world && from < last_of_world)
                        what = broken_include(rooms, last_of_world, include);
                    if (!what.empty()) broken.push_back(place(root, file, include.line, what));
                }
    }
    return broken;
}

Lines broken_public_includes(const Path& root) {
    static const Lines kSlow = {"algorithm", "atomic", "functional", "iostream", "map", "memory", "regex", "thread"};
    Lines broken;
    for (const Path& file : files_beneath(root, "include", {".h"})) {
        for (const Include& include : read_includes(file)) {
            const bool ours = include.quoted && include.name.starts_with("shoal/");
            const bool of_c = include.name == "stddef.h" || include.name == "stdint.h";  // for the interface in C
            // A program of MPI names its communicator, which each MPI declares in its own way.
            const bool of_mpi = include.name == "mpi.h" && file.parent_path().filename() == "cluster";
            const bool standard =
                !include.quoted && (of_c || of_mpi || include.name.find_first_of("/.") == std::string::npos);
            if (!ours && !standard)
                broken.push_back(place(root, file, include.line, "<" + include.name + "> is not for a public header"));
            if (std::find(kSlow.begin(), kSlow.end(), include.name) != kSlow.end())
                broken.push_back(place(root, file, include.line, "<" + include.name + "> is slow to compile"));
        }
    }
    return broken;
}

Lines broken_system_includes(const Path& root) {
    Lines broken;
    for (const std::string folder : {"include", "src"})
        for (const Path& file : files_beneath(root, folder, {".h", ".cpp"}))
            for (const Include& include : read_includes(file)) {
                const bool system =
                    starts_with_any(include.name, {"sys/", "unistd.h", "fcntl.h", "pthread.h", "signal.h", "dlfcn.h"});
                if (system && !file.string().starts_with((root / "src/base/os_").string()))
                    broken.push_back(
                        place(root, file, include.line, "<" + include.name + "> belongs to src/base/os_*"));
            }
    return broken;
}

Lines broken_detail_includes(const Path& root) {
    Lines broken;
    for (const std::string folder : {"samples", "examples", "plugins", "tests/consumer"})
        for (const Path& file : files_beneath(root, folder, {".h", ".c", ".cpp"}))
            for (const Include& include : read_includes(file))
                if (include.name.starts_with("shoal/") && include.name.find("/detail/") != std::string::npos)
                    broken.push_back(place(root, file, include.line, "includes \"" + include.name + "\""));
    return broken;
}

Lines public_headers(const Path& root) {
    Lines headers;
    for (const Path& file : files_beneath(root, "include/shoal", {".h"})) {
        const std::string name = std::filesystem::relative(file, root / "include/shoal").string();
        if (name.find("/detail/") == std::string::npos) headers.push_back(name);
    }
    return headers;
}

Lines shared_header_names(const Path& root) {
    Lines names, shared;
    for (const std::string& header : public_headers(root)) names.push_back(Path(header).filename().string());
    std::sort(names.begin(), names.end());
    for (std::size_t i = 1; i < names.size(); ++i)
        if (names[i] == names[i - 1] && (shared.empty() || shared.back() != names[i])) shared.push_back(names[i]);
    return shared;
}

Lines broken_header_list(const Path& root) {
    Lines listed, broken;
    for (const std::string& line : read_lines(root / "docs" / "headers.md"))
        if (line.starts_with("| [")) listed.push_back(line.substr(3, line.find(']') - 3));
    const Lines headers = public_headers(root);
    for (const std::string& header : headers)
        if (std::count(listed.begin(), listed.end(), header) != 1)
            broken.push_back("docs/headers.md: lists " + header + " not once");
    for (const std::string& name : listed)
        if (std::find(headers.begin(), headers.end(), name) == headers.end())
            broken.push_back("docs/headers.md: " + name + " is not a public header");
    return broken;
}

Lines headers_not_in_shoal_h(const Path& root) {
    std::vector<std::string> reached = {"shoal/shoal.h"};
    for (std::size_t i = 0; i < reached.size(); ++i)
        for (const Include& include : read_includes(root / "include" / reached[i]))
            if (include.quoted && std::find(reached.begin(), reached.end(), include.name) == reached.end())
                reached.push_back(include.name);
    Lines missing;
    for (const std::string& room : read_runtime_rooms(root))
        for (const Path& file : files_beneath(root, "include/shoal/" + room, {".h"})) {
            const std::string name = std::filesystem::relative(file, root / "include").string();
            const bool is_detail = name.find("/detail/") != std::string::npos;
            if (!is_detail && std::find(reached.begin(), reached.end(), name) == reached.end()) missing.push_back(name);
        }
    return missing;
}

Lines files_with_lines(const Path& root, const std::string& folder, std::size_t limit) {
    Lines broken;
    for (const Path& file : files_beneath(root, folder, {".h", ".cpp"})) {
        const std::size_t num_lines = read_lines(file).size();
        if (num_lines >= limit)
            broken.push_back(place(root, file, static_cast<int>(num_lines), "is too long: split it by what it does"));
    }
    return broken;
}

std::string to_text(const Lines& places) {
    std::string text;
    for (const std::string& line : places) text += "  " + line + "\n";
    return text;
}

}  // namespace structure
