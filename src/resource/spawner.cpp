#include "shoal/resource/spawner.h"
#include "shoal/base/detail/bytes.h"
#include "shoal/resource/detail/spawn_instructions.h"

#include "resource/spawn_overrides.h"
#include "shoal/base/text.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/resource/detail/property_table.h"
#include "shoal/table/detail/entity_fields.h"
#include "shoal/table/detail/table.h"

#include <algorithm>
#include <cstring>
#include <ranges>
#include <vector>

namespace shoal {

namespace {

/// Some entities of a blob, renumbered from 0, with columns for these entities only.
class BlobPart {
public:
    BlobPart(const Blob& blob, std::span<const std::uint32_t> which)
        : which_(which), number_of_(blob.num_entities(), kNoBlobEntity, "spawn") {
        for (std::uint32_t i = 0; i < which.size(); ++i) number_of_[which[i]] = i;
        for (const std::uint32_t entity : which) {
            const std::uint32_t parent = blob.parents()[entity];
            parents_.push_back(parent == kNoBlobEntity ? parent : number_of_[parent]);
        }
        entities_.resize(blob.component_types().size());
        columns_.resize(blob.component_types().size());
        for (std::size_t type = 0; type < entities_.size(); ++type) add(blob.component_types()[type], type);
    }
    BlobPart(const BlobPart&) = delete;
    BlobPart& operator=(const BlobPart&) = delete;

    std::span<const BlobComponents> component_types() const { return types_; }
    std::span<const std::uint32_t> parents() const { return parents_; }
    std::span<const std::uint32_t> which() const { return which_; }
    /// Returns the new index of an entity of the blob, or kNoBlobEntity.
    std::uint32_t number_of(std::uint32_t entity) const { return number_of_[entity]; }

private:
    struct Columns {
        std::vector<std::vector<std::byte>> bytes;
        std::vector<const std::byte*> firsts;
    };

    void add(const BlobComponents& all, std::size_t type) {
        const Schema& schema = *all.schema;
        std::vector<std::uint32_t>& entities = entities_[type];
        Columns& columns = columns_[type];
        columns.bytes.resize(schema.columns().size());
        for (std::uint32_t row = 0; row < all.count(); ++row) {
            if (number_of_[all.entity_index[row]] == kNoBlobEntity) continue;
            entities.push_back(number_of_[all.entity_index[row]]);
            for (std::size_t c = 0; c < columns.bytes.size(); ++c) {
                const std::size_t bytes = schema.columns()[c].element_bytes;
                const std::byte* const element = all.columns[c] + row * bytes;
                columns.bytes[c].insert(columns.bytes[c].end(), element, element + bytes);
            }
        }
        if (entities.empty()) return;
        for (const Field& field : schema.fields())
            if (field.type == FieldType::kEntity) renumber(schema, field, columns, entities.size());
        for (const std::vector<std::byte>& bytes : columns.bytes) columns.firsts.push_back(bytes.data());
        types_.push_back(all);
        types_.back().entity_index = entities;
        types_.back().columns = columns.firsts;
    }
    void renumber(const Schema& schema, const Field& field, Columns& columns, std::size_t num_rows) const {
        std::byte* const first = columns.bytes[field.first_column].data() + schema.offset_in_column(field);
        const std::size_t stride = schema.columns()[field.first_column].element_bytes;
        for_each_entity(field, first, stride, num_rows, [this](Entity& stored) {
            const std::uint32_t number =
                stored.id < number_of_.size() ? number_of_[static_cast<std::size_t>(stored.id)] : kNoBlobEntity;
            stored.id = number == kNoBlobEntity ? ~EntityBits(0) : EntityBits(number);
        });
    }

    std::span<const std::uint32_t> which_;
    Array<std::uint32_t> number_of_;  // by entity of the blob
    Array<std::uint32_t> parents_{Owner("spawn")};
    std::vector<std::vector<std::uint32_t>> entities_;  // by component type of the blob
    std::vector<Columns> columns_;
    std::vector<BlobComponents> types_;
};

}  // namespace

/// One spawn: looks up and checks everything, then creates the ids, then passes batches to the stores.
class SpawnCall {
public:
    /// `part` is the part of the blob to spawn, or nullptr for the whole blob.
    SpawnCall(const SpawnTargets& targets, const Blob& blob, const SpawnOptions& options,
              const BlobPart* part = nullptr)
        : targets_(targets), blob_(blob), options_(options), part_(part) {}

