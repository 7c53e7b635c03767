#pragma once
// What a join knows of its fields: which side they belong to, in which row of it an entity has them, where the columns
// are. See query_join.h.
// Thread: as for the query.

#include "shoal/query/access.h"
#include "shoal/query/query_filter.h"
#include "shoal/query/query_loop.h"

#include <array>

namespace shoal::detail {

template <class Term, class... Ts>
inline constexpr bool kIsOfManager = Term::kIsField && (std::is_same_v<typename Term::Component, Ts> || ...);

template <class List, class... Ts>
struct LocalTerms;
template <class... Terms, class... Ts>
struct LocalTerms<TermList<Terms...>, Ts...> {
    using List =
        typename JoinedLists<TermList<>,
                             std::conditional_t<kIsOfManager<Terms, Ts...>, TermList<>, TermList<Terms>>...>::List;
};

template <class List, class... Ts>
class JoinFields;

template <class... Fields, class... Ts>
class JoinFields<TermList<Fields...>, Ts...> {
public:
    using Loop = QueryLoop<Fields...>;
    static constexpr std::size_t kNumFields = sizeof...(Fields);

    /// Where the fields of one entity are. All rows of a driver are gone through with one of these.
    struct Cursor {
        static constexpr bool kChooses = false;
        const Entity* owners = nullptr;
        std::uint32_t rows[kNumFields];
        std::size_t num_rows[kNumFields];
        DatabaseTable* table = nullptr;  // whose columns are in `lanes`
        typename Loop::Lanes lanes;

        template <std::size_t kField>
        SHOAL_INLINE std::uint32_t row(std::uint32_t) const {
            return rows[kField];
        }
        template <std::size_t kField>
        std::size_t size() const {
            return num_rows[kField];
        }
    };

    explicit JoinFields(Database& database, Manager<Ts>&... managers) : database_(&database) {
        Loop::for_each_field([&]<class Field>(std::size_t field, std::size_t) {
            cores_[field] = core_of<Field>(managers...);
            if constexpr (!kIsOfManager<Field, Ts...>)
                components_[field] = database.component<typename Field::Component>();
        });
    }

    std::array<Access, kNumFields> accesses() const {
        std::size_t field = 0;
        const auto store = [&](std::size_t i) -> const Store& {
            if (cores_[i] != nullptr) return *cores_[i];
            return *database_;
        };
        static_cast<void>(store), static_cast<void>(field);
        return {field_access<Fields::kMember>(store(field++), Fields::kWrites)...};
    }
    /// Returns the required manager with fewer rows than `fewest`, and fewest; else nullptr.
    ComponentManager* smallest_manager(std::uint64_t fewest) const {
        ComponentManager* smallest = nullptr;
        Loop::for_each_field([&]<class Field>(std::size_t field, std::size_t) {
            ComponentManager* const core = cores_[field];
            if (core == nullptr || Field::kIsOptional || core->num_rows() >= fewest) return;
            smallest = core;
            fewest = core->num_rows();
        });
        return smallest;
    }
    ComponentType component(std::size_t field) const { return components_[field]; }

    /// Finds the rows of all fields. Returns false when one is missing. `driver` is nullptr for the database.
    bool find_rows(Cursor& cursor, DatabaseRow at, const ComponentManager* driver, std::uint32_t driver_row) const {
        bool found = true;
        Loop::for_each_field([&]<class Field>(std::size_t field, std::size_t) {
            const ComponentManager* const core = cores_[field];
            if (core == nullptr)
                cursor.rows[field] =
                    !Field::kIsOptional || at.table->has(components_[field], at.row) ? at.row : kNilRow;
            else
                cursor.rows[field] = core == driver ? driver_row : core->instance(cursor.owners[driver_row]).row;
            found &= Field::kIsOptional || cursor.rows[field] != kNilRow;
        });
        return found;
    }

    void collect_lanes(Cursor& cursor, DatabaseTable& table) const {
        cursor.table = &table;
        Loop::for_each_field([&]<class Field>(std::size_t field, std::size_t lane) {
            ComponentManager* const core = cores_[field];
            cursor.num_rows[field] = core == nullptr ? table.num_rows() : core->num_rows();
            const std::uint32_t first = core == nullptr ? table.first_column(components_[field]) : 0;
            if (first != kNoColumn)
                Loop::template collect<Field>(core == nullptr ? table.table() : core->table(), first,
                                              cursor.lanes.data + lane);
            else
                std::fill_n(cursor.lanes.data + lane, FieldPlace<Field::kMember>::kNumColumns, nullptr);
        });
    }

    /// Calls visit(field, column of the component) for each written column of one side.
    template <class Visit>
    void for_each_written(const ComponentManager* side, Visit&& visit) const {
        Loop::for_each_field([&]<class Field>(std::size_t field, std::size_t) {
            if (!Field::kWrites || cores_[field] != side) return;
            for (std::uint32_t c = 0; c < FieldPlace<Field::kMember>::kNumColumns; ++c)
                visit(field, FieldPlace<Field::kMember>::kFirstColumn + c);
        });
    }
    /// Whether fields of others than the driver are written.
    bool writes_beside(const ComponentManager* driver) const {
        bool result = false;
        Loop::for_each_field(
            [&]<class Field>(std::size_t field, std::size_t) { result |= Field::kWrites && cores_[field] != driver; });
        return result;
    }
    /// Marks what was written beside the driver: such rows are met one by one, on the calling thread.
    void mark_beside(const Cursor& cursor, const ComponentManager* driver) const {
        Loop::for_each_field([&]<class Field>(std::size_t field, std::size_t) {
            if (!Field::kWrites || cores_[field] == driver) return;
            Table& table = cores_[field] == nullptr ? cursor.table->table() : cores_[field]->table();
            const std::uint32_t first = cores_[field] == nullptr ? cursor.table->first_column(components_[field]) : 0;
            for (std::uint32_t c = 0; c < FieldPlace<Field::kMember>::kNumColumns; ++c)
                static_cast<void>(
                    table.write_element(first + FieldPlace<Field::kMember>::kFirstColumn + c, cursor.rows[field]));
        });
    }

private:
    template <class Field>
    static ComponentManager* core_of(Manager<Ts>&... managers) {
        static_assert(kIsOfManager<Field, Ts...> || !Field::kGathers,
                      "the manager of a gathered field is missing: query<...>(database, managers...)");
        ComponentManager* core = nullptr;
        ((std::is_same_v<typename Field::Component, Ts> ? void(core = &managers.core()) : void()), ...);
        return core;
    }

    Database* database_;
    ComponentManager* cores_[kNumFields];   // by field; nullptr: it is the database's
    ComponentType components_[kNumFields];  // by field, where it is the database's
};

}  // namespace shoal::detail
