#pragma once
// Helpers for verbs that rewrite files. They detect schema files, read a file with its comments, and check the new text
// before it is written.

#include "arguments.h"
#include "files.h"
#include "shoal/rewrite/source_text.h"

#include <memory>
#include <optional>

namespace shoal_tool {

inline constexpr Flag kWidthFlag{
    .name = "width",
    .value = "N",
    .help = "the longest line, in characters: longer lists and mappings take a line for each entry (default: 100)",
    .takes = Takes::kText};
inline constexpr Flag kRewriteStdinNameFlag{
    .name = "stdin-name",
    .value = "PATH",
    .help = "the file that a text from standard input stands for: messages name it, and its ending says the format",
    .takes = Takes::kText};

/// A source or schema file and its comments.
struct SourceFile {
    std::string path;  ///< name for messages
    std::unique_ptr<shoal::Diagnostics> diagnostics;
    shoal::SourceComments comments;
    std::optional<shoal::Document> document;
    bool is_schema = false;  ///< if true, words need no quotes

    std::string_view text() const { return diagnostics->text(1); }
};

/// Reads `--width`. Errors: the value is not a number from 20 to 100,000.
shoal::Status read_layout(const Arguments& arguments, shoal::SourceLayout& layout);

/// Returns options for reading sources or schema files, with the compiler's limit on nesting.
shoal::ReadOptions read_options(bool is_schema);

/// Returns whether `text` has words without quotes, so that it can only be read as a schema file.
bool is_schema_text(const std::string& name, std::string_view text);

/// Reads a source or a schema file. Errors: added to the file's diagnostics. On error, `document` is empty.
SourceFile read_source_file(const Arguments& arguments, Files& files, const std::string& path);

/// Adds a warning, at the file's first comment, that JSON cannot contain comments. If `strict` is true, adds an error
/// instead.
void report_comments_left_out(SourceFile& file, bool strict);

/// Returns whether a parsed text has the same tree and comments as a file. If the format is JSON, comments are not
/// compared.
bool says_the_same(const shoal::Document& text, const shoal::SourceComments& comments, const SourceFile& file,
                   shoal::SourceFormat format);

/// Returns the file's text in a format. Errors: the new text does not read back as the same tree with the same comments
/// (JSON has no comments).
shoal::Result<std::string> rewrite(const SourceFile& file, shoal::SourceFormat format, shoal::SourceLayout layout);

}  // namespace shoal_tool