    Result<Spawned> run() {
        if (const std::size_t count = options_.root_poses.size(); count != 0 && count != options_.copies)
            return Status::error(concat(count, count == 1 ? " root pose" : " root poses", " for ", options_.copies,
                                        options_.copies == 1 ? " copy" : " copies", " of \"", blob_.name(),
                                        "\"; give one pose per copy, or none"));
        if (Status status = find_zones(); !status) return status;
        if (Status status = find_takers(); !status) return status;
        if (Status status = find_overrides(); !status) return status;
        bring_forward_whole_entities();
        find_disabled();
        if (Status status = create_entities(); !status) return status;
        if (Status status = send_all(); !status) return status;
        if (Status status = write_overrides(); !status) return status;
        if (Status status = set_singletons(); !status) return status;
        if (options_.keep_names && options_.copies > 0 && part_ == nullptr) spawned_.keep_names(blob_);
        return std::move(spawned_);
    }

private:
    std::span<const BlobComponents> component_types() const {
        return part_ == nullptr ? blob_.component_types() : part_->component_types();
    }
    std::span<const std::uint32_t> parents() const { return part_ == nullptr ? blob_.parents() : part_->parents(); }
    std::uint32_t num_entities() const { return static_cast<std::uint32_t>(parents().size()); }
    /// Returns the index of a blob entity among the spawned entities, or kNoBlobEntity.
    std::uint32_t number_of(std::uint32_t entity) const { return part_ == nullptr ? entity : part_->number_of(entity); }

    /// The target of a component type: a store or a function.
    struct Taker {
        const BlobComponents* components;
        Store* store;
        const RegisteredComponent* registered;
        std::size_t first_disabled = 0, num_disabled = 0;  // in disabled_
    };

    /// For each entity, finds the zone that the blob sets for it or its nearest ancestor.
    Status find_zones() {
        if (options_.zone != kNoZone && options_.zone >= kMaxZones)
            return Status::error(concat("\"", blob_.name(), "\" is to be spawned into zone ", options_.zone,
                                        "; zones are 0 to ", kMaxZones - 1));
        zones_ = named_zones(blob_);
        if (options_.zone != kNoZone) zones_.resize(blob_.num_entities(), kNoZone);
        for (std::uint32_t entity = 0; entity < zones_.size(); ++entity) {
            if (zones_[entity] == kNoZone) zones_[entity] = options_.zone;
            if (zones_[entity] != kNoZone && zones_[entity] >= kMaxZones)
                return Status::error(concat("entity ", entity, " of \"", blob_.name(), "\" is to lie in zone ",
                                            zones_[entity], "; zones are 0 to ", kMaxZones - 1));
        }
        if (part_ == nullptr || zones_.empty()) return {};
        for (std::size_t i = 0; i < part_->which().size(); ++i) zones_[i] = zones_[part_->which()[i]];
        zones_.resize(part_->which().size());
        return {};
    }

    /// For each component type, lists the blob entities whose component is disabled.
    void find_disabled() {
        if (blob_.find_components(schema_of<SpawnDisabled>().id()) == nullptr) return;
        for (Taker& taker : takers_) {
            if (!taker.components->schema->enableable()) continue;
            taker.first_disabled = disabled_.size();
            find_disabled_entities(blob_, taker.components->id, targets_.registry).for_each([&](std::size_t entity) {
                const std::uint32_t number = number_of(static_cast<std::uint32_t>(entity));
                if (number != kNoBlobEntity) disabled_.push_back(number);
            });
            taker.num_disabled = disabled_.size() - taker.first_disabled;
        }
    }

