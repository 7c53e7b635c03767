#include "save/state_migration.h"

#include "save/state_file.h"
#include "save/world_state.h"
#include "save/zone_files.h"
#include "shoal/base/detail/bit_set.h"
#include "shoal/base/text.h"
#include "shoal/command/detail/saved_commands.h"
#include "shoal/components/properties.h"
#include "shoal/database/database.h"
#include "shoal/database/detail/saved_tables.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/detail/old_words.h"
#include "shoal/resource/migration.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/saved_rows.h"
#include "shoal/table/detail/value_check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shoal {
namespace {

constexpr std::uint32_t kNotYetInDatabase = std::uint32_t(1) << 31;

std::size_t num_blocks_of(std::uint32_t num_rows) {
    return (std::size_t(num_rows) + kRowsPerStampBlock - 1) / kRowsPerStampBlock;
}

/// The names of a component type's columns in a saved table.
class ColumnNames {
public:
    ColumnNames(const Schema& schema, bool is_combined) : schema_(schema) {
        const Schema* const alone[] = {&schema};
        if (is_combined) combined_ = Schema::combine(alone);
    }
    std::string operator[](std::size_t column) const {
        return saved_column_name(combined_ ? *combined_ : schema_, static_cast<std::uint32_t>(column));
    }
    std::vector<std::string> all() const {
        std::vector<std::string> names;
        for (std::size_t column = 0; column < schema_.columns().size(); ++column) names.push_back((*this)[column]);
        return names;
    }

private:
    const Schema& schema_;
    std::optional<Schema> combined_;
};

/// If a built-in component type was renamed, returns its current schema. Otherwise returns nullptr.
const Schema* schema_of_today(const Schema& saved) {
    const Schema& value = schema_of<PropertyValue>();
    if (saved.name() == old_words::kPropertyValue && differ_in_name_only(saved, value)) return &value;
    return old_words::schema_of_today(saved);
}

/// Returns the names of a component type's columns in a zone file.
std::vector<std::string> zone_columns(const Schema& schema) {
    std::vector<std::string> names;
    for (std::size_t column = 0; column < schema.columns().size(); ++column) names.push_back(concat("column/", column));
    return names;
}

/// Returns the common path prefix of a component type's values: "table/0/body/" for "table/0/body/column/3", and
/// "further/wound/" for "further/wound/owner".
std::string_view path_of_values(std::string_view path) {
    std::size_t end = 0;
    for (int num_names = path.starts_with("table/") ? 3 : 2; num_names > 0 && end < path.size(); --num_names)
        end = std::min(path.find('/', end), path.size() - 1) + 1;
    return path.substr(0, end);
}

class StateMigration {
public:
    /// Lifetime: the world and the snapshot must outlive this object.
    StateMigration(const WorldState& world, const Snapshot& from, bool is_trusted)
        : world_(world), saved_(from), from_(from, is_trusted) {}

    /// Writes the converted state to `to`, or nothing if no conversion is needed. Requires: `to` is empty. Errors: no
    /// migration leads from the fields of the state to the fields of the world (the message lists both), or the state
    /// is damaged.
    Status run(Snapshot& to) {
        if (Status status = read_types(); !status) return status;
        if (Status status = read_stores(); !status) return status;
        if (!is_needed()) return {};
        for (const Type& type : types_)
            if (Status status = check(type); !status) return status;
        for (std::uint32_t part = 0; part < saved_.num_parts(); ++part) by_path_.push_back(part);
        std::sort(by_path_.begin(), by_path_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return saved_.part(a).path < saved_.part(b).path; });
        is_replaced_.clear(saved_.num_parts());
        SnapshotWriter writer(to, &saved_);
        Status status = write(writer);
        if (status) status = writer.status();
        if (!status) to.clear();
        return status;
    }

private:
    /// A component type with its saved and its current schema.
    struct Type {
        const Schema* before;
        const Schema* after;  // the same as `before` if nothing has changed
        const Migrations* migrations = nullptr;
        bool is_converted = false;

        bool is_changed() const { return before != after; }
        bool is_only_renamed() const { return differ_in_name_only(*before, *after); }
    };
    /// A database, with its component types in the saved order.
    struct SavedDatabase {
        std::string name;
        Array<Type> types{Owner("world")};
        Array<std::uint32_t> ranks{Owner("world")};  // index in the world, by component type
        bool is_reordered = false;
    };
    /// Rows of one or several component types. If `is_combined` is set, a schema that combines these types defines the
    /// column names.
    struct TableShape {
        Array<Type> before{Owner("world")};  // in the order of the columns
        Array<Type> after{Owner("world")};
        std::string path_before, path_after;
        bool is_combined = false;
    };

