#pragma once
// What a database query knows of its fields: the component types that they belong to, and where their columns are in
// a table. See query_database.h.
// Thread: as for the query.

#include "shoal/query/access.h"
#include "shoal/query/query_filter.h"
#include "shoal/query/query_loop.h"

#include <array>

namespace shoal::detail {

template <class List>
class QueryFields;

template <class... Fields>
class QueryFields<TermList<Fields...>> {
public:
    using Loop = QueryLoop<Fields...>;
    static constexpr std::size_t kNumFields = sizeof...(Fields);
    static constexpr std::size_t kNumGathered = (0 + ... + (Fields::kGathers ? 1 : 0));

    template <class... Others>
    explicit QueryFields(Database& database, TermList<Fields...>, Others&... others) {
        std::size_t field = 0, gathered = 0;
        static_cast<void>(field), static_cast<void>(gathered);
        const auto add = [&]<class Field>(std::type_identity<Field>) {
            if constexpr (Field::kGathers) {
                constexpr bool kIsGiven = (std::is_same_v<Others, Manager<typename Field::Component>> || ...);
                static_assert(kIsGiven, "the manager of a gathered field is missing: query<...>(database, manager)");
                ((std::is_same_v<Others, Manager<typename Field::Component>> ? void(cores_[field] = &others.core())
                                                                             : void()),
                 ...);
                gathered_[gathered++] = cores_[field];
            } else {
                components_[field] = database.component<typename Field::Component>();
            }
            ++field;
        };
        static_cast<void>(add), static_cast<void>(database);
        (add(std::type_identity<Fields>()), ...);
    }

    /// Takes in what has changed since the last call: archetypes that have formed.
    SHOAL_INLINE void refresh(const Database& database) const {
        const std::size_t num_types = database.archetypes().size();
        if (kNumFields != 0 && SHOAL_UNLIKELY(first_columns_.size() != num_types * kNumFields)) note_types(database);
    }

    static constexpr std::size_t bytes_per_row() { return (0 + ... + sizeof(ValueOf<Fields::kMember>)); }
    std::span<ComponentManager* const> managers() const { return {gathered_, kNumGathered}; }
    std::array<Access, kNumFields> accesses(const Database& database) const {
        std::size_t field = 0;
        const auto store = [&](std::size_t i) -> const Store& {
            if (cores_[i] != nullptr) return *cores_[i];
            return database;
        };
        static_cast<void>(store), static_cast<void>(field);
        return {field_access<Fields::kMember>(store(field++), Fields::kWrites)...};
    }

    /// nullptr for a Maybe field that the table lacks.
    SHOAL_INLINE typename Loop::Lanes lanes(DatabaseTable& table) const {
        typename Loop::Lanes lanes;
        Loop::for_each_field([&]<class Field>(std::size_t field, std::size_t lane) {
            if constexpr (Field::kGathers) {
                Loop::template collect<Field>(cores_[field]->table(), 0, lanes.data + lane);
            } else {
                const std::uint32_t first = first_column(table, field);
                if (!Field::kIsOptional || first != kNoColumn) {
                    Loop::template collect<Field>(table.table(), first, lanes.data + lane);
                } else {
                    for (std::uint32_t c = 0; c < FieldPlace<Field::kMember>::kNumColumns; ++c)
                        lanes.data[lane + c] = nullptr;
                }
            }
        });
        return lanes;
    }

    template <class Bits, class Function>
    SHOAL_INLINE void run(DatabaseTable& table, const Bits& bits, Function& function, RowRange rows) const {
        if constexpr (!kLooksUp && !Bits::kChooses)
            Loop::run(SameRows{table.entities().data(), table.num_rows()}, function, rows, lanes(table));
        else
            Loop::run(Places<Bits>(*this, table, bits), function, rows, lanes(table));
    }

