#include "shoal/table/table.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

/// Copies one element of the columns of a group from one row to another.
template <std::size_t kBytes, class Columns>
void copy_elements(const Columns& columns, const std::uint32_t* order, std::uint32_t count, std::uint32_t from,
                   std::uint32_t to) {
    for (std::uint32_t i = 0; i < count; ++i) {
        std::byte* data = columns[order[i]].data;
        std::memcpy(data + std::size_t(to) * kBytes, data + std::size_t(from) * kBytes, kBytes);
    }
}

/// Writes `count` copies of one element. Broadcasting by doubling keeps memcpy in charge.
void broadcast(std::byte* target, const std::byte* element, std::size_t element_bytes, std::size_t count) {
    if (count == 0 || element_bytes == 0) return;
    std::memcpy(target, element, element_bytes);
    constexpr std::size_t kMaxStep = 4096;  // a source that stays in the first-level cache
    std::size_t done = 1;
    while (done < count) {
        std::size_t step = std::min(done, count - done);
        if (step * element_bytes > kMaxStep) step = std::max<std::size_t>(1, kMaxStep / element_bytes);
        std::memcpy(target + done * element_bytes, target, step * element_bytes);
        done += step;
    }
}

template <class T>
void scatter_elements(std::byte* target, const std::byte* source, std::size_t stride, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(target + i * sizeof(T), source + i * stride, sizeof(T));
}

struct Bytes12 {
    std::uint32_t words[3];
};
struct Bytes16 {
    std::uint64_t words[2];
};

}  // namespace

Table::Table(const Schema& schema, PagePool& pool, const TableOptions& options)
    : schema_(&schema), pool_(&pool), options_(options) {
    for (const ColumnDefinition& column : schema.columns()) {
        SHOAL_ASSERT(column.alignment <= kCacheLineBytes, "a field cannot be aligned to more than 64 bytes");
        add_column(column.element_bytes, column.opaque);
    }
    add_column(sizeof(Entity), nullptr);
    if (options.chain) add_column(sizeof(std::uint32_t), nullptr);
    for (int i = 0; options.tree && i < 4; ++i) add_column(sizeof(std::uint32_t), nullptr);
    group_columns();
    refresh_plain();
    SHOAL_ASSERT(options.capacity_rows > 0 && (kIndexBits == 32 || options.capacity_rows <= kIndexMask + 1),
                 "a table's capacity is 1 to 2^22 rows (2^32 with wide ids)");
}

Table::~Table() {
    destroy_opaque({0, num_rows_});
    release_storage();
}

void Table::add_column(std::uint32_t element_bytes, const OpaqueOperations* opaque) {
    columns_.push_back({nullptr, element_bytes, 0, opaque});
    shape_ = hash_bytes(&element_bytes, sizeof element_bytes, shape_);
}

void Table::group_columns() {
    for (std::uint32_t i = 0; i < columns_.size(); ++i)
        if (columns_[i].opaque == nullptr) copy_order_.push_back(i);
    std::sort(copy_order_.begin(), copy_order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        const std::uint32_t bytes_a = columns_[a].element_bytes, bytes_b = columns_[b].element_bytes;
        return bytes_a != bytes_b ? bytes_a < bytes_b : a < b;
    });
    for (std::uint32_t i = 0; i < copy_order_.size(); ++i) {
        const std::uint32_t bytes = columns_[copy_order_[i]].element_bytes;
        if (copy_groups_.empty() || copy_groups_.back().element_bytes != bytes) copy_groups_.push_back({bytes, i, i});
        copy_groups_.back().end = i + 1;
    }
}

void Table::refresh_plain() {
    ++placement_;
    plain_ = !schema_->has_opaque() && !options_.chain && !options_.tree && num_watchers_ == 0;
}

void Table::watch_changes(bool watch) {
    SHOAL_ASSERT(watch || num_watchers_ > 0, "nobody watches the changes of this table");
    num_watchers_ += watch ? 1u : ~0u;
    if (num_watchers_ == 0) changes_.clear();
    refresh_plain();
}

// --- adding ------------------------------------------------------------------------------------------------------

