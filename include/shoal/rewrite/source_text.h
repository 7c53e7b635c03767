#pragma once
// Rewrites texts without loss. Reads a tree and the comments in its text, and writes both in any format.
//
//     SourceComments comments;
//     const Result<Document> reef = read_source_text(file, diagnostics, comments);
//     const std::string yaml = write_source_text(reef->root(), SourceFormat::kYaml, diagnostics, comments);
//
// A comment belongs to a key, an element, a list or a mapping, and is found by the position of that node in its text:
//
//     // before
//     coral = {  // at_start of the mapping
//         height = 2  // after
//         // at_end of the mapping
//     }
//
// An edited tree is built with DocumentBuilder. Nodes that are copied from an existing document keep their position,
// and therefore their comments, spelling and line breaks. A rebuilt list or mapping keeps them if it begins at the
// position of the old one. Keys that are added with key(child) keep them. Comments of removed parts are removed.
// Nodes from several texts may be mixed if the same Diagnostics and SourceComments were used to read the texts. Thread:
// one thread at a time per object.

#include "shoal/base/detail/hash_map.h"
#include "shoal/base/status.h"
#include "shoal/document/detail/document.h"
#include "shoal/document/detail/read_options.h"
#include "shoal/source/detail/source_files.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// Returns a text with all line ends (\n or \r\n) replaced by \n.
SHOAL_API std::string with_line_feeds(std::string_view text);

struct Comment {
    std::string text;  ///< a line, or the text between /* and */, without comment marks and with \n as line ends
    SourcePosition position;
    std::uint16_t num_blanks = 0;   ///< blanks before the comment on its line
    bool is_block = false;          ///< enclosed in /* and */
    bool is_first = false;          ///< comes first on its line
    bool after_blank_line = false;  ///< an empty line precedes it
};

/// Returns the lines of a comment in a form that every format allows: without surrounding blanks, and with escapes such
/// as \x01 for characters that YAML does not allow.
SHOAL_API std::vector<std::string> lines_of(const Comment& comment);

/// The comments of a key with its value, of a list element, or of the root.
struct NodeComments {
    std::vector<Comment> before;    ///< above it
    std::vector<Comment> after;     ///< at the end of its line
    std::vector<Comment> at_start;  ///< for a list or mapping: at the end of its opening line
    std::vector<Comment> at_end;    ///< for a list or mapping: before it closes
    bool after_blank_line = false;  ///< an empty line precedes it
};

/// The comments and tokens of any number of texts.
class SourceComments {
public:
    /// Returns the comments before and after a node, which is the root or a child of a list or mapping; nullptr if
    /// there are none.
    /// Lifetime: until the next change.
    SHOAL_API const NodeComments* around(Node node) const;
    /// Returns the comments at the start and the end of a list or mapping; nullptr if there are none.
    SHOAL_API const NodeComments* inside(Node node) const;
    /// Like around() and inside(), but comments can be added and removed. Requires: the node has a position.
    SHOAL_API NodeComments& change_around(Node node);
    SHOAL_API NodeComments& change_inside(Node node);

    /// Returns the comments of one tree, and all tokens.
    SHOAL_API SourceComments of(Node root) const;
    /// Returns all comments, in no particular order. Lifetime: until the next change.
    SHOAL_API std::vector<const Comment*> all() const;

    /// Returns the tokens of a file, in text order; empty if the file was read without comments.
    SHOAL_API std::span<const TextToken> tokens(std::uint32_t file) const;

private:
    friend class CommentReader;
    NodeComments& change(std::uint64_t place);
    const NodeComments* find(std::uint64_t place) const;

    HashMap<std::uint64_t, std::uint32_t> indices_{Owner("source comments")};  // position -> index into entries_
    std::vector<NodeComments> entries_;
    std::vector<std::vector<TextToken>> tokens_;  // indexed by file
};

/// Reads a file that `diagnostics` holds, in the format that the file's name indicates, and adds its comments and
/// tokens to `comments`.
/// Errors: reported to `diagnostics`. On error, returns no document and adds no comments.
SHOAL_API Result<Document> read_source_text(std::uint32_t file, Diagnostics& diagnostics, SourceComments& comments,
                                            const ReadOptions& options = {});

struct SourceLayout {
    std::uint32_t width = 100;  ///< in code points; longer lists and mappings are written with one child per line
    /// Spaces per level. If 0, uses the indentation of the root's source text if that has the same format, and
    /// otherwise a tab in SJSON and two spaces in JSON and YAML.
    std::uint32_t indent = 0;
    /// In SJSON, keeps the punctuation of the root's source text, which is `:` or `=`, commas, and the braces of the
    /// root. Nodes from other texts are written in the same way. If not set, uses ` = `, no commas and no braces.
    bool keeps_signs = false;
    bool bare_texts = false;  ///< in SJSON, does not quote strings that were read without quotes, as in schema files
};

/// Returns the tree as text, with its comments unless the format is JSON. Reading the text back gives an equal tree.
///
/// Numbers and single-line strings keep the spelling of their source text if they have the same value and format. Lists
/// and mappings that were on one line stay on one line if they fit. New ones are written on one line if they fit and do
/// not contain mappings. YAML aliases stay aliases in YAML output. All lines end like the first line of the root's
/// source text, with \n or \r\n. A byte order mark is kept if the format is the same.
/// Requires: `node` is not none, and lists and mappings are nested at most 1,000 deep.
/// Lifetime: `diagnostics` still has the source texts of the nodes, and `comments` has their comments.
SHOAL_API std::string write_source_text(Node node, SourceFormat format, const Diagnostics& diagnostics,
                                        const SourceComments& comments, const SourceLayout& layout = {});

}  // namespace shoal
