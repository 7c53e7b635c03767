#pragma once
// Owns loaded blobs by name, and finds the read-only arrays that rows refer to.
//
//     row { path: BlobArray<Vec3> {resource, offset, count} }  --view-->  values inside the blob
//
// A blob may be unloaded after its entities are spawned, unless values refer to its arrays. Each of these values pins
// the blob. The library does not know the rows, so the owner of the stores counts the pins; see add_pin_counter().
// Thread: one thread loads and unloads. `find` and `view` may run on any thread, but not while another thread loads.

#include "shoal/resource/blob.h"

namespace shoal {

/// Returns how many values, in rows and pending commands, refer to `resource`.
using CountPins = std::uint64_t (*)(void* context, ResourceId resource);

class ResourceLibrary {
public:
    ResourceLibrary() = default;
    SHOAL_API ~ResourceLibrary();
    ResourceLibrary(const ResourceLibrary&) = delete;
    ResourceLibrary& operator=(const ResourceLibrary&) = delete;

    /// Adds a blob under its own name. Lifetime of the result: until the blob is unloaded. Errors: the blob has no
    /// name, a blob with this name is already loaded, or Blob::load() or Blob::read() fails.
    SHOAL_API Result<const Blob*> add(Blob blob);
    SHOAL_API Result<const Blob*> load(std::span<const std::byte> bytes);
    SHOAL_API Result<const Blob*> load_file(const std::string& path);

    /// Replaces a loaded blob with a newer version, and returns the older one. Values in rows still refer to the older
    /// version until Reloader::reload() updates them (see reload/reloader.h). Errors: no blob with that name is loaded.
    /// On error, nothing has changed. Lifetime: pointers to the loaded blob stay valid and now point to the newer
    /// version.
    SHOAL_API Result<Blob> replace(Blob newer);

    /// Returns the blob, or nullptr if it is not loaded.
    SHOAL_API const Blob* find(ResourceId id) const;
    const Blob* find(std::string_view name) const { return find(ResourceId(name)); }
    std::size_t num_blobs() const { return entries_.size(); }

    /// Returns the values of an array, or an empty span if its blob is not loaded or does not have the array. Lifetime:
    /// until the blob is unloaded.
    template <class T>
    std::span<const T> view(const BlobArray<T>& array) const {
        const std::span<const std::byte> bytes = view_bytes(array, FieldTraits<T>::type);
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    SHOAL_API std::span<const std::byte> view_bytes(const BlobArrayBase& array, FieldType element_type) const;

    /// Adds a function that counts pins; a world adds one for its stores.
    SHOAL_API void add_pin_counter(CountPins count, void* context);
    /// Removes the function that was added with this context. Requires: there is one.
    SHOAL_API void remove_pin_counter(void* context);

    /// Releases a blob. Errors: the blob is not loaded, or values still refer to it (the message says how many). On
    /// error, nothing has changed.
    SHOAL_API Status unload(ResourceId id);
    Status unload(std::string_view name) { return unload(ResourceId(name)); }

private:
    struct Entry {
        ResourceId id;
        Blob* blob;
    };
    struct PinCounter {
        CountPins count;
        void* context;
    };
    std::size_t lower_bound(ResourceId id) const;

    Array<Entry> entries_{Owner("resource library")};  // ascending by id
    Array<PinCounter> pin_counters_{Owner("resource library")};
};

}  // namespace shoal
