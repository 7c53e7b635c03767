// The tables of a database in a snapshot.

#include "database/table_name.h"
#include "shoal/base/detail/lines.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/database/detail/saved_tables.h"
#include "shoal/entity/entity_text.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/waiting_commands.h"

#include <algorithm>
#include <utility>

namespace shoal {

// --- tables by number --------------------------------------------------------------------------------------------

void TableSet::save(SnapshotWriter& to, std::span<const std::uint32_t> saved_types) const {
    Array<SavedTable> saved{Owner("database")};
    Array<Zone> zones{Owner("database")};
    first_in_zone_.for_each([&](Zone zone, std::uint32_t) { zones.push_back(zone); });
    std::sort(zones.begin(), zones.end());
    for (const Zone zone : zones) {  // the list of each zone is written from its end
        const std::size_t begin = saved.size();
        for_each_of_zone(zone, [&](const DatabaseTable& table) {
            saved.push_back({table.number(), saved_types[table.type_number()], zone, empty_visits_[table.number()]});
        });
        std::reverse(saved.begin() + static_cast<std::ptrdiff_t>(begin), saved.end());
    }
    to.value("num_numbers", tables_.size());
    to.array("tables", std::span<const SavedTable>(saved));
    to.array("free_numbers", std::span<const std::uint32_t>(free_numbers_));
    to.value("next_visited", next_visited_);
}

Status TableSet::load(SnapshotReader& from, std::span<const Archetype* const> types) {
    std::size_t num_numbers = 0, next_visited = 0;
    Array<SavedTable> saved{Owner("database")};
    Array<std::uint32_t> free_numbers{Owner("database")};
    if (Status status = from.value("num_numbers", num_numbers); !status) return status;
    if (Status status = from.array("tables", saved); !status) return status;
    if (Status status = from.array("free_numbers", free_numbers); !status) return status;
    if (Status status = from.value("next_visited", next_visited); !status) return status;
    if (saved.size() + free_numbers.size() != num_numbers)
        return from.error(
            "tables", concat(saved.size(), " tables and ", free_numbers.size(), " free numbers are not ", num_numbers));
    BitSet seen{Owner("database")};
    const auto is_new = [&](std::uint32_t number) { return number < num_numbers && !seen.test_and_set(number); };
    for (const std::uint32_t number : free_numbers)
        if (!is_new(number)) return from.error("free_numbers", concat("table number ", number, " is not free"));
    for (const SavedTable& table : saved)
        if (!is_new(table.number) || table.archetype >= types.size() || table.zone >= kMaxZones)
            return from.error("tables", concat("table number ", table.number, " is invalid"));
    if (Status status = directory_->reserve_tables(static_cast<std::uint32_t>(num_numbers)); !status) return status;

    // Existing tables are reused, with their memory: if the state is recent, most tables exist.
    Array<DatabaseTable*> kept(num_numbers, nullptr, Owner("database"));
    for (const SavedTable& table : saved)
        if (table.number < tables_.size() && tables_[table.number] != nullptr &&
            &tables_[table.number]->type() == types[table.archetype] && tables_[table.number]->zone() == table.zone)
            kept[table.number] = std::exchange(tables_[table.number], nullptr);
    for (const DatabaseTable* table : tables_) destroy_owned("database", table);
    tables_ = std::move(kept);
    free_numbers_ = std::move(free_numbers);
    next_visited_ = std::min(next_visited, num_numbers);
    next_in_zone_.assign(num_numbers, kNone);
    empty_visits_.assign(num_numbers, 0);
    occupied_.clear(num_numbers);
    number_by_place_.clear();
    first_in_zone_.clear();
    ++epoch_;
    Status status;
    for (const SavedTable& table : saved) {
        const Archetype& type = *types[table.archetype];
        if (find(type, table.zone) != nullptr)
            status = from.error("tables", concat("zone ", table.zone, " has two tables of one archetype"));
        if (tables_[table.number] == nullptr)
            tables_[table.number] = make_owned<DatabaseTable>("database", table.number, type, table.zone, *pool_,
                                                              capacity_rows_, directory_->rows());
        empty_visits_[table.number] = table.empty_visits;
        number_by_place_.set(pair_key(table.zone, type.number()), table.number);
        next_in_zone_[table.number] = first_in_zone_.find_or(table.zone, kNone);
        first_in_zone_.set(table.zone, table.number);
    }
    list_tables();
    note_all_columns();
    count_changes();
    return status;
}

// --- rows --------------------------------------------------------------------------------------------------------

void DatabaseTable::save(SnapshotWriter& to, std::span<const Schema* const> schemas) const {
    table_.save(to);
    for (std::size_t i = 0; i < presence_.size(); ++i) {
        const Array<std::uint64_t> bits = bits_of_rows(presence_[i].words(), num_rows());
        to.array(concat("on/", schemas[type_->enableable()[i].number]->name()), std::span<const std::uint64_t>(bits));
    }
}

Status DatabaseTable::load(SnapshotReader& from, std::span<const Schema* const> schemas) {
    if (Status status = table_.load(from); !status) return status;
    for (std::size_t i = 0; i < presence_.size(); ++i) {
        if (Status status = presence_[i].reserve(num_rows()); !status) return status;
        if (Status status = from.elements(concat("on/", schemas[type_->enableable()[i].number]->name()),
                                          presence_[i].words(), sizeof(std::uint64_t), (num_rows() + 63) / 64);
            !status)
            return status;
    }
    last_added_ = {}, last_removed_ = {};
    last_enableable_ = {};
    return {};
}

// --- the database ------------------------------------------------------------------------------------------------

void Database::save(SnapshotWriter& to) const {
    std::string names;
    for (const Schema* schema : schemas()) names += concat(schema->name(), '\n');
    // The archetypes of the tables, in the order of the tables; other archetypes are not part of the state.
    constexpr std::uint32_t kNotSaved = 0xFFFFFFFF;
    Array<std::uint32_t> saved_types(archetypes().size(), kNotSaved, Owner("database"));
    Array<std::uint32_t> members{Owner("database")};  // for each archetype: how many types, then their numbers
    std::uint32_t num_types = 0;
    tables_.for_each([&](const DatabaseTable& table) {
        if (saved_types[table.type_number()] != kNotSaved) return;
        saved_types[table.type_number()] = num_types++;
        members.push_back(static_cast<std::uint32_t>(table.type().components().size()));
        for (const ComponentType component : table.type().components()) members.push_back(component.number);
    });
    to.text("components", names);
    to.array("archetypes", std::span<const std::uint32_t>(members));
    to.value("stamp", stamp_);
    to.value("deaths_seen", deaths_seen_);
    tables_.save(to, saved_types);
    tables_.for_each([&](const DatabaseTable& table) {
        const SnapshotPath::Scope in_table = to.in(table_name(table.number()));
        table.save(to, schemas());
    });
    for (std::uint32_t number = 0; number < further_.size(); ++number) {
        if (further_[number] == nullptr) continue;
        const SnapshotPath::Scope in_further = to.in(concat("further/", schemas()[number]->name()));
        further_[number]->save(to);
    }
    if (is_alone() && alone_->commands() != nullptr) alone_->commands()->save(to);
}

Status Database::load(SnapshotReader& from) {
    require_unlocked("load()");
    if (is_alone() && alone_->commands() != nullptr) alone_->commands()->discard();
    const auto load_all = [&]() -> Status {
        Array<const Archetype*> types{Owner("database")};
        if (Status status = load_archetypes(from, types); !status) return status;
        std::uint64_t stamp = 0, deaths_seen = 0;
        if (Status status = from.value("stamp", stamp); !status) return status;
        if (Status status = from.value("deaths_seen", deaths_seen); !status) return status;
        // From here on, the old rows are lost.
        tables_.for_each([](DatabaseTable& table) { table.table_.clear(); });
        if (Status status = tables_.load(from, types); !status) return status;
        if (Status status = load_rows(from); !status) return status;
        if (Status status = from.is_trusted() ? Status() : validate(); !status) return status;
        if (Status status = entities_.set_death_position(cursor_, deaths_seen); !status) return status;
        stamp_ = stamp;
        deaths_seen_ = deaths_seen;
        return is_alone() ? load_commands(from) : Status();
    };
    const Status status = load_all();
    if (!status) {  // leaves the database consistent, without rows
        tables_.for_each([&](DatabaseTable& table) { table.table_.clear(), tables_.note_rows(table); });
        tables_.count_changes();
        directory_.rows().clear();
        for (OwnedRows* further : further_)
            if (further != nullptr) further->clear();
    }
    forget_steps();
    return status;
}

/// Reads the waiting commands. Errors: the commands cannot be loaded, or the database accepts no commands.
Status Database::load_commands(SnapshotReader& from) {
    if (alone_->commands() != nullptr) return alone_->commands()->load(from);
    if (!from.has("commands/lists")) return {};
    return from.error("commands", "commands wait, and nobody takes them; call Database::commands() once before");
}

/// Finds the saved archetypes, and makes archetypes that this database lacks.
Status Database::load_archetypes(SnapshotReader& from, Array<const Archetype*>& types) {
    const Result<std::string> names = from.text("components");
    if (!names) return names.status();
    Array<ComponentType> components{Owner("database")};
    for (std::string_view rest = *names; !rest.empty();) {
        const std::string_view name = take_line(rest);
        components.push_back(find_component(ComponentId(name)));
        if (!components.back())
            return from.error("components", concat("this database has no component type \"", name,
                                                   "\"; name it before, as with database.component<T>()"));
    }
    Array<std::uint32_t> members{Owner("database")};
    if (Status status = from.array("archetypes", members); !status) return status;
    Array<ComponentType> of_one{Owner("database")};
    for (std::size_t i = 0; i < members.size();) {
        const std::uint32_t count = members[i++];
        of_one.clear();
        for (std::uint32_t k = 0; k < count; ++k, ++i) {
            if (i >= members.size() || members[i] >= components.size())
                return from.error("archetypes", concat("archetype ", types.size(), " has an unknown component type"));
            of_one.push_back(components[members[i]]);
        }
        types.push_back(&graph_.archetype(of_one));
    }
    return {};
}

/// Reads the rows of all tables, and sets the location of each entity.
Status Database::load_rows(SnapshotReader& from) {
    Status status;
    directory_.rows().clear();
    if (Status room = directory_.reserve(static_cast<std::uint32_t>(entities_.num_indices_used())); !room) return room;
    tables_.for_each([&](DatabaseTable& table) {
        if (!status) return;
        const SnapshotPath::Scope in_table = from.in(table_name(table.number()));
        status = table.load(from, schemas());
        if (status) status = note_loaded(from, table);
        tables_.note_rows(table);
    });
    for (std::uint32_t number = 0; status && number < further_.size(); ++number) {
        if (further_[number] == nullptr) continue;
        const SnapshotPath::Scope in_further = from.in(concat("further/", schemas()[number]->name()));
        status = further_[number]->load(from);
    }
    return status;
}

Status Database::note_loaded(SnapshotReader& from, DatabaseTable& table) {
    const std::span<const Entity> owners = table.entities();
    const auto num_indices = static_cast<std::uint32_t>(entities_.num_indices_used());
    const std::uint32_t row = directory_.set_owners(owners, num_indices, table.number());
    if (row == owners.size()) return {};
    const bool is_id = is_possible(owners[row]) && owners[row].index() <= num_indices;
    return from.error("owner", concat("row ", row, " belongs to ", entity_text(owners[row]),
                                      is_id ? ", which has another" : ", which cannot own it"));
}

}  // namespace shoal