    /// The old and new paths of a component type's columns.
    struct ColumnPaths {
        std::string before, after;  // prefixes; if `before` is empty, there are no rows
        std::vector<std::string> old_names, names;
    };

    /// Paths of parts that are converted, and therefore not copied. A path that ends with a slash is a prefix of paths.
    using Paths = HashMap<std::string, bool>;

    // --- what was saved ---------------------------------------------------------------------------------------------

    Status read_types() {
        if (!from_.has("types")) return {};  // this run of the program saved the state
        Array<std::byte> bytes{Owner("world")};
        if (Status status = from_.array("types", bytes); !status) return status;
        Result<Blob> blob = Blob::load(bytes);
        if (!blob) return from_.error("types", blob.message());
        blob_.emplace(std::move(*blob));
        for (const BlobComponents& components : blob_->component_types()) types_.push_back(type_of(*components.schema));
        HashMap<ComponentId, const Type*> by_id_now{Owner("world")};
        for (std::uint32_t i = 0; i < types_.size(); ++i) {
            number_of_type_.add(types_[i].before->id(), i);
            const auto [other, is_new] = by_id_now.insert(types_[i].after->id(), &types_[i]);
            if (!is_new)
                return from_.error("types", concat("it has both \"", (*other)->before->name(), "\" and \"",
                                                   types_[i].before->name(), "\", which are one component type now"));
        }
        return {};
    }

    Type type_of(const Schema& saved) const {
        const RegisteredComponent* const known = world_.registry().find_current(saved.id());
        const Schema* after = world_.find_kept_schema(known == nullptr ? saved.id() : known->id);
        if (after == nullptr && known != nullptr) after = known->schema;
        if (after == nullptr && known == nullptr) after = schema_of_today(saved);
        if (after == nullptr) after = &saved;
        const bool is_same = after->id() == saved.id() && after->version() == saved.version() &&
                             after->layout_hash() == saved.layout_hash() && after->many() == saved.many() &&
                             after->singleton() == saved.singleton() && after->enableable() == saved.enableable();
        return {&saved, is_same ? &saved : after, known == nullptr ? nullptr : known->migrations};
    }

    Type* find_type(ComponentId id) {
        const std::uint32_t* const number = number_of_type_.find(id);
        return number == nullptr ? nullptr : &types_[*number];
    }

    Status read_stores() {
        const Result<std::string> lines = from_.text("stores");
        if (!lines) return lines.status();
        Status status;
        HashMap<std::string_view, bool> seen{Owner("world")};
        for_each_line(*lines, [&](std::string_view line) {
            const std::string_view name = line.substr(0, std::min(line.find('\t'), line.size()));
            if (status && !seen.insert(name, true).is_new)
                status = from_.error("stores", concat("it lists \"", name, "\" twice"));
            if (status && from_.has(concat("stores/", name, "/components"))) status = read_database(name);
            const Type* const type = find_type(ComponentId(name));
            if (type == nullptr || !type->is_changed()) return;
            // A plugin's store gets its saved bytes and their version. If only the name of its component type has
            // changed, a store gets its saved data unchanged.
            if (from_.has(concat("stores/", name, "/rows/num_rows")) || from_.has(concat("stores/", name, "/bytes")) ||
                type->is_only_renamed())
                managers_.emplace_back(name), is_manager_.set(ComponentId(name), true);
        });
        return status;
    }

    Status read_database(std::string_view name) {
        const Result<std::string> names = from_.text(concat("stores/", name, "/components"));
        if (!names) return names.status();
        const auto* const database = dynamic_cast<const Database*>(world_.find_store(name));
        SavedDatabase& saved = databases_.emplace_back();
        saved.name = name;
        for_each_line(*names, [&](std::string_view component) {
            const ComponentId id(component);
            const Schema* const kept = world_.find_kept_schema(id);
            if (const Type* const type = find_type(id); type != nullptr)
                saved.types.push_back(*type);
            else
                saved.types.push_back({kept, kept});
            const Schema* const after = saved.types.back().after;
            const ComponentType known =
                database == nullptr || after == nullptr ? ComponentType() : database->find_component(after->id());
            saved.ranks.push_back(known ? known.number
                                        : kNotYetInDatabase + static_cast<std::uint32_t>(saved.ranks.size()));
        });
        saved.is_reordered = !std::is_sorted(saved.ranks.begin(), saved.ranks.end());
        return {};
    }

