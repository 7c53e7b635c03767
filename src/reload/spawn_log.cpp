#include "reload/spawn_log.h"

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/text.h"
#include "shoal/entity/detail/saved_entities.h"
#include "shoal/react/service.h"
#include "shoal/state/snapshot.h"

#include <algorithm>
#include <utility>

namespace shoal {
namespace {

constexpr std::size_t kFewEntities = 4096;  // with at most this many entities, dead ones are not searched for

/// Returns a hash that identifies a version of a blob. Versions have the same name but different checksums.
std::uint64_t version_of(const Blob& blob) {
    const std::uint64_t words[] = {blob.header().resource_id, blob.header().checksum};
    return hash_bytes(words, sizeof words);
}

/// Counts the entities that are not null.
std::size_t num_entities_in(std::span<const Entity> entities) {
    return static_cast<std::size_t>(std::ranges::count_if(entities, [](Entity entity) { return bool(entity); }));
}

}  // namespace

SpawnLog::~SpawnLog() { clear(); }

void SpawnLog::mark_texts(TextMarks& marks) const {
    by_version_.for_each([&](std::uint64_t, const SpawnedCopies* copies) {
        for (const LoggedOverride& one : copies->overrides) {
            if (one.given.value.is_text()) marks.mark(StringId(one.given.value.text()));
            if (one.given.value.type().type == FieldType::kStringId) marks.mark_words(one.given.value.bytes());
        }
    });
}

void SpawnLog::clear() {
    dead_.clear(), is_known_.clear();
    num_known_ = 0;
    by_version_.for_each([](std::uint64_t, SpawnedCopies* copies) { delete copies; });
    by_version_.clear();
}

SpawnedCopies* SpawnLog::find(const Blob& blob) {
    SpawnedCopies* const found = by_version_.find_or(version_of(blob), nullptr);
    // A forged save may contain any number of entities.
    return found == nullptr || found->num_blob_entities == blob.num_entities() ? found : nullptr;
}

SpawnedCopies* SpawnLog::find_living(const Blob& blob) {
    take_out_dead();
    SpawnedCopies* const copies = find(blob);
    if (copies != nullptr) forget_dead(*copies);
    return copies;
}

std::uint32_t SpawnLog::count_others(const Blob& blob) {
    take_out_dead();
    std::uint32_t num_others = 0;
    by_version_.for_each([&](std::uint64_t version, SpawnedCopies* copies) {
        if (copies->resource != blob.id() || version == version_of(blob)) return;
        forget_dead(*copies);
        num_others += copies->num_copies;
    });
    return num_others;
}

SpawnedCopies& SpawnLog::copies_of(const Blob& blob) {
    if (SpawnedCopies* const known = find(blob)) return *known;
    auto* const made = new SpawnedCopies;
    made->resource = blob.id();
    made->num_blob_entities = blob.num_entities();
    if (SpawnedCopies* const other = by_version_.find_or(version_of(blob), nullptr)) {
        num_known_ -= num_entities_in(other->entities);
        delete other;
    }
    return *by_version_.set(version_of(blob), made);
}

void SpawnLog::append(SpawnedCopies& copies, std::uint32_t num_copies, std::span<const Entity> entities,
                      std::span<const RootPose> root_poses, std::vector<LoggedOverride> overrides) {
    const std::uint32_t num_before = copies.num_copies;
    for (LoggedOverride& one : overrides) {
        one.first_copy += num_before;
        copies.overrides.push_back(std::move(one));
    }
    copies.num_copies += num_copies;
    for (const Entity entity : entities) {
        const bool is_alive = entities_.alive(entity);
        copies.entities.push_back(is_alive ? entity : kNullEntity);
        num_known_ += is_alive;
    }
    if (root_poses.empty() && copies.root_poses.empty()) return;
    copies.root_poses.resize(num_before);  // in case earlier copies have no root poses
    copies.root_poses.insert(copies.root_poses.end(), root_poses.begin(), root_poses.end());
    copies.root_poses.resize(copies.num_copies);
}

namespace {

/// Returns the overrides of a spawn, as the log keeps them. Requires: the copies have been spawned.
std::vector<LoggedOverride> log_of(const Blob& blob, std::uint32_t num_copies,
                                   std::span<const SpawnOverride> overrides) {
    std::vector<LoggedOverride> logged;
    for (const SpawnOverride& given : overrides) {
        const bool is_for_all = given.copy == SpawnOverride::kAllCopies;
        const std::uint32_t by_guid = blob.find_guid(hash_text(given.entity));
        const std::uint32_t entity = by_guid != kNoBlobEntity ? by_guid : blob.find_name(given.entity);
        logged.push_back(
            {copy_to_keep(given), entity, blob.guid(entity), is_for_all ? 0 : given.copy, is_for_all ? num_copies : 1});
    }
    return logged;
}

}  // namespace

void SpawnLog::add(const Blob& blob, const Spawned& spawned, const SpawnOptions& options) {
    take_out(options.first_entities);
    take_out(options.all_entities);
    if (spawned.num_copies() == 0 || !blob.id()) return;
    note_entities(spawned.entities());
    SpawnedCopies& copies = copies_of(blob);
    append(copies, spawned.num_copies(), spawned.entities(), options.root_poses,
           log_of(blob, spawned.num_copies(), options.overrides));
    if (copies.entities.size() > kFewEntities && copies.entities.size() > 2 * copies.num_looked_at) forget_dead(copies);
}

/// Removes living entities from their copies before they become part of a different copy.
void SpawnLog::take_out(std::span<const Entity> entities) {
    const auto is_known = [&](Entity entity) { return is_known_.test(entity.index()); };
    if (std::ranges::none_of(entities, is_known)) return;
    take_out_dead();
    if (std::ranges::none_of(entities, is_known)) return;  // only dead entities had these indices
    BitSet forgotten{Owner("spawn log")};
    for (const Entity entity : entities) forgotten.set(entity.index());
    by_version_.for_each([&](std::uint64_t, SpawnedCopies* copies) {
        for (Entity& entity : copies->entities) {
            if (!forgotten.test(entity.index()) || !entities_.alive(entity)) continue;
            entity = kNullEntity;
            --num_known_;
        }
    });
}

// --- dead entities ---------------------------------------------------------------------------------------------

/// Returns the entities that have died since the last note_deaths() and may be in a copy, ascending.
Array<Entity> SpawnLog::new_dead() const {
    if (!deaths_.fell_behind()) return deaths_.dead([this](Entity entity) { return is_known_.test(entity.index()); });
    Array<Entity> dead("spawn log");
    by_version_.for_each([&](std::uint64_t, const SpawnedCopies* copies) {
        for (const Entity entity : copies->entities)
            if (!entities_.alive(entity)) dead.push_back(entity);
    });
    std::sort(dead.begin(), dead.end());
    return dead;
}

/// Searching all copies is slow, so dead entities are only collected here. They are removed when there are many of
/// them, or when a caller needs it.
void SpawnLog::note_deaths() {
    if (deaths_.is_at_end()) return;
    const Array<Entity> dead = new_dead();
    deaths_.pass_all();
    dead_.insert(dead_.end(), dead.begin(), dead.end());
    std::sort(dead_.begin(), dead_.end());
    if (dead_.size() > kFewEntities && dead_.size() > num_known_ / 2) take_out_dead();
}

void SpawnLog::take_out_dead() {
    note_deaths();
    if (dead_.empty()) return;
    num_known_ = 0;
    is_known_.clear();
    by_version_.for_each([&](std::uint64_t, SpawnedCopies* copies) {
        for (Entity& entity : copies->entities) {
            if (std::binary_search(dead_.begin(), dead_.end(), entity)) entity = kNullEntity;
            if (!entity) continue;
            is_known_.set(entity.index());
            ++num_known_;
        }
    });
    dead_.clear();
}

/// Called before entities are added, because they may have the ids of dead entities that are still in the copies.
void SpawnLog::note_entities(std::span<const Entity> entities) {
    note_deaths();
    const auto is_dead = [&](Entity entity) { return std::binary_search(dead_.begin(), dead_.end(), entity); };
    if (!dead_.empty() && std::ranges::any_of(entities, is_dead)) take_out_dead();
    for (const Entity entity : entities) is_known_.set(entity.index());
}

void SpawnLog::forget_dead(SpawnedCopies& copies) {
    const std::size_t size = copies.num_blob_entities;
    if (size == 0) return;  // there is no entity that could have died
    std::uint32_t num_kept = 0;
    Array<std::uint32_t> kept_before(copies.overrides.empty() ? 0 : copies.num_copies + std::size_t(1), 0, "spawn log");
    for (std::uint32_t copy = 0; copy < copies.num_copies; ++copy) {
        const std::span<const Entity> entities = copies.copy(copy);
        if (!kept_before.empty()) kept_before[copy] = num_kept;
        if (std::ranges::none_of(entities, [&](Entity entity) { return entities_.alive(entity); })) {
            num_known_ -= num_entities_in(entities);
            continue;
        }
        std::ranges::copy(entities, copies.entities.data() + num_kept * size);
        if (!copies.root_poses.empty()) copies.root_poses[num_kept] = copies.root_poses[copy];
        ++num_kept;
    }
    if (!kept_before.empty()) {
        kept_before.back() = num_kept;
        for (LoggedOverride& one : copies.overrides) {
            const std::uint32_t end = kept_before[one.first_copy + one.num_copies];
            one.first_copy = kept_before[one.first_copy], one.num_copies = end - one.first_copy;
        }
        std::erase_if(copies.overrides, [](const LoggedOverride& one) { return one.num_copies == 0; });
    }
    copies.num_copies = num_kept;
    copies.entities.resize(num_kept * size);
    if (!copies.root_poses.empty()) copies.root_poses.resize(num_kept);
    copies.num_looked_at = copies.entities.size();
}

void SpawnLog::replace(const Blob& older, const Blob& newer, Array<Entity> entities,
                       std::vector<LoggedOverride> overrides) {
    SpawnedCopies* const before = find(older);
    if (before == nullptr) return;
    by_version_.erase(version_of(older));
    num_known_ -= num_entities_in(before->entities);
    note_entities(entities);
    append(copies_of(newer), before->num_copies, entities, before->root_poses, std::move(overrides));
    delete before;
}

// --- saving ------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint32_t kMaxEmptyCopies = 1u << 20;

struct SavedCopies {
    std::uint64_t version;
    std::uint32_t num_blob_entities, num_copies;
    std::uint64_t num_looked_at;
};

/// The saved data of a LoggedOverride, except `given`. The first copy is saved as SpawnOverride::copy.
struct SavedLoggedOverride {
    std::uint64_t guid;
    std::uint32_t entity, num_copies;
};

void save_logged(SnapshotWriter& to, std::span<const LoggedOverride> logged) {
    if (logged.empty()) return;
    Array<SpawnOverride> given;
    Array<SavedLoggedOverride> saved{Owner("spawn log")};
    for (const LoggedOverride& one : logged) {
        given.push_back(one.given);
        given.back().copy = one.first_copy;
        saved.push_back({one.guid, one.entity, one.num_copies});
    }
    save_overrides(to, given);
    to.array("overridden", saved);
}

Status load_logged(SnapshotReader& from, SpawnedCopies& copies) {
    if (!from.has("overridden")) return {};
    Array<SpawnOverride> given;
    if (Status status = load_overrides(from, given); !status) return status;
    Array<SavedLoggedOverride> saved(given.size(), {}, "spawn log");
    if (Status status = from.elements("overridden", saved.data(), sizeof saved[0], saved.size()); !status)
        return status;
    for (std::size_t i = 0; i < saved.size(); ++i) {
        const auto& [guid, entity, num_copies] = saved[i];
        const bool is_entity = entity == kNoBlobEntity || entity < copies.num_blob_entities;
        const std::uint32_t first = given[i].copy;
        if (!is_entity || first > copies.num_copies || num_copies > copies.num_copies - first)
            return from.error("overridden", "an override is of no entity, or of no copy");
        copies.overrides.push_back({std::move(given[i]), entity, guid, first, num_copies});
    }
    return {};
}

std::string version_name(std::uint64_t version) {
    std::string name;
    append_hex(name, version);
    return name;
}

}  // namespace

