#include "shoal/base/string_table.h"

#include "shoal/base/text.h"

#include <cstring>

namespace shoal {
namespace {

constexpr const char* kOwner = "string table";
constexpr std::size_t kChunkBytes = 16384;

/// Returns the begin of a text with escapes such as \xFF for bytes that are not UTF-8.
std::string escaped(std::string_view text) {
    constexpr std::size_t kMostBytes = 64;
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i >= kMostBytes) return result + "...";
        std::size_t count = 1;
        while (count < 4 && !is_utf8(text.substr(i, count))) ++count;
        if (is_utf8(text.substr(i, count))) {
            result += text.substr(i, count);
            i += count - 1;
            continue;
        }
        const auto byte = static_cast<unsigned char>(text[i]);
        result += concat("\\x", "0123456789ABCDEF"[byte / 16], "0123456789ABCDEF"[byte % 16]);
    }
    return result;
}

}  // namespace

StringTable::~StringTable() {
    for (char* chunk : chunks_) {
        std::size_t num_bytes;
        std::memcpy(&num_bytes, chunk, sizeof num_bytes);
        release_memory(chunk, num_bytes, kOwner);
    }
}

Status StringTable::check(std::string_view text) {
    if (is_utf8(text)) return {};
    return Status::error(concat("the text \"", escaped(text), "\" is not valid UTF-8; convert it to UTF-8 first"));
}

Result<StringId> StringTable::intern(std::string_view text) {
    const StringId id(text);
    if (text.empty()) return id;
    if (const std::string_view* const kept = texts_.find(id)) {
        if (*kept == text) return id;
        return Status::error(
            concat("the texts \"", *kept, "\" and \"", text, "\" have the same hash; rename one of them"));
    }
    if (Status status = check(text); !status) return status;
    texts_.add(id, copy(text));
    return id;
}

/// Copies a text into a chunk.
std::string_view StringTable::copy(std::string_view text) {
    if (chunk_bytes_ - chunk_used_ < text.size()) {
        // A chunk begins with its own size, which release_memory() asks for.
        chunk_bytes_ =
            text.size() + sizeof(std::size_t) > kChunkBytes ? text.size() + sizeof(std::size_t) : kChunkBytes;
        chunks_.push_back(static_cast<char*>(allocate_memory(chunk_bytes_, kOwner)));
        std::memcpy(chunks_.back(), &chunk_bytes_, sizeof chunk_bytes_);
        chunk_used_ = sizeof(std::size_t);
    }
    char* const data = chunks_.back() + chunk_used_;
    std::memcpy(data, text.data(), text.size());
    chunk_used_ += text.size();
    return {data, text.size()};
}

std::string_view StringTable::text(StringId id) const { return texts_.find_or(id, {}); }

}  // namespace shoal