    bool is_needed() const {
        return std::any_of(types_.begin(), types_.end(), [](const Type& type) { return type.is_changed(); }) ||
               std::any_of(databases_.begin(), databases_.end(),
                           [](const SavedDatabase& one) { return one.is_reordered; });
    }

    Status no_way(const Type& type, std::string_view why) {
        return from_.error("types", concat("it has ", type.before->to_text(), ", and this program has ",
                                           type.after->to_text(), "; no migration leads from one to the other: ", why));
    }

    /// Errors: the saved fields cannot be converted, regardless of their values.
    Status check(const Type& type) {
        if (!type.is_changed()) return {};
        const Schema &before = *type.before, &after = *type.after;
        if (before.version() > after.version())
            return no_way(type, concat("this program knows versions up to ", after.version(), "; update the program"));
        if (before.many() && !after.many())
            return no_way(type,
                          "an entity could have several then, and now has one; remove those beyond the first before");
        if (before.singleton() != after.singleton())
            return no_way(type, concat("it is ", after.singleton() ? "now" : "no longer", " what a world has once"));
        return {};
    }

    // --- what is loaded ---------------------------------------------------------------------------------------------

    Status write(SnapshotWriter& to) {
        for (const std::string& name : managers_)
            if (Status status = write_manager(to, name); !status) return status;
        for (const SavedDatabase& database : databases_)
            if (Status status = write_database(to, database); !status) return status;
        for (const SavedDatabase& database : databases_)
            if (Status status = write_commands(to, concat("stores/", database.name, "/commands/")); !status)
                return status;
        if (Status status = write_commands(to, "commands/"); !status) return status;
        if (Status status = write_zones(to); !status) return status;
        for (const Type& type : types_)
            if (type.is_changed() && !type.is_converted && !type.is_only_renamed())
                return no_way(type, "it is not kept in a manager or a database, whose rows could be converted");
        if (Status status = write_types(to); !status) return status;
        write_rest(to);
        return {};
    }

    Status write_manager(SnapshotWriter& to, std::string_view name) {
        Type* const type = find_type(ComponentId(name));
        type->is_converted = true;
        const std::string before = concat("stores/", name, '/'), after = concat("stores/", type->after->name(), '/');
        if (!from_.has(concat(before, "rows/num_rows"))) {
            for (const std::uint32_t part : parts_in(before))
                to.copy(concat(after, saved_.part(part).path.substr(before.size())), saved_, saved_.part(part));
            replace(before);
            return {};
        }
        TableShape shape;
        shape.before.push_back(*type);
        shape.after.push_back(*type);
        shape.path_before = concat(before, "rows/");
        shape.path_after = concat(after, "rows/");
        return write_table(to, shape);
    }

    Status write_database(SnapshotWriter& to, const SavedDatabase& database) {
        bool is_changed = database.is_reordered;
        for (const Type& type : database.types) {
            if (type.before == nullptr || !type.is_changed()) continue;
            is_changed = true;
            if (type.before->enableable() && !type.after->enableable())
                return no_way(type, "it was enableable, and is not now, so disabled ones have no place");
            find_type(type.before->id())->is_converted = true;
        }
        if (!is_changed) return {};
        const std::string path = concat("stores/", database.name, '/');
        std::string names;
        for (const Type& type : database.types) {
            if (type.before == nullptr)
                return from_.error(concat(path, "components"), "it has a component type whose fields are not saved");
            names += concat(type.after->name(), '\n');
            if (!type.is_changed() || !type.after->many()) continue;
            TableShape shape;
            shape.before.push_back(type);
            shape.after.push_back(type);
            shape.path_before = concat(path, "further/", type.before->name(), "/rows/");
            shape.path_after = concat(path, "further/", type.after->name(), "/rows/");
            if (!type.before->many()) shape.path_before.clear();
            if (Status status = write_table(to, shape); !status) return status;
            replace(concat(path, "further/", type.before->name(), '/'));
        }
        to.text(concat(path, "components"), names);
        replace(concat(path, "components"));
        return write_tables(to, database);
    }