void SpawnLog::save(SnapshotWriter& to) const {
    Array<SavedCopies> saved{Owner("spawn log")};
    by_version_.for_each([&](std::uint64_t version, const SpawnedCopies* copies) {
        saved.push_back({version, copies->num_blob_entities, copies->num_copies, copies->num_looked_at});
    });
    std::sort(saved.begin(), saved.end(),
              [](const SavedCopies& a, const SavedCopies& b) { return a.version < b.version; });
    to.array("blobs", saved);
    Array<ResourceId> resources{Owner("spawn log")};
    for (const SavedCopies& one : saved) resources.push_back((*by_version_.find(one.version))->resource);
    to.array("resources", resources);
    Array<Entity> dead = new_dead();
    dead.insert(dead.end(), dead_.begin(), dead_.end());
    std::sort(dead.begin(), dead.end());
    for (const SavedCopies& one : saved) {
        const SpawnedCopies& copies = **by_version_.find(one.version);
        const SnapshotPath::Scope scope = to.in(version_name(one.version));
        Array<Entity> living = copies.entities;
        for (Entity& entity : living)
            if (!entities_.alive(entity) || std::binary_search(dead.begin(), dead.end(), entity)) entity = kNullEntity;
        to.array("entities", living);
        to.array("root_poses", copies.root_poses);
        save_logged(to, copies.overrides);
    }
}

