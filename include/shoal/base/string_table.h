#pragma once
// The texts behind string ids, for people: debug names, tags, the inspector. Hot paths do not need it.
// Thread: any thread may call text() while no thread calls intern().

#include "shoal/base/hash_map.h"
#include "shoal/base/status.h"

#include <string_view>

namespace shoal {

/// Keeps each text once. Texts do not move until the table is destroyed.
class StringTable {
public:
    StringTable() = default;
    SHOAL_API ~StringTable();
    StringTable(const StringTable&) = delete;
    StringTable& operator=(const StringTable&) = delete;

    /// Keeps `text` and returns its id. The empty text has the null id.
    /// Errors: as of check(); the table has another text with the same hash. The message names both.
    SHOAL_API Result<StringId> intern(std::string_view text);
    /// Errors: the text is not valid UTF-8, so blobs and saves could not have it. The message shows it, with escapes.
    SHOAL_API static Status check(std::string_view text);

    /// Returns the text of `id`, or an empty text if the table does not have it. Lifetime: that of the table.
    SHOAL_API std::string_view text(StringId id) const;

    std::size_t size() const { return texts_.size(); }
    /// Calls visit(StringId, text) for all texts, in no particular order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        texts_.for_each(visit);
    }

private:
    std::string_view copy(std::string_view text);

    HashMap<StringId, std::string_view> texts_{Owner("string table")};
    Array<char*> chunks_{Owner("string table")};
    std::size_t chunk_used_ = 0;
    std::size_t chunk_bytes_ = 0;
};

}  // namespace shoal
