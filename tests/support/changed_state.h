#pragma once
// Saved states that differ from others in one part.

#include "shoal/base/saved_state.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace shoal_test {

/// A copy of a state. change(bytes) changes the bytes of one of its parts, of which there may be more or fewer then.
template <class Change>
shoal::SavedState with_part(const shoal::SavedState& from, std::string_view path, Change&& change) {
    EXPECT_NE(from.find(path), from.num_parts()) << path;
    shoal::SavedState result;
    shoal::StateWriter to(result);
    for (std::size_t i = 0; i < from.num_parts(); ++i) {
        const shoal::StatePart part = from.part(i);
        std::vector<std::byte> bytes(part.num_bytes());
        from.copy(part, 0, part.num_elements, bytes.data());
        if (part.path == path) change(bytes);
        to.elements(part.path, bytes.data(), part.element_bytes, bytes.size() / part.element_bytes);
    }
    return result;
}

}  // namespace shoal_test
