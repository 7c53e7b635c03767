#pragma once
// In checked builds, detects the use of row numbers and views after rows of their table were removed or moved. In other
// builds, all of this is empty and costs nothing.
//
//     a table    rows     grows when rows are removed or moved: a row number may then mean another row
//                views    grows then and when columns move in memory: an address may then be invalid
//
// If rows are added and the columns stay in place, both numbers stay the same, so earlier row numbers and views remain
// valid.
// Thread: as for the table.

#include "shoal/base/detail/config.h"
#if SHOAL_CHECKED
#include "shoal/table/describe.h"
#include "shoal/table/detail/access_guard.h"

namespace shoal {
template <auto kMember>
struct FieldLayout;
}  // namespace shoal
#endif

namespace shoal::detail {
#if SHOAL_CHECKED
/// Ends the program because a view is older than the last change to the rows. `field` is -1 for a view of all fields.
[[noreturn]] SHOAL_API SHOAL_NOINLINE void refuse_stale_view(const Schema& component, int field);
[[noreturn]] SHOAL_API SHOAL_NOINLINE void refuse_stale_batch();
template <auto kMember>
[[noreturn]] void refuse_stale_view_of() {
    using Layout = FieldLayout<kMember>;
    if constexpr (requires { Layout::kIndex; })
        refuse_stale_view(schema_of<typename Layout::Component>(), Layout::kIndex);
    else
        refuse_stale_view(schema_of<typename Layout::Component>(), -1);
}

struct RowVersions {
    std::uint64_t rows = 1, views = 1;

    void rows_changed() { ++rows, ++views; }
    void views_changed() { ++views; }
};

/// What is remembered about the table when a row number is obtained. A default-constructed KnownRow is valid for every
/// table.
class KnownRow {
public:
    KnownRow() = default;
    explicit KnownRow(const RowVersions& table) : table_(&table), version_(table.rows) {}
    bool is_given() const { return table_ != nullptr; }
    bool is_of_other(const RowVersions& table) const { return table_ != nullptr && table_ != &table; }
    bool is_right_for(const RowVersions& table) const {
        return table_ == nullptr || (table_ == &table && version_ == table.rows);
    }

private:
    const RowVersions* table_ = nullptr;
    std::uint64_t version_ = 0;
};

/// The base class of views of rows. A view that watches a table ends the program if it is used after the rows have
/// changed.
class WatchedView {
public:
    /// Watches a table; the message names the field.
    template <auto kMember, class T, class Table>
    void watch(const Table& table) {
        watch(table.row_versions(), &refuse_stale_view_of<kMember>);
    }
    /// Like watch() above, but for a component whose columns begin at `first`. If T is const, asks the read guard about
    /// the columns.
    template <auto kMember, class T, class Table>
    void watch(const Table& table, std::uint32_t first) {
        using Layout = FieldLayout<kMember>;
        constexpr bool kHasOneField = requires { Layout::kIndex; };
        for (std::uint32_t c = 0; std::is_const_v<T> && c < (kHasOneField ? 1 : Layout::kNumColumns); ++c)
            ask_read_guard(table, first + Layout::kFirstColumn + c);
        watch<kMember, T>(table);
    }
    template <class Table>
    void watch_batch(const Table& table) {
        watch(table.row_versions(), &refuse_stale_batch);
    }
    void require_current() const {
        if (SHOAL_UNLIKELY(versions_ != nullptr && versions_->views != version_)) refuse_();
    }

private:
    void watch(const RowVersions& versions, void (*refuse)()) {
        versions_ = &versions;
        version_ = versions.views;
        refuse_ = refuse;
    }

    const RowVersions* versions_ = nullptr;
    std::uint64_t version_ = 0;
    void (*refuse_)() = nullptr;
};
#else
struct RowVersions {
    void rows_changed() {}
    void views_changed() {}
};
struct KnownRow {
    KnownRow() = default;
    explicit constexpr KnownRow(const RowVersions&) {}
    static bool is_right_for(const RowVersions&) { return true; }
};
struct WatchedView {
    template <auto kMember, class T>
    void watch(const auto&...) {}
    void watch_batch(const auto&) {}
    void require_current() const {}
};
#endif
}  // namespace shoal::detail
