#include "shoal/resource/detail/array_finder.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/text.h"
#include "shoal/resource/detail/blob_values.h"
#include "shoal/table/detail/value_check.h"

namespace shoal {

bool ArrayFinder::has(const BlobArrayBase& array, FieldType element_type) {
    if (array.count == 0) return true;
    if (blob_ == nullptr || array.resource != blob_->id()) {
        blob_ = library_.find(array.resource);
        arrays_ = blob_ == nullptr ? std::span<const BlobArrayEntry>() : arrays_of(*blob_);
    }
    return find_array(arrays_, array, element_type) != nullptr;
}

std::string ArrayFinder::problem(const Schema& component, const Field& field) const {
    const std::string what = concat('"', component.name(), '.', field.name, "\" refers to ");
    if (blob_ != nullptr) return concat(what, "an array that the resource \"", blob_->name(), "\" does not have");
    return concat(what,
                  "an array of a resource that is not loaded; load it through the world's library, "
                  "WorldOptions::library, before the state");
}

Status check_arrays(const ResourceLibrary* library, const Schema& schema, std::span<const std::byte> images) {
    if (library == nullptr) return {};
    ArrayFinder arrays(*library);
    for (const Field& field : schema.fields()) {
        if (field.type != FieldType::kBlobArray) continue;
        const FieldRows values{images.data() + field.struct_offset, schema.struct_bytes(),
                               images.size() / schema.struct_bytes()};
        const auto is_right = [&](const std::byte* at) {
            return arrays.has(read_as<BlobArrayBase>(at), field.element_type);
        };
        if (find_invalid_value(field, values, is_right) != nullptr) return Status::error(arrays.problem(schema, field));
    }
    return {};
}

}  // namespace shoal
