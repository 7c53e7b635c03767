#include "shoal/entity/entity_manager.h"

#include "entity/life.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace shoal {
namespace {

/// If there is address space for fewer indices than this, the program ends.
constexpr std::size_t kLeastIndices = std::size_t(1) << 16;

/// After this many settles, there is a warning about a reader that does not read deaths.
constexpr std::uint64_t kManySettles = 1000;

/// How deeply batches of deaths may be nested within the callbacks of other batches.
constexpr std::uint32_t kMostNestedBatches = 1000;

/// The number of ids that are processed together. Ids that died together are mostly reused together.
constexpr std::size_t kRunLength = 512;

/// Used in the constructor, which cannot return a Status.
void end_program_unless(const Status& status, const char* what) {
    if (status) return;
    std::fprintf(stderr, "shoal: entity manager: %s: %s\n", what, status.message().data());
    std::abort();
}

/// Writes one generation to [first, first + count). Every write is atomic, because other threads may call alive() at
/// the same time. Writes whole words where possible, which is as fast as memset.
void store_generations(Generation* first, std::size_t count, Generation generation) {
    using Word [[gnu::may_alias]] = std::uint64_t;
    constexpr std::size_t kPerWord = sizeof(Word) / sizeof(Generation);
    constexpr Word kOnes = ~Word(0) / ((Word(1) << (8 * sizeof(Generation))) - 1);  // 1 in each generation of a word
    const Word word = kOnes * generation;
    Generation* const end = first + count;
    for (; first != end && reinterpret_cast<std::uintptr_t>(first) % sizeof(Word) != 0; ++first)
        __atomic_store_n(first, generation, __ATOMIC_RELAXED);
    for (; static_cast<std::size_t>(end - first) >= kPerWord; first += kPerWord)
        __atomic_store_n(reinterpret_cast<Word*>(first), word, __ATOMIC_RELAXED);
    for (; first != end; ++first) __atomic_store_n(first, generation, __ATOMIC_RELAXED);
}

/// Returns whether all ids have the same generation, and each index is one more than the previous index.
bool are_consecutive(std::span<const Entity> ids) {
    const EntityBits first = ids.front().id;
    if (ids.size() > kIndexMask - ids.front().index() + std::size_t(1)) return false;
    EntityBits differ = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) differ |= ids[i].id ^ (first + static_cast<EntityBits>(i));
    return differ == 0;
}

}  // namespace

EntityManager::EntityManager(const EntityManagerOptions& options) : minimum_free_ids_(options.minimum_free_ids) {
    SHOAL_ASSERT(options.minimum_free_ids >= 1, "minimum_free_ids must be at least 1");
    SHOAL_ASSERT(options.max_entities >= 1 && options.max_entities <= kMaxEntities,
                 "max_entities must be between 1 and kMaxEntities");
    SHOAL_ASSERT(options.max_death_list >= 1, "max_death_list must be at least 1");
    // With narrow ids every index has a generation, so that alive() needs no bounds check.
    const std::size_t num_indices = kMayLackIndices ? options.max_entities + 1 : kMaxEntities + 1;
    end_program_unless(
        generations_.reserve(num_indices, kMayLackIndices ? std::min(num_indices, kLeastIndices) : num_indices),
        "generations");
    const std::uint64_t max_entities = std::min<std::uint64_t>(options.max_entities, generations_.capacity() - 1);
    end_program_unless(free_list_.reserve(max_entities, std::min<std::size_t>(max_entities, kLeastIndices)),
                       "free list");
    end_program_unless(deaths_.reserve(options.max_death_list), "death list");
    end_index_ = std::min<std::uint64_t>(max_entities, free_list_.max_size()) + 1;
    choose_source();
}

EntityManager::~EntityManager() = default;

void EntityManager::StructuralCall::begin(bool* busy) {
    SHOAL_ASSERT(!__atomic_exchange_n(busy, true, __ATOMIC_ACQUIRE),
                 "only one thread at a time may call an EntityManager; alive() alone may be called from any thread");
}

