#pragma once
// The texts behind string ids, for people: debug names, tags, the inspector. Nothing in a hot path needs it.

#include "shoal/base/hash_map.h"
#include "shoal/base/status.h"

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

    std::size_t size() const { return texts_.size(); }

private:
    std::string_view copy(std::string_view text);

    HashMap<StringId, std::string_view> texts_{Owner("string table")};
    Array<char*> chunks_{Owner("string table")};
    std::size_t chunk_used_ = 0;
    std::size_t chunk_bytes_ = 0;
};

}  // namespace shoal
