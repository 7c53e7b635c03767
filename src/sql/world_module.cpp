// The tables about the world itself. They show its entities and their properties, its zones, and the costs of passes
// and component types.

#include "shoal/base/text.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/database/detail/zone_statistics.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "shoal/inspect/report.h"
#include "shoal/transform/transform.h"
#include "sql/component_rows.h"
#include "sql/session.h"
#include "sql/values.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <variant>

namespace shoal::sql {
namespace {

constexpr WorldTable kWorldTables[] = {
    {"entities", "entity ENTITY, name TEXT, tags TEXT, zone INTEGER, components TEXT, owner ENTITY, parent ENTITY"},
    {"zones", "zone INTEGER, entities INTEGER, component_rows INTEGER, committed_bytes INTEGER"},
    {"passes",
     "pass TEXT, runs INTEGER, rows INTEGER, total_rows INTEGER, total_bytes INTEGER, ms_total DOUBLE, "
     "ms_mean DOUBLE, ms_last DOUBLE, enabled BOOLEAN"},
    {"memory",
     "component TEXT, store TEXT, rows INTEGER, dead_rows INTEGER, row_bytes INTEGER, used_bytes INTEGER, "
     "committed_bytes INTEGER, reserved_bytes INTEGER, index_bytes INTEGER, wasted_bytes INTEGER"},
    {"property_values", "entity ENTITY, path TEXT, value, own BOOLEAN"},
};
enum WorldTableNumber : std::size_t { kEntities, kZones, kPasses, kMemory, kProperties };

/// The rows of one of these tables.
class WorldRows {
public:
    virtual ~WorldRows() = default;
    /// Moves to the first row or, if `only` is given and the table lists entities, to the row of that entity.
    virtual void begin(const Entity* only) = 0;
    virtual bool is_at_end() const = 0;
    virtual void next() = 0;
    virtual void give(sqlite3_context* to, int column) const = 0;
    virtual std::int64_t row_number() const = 0;
};

// --- entities ----------------------------------------------------------------------------------------------------

class EntityRows final : public WorldRows {
public:
    explicit EntityRows(const World& world) : world_(world), database_(find_database(world.directory())) {}

    void begin(const Entity* only) override {
        index_ = only == nullptr ? 1 : only->index();
        end_ = only == nullptr ? world_.entities().generations().size() : index_ + 1;
        if (only != nullptr && !world_.entities().alive(*only)) end_ = index_;
        skip_dead();
    }
    bool is_at_end() const override { return index_ >= end_; }
    void next() override { ++index_, skip_dead(); }
    std::int64_t row_number() const override { return index_; }

    void give(sqlite3_context* to, int column) const override {
        switch (column) {
            case 0:
                return give_entity(to, entity());
            case 1:
                return give_name(to);
            case 2:
                return give_tags(to);
            case 3:
                return give_zone(to);
            case 4:
                return give_components(to);
            case 5:
                return give_entity(to, above(schema_of<Owned>().id()));
            default:
                return give_entity(to, above(schema_of<Transform>().id()));
        }
    }

private:
    Entity entity() const { return make_entity(index_, world_.entities().generations()[index_]); }
    void skip_dead() {
        const std::span<const Generation> generations = world_.entities().generations();
        while (index_ < end_ && generations[index_] == 0) ++index_;
    }

