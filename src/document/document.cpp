#include "shoal/document/detail/document.h"

#include "document/key_table.h"

#include <bit>
#include <limits>

namespace shoal {

using document_detail::Code;
using document_detail::KeyTable;
using document_detail::NodeData;

std::string_view kind_name(NodeKind kind) {
    constexpr std::string_view kNames[] = {"null",     "a bool", "an integer", "a number",
                                           "a string", "a list", "a mapping"};
    return kNames[static_cast<std::size_t>(kind)];
}

Document::Document(Document&& other) noexcept { *this = std::move(other); }

Document& Document::operator=(Document&& other) noexcept {
    nodes_.swap(other.nodes_);
    blocks_.swap(other.blocks_);
    key_tables_.swap(other.key_tables_);
    return *this;
}

Document::~Document() {
    for (const Block& block : blocks_) release_memory(block.memory, block.num_bytes, "document");
    for (const KeyTable* table : key_tables_) delete table;
}

const std::int64_t* Node::as_int64() const { return data().code() == Code::kInteger ? &data().integer : nullptr; }

const std::uint64_t* Node::as_uint64() const {
    const bool fits = data().code() == Code::kLargeInteger || (data().code() == Code::kInteger && data().integer >= 0);
    return fits ? &data().large_integer : nullptr;
}

double Node::as_double() const {
    const NodeData& node = data(is_number(), "as_double() needs a number");
    if (node.code() == Code::kNumber) return node.number;
    if (node.code() == Code::kInteger) return static_cast<double>(node.integer);
    return static_cast<double>(node.large_integer);
}

Node Node::find(std::string_view key) const {
    if (!is_mapping()) return {};
    const NodeData* const mapping = value_;
    if (mapping->keys != nullptr) {
        const std::uint32_t index = mapping->keys->find(mapping, key);
        return index == 0 ? Node() : Node(mapping + index, mapping + index + 1);
    }
    const NodeData* const end = mapping + mapping->span;
    for (const NodeData* at = mapping + 1; at != end; at += 1 + (at + 1)->span)
        if (at->length == key.size() && at->string() == key) return Node(at, at + 1);
    return {};
}

Node Node::operator[](std::uint32_t index) const {
    SHOAL_ASSERT(index < size(), "the child index is out of range; see size()");
    if (is_list() && value_->span == value_->length + 1) return Node(nullptr, value_ + 1 + index);
    Iterator at = begin();
    for (std::uint32_t i = 0; i < index; ++i) ++at;
    return *at;
}

namespace {

bool equal_integers(Node a, Node b) {
    if (const std::int64_t *x = a.as_int64(), *y = b.as_int64(); x != nullptr || y != nullptr)
        return x != nullptr && y != nullptr && *x == *y;
    return *a.as_uint64() == *b.as_uint64();
}

/// Compares the kinds and the values, but not the keys or the children.
bool equal_alone(Node a, Node b) {
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
        case NodeKind::kNull:
            return true;
        case NodeKind::kBool:
            return a.as_bool() == b.as_bool();
        case NodeKind::kInteger:
            return equal_integers(a, b);
        case NodeKind::kNumber:
            return std::bit_cast<std::uint64_t>(a.as_double()) == std::bit_cast<std::uint64_t>(b.as_double());
        case NodeKind::kString:
            return a.as_string() == b.as_string();
        case NodeKind::kList:
        case NodeKind::kMapping:
            return a.size() == b.size();
    }
    return false;
}

}  // namespace

bool equal(Node a, Node b) {
    struct Pair {
        Node::Iterator a, a_end, b;
    };
    Array<Pair> open{Owner("document")};
    const auto enter = [&](Node x, Node y) {
        if (!equal_alone(x, y)) return false;
        if (x.size() > 0) open.push_back({x.begin(), x.end(), y.begin()});
        return true;
    };
    if (!enter(a, b)) return false;
    while (!open.empty()) {
        Pair& top = open.back();
        if (top.a == top.a_end) {
            open.pop_back();
            continue;
        }
        const Node x = *top.a++, y = *top.b++;
        if (x.key() != y.key() || !enter(x, y)) return false;
    }
    return true;
}

}  // namespace shoal
