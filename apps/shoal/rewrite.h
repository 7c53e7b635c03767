#pragma once
// What the verbs share that read texts for what they say, and write them anew: schema files, a text with its comments, and a
// new text that is checked before anybody gets it.

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
    std::string path;  ///< as messages name it
    std::unique_ptr<shoal::Diagnostics> diagnostics;
    shoal::SourceComments comments;
    std::optional<shoal::Document> document;
    bool is_schema = false;  ///< words need no quotes

    std::string_view text() const { return diagnostics->text(1); }
};

/// Reads `--width`. Errors: it is no number from 20 to 100,000.
shoal::Status read_layout(const Arguments& arguments, shoal::SourceLayout& layout);

/// How sources and schema files are read: nested as deep as the compiler allows.
shoal::ReadOptions read_options(bool is_schema);

/// Returns whether a text is a schema file that only reads as one, because it has words without quotes.
bool is_schema_text(const std::string& name, std::string_view text);

/// Reads a text as a source, or as a schema file if it is one. Errors: in its diagnostics, and no document.
SourceFile read_source_file(const Arguments& arguments, Files& files, const std::string& path);

/// Tells in its diagnostics that the comments of a file are left out in JSON, with the place of the first. Strict: an error.
void report_comments_left_out(SourceFile& file, bool strict);

/// Whether a text that was read has the tree of a file, and its comments too, except in JSON, which has none.
bool says_the_same(const shoal::Document& text, const shoal::SourceComments& comments, const SourceFile& file,
                   shoal::SourceFormat format);

/// Returns the text in a format. Errors: what is written does not read back as the same tree with the same comments, but for
/// JSON, which has none.
shoal::Result<std::string> rewrite(const SourceFile& file, shoal::SourceFormat format, shoal::SourceLayout layout);

}  // namespace shoal_tool