Status EntityManager::create(std::span<Entity> out) {
    require_free("create()");
    const StructuralCall call(busy_);
    const std::size_t num_recycled = std::min(out.size(), num_recyclable());
    if (out.size() - num_recycled > end_index_ - next_index_) return exhausted(out.size());
    recycle(out.first(num_recycled));
    create_fresh(out.subspan(num_recycled));
    return {};
}

std::uint32_t EntityManager::destroy(std::span<const Entity> entities) {
    require_free("destroy()");
    const std::uint32_t num_destroyed = destroy_batch(entities);
    if (SHOAL_UNLIKELY(!next_deaths_.empty())) destroy_asked_for();
    return num_destroyed;
}

/// Does not call the span version, whose loops take three times as long for one entity.
bool EntityManager::destroy(Entity entity) {
    require_free("destroy()");
    {
        const StructuralCall call(busy_);
        const bool was_alive = alive(entity);
        num_ignored_destroys_ += !was_alive;
        if (!was_alive) return false;
        free_list_.make_room(1);
        __atomic_store_n(generations_.data() + entity.index(), Generation(0), __ATOMIC_RELAXED);
        free_list_.add(next_life(entity));
        if (SHOAL_UNLIKELY(!inactive_.empty())) inactive_.forget(entity);
        choose_source();
    }
    if (!deaths_.is_followed() && callbacks_.empty()) return true;
    announce({&entity, 1}, 1);
    destroy_asked_for();
    return true;
}

/// Destroys the entities that callbacks passed to destroy_next(), unless a callback is running.
void EntityManager::destroy_asked_for() {
    while (!next_deaths_.empty() && callback_depth_ == 0) {
        const Array<Entity> batch = std::exchange(next_deaths_, Array<Entity>("entity manager"));
        destroy_batch(batch);
    }
}

void EntityManager::destroy_next(std::span<const Entity> entities) {
    require_free("destroy_next()");
    if (callback_depth_ == 0) return static_cast<void>(destroy(entities));
    const StructuralCall call(busy_);
    next_deaths_.insert(next_deaths_.end(), entities.begin(), entities.end());
}

std::uint32_t EntityManager::destroy_batch(std::span<const Entity> entities) {
    std::size_t num_destroyed;
    {
        const StructuralCall call(busy_);
        num_destroyed = retire(entities);
    }
    if (num_destroyed != 0 && (deaths_.is_followed() || !callbacks_.empty())) announce(entities, num_destroyed);
    return static_cast<std::uint32_t>(num_destroyed);
}

bool EntityManager::is_living_run(std::span<const Entity> entities) const {
    if (entities.empty()) return true;
    const Entity first = entities.front();
    if (!alive(first) || entities.size() > next_index_ - first.index()) return false;
    if (!are_consecutive(entities)) return false;
    // Only this thread writes generations, so it may read several at a time.
    const Generation* const generations = generations_.data() + first.index();
    Generation differ = 0;
    for (std::size_t i = 0; i < entities.size(); ++i) differ |= generations[i] ^ first.generation();
    return differ == 0;
}

DestructionCallback EntityManager::add_destruction_callback(DestructionFunction function, void* context) {
    require_free("add_destruction_callback()");
    const StructuralCall call(busy_);
    SHOAL_ASSERT(function != nullptr, "a destruction callback needs a function");
    callbacks_.push_back({function, context, next_callback_});
    return {next_callback_++};
}

void EntityManager::remove_destruction_callback(DestructionCallback callback) {
    require_free("remove_destruction_callback()");
    const StructuralCall call(busy_);
    const auto found = std::find_if(callbacks_.begin(), callbacks_.end(), [&](const Callback& other) {
        return other.number == callback.number && other.function != nullptr;
    });
    SHOAL_ASSERT(found != callbacks_.end(), "this destruction callback is not registered");
    if (callback_depth_ > 0)
        found->function = nullptr;
    else
        callbacks_.erase(found);
}

