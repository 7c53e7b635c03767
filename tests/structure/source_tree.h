#pragma once
// The project's files as text, and the rules that they keep. A rule returns the places where it is broken, so that it
// can be shown to fail on a fixture and to pass on the project.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace structure {

using Path = std::filesystem::path;
using Lines = std::vector<std::string>;

inline Path project_root() { return SHOAL_SOURCE_DIR; }

std::string read_text(const Path& file);
Lines read_lines(const Path& file);
std::string_view trim(std::string_view text);

/// Returns the regular files beneath root/folder with one of the extensions (all when there are none given), sorted.
std::vector<Path> files_beneath(const Path& root, const std::string& folder, const Lines& extensions = {});

/// Returns the rooms of `set(SHOAL_..._ROOMS name name)` lines in cmake/rooms.cmake, top to bottom.
Lines read_rooms(const Path& root);
Lines read_runtime_rooms(const Path& root);

struct Include {
    std::string name;  ///< what stands between the quotes or angles
    bool quoted;
    int line;
};
std::vector<Include> read_includes(const Path& file);

/// A room includes public headers of itself and of rooms above it, and private headers of its own only.
Lines broken_room_order(const Path& root);

/// Public headers include shoal's public headers and standard ones, without those that are slow to compile.
Lines broken_public_includes(const Path& root);

/// Calls to the operating system are in src/base/os_*.cpp.
Lines broken_system_includes(const Path& root);

/// Returns the files beneath root/folder with `limit` lines or more.
Lines files_with_lines(const Path& root, const std::string& folder, std::size_t limit);

/// A function with a body. Lines are counted from the one with the opening brace to that with the closing one.
struct Function {
    Path file;
    int line = 0;  ///< of the opening brace
    int num_lines = 0;
};
std::vector<Function> functions_of(const Path& file);
std::vector<Function> functions_beneath(const Path& root, const Lines& folders);
/// Returns the places of those with more than `limit` lines.
Lines functions_longer_than(const Path& root, const std::vector<Function>& functions, int limit);

/// Headers in include/shoal/<room>/detail/ are for shoal itself. Programs of users, and what is shown to them, do not include
/// them: samples, examples, plugins, and the project that uses the installed libraries.
Lines broken_detail_includes(const Path& root);

/// Returns the public headers, as `room/name.h`, sorted.
Lines public_headers(const Path& root);

/// Returns the names that several public headers have.
Lines shared_header_names(const Path& root);

/// docs/headers.md lists each public header once, and nothing else.
Lines broken_header_list(const Path& root);

/// Returns the public headers of the runtime's rooms that shoal/shoal.h does not bring.
Lines headers_not_in_shoal_h(const Path& root);

/// The rooms as an SVG: a box each, from top to bottom, and an arc for every room that another one includes, without those
/// that follow from others.
std::string rooms_picture(const Path& root);

/// Every ```cpp block of the documents is, word for word, a region of a source that is compiled and run: the lines
/// between two lines `// [name]`, without their common indent. Every ```text block is printed by an example.
Lines broken_snippets(const Path& root);

/// Each `call` in the last column of a table of a document stands in a source, but for white space.
Lines calls_not_compiled(const Path& root, const Path& document, const Path& source);

/// Links in the documents name files that exist.
Lines broken_links(const Path& root);

/// The same for C++ in the comments that public headers open with: a block indented by five spaces of which a line ends with
/// a semicolon. Looks at the headers of `rooms` only.
Lines broken_header_snippets(const Path& root, const Lines& rooms);

/// Joins the places for a message.
std::string to_text(const Lines& places);

}  // namespace structure
