#pragma once
// Writes the nodes of one document, front to back, for the readers and DocumentBuilder.
// Thread: one thread at a time.

#include "document/key_table.h"
#include "shoal/base/large_pages.h"
#include "shoal/document/document.h"

#include <cstdint>
#include <cstring>
#include <string_view>

namespace shoal {

class NodeWriter {
    using Code = document_detail::Code;
    using NodeData = document_detail::NodeData;
    using KeyTable = document_detail::KeyTable;

public:
    static constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

    NodeWriter() { frames_.push_back({kNoNode, 0, 0, false, nullptr}); }
    ~NodeWriter();
    NodeWriter(const NodeWriter&) = delete;
    NodeWriter& operator=(const NodeWriter&) = delete;

    void reserve(std::size_t num_nodes) {
        nodes_.reserve(num_nodes);
        prefer_large_pages_inside(nodes_.data(), num_nodes * sizeof(NodeData));
    }

    std::uint32_t depth() const { return static_cast<std::uint32_t>(frames_.size() - 1); }
    bool in_mapping() const { return frames_.back().is_mapping; }
    /// The open list or mapping. Requires: depth() > 0.
    const NodeData& container() const { return nodes_[frames_.back().node]; }
    const NodeData& operator[](std::uint32_t node) const { return nodes_[node]; }
    /// The node that was added last. Requires: num_nodes() > 0.
    const NodeData& last() const { return nodes_.back(); }
    std::size_t num_nodes() const { return nodes_.size(); }

    /// Opens a list or mapping.
    void open(Code code, SourcePosition position);
    void close();

    /// Adds a key. Returns kNoNode, or the node of the same key if the mapping has it already.
    std::uint32_t add_key(std::string_view text, SourcePosition position);

    /// Adds a value and returns it, so that the caller can set its payload.
    NodeData& add(Code code, SourcePosition position, std::uint32_t length = 0) {
        ++frames_.back().num_children;
        return append(code, position, length);
    }

    /// Adds a copy of the value that begins at node `first`. Requires: it is closed.
    void repeat(std::uint32_t first);

    /// Returns room for a text that lives as long as the document. Call keep_text() with how much of it was used.
    char* text_room(std::size_t num_bytes);
    void keep_text(std::size_t num_bytes) { room_ += num_bytes; }

    /// Requires: depth() == 0, and there is a root.
    Document finish();

private:
    struct Frame {
        std::uint32_t node;
        std::uint32_t first_key;  // in keys_
        std::uint32_t num_children;
        bool is_mapping;
        KeyTable* table;  // of a mapping with many keys
    };
    /// A key of an open mapping. Keys with different signatures differ.
    struct OpenKey {
        std::uint32_t signature;
        std::uint32_t node;
    };

    NodeData& append(Code code, SourcePosition position, std::uint32_t length) {
        NodeData node;
        node.large_integer = 0;
        node.length = length;
        node.span = 1;
        node.offset = position.offset;
        node.file_and_code = position.file << 4 | static_cast<std::uint32_t>(code);
        nodes_.push_back(node);
        return nodes_.back();
    }
    std::uint32_t add_to_table(Frame& frame, std::uint32_t node);

    Array<NodeData> nodes_{Owner("document")};
    Array<Frame> frames_{Owner("document reader")};  // the first one holds the root
    Array<OpenKey> keys_{Owner("document reader")};
    Array<Document::Block> blocks_{Owner("document")};
    Array<KeyTable*> key_tables_{Owner("document")};
    char* room_ = nullptr;
    char* room_end_ = nullptr;
};

}  // namespace shoal