std::uint32_t Table::append(std::span<const Entity> owners) {
    SHOAL_ASSERT(owners.size() <= ready_rows_ - num_rows_, "rows were appended that were not reserved");
    const RowRange rows{num_rows_, num_rows_ + static_cast<std::uint32_t>(owners.size())};
    if (owners.empty()) return rows.begin;
    std::memcpy(static_cast<void*>(entities_ + rows.begin), owners.data(), owners.size_bytes());
    num_rows_ = rows.end;
    if (!plain_) finish_append(rows);
    stamp_rows(rows);
    return rows.begin;
}

std::span<Entity> Table::append_unowned(std::uint32_t count) {
    SHOAL_ASSERT(count <= ready_rows_ - num_rows_, "rows were appended that were not reserved");
    if (count == 0) return {};
    const RowRange rows{num_rows_, num_rows_ + count};
    num_rows_ = rows.end;
    if (!plain_) finish_append(rows);
    stamp_rows(rows);
    return {entities_ + rows.begin, count};
}

void Table::occupy(std::uint32_t row, Entity owner) {
    SHOAL_ASSERT(row < num_rows_ && !entities_[row] && index_ != nullptr, "only a hole can be given an owner");
    entities_[row] = owner;
    index_->set(owner, row);
    if (num_watchers_ != 0) changes_.push_back({StructuralChange::Kind::kAdded, {row, row + 1}, 0, owner});
    stamp_rows({row, row + 1});
}

void Table::vacate(std::uint32_t row) {
    SHOAL_ASSERT(row < num_rows_ && index_ != nullptr && index_->kind() == RowIndexKind::kIdentity,
                 "only a table with an identity index has holes");
    if (options_.tree) leave_tree(row);
    index_->erase(entities_[row]);
    if (num_watchers_ != 0) changes_.push_back({StructuralChange::Kind::kRemoved, {row, row + 1}, 0, entities_[row]});
    entities_[row] = kNullEntity;
    touched_rows_ = std::max(touched_rows_, num_rows_);
    while (num_rows_ > 0 && !entities_[num_rows_ - 1]) {
        destroy_opaque({num_rows_ - 1, num_rows_});
        --num_rows_;
    }
    if (row >= num_rows_) return;
    destroy_opaque({row, row + 1});
    for (const PhysicalColumn& column : columns_)
        if (column.opaque != nullptr) column.opaque->construct(column.data + std::size_t(row) * column.element_bytes);
    stamp_rows({row, row + 1});
}

void Table::finish_append(RowRange rows) {
    for (const PhysicalColumn& column : columns_)
        for (std::uint32_t row = rows.begin; column.opaque != nullptr && row < rows.end; ++row)
            column.opaque->construct(column.data + std::size_t(row) * column.element_bytes);
    for (std::uint32_t* link : links_)
        if (link != nullptr) std::fill(link + rows.begin, link + rows.end, kNilRow);
    if (num_watchers_ == 0) return;
    if (!changes_.empty() && changes_.back().kind == StructuralChange::Kind::kAdded &&
        changes_.back().rows.end == rows.begin)
        changes_.back().rows.end = rows.end;
    else
        changes_.push_back({StructuralChange::Kind::kAdded, rows, 0, {}});
}

void Table::fill(RowRange rows, const std::byte* image) {
    SHOAL_ASSERT(rows.begin <= rows.end && rows.end <= num_rows_, "the rows do not exist");
    if (rows.begin == rows.end) return;
    const std::span<const ColumnDefinition> definitions = schema_->columns();
    for (std::size_t c = 0; c < definitions.size(); ++c) {
        SHOAL_ASSERT(definitions[c].opaque == nullptr, "opaque fields cannot be filled from bytes");
        const std::size_t bytes = definitions[c].element_bytes;
        broadcast(columns_[c].data + rows.begin * bytes, image + definitions[c].struct_offset, bytes,
                  rows.end - rows.begin);
    }
    stamp_rows(rows);
}

