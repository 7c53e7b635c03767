#pragma once
// Lists of commands that the compiler does not know: for component types known only at run time, or from a snapshot.
//
//     MadeList    a CommandList, its parts, and a key for each part, which identifies it even when its schema is gone
//
// Thread: one thread at a time.

#include "shoal/command/detail/command_recorder.h"

namespace shoal::detail {

/// The component type that a part names.
struct PartKey {
    ComponentId component;
    std::uint64_t layout = 0;

    friend bool operator==(const PartKey&, const PartKey&) = default;
};

struct MadeList : CommandList {
    static constexpr std::uint32_t kMaxRowBytes = std::uint32_t(1) << 31;  // bytes of all values in a row

    Array<CommandPart> own_parts{Owner("commands")};
    Array<PartKey> keys{Owner("commands")};
    Array<Schema*> own_schemas{Owner("commands")};  // schemas that the parts point to, if the list has its own

    explicit MadeList(CommandKind kind_of_all);
    MadeList(MadeList&& other) noexcept;
    MadeList& operator=(MadeList&&) = delete;
    ~MadeList();

    /// Adds a part. `value` is the schema of the part's value; nullptr: the part has no value.
    void add(CommandPart part, const Schema* value);
    /// Copies the schemas of the parts, so that a store may be destroyed while commands are pending.
    void own_its_schemas();
    /// Whether the commands in both lists have the same layout in memory and name the same component types.
    bool is_like(const CommandList& other) const;
};

/// Requires: the list was made at run time.
inline const MadeList& made(const CommandList& list) { return static_cast<const MadeList&>(list); }

}  // namespace shoal::detail