    Status find_takers() {
        for (const BlobComponents& components : component_types()) {
            if (is_spawn_instruction(*components.schema)) continue;
            const Schema* schema = nullptr;
            Taker taker{&components, nullptr, nullptr};
            if (targets_.registry != nullptr) taker.registered = targets_.registry->find(components.id);
            if (taker.registered != nullptr && taker.registered->has_spawn_function())
                schema = taker.registered->schema != nullptr ? taker.registered->schema : components.schema;
            else
                schema = find_keeper(components.id, taker);
            if (schema == nullptr) {
                spawned_.unknown_.push_back({components.schema->name(), components.count()});
                continue;
            }
            if (schema->layout_hash() != components.schema->layout_hash())
                return Status::error(concat("\"", blob_.name(), "\" was compiled with ", components.schema->to_text(),
                                            ", this program has ", schema->to_text(), "; compile it again"));
            if (components.schema->many() && !schema->many())
                return Status::error(concat("\"", blob_.name(), "\" was compiled with several \"", schema->name(),
                                            "\" per entity, this program has one; compile it again"));
            if (schema->singleton() && components.count() > 1)
                return Status::error(concat("\"", blob_.name(), "\" has ", components.count(), " \"", schema->name(),
                                            "\", of which a world has one; leave one in the source"));
            const bool is_set = bool(find_singleton(taker));
            if (!is_set || part_ == nullptr) (is_set ? singletons_ : takers_).push_back(taker);
        }
        return check_unknown();
    }

    /// If a store has the component as a singleton, returns the singleton's entity. Otherwise returns null.
    Entity find_singleton(const Taker& taker) const {
        if (taker.store == nullptr || !taker.components->schema->whole()) return kNullEntity;
        const ComponentRow row = taker.store->find_row(taker.components->id, kNullEntity, 0);
        if (row.schema == nullptr || !row.schema->singleton() || taker.store->tables().empty()) return kNullEntity;
        const Table& table = *taker.store->tables()[0];
        const Entity owner = table.num_rows() == 1 ? table.entities()[0] : kNullEntity;
        return targets_.directory.entities().alive(owner) ? owner : kNullEntity;
    }
    /// Sets existing singletons to the blob's values. This comes last, because it cannot be undone.
    Status set_singletons() {
        for (const Taker& taker : singletons_) {
            const BlobComponents& components = *taker.components;
            if (components.count() == 0 || options_.copies == 0) continue;
            const SpawnBatch batch = make_batch(taker);
            const Schema& schema = *components.schema;
            std::vector<std::byte> image(schema.struct_bytes());
            const std::size_t last = components.count() - std::size_t(1);
            if (!image.empty()) std::memcpy(image.data(), components.columns[0] + last * image.size(), image.size());
            translate_image(batch, schema, image);
            for (const FoundOverride& found : overrides_)
                if (found.path.component() == components.id)
                    write_part(image.data() + found.path.part().field->struct_offset, found.path.part(),
                               found.value.bytes().data());
            const Entity owner = find_singleton(taker);
            const Result<std::uint32_t> set =
                taker.store->add_values(schema, std::span(&owner, 1), {.images = image.data()});
            if (!set) {
                undo(takers_.size());
                return Status::error(
                    concat("cannot set \"", schema.name(), "\" of \"", blob_.name(), "\": ", set.message()));
            }
            ++spawned_.num_components_;
        }
        return {};
    }
    bool is_set_singleton(ComponentId component) const {
        return std::ranges::any_of(singletons_, [&](const Taker& taker) { return taker.components->id == component; });
    }

    /// An override of a named value of "properties", not of a field.
    struct NamedOverride {
        OverriddenEntity who;
        const SpawnOverride* given;
    };
    bool is_property(const SpawnOverride& given) const {
        return targets_.set_property != nullptr && !property_path(targets_.directory, given.field).empty();
    }

    Status find_overrides() {
        for (const SpawnOverride& given : options_.overrides)
            if (Status status = is_property(given) ? find_named(given) : find_field(given); !status) return status;
        return {};
    }
    Status find_named(const SpawnOverride& given) {
        const Result<OverriddenEntity> who = find_overridden(blob_, options_.copies, given);
        if (who) named_.push_back({*who, &given});
        return who.status();
    }
    Status find_field(const SpawnOverride& given) {
        Result<FoundOverride> found = find_override(targets_, blob_, options_.copies, given);
        if (found) overrides_.push_back(std::move(*found));
        return found.status();
    }

