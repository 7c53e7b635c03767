#pragma once
// The layout of a blob, format version 1. docs/formats/blob.md is the full specification; this is an overview.
//
//     +-------------------+ 0
//     | BlobHeader        |    magic, version, endianness, checksum, counts
//     +-------------------+ header_bytes
//     | BlobSection[]     |    kind, version, flags, offset, bytes; in the order of their offsets
//     +-------------------+
//     | strings           |    each text once; everything else names a text by its index, 0 is the empty one
//     | schemas           |    describe the columns: a blob can be read without the program that wrote it
//     | parents           |    uint32 per entity; parents come before children
//     | arrays, their data|    read-only arrays that fields refer to
//     | component types   |    BlobComponentType[], then the offset of every column
//     | component data    |    per type, in one piece: entity indices, column, column ...
//     | guids, names, ... |    optional: for look-ups and for people
//     +-------------------+ total_bytes
//
// Offsets have 64 bits and are relative to the start of the blob; counts have 32 bits. There are no pointers, so a blob
// works at any address that is a multiple of 64. Sections and columns start on multiples of 64; columns of at least 64
// KiB start on multiples of column_alignment; gaps are filled with zeros. `endianness` indicates the byte order of all
// numbers.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <cstdint>

namespace shoal {

inline constexpr char kBlobMagic[8] = {'S', 'H', 'O', 'A', 'L', 'B', 'L', 'B'};
inline constexpr std::uint32_t kBlobVersion = 1;
inline constexpr std::uint32_t kBlobEndianness = 0x01020304;
inline constexpr std::uint32_t kBlobSwappedEndianness = 0x04030201;
inline constexpr std::size_t kBlobAlignment = 64;          ///< of the blob in memory, its sections and columns
inline constexpr std::size_t kBlobColumnAlignment = 4096;  ///< of large columns
inline constexpr std::size_t kBlobLargeColumnBytes = 65536;
inline constexpr std::size_t kBlobArrayAlignment = 16;  ///< of each read-only array

struct BlobHeader {
    char magic[8];
    std::uint32_t endianness;  ///< kBlobEndianness as the writer's machine stores it
    std::uint32_t format_version;
    std::uint64_t checksum;  ///< XXH3-64 of all bytes after this field
    std::uint64_t total_bytes;
    std::uint64_t resource_id;   ///< hash of the name, or 0 if there is none
    std::uint32_t header_bytes;  ///< where the directory starts; later versions may have a longer header
    std::uint32_t column_alignment;
    std::uint32_t entity_bytes;  ///< sizeof(Entity): the width of an entity reference in a column
    std::uint32_t num_entities;
    std::uint32_t num_roots;  ///< entities without a parent
    std::uint32_t num_component_types;
    std::uint32_t num_sections;
    std::uint32_t name;  ///< string: name of the resource
    std::uint64_t reserved;
};
static_assert(sizeof(BlobHeader) == 80 && offsetof(BlobHeader, checksum) == 16 &&
              offsetof(BlobHeader, total_bytes) == 24);

enum class BlobSectionKind : std::uint32_t {
    kStrings = 1,
    kSchemas,
    kParents,
    kComponentTypes,
    kComponentData,
    kArrays,  ///< BlobArrayEntry[]
    kArrayData,
    kGuids,         ///< uint64 per entity, then uint32 per entity: all entities, ordered by GUID
    kNames,         ///< string per entity, then uint32 per entity: all entities, ordered by name, then index
    kSources,       ///< BlobSource per entity
    kTexts,         ///< BlobText[], ordered by hash: the texts of string ids
    kKeptTexts,     ///< BlobKeptText[]
    kDependencies,  ///< BlobDependency[]
    kOffsetTables,  ///< num_entities + 1 uint32: where the rows of each entity start; then BlobRow[]
    kOrigin,        ///< BlobOrigin, then a content hash (uint64) per dependency, then BlobOriginType[]
};
inline constexpr std::uint32_t kNumBlobSectionKinds = 16;  // including kind 0, which means none

/// Section flag: a reader that does not know this section's kind or version must refuse the blob.
inline constexpr std::uint32_t kBlobSectionRequired = 1;

struct BlobSection {
    std::uint32_t kind;
    std::uint32_t version;
    std::uint32_t flags;
    std::uint32_t reserved;
    std::uint64_t offset;
    std::uint64_t num_bytes;
};
static_assert(sizeof(BlobSection) == 32);

/// The string section: this struct, num_strings + 1 offsets from the start of the section, then the strings, each
/// terminated by a zero byte. String i is at [offset[i], offset[i + 1] - 1).
struct BlobStringTable {
    std::uint32_t num_strings;
    std::uint32_t reserved;
};
static_assert(sizeof(BlobStringTable) == 8);

/// The schema section: this struct, BlobSchema[], BlobField[], BlobEnumerator[], then one struct image of defaults per
/// schema, each padded to 8 bytes. Fields are in the order of the schemas, and enumerators in the order of the fields.
struct BlobSchemaTable {
    std::uint32_t num_schemas;
    std::uint32_t num_fields;
    std::uint32_t num_enumerators;
    std::uint32_t reserved;
};
static_assert(sizeof(BlobSchemaTable) == 16);

inline constexpr std::uint32_t kBlobSchemaWhole = 1;
inline constexpr std::uint32_t kBlobSchemaEnableable = 2;
inline constexpr std::uint32_t kBlobSchemaMany = 4;
inline constexpr std::uint32_t kBlobSchemaSingleton = 8;

struct BlobSchema {
    std::uint32_t name;  ///< string
    std::uint32_t version;
    std::uint32_t flags;
    std::uint32_t num_fields;
    std::uint32_t struct_bytes;
    std::uint32_t struct_alignment;
    std::uint64_t layout_hash;  ///< Schema::layout_hash()
};
static_assert(sizeof(BlobSchema) == 32);

inline constexpr std::uint8_t kBlobFieldSplit = 1;
inline constexpr std::uint8_t kBlobFieldHasRange = 2;
inline constexpr std::uint32_t kMaxBlobEnumerators = 1024;  ///< of one field
inline constexpr std::uint32_t kMaxBlobNameBytes = 256;     ///< of a component, field, enumerator or unit

struct BlobField {
    std::uint32_t name;  ///< string
    std::uint8_t type;   ///< FieldType
    std::uint8_t element_type;
    std::uint8_t flags;
    std::uint8_t relation;  ///< Relation
    std::uint32_t array_length;
    std::uint32_t value_bytes;
    std::uint32_t struct_offset;
    std::uint32_t unit;  ///< string
    std::uint32_t num_enumerators;
    std::uint32_t reserved2;
    double minimum;
    double maximum;
};
static_assert(sizeof(BlobField) == 48);

struct BlobEnumerator {
    std::uint32_t name;  ///< string
    std::uint32_t reserved;
    std::int64_t value;
};
static_assert(sizeof(BlobEnumerator) == 16);

/// All components of one type. Types and their data are in spawn order.
struct BlobComponentType {
    std::uint64_t identifier;  ///< hash of the schema's name
    std::uint32_t schema;
    std::uint32_t count;
    std::int32_t spawn_order;
    std::uint32_t num_columns;
    std::uint64_t data_offset;  ///< uint32 entity index per component; the columns follow
    std::uint64_t data_bytes;   ///< size of all data of the type
};
static_assert(sizeof(BlobComponentType) == 40);

struct BlobArrayEntry {
    std::uint64_t offset;
    std::uint32_t count;
    std::uint32_t element_type;  ///< FieldType
};
static_assert(sizeof(BlobArrayEntry) == 16);

struct BlobSource {
    std::uint32_t file;  ///< string, or 0 if unknown
    std::uint32_t line;  ///< 1-based
};
static_assert(sizeof(BlobSource) == 8);

struct BlobText {
    std::uint64_t hash;
    std::uint32_t text;  ///< string
    std::uint32_t reserved;
};
static_assert(sizeof(BlobText) == 16);

struct BlobKeptText {
    std::uint32_t entity;     ///< 0xFFFFFFFF for the resource as a whole
    std::uint32_t component;  ///< string
    std::uint32_t text;       ///< string
    std::uint32_t reserved;
};
static_assert(sizeof(BlobKeptText) == 16);

enum class DependencyKind : std::uint32_t {
    kSource = 1,    ///< was read to make the blob; recompile when it changes
    kResource,      ///< is needed while the blob is in use
    kMustExist,     ///< recompile when it is removed
    kMustNotExist,  ///< recompile when it appears
};

struct BlobDependency {
    DependencyKind kind;
    std::uint32_t path;  ///< string
};
static_assert(sizeof(BlobDependency) == 8);

/// How the blob was made. The content hash of a dependency that was not read is 0.
struct BlobOrigin {
    std::uint32_t compiler;  ///< string: the compiler's version
    std::uint32_t num_types;
    std::uint64_t rules;  ///< hash of the rules that schema files set for sources
};
static_assert(sizeof(BlobOrigin) == 16);

struct BlobOriginType {
    std::uint64_t hash;  ///< hash of the schema that the source was read with, or 0
    std::uint32_t name;  ///< string
    std::uint32_t reserved;
};
static_assert(sizeof(BlobOriginType) == 16);

struct BlobRow {
    std::uint32_t component_type;
    std::uint32_t row;
};
static_assert(sizeof(BlobRow) == 8);

}  // namespace shoal
