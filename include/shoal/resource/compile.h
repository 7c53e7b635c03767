#pragma once
// How one component goes from text to bytes: a compile function reads a node and fills in a struct image.
//
//     bool compile_light(void*, const CompileInput& in, CompileOutput& out) {
//         Light light;
//         if (!read_kelvin(in.node, in.diagnostics, light.color)) return false;    // it has reported why
//         out.store(light);
//         out.store_entity(offsetof(Light, target), out.find_entity("../tower"));
//         return true;
//     }
//
// The compiler calls it once per component, in the spawn order of the component types. Most component types need
// none: the compiler has a default one that follows the schema.
// Thread: one compilation calls from one thread; a function without state may serve several compilations.

#include "shoal/document/document.h"
#include "shoal/table/schema.h"

namespace shoal::inline SHOAL_ABI {

class BlobWriter;
enum class DependencyKind : std::uint32_t;

/// What a compile function gets. Lifetime: the call.
struct CompileInput {
    Node node;                       ///< what the source says of this component, after prefabs are merged
    const Schema& schema;            ///< of the component type
    std::uint32_t entity_index = 0;  ///< of the owner in the blob
    std::string_view entity_name;    ///< of the owner, for messages; may be empty
    Diagnostics& diagnostics;        ///< where errors and warnings go
};

/// Finds the entity that a text refers to as seen from `entity_index`. Returns its index in the blob or kNoBlobEntity.
using FindEntity = std::uint32_t (*)(const void* context, std::uint32_t entity_index, std::string_view reference);

/// What a compile function fills in. Lifetime: the call.
class CompileOutput {
public:
    /// `image` holds the defaults: see blob_default_image.
    CompileOutput(const Schema& schema, std::span<std::byte> image, std::uint32_t entity_index, BlobWriter& blob,
                  FindEntity find_entity, const void* find_context)
        : schema_(schema),
          image_(image),
          entity_index_(entity_index),
          blob_(blob),
          find_entity_(find_entity),
          find_context_(find_context) {}

    /// One struct image of the schema; it holds the defaults. An Entity field holds an entity's index in the blob, or
    /// all bits set for none. Shape: Schema::struct_bytes().
    std::span<std::byte> image() { return image_; }

    /// Writes the whole image; Entity fields become none and wait for store_entity.
    /// Requires: T is the struct that the schema describes.
    template <class T>
    void store(const T& component) {
        static_assert(std::is_trivially_copyable_v<T>, "only what can be copied byte by byte can be kept in a blob");
        store_bytes({reinterpret_cast<const std::byte*>(&component), sizeof(T)});
    }
    /// Writes a reference (kNoBlobEntity: none) into an Entity field that starts `offset` bytes into the image.
    SHOAL_API void store_entity(std::uint32_t offset, std::uint32_t entity_index);

    /// Returns the blob entity that `reference` names as seen from the owner, or kNoBlobEntity; the function reports
    /// it.
    std::uint32_t find_entity(std::string_view reference) const {
        return find_entity_(find_context_, entity_index_, reference);
    }

    /// Returns the id of `text` and keeps the text in the blob, for people. Errors: another text has the same hash.
    SHOAL_API Result<StringId> intern(std::string_view text);
    /// Keeps a read-only array in the blob. Shape: a multiple of field_type_bytes(element_type).
    SHOAL_API BlobArrayBase add_array(FieldType element_type, std::span<const std::byte> values);
    /// Notes that the blob must be compiled again when `path` changes, or that it needs it at run time.
    SHOAL_API void add_dependency(DependencyKind kind, std::string_view path);

private:
    SHOAL_API void store_bytes(std::span<const std::byte> component);

    const Schema& schema_;
    std::span<std::byte> image_;
    std::uint32_t entity_index_;
    BlobWriter& blob_;
    FindEntity find_entity_;
    const void* find_context_;
};

/// Returns whether the image is to be kept. False: the reason has been reported as an error.
using CompileFunction = bool (*)(void* context, const CompileInput& input, CompileOutput& output);

}  // namespace shoal::inline SHOAL_ABI