DeathCursor EntityManager::open_death_cursor(std::string_view reader) {
    require_free("open_death_cursor()");
    const StructuralCall call(busy_);
    return deaths_.open(reader);
}

/// The slowest cursor last moved at settle number settles_at_move_. It moved to first_unread_.
void EntityManager::note_settle() {
    ++num_settles_;
    if (!deaths_.is_followed() || deaths_.size() == 0 || deaths_.begin() != first_unread_) {
        settles_at_move_ = num_settles_;
        first_unread_ = deaths_.begin();
        return;
    }
    if (has_warned_ || num_settles_ - settles_at_move_ < kManySettles) return;
    has_warned_ = true;
    log(LogLevel::kWarning,
        concat(
            "a store (", deaths_.slowest_reader(), ") has not looked at the last ", deaths_.size(), " deaths for ",
            kManySettles,
            " settles of others, so dead rows stay and the list of deaths grows; settle its world, which shares these "
            "entities, in every frame, or end it"));
}

void EntityManager::close_death_cursor(DeathCursor cursor) {
    require_free("close_death_cursor()");
    const StructuralCall call(busy_);
    deaths_.close(cursor);
}

void EntityManager::advance(DeathCursor cursor, std::uint64_t position) {
    require_free("advance()");
    const StructuralCall call(busy_);
    deaths_.advance(cursor, position);
}

void EntityManager::add_world() {
    require_free("add_world()");
    ++num_worlds_;
}

void EntityManager::remove_world() {
    require_free("remove_world()");
    --num_worlds_;
}

void EntityManager::hold(bool hold) {
    hold_.hold(hold);
    if (hold) __atomic_store_n(&fresh_end_, 0, __ATOMIC_RELAXED);
}

MemoryUse EntityManager::memory_use() const {
    const std::size_t bytes = next_index_ * sizeof(Generation);
    MemoryUse use{bytes, round_up(bytes, kPageBytes), generations_.reserved_bytes()};
    use += free_list_.memory_use();
    use += deaths_.memory_use();
    return use;
}

/// While passes run, and on the first call after they have ended, create() calls this even if there are fresh indices.
Entity EntityManager::take_one() {
    require_free("create()");
    const StructuralCall call(busy_);
    choose_source();
    if (next_index_ < fresh_end_) {
        Entity entity;
        create_fresh({&entity, 1});
        return entity;
    }
    if (num_recyclable() == 0) return kNullEntity;
    const Entity entity = free_list_[0];
    free_list_.drop_oldest(1);
    __atomic_store_n(generations_.data() + entity.index(), entity.generation(), __ATOMIC_RELAXED);
    choose_source();
    return entity;
}

Status EntityManager::exhausted(std::size_t num_asked) const {
    return Status::error(concat("cannot create ", num_asked, " entities: ", num_alive(), " of at most ", max_entities(),
                                " live and ", num_free_ids(), " indices are free (an index is reused only while ",
                                minimum_free_ids_, " are free); destroy entities, raise max_entities or build with ",
                                "SHOAL_WIDE_IDS"));
}

/// Returns how many indices can be reused one by one, if each reuse requires at least minimum_free_ids_ free indices.
std::size_t EntityManager::num_recyclable() const {
    return free_list_.size() < minimum_free_ids_ ? 0 : free_list_.size() - minimum_free_ids_ + 1;
}

/// Requires: out.size() <= num_recyclable().
void EntityManager::recycle(std::span<Entity> out) {
    if (out.empty()) return;
    Generation* const generations = generations_.data();
    while (!out.empty()) {
        const std::span<const Entity> run = free_list_.oldest_run(std::min(out.size(), kRunLength));
        std::memcpy(static_cast<void*>(out.data()), run.data(), run.size_bytes());
        if (are_consecutive(run))
            store_generations(generations + run.front().index(), run.size(), run.front().generation());
        else
            for (const Entity entity : run)
                __atomic_store_n(generations + entity.index(), entity.generation(), __ATOMIC_RELAXED);
        free_list_.drop_oldest(run.size());
        out = out.subspan(run.size());
    }
    choose_source();
}

