#include "cluster/remote_commands.h"

#include "cluster/parcel.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/table/detail/entity_fields.h"

namespace shoal::cluster {
namespace {

constexpr std::uint32_t kMostParts = 64;

/// The fields that commands of all kinds have.
struct CommandHead {
    Name entity;
    std::uint32_t kind, pass, zone, change, num_parts, zero;
};
struct PartHead {
    std::uint64_t component, layout;
    std::uint32_t field, is_disabled, has_value, zero;
};

}  // namespace

void RemoteCommands::take_all() {
    messages_.clear();
    forget_created();
    const std::uint64_t num_dropped = take_commands(
        world_.directory(),
        [](const void* self, Entity entity) {
            return static_cast<const RemoteCommands*>(self)->names_.is_elsewhere(entity);
        },
        [](void* self, const PassedCommand& command) { static_cast<RemoteCommands*>(self)->write(command); }, this);
    if (num_dropped != 0 && !std::exchange(has_warned_of_values_, true))
        log(LogLevel::kWarning, concat(num_dropped,
                                       " commands about entities of other ranks bring values of a C++ type "
                                       "that is more than its fields, so they are dropped; give the "
                                       "component fields that are bytes"));
    resolve_when_created(world_.directory(), created_);
}

void RemoteCommands::write(const PassedCommand& command) {
    if (names_.is_away(command.entity)) {
        if (!std::exchange(has_warned_of_reach_, true))
            log(LogLevel::kWarning,
                concat("a command is about ", name_text(names_.name(command.entity)),
                       ", an entity of another rank out of reach, so it is dropped; ask for it where a pass sees the "
                       "entity, or raise ClusterOptions::reach"));
        return;
    }
    for (const PassedPart& part : command.parts)
        if (world_.directory().find_schema(part.component->id()) == nullptr) {
            if (!std::exchange(has_warned_of_links_, true))
                log(LogLevel::kWarning,
                    concat("a command about an entity of another rank adds \"", part.component->name(),
                           "\", which no store keeps, so it is dropped; link entities in a pass over own zones"));
            return;
        }
    MessageWriter& to = messages_[rank_of_(context_, command.entity)];
    to.value(CommandHead{names_.name(command.entity), static_cast<std::uint32_t>(command.kind), command.pass,
                         command.zone, static_cast<std::uint32_t>(command.change),
                         static_cast<std::uint32_t>(command.parts.size()), 0});
    to.text(command.text);
    for (const PassedPart& part : command.parts) write_part(part, to);
    ++num_sent_;
}

Name RemoteCommands::name_of_pending(Entity pending) {
    const auto [known, is_new] = name_of_pending_.try_emplace(pending.id, 0);
    if (!is_new) return known->second;
    created_.push_back(pending);
    return known->second = names_of_created_.emplace_back(names_.next_temporary(rank_));
}

std::vector<Name> RemoteCommands::name_created() {
    std::vector<Name> dead;
    for (std::size_t i = 0; i < created_.size(); ++i) {
        if (world_.entities().alive(created_[i]))
            names_.set(created_[i], names_of_created_[i]), names_.mark_known_elsewhere(created_[i]);
        else
            dead.push_back(names_of_created_[i]);
    }
    forget_created();
    return dead;
}

void RemoteCommands::write_part(const PassedPart& part, MessageWriter& to) {
    const bool has_value = part.value_schema != nullptr;
    to.value(
        PartHead{part.component->id().hash, part.component->layout_hash(), part.field, part.is_disabled, has_value, 0});
    if (!has_value) return;
    std::vector<std::byte> image(part.value.begin(), part.value.end());
    std::vector<Name> others;
    for_each_entity(*part.value_schema, image.data(), 1, [&](Entity& other) {
        others.push_back(is_pending(other) ? name_of_pending(other) : name_of_target(world_, names_, other, rank_));
    });
    to.array(image);
    to.array(others);
}

/// A part of a received command, and the memory that its views point to.
struct RemoteCommands::ReadPart {
    PassedPart part;
    std::vector<std::byte> image;
    std::vector<Schema> field_schema;  // one element if a field is set
};

Status RemoteCommands::read_parts(MessageReader& from, std::uint32_t count, std::vector<ReadPart>& parts) {
    for (std::uint32_t i = 0; i < count && from.is_sound(); ++i) {
        const auto head = from.value<PartHead>();
        const Schema* const component = world_.directory().find_schema(ComponentId(head.component));
        if (!from.is_sound()) break;
        if (component == nullptr || component->layout_hash() != head.layout)
            return Status::error(
                "a command of another rank is about a component type that no store keeps here, or that "
                "has other fields; make its store before Cluster::start()");
        ReadPart& read = parts.emplace_back();
        read.part = {component, head.field, head.is_disabled != 0, nullptr, {}};
        if (head.has_value == 0) continue;
        if (head.field != PassedPart::kNoField) {
            if (head.field >= component->fields().size() || component->fields()[head.field].opaque != nullptr)
                return Status::error("a command of another rank sets a field that there is not");
            read.field_schema.push_back(value_schema_of(*component, head.field));
        }
        const Schema& schema = read.field_schema.empty() ? *component : read.field_schema.front();
        read.image = from.array<std::byte>();
        const auto others = from.array<Name>();
        std::size_t next = 0;
        if (read.image.size() != schema.struct_bytes()) return Status::error("a value of another rank is cut off");
        Status known;
        for_each_entity(schema, read.image.data(), 1, [&](Entity& other) {
            const Name name = next < others.size() ? others[next++] : 0;
            other = kNullEntity;
            if (name == 0 || !known) return;
            const Result<Entity> found = find_or_make_away(world_, names_, name);
            if (found) other = *found;
            known = found.status();
        });
        if (!known) return known;
        if (Status status = check_passed_value(world_.directory(), schema, read.image); !status) return status;
    }
    for (ReadPart& read : parts) {
        if (read.image.empty()) continue;
        read.part.value = read.image;
        read.part.value_schema = read.field_schema.empty() ? read.part.component : &read.field_schema.front();
    }
    return {};
}

namespace {

/// Whether a command of this kind can have this part.
bool fits(SavedCommandKind kind, const PassedPart& part, const Store* store) {
    const bool sets_field = part.field != PassedPart::kNoField, has_value = part.value_schema != nullptr;
    if (kind == SavedCommandKind::kSet) return sets_field && has_value && !part.is_disabled;
    if (kind == SavedCommandKind::kRemove) return !sets_field && !has_value && !part.is_disabled;
    const bool may_disable = has_value && part.component->enableable() && store != nullptr && store->can_disable();
    return kind == SavedCommandKind::kAdd && !sets_field && !(has_value && part.component->has_opaque()) &&
           (!part.is_disabled || may_disable);
}

/// Whether a command of this kind can have these parts.
bool fit(SavedCommandKind kind, std::span<const PassedPart> parts, const ComponentDirectory& directory) {
    const bool has_parts =
        kind == SavedCommandKind::kAdd || kind == SavedCommandKind::kRemove || kind == SavedCommandKind::kSet;
    if (parts.empty() == has_parts || (kind == SavedCommandKind::kSet && parts.size() != 1)) return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (std::size_t before = 0; before < i; ++before)
            if (parts[before].component == parts[i].component) return false;
        if (!fits(kind, parts[i], directory.find(parts[i].component->id()))) return false;
    }
    return true;
}

}  // namespace

