#pragma once
// Finds the entities in any store that have gained, lost or changed a component since the last comparison.
//
//     ComponentMirror mirror(bodies.core(), schema_of<Body>());  // remembers which entities have a Body now
//     mirror.watch_field(0);                                     // and the velocity of each Body
//     ASSERT_TRUE(bodies.add(*entities.create(), Body{}));       // whatever happens
//     mirror.compare();
//     for (const Entity entity : mirror.added()) born.push_back(entity);  // and removed(), changed()
//
// A mirror remembers the owner of each row, and the columns of watched fields. Tables keep a stamp for each block of
// rows, so a mirror compares only the blocks that were written since the last comparison. The store's own calls do no
// extra work for the mirror.
//
//     table     e7 e2 e9 | e4 e5                    block 0 has a new stamp, block 1 does not
//     mirror    e7 e3 e9 | e4 e5                    e2 was added, e3 was removed
//
// A component that was added and removed between two comparisons is not reported. A row that has moved, even to another
// table, counts as the same component. A disabled component counts as absent. With `many`, an entity is listed once for
// each component that it has gained or lost. All lists are in the order of the rows.
// Lifetime: the store outlives the mirror. Thread: the structural thread of the store.
// Cost: 4 bytes per row (8 with 64-bit ids), and the bytes of watched fields; comparing a block takes a few hundred ns.
// Blocks whose owners depend on links to parents (Owned, ChildOf) are compared every time.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/store/store.h"

namespace shoal {

class ComponentMirror {
public:
    /// What the first comparison compares with: the current rows, or no rows.
    enum class Start : std::uint8_t { kRowsOfNow, kNoRows };

    SHOAL_API ComponentMirror(Store& store, const Schema& component, Start start = Start::kRowsOfNow);
    ComponentMirror(const ComponentMirror&) = delete;
    ComponentMirror& operator=(const ComponentMirror&) = delete;

    Store& store() const { return store_; }
    const Schema& component() const { return component_; }

    /// From now on, also compares the values of a field. For rows that are already remembered, the current value counts
    /// as the previous one. Requires: the field is not opaque, the store keeps it in a column, and an entity has at
    /// most one component of the type.
    SHOAL_API void watch_field(std::uint32_t field);
    /// Keeps the values of all fields, so that removed_values() and changed_values() are complete. Requires: no field
    /// is opaque, and the requirements of watch_field() hold.
    SHOAL_API void keep_values();

    /// From now on, compare() also copies the values of added components. Requires: as for keep_values().
    SHOAL_API void take_added_values();

    /// Finds the differences since the last comparison, and remembers the current rows.
    SHOAL_API void compare();

    // --- the results of the last compare(), valid until the next one ---------------------------------------------

    std::span<const Entity> added() const { return added_; }
    std::span<const Entity> removed() const { return removed_; }
    /// Entities that still have the component, but with a different value in a watched field.
    std::span<const Entity> changed() const { return changed_; }
    /// The values of the added components, if take_added_values() was called. Shape: a struct image for each
    /// entity.
    const std::byte* added_values() const { return added_values_.data(); }
    /// The previous values of watched fields. Shape: a struct image for each entity; other fields have their defaults.
    const std::byte* removed_values() const { return removed_values_.data(); }
    const std::byte* changed_values() const { return changed_values_.data(); }

    /// Writes the remembered rows and values. Requires: the results of the last compare() are no longer needed.
    SHOAL_API void save(SnapshotWriter& to) const;
    /// Remembers what save() wrote, and returns true. If that data is missing, or is for a different component type or
    /// different fields, starts over and returns false. Errors: the data does not fit. On error, nothing is remembered.
    /// Requires: the store has been loaded.
    SHOAL_API Result<bool> load(SnapshotReader& from, Start otherwise = Start::kRowsOfNow);

    /// Calls visit(context, field, value) for each remembered value of a field that is a string id or a read-only
    /// array. Shape: `value` has field.size bytes and may be unaligned.
    SHOAL_API void visit_texts(void (*visit)(void* context, const Field& field, const std::byte* value),
                               void* context) const;

    /// The memory that the remembered rows and values use.
    SHOAL_API std::size_t num_bytes() const;

private:
    using Bytes = Array<std::byte>;

    /// The remembered contents of a table.
    struct Picture {
        ComponentTable table;
        bool is_listed = true;
        std::uint64_t stamp = 0;                          // later writes have this stamp or a later one
        Array<Entity> owners{Owner("component mirror")};  // by row; null: no component
        Array<Bytes> columns{Owner("component mirror")};  // one for each of columns_, by row
    };

    /// Consecutive rows of one table, all with new owners. `first` is the number of new owners before them.
    struct RowSpan {
        std::uint32_t picture, row, first, count;
    };

    /// A column whose values are remembered.
    struct Column {
        std::uint32_t number;  // the column's number in the schema
        bool is_compared;
    };

    Status load_pictures(SnapshotReader& from);
    void forget_all();
    void keep_column(std::uint32_t number, bool is_compared);
    void find_pictures();
    void compare_picture(std::uint32_t picture);
    void compare_owners(std::uint32_t picture, RowRange rows);
    void compare_values(const Picture& picture, RowRange rows);
    bool compare_column(const Column& column, const std::byte* before, const std::byte* now,
                        std::span<std::uint64_t> fields) const;
    void take_rows(Picture& picture, RowRange rows);
    void list_came(std::uint32_t picture, RowRange rows);
    void list_gone(const Picture& picture, RowRange rows);
    void list_changed(Entity entity, const std::byte* old_image);
    void drop_pictures();
    std::span<const Entity> owners_of(const RowSpan& run) const;
    void match_moves();
    std::uint64_t differing_fields(const std::byte* old_image, std::size_t came) const;
    std::uint64_t differing_fields(const Column& column, const std::byte* before, const std::byte* now) const;
    void append_images(const Picture& picture, RowRange rows, Bytes& images) const;
    template <class DataOf>
    void append_images(std::uint32_t count, std::span<const Column> columns, DataOf&& data_of, Bytes& images) const;

    Store& store_;
    Schema component_;
    std::uint64_t watched_fields_ = 0;
    Array<Column> columns_{Owner("component mirror")};  // the kept columns
    Array<ComponentTable> tables_{Owner("component mirror")};
    Array<Picture> pictures_{Owner("component mirror")};
    HashMap<std::uint64_t, std::uint32_t> picture_of_{Owner("component mirror")};  // by table number
    Array<RowSpan> came_runs_{Owner("component mirror")};
    Array<Entity> came_{Owner("component mirror")}, gone_{Owner("component mirror")};
    Bytes came_values_{Owner("component mirror")}, gone_values_{Owner("component mirror")};
    Array<Column> added_columns_{Owner("component mirror")};  // columns whose values are copied for added components
    std::span<const Entity> added_;                           // refers to a picture, came_ or added_list_
    Array<Entity> added_list_{Owner("component mirror")}, removed_{Owner("component mirror")},
        changed_{Owner("component mirror")};
    Bytes added_values_{Owner("component mirror")}, removed_values_{Owner("component mirror")},
        changed_values_{Owner("component mirror")};
};

}  // namespace shoal
