// Saves: bytes of a file are refused with a message, and so is a state of which parts are others, or else the world that
// was loaded works. An input is the bytes of a file, whose size and checksum are put right first; or, after a first
// byte of 0, a list of changes to a good state of 8 bytes each: part, kind, place, value.
#include "shoal/base/saved_state.h"
#include "shoal/base/text.h"
#include "support/whole_world.h"
#include "world/state_file.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace shoal;

namespace {

struct Change {
    std::uint16_t part;
    std::uint8_t kind, value;
    std::uint32_t place;
};

SavedState good_state() {
    shoal_test::Sea sea;
    sea.run(6);
    sea.meddle();
    sea.ask(80);  // what waits is part of the state
    SavedState state;
    if (!sea.world.save(state)) std::abort();
    return state;
}

/// The state with a part cut short, left out, or with other bytes.
SavedState changed(const SavedState& from, const std::vector<Change>& changes) {
    SavedState result;
    StateWriter to(result);
    for (std::size_t i = 0; i < from.num_parts(); ++i) {
        const StatePart part = from.part(i);
        std::vector<std::byte> bytes(static_cast<std::size_t>(part.num_bytes()));
        from.copy(part, 0, part.num_elements, bytes.data());
        std::uint64_t num_elements = part.num_elements;
        bool is_there = true;
        for (const Change& change : changes) {
            if (change.part % from.num_parts() != i || bytes.empty()) continue;
            const std::size_t place = change.place % bytes.size();
            if (change.kind % 5 == 0) num_elements = change.place % (part.num_elements + 1);
            if (change.kind % 5 == 1) is_there = false;
            if (change.kind % 5 == 2) bytes[place] = std::byte(change.value);
            if (change.kind % 5 == 3) bytes[place] ^= std::byte(1 << change.value % 8);
            if (change.kind % 5 == 4) bytes[place] = std::byte(std::uint8_t(bytes[place]) + change.value);
        }
        if (is_there) to.elements(part.path, bytes.data(), part.element_bytes, num_elements);
    }
    return result;
}

void load(const SavedState& state) {
    shoal_test::Sea sea;
    sea.run(1);
    const std::uint64_t before = sea.world.state_hash();
    const Status status = sea.world.load(state, false);
    if (!status && (status.message().empty() || !is_utf8(status.message()) || sea.world.state_hash() != before)) {
        std::fprintf(stderr, "refused, and the world is another: %.*s\n", int(status.message().size()),
                     status.message().data());
        std::abort();
    }
    sea.run(2);
    SavedState again;
    if (!sea.world.save(again)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    if (data[0] != 0) {
        constexpr std::size_t kHeaderBytes = 64, kFileBytes = 16, kChecksum = 56;
        const auto* first = reinterpret_cast<const std::byte*>(data);
        std::vector<std::byte> bytes(first, first + size);
        if (size >= kHeaderBytes) {
            const std::uint64_t file_bytes = size;
            const std::uint64_t checksum = hash_bytes(bytes.data() + kHeaderBytes, size - kHeaderBytes);
            std::memcpy(bytes.data() + kFileBytes, &file_bytes, sizeof file_bytes);
            std::memcpy(bytes.data() + kChecksum, &checksum, sizeof checksum);
        }
        SerialExecutor serial;
        const Result<SavedState> state = read_state(bytes, serial, std::uint64_t(1) << 24);
        if (state) load(*state);
        if (!state && (state.message().empty() || !is_utf8(state.message()))) std::abort();
        return 0;
    }
    static const SavedState good = good_state();
    std::vector<Change> changes((size - 1) / sizeof(Change));
    if (!changes.empty()) std::memcpy(changes.data(), data + 1, changes.size() * sizeof(Change));
    load(changed(good, changes));
    return 0;
}
