#pragma once
// Finds the texts of the string table that a world uses. These texts are kept when the table is collected, and are
// saved.
//
//     rows              fields that are string ids, also of rows in the files of unloaded zones
//     properties        paths, and strings among the values
//     read-only arrays  of string ids, tables of properties, names of nodes of models
//     defaults          of component types
//     waiting           values in commands, and events: every word of their bytes that is the id of a text
//     services          what they mark: old values, for observers, and overrides of spawns, for reloads
//
// Ids elsewhere, in variables of the program or in opaque fields, are not seen.
// Thread: the structural thread of the world. Only const functions of its stores are called.

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
    /// Returns the number of rows that find() visits: the rows of component types with string ids. Cost: O(tables).
    std::uint64_t count_rows() const;

private:
    void mark(StringId id) override {
        if (id == last_) return;  // adjacent rows often share a text
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
    HashMap<std::uint64_t, bool> arrays_{Owner("world")};  // visited arrays, by a hash
};

/// Removes unused texts when there are many more texts than were used last time, or far fewer rows that may use them.
/// Visiting a row costs much less than keeping a text, so a fixed number of new texts is tolerated, plus one text for
/// every few rows.
class TextCollection final : public WorldService {
public:
    explicit TextCollection(World& world) : WorldService("texts", ServiceStage::kTexts), world_(world) {}
    std::string describe() const override;
    void after_settle(const SettleContext& context) override;

private:
    void collect();

    World& world_;
    std::uint64_t num_rows_ = 0;  // that had texts at the last collection
};

}  // namespace shoal
