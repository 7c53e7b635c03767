#pragma once
// Maps string ids to their strings, for messages, debug names, tags and the inspector. Hot paths do not need the
// strings.
//
//     intern(text)                for good: ids that the program keeps in variables, or where a world does not look
//     intern_until_unused(text)   until a collection finds the id nowhere: names, tags, values in rows
//
// When a world settles, it collects unused strings if its table has grown to twice the number of strings in use; see
// World::strings(). States that a world has saved in memory contain only ids, so the table keeps the strings that these
// states may need.
// Thread: any thread may call text() and note() while no thread adds or removes strings.

#include "shoal/base/status.h"
#include "shoal/base/string_id.h"

#include <string_view>

namespace shoal {

class BitSet;
class TextLease;

/// Stores each string once. A string does not move until it is removed.
class StringTable {
public:
    SHOAL_API StringTable();
    SHOAL_API ~StringTable();
    StringTable(const StringTable&) = delete;
    StringTable& operator=(const StringTable&) = delete;

    /// Returns the id of `text`, and keeps the string until the table is destroyed. The id of the empty string is null.
    /// Errors: as for check(); the table has a different string with the same hash. The message names both.
    Result<StringId> intern(std::string_view text) { return intern(text, true); }
    /// Like intern(), but a collection may remove the string, unless intern() was also called for it.
    Result<StringId> intern_until_unused(std::string_view text) { return intern(text, false); }
    /// Like intern_until_unused(), but may be called while other threads read strings, for example in a pass. The next
    /// take_noted() interns the string. Errors: as for intern(). If the table contains a different string with the same
    /// hash when take_noted() is called, the error is logged. Thread: like text(); several threads may call it at the
    /// same time.
    SHOAL_API Status note(std::string_view text);
    SHOAL_API void take_noted();
    /// Errors: the string is not valid UTF-8, which blobs and saves require. The message shows the string with escapes.
    SHOAL_API static Status check(std::string_view text);
    /// Returns the string for `id`, or an empty string if the table does not have it.
    /// Lifetime: while the table exists, or until collect() or remove_unused() removes a string that was interned until
    /// unused.
    SHOAL_API std::string_view text(StringId id) const;
    SHOAL_API std::size_t size() const;
    /// Calls visit(StringId, text) for all strings, in the order in which they were added.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for_each([](void* to, StringId id, std::string_view text) { (*static_cast<Visit*>(to))(id, text); }, &visit);
    }

    /// Sets the bit whose number is the position of `id` in for_each(). Ids that are not in the table are ignored.
    SHOAL_API void mark(StringId id, BitSet& used) const;
    SHOAL_API void mark_lasting(BitSet& used) const;  ///< marks all strings that intern() keeps
    /// Returns whether collect() is due: the table has more than twice as many strings as the last collect() left, plus
    /// `allowance`.
    SHOAL_API bool is_due(std::size_t allowance) const;
    /// Removes the strings that were interned until unused and are not marked. Strings that leased states may need are
    /// kept until those states are gone; remove_unused() then removes them. Requires: no string has been added or
    /// removed since marking.
    SHOAL_API void collect(const BitSet& used);
    SHOAL_API void remove_unused();
    SHOAL_API void use_all();  ///< treats all strings as used until the next collect(); for loading older states
    /// Returns the lease for states that are saved now and contain only ids. Lifetime: until the table and all states
    /// that took the lease are gone.
    SHOAL_API TextLease& lease() const;
    SHOAL_API std::uint64_t version() const;  ///< increases when a string is added or removed

private:
    struct Content;
    SHOAL_API Result<StringId> intern(std::string_view text, bool for_good);
    void intern_noted();
    SHOAL_API void for_each(void (*visit)(void* to, StringId id, std::string_view text), void* to) const;
    Content* content_;
};

/// Record that a state needs the strings of a lease, or no longer needs them. Thread: any.
SHOAL_API void take_lease(TextLease& lease);
SHOAL_API void give_back_lease(TextLease& lease);

}  // namespace shoal
