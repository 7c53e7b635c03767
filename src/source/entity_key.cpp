#include "shoal/source/detail/entity_key.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace shoal {
namespace {

constexpr std::size_t kGuidBytes = 36;

bool is_hex_digit(char c) {
    const char lower = static_cast<char>(c | 0x20);
    return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'f');
}

bool is_guid(std::string_view text) {
    if (text.size() != kGuidBytes) return false;
    for (std::size_t i = 0; i < kGuidBytes; ++i) {
        const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text[i] != '-' : !is_hex_digit(text[i])) return false;
    }
    return true;
}

bool is_upper_case(char c) { return c >= 'A' && c <= 'Z'; }

/// Calls visit(part) for each part of a path until visit() returns true. Returns whether it did.
template <class Visit>
bool any_part(std::string_view path, Visit&& visit) {
    for (std::size_t start = 0; start <= path.size();) {
        const std::size_t end = std::min(path.find('/', start), path.size());
        if (visit(start, path.substr(start, end - start))) return true;
        start = end + 1;
    }
    return false;
}

/// Whether the text has a byte from 0x40 to 0x5F, a range that includes all upper-case letters. Reads eight bytes at a
/// time; the last read may overlap the one before.
bool may_have_upper_case(std::string_view key) {
    constexpr std::uint64_t kBit6 = 0x4040404040404040;
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < key.size(); i += 8) {
        std::uint64_t word;
        std::memcpy(&word, key.data() + std::min(i, key.size() - 8), 8);
        found |= word & ~(word << 1) & kBit6;
    }
    return found != 0;
}

}  // namespace

bool has_upper_case_guid(std::string_view key) {
    if (key.size() < kGuidBytes || !may_have_upper_case(key)) return false;
    return any_part(key, [](std::size_t, std::string_view part) {
        return is_guid(part) && std::any_of(part.begin(), part.end(), is_upper_case);
    });
}

void lower_guids(std::string& key) {
    any_part(key, [&](std::size_t start, std::string_view part) {
        if (is_guid(part))
            for (std::size_t i = start; i < start + kGuidBytes; ++i)
                if (is_upper_case(key[i])) key[i] = static_cast<char>(key[i] | 0x20);
        return false;
    });
}

}  // namespace shoal
