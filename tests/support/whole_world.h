#pragma once
// A world with something of all that a world can keep, passes that change all of it, and a program that does so between
// steps: what is tested of saves, and what fuzzers of saves begin with.

#include "shoal/command/commands.h"
#include "shoal/components/activity.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/query/query.h"
#include "shoal/reload/reloader.h"
#include "shoal/save/persistence.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/changed_state.h"

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shoal_test {

using namespace shoal;

// In managers.
struct Fin {
    Vec3 velocity{1, 0, 0};
    float drag = 0;
};
SHOAL_COMPONENT(Fin, (velocity, split), drag)
struct Scar {
    std::uint32_t day = 0;
};
SHOAL_COMPONENT((Scar, many), day)
struct Age {
    std::uint32_t frames = 0;
};
SHOAL_COMPONENT((Age, whole), frames)

// In the database.
struct Spot {
    Vec3 position{};
};
SHOAL_COMPONENT(Spot, position)
struct Hungry {
    float since = 0;
};
SHOAL_COMPONENT((Hungry, enableable), since)
struct Egg {
    std::uint16_t weight = 3;
};
SHOAL_COMPONENT((Egg, many), weight)
enum class Kind : std::uint8_t { kPlant, kAnimal };
SHOAL_ENUM(Kind, kPlant, kAnimal)
struct Plankton {
    std::uint64_t cells = 0;
    Kind kind = Kind::kPlant;
    bool glows = false;
};
SHOAL_COMPONENT((Plankton, whole), cells, kind, glows)

// Beside.
struct Hunts {
    Entity prey;
};
SHOAL_COMPONENT(Hunts, (prey, relation))
struct Current {
    Vec3 force{};
    std::uint64_t turns = 0;
};
SHOAL_COMPONENT((Current, singleton), force, turns)

struct Bite {
    Entity who;
    EntityBits strength = 0;  // without bytes behind it, which would be saved as they are
};

/// A world with something of all that a world can keep, and passes that change all of it.
struct Sea {
    explicit Sea(Executor* executor = nullptr, std::uint64_t seed = 1, bool reloadable = false);
    Sea(const Sea&) = delete;
    ~Sea() { entities.remove_destruction_callback(callback); }

    /// Asks for something for some of the dead.
    void mourn(std::span<const Entity> dead);

    void add_passes();

    Entity any(Random& random);

    /// What a program does between steps, all of it drawn from the world's generator.
    void meddle();
    /// What a program asks for between steps, and what waits when its world is saved.
    void ask(std::uint32_t count);
    void ask(Random& random, Entity a, Entity b, Entity& asked);
    void change(Random& random, Entity a, Entity b);

    void run(int frames);

    /// Errors: what a store says of itself does not hold.
    Status validate();

    EntityManager entities;
    World world;
    Persistence persistence{world};
    std::optional<Reloader> reloader;
    Database& sea;
    DestructionCallback callback{};
    bool mourns = true;
    std::string told;
    int late = 0;
};

/// A copy of a state in which bytes of a part are others, or that does not have it. `chosen`: the part; empty: any.
Snapshot damaged_copy(const Snapshot& from, Random& random, std::string chosen = {});

/// The bytes of all components of an entity, but links between rows. Entities of `numbers` are named by these, and others are null,
/// so that one can be compared with its copy; nullptr: by their ids.
std::string text_of(const World& world, Entity entity, const std::map<Entity, int>* numbers = nullptr);

/// The bytes of a part of a state.
std::string bytes_of(const Snapshot& state, const SnapshotPart& part);

/// The first part in which two states differ, or nothing. skips(state, part) leaves out parts.
template <class Skips>
std::string difference(const Snapshot& a, const Snapshot& b, Skips&& skips) {
    for (std::size_t i = 0; i < a.num_parts(); ++i) {
        const SnapshotPart part = a.part(i);
        if (skips(a, part)) continue;
        const std::size_t other = b.find(part.path);
        if (other == b.num_parts()) return "only one has " + std::string(part.path);
        const SnapshotPart in_b = b.part(other);
        if (part.num_elements != in_b.num_elements || part.element_bytes != in_b.element_bytes)
            return std::string(part.path) + ": " + std::to_string(part.num_elements) + " and " +
                   std::to_string(in_b.num_elements);
        const std::string bytes_a = bytes_of(a, part), bytes_b = bytes_of(b, in_b);
        if (bytes_a == bytes_b) continue;
        for (std::size_t k = 0; k < bytes_a.size(); ++k)
            if (bytes_a[k] != bytes_b[k])
                return std::string(part.path) + ", element " + std::to_string(k / part.element_bytes);
    }
    for (std::size_t i = 0; i < b.num_parts(); ++i)
        if (!skips(b, b.part(i)) && a.find(b.part(i).path) == a.num_parts())
            return "only the second has " + std::string(b.part(i).path);
    return "";
}
std::string difference(const Snapshot& a, const Snapshot& b);

/// All bytes of a world, or why they are not to be had.
std::string bytes_of(const World& world);

}  // namespace shoal_test
