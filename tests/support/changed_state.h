#pragma once
// Snapshots that differ from others in some parts.

#include "shoal/state/snapshot.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace shoal_test {

/// Ends the program when it was not set up as it was meant to be.
inline void must(bool is_so) {
    if (!is_so) std::abort();
}

/// A part that a copy of a state is to have.
struct ChangedPart {
    std::string path;
    std::uint32_t element_bytes;
    std::vector<std::byte> bytes;
};

/// A copy of a state. change(part) changes what it likes of each part, and returns whether the copy has it.
template <class Change>
shoal::Snapshot with_parts(const shoal::Snapshot& from, Change&& change) {
    shoal::Snapshot result;
    shoal::SnapshotWriter to(result);
    for (std::size_t i = 0; i < from.num_parts(); ++i) {
        const shoal::SnapshotPart part = from.part(i);
        ChangedPart changed{std::string(part.path), part.element_bytes, std::vector<std::byte>(part.num_bytes())};
        from.copy(part, 0, part.num_elements, changed.bytes.data());
        if (change(changed))
            to.elements(changed.path, changed.bytes.data(), changed.element_bytes,
                        changed.bytes.size() / changed.element_bytes);
    }
    return result;
}

/// A copy of a state. change(bytes) changes the bytes of one of its parts, of which there may be more or fewer then.
template <class Change>
shoal::Snapshot with_part(const shoal::Snapshot& from, std::string_view path, Change&& change) {
    must(from.find(path) != from.num_parts());
    return with_parts(from, [&](ChangedPart& part) {
        if (part.path == path) change(part.bytes);
        return true;
    });
}

}  // namespace shoal_test
