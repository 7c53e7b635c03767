#pragma once
// Changes valid states and logs of states, for fuzzers of their readers. An input is a list of changes of 8 bytes each:
// part, kind, value, place.

#include "save/state_log.h"
#include "shoal/base/text.h"
#include "shoal/state/snapshot.h"
#include "support/changed_state.h"

#include <zstd.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace shoal_fuzz {

using namespace shoal;
using shoal_test::must;

struct Change {
    std::uint16_t part;
    std::uint8_t kind, value;
    std::uint32_t place;
};

enum Kind : std::uint8_t { kCut, kLeaveOut, kSetByte, kFlipBit, kAddToByte, kCopy, kSetNumber, kAppend, kRename };
constexpr std::uint32_t kNumKinds = kRename + 1;

inline std::vector<Change> changes_in(std::span<const std::byte> bytes) {
    std::vector<Change> changes(bytes.size() / sizeof(Change));
    if (!changes.empty()) std::memcpy(changes.data(), bytes.data(), changes.size() * sizeof(Change));
    return changes;
}

/// Applies a change to an array of elements. Requires: `bytes` is not empty.
inline void change_elements(std::vector<std::byte>& bytes, std::size_t element_bytes, const Change& change) {
    constexpr std::uint32_t kNumbers[] = {0,          1,          2,          3,          0xFFFF,     0x10000,
                                          0x3FFFFF,   0x400000,   1 << 20,    0x7FFFFFFF, 0x80000000, 0xFFFFFFFE,
                                          0xFFFFFFFF, 0x3F800000, 0x7FC00000, 0x7F800000};
    const std::size_t place = change.place % bytes.size(), count = bytes.size() / element_bytes;
    const std::size_t element = change.place % count, other = (change.place / count + change.value) % count;
    switch (change.kind % kNumKinds) {
        case kCut:
            bytes.resize(change.place % (count + 1) * element_bytes);
            break;
        case kSetByte:
            bytes[place] = std::byte(change.value);
            break;
        case kFlipBit:
            bytes[place] ^= std::byte(1 << change.value % 8);
            break;
        case kAddToByte:
            bytes[place] = std::byte(std::uint8_t(bytes[place]) + change.value);
            break;
        case kCopy:
            std::memmove(bytes.data() + element * element_bytes, bytes.data() + other * element_bytes, element_bytes);
            break;
        case kSetNumber:
            if (bytes.size() >= 4)
                std::memcpy(bytes.data() + change.place % (bytes.size() / 4) * 4, &kNumbers[change.value % 16], 4);
            break;
        case kAppend:
            for (std::size_t i = 0; i <= change.value % 16u; ++i) {
                const std::size_t from = (element + i) % count * element_bytes;
                for (std::size_t k = 0; k < element_bytes; ++k) bytes.push_back(bytes[from + k]);
            }
            break;
        default:
            break;
    }
}

/// Returns the path of a sibling of `path`, which may not exist.
inline std::string renamed(std::string_view path, std::uint8_t how) {
    constexpr std::string_view kNames[] = {"number", "armor", "width", "place.x", "sealed...", "velocity",
                                           "leader", "rope",  "since", "depth",   "height",    "cells..."};
    const std::size_t field = path.find("field/");
    const std::size_t end = field == std::string_view::npos ? path.rfind('/') + 1 : field + 6;
    return concat(path.substr(0, end), how % 2 == 0 ? "" : "x", kNames[how / 2 % std::size(kNames)]);
}

/// Returns a copy of the state with truncated, missing, renamed or modified parts.
inline Snapshot changed(const Snapshot& from, const std::vector<Change>& changes) {
    std::size_t number = 0;
    std::set<std::string> paths;
    return shoal_test::with_parts(from, [&](shoal_test::ChangedPart& part) {
        bool is_there = true;
        const std::string path = part.path;
        for (const Change& change : changes) {
            if (change.part % from.num_parts() != number) continue;
            is_there &= change.kind % kNumKinds != kLeaveOut;
            if (change.kind % kNumKinds == kRename) part.path = renamed(path, change.value);
            if (!part.bytes.empty()) change_elements(part.bytes, part.element_bytes, change);
        }
        ++number;
        return is_there && paths.insert(part.path).second;
    });
}

/// Changes the uncompressed records of a log, then compresses them and updates their checksums.
inline std::string changed_log(std::string_view log, const std::vector<Change>& changes) {
    StateLogHeader begin{};
    std::memcpy(&begin, log.data(), sizeof begin);
    std::string result(log.substr(0, sizeof begin));
    log.remove_prefix(sizeof begin);
    for (std::size_t number = 0; !log.empty(); ++number) {
        StateRecordHeader header{};
        std::memcpy(&header, log.data(), sizeof header);
        std::vector<std::byte> body(static_cast<std::size_t>(header.body_bytes));
        must(ZSTD_decompress(body.data(), body.size(), log.data() + sizeof header,
                             static_cast<std::size_t>(header.packed_bytes)) == body.size());
        log.remove_prefix(sizeof header + static_cast<std::size_t>(header.packed_bytes));
        bool is_there = true;
        for (const Change& change : changes) {
            if (change.part % 4 != number) continue;
            is_there &= change.kind % kNumKinds != kLeaveOut;
            if (change.kind % kNumKinds == kRename) header.num_parts = change.place;
            if (change.kind % kNumKinds == kCopy) header.extra_bytes = change.place;
            if (!body.empty()) change_elements(body, 4, change);
        }
        if (!is_there) continue;
        std::vector<std::byte> packed(ZSTD_compressBound(body.size()));
        packed.resize(ZSTD_compress(packed.data(), packed.size(), body.data(), body.size(), -3));
        header.body_bytes = body.size(), header.packed_bytes = packed.size();
        header.checksum = checksum_of(header, packed.data(), begin.base);
        result.append(reinterpret_cast<const char*>(&header), sizeof header);
        result.append(reinterpret_cast<const char*>(packed.data()), packed.size());
    }
    return result;
}

/// Corrects the checksums of a log, up to the first truncated record. Returns the log's base.
inline std::uint64_t put_checksums_right(std::vector<std::byte>& bytes) {
    StateLogHeader begin{};
    if (bytes.size() >= sizeof begin) {
        std::memcpy(&begin, bytes.data(), sizeof begin);
        begin.checksum = checksum_of(begin);
        std::memcpy(bytes.data(), &begin, sizeof begin);
    }
    for (std::size_t at = sizeof begin; at + sizeof(StateRecordHeader) <= bytes.size();) {
        StateRecordHeader header{};
        std::memcpy(&header, bytes.data() + at, sizeof header);
        if (header.packed_bytes > bytes.size() - at - sizeof header) break;
        header.checksum = checksum_of(header, bytes.data() + at + sizeof header, begin.base);
        std::memcpy(bytes.data() + at, &header, sizeof header);
        at += sizeof header + static_cast<std::size_t>(header.packed_bytes);
    }
    return begin.base;
}

}  // namespace shoal_fuzz