void Table::scatter(RowRange rows, const std::byte* images, std::size_t stride) {
    SHOAL_ASSERT(rows.begin <= rows.end && rows.end <= num_rows_, "the rows do not exist");
    if (rows.begin == rows.end) return;
    const std::span<const ColumnDefinition> definitions = schema_->columns();
    const std::size_t count = rows.end - rows.begin;
    for (std::size_t c = 0; c < definitions.size(); ++c) {
        const std::size_t bytes = definitions[c].element_bytes;
        std::byte* target = columns_[c].data + rows.begin * bytes;
        const std::byte* source = images + definitions[c].struct_offset;
        SHOAL_ASSERT(definitions[c].opaque == nullptr, "opaque fields cannot be filled from bytes");
        switch (bytes) {
            case 1:
                scatter_elements<std::uint8_t>(target, source, stride, count);
                break;
            case 4:
                scatter_elements<std::uint32_t>(target, source, stride, count);
                break;
            case 8:
                scatter_elements<std::uint64_t>(target, source, stride, count);
                break;
            case 12:
                scatter_elements<Bytes12>(target, source, stride, count);
                break;
            case 16:
                scatter_elements<Bytes16>(target, source, stride, count);
                break;
            default:
                for (std::size_t i = 0; i < count; ++i) std::memcpy(target + i * bytes, source + i * stride, bytes);
        }
    }
    stamp_rows(rows);
}

void Table::gather_image(std::uint32_t row, std::byte* image) const {
    SHOAL_ASSERT(row < num_rows_, "the row does not exist");
    for (std::size_t c = 0; c < schema_->columns().size(); ++c) {
        const ColumnDefinition& definition = schema_->columns()[c];
        if (definition.opaque != nullptr) continue;
        std::memcpy(image + definition.struct_offset, columns_[c].data + std::size_t(row) * definition.element_bytes,
                    definition.element_bytes);
    }
}

void Table::copy_columns(RowRange rows, std::span<const std::byte* const> columns) {
    SHOAL_ASSERT(rows.begin <= rows.end && rows.end <= num_rows_, "the rows do not exist");
    SHOAL_ASSERT(columns.size() <= schema_->columns().size(), "there are more sources than schema columns");
    if (rows.begin == rows.end) return;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        SHOAL_ASSERT(columns_[c].opaque == nullptr, "opaque fields cannot be filled from bytes");
        const std::size_t bytes = columns_[c].element_bytes;
        std::memcpy(columns_[c].data + rows.begin * bytes, columns[c], (rows.end - rows.begin) * bytes);
    }
    stamp_rows(rows);
}

// --- removing and moving -----------------------------------------------------------------------------------------

void Table::destroy_opaque(RowRange rows) {
    if (!schema_->has_opaque()) return;
    for (const PhysicalColumn& column : columns_)
        for (std::uint32_t row = rows.begin; column.opaque != nullptr && row < rows.end; ++row)
            column.opaque->destroy(column.data + std::size_t(row) * column.element_bytes);
}

void Table::remove(std::uint32_t row) {
    SHOAL_ASSERT(row < num_rows_, "the row does not exist");
    touched_rows_ = std::max(touched_rows_, num_rows_);
    const Entity owner = entities_[row];
    if (options_.chain)
        leave_chain(row);
    else if (index_ != nullptr && index_->find(owner) == row)
        index_->erase(owner);
    if (options_.tree) leave_tree(row);
    destroy_opaque({row, row + 1});
    const std::uint32_t last = num_rows_ - 1;
    if (num_watchers_ != 0) changes_.push_back({StructuralChange::Kind::kRemoved, {row, row + 1}, 0, owner});
    if (row != last) move_row(last, row);
    num_rows_ = last;
}

/// Copies what is not opaque.
void Table::copy_row(std::uint32_t from, std::uint32_t to) {
    for (const CopyGroup& group : copy_groups_) {
        const std::uint32_t* order = copy_order_.data() + group.begin;
        const std::uint32_t count = group.end - group.begin;
        switch (group.element_bytes) {
            case 1:
                copy_elements<1>(columns_, order, count, from, to);
                break;
            case 2:
                copy_elements<2>(columns_, order, count, from, to);
                break;
            case 4:
                copy_elements<4>(columns_, order, count, from, to);
                break;
            case 8:
                copy_elements<8>(columns_, order, count, from, to);
                break;
            case 12:
                copy_elements<12>(columns_, order, count, from, to);
                break;
            case 16:
                copy_elements<16>(columns_, order, count, from, to);
                break;
            case 48:
                copy_elements<48>(columns_, order, count, from, to);
                break;
            default:
                for (std::uint32_t i = 0; i < count; ++i) {
                    const PhysicalColumn& column = columns_[order[i]];
                    std::memcpy(column.data + std::size_t(to) * column.element_bytes,
                                column.data + std::size_t(from) * column.element_bytes, column.element_bytes);
                }
        }
    }
}

