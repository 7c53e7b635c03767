#include "shoal/resource/library.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <utility>

namespace shoal {

ResourceLibrary::~ResourceLibrary() {
    for (const Entry& entry : entries_) delete entry.blob;
}

std::size_t ResourceLibrary::lower_bound(ResourceId id) const {
    const auto found = std::lower_bound(entries_.begin(), entries_.end(), id,
                                        [](const Entry& entry, ResourceId wanted) { return entry.id < wanted; });
    return static_cast<std::size_t>(found - entries_.begin());
}

Result<const Blob*> ResourceLibrary::add(Blob blob) {
    const ResourceId id = blob.id();
    if (!id) return Status::error("a blob without a name cannot be kept in a library; give it one when it is compiled");
    if (const Blob* loaded = find(id))
        return Status::error(concat("the resource \"", blob.name(), "\" cannot be loaded: \"", loaded->name(),
                                    "\" is loaded already; unload it first"));
    auto* kept = new Blob(std::move(blob));
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(lower_bound(id)), {id, kept});
    return static_cast<const Blob*>(kept);
}

Result<const Blob*> ResourceLibrary::load(std::span<const std::byte> bytes) {
    Result<Blob> blob = Blob::load(bytes);
    if (!blob) return blob.status();
    return add(std::move(*blob));
}

Result<const Blob*> ResourceLibrary::load_file(const std::string& path) {
    Result<Blob> blob = Blob::read(path);
    if (!blob) return blob.status();
    return add(std::move(*blob));
}

Result<Blob> ResourceLibrary::replace(Blob newer) {
    const std::size_t i = lower_bound(newer.id());
    if (i == entries_.size() || entries_[i].id != newer.id())
        return Status::error(
            concat("the resource \"", newer.name(), "\" cannot be replaced: it is not loaded; add it"));
    return std::exchange(*entries_[i].blob, std::move(newer));
}

const Blob* ResourceLibrary::find(ResourceId id) const {
    const std::size_t i = lower_bound(id);
    return i < entries_.size() && entries_[i].id == id ? entries_[i].blob : nullptr;
}

std::span<const std::byte> ResourceLibrary::view_bytes(const BlobArrayBase& array, FieldType element_type) const {
    const Blob* blob = array.count == 0 ? nullptr : find(array.resource);
    if (blob == nullptr || array.offset % field_type_alignment(element_type) != 0) return {};
    const std::size_t num_bytes = blob->bytes().size(), element_bytes = field_type_bytes(element_type);
    const bool is_inside = array.offset <= num_bytes && array.count <= (num_bytes - array.offset) / element_bytes;
    return is_inside ? blob->array(array, element_type) : std::span<const std::byte>();
}

void ResourceLibrary::add_pin_counter(CountPins count, void* context) { pin_counters_.push_back({count, context}); }

void ResourceLibrary::remove_pin_counter(void* context) {
    const auto found = std::find_if(pin_counters_.begin(), pin_counters_.end(),
                                    [context](const PinCounter& counter) { return counter.context == context; });
    SHOAL_ASSERT(found != pin_counters_.end(), "no pin counter was added with this context");
    pin_counters_.erase(found);
}

Status ResourceLibrary::unload(ResourceId id) {
    const std::size_t i = lower_bound(id);
    if (i == entries_.size() || entries_[i].id != id) return Status::error("the resource to unload is not loaded");
    std::uint64_t num_pins = 0;
    for (const PinCounter& counter : pin_counters_) num_pins += counter.count(counter.context, id);
    if (num_pins > 0)
        return Status::error(concat("the resource \"", entries_[i].blob->name(), "\" cannot be unloaded: ", num_pins,
                                    " values in rows and commands refer to it; remove them first"));
    delete entries_[i].blob;
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    return {};
}

}  // namespace shoal
