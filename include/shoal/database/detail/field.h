#pragma once
// Looks up one field of many entities in a database. Included by database.h.
//
//     const auto mass = sea.field<&Mass::value>();          // finds the columns of all tables once
//     if (const float* m = mass.find(entity)) total += *m;  // two look-ups in the directory, one in a column

#include "shoal/database/database.h"
#include "shoal/table/detail/found_value.h"

namespace shoal {

namespace detail {

/// What find() returns: a pointer or, for a split field, a value that is assembled from lanes and used like a pointer.
template <class T, bool kSplit>
struct FoundFieldOf {
    using Type = const T*;
};
template <class T>
struct FoundFieldOf<T, true> {
    using Type = FoundValue<T>;
};
template <class T, bool kSplit>
using FoundField = typename FoundFieldOf<T, kSplit>::Type;

}  // namespace detail

/// Lifetime: until the next structural call. Thread: any. Cost: the constructor looks at every table once.
template <auto kMember>
class DatabaseField {
public:
    using Value = ValueOf<kMember>;
    using Layout = FieldLayout<kMember>;
    static_assert(Layout::kLayout != ColumnLayout::kInColumns, "one field is looked up; say field<&T::member>()");
    /// A pointer or, if the field is split, an object that is used like one.
    using Found = detail::FoundField<Value, Layout::kLayout == ColumnLayout::kSplit>;

    explicit DatabaseField(const Database& database)
        : directory_(&database.directory()), component_(database.find_component<ComponentOf<kMember>>()) {
#if SHOAL_CHECKED
        database_ = &database;
#endif
        const std::span<DatabaseTable* const> tables = database.all_tables();
        columns_.resize(tables.size() * Layout::kNumColumns, nullptr);
        if (!component_) return;
        if (database.schema(component_).enableable()) enableable_tables_ = tables;
        for (std::size_t t = 0; t < tables.size(); ++t) {
            if (tables[t] == nullptr || !tables[t]->type().has_column_of(component_)) continue;
            const std::uint32_t first = tables[t]->first_column(component_) + Layout::kFirstColumn;
            for (std::uint32_t c = 0; c < Layout::kNumColumns && tables[t]->num_rows() != 0; ++c)
                columns_[t * Layout::kNumColumns + c] =
                    static_cast<const DatabaseTable&>(*tables[t]).table().column(first + c) +
                    DatabaseTable::struct_offset<kMember>();
        }
    }

    /// Returns the field of an entity, or nullptr. Any id is allowed.
    SHOAL_INLINE Found find(Entity entity) const { return find_at(directory_->find(entity)); }
    /// Fetches the field into the cache. If the entity does not have the field, fetches something else, because a test
    /// would cost more.
    SHOAL_INLINE void prefetch(Entity entity) const {
        if (SHOAL_LIKELY(!columns_.empty())) prefetch_at(directory_->guess(entity));
    }
    /// Does the work of Database::gather() when there are more entities than fit in the cache.
    std::size_t gather_far(std::span<const Entity> entities, std::span<Value> out, const Value& missing) const;

private:
    static constexpr std::size_t kStride =
        Layout::kLayout == ColumnLayout::kWhole ? sizeof(ComponentOf<kMember>) : sizeof(Value) / Layout::kNumColumns;

