#pragma once
// Follows the deaths of entities, for what keeps ids beside the stores: the id of a dead entity is given out again
// later, to another one.
// Thread: the structural thread of the entity manager.

#include "shoal/entity/entity_manager.h"

namespace shoal {

class DeathFollower {
public:
    /// `entities` outlives it.
    DeathFollower(EntityManager& entities, std::string_view reader)
        : entities_(entities), cursor_(entities.open_death_cursor(reader)) {}
    DeathFollower(const DeathFollower&) = delete;
    DeathFollower& operator=(const DeathFollower&) = delete;
    ~DeathFollower() { entities_.close_death_cursor(cursor_); }

    /// Whether nobody has died since the last pass_all().
    bool is_at_end() const { return entities_.death_position(cursor_) == entities_.deaths_end(); }
    /// Whether so many have died that only alive() tells who.
    bool fell_behind() const { return entities_.deaths(cursor_).fell_behind; }
    /// Returns who has died since the last pass_all(), ascending, of those that keeps(entity) says. Requires:
    /// !fell_behind().
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
