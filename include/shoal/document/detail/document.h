#pragma once
// The document tree that all text formats share. Every node has its position in the source.
//
// Nodes are stored in one flat array in source order, 24 bytes each. Children follow their parent, each value of a
// mapping follows its key, and `span` is the distance to the next sibling:
//
//     { mass = 2  at = [4 0] }
//
//     mapping   key     integer  key   list     integer  integer
//     size 2    "mass"  2        "at"  size 2   4        0
//     span 7    span 1  span 1         span 3
//
// Strings without escapes are views into the source. A document that was made by a DocumentBuilder may also refer to
// nodes of other documents; Node follows these references.
// Lifetime: a Node and its strings are valid while the Document, the documents that it refers to, and the Diagnostics
// that holds the source text exist.
// Thread: a document never changes, so any thread may read it.

#include "shoal/base/assert.h"
#include "shoal/document/diagnostics.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal {

enum class NodeKind : std::uint8_t { kNull, kBool, kInteger, kNumber, kString, kList, kMapping };

/// Returns the kind as a phrase for messages, such as "a list" or "an integer".
SHOAL_API std::string_view kind_name(NodeKind kind);

namespace document_detail {

class KeyTable;

/// The stored kind of a node: a NodeKind, or one of two codes that Node hides.
enum class Code : std::uint32_t {
    kNull,
    kBool,
    kInteger,
    kNumber,
    kString,
    kList,
    kMapping,
    kLargeInteger,  ///< an integer above the largest int64
    kReference,     ///< refers to a node of another document
};

struct NodeData {
    union {
        bool boolean;
        std::int64_t integer;
        std::uint64_t large_integer;
        double number;
        const char* text;
        const KeyTable* keys;  ///< for a mapping with many keys; otherwise nullptr
        const NodeData* target;
    };
    std::uint32_t length;  ///< bytes of a string, or children of a list or mapping
    std::uint32_t span;    ///< nodes in the subtree, including this one
    std::uint32_t offset;
    std::uint32_t file_and_code;  ///< file << 4 | code

    Code code() const { return static_cast<Code>(file_and_code & 15); }
    SourcePosition position() const { return {file_and_code >> 4, offset}; }
    std::string_view string() const { return {text, length}; }
};
static_assert(sizeof(NodeData) == 24);

inline constexpr std::uint32_t kMaxFiles = (1u << 28) - 1;

}  // namespace document_detail

/// A node of a document, or none. Cheap to copy.
class Node {
    using Code = document_detail::Code;
    using NodeData = document_detail::NodeData;

public:
    class Iterator;

    Node() = default;

    /// False for none, which find() returns if no child has the key.
    explicit operator bool() const { return value_ != nullptr; }

    NodeKind kind() const {
        const Code code = data().code();
        return code == Code::kLargeInteger ? NodeKind::kInteger : static_cast<NodeKind>(code);
    }
    bool is_null() const { return kind() == NodeKind::kNull; }
    bool is_bool() const { return kind() == NodeKind::kBool; }
    bool is_integer() const { return kind() == NodeKind::kInteger; }
    /// Also true for integers.
    bool is_number() const { return kind() == NodeKind::kInteger || kind() == NodeKind::kNumber; }
    bool is_string() const { return kind() == NodeKind::kString; }
    bool is_list() const { return kind() == NodeKind::kList; }
    bool is_mapping() const { return kind() == NodeKind::kMapping; }

    /// Where the value starts in its source.
    SourcePosition position() const { return data().position(); }

    /// Whether the node has a key: true for children of mappings. For other nodes, the key is empty and has no
    /// position.
    bool has_key() const { return key_ != nullptr; }
    std::string_view key() const { return key_ == nullptr ? std::string_view() : key_->string(); }
    SourcePosition key_position() const { return key_ == nullptr ? SourcePosition() : key_->position(); }

    /// Requires: is_bool().
    bool as_bool() const { return data(is_bool(), "as_bool() needs a bool").boolean; }
    /// Returns nullptr if the node is not an integer, or if the integer does not fit into the type. Lifetime: as long
    /// as the document.
    SHOAL_API const std::int64_t* as_int64() const;
    SHOAL_API const std::uint64_t* as_uint64() const;
    /// Requires: is_number().
    SHOAL_API double as_double() const;
    /// Requires: is_string().
    std::string_view as_string() const { return data(is_string(), "as_string() needs a string").string(); }

    /// The number of children of a list or mapping, or 0 for a scalar.
    std::uint32_t size() const { return is_list() || is_mapping() ? data().length : 0; }

    /// Returns the child with this key, or none if no child has it or if the node is not a mapping.
    /// Cost: O(1) in large mappings, which are hashed; small mappings are searched.
    SHOAL_API Node find(std::string_view key) const;

    /// Returns a child by its index. Requires: index < size(). Cost: O(1) in a list of scalars, otherwise O(index).
    SHOAL_API Node operator[](std::uint32_t index) const;

    /// The children in source order: `for (Node child : node)`. Scalars have no children.
    Iterator begin() const;
    Iterator end() const;

private:
    friend class Document;
    friend class DocumentBuilder;

    Node(const NodeData* key, const NodeData* value)
        : value_(value->code() == Code::kReference ? value->target : value), key_(key) {}

    const NodeData& data(bool allowed = true, const char* message = "this Node is empty; test it before use") const {
        SHOAL_ASSERT(value_ != nullptr && allowed, message);
        return *value_;
    }

    const NodeData* value_ = nullptr;  // never a reference
    const NodeData* key_ = nullptr;
};

class Node::Iterator {
public:
    using value_type = Node;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Node operator*() const { return has_keys_ ? Node(at_, at_ + 1) : Node(nullptr, at_); }
    Iterator& operator++() {
        at_ += has_keys_ ? 1 + (at_ + 1)->span : at_->span;
        return *this;
    }
    Iterator operator++(int) {
        const Iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

private:
    friend class Node;
    Iterator(const document_detail::NodeData* at, bool has_keys) : at_(at), has_keys_(has_keys) {}

    const document_detail::NodeData* at_ = nullptr;
    bool has_keys_ = false;
};

inline Node::Iterator Node::begin() const { return Iterator(&data() + 1, is_mapping()); }
inline Node::Iterator Node::end() const { return Iterator(&data() + data().span, is_mapping()); }

/// Owns a tree. read_sjson(), read_json() and DocumentBuilder make documents. They can be moved but not copied.
class Document {
public:
    SHOAL_API Document(Document&& other) noexcept;
    SHOAL_API Document& operator=(Document&& other) noexcept;
    SHOAL_API ~Document();

    Node root() const { return Node(nullptr, nodes_.data()); }
    /// Counts keys as nodes. Does not count nodes of other documents that this document refers to.
    std::size_t num_nodes() const { return nodes_.size(); }

private:
    friend class NodeWriter;
    struct Block {  // holds strings that had escapes
        void* memory;
        std::size_t num_bytes;
    };

    Document() = default;

    Array<document_detail::NodeData> nodes_{Owner("document")};
    Array<Block> blocks_{Owner("document")};
    Array<document_detail::KeyTable*> key_tables_{Owner("document")};
};

/// Returns whether two trees have the same kinds, values, keys and order. Positions are ignored. Numbers are compared
/// bit by bit: -0.0 differs from 0.0, and the integer 1 differs from the number 1.0. Requires: neither `a` nor `b` is
/// none. Cost: O(nodes), without recursion.
SHOAL_API bool equal(Node a, Node b);

}  // namespace shoal
