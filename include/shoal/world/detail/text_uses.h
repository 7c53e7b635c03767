#pragma once
// Finds out which strings in its string table a world uses. A collection keeps these strings, and saves contain them.
//
//     rows              fields that are string ids, also of rows in the files of unloaded zones
//     properties        paths, and strings among the values
//     read-only arrays  of string ids, tables of properties, names of nodes of models
//     defaults          of component types
//     waiting           values in commands, and events: every word of their bytes that is the id of a text
//     services          what they mark: old values, for observers, and overrides of spawns, for reloads
//
// Ids in other places, such as variables of the program or opaque fields, are not found.
// Thread: the structural thread of the world. Only const functions of the stores are called.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/react/service.h"
#include "shoal/world/world.h"

namespace shoal {

struct StateRows;

class TextUses final : private TextMarks {
public:
    explicit TextUses(const World& world) : world_(const_cast<World&>(world)) {}

    /// Returns the set of used strings, as positions in the world's string table.
    const BitSet& find();
    /// Returns the number of rows that find() visits: all rows of component types that contain string ids. Cost:
    /// O(tables).
    std::uint64_t count_rows() const;

private:
    void mark(StringId id) override {
        if (id == last_) return;  // adjacent rows often have the same string
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
    HashMap<std::uint64_t, bool> arrays_{Owner("world")};  // visited arrays, by hash
};

/// Removes unused strings. Because visiting rows takes time, it waits until there are many more strings than the last
/// collection kept, or until there are far fewer rows that may use strings. It tolerates a fixed number of unused
/// strings, plus one for every few rows.
class TextCollection final : public WorldService {
public:
    explicit TextCollection(World& world) : WorldService("texts", ServiceStage::kTexts), world_(world) {}
    std::string describe() const override;
    void after_settle(const SettleContext& context) override;

private:
    void collect();

    World& world_;
    std::uint64_t num_rows_ = 0;  // rows with string ids at the last collection
};

}  // namespace shoal
