#pragma once
// Follows the deaths of entities, for code that keeps ids outside of the stores. This code must drop the ids of dead
// entities, because ids are reused later.
// Thread: the structural thread of the entity manager.

#include "shoal/entity/entity_manager.h"

namespace shoal {

class DeathFollower {
public:
    /// Lifetime: `entities` outlives this object.
    DeathFollower(EntityManager& entities, std::string_view reader)
        : entities_(entities), cursor_(entities.open_death_cursor(reader)) {}
    DeathFollower(const DeathFollower&) = delete;
    DeathFollower& operator=(const DeathFollower&) = delete;
    ~DeathFollower() { entities_.close_death_cursor(cursor_); }

    /// Whether no entity has died since the last pass_all().
    bool is_at_end() const { return entities_.death_position(cursor_) == entities_.deaths_end(); }
    /// Whether the list is incomplete because too many entities have died. In that case, only alive() shows which
    /// entities are dead.
    bool fell_behind() const { return entities_.deaths(cursor_).fell_behind; }
    /// Returns, in ascending order, the entities that have died since the last pass_all() and for which keeps(entity)
    /// is true.
    /// Requires: !fell_behind().
    template <class Keeps>
    Array<Entity> dead(Keeps&& keeps) const {
        Array<Entity> all{Owner("world")};
        for (const Entity entity : entities_.deaths(cursor_).entities)
            if (keeps(entity)) all.push_back(entity);
        sort(all);
        return all;
    }
    void pass_all() { entities_.advance(cursor_, entities_.deaths_end()); }

private:
    SHOAL_API static void sort(Array<Entity>& entities);

    EntityManager& entities_;
    DeathCursor cursor_;
};

}  // namespace shoal
