#pragma once
// The texts of string ids, for messages and tools: debug names, tags, the inspector. Hot paths do not need them.
//
//     intern(text)                for good: ids that the program keeps in variables, or where a world does not look
//     intern_until_unused(text)   until a collection finds the id nowhere: names, tags, values in rows
//
// A world collects unused texts when it settles, if its table has grown to twice the texts in use; see
// World::strings(). States that a world has saved in memory contain only ids, so the table keeps the texts that
// existing states may need.
// Thread: any thread may call text() and note() while no thread adds or removes texts.

#include "shoal/base/status.h"
#include "shoal/base/string_id.h"

#include <string_view>

namespace shoal {

class BitSet;
class TextLease;

/// Keeps each text once. A text does not move until it is removed.
class StringTable {
public:
    SHOAL_API StringTable();
    SHOAL_API ~StringTable();
    StringTable(const StringTable&) = delete;
    StringTable& operator=(const StringTable&) = delete;

    /// Keeps `text` until the table is destroyed and returns its id. The id of the empty text is null.
    /// Errors: as for check(); the table has another text with the same hash. The message names both.
    Result<StringId> intern(std::string_view text) { return intern(text, true); }
    /// Like intern(), but a collection may remove the text, unless intern() was also called for it.
    Result<StringId> intern_until_unused(std::string_view text) { return intern(text, false); }
    /// Like intern_until_unused(), but may be called while other threads read texts, for example in a pass. The text is
    /// interned by the next take_noted(). Errors: as for intern(); if the table has another text with the same hash by
    /// then, a line in the log reports it. Thread: like text(); several threads may call it at the same time.
    SHOAL_API Status note(std::string_view text);
    SHOAL_API void take_noted();
    /// Errors: the text is not valid UTF-8, which blobs and saves require. The message shows the text with escapes.
    SHOAL_API static Status check(std::string_view text);
    /// Returns the text of `id`, or an empty text if the table does not have it.
    /// Lifetime: while the table exists, or until collect() or remove_unused() removes a text that was interned until
    /// unused.
    SHOAL_API std::string_view text(StringId id) const;
    SHOAL_API std::size_t size() const;
    /// Calls visit(StringId, text) for all texts, in the order in which they were added.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for_each([](void* to, StringId id, std::string_view text) { (*static_cast<Visit*>(to))(id, text); }, &visit);
    }

    /// Sets the bit at the text's position in for_each(). Ids without a text are ignored.
    SHOAL_API void mark(StringId id, BitSet& used) const;
    SHOAL_API void mark_lasting(BitSet& used) const;  ///< marks all texts that intern() keeps
    /// Whether to collect: the table has more than twice the texts that the last collect() left, plus `allowance`.
    SHOAL_API bool is_due(std::size_t allowance) const;
    /// Removes texts that were interned until unused and are not marked. Texts that leased states may need are removed
    /// by remove_unused() after those states are gone. Requires: the texts were marked since they last changed.
    SHOAL_API void collect(const BitSet& used);
    SHOAL_API void remove_unused();
    SHOAL_API void use_all();  ///< treats all texts as used until the next collect(), after an older state was loaded
    /// Returns the lease for states that are saved now without texts. Lifetime: until the table and all states that
    /// took the lease are gone.
    SHOAL_API TextLease& lease() const;
    SHOAL_API std::uint64_t version() const;  ///< increases when a text is added or removed

private:
    struct Content;
    SHOAL_API Result<StringId> intern(std::string_view text, bool for_good);
    void intern_noted();
    SHOAL_API void for_each(void (*visit)(void* to, StringId id, std::string_view text), void* to) const;
    Content* content_;
};

/// Adds a state that needs the texts of a lease, or removes one. Thread: any.
SHOAL_API void take_lease(TextLease& lease);
SHOAL_API void give_back_lease(TextLease& lease);

}  // namespace shoal
