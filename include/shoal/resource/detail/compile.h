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
// The compiler calls the function once per component or once per layer, in the spawn order of the component types. The
// first layer is the text of a prefab, and the next layer is the text that overrides it. Most component types need no
// function: the compiler's default function follows the schema, and other functions can use it for individual fields.
//
// A component type needs no schema if its compile function produces raw bytes, whose number may differ between
// components. A spawn function gets these bytes back (see registry.h):
//
//     bool compile_song(void*, const CompileInput& in, CompileOutput& out) {
//         std::vector<std::byte> notes;
//         for (const Node note : in.node.find("notes"))
//             if (const std::int64_t* number = note.as_int64()) notes.push_back(std::byte(*number));
//         out.set_bytes(notes);
//         return true;
//     }
//
// The compile function is called once per component, with the merged texts of the entity and its prefabs. Equal bytes
// are stored once. The bytes are not swapped for machines with the other byte order, so the compile and spawn functions
// must agree on a byte order.
// Thread: a compilation calls the function from one thread. Several compilations may share a function that has no
// state.

#include "shoal/document/detail/document.h"
#include "shoal/table/detail/schema.h"

namespace shoal {

class BlobWriter;
enum class DependencyKind : std::uint32_t;

/// What each call to a compile function covers.
enum class CompileScope : std::uint8_t {
    kComponent,  ///< a whole component; the node merges the texts of the entity and its prefabs
    /// One text of the component; the text of the deepest prefab comes first. The node is the text's mapping of fields,
    /// and the image holds the result of the layers below. The text of a prefab is compiled once for all its users. The
    /// compiler sets Entity fields.
    kLayer,
};

/// The input of a compile function. Lifetime: valid during the call.
struct CompileInput {
    Node node;                       ///< the source text of this component; see CompileScope
    const Schema& schema;            ///< of the component type
    std::uint32_t entity_index = 0;  ///< of the owner in the blob
    std::string_view entity_name;    ///< of the owner, for messages; may be empty
    Diagnostics& diagnostics;        ///< receives errors and warnings
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

/// The output of a compile function. Lifetime: valid during the call.
class CompileOutput {
public:
    /// `image` holds the defaults; see blob_default_image().
    CompileOutput(const Schema& schema, std::span<std::byte> image, BlobWriter& blob, CompileHost& host)
        : schema_(schema), image_(image), blob_(blob), host_(host) {}

    /// The struct image of the component, set to the defaults. An Entity field holds an entity's index in the blob, or
    /// all bits set for none. Shape: Schema::struct_bytes() bytes.
    std::span<std::byte> image() { return image_; }

    /// Writes the whole image. Entity fields are null until store_entity() sets them.
    /// Requires: T is the struct that the schema describes.
    template <class T>
    void store(const T& component) {
        static_assert(std::is_trivially_copyable_v<T>, "only what can be copied byte by byte can be kept in a blob");
        store_bytes({reinterpret_cast<const std::byte*>(&component), sizeof(T)});
    }
    /// Writes a reference into the Entity field that starts `offset` bytes into the image. kNoBlobEntity stands for
    /// null.
    SHOAL_API void store_entity(std::uint32_t offset, std::uint32_t entity_index);

    /// Resolves `reference` relative to the owner, and returns the blob entity. Returns kNoBlobEntity if there is no
    /// such entity; the caller must report this.
    std::uint32_t find_entity(std::string_view reference) const { return host_.find_entity(reference); }

    /// Processes one entry of the node like the default function: checks it and reads its value into the field that its
    /// key refers to. An unknown key is reported or kept. Returns false after reporting an error.
    bool read_field(Node node) { return host_.read_field(node); }
    /// Reads a value that is not in the schema, and checks it like a value of `field`. Shape: `value` has field.size
    /// bytes, which hold the previous value. Returns false after reporting an error.
    bool read_value(const Field& field, Node node, std::byte* value) { return host_.read_value(field, node, value); }

    /// Whether an entry of the node is a field of the component, rather than a key of the source format such as `_type`
    /// or `_guid`. This is for functions that accept any key.
    bool is_field(Node node) const { return host_.is_field(node); }

    /// Returns an array that was added for a layer below, or the text of a string id. Lifetime: until the next array or
    /// string is added.
    SHOAL_API std::span<const std::byte> array(const BlobArrayBase& array, FieldType element_type) const;
    SHOAL_API std::string_view text(StringId id) const;
    /// Stores `text` in the blob, so that readers can look it up, and returns its string id. Errors: a different string
    /// has the same hash.
    SHOAL_API Result<StringId> intern(std::string_view text);
    /// Adds a read-only array to the blob. Shape: the size of `values` is a multiple of field_type_bytes(element_type).
    SHOAL_API BlobArrayBase add_array(FieldType element_type, std::span<const std::byte> values);
    /// Sets the component's bytes, replacing those from any earlier call. If this is never called, the component has no
    /// bytes. Requires: the compile function was set with ComponentRegistry::set_bytes_compile_function().
    SHOAL_API void set_bytes(std::span<const std::byte> bytes);
    /// Adds a file that the blob needs at run time, or a file whose changes require a recompilation.
    SHOAL_API void add_dependency(DependencyKind kind, std::string_view path);

private:
    SHOAL_API void store_bytes(std::span<const std::byte> component);

    const Schema& schema_;
    std::span<std::byte> image_;
    BlobWriter& blob_;
    CompileHost& host_;
};

/// Returns whether to keep the image. Returns false after reporting an error.
using CompileFunction = bool (*)(void* context, const CompileInput& input, CompileOutput& output);

}  // namespace shoal
