#pragma once
// The texts behind string ids, for people: debug names, tags, the inspector. Nothing in a hot path needs it.

#include "shoal/base/memory.h"
#include "shoal/base/status.h"
#include "shoal/base/string_id.h"

#include <cstdint>
#include <string_view>

namespace shoal {

/// Keeps each text once. Texts stay where they are until the table dies.
class StringTable {
public:
    StringTable() = default;
    SHOAL_API ~StringTable();
    StringTable(const StringTable&) = delete;
    StringTable& operator=(const StringTable&) = delete;

    /// Keeps `text` and returns its id; the empty text is the null id.
    /// Errors: another text with the same hash is kept already; the message names both.
    SHOAL_API Result<StringId> intern(std::string_view text);

    /// Returns the text of `id`; empty if it was never kept. Lifetime: that of the table.
    SHOAL_API std::string_view text(StringId id) const;

    std::size_t size() const { return num_texts_; }

private:
    struct Slot {
        std::uint64_t hash = 0;
        const char* data = nullptr;
        std::uint32_t length = 0;
    };
    void grow();

    Array<Slot> slots_{Owner("string table")};  // open addressing, a power of two
    Array<char*> chunks_{Owner("string table")};
    std::size_t chunk_used_ = 0;
    std::size_t chunk_bytes_ = 0;
    std::size_t num_texts_ = 0;
};

}  // namespace shoal
