#pragma once
// What a BlobWriter has been told, and what lays it out.

#include "shoal/base/hash_map.h"
#include "shoal/resource/blob_writer.h"

#include <deque>

namespace shoal {

/// Each text once, numbered in the order of its first use. 0 is the empty one.
class StringPool {
public:
    StringPool() { intern({}); }
    std::uint32_t intern(std::string_view text);
    std::string_view text(std::uint32_t index) const { return texts_[index]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(texts_.size()); }

private:
    std::deque<std::string> texts_;  // a deque keeps them where they are
    HashMap<std::string_view, std::uint32_t> index_of_{Owner("blob writer")};
};

struct BlobContent {
    struct ComponentType {
        Schema schema;
        std::int32_t spawn_order;
        std::vector<std::uint32_t> owners;  ///< by component
        std::vector<std::byte> images;      ///< a struct image per component
        /// Strings of the schema: name, then per field name and unit, then its enumerators.
        std::vector<std::uint32_t> strings;
    };

    StringPool strings;
    std::uint32_t name = 0;
    // By entity.
    std::vector<std::uint32_t> parents;
    std::vector<std::uint64_t> guids;
    std::vector<std::uint32_t> names;
    std::vector<BlobSource> sources;
    bool has_guids = false, has_names = false, has_sources = false;

    std::vector<ComponentType> types;
    std::vector<BlobArrayEntry> arrays;  ///< offsets into array_data
    std::vector<std::byte> array_data;
    HashMap<std::uint64_t, std::uint32_t> array_of{Owner("blob writer")};  ///< hash to array
    std::vector<BlobText> texts;
    HashMap<StringId, std::uint32_t> text_of{Owner("blob writer")};  ///< to string
    std::vector<BlobKeptText> kept_texts;
    std::vector<BlobDependency> dependencies;
    HashMap<std::uint64_t, bool> has_dependency{Owner("blob writer")};  ///< kind << 32 | path

    /// Lays out the blob for this machine, unchecked.
    std::vector<std::byte> lay_out(bool offset_tables) const;
};

}  // namespace shoal
