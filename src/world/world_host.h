#pragma once
// The functions of a world that its component directory and its commands call: they create stores, spawn and copy
// entities, and intern strings.
// Thread: the structural thread of the world.

#include "shoal/world/world.h"

namespace shoal {

class World::Host final : public DirectoryOwner, public CommandHost {
public:
    explicit Host(World& world) : world_(world) {}

    // DirectoryOwner
    Result<Store*> make_store_of(const Schema& component) override;
    const Schema* find_built_in(ComponentId name) const override;
    Result<Store*> choose_store_for(const Schema& component) override;
    Status check_store(const Store& store, const Schema& component) const override;
    void note_store(Store& store) override;
    void forget_store(Store& store) override;

    // CommandHost
    Result<std::uint32_t> spawn(const Blob& blob, std::span<const Entity> firsts, std::span<const RootPose> poses,
                                Zone zone, std::span<const SpawnOverride> overrides) override;
    Result<std::uint32_t> copy(Entity original, std::span<const Entity> firsts,
                               std::span<const RootPose> poses) override;
    Status change_text(TextChange change, Entity entity, std::string_view text) override;
    Status check_images(const Schema& schema, std::span<const std::byte> images) const override;
    Status check_poses(std::span<const RootPose> poses) const override;
    std::string_view name_of_blob(const Blob& blob) const override;
    const Blob* find_blob(ResourceId resource) const override;

    /// Returns how many values refer to arrays of `resource`. `self` is a Host.
    static std::uint64_t count_pins(void* self, ResourceId resource);
    /// Returns the first database that was added, or nullptr.
    Database* database() const { return database_; }

private:
    World& world_;
    Database* database_ = nullptr;
};

}  // namespace shoal