    /// Calls visit(StringId) for each of the entity's components of this type, which has a single field.
    template <class Visit>
    void for_each_text(ComponentId component, Visit&& visit) const {
        const Store* const store = world_.directory().find(component);
        if (store == nullptr) return;
        ComponentRow at = store->find_row(component, entity(), 0);
        for (std::uint32_t i = 0; at; at = store->find_next(at, entity(), ++i)) {
            const FieldPart part = field_part(*at.schema, at.schema->fields()[0]);
            StringId id;
            if (part.type.type != FieldType::kStringId || part.type.array_length != 0) return;
            store->read_field(at, part, reinterpret_cast<std::byte*>(&id));
            visit(id);
            if (!at.schema->many()) return;
        }
    }
    void give_name(sqlite3_context* to) const {
        for_each_text(schema_of<DebugName>().id(), [&](StringId id) { give_text(to, world_.strings().text(id)); });
    }
    void give_tags(sqlite3_context* to) const {
        std::string tags;
        for_each_text(schema_of<Tag>().id(),
                      [&](StringId id) { tags += concat(tags.empty() ? "" : ", ", world_.strings().text(id)); });
        if (!tags.empty()) give_text(to, tags);
    }
    void give_zone(sqlite3_context* to) const {
        if (database_ == nullptr) return;
        if (const DatabaseRow row = database_->find(entity())) sqlite3_result_int64(to, row.table->zone());
    }
    void give_components(sqlite3_context* to) const {
        std::string names;
        for (Store* store : world_.directory().stores())
            for (const Schema* schema : store->schemas())
                if (find_component(*store, *schema, entity()))
                    names += concat(names.empty() ? "" : ", ", schema->name());
        give_text(to, names);
    }
    /// The parent or owner of this entity in the store of a component type.
    Entity above(ComponentId component) const {
        const Store* const store = world_.directory().find(component);
        if (store == nullptr) return kNullEntity;
        const ComponentRow at = store->find_row(component, entity(), 0);
        if (!at || !at.table->has_tree()) return kNullEntity;
        const std::uint32_t row = at.table->links(LinkColumn::kTreeParent)[at.row];
        return row == kNilRow ? kNullEntity : at.table->entities()[row];
    }

    const World& world_;
    const Database* database_;
    std::uint32_t index_ = 1;
    std::size_t end_ = 0;
};

// --- facts that are computed on demand ------------------------------------------------------------------------

using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Entity>;
using Cells = std::vector<std::vector<Cell>>;

template <class T>
Cell count_cell(T count) {
    return static_cast<std::int64_t>(count);
}

Cells list_zones(const World& world, const Entity*) {
    struct Held {
        std::uint64_t rows = 0;
        std::size_t committed = 0;
    };
    std::map<Zone, Held> zones;
    const Database* const database = find_database(world.directory());
    if (database == nullptr) return {};
    for (const ZoneStatistics& entry : zone_statistics(*database)) {
        zones[entry.zone].rows += entry.held.num_rows;
        zones[entry.zone].committed += entry.held.rows.committed_bytes;
    }
    Cells cells;
    for (const auto& [zone, held] : zones)
        cells.push_back({count_cell(zone), count_cell(database->num_rows(zone)), count_cell(held.rows),
                         count_cell(held.committed)});
    return cells;
}

Cells list_passes(const World& world, const Entity*) {
    Cells cells;
    for (const PassReport& pass : report_world(world).passes)
        cells.push_back({pass.name, count_cell(pass.num_runs), count_cell(pass.num_rows), count_cell(pass.total_rows),
                         count_cell(pass.total_bytes), pass.total_ms(), pass.mean_ms(), pass.last_ms(),
                         count_cell(pass.enabled)});
    return cells;
}

Cells list_memory(const World& world, const Entity*) {
    Cells cells;
    for (const ComponentReport& component : report_world(world).components) {
        const Store* const store = world.directory().find(ComponentId(component.name));
        cells.push_back({component.name, store == nullptr ? Cell() : Cell(std::string(store->kind())),
                         count_cell(component.num_rows), count_cell(component.num_dead_rows),
                         count_cell(component.row_bytes), count_cell(component.rows.used_bytes),
                         count_cell(component.rows.committed_bytes), count_cell(component.rows.reserved_bytes),
                         count_cell(component.index.committed_bytes), count_cell(component.wasted_bytes())});
    }
    return cells;
}

/// Returns numbers and strings unchanged, and vectors and lists as text in the syntax of sources.
Cell property_cell(const World& world, const PropertyView& value) {
    const PropertyShape shape = value.shape();
    std::int64_t integer = 0;
    double real = 0;
    StringId text;
    const bool is_one = shape.count == 1 && shape.lanes == 1;
    bool is_on = false;
    if (is_one && shape.type == PropertyType::kBool && value.read(std::span(&is_on, 1)) == 1) return count_cell(is_on);
    if (is_one && shape.type == PropertyType::kInt && value.read(std::span(&integer, 1)) == 1) return integer;
    if (is_one && shape.type == PropertyType::kFloat && value.read(std::span(&real, 1)) == 1) return real;
    if (is_one && shape.type == PropertyType::kString && value.read(std::span(&text, 1)) == 1)
        return std::string(world.strings().text(text));
    DocumentBuilder builder;
    write_property(builder, shape, value.joined_words(), PlainNames(&world.strings()));
    return write_sjson_line(builder.finish().root());
}

/// Lists the properties of the entity `only`, or those of all entities if it is nullptr.
Cells list_properties(const World& world, const Entity* only) {
    Cells cells;
    const PropertyManager* const properties = find_properties(world.directory());
    if (properties == nullptr) return cells;
    std::vector<Entity> owners;
    if (only != nullptr) {
        if (world.entities().alive(*only)) owners.push_back(*only);
    } else {
        for (const Table* table : properties->tables())
            for (const Entity owner : table->entities())
                if (world.entities().alive(owner)) owners.push_back(owner);
        std::sort(owners.begin(), owners.end(), [](Entity a, Entity b) { return a.index() < b.index(); });
        owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    }
    for (const Entity owner : owners) {
        const std::size_t first = cells.size();
        properties->for_each(owner, [&](StringId path, const PropertyView& value) {
            cells.push_back({owner, std::string(world.strings().text(path)), property_cell(world, value),
                             count_cell(value.is_own())});
        });
        std::sort(cells.begin() + static_cast<std::ptrdiff_t>(first), cells.end(), [](const auto& a, const auto& b) {
            return std::get<std::string>(a[1]) < std::get<std::string>(b[1]);
        });
    }
    return cells;
}

class CountedRows final : public WorldRows {
public:
    CountedRows(const World& world, Cells (*list)(const World&, const Entity*)) : world_(world), list_(list) {}