/// Requires: enough fresh indices are left.
void EntityManager::create_fresh(std::span<Entity> out) {
    const EntityBits first = make_entity(static_cast<std::uint32_t>(next_index_), kFirstGeneration).id;
    for (std::size_t i = 0; i < out.size(); ++i) out[i].id = first + static_cast<EntityBits>(i);
    store_generations(generations_.data() + next_index_, out.size(), kFirstGeneration);
    next_index_ += out.size();
}

/// Marks the living entities as dead, and queues their ids for reuse. Returns how many were alive.
std::size_t EntityManager::retire(std::span<const Entity> entities) {
    const std::size_t num_free_ids = free_list_.size();
    free_list_.make_room(std::min<std::size_t>(entities.size(), num_alive()));
    for (std::span<const Entity> rest = entities; !rest.empty();) {
        // If there is no room for more ids, all entities are dead, so the remaining ids are only counted.
        const std::span<Entity> next_lives = free_list_.free_run();
        const std::size_t length = next_lives.empty() ? rest.size() : std::min(rest.size(), next_lives.size());
        const std::span<const Entity> run = rest.first(length);
        free_list_.add_run(retire_run(run, next_lives.data()));
        rest = rest.subspan(length);
    }
    const std::size_t num_destroyed = free_list_.size() - num_free_ids;
    if (SHOAL_UNLIKELY(!inactive_.empty())) forget_inactive(num_free_ids);
    num_ignored_destroys_ += entities.size() - num_destroyed;
    choose_source();
    return num_destroyed;
}

/// Removes the newly dead entities from inactive_. Their ids are in the free list, from `first_free` on.
void EntityManager::forget_inactive(std::size_t first_free) {
    for (std::size_t i = first_free; i < free_list_.size(); ++i) inactive_.forget(previous_life(free_list_[i]));
}

std::size_t EntityManager::retire_run(std::span<const Entity> entities, Entity* next_lives) {
    Generation* const generations = generations_.data();
    std::size_t num_retired = 0;
    for (const Entity entity : entities) {
        if (SHOAL_UNLIKELY(!alive(entity))) continue;
        __atomic_store_n(generations + entity.index(), Generation(0), __ATOMIC_RELAXED);
        next_lives[num_retired++] = next_life(entity);
    }
    return num_retired;
}

/// Reports the last `num_destroyed` retired entities, which are all of `entities` or the ones that were alive.
void EntityManager::announce(std::span<const Entity> entities, std::size_t num_destroyed) {
    Array<Entity> some{Owner("entity manager")};
    // Callbacks get a copy, because a store may reorder the rows that the caller's span refers to.
    if (num_destroyed < entities.size() || !callbacks_.empty()) {
        const std::size_t first = free_list_.size() - num_destroyed;
        some.resize(num_destroyed);
        for (std::size_t i = 0; i < num_destroyed; ++i) some[i] = previous_life(free_list_[first + i]);
        entities = some;
    }
    deaths_.append(entities);
    tell_callbacks(entities);
}

void EntityManager::tell_callbacks(std::span<const Entity> destroyed) {
    // Each level uses stack space, and a callback that creates and destroys entities would recurse forever.
    SHOAL_ASSERT(
        callback_depth_ < kMostNestedBatches,
        "destruction callbacks destroy entities within each other, too deep or without end; call destroy_next() "
        "for the children of the dead, and do not destroy what the callback itself creates");
    const std::uint64_t end = next_callback_;
    ++callback_depth_;
    for (std::size_t i = 0; i < callbacks_.size() && callbacks_[i].number < end; ++i) {
        const Callback callback = callbacks_[i];
        if (callback.function != nullptr) callback.function(callback.context, destroyed);
    }
    if (--callback_depth_ == 0)
        erase_if(callbacks_, [](const Callback& callback) { return callback.function == nullptr; });
}

std::span<const Generation> EntityManager::generations() const {
    return {generations_.data(), std::size_t(next_index_)};
}

}  // namespace shoal
