#pragma once
// Shared by the verbs that rewrite texts: detects schema files, reads a text with its comments, and checks the
// new text before it is written.

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
    std::string path;  ///< the name for messages
    std::unique_ptr<shoal::Diagnostics> diagnostics;
    shoal::SourceComments comments;
    std::optional<shoal::Document> document;
    bool is_schema = false;  ///< words need no quotes

    std::string_view text() const { return diagnostics->text(1); }
};

/// Reads `--width`. Errors: the value is not a number from 20 to 100,000.
shoal::Status read_layout(const Arguments& arguments, shoal::SourceLayout& layout);

/// Options for reading sources and schema files, which may be nested as deeply as the compiler allows.
shoal::ReadOptions read_options(bool is_schema);

/// Returns whether a text can only be read as a schema file, because it has words without quotes.
bool is_schema_text(const std::string& name, std::string_view text);

/// Reads a text as a source, or as a schema file if it is a schema file. Errors: in the file's diagnostics; there is
/// then no document.
SourceFile read_source_file(const Arguments& arguments, Files& files, const std::string& path);

/// Warns in the file's diagnostics, at its first comment, that JSON leaves comments out. With `strict`, this is an
/// error.
void report_comments_left_out(SourceFile& file, bool strict);

/// Whether a text that was read has the same tree as a file, and the same comments; JSON has no comments to compare.
bool says_the_same(const shoal::Document& text, const shoal::SourceComments& comments, const SourceFile& file,
                   shoal::SourceFormat format);

/// Returns the text in a format. Errors: the new text does not read back as the same tree with the same comments
/// (except in JSON, which has none).
shoal::Result<std::string> rewrite(const SourceFile& file, shoal::SourceFormat format, shoal::SourceLayout layout);

}  // namespace shoal_tool