/// Moves a row to a place that holds none.
void Table::move_row(std::uint32_t from, std::uint32_t to) {
    const Entity owner = entities_[from];
    // A dead owner may have lost its entry to a newer entity on its index, which keeps it.
    if (options_.chain)
        rename_in_chain(from, find_before(from), to);
    else if (index_ != nullptr && index_->find(owner) == from)
        index_->set(owner, to);
    if (options_.tree) relabel_tree(from, from, to);
    copy_row(from, to);
    for (const PhysicalColumn& column : columns_) {
        if (!schema_->has_opaque()) break;
        if (column.opaque == nullptr) continue;
        std::byte* source = column.data + std::size_t(from) * column.element_bytes;
        column.opaque->move_construct(column.data + std::size_t(to) * column.element_bytes, source);
        column.opaque->destroy(source);
    }
    row_stamps_[to / kRowsPerStampBlock] = stamp_;
    if (num_watchers_ != 0) changes_.push_back({StructuralChange::Kind::kMoved, {to, to + 1}, from, owner});
}

void Table::swap_columns(std::uint32_t a, std::uint32_t b) {
    alignas(kCacheLineBytes) std::byte buffer[256];
    for (const PhysicalColumn& column : columns_) {
        const std::size_t bytes = column.element_bytes;
        std::byte* first = column.data + a * bytes;
        std::byte* second = column.data + b * bytes;
        if (column.opaque == nullptr) {
            for (std::size_t done = 0; done < bytes; done += sizeof buffer) {
                const std::size_t step = std::min(sizeof buffer, bytes - done);
                std::memcpy(buffer, first + done, step);
                std::memcpy(first + done, second + done, step);
                std::memcpy(second + done, buffer, step);
            }
            continue;
        }
        void* const memory = bytes <= sizeof buffer ? nullptr : allocate_memory(bytes + kCacheLineBytes, "table");
        const auto address = round_up(reinterpret_cast<std::uintptr_t>(memory), kCacheLineBytes);
        std::byte* const spare = memory == nullptr ? buffer : reinterpret_cast<std::byte*>(address);
        column.opaque->move_construct(spare, first);
        column.opaque->destroy(first);
        column.opaque->move_construct(first, second);
        column.opaque->destroy(second);
        column.opaque->move_construct(second, spare);
        column.opaque->destroy(spare);
        if (memory != nullptr) release_memory(memory, bytes + kCacheLineBytes, "table");
    }
}

void Table::clear() {
    destroy_opaque({0, num_rows_});
    if (num_watchers_ != 0)
        for (std::uint32_t row = num_rows_; row-- > 0;)
            changes_.push_back({StructuralChange::Kind::kRemoved, {row, row + 1}, 0, entities_[row]});
    touched_rows_ = std::max(touched_rows_, num_rows_);
    num_rows_ = 0;
    if (index_ != nullptr) index_->clear();
}

// --- stamps ------------------------------------------------------------------------------------------------------

std::byte* Table::write_column(std::uint32_t column, RowRange rows) {
    mark_written(column, rows);
    return columns_[column].data;
}

void Table::mark_written(std::uint32_t column, RowRange rows) {
    SHOAL_ASSERT(rows.end <= num_rows_ && rows.begin <= rows.end, "the rows do not exist");
    SHOAL_ASSERT(column < schema_->columns().size(), "the column does not exist");
    if constexpr (SHOAL_CHECKED != 0) ask_write_guard(*this, column);
    if (rows.begin == rows.end) return;
    std::uint64_t* stamps = stamps_.data() + column * num_stamp_blocks_;
    std::fill(stamps + rows.begin / kRowsPerStampBlock, stamps + (rows.end - 1) / kRowsPerStampBlock + 1, stamp_);
}

void Table::stamp_rows(RowRange rows) {
    SHOAL_ASSERT(rows.begin <= rows.end && rows.end <= num_rows_, "the rows do not exist");
    if (rows.begin == rows.end) return;
    std::fill(row_stamps_.data() + rows.begin / kRowsPerStampBlock,
              row_stamps_.data() + (rows.end - 1) / kRowsPerStampBlock + 1, stamp_);
}

std::uint64_t Table::written_stamp(std::uint32_t column, std::uint32_t block) const {
    SHOAL_ASSERT(column < schema_->columns().size() && block < num_stamp_blocks_, "the column or block does not exist");
    return std::max(stamps_[column * num_stamp_blocks_ + block], row_stamps_[block]);
}

}  // namespace shoal
