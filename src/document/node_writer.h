#pragma once
// Writes the nodes of one document, front to back, for the readers and DocumentBuilder.
// Thread: one thread at a time.

#include "document/key_table.h"
#include "shoal/base/detail/large_pages.h"
#include "shoal/document/detail/document.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace shoal {

class NodeWriter {
    using Code = document_detail::Code;
    using NodeData = document_detail::NodeData;
    using KeyTable = document_detail::KeyTable;

    static constexpr const char* kBlockOwner = "document";
    static constexpr std::size_t kTextBlockBytes = std::size_t(16) << 10;

public:
    static constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

    NodeWriter() { frames_.push_back({kNoNode, 0, 0, false, nullptr}); }

    ~NodeWriter() {
        for (const Document::Block& block : blocks_) release_memory(block.memory, block.num_bytes, kBlockOwner);
        for (const KeyTable* table : key_tables_) delete table;
    }

    NodeWriter(const NodeWriter&) = delete;
    NodeWriter& operator=(const NodeWriter&) = delete;

    void reserve(std::size_t num_nodes) {
        nodes_.reserve(num_nodes);
        prefer_large_pages_inside(nodes_.data(), num_nodes * sizeof(NodeData));
    }

    std::uint32_t depth() const { return static_cast<std::uint32_t>(frames_.size() - 1); }
    bool in_mapping() const { return frames_.back().is_mapping; }
    /// The innermost open list or mapping. Requires: depth() > 0.
    const NodeData& container() const { return nodes_[frames_.back().node]; }
    const NodeData& operator[](std::uint32_t node) const { return nodes_[node]; }
    /// The last node that was added. Requires: num_nodes() > 0.
    const NodeData& last() const { return nodes_.back(); }
    std::size_t num_nodes() const { return nodes_.size(); }

    /// Opens a list or mapping.
    void open(Code code, SourcePosition position) {
        const auto node = static_cast<std::uint32_t>(nodes_.size());
        add(code, position);
        frames_.push_back({node, static_cast<std::uint32_t>(keys_.size()), 0, code == Code::kMapping, nullptr});
    }

    void close() {
        const Frame frame = frames_.back();
        NodeData& node = nodes_[frame.node];
        node.length = frame.num_children;
        node.span = static_cast<std::uint32_t>(nodes_.size()) - frame.node;
        node.keys = frame.table;
        keys_.resize(frame.first_key);
        frames_.pop_back();
    }

    /// Adds a key. If the mapping already has an equal key, returns the node of that key; otherwise returns kNoNode.
    std::uint32_t add_key(std::string_view text, SourcePosition position) {
        const auto node = static_cast<std::uint32_t>(nodes_.size());
        append(Code::kString, position, static_cast<std::uint32_t>(text.size())).text = text.data();
        Frame& frame = frames_.back();
        if (frame.table != nullptr) return add_to_table(frame, node);

        const std::uint32_t signature = key_signature(text);
        for (std::size_t i = frame.first_key; i < keys_.size(); ++i)
            if (keys_[i].signature == signature && nodes_[keys_[i].node].string() == text) return keys_[i].node;
        keys_.push_back({signature, node});
        if (keys_.size() - frame.first_key < document_detail::kFewKeys) return kNoNode;

        frame.table = key_tables_.emplace_back(new KeyTable);
        for (std::size_t i = frame.first_key; i < keys_.size(); ++i) add_to_table(frame, keys_[i].node);
        return kNoNode;
    }

    /// Adds a value and returns it, so that the caller can set its payload.
    NodeData& add(Code code, SourcePosition position, std::uint32_t length = 0) {
        ++frames_.back().num_children;
        return append(code, position, length);
    }

    /// Adds a copy of the value that begins at node `first`. Requires: the value is closed.
    void repeat(std::uint32_t first) {
        // Spans and key tables are relative to the mapping, so they are also valid in the copy.
        const std::uint32_t end = first + nodes_[first].span;
        ++frames_.back().num_children;
        for (std::uint32_t node = first; node < end; ++node) {
            const NodeData copied = nodes_[node];
            nodes_.push_back(copied);
        }
    }

    /// Returns memory for a string. The memory lives as long as the document. Call keep_text() with the number of bytes
    /// used.
    char* text_room(std::size_t num_bytes) {
        if (static_cast<std::size_t>(room_end_ - room_) >= num_bytes) return room_;
        const std::size_t block_bytes = std::max(num_bytes, kTextBlockBytes);
        blocks_.push_back({allocate_memory(block_bytes, kBlockOwner), block_bytes});
        room_ = static_cast<char*>(blocks_.back().memory);
        room_end_ = room_ + block_bytes;
        return room_;
    }

    void keep_text(std::size_t num_bytes) { room_ += num_bytes; }

    /// Requires: depth() == 0, and there is a root.
    Document finish() {
        SHOAL_ASSERT(depth() == 0 && frames_.front().num_children == 1,
                     "a document needs one root, which must be closed");
        frames_.front().num_children = 0;
        Document document;
        document.nodes_.swap(nodes_);
        document.blocks_.swap(blocks_);
        document.key_tables_.swap(key_tables_);
        room_ = room_end_ = nullptr;
        return document;
    }

private:
    struct Frame {
        std::uint32_t node;
        std::uint32_t first_key;  // in keys_
        std::uint32_t num_children;
        bool is_mapping;
        KeyTable* table;  // for a mapping with many keys
    };
    /// A key of an open mapping. Equal keys have equal signatures.
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

    /// Mixes the length, the first bytes and the last bytes. The result is cheap to compute, and differs for most keys
    /// of a mapping.
    static std::uint32_t key_signature(std::string_view key) {
        std::uint32_t first = 0, last = 0;
        if (key.size() >= 4) {
            std::memcpy(&first, key.data(), 4);
            std::memcpy(&last, key.data() + key.size() - 4, 4);
        } else {
            for (const char c : key) first = first << 8 | static_cast<unsigned char>(c);
        }
        return (first * 0x9E3779B1u) ^ (last + static_cast<std::uint32_t>(key.size()));
    }

    std::uint32_t add_to_table(Frame& frame, std::uint32_t node) {
        const std::uint32_t same = frame.table->insert(nodes_.data() + frame.node, node - frame.node);
        return same == 0 ? kNoNode : frame.node + same;
    }

    Array<NodeData> nodes_{Owner("document")};
    Array<Frame> frames_{Owner("document reader")};  // the first frame holds the root
    Array<OpenKey> keys_{Owner("document reader")};
    Array<Document::Block> blocks_{Owner("document")};
    Array<KeyTable*> key_tables_{Owner("document")};
    char* room_ = nullptr;
    char* room_end_ = nullptr;
};

}  // namespace shoal
