#include "shoal/source/detail/source_files.h"

#include "shoal/base/clock.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"
#include "shoal/source/detail/yaml.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace shoal {
namespace {

constexpr std::size_t kMaxResourceName = 1024;
constexpr std::size_t kMostListed = 4096;  // maximum number of names from which a hint is chosen

/// Returns the start of the first line at or after `begin` that is the conflict marker `mark`; npos if there is none.
std::size_t find_mark(std::string_view text, std::string_view mark, std::size_t begin) {
    for (std::size_t at = text.find(mark, begin); at != std::string_view::npos; at = text.find(mark, at + 1)) {
        const std::size_t end = at + mark.size();
        const bool is_line = at == 0 || text[at - 1] == '\n';
        if (is_line && (end == text.size() || text[end] == ' ' || text[end] == '\r' || text[end] == '\n')) return at;
    }
    return std::string_view::npos;
}

/// Reads a file without looking for conflict markers, which may be valid lines in a multi-line string.
Result<Document> read_in_format(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options) {
    switch (source_format(diagnostics.name(file))) {
        case SourceFormat::kYaml:
            return read_yaml(file, diagnostics, options);
        case SourceFormat::kJson:
            return read_json(file, diagnostics, options);
        case SourceFormat::kSjson:
            break;
    }
    return read_sjson(file, diagnostics, options);
}

/// Returns whether git's conflict markers make a file unreadable. If so, reports an error, because the reader's errors
/// would not mention git.
bool refuse_conflict_marks(std::uint32_t file, const ReadOptions& options, Diagnostics& diagnostics) {
    const std::string_view text = diagnostics.text(file);
    const std::size_t begin = find_mark(text, "<<<<<<<", 0);
    const std::size_t end = begin == std::string_view::npos ? begin : find_mark(text, ">>>>>>>", begin);
    if (end == std::string_view::npos) return false;
    Diagnostics unused;
    if (read_in_format(unused.refer_file(std::string(diagnostics.name(file)), text), unused, options)) return false;
    std::size_t num_conflicts = 0;
    for (std::size_t at = begin; at != std::string_view::npos; at = find_mark(text, "<<<<<<<", at + 1)) ++num_conflicts;
    diagnostics
        .error({file, static_cast<std::uint32_t>(begin)},
               concat("a merge has left ", num_conflicts, num_conflicts == 1 ? " conflict" : " conflicts",
                      " in this text, marked by <<<<<<<, ======= and >>>>>>>"),
               "keep one of the two versions between the marks, or what both say, and remove the marks")
        .note({file, static_cast<std::uint32_t>(end)}, num_conflicts == 1 ? "it ends here" : "the first ends here");
    return true;
}

}  // namespace

bool DiskFiles::exists(const std::string& path) const { return path_exists(path); }

Result<std::string> DiskFiles::read(const std::string& path) { return read_file(path); }

std::string DiskFiles::canonical(const std::string& path) const {
    std::error_code failed;
    const std::filesystem::path result = std::filesystem::weakly_canonical(path, failed);
    return failed ? path : result.string();
}

std::vector<std::string> DiskFiles::list(const std::string& folder) const {
    std::vector<std::string> names;
    std::error_code failed;
    for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
        if (names.size() == kMostListed) break;
        names.push_back(at->path().filename().string());
    }
    std::sort(names.begin(), names.end());  // folder listings are not sorted
    return names;
}

FileStamp DiskFiles::stamp(const std::string& path) const { return file_stamp(path); }

std::int64_t DiskFiles::now_ns() const { return wall_clock_ns(); }

std::vector<std::string> MemoryFiles::list(const std::string& folder) const {
    const std::string start = folder == "." ? std::string() : folder + "/";
    std::vector<std::string> names;
    for (const auto& [path, text] : texts_)
        if (path.size() > start.size() && path.compare(0, start.size(), start) == 0 &&
            path.find('/', start.size()) == std::string::npos && names.size() < kMostListed)
            names.push_back(path.substr(start.size()));
    return names;
}

void MemoryFiles::add(std::string path, std::string text) {
    const auto at = std::lower_bound(texts_.begin(), texts_.end(), path,
                                     [](const auto& entry, const std::string& key) { return entry.first < key; });
    if (at != texts_.end() && at->first == path)
        at->second = std::move(text);
    else
        texts_.insert(at, {std::move(path), std::move(text)});
}

void MemoryFiles::remove(const std::string& path) {
    std::erase_if(texts_, [&](const auto& entry) { return entry.first == path; });
}

const std::string* MemoryFiles::find(const std::string& path) const {
    const auto at = std::lower_bound(texts_.begin(), texts_.end(), path,
                                     [](const auto& entry, const std::string& key) { return entry.first < key; });
    return at != texts_.end() && at->first == path ? &at->second : nullptr;
}

bool MemoryFiles::exists(const std::string& path) const { return find(path) != nullptr; }

Result<std::string> MemoryFiles::read(const std::string& path) {
    const std::string* text = find(path);
    if (text == nullptr) return Status::error(concat("cannot read ", path, ": there is no such text in memory"));
    ++num_reads_;
    return *text;
}

SourceFormat source_format(std::string_view file_name) {
    if (file_name.ends_with(".json")) return SourceFormat::kJson;
    if (file_name.ends_with(".yaml") || file_name.ends_with(".yml")) return SourceFormat::kYaml;
    return SourceFormat::kSjson;
}

Result<Document> read_document(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options) {
    if (refuse_conflict_marks(file, options, diagnostics)) return Status::error("it has marks of a conflict");
    return read_in_format(file, diagnostics, options);
}

std::string path_in_root(std::string_view root, std::string_view name) {
    while (root.size() > 1 && root.back() == '/') root.remove_suffix(1);
    if (root.empty() || root == ".") return std::string(name);
    return concat(root, root == "/" ? "" : "/", name);
}

std::string_view resource_name_problem(std::string_view name) {
    if (name.empty()) return "it is empty";
    if (name.front() == '/') return "it is absolute";
    if (name.size() > kMaxResourceName) return "it is too long";
    if (name.find('\0') != std::string_view::npos) return "it holds a zero byte";
    if (name.find('\\') != std::string_view::npos) return "it holds a backslash";
    if (!is_utf8(name)) return "it is not UTF-8";
    const std::size_t digits = name.find_first_not_of("0123456789", 1);
    if (name[0] == '$' && digits > 1 && digits < name.size() && name[digits] == '/')
        return "it begins with \"$\", a number and \"/\", which in a blob stands for a root";
    for (std::size_t start = 0; start <= name.size();) {
        const std::size_t end = std::min(name.find('/', start), name.size());
        const std::string_view part = name.substr(start, end - start);
        if (part.empty()) return "it has an empty part";
        if (part == ".") return "it has the part \".\"; leave that out";
        if (part == "..") return "it leaves the roots";
        start = end + 1;
    }
    return {};
}

}  // namespace shoal