    Status write_tables(SnapshotWriter& to, const SavedDatabase& database) {
        const std::string path = concat("stores/", database.name, '/');
        Array<SavedTable> tables{Owner("world")};
        Array<std::uint32_t> members{Owner("world")}, firsts{Owner("world")};
        Array<std::size_t> last_archetype(database.types.size(), 0, Owner("world"));  // by type, counted from 1
        if (Status status = from_.array(concat(path, "tables"), tables); !status) return status;
        if (Status status = from_.array(concat(path, "archetypes"), members); !status) return status;
        for (std::size_t i = 0; i < members.size();) {
            firsts.push_back(static_cast<std::uint32_t>(i));
            const std::size_t count = members[i++];
            if (count > members.size() - i) return from_.error(concat(path, "archetypes"), "it is cut short");
            for (std::size_t k = 0; k < count; ++k, ++i) {
                if (members[i] >= database.types.size())
                    return from_.error(concat(path, "archetypes"), "an archetype has an unknown component type");
                if (std::exchange(last_archetype[members[i]], firsts.size()) == firsts.size())
                    return from_.error(concat(path, "archetypes"), "an archetype has a component type twice");
            }
        }
        for (const SavedTable& table : tables) {
            if (table.archetype >= firsts.size())
                return from_.error(concat(path, "tables"), concat("table number ", table.number, " is invalid"));
            TableShape shape;
            shape.is_combined = true;
            const std::uint32_t* const first = members.data() + firsts[table.archetype];
            Array<std::uint32_t> order(first + 1, first + 1 + *first, Owner("world"));
            for (const std::uint32_t member : order) shape.before.push_back(database.types[member]);
            std::sort(order.begin(), order.end(),
                      [&](std::uint32_t a, std::uint32_t b) { return database.ranks[a] < database.ranks[b]; });
            for (const std::uint32_t member : order) shape.after.push_back(database.types[member]);
            shape.path_before = shape.path_after = concat(path, "table/", table.number, '/');
            if (is_replaced(concat(shape.path_before, "num_rows")))
                return from_.error(concat(path, "tables"), concat("table number ", table.number, " is there twice"));
            if (Status status = write_table(to, shape); !status) return status;
        }
        return {};
    }

    /// Writes the values of pending commands, and the names of their component types. In older states, commands are in
    /// a database.
    Status write_commands(SnapshotWriter& to, const std::string& path) {
        if (!from_.has(concat(path, "lists"))) return {};
        Array<SavedCommandList> lists{Owner("world")};
        Array<SavedCommandPart> parts{Owner("world")};
        const Result<std::string> names = from_.text(concat(path, "types"));
        if (!names) return names.status();
        if (Status status = from_.array(concat(path, "lists"), lists); !status) return status;
        if (Status status = from_.array(concat(path, "parts"), parts); !status) return status;
        std::vector<Type*> types;
        std::string names_now;
        for_each_line(*names, [&](std::string_view name) {
            Type* const found = find_type(ComponentId(name));
            types.push_back(found);
            names_now += concat(found == nullptr ? name : std::string_view(found->after->name()), '\n');
        });
        std::size_t next_part = 0;
        for (std::size_t i = 0; i < lists.size(); ++i)
            for (std::uint32_t k = 0; k < lists[i].num_parts; ++k, ++next_part) {
                if (next_part >= parts.size() || parts[next_part].type >= types.size())
                    return from_.error(concat(path, "parts"), "a command names an unknown component type");
                Type* const type = types[parts[next_part].type];
                if (type == nullptr || !type->is_changed()) continue;
                if (lists[i].kind == SavedCommandKind::kSet)
                    return no_way(*type,
                                  "commands wait to set a field of it; settle before saving, or load it where the "
                                  "fields are those of the save");
                const std::string list = concat(path, "list/", i, '/');
                if (Status status = write_values(to, *type, parts[next_part], list, lists[i].num_rows); !status)
                    return status;
            }
        to.text(concat(path, "types"), names_now);
        replace(concat(path, "types"));
        return {};
    }

    Status write_values(SnapshotWriter& to, Type& type, const SavedCommandPart& part, const std::string& list,
                        std::uint32_t num_rows) {
        type.is_converted = true;
        if ((part.flags & SavedCommandPart::kBringsValue) == 0) return {};
        if ((part.flags & SavedCommandPart::kIsDisabled) != 0 && !type.after->enableable())
            return no_way(type, "it was enableable, and is not now, so what commands disable has no place");
        TableShape shape;
        shape.path_before = concat(list, type.before->name(), '/');
        shape.path_after = concat(list, type.after->name(), '/');
        const Result<std::uint64_t> num_entities = from_.count(concat(list, "entity"), sizeof(Entity));
        if (!num_entities) return num_entities.status();
        if (*num_entities != num_rows) return from_.error(list, concat(num_rows, " commands, about ", *num_entities));
        if (is_replaced(shape.path_before))
            return from_.error(list, concat("it has \"", type.before->name(), "\" twice"));
        if (Status status = write_converted(to, shape, type, num_rows); !status) return status;
        replace(shape.path_before);
        return {};
    }

