#include "sql/changes.h"

#include "shoal/base/text.h"
#include "sql/values.h"

#include <utility>

namespace shoal::sql {

void Changes::begin() {
    noted_.clear();
    done_.clear();
    paths_.clear();
    num_noted_ = num_updated_ = 0;
}

Result<const FieldPath*> Changes::find_path(const CatalogTable& table, const CatalogColumn& column,
                                            std::uint32_t position) {
    const PathKey key(&column, position);
    if (const auto known = paths_.find(key); known != paths_.end()) return &known->second;
    const std::string index = table.kept->many() ? concat('[', position, ']') : std::string();
    Result<FieldPath> path =
        FieldPath::find_in(world_.directory(), concat(table.kept->name(), index, '.', column.path));
    if (!path) return path.status();
    return &paths_.emplace(key, std::move(*path)).first->second;
}

Status Changes::note_value(const FieldPath& path, Entity entity, sqlite3_value* value) {
    Result<AnyValue> given = value_of(value, path.type(), path.name());
    if (!given) return given.status();
    Result<AnyValue> converted = path.convert(*given);
    if (!converted) return converted.status();
    if (Status checked = check_override_value(path, *converted); !checked) return checked;
    if (path.type().type == FieldType::kEntity) {
        const auto target = converted->as<Entity>();
        if (target && *target && !world_.entities().alive(*target))
            return Status::error(concat("the entity that ", quoted(path.name()), " is to refer to is not alive"));
    }
    if (given->is_text() && path.type().type == FieldType::kStringId)
        if (const Result<StringId> kept = world_.strings().intern_until_unused(given->text()); !kept)
            return kept.status();
    noted_.push_back({&path, entity, std::move(*converted)});
    return {};
}

Status Changes::note(const CatalogTable& table, sqlite3_value** values) {
    Entity entity;
    std::uint32_t position = 0;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].shows == Shows::kEntity) entity = entity_of(sqlite3_value_int64(values[i]));
        if (table.columns[i].shows == Shows::kComponentPosition)
            position = static_cast<std::uint32_t>(sqlite3_value_int64(values[i]));
    }
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const CatalogColumn& column = table.columns[i];
        if (column.shows != Shows::kField || sqlite3_value_nochange(values[i]) != 0) continue;
        const Result<const FieldPath*> path = find_path(table, column, position);
        if (!path) return path.status();
        if (Status noted = note_value(**path, entity, values[i]); !noted) return noted;
    }
    ++num_noted_;
    return {};
}

Status Changes::apply() {
    for (const Change& change : noted_) {
        Result<AnyValue> before = change.path->read(change.entity);
        if (!before) return before.status();
        if (Status written = change.path->write(change.entity, change.value); !written) return written;
        done_.push_back({change.path, change.entity, std::move(*before)});
    }
    noted_.clear();
    num_updated_ += std::exchange(num_noted_, 0);
    return {};
}

void Changes::undo() {
    for (; !done_.empty(); done_.pop_back())
        static_cast<void>(done_.back().path->write(done_.back().entity, done_.back().value));  // a valid value
    begin();
}

}  // namespace shoal::sql