    SHOAL_INLINE Found find_at(DatabaseDirectory::Location place) const {
        if (SHOAL_UNLIKELY(!place)) return nullptr;
        require_current(place.table);
        const std::byte* const* const columns = columns_.data() + std::size_t(place.table) * Layout::kNumColumns;
        if (SHOAL_UNLIKELY(columns[0] == nullptr)) return nullptr;
        if (SHOAL_UNLIKELY(!enableable_tables_.empty()) && !enableable_tables_[place.table]->has(component_, place.row))
            return nullptr;
        if constexpr (Layout::kLayout == ColumnLayout::kSplit) {
            Found found;
            for (std::uint32_t lane = 0; lane < Layout::kNumColumns; ++lane)
                reinterpret_cast<float*>(found.data())[lane] = reinterpret_cast<const float*>(columns[lane])[place.row];
            return found;
        } else {
            return reinterpret_cast<const Value*>(columns[0] + place.row * kStride);
        }
    }
    SHOAL_INLINE void prefetch_at(DatabaseDirectory::Location place) const {
        for (std::uint32_t c = 0; c < Layout::kNumColumns; ++c) {
            // The address is kept as a number: it is null if the table lacks the column.
            const auto first =
                reinterpret_cast<std::uintptr_t>(columns_[std::size_t(place.table) * Layout::kNumColumns + c]);
            __builtin_prefetch(reinterpret_cast<const void*>(first + place.row * kStride));
        }
    }

#if SHOAL_CHECKED
    /// Ends the program if the columns of a table were moved or added after the columns were looked up. Compares only
    /// the address of the first column.
    void require_current(std::size_t number) const {
        const std::size_t at = number * Layout::kNumColumns;
        const DatabaseTable& table = *database_->all_tables()[number];
        const std::byte* now = nullptr;
        if (component_ && table.type().has_column_of(component_))
            now = table.table().column(table.first_column(component_) + Layout::kFirstColumn) +
                  DatabaseTable::struct_offset<kMember>();
        if (now != (at < columns_.size() ? columns_[at] : nullptr)) detail::refuse_stale_view_of<kMember>();
    }

    const Database* database_;
#else
    void require_current(std::size_t) const {}
#endif
    const DatabaseDirectory* directory_;
    ComponentType component_;
    std::span<DatabaseTable* const> enableable_tables_;   // indexed by table number; only for an enableable type
    Array<const std::byte*> columns_{Owner("database")};  // indexed by table number; nullptr: no such column
};

template <auto kMember>
DatabaseField<kMember> Database::field() const {
    return DatabaseField<kMember>(*this);
}

template <auto kMember>
std::size_t Database::gather(std::span<const Entity> entities, std::span<ValueOf<kMember>> out,
                             const ValueOf<kMember>& missing) const {
    SHOAL_ASSERT(out.size() == entities.size(), "one place per entity is needed");
    constexpr std::uint64_t kCachedRows = 1 << 14;  // up to this number of rows, a table is in the cache anyway
    const DatabaseField<kMember> values = field<kMember>();
    if (entities.size() > kCachedRows) return values.gather_far(entities, out, missing);
    std::size_t num_found = 0;
    for (std::size_t i = 0; i < entities.size(); ++i) {
        const auto value = values.find(entities[i]);
        out[i] = value != nullptr ? *value : missing;
        num_found += value != nullptr;
    }
    return num_found;
}

template <auto kMember>
std::size_t DatabaseField<kMember>::gather_far(std::span<const Entity> entities, std::span<Value> out,
                                               const Value& missing) const {
    constexpr std::size_t kFar = 96;  // how many entities ahead the directory is prefetched; rows are prefetched half
                                      // as far ahead
    std::size_t num_found = 0, i = 0;
    const auto gather_one = [&](const DatabaseDirectory::Location& place) {
        const auto value = find_at(place);
        out[i] = value != nullptr ? *value : missing;
        num_found += value != nullptr;
    };
    if (!columns_.empty() && directory_->covers(entities))
        for (; i + kFar < entities.size(); ++i) {
            directory_->prefetch_covered(entities[i + kFar]);
            prefetch_at(directory_->guess_covered(entities[i + kFar / 2]));
            gather_one(directory_->find_covered(entities[i]));
        }
    for (; i + kFar < entities.size(); ++i) {
        directory_->prefetch(entities[i + kFar]);
        prefetch(entities[i + kFar / 2]);
        gather_one(directory_->find(entities[i]));
    }
    for (; i < entities.size(); ++i) gather_one(directory_->find(entities[i]));
    return num_found;
}

}  // namespace shoal
