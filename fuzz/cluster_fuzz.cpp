// Fuzzes messages between ranks. For any bytes, all entities arrive or there is an error, and the world remains valid.
#include "cluster/parcel.h"
#include "cluster/remote_commands.h"
#include "shoal/components/ownership.h"
#include "shoal/components/tag.h"
#include "shoal/database/database.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

#include <cstdlib>
#include <span>

using namespace shoal;

struct FuzzBody {
    float mass = 1;
    Entity other{};
};
SHOAL_COMPONENT((FuzzBody, name("body")), mass, other)
struct FuzzSleep {
    std::uint32_t depth = 0;
};
SHOAL_COMPONENT((FuzzSleep, name("sleep"), enableable), depth)

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

struct Rank {
    Rank() {
        for (Zone zone = 0; zone < 4; ++zone) {
            const Result<Entity> made = world.database().create(zone, FuzzBody{float(zone), {}}, FuzzSleep{zone});
            require(made.ok());
            names.set(*made, names.next(zone));
            names.mark_copy(*made, zone == 3);
        }
        world.transforms(), world.ownership(), world.manager<Tag>();
    }
    EntityManager entities;
    World world{entities};
    cluster::EntityNames names{4};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    Rank rank;
    const std::span<const std::byte> message = std::as_bytes(std::span(data + 1, size - 1));
    if (data[0] % 2 == 0) {
        cluster::MessageReader from(message);
        static_cast<void>(cluster::unpack(rank.world, rank.names, from));
    } else {
        cluster::RemoteCommands commands(rank.world, rank.names, 0);
        static_cast<void>(commands.give(message));
    }
    rank.world.settle();
    require(rank.world.database().validate().ok());
    return 0;
}