Status RemoteCommands::give(std::span<const std::byte> message) {
    for (MessageReader from(message); from.has_more();) {
        const auto head = from.value<CommandHead>();
        const std::string text = from.text();
        const bool is_sound = from.is_sound() && head.kind < kNumSavedCommandKinds && head.num_parts <= kMostParts &&
                              head.change <= static_cast<std::uint32_t>(TextChange::kUntag);
        const auto kind = static_cast<SavedCommandKind>(head.kind);
        const bool creates =
            kind == SavedCommandKind::kCreate || kind == SavedCommandKind::kSpawn || kind == SavedCommandKind::kCopy;
        const bool has_zone = kind == SavedCommandKind::kMove;
        if (!is_sound || creates || (has_zone && head.zone >= kMaxZones))
            return Status::error("a command of another rank makes no sense");
        std::vector<ReadPart> read;
        if (Status status = read_parts(from, head.num_parts, read); !status) return status;
        if (!from.is_sound()) return Status::error("commands of another rank are cut off");
        std::vector<PassedPart> parts;
        for (const ReadPart& each : read) parts.push_back(each.part);
        if (!fit(kind, parts, world_.directory())) return Status::error("a command of another rank makes no sense");
        const Entity entity = names_.find(head.entity);
        if (!entity || names_.is_elsewhere(entity)) continue;  // the entity died or crossed in the previous frame
        give_command(world_.directory(), {.kind = kind,
                                          .pass = head.pass,
                                          .entity = entity,
                                          .zone = head.zone,
                                          .change = static_cast<TextChange>(head.change),
                                          .text = text,
                                          .parts = parts});
    }
    return {};
}

}  // namespace shoal::cluster
