#pragma once
// Writes a blob as text, using its own schemas. The program that made the blob is not needed.
//
//     entities = 2
//     components = { point_mass = 1 }
//     entity_data = [
//         { index = 0 name = "reef" }
//         { index = 1 parent = 0 components = { point_mass = { mass = 2 position = [0 0 3] } } }
//     ]
//
// Enums are written by name, string ids as their text if the blob has the text, references as entity indices, and
// read-only arrays as lists. For a component type with `many`, each entity has a list.
// Thread: any.

#include "shoal/resource/blob.h"

namespace shoal {

class DocumentBuilder;
struct ProgressListener;
class ValueNames;

/// Adds the whole blob to the open mapping. If the builder prints, this takes constant memory besides the blob, plus
/// four bytes per component for component types that are not in entity order.
SHOAL_API void dump_members(const Blob& blob, DocumentBuilder& builder, const ProgressListener& progress);

/// Adds the values of a read-only array as a list. Shape: `values` has the bytes of all elements.
SHOAL_API void write_elements(DocumentBuilder& builder, std::span<const std::byte> values, FieldType element,
                              const ValueNames& names);

/// Returns the whole blob as SJSON.
SHOAL_API std::string dump_text(const Blob& blob);

/// Returns the whole blob as one JSON object with the keys `entities`, `roots`, `components` (name to count), `bytes`,
/// `schemas` and `entity_data`.
SHOAL_API std::string dump_json(const Blob& blob);

}  // namespace shoal
