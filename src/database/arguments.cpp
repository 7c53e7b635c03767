#include "database/arguments.h"

namespace shoal {

void Database::Arguments::keep_apart_from(const Table& table) {
    if (table.num_rows() == 0) return;
    if (table.contains(entities().data())) entities_.copy();
    keep_values_apart_from(table);
}

void Database::Arguments::keep_values_apart_from(const Table& table) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const ComponentValues& given = values_[i];
        bool is_inside = given.images != nullptr && table.contains(given.images);
        for (const std::byte* column : given.columns) is_inside = is_inside || table.contains(column);
        if (!is_inside) continue;
        if (copied_values_.empty()) copied_values_.assign(values_.begin(), values_.end());
        copy_values(copied_values_[i], table);
        values_ = copied_values_;
    }
}

void Database::Arguments::copy_values(ComponentValues& given, const Table& table) {
    const Schema& schema = database_.schema(given.component);
    if (given.images != nullptr) {
        const std::size_t num_before_last = entities().empty() ? 0 : entities().size() - 1;
        given.images = copy_bytes(given.images, given.stride * num_before_last + schema.struct_bytes());
    }
    if (given.columns.empty()) return;
    Array<const std::byte*> columns(given.columns.begin(), given.columns.end(), Owner("database"));
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (table.contains(columns[c]))
            columns[c] = copy_bytes(columns[c], entities().size() * schema.columns()[c].element_bytes);
    copied_columns_.push_back(std::move(columns));
    given.columns = copied_columns_.back();
}

const std::byte* Database::Arguments::copy_bytes(const std::byte* from, std::size_t num_bytes) {
    copied_bytes_.emplace_back(from, from + num_bytes, Owner("database"));
    return copied_bytes_.back().data();
}

}  // namespace shoal
