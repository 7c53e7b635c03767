#pragma once
// Names as numbers: a StringId is the XXH3-64 hash of a string. Registering two strings with the same hash is an error.
// 0 means no name; no known string has this hash.
// Thread: as for built-in types.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal {

/// XXH3-64. The hash is the same in all processes, on all machines and in all versions of shoal.
SHOAL_API std::uint64_t hash_bytes(const void* data, std::size_t num_bytes, std::uint64_t seed = 0);
SHOAL_API std::uint64_t hash_text(std::string_view text);

/// The hash of a string. The string itself may be kept in a StringTable or in a blob.
struct StringId {
    std::uint64_t hash = 0;

    constexpr StringId() = default;
    explicit constexpr StringId(std::uint64_t hash_value) : hash(hash_value) {}
    explicit StringId(std::string_view text) : hash(text.empty() ? 0 : hash_text(text)) {}

    explicit constexpr operator bool() const { return hash != 0; }
    friend constexpr auto operator<=>(const StringId&, const StringId&) = default;
};

/// Names a resource (a compiled level, a mesh, a script) by the hash of its path without the extension.
struct ResourceId {
    std::uint64_t hash = 0;

    constexpr ResourceId() = default;
    explicit constexpr ResourceId(std::uint64_t hash_value) : hash(hash_value) {}
    explicit ResourceId(std::string_view name) : hash(name.empty() ? 0 : hash_text(name)) {}

    explicit constexpr operator bool() const { return hash != 0; }
    friend constexpr auto operator<=>(const ResourceId&, const ResourceId&) = default;
};

}  // namespace shoal
