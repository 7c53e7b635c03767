#pragma once
// How one component is compiled from text to bytes: a compile function reads a node and fills in a struct image.
//
//     bool compile_light(void*, const CompileInput& in, CompileOutput& out) {
//         Light light;
//         if (!read_kelvin(in.node, in.diagnostics, light.color)) return false;  // it has reported why
//         out.store(light);
//         out.store_entity(offsetof(Light, target), out.find_entity("../tower"));
//         return true;
//     }
//
// The compiler calls the function once per component, in the spawn order of the component types, or once per layer: for
// the text of a prefab, and then for the text of its user on top. Most component types need no function: the compiler
// has a default that follows the schema, and a function can leave single fields to the default.
//
// A component type needs no schema if its compile function makes its own bytes, any number for each component. A spawn
// function gets these bytes back (see registry.h):
//
//     bool compile_song(void*, const CompileInput& in, CompileOutput& out) {
//         std::vector<std::byte> notes;
//         for (const Node note : in.node.find("notes"))
//             if (const std::int64_t* number = note.as_int64()) notes.push_back(std::byte(*number));
//         out.set_bytes(notes);
//         return true;
//     }
//
// The compile function is called once per component, with the merged texts of prefabs and the entity; equal bytes are
// stored once. The bytes are not swapped for machines with the other byte order: both functions must agree on the order
// of multi-byte numbers.
// Thread: one compilation calls from one thread; a function without state may serve several compilations.

#include "shoal/document/detail/document.h"
#include "shoal/table/detail/schema.h"

namespace shoal {

class BlobWriter;
enum class DependencyKind : std::uint32_t;

/// What a compile function is called for.
enum class CompileScope : std::uint8_t {
    kComponent,  ///< a component; its node merges the texts of prefabs and of the entity
    /// Each text about the component, the deepest prefab first; the node is its mapping of fields,
    /// and the image holds the result of the layers below. The text of a prefab is compiled once for all its users.
    /// The default function sets entity fields.
    kLayer,
};

/// What a compile function gets. Lifetime: the call.
struct CompileInput {
    Node node;                       ///< the source text of this component; see CompileScope
    const Schema& schema;            ///< of the component type
    std::uint32_t entity_index = 0;  ///< of the owner in the blob
    std::string_view entity_name;    ///< of the owner, for messages; may be empty
    Diagnostics& diagnostics;        ///< where errors and warnings go
};

/// What CompileOutput needs from the compiler.
class CompileHost {
public:
    virtual ~CompileHost() = default;
    virtual std::uint32_t find_entity(std::string_view reference) const = 0;
    virtual bool read_field(Node node) = 0;
    virtual bool read_value(const Field& field, Node node, std::byte* value) = 0;
    virtual bool is_field(Node) const { return true; }
};

/// What a compile function fills in. Lifetime: the call.
class CompileOutput {
public:
    /// `image` holds the defaults: see blob_default_image.
    CompileOutput(const Schema& schema, std::span<std::byte> image, BlobWriter& blob, CompileHost& host)
        : schema_(schema), image_(image), blob_(blob), host_(host) {}

    /// The struct image of the component, set to the defaults. An Entity field holds an entity's index in the blob, or
    /// all bits set for none. Shape: Schema::struct_bytes().
    std::span<std::byte> image() { return image_; }

    /// Writes the whole image. Entity fields become none until store_entity sets them.
    /// Requires: T is the struct that the schema describes.
    template <class T>
    void store(const T& component) {
        static_assert(std::is_trivially_copyable_v<T>, "only what can be copied byte by byte can be kept in a blob");
        store_bytes({reinterpret_cast<const std::byte*>(&component), sizeof(T)});
    }
    /// Writes a reference (kNoBlobEntity: none) into an Entity field that starts `offset` bytes into the image.
    SHOAL_API void store_entity(std::uint32_t offset, std::uint32_t entity_index);

    /// Returns the blob entity that `reference` names from the owner's point of view. Returns kNoBlobEntity
    /// if there is no such entity; the caller has to report this.
    std::uint32_t find_entity(std::string_view reference) const { return host_.find_entity(reference); }

    /// Treats one entry of the node as the default function does: reads it, with all checks, into the field of its
    /// key; an unknown key is reported or kept. Returns false after reporting an error.
    bool read_field(Node node) { return host_.read_field(node); }
    /// Reads a value that is not in the schema, with the checks of `field`. Shape: field.size bytes, which
    /// hold the previous value. Returns false after reporting an error.
    bool read_value(const Field& field, Node node, std::byte* value) { return host_.read_value(field, node, value); }

    /// Whether an entry of the node is a field of the component, and not a key of the source format such as `_type` or
    /// `_guid`. For functions that accept any key.
    bool is_field(Node node) const { return host_.is_field(node); }

    /// Returns an array that was added for a layer below, or a text that was kept. Lifetime: until the next array or
    /// text is added.
    SHOAL_API std::span<const std::byte> array(const BlobArrayBase& array, FieldType element_type) const;
    SHOAL_API std::string_view text(StringId id) const;
    /// Returns the id of `text` and keeps the text in the blob, for readers. Errors: another text has the same hash.
    SHOAL_API Result<StringId> intern(std::string_view text);
    /// Adds a read-only array to the blob. Shape: a multiple of field_type_bytes(element_type).
    SHOAL_API BlobArrayBase add_array(FieldType element_type, std::span<const std::byte> values);
    /// Sets the bytes of the component, in place of the bytes of an earlier call. Without a call, the component has no
    /// bytes. Requires: the function was set with ComponentRegistry::set_bytes_compile_function.
    SHOAL_API void set_bytes(std::span<const std::byte> bytes);
    /// Adds a file that the blob needs at run time, or whose changes require recompiling the blob.
    SHOAL_API void add_dependency(DependencyKind kind, std::string_view path);

private:
    SHOAL_API void store_bytes(std::span<const std::byte> component);

    const Schema& schema_;
    std::span<std::byte> image_;
    BlobWriter& blob_;
    CompileHost& host_;
};

/// Returns whether to keep the image. False: the reason has been reported as an error.
using CompileFunction = bool (*)(void* context, const CompileInput& input, CompileOutput& output);

}  // namespace shoal