Status SpawnLog::load(SnapshotReader& from) {
    clear();
    if (!from.has("blobs")) return {};
    Array<SavedCopies> saved{Owner("spawn log")};
    if (Status status = from.array("blobs", saved); !status) return status;
    Array<ResourceId> resources(saved.size(), ResourceId(), "spawn log");
    if (from.has("resources"))
        if (Status status = from.elements("resources", resources.data(), sizeof(ResourceId), saved.size()); !status)
            return status;
    for (const SavedCopies& one : saved) {
        const SnapshotPath::Scope scope = from.in(version_name(one.version));
        auto* const copies = new SpawnedCopies;
        const bool is_new = by_version_.insert(one.version, copies).is_new;
        copies->resource = resources[static_cast<std::size_t>(&one - saved.data())];
        copies->num_blob_entities = one.num_blob_entities;
        copies->num_copies = one.num_copies;
        copies->num_looked_at = static_cast<std::size_t>(one.num_looked_at);
        Status status = read_entities(from, "entities", copies->entities, true);
        if (status) status = from.array("root_poses", copies->root_poses);
        if (status) status = load_logged(from, *copies);
        const bool fits = (one.num_blob_entities != 0 || one.num_copies <= kMaxEmptyCopies) &&
                          copies->entities.size() == std::uint64_t(one.num_blob_entities) * one.num_copies &&
                          (copies->root_poses.empty() || copies->root_poses.size() == one.num_copies);
        if (status && (!fits || !is_new)) status = from.error("entities", "they do not fit the number of copies");
        for (Entity& entity : copies->entities) {
            if (!entities_.alive(entity)) entity = kNullEntity;  // older versions also saved dead entities
            is_known_.set(entity.index());
        }
        num_known_ += num_entities_in(copies->entities);
        if (!is_new) delete copies;
        if (!status) return clear(), status;
    }
    return {};
}

}  // namespace shoal