    /// Errors: a store refuses a value. On error, everything is undone.
    Status write_overrides() {
        for (const FoundOverride& found : overrides_)
            if (!is_set_singleton(found.path.component()))
                if (Status status = for_each(found.who, [&](Entity entity) { return write(found, entity); }); !status)
                    return refuse_override(found.path.name(), status);
        for (const auto& [who, given] : named_) {
            const std::string_view path = property_path(targets_.directory, given->field);
            const auto set = [&](Entity entity) {
                return targets_.set_property(targets_.context, entity, path, given->value);
            };
            if (Status status = for_each(who, set); !status) return refuse_override(given->field, status);
        }
        return {};
    }
    /// Calls set(entity) for each entity that an override applies to.
    template <class Set>
    Status for_each(const OverriddenEntity& who, Set&& set) const {
        const std::uint32_t number = number_of(who.entity);
        for (std::uint32_t i = 0; number != kNoBlobEntity && i < who.num_copies; ++i)
            if (Status status = set(spawned_.entity(number, who.first_copy + i)); !status) return status;
        return {};
    }
    Status refuse_override(std::string_view field, const Status& why) {
        undo(takers_.size());
        return Status::error(concat("cannot override \"", field, "\" in \"", blob_.name(), "\": ", why.message()));
    }
    /// Also writes disabled components.
    static Status write(const FoundOverride& found, Entity entity) {
        const FieldPath& path = found.path;
        const ComponentRow at = path.store().find_row(path.component(), entity, path.index());
        if (!at) return path.read(entity).status();
        return path.store().write_field(at, path.part(), found.value.bytes().data());
    }
    void translate_image(const SpawnBatch& batch, const Schema& schema, std::span<std::byte> image) const {
        for_each_entity(schema, image.data(), 1,
                        [&](Entity& stored) { stored = batch.translate(options_.copies - 1, stored); });
    }

    const Schema* find_keeper(ComponentId id, Taker& taker) const {
        taker.registered = nullptr;
        taker.store = targets_.directory.find(id);
        return targets_.directory.find_schema(id);
    }

    /// If a store places whole entities, moves all its takers to the position of its first taker, so that the store's
    /// rows exist when later component types are spawned.
    void bring_forward_whole_entities() {
        for (auto first = takers_.begin(); first != takers_.end(); ++first) {
            Store* const store = first->store;
            if (store == nullptr || !store->places_whole_entities()) continue;
            for (auto other = first + 1; other != takers_.end(); ++other)
                if (other->store == store) std::rotate(++first, other, other + 1);
        }
    }
    /// Whether a store has a taker in this range.
    bool occurs(const Store* store, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i)
            if (takers_[i].store == store) return true;
        return false;
    }

    /// Passes all batches to the stores. Calls begin_spawn() on each store before its first batch, and finish_spawn()
    /// after its last. Errors: a store or function fails. On error, everything is undone.
    Status send_all() {
        for (std::size_t i = 0; i < takers_.size(); ++i) {
            Store* const store = takers_[i].store;
            if (store != nullptr && !occurs(store, 0, i)) store->begin_spawn();
            Status status = send(takers_[i]);
            const bool finishes = status && store != nullptr && !occurs(store, i + 1, takers_.size());
            if (finishes) status = store->finish_spawn();
            if (status) continue;
            const std::string what =
                finishes ? std::string() : concat("the components \"", takers_[i].components->schema->name(), "\" of ");
            const std::string message = concat("cannot spawn ", what, "\"", blob_.name(), "\": ", status.message());
            finish_begun(i, finishes ? store : nullptr);
            undo(i);
            return Status::error(message);
        }
        return {};
    }
    /// Calls finish_spawn() on the stores whose spawn has begun, up to taker `last`. Skips `finished`.
    void finish_begun(std::size_t last, const Store* finished) {
        for (std::size_t i = 0; i <= last; ++i) {
            Store* const store = takers_[i].store;
            if (store == nullptr || store == finished || occurs(store, 0, i)) continue;
            const bool is_open = store == takers_[last].store || occurs(store, last + 1, takers_.size());
            if (is_open) static_cast<void>(store->finish_spawn());
        }
    }

