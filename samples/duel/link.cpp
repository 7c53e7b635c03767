#include "link.h"

#include <vector>

namespace duel {

using namespace shoal;

void Link::send(std::vector<std::byte> bytes, std::uint16_t to_port, std::uint64_t now) {
    ++counts_.num_sent;
    counts_.num_bytes += bytes.size();
    const bool is_lost = happens(options_.loss), comes_twice = happens(options_.duplicate);
    counts_.num_lost += is_lost;
    counts_.num_duplicated += comes_twice && !is_lost;
    if (is_lost) return;
    hold(bytes, to_port, now);
    if (comes_twice) hold(bytes, to_port, now);
}

void Link::hold(const std::vector<std::byte>& bytes, std::uint16_t to_port, std::uint64_t now) {
    constexpr std::uint32_t kMostLate = 4;
    const bool is_late = happens(options_.reorder);
    counts_.num_reordered += is_late;
    held_.push_back({now + options_.delay + (is_late ? 1 + random_.below(kMostLate) : 0), to_port, bytes});
}

Status Link::flush(std::uint64_t now) {
    for (const Held& held : held_) {
        if (held.due > now) continue;
        if (Status status = socket_.send(held.bytes, held.to_port); !status) return status;
    }
    std::erase_if(held_, [&](const Held& held) { return held.due <= now; });
    return {};
}

}  // namespace duel
