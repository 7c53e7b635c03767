// The tables of component types, as an SQLite virtual table module (see https://sqlite.org/vtab.html).

#include "shoal/base/text.h"
#include "sql/component_rows.h"
#include "sql/session.h"
#include "sql/values.h"

#include <algorithm>
#include <cstdlib>

namespace shoal::sql {
namespace {

/// The constraints of a query on a table, as bits of SQLite's idxNum. The constraint values are passed in the order of
/// the bits, followed by the values whose type alone is checked.
enum Asked : int {
    kOneEntity = 1,
    kOneZone = 2,
    kZonesAbove = 4,
    kZonesFrom = 8,
    kZonesBelow = 16,
    kZonesUpTo = 32,
};
constexpr int kAllAsked[] = {kOneEntity, kOneZone, kZonesAbove, kZonesFrom, kZonesBelow, kZonesUpTo};

struct ComponentVtab : sqlite3_vtab {
    ComponentVtab(Session& s, const CatalogTable& t) : sqlite3_vtab{}, session(s), table(t) {}
    Session& session;
    const CatalogTable& table;
};

struct ComponentCursor : sqlite3_vtab_cursor {
    explicit ComponentCursor(const ComponentVtab& t) : sqlite3_vtab_cursor{}, rows(t.session.world(), t.table) {}
    ComponentRows rows;
};

const ComponentVtab& vtab_of(const sqlite3_vtab_cursor* cursor) { return *static_cast<ComponentVtab*>(cursor->pVtab); }
ComponentRows& rows_of(sqlite3_vtab_cursor* cursor) { return static_cast<ComponentCursor*>(cursor)->rows; }

/// The only argument is the index of the table in the catalog.
int connect(sqlite3* database, void* context, int num_arguments, const char* const* arguments, sqlite3_vtab** made,
            char** error) {
    auto& session = *static_cast<Session*>(context);
    const std::size_t number = num_arguments > 3 ? std::strtoul(arguments[3], nullptr, 10) : session.tables().size();
    if (number >= session.tables().size()) {
        *error = sqlite3_mprintf("a component type is a table of its own");
        return SQLITE_ERROR;
    }
    const CatalogTable& table = session.tables()[number];
    if (const int declared = sqlite3_declare_vtab(database, table.declaration().c_str()); declared != SQLITE_OK)
        return declared;
    sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
    *made = new ComponentVtab(session, table);
    return SQLITE_OK;
}

int create(sqlite3* database, void* context, int num_arguments, const char* const* arguments, sqlite3_vtab** made,
           char** error) {  // a separate function, because connect() would make the module an eponymous table
    return connect(database, context, num_arguments, arguments, made, error);
}

int disconnect(sqlite3_vtab* vtab) {
    delete static_cast<ComponentVtab*>(vtab);
    return SQLITE_OK;
}

// --- plans -------------------------------------------------------------------------------------------------------

/// Returns the bit of a constraint, or 0 if the table does not handle it.
int asked_by(Shows shows, unsigned char op) {
    if (shows == Shows::kEntity) return op == SQLITE_INDEX_CONSTRAINT_EQ ? kOneEntity : 0;
    if (shows != Shows::kZone) return 0;
    switch (op) {
        case SQLITE_INDEX_CONSTRAINT_EQ:
            return kOneZone;
        case SQLITE_INDEX_CONSTRAINT_GT:
            return kZonesAbove;
        case SQLITE_INDEX_CONSTRAINT_GE:
            return kZonesFrom;
        case SQLITE_INDEX_CONSTRAINT_LT:
            return kZonesBelow;
        case SQLITE_INDEX_CONSTRAINT_LE:
            return kZonesUpTo;
        default:
            return 0;
    }
}

/// Whether a constraint compares a reference. SQLite compares the values; the table only checks that they are not text.
bool is_compared_reference(const CatalogColumn& column, unsigned char op) {
    return op == SQLITE_INDEX_CONSTRAINT_EQ && column.type == "ENTITY" && column.shows != Shows::kEntity;
}

/// Returns the plan that EXPLAIN QUERY PLAN shows.
const char* plan_text(int asked) {
    if ((asked & kOneEntity) != 0) return "the rows of one entity (entity = ?)";
    if ((asked & kOneZone) != 0) return "the rows of one zone (zone = ?)";
    const bool above = (asked & (kZonesAbove | kZonesFrom)) != 0, below = (asked & (kZonesBelow | kZonesUpTo)) != 0;
    if (above && below) return "the rows of some zones (? < zone < ?)";
    if (above) return "the rows of some zones (zone > ?)";
    return below ? "the rows of some zones (zone < ?)" : "all rows";
}

void estimate(const CatalogTable& table, int asked, sqlite3_index_info& plan) {
    const double num_rows = static_cast<double>(ComponentRows::count(table));
    const double found = (asked & kOneEntity) != 0 ? std::min(num_rows, table.has_one_row_per_entity() ? 1.0 : 4.0)
                         : (asked & kOneZone) != 0 ? num_rows / 16
                         : asked != 0              ? num_rows / 4
                                                   : num_rows;
    plan.estimatedRows = static_cast<sqlite3_int64>(std::max(found, 1.0));
    plan.estimatedCost = (asked & kOneEntity) != 0 ? 2 + found : 10 + found;
    if ((asked & kOneEntity) != 0 && table.has_one_row_per_entity()) plan.idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
}

int choose_plan(sqlite3_vtab* vtab, sqlite3_index_info* plan) {
    const CatalogTable& table = static_cast<ComponentVtab*>(vtab)->table;
    int used[std::size(kAllAsked)], num_arguments = 0;
    std::fill(std::begin(used), std::end(used), -1);
    for (int i = 0; i < plan->nConstraint; ++i) {
        const auto& constraint = plan->aConstraint[i];
        if (constraint.usable == 0 || constraint.iColumn < 0) continue;
        const int asked = asked_by(table.columns[static_cast<std::size_t>(constraint.iColumn)].shows, constraint.op);
        const auto* const place = std::find(std::begin(kAllAsked), std::end(kAllAsked), asked);
        if (asked == 0 || used[place - kAllAsked] >= 0) continue;
        used[place - kAllAsked] = i;
    }
    for (std::size_t k = 0; k < std::size(kAllAsked); ++k) {
        if (used[k] < 0) continue;
        plan->idxNum |= kAllAsked[k];
        plan->aConstraintUsage[used[k]].argvIndex = ++num_arguments;
        plan->aConstraintUsage[used[k]].omit = kAllAsked[k] == kOneEntity;
    }
    for (int i = 0; i < plan->nConstraint; ++i) {
        const auto& constraint = plan->aConstraint[i];
        if (constraint.usable == 0 || constraint.iColumn < 0) continue;
        if (is_compared_reference(table.columns[static_cast<std::size_t>(constraint.iColumn)], constraint.op))
            plan->aConstraintUsage[i].argvIndex = ++num_arguments;
    }
    plan->idxStr = const_cast<char*>(plan_text(plan->idxNum));
    estimate(table, plan->idxNum, *plan);
    return SQLITE_OK;
}

// --- rows --------------------------------------------------------------------------------------------------------

int open(sqlite3_vtab* vtab, sqlite3_vtab_cursor** made) {
    *made = new ComponentCursor(*static_cast<ComponentVtab*>(vtab));
    return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
    delete static_cast<ComponentCursor*>(cursor);
    return SQLITE_OK;
}

/// Narrows the range of zones to those that a value allows. SQLite also checks each row, so a range that is too wide is
/// harmless.
void narrow(ZoneRange& zones, int asked, sqlite3_value* value) {
    const int type = sqlite3_value_numeric_type(value);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
    const auto number = static_cast<std::int64_t>(std::clamp(sqlite3_value_double(value), -1.0, double(kMaxZones)));
    if ((asked & (kOneZone | kZonesAbove | kZonesFrom)) != 0) zones.first = std::max(zones.first, number);
    if ((asked & (kOneZone | kZonesBelow | kZonesUpTo)) != 0) zones.last = std::min(zones.last, number);
}

int begin_rows(sqlite3_vtab_cursor* cursor, int asked, const char*, int num_values, sqlite3_value** values) {
    ZoneRange zones;
    Entity entity;
    int next = 0;
    bool is_text = false;
    for (const int one : kAllAsked) {
        if ((asked & one) == 0) continue;
        if (one == kOneEntity)
            is_text |= !read_entity_value(values[next++], entity);
        else
            narrow(zones, one, values[next++]);
    }
    for (Entity other; next < num_values; ++next) is_text |= !read_entity_value(values[next], other);
    if (is_text) return refuse_text_of_entity(cursor->pVtab);
    if ((asked & kOneEntity) != 0)
        rows_of(cursor).begin(entity);
    else
        rows_of(cursor).begin(zones);
    return SQLITE_OK;
}

int next_row(sqlite3_vtab_cursor* cursor) { return rows_of(cursor).next(), SQLITE_OK; }
int is_at_end(sqlite3_vtab_cursor* cursor) { return rows_of(cursor).is_at_end() ? 1 : 0; }
int give_row_number(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
    *number = rows_of(cursor).row_number();
    return SQLITE_OK;
}

int give_column(sqlite3_vtab_cursor* cursor, sqlite3_context* to, int number) {
    const ComponentVtab& vtab = vtab_of(cursor);
    const auto index = static_cast<std::size_t>(number);
    const CatalogColumn& column = vtab.table.columns[index];
    const StringTable& texts = vtab.session.world().strings();
    ComponentRows& rows = rows_of(cursor);
    switch (column.shows) {
        case Shows::kField:
            if (sqlite3_vtab_nochange(to) == 0) give_value(to, column.part.type, rows.field(index, column), texts);
            break;
        case Shows::kEntity:
            give_entity(to, rows.entity());
            break;
        case Shows::kComponentPosition:
            sqlite3_result_int64(to, rows.component_position());
            break;
        case Shows::kListPosition:
            sqlite3_result_int64(to, rows.list_position());
            break;
        case Shows::kElement:
            give_value(to, column.element, rows.element(column), texts);
            break;
        case Shows::kWhole:
            if (sqlite3_vtab_nochange(to) == 0) give_text(to, rows.whole(column));
            break;
        case Shows::kZone:
            if (const Zone zone = rows.zone(); zone != kNoZone) sqlite3_result_int64(to, zone);
            break;
    }
    return SQLITE_OK;
}

/// Records the values that UPDATE sets. INSERT and DELETE are refused earlier.
int set_row(sqlite3_vtab* vtab, int num_values, sqlite3_value** values, sqlite3_int64*) {
    const auto& self = *static_cast<ComponentVtab*>(vtab);
    if (num_values < 2 || sqlite3_value_type(values[0]) == SQLITE_NULL) return SQLITE_READONLY;
    Status noted = self.session.guard().count_bytes(Changes::kBytesOfValue);
    if (noted) noted = self.session.changes().note(self.table, values + 2);
    return noted ? SQLITE_OK : fail_table(vtab, noted.message());
}

}  // namespace

int add_component_module(Session& session) {
    static const sqlite3_module kModule = [] {
        sqlite3_module module{};
        module.xCreate = create, module.xConnect = connect;
        module.xDisconnect = module.xDestroy = disconnect;
        module.xBestIndex = choose_plan;
        module.xOpen = open, module.xClose = close;
        module.xFilter = begin_rows, module.xNext = next_row, module.xEof = is_at_end;
        module.xColumn = give_column, module.xRowid = give_row_number;
        module.xUpdate = set_row;
        return module;
    }();
    return sqlite3_create_module_v2(session.database(), "shoal_component", &kModule, &session, nullptr);
}

}  // namespace shoal::sql
