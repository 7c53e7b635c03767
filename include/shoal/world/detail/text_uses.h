#pragma once
// Which texts of its string table a world uses: what is kept when the table is collected, and what a save has.
//
//     rows              fields that are string ids, also of rows in the files of unloaded zones
//     properties        paths, and strings among the values
//     read-only arrays  of string ids, tables of properties, names of nodes of models
//     defaults          of component types
//     waiting           values in commands, and events: every word of their bytes that is the id of a text
//     services          what they mark: values before, for observers, and overrides of spawns, for reloads
//
// Ids elsewhere, in variables of the program or in opaque fields, are not seen.
// Thread: the structural thread of the world; const calls of its stores.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/react/service.h"
#include "shoal/world/world.h"

namespace shoal {

struct StateRows;

class TextUses final : private TextMarks {
public:
    explicit TextUses(const World& world) : world_(const_cast<World&>(world)) {}

    /// Returns a bit for each text of the world's string table that is used.
    const BitSet& find();
    /// Returns how many rows there are of component types with string ids, at which find() looks. Cost: O(tables).
    std::uint64_t count_rows() const;

private:
    void mark(StringId id) override {
        if (id == last_) return;  // which rows side by side often share
        last_ = id;
        world_.strings().mark(id, used_);
    }
    void mark_words(std::span<const std::byte> bytes) override;
    void mark_defaults(const Schema& schema);
    void mark_store(Store& store);
    void mark_rows(const StateRows& rows);
    void mark_field(const StateRows& rows, const Field& field);
    void mark_values(const Field& field, const std::byte* value) override;
    void mark_array(const BlobArrayBase& array, FieldType element_type);
    void mark_properties(const StateRows& rows);
    void mark_waiting();

    World& world_;
    BitSet used_{Owner("world")};
    StringId last_;
    HashMap<std::uint64_t, bool> arrays_{Owner("world")};  // that were looked at, by a hash
};

/// Removes the texts that nothing uses, when there are many more than were used the last time, or far fewer rows that
/// may use them. Looking at a row takes a small part of what keeping a text takes, so there may be a new text for some
/// rows.
class TextCollection final : public WorldService {
public:
    explicit TextCollection(World& world) : WorldService("texts", ServiceStage::kTexts), world_(world) {}
    std::string describe() const override;
    void after_settle(const SettleContext& context) override;

private:
    void collect();

    World& world_;
    std::uint64_t num_rows_ = 0;  // that had texts when they were collected last
};

}  // namespace shoal
