#pragma once
// Texts that are rewritten without loss: a tree, the comments of its text, and a writer of both in any format.
//
//     SourceComments comments;
//     const Result<Document> reef = read_source_text(file, diagnostics, comments);
//     const std::string yaml = write_source_text(reef->root(), SourceFormat::kYaml, diagnostics, comments);
//
// Comments belong to keys, elements, lists and mappings, and are found by the place of these in their text:
//
//     // before
//     coral = {  // at_start of the mapping
//         height = 2  // after
//         // at_end of the mapping
//     }
//
// An edited tree is built with DocumentBuilder. What it takes over from a read document keeps its place, and with it its
// comments, its spelling and its line breaks; a list or mapping that is built anew keeps them when it is begun at the place
// of the old one, and its keys when they are added with key(child). What is removed takes its comments along. Nodes from
// several texts may be mixed, when one Diagnostics has the texts and one SourceComments their comments.
// Thread: one thread at a time per object.

#include "shoal/base/hash_map.h"
#include "shoal/base/status.h"
#include "shoal/document/document.h"
#include "shoal/document/read_options.h"
#include "shoal/source/source_files.h"

#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// Returns a text whose lines end with \n, where they ended with \n or \r\n.
SHOAL_API std::string with_line_feeds(std::string_view text);

struct Comment {
    std::string text;  ///< without its signs: a line, or what stands between /* and */, whose lines end with \n
    SourcePosition position;
    std::uint16_t num_blanks = 0;   ///< between it and what stands before it on its line
    bool is_block = false;          ///< between /* and */
    bool is_first = false;          ///< on its line
    bool after_blank_line = false;  ///< an empty line stands before it
};

/// Returns the lines of a comment as every format can have them: without blanks around them, and with escapes such as \x01 in
/// place of characters that YAML does not allow.
SHOAL_API std::vector<std::string> lines_of(const Comment& comment);

/// What stands around a key with its value, or around an element of a list, or the root.
struct NodeComments {
    std::vector<Comment> before;    ///< above it
    std::vector<Comment> after;     ///< at the end of its line
    std::vector<Comment> at_start;  ///< of a list or mapping: at the end of the line where it opens
    std::vector<Comment> at_end;    ///< of a list or mapping: before it closes
    bool after_blank_line = false;  ///< an empty line stands between it and what is before it
};

/// The comments of any number of texts.
class SourceComments {
public:
    /// What stands before and after a child of a list or mapping, or the root; nullptr: nothing. Lifetime: until the
    /// next change.
    SHOAL_API const NodeComments* around(Node node) const;
    /// What stands at the start and the end of a list or mapping.
    SHOAL_API const NodeComments* inside(Node node) const;
    /// The same, to add comments or take them away. Requires: the node has a place.
    SHOAL_API NodeComments& change_around(Node node);
    SHOAL_API NodeComments& change_inside(Node node);

    /// Returns those of a tree alone.
    SHOAL_API SourceComments of(Node root) const;
    /// All of them, in no order. Lifetime: until the next change.
    SHOAL_API std::vector<const Comment*> all() const;

private:
    friend class CommentReader;
    NodeComments& change(std::uint64_t place);
    const NodeComments* find(std::uint64_t place) const;

    HashMap<std::uint64_t, std::uint32_t> indices_{Owner("source comments")};  // by place, in entries_
    std::vector<NodeComments> entries_;
};

/// Reads a file of `diagnostics` in the format that its name says, and adds its comments.
/// Errors: one or more in `diagnostics`, no document, and no comments.
SHOAL_API Result<Document> read_source_text(std::uint32_t file, Diagnostics& diagnostics, SourceComments& comments,
                                            const ReadOptions& options = {});

struct SourceLayout {
    std::uint32_t width = 100;  ///< code points of a line; longer lists and mappings take a line for each child
    /// Spaces for each level; 0: as in the text that the root is from if that has the same format, otherwise a tab in
    /// SJSON, two spaces in JSON and YAML.
    std::uint32_t indent = 0;
    /// SJSON: `:` or `=`, commas, and the braces of the root stay as they are in the text that the root is from; what
    /// is from other texts gets the signs of that one. Otherwise ` = `, no commas and no braces.
    bool keeps_signs = false;
    bool bare_texts = false;  ///< SJSON: strings that were read without quotes stay without, as in schema files
};

/// Returns the tree as text with its comments, which JSON has not. It reads back as an equal tree.
///
/// Numbers, and strings on one line, are spelled as in the text that they are from, if the format and the value are still
/// the same. Lists and mappings that stand on one line stay there if they fit; so do those that are from no text, if no
/// mapping is inside. Aliases of YAML stay aliases in YAML. Lines end as the first line of the text that the root is from
/// does, with \n or \r\n; a byte order mark stays if the format is the same.
/// Requires: `node` is not none, and lists and mappings are nested at most 1,000 deep.
/// Lifetime: `diagnostics` has the texts that the nodes are from.
SHOAL_API std::string write_source_text(Node node, SourceFormat format, const Diagnostics& diagnostics,
                                        const SourceComments& comments, const SourceLayout& layout = {});

}  // namespace shoal
