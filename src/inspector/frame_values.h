#pragma once
// A copy of all values of a world, for comparison with a later state.
//
//     const FrameValues before(world);
//     ...
//     before.compare(world, [](const ValueDifference& difference) { ... });  // in the order of stores, types and rows
//
// Cost: a copy of all fields. A comparison looks up each entity. If a component type is `many`, only an entity's first
// component is compared.
// Thread: only makes const calls to the world, between passes.

#include "shoal/table/detail/value_text.h"
#include "shoal/world/world.h"

#include <unordered_map>
#include <vector>

namespace shoal::inspect {

struct ValueDifference {
    Entity entity;
    const Schema* schema = nullptr;
    const Field* field = nullptr;     ///< nullptr for the whole component
    std::string_view kind;            ///< "value", "gained", "lost"
    ValueType type{};                 ///< type of `from` and `to`
    const std::byte* from = nullptr;  ///< nullptr: none
    const std::byte* to = nullptr;
};

class FrameValues {
public:
    explicit FrameValues(const World& world);

    /// Calls visit(difference) for each value that differs in `now`, and for each component that was added or removed.
    template <class Visit>
    void compare(const World& now, Visit&& visit) const {
        const FrameValues other(now);
        for (const auto& [id, after] : other.types_) {
            const auto found = types_.find(id);
            compare_types(found == types_.end() ? TypeValues() : found->second, after, visit);
        }
        for (const auto& [id, before] : types_)
            if (!other.types_.contains(id)) compare_types(before, TypeValues(), visit);
    }

private:
    /// The values of a component type. Shape: a row for each entity, with all fields packed at `offsets`.
    struct TypeValues {
        const Schema* schema = nullptr;
        std::vector<Entity> entities;
        std::vector<std::byte> rows;
        std::vector<std::size_t> offsets;  // indexed by field; the last one is the size of a row
        std::unordered_map<EntityBits, std::size_t> row_of;

        const std::byte* row(std::size_t i) const { return rows.data() + i * (offsets.empty() ? 0 : offsets.back()); }
    };

    template <class Visit>
    static void compare_types(const TypeValues& before, const TypeValues& after, Visit&& visit) {
        const Schema* const schema = after.schema != nullptr ? after.schema : before.schema;
        for (std::size_t i = 0; i < after.entities.size(); ++i) {
            const Entity entity = after.entities[i];
            const auto at = before.row_of.find(entity.id);
            if (at == before.row_of.end())
                visit(ValueDifference{entity, schema, nullptr, "gained", {}, nullptr, nullptr});
            else
                compare_rows(entity, *schema, after.offsets, before.row(at->second), after.row(i), visit);
        }
        for (const Entity entity : before.entities)
            if (!after.row_of.contains(entity.id))
                visit(ValueDifference{entity, schema, nullptr, "lost", {}, nullptr, nullptr});
    }
    template <class Visit>
    static void compare_rows(Entity entity, const Schema& schema, const std::vector<std::size_t>& offsets,
                             const std::byte* from, const std::byte* to, Visit&& visit) {
        for (std::size_t i = 0; i < schema.fields().size(); ++i) {
            const std::size_t size = offsets[i + 1] - offsets[i];
            if (size == 0 || same_bytes(from + offsets[i], to + offsets[i], size)) continue;
            const Field& field = schema.fields()[i];
            visit(ValueDifference{entity, &schema, &field, "value", value_type_of(field), from + offsets[i],
                                  to + offsets[i]});
        }
    }
    static bool same_bytes(const std::byte* a, const std::byte* b, std::size_t size);

    std::unordered_map<std::uint64_t, TypeValues> types_;  // by the hash of the component type
};

}  // namespace shoal::inspect
