// Saves and loads the state of an entity manager in a snapshot.

#include "entity/life.h"
#include "shoal/base/detail/bit_set.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_manager.h"
#include "shoal/state/snapshot.h"

#include <algorithm>
#include <cstring>

namespace shoal {

void EntityManager::save(SnapshotWriter& to) const {
    SHOAL_ASSERT(callback_depth_ == 0, "a destruction callback saved the entities; save them afterwards");
    const SnapshotPath::Scope scope = to.in("entities");
    to.value("id_bytes", std::uint32_t(sizeof(Entity)));
    to.value("index_bits", std::uint32_t(kIndexBits));
    to.array("generations", generations());
    Array<Entity> free_ids{Owner("entity manager")};
    free_ids.reserve(free_list_.size());
    for (std::size_t i = 0; i < free_list_.size(); ++i) free_ids.push_back(free_list_[i]);
    to.array("free_ids", free_ids);
    to.value("num_ignored_destroys", num_ignored_destroys_);
    deaths_.save(to);
}

Status EntityManager::check_ids(SnapshotReader& from) {
    const SnapshotPath::Scope scope = from.in("entities");
    std::uint32_t id_bytes = 0, index_bits = 0;
    if (Status status = from.value("id_bytes", id_bytes); !status) return status;
    if (Status status = from.value("index_bits", index_bits); !status) return status;
    if (id_bytes != sizeof(Entity) || index_bits != kIndexBits)
        return from.error("index_bits",
                          concat("its entities have ", id_bytes * 8, "-bit ids with ", index_bits,
                                 " bits of index, and this program's have ", sizeof(Entity) * 8, " with ", kIndexBits,
                                 "; build it with the same SHOAL_WIDE_IDS and "
                                 "SHOAL_INDEX_BITS"));
    return {};
}

Status EntityManager::load(SnapshotReader& from) {
    require_free("load()");
    const StructuralCall call(busy_);
    SHOAL_ASSERT(callback_depth_ == 0, "a destruction callback loaded the entities; load them afterwards");
    if (Status status = check_ids(from); !status) return status;
    const SnapshotPath::Scope scope = from.in("entities");
    Array<Generation> generations{Owner("entity manager")};
    Array<Entity> free_ids{Owner("entity manager")};
    std::uint64_t num_ignored_destroys = 0;
    if (Status status = from.array("generations", generations); !status) return status;
    if (Status status = from.array("free_ids", free_ids); !status) return status;
    if (Status status = from.value("num_ignored_destroys", num_ignored_destroys); !status) return status;
    if (Status status = check_loaded(from, generations, free_ids); !status) return status;
    if (Status status = deaths_.load(from); !status) return status;
    const std::uint64_t num_before = next_index_;
    next_index_ = generations.size();
    std::memcpy(generations_.data(), generations.data(), generations.size() * sizeof(Generation));
    if (num_before > next_index_)
        std::memset(generations_.data() + next_index_, 0, (num_before - next_index_) * sizeof(Generation));
    free_list_.clear();
    free_list_.make_room(free_ids.size());
    for (const Entity entity : free_ids) free_list_.add(entity);
    num_ignored_destroys_ = num_ignored_destroys;
    inactive_.forget_all();
    choose_source();
    return {};
}

/// Errors: there are too many entities for this manager, or an index is both alive and free, or is neither.
Status EntityManager::check_loaded(SnapshotReader& from, std::span<const Generation> generations,
                                   std::span<const Entity> free_ids) const {
    if (generations.empty() || generations.size() > end_index_)
        return from.error("generations", concat(generations.empty() ? 0 : generations.size() - 1,
                                                " entity indices were used, and this entity manager has ",
                                                max_entities(), "; raise EntityManagerOptions::max_entities"));
    if (from.is_trusted()) return {};
    if (generations.front() != 0) return from.error("generations", "the null entity lives");
    BitSet waits{Owner("entity manager")};
    for (const Entity entity : free_ids) {
        const std::uint32_t index = entity.index();
        if (index == 0 || index >= generations.size() || generations[index] != 0 || waits.test(index) ||
            entity.generation() == 0 || entity != make_entity(index, entity.generation()))
            return from.error("free_ids", concat("entity index ", index, " cannot be free"));
        waits.set(index);
    }
    const auto num_dead =
        static_cast<std::size_t>(std::count(generations.begin() + 1, generations.end(), Generation(0)));
    if (num_dead != free_ids.size())
        return from.error("free_ids",
                          concat(num_dead, " entity indices are free, and the free list has ", free_ids.size()));
    if (std::any_of(generations.begin(), generations.end(), [](Generation g) { return g > kLastGeneration; }))
        return from.error("generations", "one of them is higher than generations are");
    return {};
}

Status EntityManager::set_death_position(DeathCursor cursor, std::uint64_t position) {
    require_free("set_death_position()");
    if (position > deaths_.end())
        return Status::error(
            concat("the snapshot: a store has seen ", position, " deaths, and there were ", deaths_.end()));
    deaths_.set_position(cursor, position);
    return {};
}

}  // namespace shoal
