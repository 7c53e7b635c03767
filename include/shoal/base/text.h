#pragma once
// Builds short strings and messages, without <iostream> or printf in a public header.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

namespace shoal {

SHOAL_API void append_number(std::string& text, std::int64_t value);
SHOAL_API void append_number(std::string& text, std::uint64_t value);
/// Appends the shortest decimal form that reads back as the same value.
SHOAL_API void append_number(std::string& text, double value);
SHOAL_API void append_number(std::string& text, float value);

/// Appends `0x` and the hexadecimal digits of `value`, zero-padded to `num_digits`.
SHOAL_API void append_hex(std::string& text, std::uint64_t value, int num_digits = 16);

template <class T>
void append_text(std::string& text, const T& part) {
    if constexpr (std::is_same_v<T, char>)
        text.push_back(part);
    else if constexpr (std::is_same_v<T, bool>)
        text.append(part ? "true" : "false");
    else if constexpr (std::is_floating_point_v<T>)
        append_number(text, part);
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
        append_number(text, static_cast<std::int64_t>(part));
    else if constexpr (std::is_integral_v<T>)
        append_number(text, static_cast<std::uint64_t>(part));
    else
        text.append(std::string_view(part));
}

/// Concatenates strings, characters, bools and numbers into one string.
template <class... Parts>
std::string concat(const Parts&... parts) {
    std::string text;
    (append_text(text, parts), ...);
    return text;
}

/// Ends the program like a failed SHOAL_ASSERT. `message` says what the caller did wrong and what to do instead.
[[noreturn]] SHOAL_API SHOAL_NOINLINE void fail_assertion(const char* condition, const std::string& message,
                                                          std::source_location at = std::source_location::current());

/// Returns the index of the candidate that `text` was probably meant to be, or -1 if none is close. Meant for error
/// messages. Cost: O(candidates x length squared).
SHOAL_API int closest_text(std::string_view text, const std::string_view* candidates, std::size_t num_candidates);

/// Returns whether `text` is well-formed UTF-8 (no overlong forms, no surrogates).
SHOAL_API bool is_utf8(std::string_view text);

}  // namespace shoal
