#pragma once
// Converts a snapshot from the fields with which it was saved to those that a world has now.
//
//     "types" of the state       coral v1 {height float}       how its columns lie
//     the world or its registry  coral v2 {size double}        how they are to lie
//
// The steps of resource/migration.h are carried out on the columns of a copy of the state, wherever rows of the
// component type are: in a manager, in the tables of a database, in the files of its unloaded zones, or among the
// values of commands that wait.
// Then the copy is loaded as if it had been saved like that.
// Component types that a database has in another order than the state are put in the world's order, too.
//
// What was remembered of converted components, such as what observers were told last, begins anew.
// Thread: the structural thread of the world.

#include "shoal/base/bit_set.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/migration.h"
#include "shoal/state/snapshot.h"

#include <optional>
#include <string>
#include <vector>

namespace shoal {

class Migrations;
class WorldState;
struct SavedCommandPart;

class StateMigration {
public:
    /// Both outlive this.
    StateMigration(const WorldState& world, const Snapshot& from, bool is_trusted)
        : world_(world), saved_(from), from_(from, is_trusted) {}

    /// Writes what is to be loaded to `to`, or nothing if the state fits as it is. Requires: `to` is empty.
    /// Errors: no migration leads from the fields of the state to those of the world, which are both named; the state is
    /// damaged.
    Status run(Snapshot& to);

private:
    /// A component type, as it was saved and as it is to be.
    struct Type {
        const Schema* before;
        const Schema* after;  // the same if nothing has changed
        const Migrations* migrations = nullptr;
        bool is_converted = false;

        bool is_changed() const { return before != after; }
        bool is_only_renamed() const { return differ_in_name_only(*before, *after); }
    };
    /// A database, with its component types in the order of the state.
    struct SavedDatabase {
        std::string name;
        Array<Type> types{Owner("world")};
        Array<std::uint32_t> ranks{Owner("world")};  // of each: where the world has it
        bool is_reordered = false;
    };
    /// Rows of one or several component types. Names of columns are those of the combined schema, if there is one.
    struct TableShape {
        Array<Type> before{Owner("world")};  // in the order of the columns
        Array<Type> after{Owner("world")};
        std::string path_before, path_after;
        bool is_combined = false;
    };

    /// Where the columns of a component type are, and are to be.
    struct ColumnPaths {
        std::string before, after;  // what all begin with; no path before: there are no rows
        std::vector<std::string> old_names, names;
    };

    /// Of parts that are converted, and so not copied; or, with a slash at the end, what the paths of such parts begin with.
    using Paths = HashMap<std::string, bool>;

    Status read_types();
    Status read_stores();
    Status read_database(std::string_view name);
    Type type_of(const Schema& saved) const;
    Type* find_type(ComponentId id);
    Status check(const Type& type);
    Status no_way(const Type& type, std::string_view why);
    bool is_needed() const;

    Status write(SnapshotWriter& to);
    Status write_manager(SnapshotWriter& to, std::string_view name);
    Status write_database(SnapshotWriter& to, const SavedDatabase& database);
    Status write_tables(SnapshotWriter& to, const SavedDatabase& database);
    Status write_commands(SnapshotWriter& to, const std::string& path);
    Status write_values(SnapshotWriter& to, Type& type, const SavedCommandPart& part, const std::string& list,
                        std::uint32_t num_rows);
    Status write_table(SnapshotWriter& to, const TableShape& shape);
    Status write_stamps(SnapshotWriter& to, const TableShape& shape, std::uint32_t num_rows);
    Status write_converted(SnapshotWriter& to, const TableShape& shape, const Type& type, std::uint32_t num_rows);
    Status convert(SnapshotReader& from, SnapshotWriter& to, const Type& type, const ColumnPaths& paths,
                   std::uint32_t num_rows);
    Status write_zones(SnapshotWriter& to);
    Status write_zone(const Snapshot& zone, SnapshotWriter& to);
    Status write_zone_table(SnapshotReader& from, SnapshotWriter& to, const std::string& path, Paths& converted);
    Status write_zone_values(SnapshotReader& from, SnapshotWriter& to, const std::string& path, const Type& type,
                             std::uint32_t num_rows, Paths& converted);
    Status write_enabled_bits(SnapshotWriter& to, const TableShape& shape, const Type& type, std::uint32_t num_rows);
    static Status write_bits(SnapshotReader& from, SnapshotWriter& to, const Type& type, const std::string& before,
                             const std::string& after, std::uint32_t num_rows);
    Status write_types(SnapshotWriter& to);
    void write_rest(SnapshotWriter& to);
    std::span<const std::uint32_t> parts_in(std::string_view path) const;
    void replace(std::string_view path);
    bool is_replaced(std::string_view path) const;

    const WorldState& world_;
    const Snapshot& saved_;
    SnapshotReader from_;
    std::optional<Blob> blob_;  // has the schemas that were saved
    std::vector<Type> types_;
    HashMap<ComponentId, std::uint32_t> number_of_type_{Owner("world")};  // in types_, by the id of before
    std::vector<std::string> managers_;                      // stores with rows that are converted, as they were called
    HashMap<ComponentId, bool> is_manager_{Owner("world")};  // of which type
    std::vector<SavedDatabase> databases_;
    Array<std::uint32_t> by_path_{Owner("world")};  // the parts of the state
    BitSet is_replaced_{Owner("world")};            // [part]: it is not copied
};

}  // namespace shoal
