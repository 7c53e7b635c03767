#pragma once
// Builds a document in code, front to back, from new values and from nodes of other documents.
//
//     DocumentBuilder builder;
//     builder.begin_mapping(level.position());
//     builder.number("mass", 2.5);               // a key and its value
//     builder.member(prefab.find("transform"));  // its key and its whole subtree, by reference
//     builder.end();
//     Document merged = builder.finish();
//
// A builder can also print its output piece by piece, in constant memory:
//
//     DocumentBuilder printer(TextFormat::kJson, write_to, file);  // calls write_to(file, text), which a program has
//
// Nodes of another document keep their source positions. A reference to such a node takes the space of one node, or two
// if it has a key, regardless of the size of its subtree.
// Lifetime: documents whose nodes are used must outlive the built document.
// Thread: a builder may be used by one thread at a time.

#include "shoal/document/detail/document.h"

#include <cstdint>
#include <string_view>

namespace shoal {

enum class TextFormat : std::uint8_t { kSjson, kJson };
/// Receives the next piece of the output. Lifetime: `piece` is valid only during the call.
using TextFunction = void (*)(void* context, std::string_view piece);

/// Requires: one root, a key before each value in a mapping, and no duplicate keys in a mapping. Checked builds assert
/// that keys differ; other builds keep duplicates.
class DocumentBuilder {
public:
    SHOAL_API DocumentBuilder();
    /// Prints the text that write_sjson() or write_json() would return. Repeated keys are not detected.
    SHOAL_API DocumentBuilder(TextFormat format, TextFunction print, void* context);
    SHOAL_API ~DocumentBuilder();
    DocumentBuilder(const DocumentBuilder&) = delete;
    DocumentBuilder& operator=(const DocumentBuilder&) = delete;
    SHOAL_API void begin_mapping(SourcePosition position = {});
    SHOAL_API void begin_list(SourcePosition position = {});
    SHOAL_API void end();
    /// Copies `text`.
    SHOAL_API void key(std::string_view text, SourcePosition position = {});
    /// Adds the key of `child`. Requires: child.has_key().
    SHOAL_API void key(Node child);
    /// Adds a key that may be a duplicate. Returns the position of an equal key in this mapping, or no position.
    SHOAL_API SourcePosition read_key(std::string_view text, SourcePosition position);
    SHOAL_API void null(SourcePosition position = {});
    SHOAL_API void boolean(bool value, SourcePosition position = {});
    SHOAL_API void integer(std::int64_t value, SourcePosition position = {});
    SHOAL_API void unsigned_integer(std::uint64_t value, SourcePosition position = {});
    /// Requires: the value is finite.
    SHOAL_API void number(double value, SourcePosition position = {});
    /// Copies `text`. Requires: `text` is UTF-8.
    SHOAL_API void string(std::string_view text, SourcePosition position = {});
    /// Adds the subtree of `node` by reference. Requires: `node` belongs to a finished document.
    SHOAL_API void value(Node node);
    /// Calls key(child) and value(child).
    SHOAL_API void member(Node child);
    /// Adds a copy of an earlier, complete value. `first` is the index of its first node. Keys count as nodes.
    SHOAL_API void repeat(std::uint32_t first);
    SHOAL_API std::uint32_t num_nodes() const;
    // These functions add a key and its value.
    SHOAL_API void begin_mapping(std::string_view key);
    SHOAL_API void begin_list(std::string_view key);
    SHOAL_API void boolean(std::string_view key, bool value);
    SHOAL_API void unsigned_integer(std::string_view key, std::uint64_t value);
    /// A value that is not finite becomes null.
    SHOAL_API void number(std::string_view key, double value);
    SHOAL_API void string(std::string_view key, std::string_view text);
    /// Returns the document, and leaves the builder empty. A printing builder prints the rest of its output, and
    /// returns a document with a null root.
    /// Requires: the root is complete.
    SHOAL_API Document finish();

private:
    struct End;
    End* end_;  // collects nodes, or writes text
};

}  // namespace shoal
