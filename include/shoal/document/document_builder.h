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
// The output can also be printed directly, piece by piece, so that it takes no memory, whatever its length:
//
//     DocumentBuilder printer(TextFormat::kJson, write_to, file);  // calls write_to(file, text), which a program has
//
// Nodes from another document keep their source positions. Each of these nodes takes the space of one new node, or of
// two with its key, however large it is. Lifetime: the documents that nodes come from must outlive the one that is
// built.
// Thread: one thread at a time per builder.

#include "shoal/document/detail/document.h"

#include <cstdint>
#include <string_view>

namespace shoal {

enum class TextFormat : std::uint8_t { kSjson, kJson };
/// Receives the next piece of a text. Lifetime: the call.
using TextFunction = void (*)(void* context, std::string_view piece);

/// Requires, in all calls: one root; a key before each value inside a mapping; different keys in a mapping (checked
/// builds assert this; other builds keep both keys).
class DocumentBuilder {
public:
    SHOAL_API DocumentBuilder();
    /// Prints what write_sjson() or write_json() would return, and keeps nothing; repeated keys are not detected.
    SHOAL_API DocumentBuilder(TextFormat format, TextFunction print, void* context);
    SHOAL_API ~DocumentBuilder();
    DocumentBuilder(const DocumentBuilder&) = delete;
    DocumentBuilder& operator=(const DocumentBuilder&) = delete;
    SHOAL_API void begin_mapping(SourcePosition position = {});
    SHOAL_API void begin_list(SourcePosition position = {});
    SHOAL_API void end();
    /// Copies `text`.
    SHOAL_API void key(std::string_view text, SourcePosition position = {});
    /// Uses the key of `child`. Requires: child.has_key().
    SHOAL_API void key(Node child);
    /// The same for keys that may repeat: returns the position of an equal key in this mapping, or no position.
    SHOAL_API SourcePosition read_key(std::string_view text, SourcePosition position);
    SHOAL_API void null(SourcePosition position = {});
    SHOAL_API void boolean(bool value, SourcePosition position = {});
    SHOAL_API void integer(std::int64_t value, SourcePosition position = {});
    SHOAL_API void unsigned_integer(std::uint64_t value, SourcePosition position = {});
    /// Requires: a finite value, because the text formats have no others.
    SHOAL_API void number(double value, SourcePosition position = {});
    /// Copies `text`. Requires: UTF-8.
    SHOAL_API void string(std::string_view text, SourcePosition position = {});
    /// Adds the subtree of `node` by reference. Requires: `node` belongs to a finished document.
    SHOAL_API void value(Node node);
    /// The same as key(child) and value(child).
    SHOAL_API void member(Node child);
    /// Adds a copy of an earlier, complete value, which was node number `first`. Keys count as nodes.
    SHOAL_API void repeat(std::uint32_t first);
    SHOAL_API std::uint32_t num_nodes() const;
    // A key and its value.
    SHOAL_API void begin_mapping(std::string_view key);
    SHOAL_API void begin_list(std::string_view key);
    SHOAL_API void boolean(std::string_view key, bool value);
    SHOAL_API void unsigned_integer(std::string_view key, std::uint64_t value);
    /// A value that is not finite becomes null.
    SHOAL_API void number(std::string_view key, double value);
    SHOAL_API void string(std::string_view key, std::string_view text);
    /// Returns the document, and leaves the builder empty; a builder that prints prints the rest, and returns null.
    /// Requires: a complete root.
    SHOAL_API Document finish();

private:
    struct End;
    End* end_;  // nodes or text
};

}  // namespace shoal
