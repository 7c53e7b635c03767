#include "shoal/save/save.h"

#include "save/state_file.h"
#include "save/world_state.h"
#include "shoal/base/assert.h"
#include "shoal/base/detail/page_memory.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/react/service.h"
#include "shoal/world/world.h"

namespace shoal {

namespace {

void require_rest_to_save(const World& world) {
    SHOAL_ASSERT(world.services().is_at_rest(), "a pass or a callback saved the world; save it after World::step()");
}

void require_rest_to_load(const World& world) {
    SHOAL_ASSERT(world.services().is_at_rest(), "a pass or a callback loaded the world; load it after World::step()");
}

}  // namespace

Status save(const World& world, Snapshot& to, const Snapshot* before) {
    require_rest_to_save(world);
    to.clear();
    return WorldState(const_cast<World&>(world)).save(to, before, nullptr);
}

Status load(World& world, const Snapshot& from, bool is_trusted) {
    require_rest_to_load(world);
    Status status = WorldState(world).load(from, is_trusted);
    if (status) world.services().for_each([](WorldService& service) { service.after_load(); });
    return status;
}

Status save(const World& world, Array<std::byte>& to) {
    require_rest_to_save(world);
    Snapshot state;
    LastingTypes types;
    types.only_used_texts = true;
    WorldState whole(const_cast<World&>(world));
    if (Status status = whole.save(state, nullptr, &types, true); !status) return status;
    Result<Array<std::byte>> bytes = write_state(state, whole.executor());
    if (!bytes) return bytes.status();
    to = std::move(*bytes);
    return {};
}

Status load(World& world, std::span<const std::byte> from, const LoadOptions& options) {
    require_rest_to_load(world);
    const Result<Snapshot> state = read_state(from, world.executor(), options.max_bytes);
    if (!state) return state.status();
    return load(world, *state, false);
}

Status save(const World& world, const std::string& path) {
    Array<std::byte> bytes{Owner("snapshot")};
    if (Status status = save(world, bytes); !status) return Status::error(concat(path, ": ", status.message()));
    return write_file(path, bytes);
}

Status load(World& world, const std::string& path, const LoadOptions& options) {
    std::size_t num_bytes = 0;
    const Result<PageRange> pages = read_file_pages(path, &num_bytes);
    if (!pages) return pages.status();
    const Status status = load(world, std::span<const std::byte>(pages->data, num_bytes), options);
    release_pages(*pages);
    return status ? status : Status::error(concat(path, ": ", status.message()));
}

}  // namespace shoal
