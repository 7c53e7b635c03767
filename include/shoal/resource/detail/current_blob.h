#pragma once
// Brings the component types of a blob up to date, without changing the blob.

#include "shoal/resource/blob.h"
#include "shoal/resource/migration.h"

#include <optional>

namespace shoal {

/// Refers to a blob, or to a copy in which older components are migrated.
class CurrentBlob {
public:
    CurrentBlob(const Blob& blob, const ComponentRegistry& registry) : blob_(&blob) {
        if (SHOAL_LIKELY(!needs_migration(blob, registry))) return;
        status_ = change([&](Blob& copy) { return migrate(copy, registry); });
    }
    /// Converts the components to different schemas; see convert_fields().
    void take_fields(std::span<const Schema> schemas, const ComponentRegistry& registry) {
        if (status_) status_ = change([&](Blob& copy) { return convert_fields(copy, schemas, registry); });
    }
    const Status& status() const { return status_; }
    const Blob& get() const { return *blob_; }

private:
    template <class Change>
    Status change(Change&& change) {
        if (!migrated_) {
            Result<Blob> copy = Blob::view(blob_->bytes());
            if (!copy) return copy.status();
            blob_ = &migrated_.emplace(std::move(*copy));
        }
        return change(*migrated_);
    }

    const Blob* blob_;
    std::optional<Blob> migrated_;
    Status status_;
};

}  // namespace shoal
