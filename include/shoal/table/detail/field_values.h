#pragma once
// Field types for which C++ has no equivalent: inline strings, and arrays that stay in their blob.

#include "shoal/base/detail/bytes.h"
#include "shoal/base/string_id.h"

#include <string_view>

namespace shoal {

/// Up to kCapacity - 1 bytes of text, zero-terminated and zero-filled, so that equal strings have equal bytes.
template <std::uint32_t kCapacity>
struct FixedString {
    static_assert(kCapacity >= 2 && kCapacity <= 4096);
    char data[kCapacity] = {};

    constexpr FixedString() = default;
    /// Keeps as many whole UTF-8 characters of `text` as fit, up to the first zero.
    explicit FixedString(std::string_view text) {
        text = text.substr(0, text.find('\0'));
        std::size_t length = text.size() < kCapacity ? text.size() : kCapacity - 1;
        while (length > 0 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
            --length;
        if (length > 0) copy_bytes(data, text.data(), length);
    }
    std::string_view view() const {
        const std::string_view all(data, kCapacity);
        return all.substr(0, all.find('\0'));
    }
    friend bool operator==(const FixedString& a, const FixedString& b) { return a.view() == b.view(); }
};

/// A read-only array of `count` values at `offset` bytes from the start of the blob of `resource`. The elements are
/// never copied; a row that holds the array pins the blob. See ResourceLibrary::view.
struct BlobArrayBase {
    ResourceId resource;
    std::uint64_t offset = 0;
    std::uint32_t count = 0;
    std::uint32_t reserved = 0;
    friend bool operator==(const BlobArrayBase&, const BlobArrayBase&) = default;
};
template <class T>
struct BlobArray : BlobArrayBase {};
static_assert(sizeof(BlobArrayBase) == 24);

}  // namespace shoal
