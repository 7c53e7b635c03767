#pragma once
// Functions that can fail return a Status, or a Result, which holds a value or a Status.
//
//     Result<std::string> text = read_file(from);
//     if (!text) return text.status();
//     if (Status status = write_file(to, *text); !status) return status;
//
// A message says what failed, where, and what to do. A successful Status is a null pointer.
// Thread: as for built-in types.

#include "shoal/base/assert.h"

#include <new>
#include <string_view>

namespace shoal {

/// Success, or a failure with a message.
class [[nodiscard]] Status {
public:
    Status() noexcept = default;
    Status(Status&& other) noexcept : message_(other.message_) { other.message_ = nullptr; }
    Status& operator=(Status&& other) noexcept {
        std::swap(message_, other.message_);
        return *this;
    }
    Status(const Status& other) : message_(copy(other.message_)) {}
    Status& operator=(const Status& other) { return *this = Status(other); }
    ~Status() {
        if (SHOAL_UNLIKELY(message_ != nullptr)) release(message_);
    }

    /// Returns a failure with a copy of `message`.
    SHOAL_API static Status error(std::string_view message);

    explicit operator bool() const noexcept { return message_ == nullptr; }
    bool ok() const noexcept { return message_ == nullptr; }

    /// The message of a failure, or an empty string. Lifetime: until the status is assigned to or destroyed.
    std::string_view message() const { return message_ == nullptr ? std::string_view() : std::string_view(message_); }

private:
    SHOAL_API static char* copy(const char* message);
    SHOAL_API static void release(char* message) noexcept;

    char* message_ = nullptr;
};

/// A value, or the reason why it is missing.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : has_value_(true) { ::new (static_cast<void*>(&value_)) T(std::move(value)); }  // NOLINT
    Result(Status status) : has_value_(false) {                                                      // NOLINT
        SHOAL_ASSERT(!status.ok(), "a Result without a value needs a failure");
        ::new (static_cast<void*>(&status_)) Status(std::move(status));
    }
    Result(Result&& other) noexcept : has_value_(other.has_value_) { take(std::move(other)); }
    Result& operator=(Result&& other) noexcept {
        if (this != &other) {
            clear();
            has_value_ = other.has_value_;
            take(std::move(other));
        }
        return *this;
    }
    ~Result() { clear(); }

    explicit operator bool() const noexcept { return has_value_; }
    bool ok() const noexcept { return has_value_; }

    /// Requires: ok().
    T& value() & { return checked(), value_; }
    const T& value() const& { return checked(), value_; }
    T&& value() && { return checked(), std::move(value_); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    /// The failure, or success if there is a value.
    Status status() const { return has_value_ ? Status() : status_; }
    std::string_view message() const { return has_value_ ? std::string_view() : status_.message(); }

private:
    void checked() const { SHOAL_ASSERT(has_value_, "the value of a failed Result was used; test it first"); }
    void take(Result&& other) {
        if (has_value_)
            ::new (static_cast<void*>(&value_)) T(std::move(other.value_));
        else
            ::new (static_cast<void*>(&status_)) Status(std::move(other.status_));
    }
    void clear() {
        if (has_value_)
            value_.~T();
        else
            status_.~Status();
    }

    union {
        T value_;
        Status status_;
    };
    bool has_value_;
};

}  // namespace shoal