    SHOAL_INLINE void mark_written(DatabaseTable& table, RowRange rows) const {
        Loop::for_each_field([&]<class Field>(std::size_t field, std::size_t) {
            if constexpr (Field::kWrites) {
                const std::uint32_t first = first_column(table, field);
                for (std::uint32_t c = 0; c < FieldPlace<Field::kMember>::kNumColumns; ++c)
                    mark_column(table.table(), first + FieldPlace<Field::kMember>::kFirstColumn + c, rows);
            }
        });
    }

private:
    static constexpr bool kLooksUp = (Fields::kIsOptional || ...);

    /// Where the fields of a row are, when not all are in the columns of its table, or not all rows are on.
    template <class Bits>
    class Places {
    public:
        static constexpr bool kChooses = Bits::kChooses;
        const Entity* owners;

        Places(const QueryFields& fields, const DatabaseTable& table, const Bits& bits)
            : owners(table.entities().data()), num_rows_(table.num_rows()), fields_(fields), bits_(bits) {
            Loop::for_each_field([&]<class Field>(std::size_t field, std::size_t) {
                if constexpr (!Field::kIsOptional || Field::kGathers) return;
                is_there_[field] = table.type().has(fields.components_[field]);
                if constexpr (kIsToggled<typename Field::Component>)
                    optional_bits_[field] = table.presence(fields.components_[field]);
            });
        }
        SHOAL_INLINE std::uint64_t word(std::uint32_t index) const { return bits_.word(index); }
        template <std::size_t kField>
        SHOAL_INLINE std::uint32_t row(std::uint32_t owner_row) const {
            constexpr bool kGathers[] = {Fields::kGathers...}, kIsOptional[] = {Fields::kIsOptional...};
            constexpr bool kToggled[] = {kIsToggled<typename Fields::Component>...};
            if constexpr (kGathers[kField]) {
                return fields_.cores_[kField]->instance(owners[owner_row]).row;
            } else if constexpr (kIsOptional[kField]) {
                if (!is_there_[kField]) return kNilRow;
                if constexpr (kToggled[kField])
                    if ((optional_bits_[kField][owner_row / 64] >> (owner_row % 64) & 1) == 0) return kNilRow;
                return owner_row;
            } else {
                return owner_row;
            }
        }
        template <std::size_t kField>
        std::size_t size() const {
            constexpr bool kGathers[] = {Fields::kGathers...};
            if constexpr (kGathers[kField]) return fields_.cores_[kField]->num_rows();
            return num_rows_;
        }

    private:
        std::size_t num_rows_;
        const QueryFields& fields_;
        const Bits& bits_;
        bool is_there_[kNumFields] = {};
        const std::uint64_t* optional_bits_[kNumFields] = {};
    };

    SHOAL_INLINE static void mark_column(Table& table, std::uint32_t column, RowRange rows) {
        for (std::uint32_t row = rows.begin; row < rows.end;
             row = row / kRowsPerStampBlock * kRowsPerStampBlock + kRowsPerStampBlock)
            static_cast<void>(table.write_element(column, row));
    }

    SHOAL_INLINE std::uint32_t first_column(const DatabaseTable& table, std::size_t field) const {
        return first_columns_[table.type_number() * kNumFields + field];
    }
    SHOAL_NOINLINE void note_types(const Database& database) const {
        const std::span<const Archetype* const> types = database.archetypes();
        constexpr std::size_t kWidth = kNumFields == 0 ? 1 : kNumFields;
        for (std::size_t type = first_columns_.size() / kWidth; type < types.size(); ++type)
            for (std::size_t field = 0; field < kNumFields; ++field)
                first_columns_.push_back(static_cast<std::uint16_t>(types[type]->first_column(components_[field])));
    }

    // [archetype][field]; of gathered fields: any. Here, so that a loop over many tables need not ask archetypes.
    mutable Array<std::uint16_t> first_columns_{Owner("query")};
    ComponentType components_[kNumFields + 1];      // by field; none when it is gathered
    ComponentManager* cores_[kNumFields + 1] = {};  // by field; nullptr: of the database
    ComponentManager* gathered_[kNumGathered + 1] = {};
};

}  // namespace shoal::detail