    Status check_unknown() const {
        if (!options_.fail_on_unknown || spawned_.unknown_.empty()) return {};
        std::string names;
        for (const UnknownComponents& unknown : spawned_.unknown_)
            names += concat(names.empty() ? "" : ", ", unknown.name, " (", unknown.count, ')');
        return Status::error(concat("\"", blob_.name(), "\" has components that no store takes: ", names,
                                    "; attach a store for them or allow them to be skipped"));
    }

    Status create_entities() {
        const std::uint64_t num_all = std::uint64_t(num_entities()) * options_.copies;
        if (num_all > targets_.directory.entities().max_entities())
            return Status::error(concat(options_.copies, " copies of \"", blob_.name(), "\" have ", num_all,
                                        " entities; at most ", targets_.directory.entities().max_entities(),
                                        " can live; spawn fewer copies"));
        spawned_.num_blob_entities_ = num_entities();
        spawned_.num_copies_ = options_.copies;
        spawned_.entities_.resize(static_cast<std::size_t>(num_all));
        find_roots();
        const std::span<const Entity> firsts = options_.first_entities, all = options_.all_entities;
        SHOAL_ASSERT(all.empty() || (all.size() == num_all && firsts.empty()),
                     "one entity for each of the blob and its copies is needed, or none");
        if (!all.empty()) {
            std::copy(all.begin(), all.end(), spawned_.entities_.begin());
            return {};
        }
        if (firsts.empty()) return targets_.directory.entities().create(std::span<Entity>(spawned_.entities_));
        SHOAL_ASSERT(firsts.size() == options_.copies && num_entities() != 0,
                     "one first entity for each copy is needed, of a blob that has entities");
        const std::span<Entity> others = std::span<Entity>(spawned_.entities_).subspan(firsts.size());
        if (Status status = targets_.directory.entities().create(others); !status) return status;
        // The other entities were created in one block. This moves each copy's entities to the places after its first
        // entity.
        const std::size_t share = num_entities() - 1;
        for (std::size_t copy = 0; copy < firsts.size(); ++copy) {
            Entity* const to = spawned_.entities_.data() + copy * num_entities();
            std::copy_n(others.data() + copy * share, share, to + 1);
            *to = firsts[copy];
        }
        return {};
    }

    void find_roots() {
        num_roots_ = part_ == nullptr ? blob_.num_roots()
                                      : static_cast<std::uint32_t>(std::ranges::count(parents(), kNoBlobEntity));
        const std::ranges::iota_view all(0u, num_entities());
        if (num_roots_ == num_entities()) return spawned_.roots_.assign(all.begin(), all.end());
        spawned_.roots_.reserve(num_roots_);
        for (std::uint32_t i = 0; i < num_entities(); ++i)
            if (parents()[i] == kNoBlobEntity) spawned_.roots_.push_back(i);
    }

