#pragma once
// Finds values that were written, and components that were enabled or disabled, without a mark, in the tables of a
// store.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/text.h"
#include "shoal/store/store.h"
#include "shoal/table/detail/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace shoal_test {

/// What the tables of a store have. Values with destructors are not compared: their bytes may change when the table
/// grows.
class MarkWatch {
public:
    /// `num_columns`: of each table, the columns whose writes are marked. Those after them are for the store alone.
    explicit MarkWatch(std::uint32_t num_columns = ~0u) : num_columns_(num_columns) {}

    /// Begins to watch. Call it when the store has settled: what is written from then on carries the stamp of now.
    void begin(shoal::Store& store) {
        copies_.clear();
        stamp_ = 0;
        for (const shoal::Table* table : store.tables()) {
            copy(*table, copies_[table]);
            stamp_ = std::max(stamp_, table->stamp());
        }
        enabled_bits_ = enabled_bits_of(store);
    }

    /// Whether all rows that are new, enabled or disabled, and all values that are not what they were, lie in blocks
    /// that are marked now. Blocks have 1,024 rows, so a mark that is missing shows best after a single call.
    ::testing::AssertionResult all_is_marked(shoal::Store& store) const {
        for (const shoal::Table* table : store.tables()) {
            const auto found = copies_.find(table);
            const std::string problem = unmarked(*table, found == copies_.end() ? Copy() : found->second);
            if (!problem.empty()) return ::testing::AssertionFailure() << table->schema().name() << problem;
        }
        for (const auto& [place, is_enabled] : enabled_bits_of(store))
            for (std::uint32_t row = 0; row < is_enabled.size(); ++row)
                if (place.first->placed_stamp(row / shoal::kRowsPerStampBlock) < stamp_ &&
                    differs(place, row, is_enabled))
                    return ::testing::AssertionFailure() << place.first->schema().name() << ": row " << row
                                                         << " was enabled or disabled, without a mark";
        return ::testing::AssertionSuccess();
    }

    /// Whether a row has come, gone, moved, been enabled or disabled since begin().
    bool rows_have_changed(shoal::Store& store) const {
        for (const shoal::Table* table : store.tables()) {
            const auto found = copies_.find(table);
            const std::vector<shoal::Entity> none;
            const std::vector<shoal::Entity>& before = found == copies_.end() ? none : found->second.owners;
            if (!std::ranges::equal(table->entities(), before)) return true;
        }
        for (const auto& [place, is_enabled] : enabled_bits_of(store))
            for (std::uint32_t row = 0; row < is_enabled.size(); ++row)
                if (differs(place, row, is_enabled)) return true;
        return false;
    }

    /// Whether no block was marked since begin().
    ::testing::AssertionResult nothing_is_marked(const shoal::Store& store) const {
        for (const shoal::Table* table : store.tables())
            for (std::uint32_t begin = 0; begin < table->num_rows(); begin += shoal::kRowsPerStampBlock)
                if (is_marked(*table, begin / shoal::kRowsPerStampBlock))
                    return ::testing::AssertionFailure()
                           << table->schema().name() << ": rows from " << begin << " on are marked";
        return ::testing::AssertionSuccess();
    }

private:
    struct Copy {
        std::vector<shoal::Entity> owners;
        std::vector<std::vector<std::byte>> columns;
    };

    /// Whether the component of each row is on, by table and component type.
    using ComponentOfTable = std::pair<const shoal::Table*, std::uint32_t>;
    using EnabledBits = std::map<ComponentOfTable, std::vector<bool>>;
    static EnabledBits enabled_bits_of(shoal::Store& store) {
        EnabledBits all;
        for (const shoal::Schema* schema : store.schemas()) {
            shoal::Array<shoal::ComponentTable> tables;
            store.list_tables(*schema, tables);
            for (const shoal::ComponentTable& one : tables) {
                if (one.enabled_bits == nullptr) continue;
                const auto name = static_cast<std::uint32_t>(schema->id().hash);
                std::vector<bool>& is_enabled = all[{one.table, name}];
                for (std::uint32_t row = 0; row < one.table->num_rows(); ++row)
                    is_enabled.push_back(shoal::test_bit(one.enabled_bits, row));
            }
        }
        return all;
    }
    bool differs(const ComponentOfTable& place, std::uint32_t row, const std::vector<bool>& is_enabled) const {
        const auto found = enabled_bits_.find(place);
        return found == enabled_bits_.end() || row >= found->second.size() || found->second[row] != is_enabled[row];
    }

    static void copy(const shoal::Table& table, Copy& to) {
        to.owners.assign(table.entities().begin(), table.entities().end());
        for (std::uint32_t c = 0; c < table.schema().columns().size(); ++c) {
            const shoal::ColumnDefinition& column = table.schema().columns()[c];
            const std::size_t bytes =
                column.opaque != nullptr ? 0 : table.num_rows() * std::size_t(column.element_bytes);
            to.columns.emplace_back(table.column(c), table.column(c) + bytes);
        }
    }

    /// What is wrong; empty when nothing is. Looks at rows only where a block is not as it was and has no mark.
    std::string unmarked(const shoal::Table& table, const Copy& before) const {
        for (std::uint32_t begin = 0; begin < table.num_rows(); begin += shoal::kRowsPerStampBlock) {
            const shoal::RowRange rows{begin, std::min(begin + shoal::kRowsPerStampBlock, table.num_rows())};
            if (table.placed_stamp(begin / shoal::kRowsPerStampBlock) < stamp_)
                for (std::uint32_t row = begin; row < rows.end; ++row)
                    if (const shoal::Entity owner = table.entities()[row];
                        owner && (row >= before.owners.size() || before.owners[row] != owner))
                        return shoal::concat(": row ", row, " is of another entity, without a mark");
            for (std::uint32_t c = 0; c < std::min<std::size_t>(num_columns_, table.schema().columns().size()); ++c) {
                const shoal::ColumnDefinition& column = table.schema().columns()[c];
                if (column.opaque != nullptr) continue;
                if (table.written_stamp(c, begin / shoal::kRowsPerStampBlock) >= stamp_) continue;
                const std::span<const std::byte> old =
                    c < before.columns.size() ? before.columns[c] : std::span<const std::byte>();
                if (differs(table.column(c), old, rows, column.element_bytes))
                    return shoal::concat(": column ", c, " was written without a mark, in rows from ", begin, " on");
            }
        }
        return {};
    }
    bool is_marked(const shoal::Table& table, std::uint32_t block) const {
        bool result = table.placed_stamp(block) >= stamp_;
        for (std::uint32_t c = 0; c < std::min<std::size_t>(num_columns_, table.schema().columns().size()); ++c)
            result |= table.written_stamp(c, block) >= stamp_;
        return result;
    }
    static bool differs(const std::byte* now, std::span<const std::byte> before, shoal::RowRange rows,
                        std::size_t bytes) {
        return before.size() < rows.end * bytes ||
               std::memcmp(now + rows.begin * bytes, before.data() + rows.begin * bytes, rows.size() * bytes) != 0;
    }

    std::uint32_t num_columns_;
    std::map<const shoal::Table*, Copy> copies_;
    EnabledBits enabled_bits_;
    std::uint64_t stamp_ = 0;
};

}  // namespace shoal_test
