#include "document/node_writer.h"

#include <algorithm>
#include <cstring>

namespace shoal {

using document_detail::KeyTable;
using document_detail::kFewKeys;

namespace {

constexpr const char* kBlockOwner = "document";
constexpr std::size_t kTextBlockBytes = std::size_t(16) << 10;

/// Mixes the length and the first and last bytes: cheap, and different for most keys that people use in one mapping.
std::uint32_t key_signature(std::string_view key) {
    std::uint32_t first = 0, last = 0;
    if (key.size() >= 4) {
        std::memcpy(&first, key.data(), 4);
        std::memcpy(&last, key.data() + key.size() - 4, 4);
    } else {
        for (const char c : key) first = first << 8 | static_cast<unsigned char>(c);
    }
    return (first * 0x9E3779B1u) ^ (last + static_cast<std::uint32_t>(key.size()));
}

}  // namespace

NodeWriter::~NodeWriter() {
    for (const Document::Block& block : blocks_) release_memory(block.memory, block.num_bytes, kBlockOwner);
    for (const KeyTable* table : key_tables_) delete table;
}

void NodeWriter::open(Code code, SourcePosition position) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    add(code, position);
    frames_.push_back({node, static_cast<std::uint32_t>(keys_.size()), 0, code == Code::kMapping, nullptr});
}

void NodeWriter::close() {
    const Frame frame = frames_.back();
    NodeData& node = nodes_[frame.node];
    node.length = frame.num_children;
    node.span = static_cast<std::uint32_t>(nodes_.size()) - frame.node;
    node.keys = frame.table;
    keys_.resize(frame.first_key);
    frames_.pop_back();
}

std::uint32_t NodeWriter::add_key(std::string_view text, SourcePosition position) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    append(Code::kString, position, static_cast<std::uint32_t>(text.size())).text = text.data();
    Frame& frame = frames_.back();
    if (frame.table != nullptr) return add_to_table(frame, node);

    const std::uint32_t signature = key_signature(text);
    for (std::size_t i = frame.first_key; i < keys_.size(); ++i)
        if (keys_[i].signature == signature && nodes_[keys_[i].node].string() == text) return keys_[i].node;
    keys_.push_back({signature, node});
    if (keys_.size() - frame.first_key < kFewKeys) return kNoNode;

    frame.table = key_tables_.emplace_back(new KeyTable);
    for (std::size_t i = frame.first_key; i < keys_.size(); ++i) add_to_table(frame, keys_[i].node);
    return kNoNode;
}

std::uint32_t NodeWriter::add_to_table(Frame& frame, std::uint32_t node) {
    const std::uint32_t same = frame.table->insert(nodes_.data() + frame.node, node - frame.node);
    return same == 0 ? kNoNode : frame.node + same;
}

void NodeWriter::repeat(std::uint32_t first) {
    // Spans and the tables of keys count from the mapping, so that they are right in the copy too.
    const std::uint32_t end = first + nodes_[first].span;
    ++frames_.back().num_children;
    for (std::uint32_t node = first; node < end; ++node) {
        const NodeData copied = nodes_[node];
        nodes_.push_back(copied);
    }
}

char* NodeWriter::text_room(std::size_t num_bytes) {
    if (static_cast<std::size_t>(room_end_ - room_) >= num_bytes) return room_;
    const std::size_t block_bytes = std::max(num_bytes, kTextBlockBytes);
    blocks_.push_back({allocate_memory(block_bytes, kBlockOwner), block_bytes});
    room_ = static_cast<char*>(blocks_.back().memory);
    room_end_ = room_ + block_bytes;
    return room_;
}

Document NodeWriter::finish() {
    SHOAL_ASSERT(depth() == 0 && frames_.front().num_children == 1, "a document needs one root, which must be closed");
    frames_.front().num_children = 0;
    Document document;
    document.nodes_.swap(nodes_);
    document.blocks_.swap(blocks_);
    document.key_tables_.swap(key_tables_);
    room_ = room_end_ = nullptr;
    return document;
}

}  // namespace shoal
