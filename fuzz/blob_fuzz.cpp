// Fuzzes blobs. Any bytes are either refused with a message, or can be spawned and dumped. The checksum is corrected
// first, so that inputs pass it.
#include "shoal/base/text.h"
#include "shoal/resource/detail/dump.h"
#include "shoal/save/state_hash.h"
#include "shoal/world/world.h"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace shoal;

/// Returns the number of rows that remain after the entities of a blob were destroyed: one for a singleton, which is a
/// component of the world's own entity.
static std::uint32_t num_kept(const World& world, const Table& table) {
    const bool is_kept = table.schema().singleton() && table.num_rows() == 1 &&
                         table.entities()[0] == world.directory().singletons().entity();
    return is_kept ? 1 : 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto* first = reinterpret_cast<const std::byte*>(data);
    std::vector<std::byte> bytes(first, first + size);
    if (size >= sizeof(BlobHeader)) {
        constexpr std::size_t kHashed = offsetof(BlobHeader, checksum) + sizeof(BlobHeader::checksum);
        const std::uint64_t total = size;
        std::memcpy(bytes.data() + offsetof(BlobHeader, total_bytes), &total, sizeof total);
        const std::uint64_t checksum = hash_bytes(bytes.data() + kHashed, size - kHashed);
        std::memcpy(bytes.data() + offsetof(BlobHeader, checksum), &checksum, sizeof checksum);
    }
    const Result<Blob> blob = Blob::load(bytes);
    if (!blob) {
        if (blob.message().empty() || !is_utf8(blob.message())) std::abort();
        return 0;
    }
    EntityManager entities;
    World world(entities);
    if (!world.adopt_schemas(*blob)) return 0;
    Result<Spawned> spawned = world.spawn(*blob, {.copies = 2});
    if (spawned) {
        static_cast<void>(state_hash(world));
        spawned->destroy(entities);
        world.settle();
    }
    for (const Store* store : world.directory().stores())
        for (const Table* table : store->tables())
            if (table->num_rows() != num_kept(world, *table) || !table->validate()) std::abort();
    static_cast<void>(dump_text(*blob));
    static_cast<void>(dump_json(*blob));
    return 0;
}
