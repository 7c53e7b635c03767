#pragma once
// What long calls tell about how far they are: a tool shows it.
// Thread: the thread of the call.

#include <cstdint>
#include <string_view>

namespace shoal {

class ProgressListener {
public:
    /// `done` of `total` units of work, such as entities, are done. Is called often: every thousand units or so, and
    /// with `done` == `total` when all are done.
    virtual void advance(std::string_view units, std::uint64_t done, std::uint64_t total) = 0;

protected:
    ~ProgressListener() = default;
};

/// Calls the listener, if there is one, for every 1,024th unit and for the last one.
inline void advance(ProgressListener* listener, std::string_view units, std::uint64_t done, std::uint64_t total) {
    if (listener != nullptr && (done % 1024 == 0 || done == total)) listener->advance(units, done, total);
}

}  // namespace shoal
