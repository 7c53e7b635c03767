#pragma once
// Serializes plain values, for messages between ranks and for checkpoint files. The bytes that it reads may be invalid:
// if there are too few or a count is impossible, the reader is no longer sound, and returns zeros.
//
//     MessageWriter to;               MessageReader from(bytes);
//     to.value(zone);                 const Zone zone = from.value<Zone>();
//     to.array(names);                std::vector<std::uint64_t> names = from.array<std::uint64_t>();
//                                     if (!from.is_sound()) ...
//
// Thread: one thread at a time.

#include "shoal/base/detail/bytes.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace shoal::cluster {

using Bytes = std::vector<std::byte>;

class MessageWriter {
public:
    template <class T>
    void value(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        append(&value, sizeof value);
    }
    /// Appends the number of values, then the values.
    template <class T>
    void array(std::span<const T> values) {
        value(static_cast<std::uint64_t>(values.size()));
        append(values.data(), values.size_bytes());
    }
    template <class T>
    void array(const std::vector<T>& values) {
        array(std::span<const T>(values));
    }
    void text(std::string_view text) { array(std::span<const char>(text.data(), text.size())); }

    const Bytes& bytes() const { return bytes_; }
    Bytes take() { return static_cast<Bytes&&>(bytes_); }

private:
    void append(const void* data, std::size_t num_bytes) {
        if (num_bytes == 0) return;
        const std::size_t end = bytes_.size();
        bytes_.resize(end + num_bytes);
        copy_bytes(bytes_.data() + end, data, num_bytes);
    }

    Bytes bytes_;
};

class MessageReader {
public:
    explicit MessageReader(std::span<const std::byte> bytes) : rest_(bytes) {}

    /// Whether all reads so far succeeded.
    bool is_sound() const { return is_sound_; }
    /// Whether all reads succeeded and no bytes are left.
    bool is_done() const { return is_sound_ && rest_.empty(); }
    bool has_more() const { return is_sound_ && !rest_.empty(); }
    /// Marks the message as invalid.
    void refuse() { is_sound_ = false; }

    template <class T>
    T value() {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::span<const std::byte> bytes = take(sizeof(T));
        return bytes.empty() ? T() : read_as<T>(bytes.data());
    }
    template <class T>
    std::vector<T> array() {
        const auto count = value<std::uint64_t>();
        if (count > rest_.size() / sizeof(T)) return refuse(), std::vector<T>();
        std::vector<T> values(static_cast<std::size_t>(count));
        const std::span<const std::byte> bytes = take(values.size() * sizeof(T));
        if (!bytes.empty()) copy_bytes(static_cast<void*>(values.data()), bytes.data(), bytes.size());
        return values;
    }
    std::string text() {
        const std::vector<char> letters = array<char>();
        return {letters.begin(), letters.end()};
    }
    /// Reads an array of bytes without copying it. Lifetime: the same as the bytes given to the constructor.
    std::span<const std::byte> bytes() {
        const auto count = value<std::uint64_t>();
        return count > rest_.size() ? (refuse(), std::span<const std::byte>()) : take(static_cast<std::size_t>(count));
    }

private:
    std::span<const std::byte> take(std::size_t num_bytes) {
        if (!is_sound_ || num_bytes > rest_.size()) return is_sound_ = false, std::span<const std::byte>();
        const std::span<const std::byte> taken = rest_.first(num_bytes);
        rest_ = rest_.subspan(num_bytes);
        return taken;
    }

    std::span<const std::byte> rest_;
    bool is_sound_ = true;
};

}  // namespace shoal::cluster