    /// Writes the converted rows of a table. An empty shape.path_before means that the table is new and has no rows.
    Status write_table(SnapshotWriter& to, const TableShape& shape) {
        std::uint32_t num_rows = 0;
        if (shape.path_before.empty()) {
            to.value(concat(shape.path_after, "num_rows"), num_rows);
            to.array(concat(shape.path_after, "owner"), std::span<const Entity>());
            to.value(concat(shape.path_after, "stamp"), std::uint64_t(1));
            to.array(concat(shape.path_after, "stamps"), std::span<const std::uint64_t>());
        } else {
            const std::string name = concat(shape.path_before, "num_rows");
            if (Status status = from_.value(name, num_rows); !status) return status;
            const Result<std::uint64_t> num_owners = from_.count(concat(shape.path_before, "owner"), sizeof(Entity));
            if (!num_owners) return num_owners.status();
            if (*num_owners != num_rows)
                return from_.error(name, concat(num_rows, " rows, and ", *num_owners, " owners"));
            if (Status status = write_stamps(to, shape, num_rows); !status) return status;
        }
        Paths converted{Owner("world")};
        converted.set(concat(shape.path_before, "stamps"), true);
        for (const Type& type : shape.before) {
            if (!type.is_changed()) continue;
            const ColumnNames names(*type.before, shape.is_combined);
            for (std::size_t c = 0; c < type.before->columns().size(); ++c)
                converted.set(concat(shape.path_before, names[c]), true);
            converted.set(concat(shape.path_before, "on/", type.before->name()), true);
            if (Status status = write_converted(to, shape, type, num_rows); !status) return status;
            if (Status status = write_enabled_bits(to, shape, type, num_rows); !status) return status;
        }
        if (shape.path_before.empty()) return {};
        for (const std::uint32_t part : parts_in(shape.path_before)) {
            const std::string_view path = saved_.part(part).path;
            if (converted.find(std::string(path)) == nullptr)
                to.copy(concat(shape.path_after, path.substr(shape.path_before.size())), saved_, saved_.part(part));
        }
        replace(shape.path_before);
        return {};
    }

