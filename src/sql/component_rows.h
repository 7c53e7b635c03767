#pragma once
// The rows of a component type, or of one entity.

#include "shoal/database/database.h"
#include "sql/catalog.h"

#include <vector>

namespace shoal::sql {

/// A range of zones, both ends included. Empty if the first is greater than the last.
struct ZoneRange {
    std::int64_t first = 0, last = std::int64_t(kMaxZones) - 1;
};

/// Finds the first component of an entity. Ignores disabled components, and rows that exist only as targets of links.
ComponentRow find_component(Store& store, const Schema& component, Entity entity);

/// Iterates over the rows of a table in the catalog. Rows must not move during the iteration.
class ComponentRows {
public:
    ComponentRows(const World& world, const CatalogTable& table);

    /// Moves to the first row, either of all rows or of an entity's rows. Skips tables without rows in the zones.
    /// Tables that are not skipped may also have rows in other zones.
    void begin(const ZoneRange& zones);
    void begin(Entity entity);
    bool is_at_end() const { return !at_; }
    void next();

    Entity entity() const { return entity_; }
    /// The index of the component among its entity's components. Cost: a step for each component before it.
    std::uint32_t component_position() const;
    std::uint32_t list_position() const { return list_position_; }
    /// The zone of the entity in the first database of the world; kNoZone if the entity has no row there.
    Zone zone() const;
    /// The bytes of a part of a field. Lifetime: until the next call.
    const std::byte* field(std::size_t column, const CatalogColumn& shown);
    const std::byte* element(const CatalogColumn& shown) const {
        return list_values_ + std::size_t(list_position_) * list_stride_ + shown.element_offset;
    }
    /// A field, as text.
    std::string whole(const CatalogColumn& shown);
    /// A number that is unique in the table.
    std::int64_t row_number() const;
    /// An upper bound on the number of rows. Cost: a step for each table of the store.
    static std::uint64_t count(const CatalogTable& table);

private:
    /// Where the values of a column begin in the current table.
    struct Place {
        const std::byte* first = nullptr;  // nullptr if values are read through the store
        std::size_t stride = 0;
    };
    bool enter_table();
    bool is_in_zones(const Table& table) const;
    void find_places(const Table& table, std::uint32_t first_column);
    bool has_component(std::uint32_t row) const;
    void find_row();
    void next_component();
    bool start_list();
    void read_list();

    const World& world_;
    const CatalogTable& shown_;
    const Database* database_;  // the database whose zones are shown, or nullptr
    ComponentRow at_;
    Entity entity_;
    // For all rows:
    Array<ComponentTable> tables_{Owner("sql")};
    ZoneRange zones_;
    std::size_t next_table_ = 0;
    std::uint32_t next_row_ = 0;
    bool reads_tables_ = false;
    bool has_fields_ = true;     // whether the store keeps the fields in columns
    std::vector<Place> places_;  // by column
    const Table* placed_ = nullptr;
    std::uint64_t placement_ = 0;
    // For one entity:
    std::uint32_t position_ = 0;
    // For an array:
    const std::byte* list_values_ = nullptr;
    std::size_t list_stride_ = 0;
    std::uint32_t list_position_ = 0, list_length_ = 0;
    std::vector<std::byte> list_bytes_, value_;
};

}  // namespace shoal::sql