    void begin(const Entity* only) override { cells_ = list_(world_, only), row_ = 0; }
    bool is_at_end() const override { return row_ >= cells_.size(); }
    void next() override { ++row_; }
    std::int64_t row_number() const override { return static_cast<std::int64_t>(row_); }
    void give(sqlite3_context* to, int column) const override {
        const Cell& cell = cells_[row_][static_cast<std::size_t>(column)];
        if (const auto* const number = std::get_if<std::int64_t>(&cell)) sqlite3_result_int64(to, *number);
        if (const auto* const real = std::get_if<double>(&cell)) sqlite3_result_double(to, *real);
        if (const auto* const text = std::get_if<std::string>(&cell)) give_text(to, *text);
        if (const auto* const entity = std::get_if<Entity>(&cell)) give_entity(to, *entity);
    }

private:
    const World& world_;
    Cells (*list_)(const World&, const Entity*);
    Cells cells_;
    std::size_t row_ = 0;
};

std::unique_ptr<WorldRows> make_rows(const World& world, std::size_t number) {
    if (number == kEntities) return std::make_unique<EntityRows>(world);
    if (number == kZones) return std::make_unique<CountedRows>(world, list_zones);
    if (number == kPasses) return std::make_unique<CountedRows>(world, list_passes);
    return std::make_unique<CountedRows>(world, number == kMemory ? list_memory : list_properties);
}

// --- the SQLite module ------------------------------------------------------------------------------------------

struct WorldVtab : sqlite3_vtab {
    WorldVtab(const World& w, std::size_t n) : sqlite3_vtab{}, world(w), number(n) {}
    const World& world;
    std::size_t number;
};

struct WorldCursor : sqlite3_vtab_cursor {
    explicit WorldCursor(const WorldVtab& table) : sqlite3_vtab_cursor{}, rows(make_rows(table.world, table.number)) {}
    std::unique_ptr<WorldRows> rows;
};

WorldRows& world_rows(sqlite3_vtab_cursor* cursor) { return *static_cast<WorldCursor*>(cursor)->rows; }

int connect_world(sqlite3* database, void* context, int num_arguments, const char* const* arguments,
                  sqlite3_vtab** made, char** error) {
    const auto& session = *static_cast<Session*>(context);
    const std::size_t number = num_arguments > 3 ? std::strtoul(arguments[3], nullptr, 10) : std::size(kWorldTables);
    if (number >= std::size(kWorldTables)) {
        *error = sqlite3_mprintf("the tables of the world have names of their own, such as entities");
        return SQLITE_ERROR;
    }
    const std::string declaration = concat("CREATE TABLE world (", kWorldTables[number].columns, ')');
    if (const int declared = sqlite3_declare_vtab(database, declaration.c_str()); declared != SQLITE_OK)
        return declared;
    sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
    *made = new WorldVtab(session.world(), number);
    return SQLITE_OK;
}

int create_world(sqlite3* database, void* context, int num_arguments, const char* const* arguments, sqlite3_vtab** made,
                 char** error) {  // a separate function, because connect() would make the module an eponymous table
    return connect_world(database, context, num_arguments, arguments, made, error);
}

int disconnect_world(sqlite3_vtab* vtab) {
    delete static_cast<WorldVtab*>(vtab);
    return SQLITE_OK;
}

/// Whether a column of `entities` is owner or parent. It is an error to compare one of these columns with text.
bool is_reference(int column) { return column == 5 || column == 6; }

int choose_world_plan(sqlite3_vtab* vtab, sqlite3_index_info* plan) {
    const auto& self = *static_cast<WorldVtab*>(vtab);
    const bool is_entities = self.number == kEntities;
    const bool has_entity = is_entities || self.number == kProperties;
    const double num_rows = has_entity ? static_cast<double>(self.world.entities().num_alive()) : 64;
    plan->idxStr = const_cast<char*>(is_entities ? "all entities" : "all rows");
    plan->estimatedRows = static_cast<sqlite3_int64>(num_rows);
    plan->estimatedCost = 100 + 2 * num_rows;
    for (int i = 0; has_entity && i < plan->nConstraint; ++i) {
        const auto& constraint = plan->aConstraint[i];
        if (constraint.usable == 0 || constraint.iColumn != 0 || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        plan->aConstraintUsage[i].argvIndex = 1;
        plan->aConstraintUsage[i].omit = 1;
        plan->idxNum = 1;
        plan->idxStr = const_cast<char*>("one entity (entity = ?)");
        plan->idxFlags = is_entities ? SQLITE_INDEX_SCAN_UNIQUE : 0;
        plan->estimatedRows = is_entities ? 1 : 4;
        plan->estimatedCost = is_entities ? 3 : 12;
        break;
    }
    int num_arguments = plan->idxNum;
    for (int i = 0; is_entities && i < plan->nConstraint; ++i) {
        const auto& constraint = plan->aConstraint[i];
        if (constraint.usable != 0 && is_reference(constraint.iColumn) && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ)
            plan->aConstraintUsage[i].argvIndex = ++num_arguments;
    }
    return SQLITE_OK;
}

int open_world(sqlite3_vtab* vtab, sqlite3_vtab_cursor** made) {
    *made = new WorldCursor(*static_cast<WorldVtab*>(vtab));
    return SQLITE_OK;
}

int close_world(sqlite3_vtab_cursor* cursor) {
    delete static_cast<WorldCursor*>(cursor);
    return SQLITE_OK;
}

int begin_world(sqlite3_vtab_cursor* cursor, int has_entity, const char*, int num_values, sqlite3_value** values) {
    Entity entity;
    for (int i = has_entity; i < num_values; ++i)
        if (sqlite3_value_type(values[i]) == SQLITE_TEXT) return refuse_text_of_entity(cursor->pVtab);
    if (has_entity != 0 && !read_entity_value(values[0], entity)) return refuse_text_of_entity(cursor->pVtab);
    world_rows(cursor).begin(has_entity != 0 ? &entity : nullptr);
    return SQLITE_OK;
}

int next_of_world(sqlite3_vtab_cursor* cursor) { return world_rows(cursor).next(), SQLITE_OK; }
int is_world_at_end(sqlite3_vtab_cursor* cursor) { return world_rows(cursor).is_at_end() ? 1 : 0; }
int give_world_column(sqlite3_vtab_cursor* cursor, sqlite3_context* to, int column) {
    return world_rows(cursor).give(to, column), SQLITE_OK;
}
int give_world_row_number(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
    *number = world_rows(cursor).row_number();
    return SQLITE_OK;
}

}  // namespace

std::span<const WorldTable> world_tables() { return kWorldTables; }

int add_world_module(Session& session) {
    static const sqlite3_module kModule = [] {
        sqlite3_module module{};
        module.xCreate = create_world, module.xConnect = connect_world;
        module.xDisconnect = module.xDestroy = disconnect_world;
        module.xBestIndex = choose_world_plan;
        module.xOpen = open_world, module.xClose = close_world;
        module.xFilter = begin_world, module.xNext = next_of_world, module.xEof = is_world_at_end;
        module.xColumn = give_world_column, module.xRowid = give_world_row_number;
        return module;
    }();
    return sqlite3_create_module_v2(session.database(), "shoal_world", &kModule, &session, nullptr);
}

}  // namespace shoal::sql