    /// Writes the stamps. Converted columns get the stamp at which the state was saved.
    Status write_stamps(SnapshotWriter& to, const TableShape& shape, std::uint32_t num_rows) {
        const std::size_t num_blocks = num_blocks_of(num_rows);
        std::size_t num_columns = 1;  // the first one is for the rows
        HashMap<ComponentId, std::size_t> firsts{Owner("world")};
        for (const Type& type : shape.before) {
            firsts.set(type.before->id(), num_columns);
            num_columns += type.before->columns().size();
        }
        Array<std::uint64_t> stamps{Owner("world")}, moved{Owner("world")};
        std::uint64_t now = 0;
        if (Status status = from_.value(concat(shape.path_before, "stamp"), now); !status) return status;
        if (Status status = from_.array(concat(shape.path_before, "stamps"), stamps); !status) return status;
        if (stamps.size() != num_columns * num_blocks)
            return from_.error(concat(shape.path_before, "stamps"),
                               concat("it has ", stamps.size(), " elements, not ", num_columns * num_blocks));
        moved.insert(moved.end(), stamps.begin(),
                     stamps.begin() + static_cast<std::ptrdiff_t>(num_blocks));  // stamps of the rows
        for (const Type& type : shape.after) {
            const std::size_t first = *firsts.find(type.before->id());
            const std::size_t count = type.after->columns().size() * num_blocks;
            const auto begin = stamps.begin() + static_cast<std::ptrdiff_t>(first * num_blocks);
            if (type.is_changed())
                moved.resize(moved.size() + count, now);
            else
                moved.insert(moved.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
        }
        to.array(concat(shape.path_after, "stamps"), moved);
        return {};
    }

    Status write_converted(SnapshotWriter& to, const TableShape& shape, const Type& type, std::uint32_t num_rows) {
        const ColumnNames old_names(*type.before, shape.is_combined), names(*type.after, shape.is_combined);
        return convert(from_, to, type, {shape.path_before, shape.path_after, old_names.all(), names.all()}, num_rows);
    }

    Status convert(SnapshotReader& from, SnapshotWriter& to, const Type& type, const ColumnPaths& paths,
                   std::uint32_t num_rows) {
        const Schema &before = *type.before, &after = *type.after;
        if (after.has_opaque() && num_rows != 0) return no_way(type, "it has a field that only C++ knows");
        std::vector<Array<std::byte>> old_columns;
        Array<const std::byte*> columns{Owner("world")};
        for (std::size_t c = 0; c < before.columns().size(); ++c) {
            const std::uint32_t bytes = before.columns()[c].element_bytes;
            Array<std::byte>& column = old_columns.emplace_back(Owner("world"));
            const std::string name = concat(paths.before, paths.old_names[c]);
            if (!paths.before.empty())
                if (Status status = from.bytes(name, column, bytes, num_rows); !status) return status;
            columns.push_back(column.data());
        }
        for (const Field& field : before.fields()) {
            if (field.num_columns != 1 || num_rows == 0) continue;
            const std::byte* const first = columns[field.first_column] + before.offset_in_column(field);
            if (const BadValue bad =
                    find_bad_value(field, {first, before.columns()[field.first_column].element_bytes, num_rows}))
                return from.error(concat(paths.before, "field"),
                                  concat("\"", field.name, "\" of \"", before.name(), "\" holds ", bad.problem));
        }
        std::uint64_t row_bytes = 0;
        for (const ColumnDefinition& column : after.columns()) row_bytes += column.element_bytes;
        if (Status status = from.take_memory(concat(paths.before, "num_rows"), num_rows * row_bytes); !status)
            return status;
        Result<ConvertedColumns> converted = ConvertedColumns();
        if (num_rows != 0) converted = migrate_rows(before, columns, num_rows, after, type.migrations);
        if (!converted) return no_way(type, converted.message());
        for (std::size_t c = 0; c < after.columns().size(); ++c)
            if (after.columns()[c].opaque == nullptr)
                to.elements(concat(paths.after, paths.names[c]), num_rows == 0 ? nullptr : converted->columns[c],
                            after.columns()[c].element_bytes, num_rows);
        return {};
    }

    // --- the files of unloaded zones --------------------------------------------------------------------------------

    /// If component types are converted, rewrites the zone files, because each file contains the names of its component
    /// types.
    Status write_zones(SnapshotWriter& to) {
        if (std::none_of(types_.begin(), types_.end(), [](const Type& type) { return type.is_changed(); })) return {};
        SerialExecutor alone;
        Array<SavedZone> zones{Owner("world")};
        {
            const SnapshotPath::Scope scope = from_.in(ZoneFiles::kScope);
            if (Status status = ZoneFiles::read_list(from_, zones); !status) return status;
        }
        for (SavedZone& saved : zones) {
            Array<std::byte> bytes{Owner("world")};
            const SnapshotPath::Scope scope = from_.in(ZoneFiles::kScope);
            const Result<Snapshot> zone = ZoneFiles::open(from_, saved, alone, bytes);
            if (!zone) return zone.status();
            Snapshot converted;
            SnapshotWriter rows(converted);
            if (Status status = write_zone(*zone, rows); !status)
                return Status::error(concat("zone ", saved.zone, " is unloaded, and ", status.message()));
            const Result<Array<std::byte>> made = write_state(converted, alone);
            if (!made) return made.status();
            const std::string path = concat(ZoneFiles::kScope, '/', ZoneFiles::part_name(saved.zone));
            to.array(path, *made);
            replace(path);
            saved.num_bytes = made->size();
            saved.hash = ZoneFiles::hash_of(*made);
        }
        if (zones.empty()) return {};
        const std::string path = concat(ZoneFiles::kScope, "/list");
        to.array(path, zones);
        replace(path);
        return {};
    }

    Status write_zone(const Snapshot& zone, SnapshotWriter& to) {
        SnapshotReader from(zone, from_.is_trusted());
        Paths converted{Owner("world")};
        std::uint32_t num_tables = 0;
        if (Status status = from.value("num_tables", num_tables); !status) return status;
        for (std::uint32_t number = 0; number < num_tables; ++number)
            if (Status status = write_zone_table(from, to, concat("table/", number, '/'), converted); !status)
                return status;
        for (const Type& type : types_) {
            const std::string path = concat("further/", type.before->name(), '/');
            if (!type.is_changed() || !from.has(concat(path, "owner"))) continue;
            Array<Entity> owners{Owner("world")};
            if (Status status = from.array(concat(path, "owner"), owners); !status) return status;
            if (Status status =
                    write_zone_values(from, to, "further/", type, static_cast<std::uint32_t>(owners.size()), converted);
                !status)
                return status;
            to.array(concat("further/", type.after->name(), "/owner"), owners);
        }
        for (std::size_t i = 0; i < zone.num_parts(); ++i) {
            const SnapshotPart part = zone.part(i);
            const bool is_replaced = converted.find(std::string(part.path)) != nullptr ||
                                     converted.find(std::string(path_of_values(part.path))) != nullptr;
            if (!is_replaced) to.copy(part.path, zone, part);
        }
        return to.status();
    }

    Status write_zone_table(SnapshotReader& from, SnapshotWriter& to, const std::string& path, Paths& converted) {
        Array<std::uint64_t> layouts{Owner("world")};
        const Result<std::string> names = from.text(concat(path, "components"));
        if (!names) return names.status();
        if (Status status = from.array(concat(path, "layouts"), layouts); !status) return status;
        const Result<std::uint64_t> num_rows = from.count(concat(path, "owner"), sizeof(Entity));
        if (!num_rows) return num_rows.status();
        if (*num_rows >= kNilRow) return from.error(concat(path, "owner"), "it has more rows than a table");
        std::string names_now;
        std::size_t number = 0;
        Status status;
        for_each_line(*names, [&](std::string_view name) {
            const Type* const type = find_type(ComponentId(name));
            const bool is_changed = type != nullptr && type->is_changed();
            if (is_changed && number < layouts.size()) layouts[number] = type->after->layout_hash();
            names_now += concat(is_changed ? std::string_view(type->after->name()) : name, '\n');
            ++number;
            if (status && is_changed)
                status = write_zone_values(from, to, path, *type, static_cast<std::uint32_t>(*num_rows), converted);
        });
        to.text(concat(path, "components"), names_now);
        to.array(concat(path, "layouts"), layouts);
        converted.set(concat(path, "components"), true), converted.set(concat(path, "layouts"), true);
        return status;
    }

    /// Converts the values at `path` that have this component type.
    Status write_zone_values(SnapshotReader& from, SnapshotWriter& to, const std::string& path, const Type& type,
                             std::uint32_t num_rows, Paths& converted) {
        const ColumnPaths paths{concat(path, type.before->name(), '/'), concat(path, type.after->name(), '/'),
                                zone_columns(*type.before), zone_columns(*type.after)};
        if (!converted.insert(paths.before, true).is_new) return from.error(paths.before, "it is there twice");
        if (Status status = convert(from, to, type, paths, num_rows); !status) return status;
        return type.after->enableable()
                   ? write_bits(from, to, type, concat(paths.before, "on"), concat(paths.after, "on"), num_rows)
                   : Status();
    }

    /// Writes the table data that is not in columns: links between components of the same entity, and enabled bits.
    Status write_enabled_bits(SnapshotWriter& to, const TableShape& shape, const Type& type, std::uint32_t num_rows) {
        if (!shape.is_combined && type.after->many() && !type.before->many()) {
            const Array<std::uint32_t> none(num_rows, kNilRow, Owner("world"));
            for (const LinkColumn link : {LinkColumn::kChainNext, LinkColumn::kChainPrevious})
                to.array(concat(shape.path_after, saved_link_name(static_cast<int>(link))), none);
        }
        if (!shape.is_combined || !type.after->enableable()) return {};
        return write_bits(from_, to, type, concat(shape.path_before, "on/", type.before->name()),
                          concat(shape.path_after, "on/", type.after->name()), num_rows);
    }

    /// Writes enabled bits. If the type could not be disabled before, all bits are set.
    static Status write_bits(SnapshotReader& from, SnapshotWriter& to, const Type& type, const std::string& before,
                             const std::string& after, std::uint32_t num_rows) {
        Array<std::uint64_t> on((std::size_t(num_rows) + 63) / 64, ~std::uint64_t(0), Owner("world"));
        if (num_rows % 64 != 0) on.back() = (std::uint64_t(1) << num_rows % 64) - 1;
        if (type.before->enableable())
            if (Status status = from.elements(before, on.data(), sizeof(std::uint64_t), on.size()); !status)
                return status;
        to.array(after, on);
        return {};
    }

    /// Writes the converted schemas, their layouts and the names of the stores.
    Status write_types(SnapshotWriter& to) {
        if (!blob_) return {};
        BlobWriter types;
        types.set_name("types");
        for (const Type& type : types_)
            if (const Result<std::uint32_t> added = types.add_component_type(*type.after); !added)
                return added.status();
        for (const BlobText& text : blob_->texts())
            if (const Result<StringId> kept = types.add_text(blob_->string(text.text)); !kept) return kept.status();
        const Result<std::vector<std::byte>> bytes = types.write();
        if (!bytes) return bytes.status();
        to.array("types", *bytes);
        replace("types");

        Array<SavedLayout> layouts{Owner("world")};
        if (Status status = from_.array("world/layouts", layouts); !status) return status;
        for (SavedLayout& layout : layouts)
            if (const Type* const type = find_type(layout.component); type != nullptr)
                layout = {type->after->id(), type->after->layout_hash()};
        to.array("world/layouts", layouts);
        replace("world/layouts");

        const Result<std::string> lines = from_.text("stores");
        if (!lines) return lines.status();
        std::string stores;
        for_each_line(*lines, [&](std::string_view line) {
            const std::size_t tab = std::min(line.find('\t'), line.size());
            const std::string_view name = line.substr(0, tab);
            const bool is_renamed = is_manager_.find(ComponentId(name)) != nullptr;
            stores += concat(is_renamed ? find_type(ComponentId(name))->after->name() : name, line.substr(tab), '\n');
        });
        to.text("stores", stores);
        replace("stores");
        return {};
    }

    /// Copies all parts that have no converted components. Observers and relations lose their data about converted
    /// components, so this data starts empty.
    void write_rest(SnapshotWriter& to) {
        bool is_renamed = false;
        for (const Type& type : types_) is_renamed |= type.before->id() != type.after->id();
        if (is_renamed) replace("observers/journal/"), replace(Snapshot::older_path("observers/journal/"));
        const auto is_changed = [&](std::string_view name) {
            const Type* const type = find_type(ComponentId(name));
            return type != nullptr && type->is_changed();
        };
        const auto is_about = [&](std::string_view path) {
            const std::size_t begin = path.find('/') + 1;
            if (path.starts_with("relations/")) return is_changed(path.substr(begin, path.find('.', begin) - begin));
            if (!path.starts_with("observers/") && !path.starts_with(Snapshot::older_path("observers/"))) return false;
            path.remove_prefix(begin);
            for (std::size_t end = path.find('/'); end != std::string_view::npos; end = path.find('/')) {
                if (is_changed(path.substr(0, end))) return true;
                path.remove_prefix(end + 1);
            }
            return false;
        };
        for (std::uint32_t part = 0; part < saved_.num_parts(); ++part)
            if (const std::string_view path = saved_.part(part).path; !is_replaced_[part] && !is_about(path))
                to.copy(path, saved_, saved_.part(part));
    }

    /// Returns the part with this path. If the path ends with a slash, returns the parts whose paths begin with it.
    std::span<const std::uint32_t> parts_in(std::string_view path) const {
        const auto is_before = [&](std::uint32_t part, std::string_view end) { return saved_.part(part).path < end; };
        const auto begin = std::lower_bound(by_path_.begin(), by_path_.end(), path, is_before);
        const auto is_in = [&](std::uint32_t part) {
            const std::string_view one = saved_.part(part).path;
            return path.ends_with('/') ? one.starts_with(path) : one == path;
        };
        return {begin, std::partition_point(begin, by_path_.end(), is_in)};
    }

    void replace(std::string_view path) {
        for (const std::uint32_t part : parts_in(path)) is_replaced_.set(part);
    }

    bool is_replaced(std::string_view path) const {
        const std::span<const std::uint32_t> parts = parts_in(path);
        return !parts.empty() && is_replaced_[parts.front()];
    }

    const WorldState& world_;
    const Snapshot& saved_;
    SnapshotReader from_;
    std::optional<Blob> blob_;  // holds the saved schemas
    std::vector<Type> types_;
    HashMap<ComponentId, std::uint32_t> number_of_type_{Owner("world")};  // index into types_, by saved id
    std::vector<std::string> managers_;                                   // saved names of stores with converted rows
    HashMap<ComponentId, bool> is_manager_{Owner("world")};               // the same stores
    std::vector<SavedDatabase> databases_;
    Array<std::uint32_t> by_path_{Owner("world")};  // the parts of the state, sorted by path
    BitSet is_replaced_{Owner("world")};            // for each part, whether it is replaced and not copied
};

}  // namespace

Status migrate_state(const WorldState& world, const Snapshot& from, bool is_trusted, Snapshot& to) {
    return StateMigration(world, from, is_trusted).run(to);
}

}  // namespace shoal
