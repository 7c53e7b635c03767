// Saves and loads the rows of a table.

#include "shoal/base/text.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/saved_rows.h"
#include "shoal/table/detail/table.h"
#include "shoal/table/detail/value_check.h"

#include <algorithm>

namespace shoal {
namespace {

/// Returns the rows in a block that got their owners at `since` or later.
SnapshotMarks placed_in_table(const void* table, std::uint32_t, std::uint32_t block, std::uint64_t since) {
    return static_cast<const Table*>(table)->placed_since(block, since);
}
SnapshotMarks written_in_table(const void* table, std::uint32_t column, std::uint32_t block, std::uint64_t since) {
    return static_cast<const Table*>(table)->written_since(column, block, since);
}

struct BadRow {
    std::uint32_t row;
    const char* problem;
};
/// Returns the first row with an owner and an invalid value, or the end of the rows. A hole contains garbage.
BadRow find_bad_row(const Field& field, const FieldRows& all, RowRange rows, std::span<const Entity> owners) {
    while (rows.begin != rows.end) {
        const BadValue bad = find_bad_value(
            field, {all.first + std::size_t(rows.begin) * all.stride, all.stride, rows.end - rows.begin});
        if (!bad) break;
        rows.begin = static_cast<std::uint32_t>(static_cast<std::size_t>(bad.place - all.first) / all.stride);
        if (owners[rows.begin]) return {rows.begin, bad.problem};
        ++rows.begin;
    }
    return {rows.end, ""};
}

}  // namespace

std::string saved_column_name(const Schema& schema, std::uint32_t column) {
    const ColumnDefinition& definition = schema.column(column);
    if (definition.field_index == ColumnDefinition::kWholeComponent) {
        // The column is named after the first field, because a table of several component types can have several
        // columns of this kind.
        for (const Field& field : schema.fields())
            if (field.first_column == column) return concat("field/", field.name, "...");
    }
    const Field& field = schema.fields()[definition.field_index];
    if (field.num_columns == 1) return concat("field/", field.name);
    return concat("field/", field.name, '.', lane_name(definition.lane));
}

std::string_view saved_link_name(int link) {
    constexpr std::string_view kNames[] = {"links/next",        "links/previous",   "links/parent",
                                           "links/first_child", "links/next_child", "links/previous_child"};
    return kNames[link];
}

Array<SnapshotGap> gaps_in_column(const Schema& schema, std::uint32_t column) {
    Array<SnapshotGap> gaps{Owner("table")};
    const ColumnDefinition& definition = schema.column(column);
    if (definition.field_index != ColumnDefinition::kWholeComponent) return gaps;
    Array<SnapshotGap> fields{Owner("table")};
    for (const Field& field : schema.fields())
        if (field.first_column == column) fields.push_back({schema.offset_in_column(field), field.size});
    fields.push_back({definition.element_bytes, 0});
    std::sort(fields.begin(), fields.end(),
              [](const SnapshotGap& a, const SnapshotGap& b) { return a.begin < b.begin; });
    std::uint32_t end = 0;
    for (const SnapshotGap& field : fields) {
        if (field.begin > end) gaps.push_back({end, field.begin - end});
        end = field.begin + field.num_bytes;
    }
    return gaps;
}

SnapshotMarks Table::written_since(std::uint32_t column, std::uint32_t snapshot_block, std::uint64_t since) const {
    return stamps_.written_since(column, snapshot_block, since);
}

SnapshotMarks Table::placed_since(std::uint32_t snapshot_block, std::uint64_t since) const {
    return stamps_.placed_since(snapshot_block, since);
}

void Table::save(SnapshotWriter& to) const {
    to.value("num_rows", num_rows());
    to.column("owner", entities().data(), sizeof(Entity), num_rows(), {placed_in_table, this}, placement());
    for (std::uint32_t c = 0; c < schema().num_columns(); ++c) {
        const ColumnDefinition& definition = schema().column(c);
        const std::string name = saved_column_name(schema(), c);
        if (definition.opaque != nullptr && num_rows() != 0)
            to.refuse(concat("the field \"", schema().fields()[definition.field_index].name, "\" of \"",
                             schema().name(),
                             "\" has a type that only C++ knows; keep what it holds in plain fields, or remove the "
                             "components before"));
        if (definition.opaque != nullptr) continue;
        const Array<SnapshotGap> gaps = gaps_in_column(schema(), c);
        to.column(name, column(c), definition.element_bytes, num_rows(), {written_in_table, this, c}, placement(),
                  gaps);
        refuse_bad_values(to, c);
    }
    for (int link = 0; link < 6; ++link)
        if (link < 2 ? has_chain() : has_tree()) to.array(saved_link_name(link), links(static_cast<LinkColumn>(link)));
    stamps_.save(to, num_rows());
}

/// Checks only blocks that may have changed since the previous snapshot.
void Table::refuse_bad_values(SnapshotWriter& to, std::uint32_t column) const {
    if (!to.checks_values() || num_rows() == 0) return;
    const std::uint32_t stride = schema().column(column).element_bytes;
    for (const Field& field : schema().fields()) {
        if (field.first_column != column || field.num_columns != 1 || !can_be_bad(field)) continue;
        const std::byte* const first = this->column(column) + schema().offset_in_column(field);
        for (std::uint32_t row = 0; row < num_rows(); row += kElementsPerSnapshotBlock) {
            if (!to.may_be_new(row / kElementsPerSnapshotBlock, {written_in_table, this, column})) continue;
            const std::uint32_t end = row + std::min(num_rows() - row, kElementsPerSnapshotBlock);
            const BadRow bad = find_bad_row(field, {first, stride, num_rows()}, {row, end}, entities());
            if (bad.row == end) continue;
            return to.refuse(bad_value_text(schema(), field, bad.problem, entities()[bad.row]));
        }
    }
}

Status Table::load(SnapshotReader& from) {
    std::uint32_t new_rows = 0;
    if (Status status = from.value("num_rows", new_rows); !status) return status;
    if (new_rows > capacity_rows())
        return from.error("num_rows", concat(new_rows, " rows, but the table of \"", schema().name(),
                                             "\" holds at most ", capacity_rows()));
    if (new_rows != 0 && schema().has_opaque())
        return from.error("num_rows", concat("\"", schema().name(), "\" has fields that only C++ knows"));
    const Result<std::uint64_t> num_owners = from.count("owner", sizeof(Entity));
    if (!num_owners) return num_owners.status();
    if (*num_owners != new_rows) return from.error("num_rows", concat(new_rows, " rows, and ", *num_owners, " owners"));
    storage_.destroy_opaque({0, num_rows()});
    storage_.cut(0);
    num_holes_ = 0;
    const std::uint64_t source = storage_.placement();
    storage_.renew_placement();
    const std::uint64_t renewed = storage_.placement();
    if (Status status = storage_.reserve(new_rows); !status) return status;
    const bool is_in_place = storage_.placement() == renewed;  // the bytes of the old rows are still there
    note_places();
    storage_.extend(new_rows);
    if (num_rows() != 0) links_.clear({0, num_rows()});
    const Status status = load_rows(from, is_in_place ? source : 0);
    if (!status) clear_rows();
    storage_.renew_placement();
    return status;
}

/// Reads the data of the rows. If the old columns are no longer in this memory, `source` is 0; otherwise, it identifies
/// them. Errors: data is missing or does not fit. On error, the rows hold arbitrary bytes.
Status Table::load_rows(SnapshotReader& from, std::uint64_t source) {
    from.gather_columns();
    if (Status status = from.column("owner", static_cast<void*>(storage_.owners()), sizeof(Entity), num_rows(), source);
        !status)
        return status;
    for (std::uint32_t c = 0; c < schema().num_columns(); ++c) {
        const ColumnDefinition& column = schema().column(c);
        if (column.opaque != nullptr) continue;
        if (Status status = from.column(saved_column_name(schema(), c), storage_.column(c), column.element_bytes,
                                        num_rows(), source);
            !status)
            return status;
    }
    from.finish_columns();
    std::uint32_t number = 0;
    for (int link = 0; link < 6; ++link) {
        if (link < 2 ? !has_chain() : !has_tree()) continue;
        if (Status status =
                from.elements(saved_link_name(link), storage_.links(number++), sizeof(std::uint32_t), num_rows());
            !status)
            return status;
    }
    if (!from.is_trusted())
        if (Status status = check_values(from); !status) return status;
    if (!from.is_trusted())
        if (Status status = links_.validate(num_rows(), schema().name()); !status) return status;
    num_holes_ = static_cast<std::uint32_t>(std::count(storage_.owners(), storage_.owners() + num_rows(), kNullEntity));
    return stamps_.load(from, num_rows());
}

/// Checks all values. Errors: some bytes are not a valid value of their field.
Status Table::check_values(SnapshotReader& from) const {
    for (const Field& field : schema().fields()) {
        if (field.opaque != nullptr || field.num_columns != 1 || num_rows() == 0) continue;
        const std::byte* const first = column(field.first_column) + schema().offset_in_column(field);
        const std::uint32_t stride = schema().column(field.first_column).element_bytes;
        const BadRow bad = find_bad_row(field, {first, stride, num_rows()}, {0, num_rows()}, entities());
        if (bad.row != num_rows())
            return from.error("field", concat("\"", field.name, "\" of \"", schema().name(), "\" holds ", bad.problem));
    }
    return {};
}

/// Removes all rows. The caller updates the index.
void Table::clear_rows() {
    storage_.cut(0);
    num_holes_ = 0;
}

}  // namespace shoal
