#pragma once
// Position links keep a Vec3 field equal to the position of the entity's transform, and keep each database row in the
// tile for its position.
//
//     world.position_links().follow<&Buoy::position>(Follower::kField);  // the field is where the transform is
//     world.position_links().keep_in_tiles<&Buoy::position>(tiles);      // and its row lies in the tile of that place
//
//     Follower::kTransform    the local position of the transform is the field: the place in the world, if it is a root
//     Follower::kField        the field is the position of the transform in the world
//
// At the end of each settle(), a declaration holds for every entity that has the field and a transform, including new
// entities. This applies to any kind of store, however the value was written. If both the field and the transform were
// written, the follower is overwritten.
//
//     step()  |- passes -|- settle: commands, relations, transforms follow, stores, fields follow, tiles, observers -|
//                                                                  world poses of deferred transforms
//
// If transforms follow a field, a spawned field that has its default value is first set to the position of the
// transform.
//
// A child that becomes a root when its parent dies keeps its world position until the next settle. From then on, its
// transform follows the field again. A disabled component counts as absent. Entities are spawned directly into their
// tiles; see Database::spawn_into_tiles(). Rows in the first zone of the database, where rows without a zone are added,
// are moved to their tiles. Rows in other zones outside the grid, rows in the zone for large entities, and rows whose
// position is NaN are not moved. If rows cannot be moved, for example because memory has run out, every later settle
// tries again.
// Thread: the same as for World. Cost: the workers read all stamps of the columns, and compare each row of the blocks
// that were written since the last settle. Only values that differ are written.

#include "shoal/database/grid_zones.h"
#include "shoal/react/service.h"
#include "shoal/store/store.h"
#include "shoal/table/detail/column.h"
#include "shoal/table/detail/field_part.h"

namespace shoal {

class Database;
class TransformManager;
class ComponentDirectory;

enum class Follower : std::uint8_t { kTransform, kField };

/// The position links and tiles that a program has declared for a world; see World::position_links().
class PositionLinks final : public WorldService {
public:
    explicit PositionLinks(ComponentDirectory& directory)
        : WorldService("position_links", ServiceStage::kPositionLinks), directory_(directory) {}

    /// From the next settle on, links a Vec3 field to the transforms of the same entities, as in
    /// `world.position_links().follow<&Body::position>(Follower::kField)`.
    /// Requires: a store has the component type, the world has transforms, no other declaration contradicts this one,
    /// and no passes are running.
    template <auto kMember>
    void follow(Follower follower) {
        static_assert(std::is_same_v<ValueOf<kMember>, Vec3>, "a place is a Vec3");
        require_declared(follow(schema_of<ComponentOf<kMember>>().id(), FieldLayout<kMember>::kIndex, follower));
    }
    /// Like the template, but also for a component type without a C++ type. `field` is the field's index in the schema.
    /// Errors: no store has the component type, the field is not a Vec3, or another declaration contradicts this one.
    /// On error, nothing has changed.
    SHOAL_API Status follow(ComponentId component, std::uint32_t field, Follower follower);
    /// From the next settle on, moves each row that is in a tile or in the first zone of the database to the tile for
    /// its position, and spawns entities into their tiles; see Database::spawn_into_tiles(). Requires: the database has
    /// the component type, no other field or grid is declared for the database, and no passes are running.
    template <auto kMember>
    void keep_in_tiles(const GridZones& tiles) {
        static_assert(std::is_same_v<ValueOf<kMember>, Vec3>, "a place is a Vec3");
        require_declared(keep_in_tiles(schema_of<ComponentOf<kMember>>().id(), FieldLayout<kMember>::kIndex, tiles));
    }
    /// Like the template, but also for a component type without a C++ type. Errors: the same as for follow(), or the
    /// component type is not in the database.
    SHOAL_API Status keep_in_tiles(ComponentId component, std::uint32_t field, const GridZones& tiles);

    std::string describe() const override;
    /// If transforms follow a field, sets fields that still have the default value to the position of the transform.
    void spawned(const Blob& blob, const Spawned& spawned, const SpawnOptions& options) override;
    /// Writes the transforms that follow fields.
    void after_commands(const SettleContext& context) override;
    /// Writes the fields that follow transforms, then moves rows to their tiles.
    void after_settle(const SettleContext& context) override;
    void forget(const Store& store) override;
    std::uint32_t state_version() const override { return 1; }
    /// For each declaration, save_part() saves a stamp; writes at or after the stamp have not been checked. load_part()
    /// restores it if this world has the same declaration. For declarations that were not saved, all rows are checked.
    void save_part(SnapshotWriter& to) const override;
    Status load_part(SnapshotReader& from, std::uint32_t version) override;

private:
    /// A field that holds a position.
    struct PositionField {
        Store* store;
        const Schema* component;  // the schema in the store
        FieldPart part;
        std::uint64_t since = 0;  // writes at or after this stamp have not been checked
    };
    struct Followed {
        PositionField field;
        Follower follower;
    };
    struct Tiled {
        PositionField field;
        Database* database;
        GridZones tiles;
    };
    /// The rows of one stamp block. Their table has the component or, if `of_transforms` is set, the transforms.
    struct Block {
        ComponentTable table;
        RowRange rows;
        bool of_transforms = false;
        Zone zone = kNoZone;
    };
    /// An entity whose field and transform differ.
    struct Difference {
        const Table* table;  // the table that has the field
        std::uint32_t row, first_column;
        Entity entity;
        Vec3 place;  // the position to be written
    };
    struct Leaving {
        Entity entity;
        Zone zone;
    };

    SHOAL_API static void require_declared(const Status& status);
    Result<Store*> require_keeper(ComponentId component) const;
    static Result<PositionField> find_place(Store& store, const Schema& component, std::uint32_t field);
    static void add_blocks(const Block& table, std::uint32_t first_column, std::uint32_t num_columns,
                           std::uint64_t since, Array<Block>& blocks);
    static void write_field(const PositionField& field, const Difference& difference);
    void find_differences(const Followed& followed, TransformManager& transforms, Executor& executor);
    void write_fields(const SettleContext& context);
    void move_rows(Tiled& tiled, const SettleContext& context);
    bool move_leaving(Database& database, const SettleContext& context);

    ComponentDirectory& directory_;
    Array<Followed> followed_{Owner("position links")};
    Array<Tiled> tiled_{Owner("position links")};
    // Temporaries for a settle, which are members so that their memory is reused.
    Array<Block> blocks_{Owner("position links")};
    Array<Array<Difference>> differences_{Owner("position links")};  // one list per chunk of blocks_
    Array<Array<Leaving>> leaving_by_chunk_{Owner("position links")};
    Array<Leaving> leaving_{Owner("position links")};
    Array<Entity> entities_{Owner("position links")};
    Array<Vec3> places_{Owner("position links")};
};

}  // namespace shoal
