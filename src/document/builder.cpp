#include "document/node_writer.h"
#include "document/text_stream.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace shoal {

using document_detail::Code;
using document_detail::NodeData;

/// Collects nodes, or writes text.
struct DocumentBuilder::End {
    bool in_mapping() const { return text ? text->in_mapping() : nodes.in_mapping(); }
    std::size_t depth() const { return text ? text->depth() : nodes.depth(); }
    bool has_root() const { return text ? text->has_root() : nodes.num_nodes() > 0; }

    void before_value() {
        SHOAL_ASSERT(depth() > 0 || !has_root(), "a document has one root");
        SHOAL_ASSERT(has_key == in_mapping(), "inside a mapping, and only there, each value needs a key before it");
        has_key = false;
    }

    /// Adds a value. If the builder prints, `print` writes the value, and the returned node is a dummy. Otherwise,
    /// returns the new node.
    template <class Print>
    NodeData& add(Code code, SourcePosition position, Print&& print) {
        before_value();
        if (!text) return nodes.add(code, position);
        print(*text);
        return printed;
    }

    void add_key(std::string_view key, SourcePosition position, bool is_kept) {
        SHOAL_ASSERT(in_mapping() && !has_key, "a key belongs in a mapping, before each value");
        has_key = true;
        if (text) return text->key(key);
        const std::uint32_t same = nodes.add_key(is_kept ? key : std::string_view(keep(key), key.size()), position);
        SHOAL_CHECK(same == NodeWriter::kNoNode, "the mapping has this key already");
        static_cast<void>(same);
    }

    void begin(Code code, SourcePosition position) {
        before_value();
        text ? text->begin(code == Code::kMapping) : nodes.open(code, position);
    }

    const char* keep(std::string_view value) {
        char* const room = nodes.text_room(value.size());
        if (!value.empty()) std::memcpy(room, value.data(), value.size());
        nodes.keep_text(value.size());
        return room;
    }

    NodeWriter nodes;
    std::optional<TextStream> text;
    bool has_key = false;
    NodeData printed;
};

DocumentBuilder::DocumentBuilder() : end_(new End) {}

DocumentBuilder::DocumentBuilder(TextFormat format, TextFunction print, void* context) : end_(new End) {
    end_->text.emplace(format == TextFormat::kJson ? kJsonStyle : kSjsonStyle, print, context);
}

DocumentBuilder::~DocumentBuilder() { delete end_; }

void DocumentBuilder::begin_mapping(SourcePosition position) { end_->begin(Code::kMapping, position); }
void DocumentBuilder::begin_list(SourcePosition position) { end_->begin(Code::kList, position); }

void DocumentBuilder::end() {
    SHOAL_ASSERT(end_->depth() > 0, "end() without begin_mapping() or begin_list()");
    SHOAL_ASSERT(!end_->has_key, "the last key of the mapping has no value");
    end_->text ? end_->text->end() : end_->nodes.close();
}

void DocumentBuilder::key(std::string_view text, SourcePosition position) { end_->add_key(text, position, false); }

void DocumentBuilder::key(Node child) {
    SHOAL_ASSERT(child.has_key(), "this node has no key; only children of mappings have one");
    end_->add_key(child.key(), child.key_position(), true);
}

SourcePosition DocumentBuilder::read_key(std::string_view text, SourcePosition position) {
    SHOAL_ASSERT(!end_->text, "a builder that prints keeps no keys to compare with; use key()");
    SHOAL_ASSERT(end_->in_mapping() && !end_->has_key, "a key belongs in a mapping, before each value");
    end_->has_key = true;
    const std::uint32_t same = end_->nodes.add_key({end_->keep(text), text.size()}, position);
    return same == NodeWriter::kNoNode ? SourcePosition() : end_->nodes[same].position();
}

void DocumentBuilder::repeat(std::uint32_t first) {
    const NodeWriter& nodes = end_->nodes;
    SHOAL_ASSERT(!end_->text, "a builder that prints keeps no values to repeat; add the value again");
    SHOAL_ASSERT(first < nodes.num_nodes() && first + nodes[first].span <= nodes.num_nodes(),
                 "only a complete value can be repeated");
    end_->before_value();
    end_->nodes.repeat(first);
}

std::uint32_t DocumentBuilder::num_nodes() const { return static_cast<std::uint32_t>(end_->nodes.num_nodes()); }

void DocumentBuilder::null(SourcePosition position) {
    end_->add(Code::kNull, position, [](TextStream& text) { text.null(); });
}

void DocumentBuilder::boolean(bool value, SourcePosition position) {
    end_->add(Code::kBool, position, [=](TextStream& text) { text.boolean(value); }).boolean = value;
}

void DocumentBuilder::integer(std::int64_t value, SourcePosition position) {
    end_->add(Code::kInteger, position, [=](TextStream& text) { text.integer(value); }).integer = value;
}

void DocumentBuilder::unsigned_integer(std::uint64_t value, SourcePosition position) {
    constexpr std::uint64_t kMostSigned = std::numeric_limits<std::int64_t>::max();
    if (value <= kMostSigned) return integer(static_cast<std::int64_t>(value), position);
    end_->add(Code::kLargeInteger, position, [=](TextStream& text) { text.unsigned_integer(value); }).large_integer =
        value;
}

void DocumentBuilder::number(double value, SourcePosition position) {
    SHOAL_ASSERT(std::isfinite(value), "numbers in a document must be finite");
    end_->add(Code::kNumber, position, [=](TextStream& text) { text.number(value); }).number = value;
}

void DocumentBuilder::string(std::string_view text, SourcePosition position) {
    SHOAL_CHECK(is_utf8(text), "strings must be UTF-8");
    NodeData& node = end_->add(Code::kString, position, [=](TextStream& stream) { stream.string(text); });
    if (end_->text) return;
    node.text = end_->keep(text);
    node.length = static_cast<std::uint32_t>(text.size());
}

void DocumentBuilder::value(Node node) {
    const NodeData& taken = node.data();
    NodeData& added = end_->add(taken.code(), taken.position(), [=](TextStream& text) { text.node(node); });
    if (taken.span == 1) {  // a scalar or an empty container, which is as small as a reference
        added = taken;
        return;
    }
    added.file_and_code = taken.position().file << 4 | static_cast<std::uint32_t>(Code::kReference);
    added.target = &taken;
}

void DocumentBuilder::member(Node child) {
    key(child);
    value(child);
}

void DocumentBuilder::begin_mapping(std::string_view text) {
    key(text);
    begin_mapping();
}

void DocumentBuilder::begin_list(std::string_view text) {
    key(text);
    begin_list();
}

void DocumentBuilder::boolean(std::string_view text, bool value) {
    key(text);
    boolean(value);
}

void DocumentBuilder::unsigned_integer(std::string_view text, std::uint64_t value) {
    key(text);
    unsigned_integer(value);
}

void DocumentBuilder::number(std::string_view text, double value) {
    key(text);
    std::isfinite(value) ? number(value) : null();
}

void DocumentBuilder::string(std::string_view text, std::string_view value) {
    key(text);
    string(value);
}

Document DocumentBuilder::finish() {
    end_->has_key = false;
    if (end_->text) {
        end_->text->finish();
        end_->nodes.add(Code::kNull, {});
    }
    return end_->nodes.finish();
}

}  // namespace shoal
