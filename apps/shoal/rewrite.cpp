#include "rewrite.h"

#include "shoal/base/text.h"
#include "shoal/document/sjson.h"
#include "shoal/source/composer.h"
#include "sources.h"

#include <algorithm>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr std::uint64_t kLeastWidth = 20, kGreatestWidth = 100'000;
constexpr std::string_view kEndings[] = {"sjson", "json", "yaml"};

/// Sources may be nested as deep as the compiler allows.
ReadOptions read_options(bool is_schema) {
    ReadOptions options = ComposeOptions().read;
    options.bare_texts = is_schema;
    return options;
}

bool has_only(Node mapping, std::span<const std::string_view> keys) {
    return mapping.is_mapping() && std::all_of(mapping.begin(), mapping.end(), [&](Node child) {
               return std::find(keys.begin(), keys.end(), child.key()) != keys.end();
           });
}

/// Returns whether a tree has only what schema files have.
bool is_schema_file(Node root) {
    constexpr std::string_view kKeys[] = {"components",   "unknown_components", "unknown_fields",
                                          "ignored_keys", "renamed_keys",       "level_entities"};
    constexpr std::string_view kComponentKeys[] = {"version", "spawn_order", "many",    "single",
                                                   "toggled", "whole",       "in_file", "fields"};
    if (!has_only(root, kKeys)) return false;
    const Node components = root.find("components");
    return !components ||
           (components.is_mapping() && std::all_of(components.begin(), components.end(), [&](Node child) {
                return child.is_null() || has_only(child, kComponentKeys);
            }));
}

/// Reads the text as a schema file. False: it is none.
bool read_as_schema(SourceFile& file, const std::string& text) {
    auto diagnostics = std::make_unique<Diagnostics>();
    SourceComments comments;
    const std::uint32_t number = diagnostics->add_file(file.path, text);
    Result<Document> document = read_source_text(number, *diagnostics, comments, read_options(true));
    if (!document || !is_schema_file(document->root())) return false;
    file.diagnostics = std::move(diagnostics);
    file.comments = std::move(comments);
    file.document = std::move(document).value();
    file.is_schema = true;
    return true;
}

/// Returns the lines of all comments, sorted.
std::vector<std::string> lines_of(const SourceComments& comments) {
    std::vector<std::string> lines;
    for (const Comment* comment : comments.all())
        for (std::string& line : shoal::lines_of(*comment))
            if (!line.empty()) lines.push_back(std::move(line));
    std::sort(lines.begin(), lines.end());
    return lines;
}

}  // namespace

Status read_layout(const Arguments& arguments, SourceLayout& layout) {
    std::uint64_t width = layout.width;
    Status status = arguments.read_number("width", kLeastWidth, kGreatestWidth, width);
    layout.width = static_cast<std::uint32_t>(width);
    return status;
}

SourceFile read_source_file(const Arguments& arguments, Files& files, const std::string& path) {
    SourceFile file;
    file.path = is_standard_stream(path) ? arguments.value("stdin-name", kStandardInputName) : path;
    file.diagnostics = std::make_unique<Diagnostics>();
    if (is_blob_file(files, path)) {
        file.diagnostics->error({}, concat("\"", file.path, "\" is a blob, not a source"),
                                "give the source that it was compiled from; `shoal dump` shows what it holds");
        return file;
    }
    Result<std::string> text = files.read(path);
    if (!text) {
        file.diagnostics->error({}, std::string(text.message()), "give the path of a source or a schema file");
        return file;
    }
    const std::uint32_t number = file.diagnostics->add_file(file.path, *text);
    Result<Document> document = read_source_text(number, *file.diagnostics, file.comments, read_options(false));
    if (document)
        file.document = std::move(document).value();
    else if (source_format(file.path) == SourceFormat::kSjson)
        read_as_schema(file, *text);
    return file;
}

Result<std::string> rewrite(const SourceFile& file, SourceFormat format, SourceLayout layout) {
    layout.bare_texts = file.is_schema;
    std::string text = write_source_text(file.document->root(), format, *file.diagnostics, file.comments, layout);
    Diagnostics diagnostics;
    SourceComments comments;
    const std::string name = concat("the new text.", kEndings[static_cast<std::size_t>(format)]);
    const std::uint32_t number = diagnostics.refer_file(name, text);
    const Result<Document> again = read_source_text(number, diagnostics, comments, read_options(file.is_schema));
    const bool is_same = again && equal(again->root(), file.document->root()) &&
                         (format == SourceFormat::kJson || lines_of(comments) == lines_of(file.comments));
    if (!is_same)
        return Status::error(
            concat("\"", file.path, "\" cannot be written without loss; please report this\n", diagnostics.format()));
    return text;
}

}  // namespace shoal_tool