    SpawnBatch make_batch(const Taker& taker) const {
        const BlobComponents& components = *taker.components;
        return {
            .component = components.id,
            .entities = spawned_.entities_,
            .num_blob_entities = num_entities(),
            .num_copies = options_.copies,
            .entity_index = components.entity_index,
            .columns = components.columns,
            .parents = num_roots_ == num_entities() ? std::span<const std::uint32_t>() : parents(),
            .root_poses = options_.root_poses,
            .zones = zones_,
            .disabled = {disabled_.data() + taker.first_disabled, taker.num_disabled},
        };
    }
    Status send(const Taker& taker) {
        const BlobComponents& components = *taker.components;
        if (components.count() == 0 || options_.copies == 0) return {};
        const SpawnBatch batch = make_batch(taker);
        spawned_.num_components_ += std::uint64_t(components.count()) * options_.copies;
        if (taker.store != nullptr) return taker.store->spawn(batch);
        const RegisteredComponent& registered = *taker.registered;
        return registered.spawn_bytes != nullptr ? send_bytes(registered, batch)
                                                 : registered.spawn(registered.spawn_context, batch);
    }
    Status send_bytes(const RegisteredComponent& registered, const SpawnBatch& batch) const {
        Array<std::span<const std::byte>> bytes{Owner("spawn")};
        bytes.resize(batch.entity_index.size());
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const auto array = read_as<BlobArrayBase>(batch.columns[0] + i * sizeof(BlobArrayBase));
            bytes[i] = blob_.array(array, FieldType::kUint8);
        }
        return registered.spawn_bytes(registered.spawn_context, batch, bytes);
    }

    /// Undoes the batches of the first `num_sent` takers, and destroys the entities.
    void undo(std::size_t num_sent) {
        for (std::size_t i = num_sent; i-- > 0;)
            if (takers_[i].store != nullptr) takers_[i].store->drop(spawned_.entities_);
        targets_.directory.entities().destroy(spawned_.entities_);
    }

    const SpawnTargets& targets_;
    const Blob& blob_;
    const SpawnOptions& options_;
    const BlobPart* part_;
    std::uint32_t num_roots_ = 0;
    Array<Taker> takers_{Owner("spawn")};
    Array<Taker> singletons_{Owner("spawn")};  // existing singletons, which get the blob's values
    std::vector<FoundOverride> overrides_;
    std::vector<NamedOverride> named_;
    Array<Zone> zones_{Owner("spawn")};              // by blob entity; empty if the blob sets no zones
    Array<std::uint32_t> disabled_{Owner("spawn")};  // blob entities, grouped by taker
    Spawned spawned_;
};

Result<Spawned> spawn(const SpawnTargets& targets, const Blob& blob, const SpawnOptions& options) {
    return SpawnCall(targets, blob, options).run();
}

Result<Spawned> spawn_part(const SpawnTargets& targets, const Blob& blob, std::span<const std::uint32_t> which,
                           const SpawnOptions& options) {
    const BlobPart part(blob, which);
    return SpawnCall(targets, blob, options, &part).run();
}

void Spawned::keep_names(const Blob& blob) {
    for (const std::uint32_t entity : blob.entities_by_guid()) {
        if (blob.guid(entity) == 0) continue;
        guids_.push_back(blob.guid(entity));
        entity_of_guid_.push_back(entity);
    }
    for (const std::uint32_t entity : blob.entities_by_name()) {
        const std::string_view name = blob.entity_name(entity);
        if (name.empty()) continue;
        name_texts_.insert(name_texts_.end(), name.begin(), name.end());
        name_ends_.push_back(name_texts_.size());
        entity_of_name_.push_back(entity);
    }
}

Entity Spawned::entity(std::uint32_t blob_index, std::uint32_t copy) const {
    SHOAL_ASSERT(blob_index < num_blob_entities_ && copy < num_copies_, "no such entity or copy was spawned");
    return entities_[std::size_t(copy) * num_blob_entities_ + blob_index];
}

Entity Spawned::find(std::string_view name, std::uint32_t copy) const {
    if (name.empty()) return kNullEntity;
    if (const Entity entity = find_guid(hash_text(name), copy)) return entity;
    const auto text = [&](std::size_t i) {
        const std::size_t begin = i == 0 ? 0 : name_ends_[i - 1];
        return std::string_view(name_texts_.data() + begin, name_ends_[i] - begin);
    };
    std::size_t first = 0;
    for (std::size_t count = name_ends_.size(); count > 0;) {
        const std::size_t half = count / 2;
        const bool is_before = text(first + half) < name;
        if (is_before) first += half + 1;
        count = is_before ? count - half - 1 : half;
    }
    return first < name_ends_.size() && text(first) == name ? entity(entity_of_name_[first], copy) : kNullEntity;
}

Entity Spawned::find_guid(std::uint64_t guid, std::uint32_t copy) const {
    const auto found = std::lower_bound(guids_.begin(), guids_.end(), guid);
    if (found == guids_.end() || *found != guid) return kNullEntity;
    return entity(entity_of_guid_[static_cast<std::size_t>(found - guids_.begin())], copy);
}

std::uint32_t Spawned::destroy(EntityManager& entities) {
    const std::uint32_t num_destroyed = entities.destroy(entities_);
    *this = Spawned();
    return num_destroyed;
}

}  // namespace shoal
