#include "document/node_writer.h"
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

void DocumentBuilder::before_value() {
    SHOAL_ASSERT(writer_->depth() > 0 || writer_->num_nodes() == 0, "a document has one root");
    SHOAL_ASSERT(has_key_ == writer_->in_mapping(),
                 "inside a mapping, and only there, each value needs a key before it");
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
    writer_->open(code, position);
}

void DocumentBuilder::begin_mapping(SourcePosition position) { begin(Code::kMapping, position); }
void DocumentBuilder::begin_list(SourcePosition position) { begin(Code::kList, position); }

void DocumentBuilder::end() {
    SHOAL_ASSERT(writer_->depth() > 0, "end() without begin_mapping() or begin_list()");
    SHOAL_ASSERT(!has_key_, "the last key of the mapping has no value");
    writer_->close();
}

void DocumentBuilder::key(std::string_view text, SourcePosition position) {
    SHOAL_ASSERT(writer_->in_mapping() && !has_key_, "a key belongs in a mapping, before each value");
    const std::uint32_t same = writer_->add_key({keep(text), text.size()}, position);
    SHOAL_CHECK(same == NodeWriter::kNoNode, "the mapping has this key already");
    static_cast<void>(same);
    has_key_ = true;
}

void DocumentBuilder::key(Node child) {
    SHOAL_ASSERT(writer_->in_mapping() && !has_key_, "a key belongs in a mapping, before each value");
    SHOAL_ASSERT(child.has_key(), "this node has no key; only children of mappings have one");
    const std::uint32_t same = writer_->add_key(child.key(), child.key_position());
    SHOAL_CHECK(same == NodeWriter::kNoNode, "the mapping has this key already");
    static_cast<void>(same);
    has_key_ = true;
}

void DocumentBuilder::null(SourcePosition position) { add(Code::kNull, position); }

void DocumentBuilder::boolean(bool value, SourcePosition position) { add(Code::kBool, position)->boolean = value; }

void DocumentBuilder::integer(std::int64_t value, SourcePosition position) {
    add(Code::kInteger, position)->integer = value;
}

void DocumentBuilder::unsigned_integer(std::uint64_t value, SourcePosition position) {
    constexpr std::uint64_t kMostSigned = std::numeric_limits<std::int64_t>::max();
    if (value <= kMostSigned) return integer(static_cast<std::int64_t>(value), position);
    add(Code::kLargeInteger, position)->large_integer = value;
}

void DocumentBuilder::number(double value, SourcePosition position) {
    SHOAL_ASSERT(std::isfinite(value), "numbers in a document must be finite");
    add(Code::kNumber, position)->number = value;
}

void DocumentBuilder::string(std::string_view text, SourcePosition position) {
    SHOAL_CHECK(is_utf8(text), "strings must be UTF-8");
    NodeData* const node = add(Code::kString, position);
    node->text = keep(text);
    node->length = static_cast<std::uint32_t>(text.size());
}

void DocumentBuilder::value(Node node) {
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
    has_key_ = false;
    return writer_->finish();
}

}  // namespace shoal
