#include "document/node_writer.h"
#include "document/text_stream.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace shoal {

using document_detail::Code;
using document_detail::NodeData;

DocumentBuilder::DocumentBuilder() : writer_(new NodeWriter) {}

DocumentBuilder::~DocumentBuilder() { delete writer_; }

bool DocumentBuilder::in_mapping() const { return stream_ ? stream_->in_mapping() : writer_->in_mapping(); }

void DocumentBuilder::before_value() {
    const bool is_inside = stream_ ? stream_->depth() > 0 : writer_->depth() > 0;
    const bool has_root = stream_ ? stream_->has_root() : writer_->num_nodes() > 0;
    SHOAL_ASSERT(is_inside || !has_root, "a document has one root");
    SHOAL_ASSERT(has_key_ == in_mapping(), "inside a mapping, and only there, each value needs a key before it");
    has_key_ = false;
}

NodeData* DocumentBuilder::add(Code code, SourcePosition position) {
    before_value();
    return &writer_->add(code, position);
}

const char* DocumentBuilder::keep(std::string_view text) {
    char* const room = writer_->text_room(text.size());
    if (!text.empty()) std::memcpy(room, text.data(), text.size());
    writer_->keep_text(text.size());
    return room;
}

void DocumentBuilder::begin(Code code, SourcePosition position) {
    before_value();
    stream_ ? stream_->begin(code == Code::kMapping) : writer_->open(code, position);
}

void DocumentBuilder::begin_mapping(SourcePosition position) { begin(Code::kMapping, position); }
void DocumentBuilder::begin_list(SourcePosition position) { begin(Code::kList, position); }

void DocumentBuilder::end() {
    SHOAL_ASSERT((stream_ ? stream_->depth() : writer_->depth()) > 0, "end() without begin_mapping() or begin_list()");
    SHOAL_ASSERT(!has_key_, "the last key of the mapping has no value");
    stream_ ? stream_->end() : writer_->close();
}

void DocumentBuilder::add_key(std::string_view text, SourcePosition position, bool is_kept) {
    SHOAL_ASSERT(in_mapping() && !has_key_, "a key belongs in a mapping, before each value");
    has_key_ = true;
    if (stream_ != nullptr) return stream_->key(text);
    const std::uint32_t same = writer_->add_key(is_kept ? text : std::string_view(keep(text), text.size()), position);
    SHOAL_CHECK(same == NodeWriter::kNoNode, "the mapping has this key already");
    static_cast<void>(same);
}

void DocumentBuilder::key(std::string_view text, SourcePosition position) { add_key(text, position, false); }

void DocumentBuilder::key(Node child) {
    SHOAL_ASSERT(child.has_key(), "this node has no key; only children of mappings have one");
    add_key(child.key(), child.key_position(), true);
}

void DocumentBuilder::null(SourcePosition position) {
    if (stream_ == nullptr) return static_cast<void>(add(Code::kNull, position));
    before_value();
    stream_->null();
}

void DocumentBuilder::boolean(bool value, SourcePosition position) {
    if (stream_ == nullptr) return static_cast<void>(add(Code::kBool, position)->boolean = value);
    before_value();
    stream_->boolean(value);
}

void DocumentBuilder::integer(std::int64_t value, SourcePosition position) {
    if (stream_ == nullptr) return static_cast<void>(add(Code::kInteger, position)->integer = value);
    before_value();
    stream_->integer(value);
}

void DocumentBuilder::unsigned_integer(std::uint64_t value, SourcePosition position) {
    constexpr std::uint64_t kMostSigned = std::numeric_limits<std::int64_t>::max();
    if (value <= kMostSigned) return integer(static_cast<std::int64_t>(value), position);
    if (stream_ == nullptr) return static_cast<void>(add(Code::kLargeInteger, position)->large_integer = value);
    before_value();
    stream_->unsigned_integer(value);
}

void DocumentBuilder::number(double value, SourcePosition position) {
    SHOAL_ASSERT(std::isfinite(value), "numbers in a document must be finite");
    if (stream_ == nullptr) return static_cast<void>(add(Code::kNumber, position)->number = value);
    before_value();
    stream_->number(value);
}

void DocumentBuilder::string(std::string_view text, SourcePosition position) {
    SHOAL_CHECK(is_utf8(text), "strings must be UTF-8");
    if (stream_ != nullptr) {
        before_value();
        return stream_->string(text);
    }
    NodeData* const node = add(Code::kString, position);
    node->text = keep(text);
    node->length = static_cast<std::uint32_t>(text.size());
}

void DocumentBuilder::value(Node node) {
    if (stream_ != nullptr) {
        before_value();
        return stream_->node(node);
    }
    const NodeData& taken = node.data();
    NodeData* const added = add(taken.code(), taken.position());
    if (taken.span == 1) {  // a scalar or empty: as small as a reference
        *added = taken;
        return;
    }
    added->file_and_code = taken.position().file << 4 | static_cast<std::uint32_t>(Code::kReference);
    added->target = &taken;
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
    SHOAL_ASSERT(stream_ == nullptr, "a DocumentPrinter keeps no document; call its finish()");
    has_key_ = false;
    return writer_->finish();
}

}  // namespace shoal
