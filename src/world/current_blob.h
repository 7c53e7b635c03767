#pragma once
// A blob as the world wants it.

#include "shoal/resource/blob.h"
#include "shoal/resource/migration.h"

#include <optional>

namespace shoal {

/// A blob, or a copy of it whose components of older versions are migrated.
class CurrentBlob {
public:
    CurrentBlob(const Blob& blob, const ComponentRegistry& registry) : blob_(&blob) {
        if (SHOAL_LIKELY(!needs_migration(blob, registry))) return;
        Result<Blob> copy = Blob::view(blob.bytes());
        status_ = copy ? migrate(*copy, registry) : copy.status();
        if (status_) blob_ = &migrated_.emplace(std::move(*copy));
    }
    const Status& status() const { return status_; }
    const Blob& get() const { return *blob_; }

private:
    const Blob* blob_;
    std::optional<Blob> migrated_;
    Status status_;
};

}  // namespace shoal
