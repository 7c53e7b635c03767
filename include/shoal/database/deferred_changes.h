#pragma once
// The changes that passes ask for, as a database sees them: something to do when it settles. The command room collects
// them and makes them in one order; see command/commands.h.
// Thread: an object may be made and looked up from any thread; apply() and count_pins() between passes.

#include "shoal/store/store.h"

namespace shoal {

class DeferredChanges {
public:
    /// Makes all changes and adds what it has done to `counts`, if any.
    virtual void apply(SettleCounts* counts) = 0;
    /// Returns how many values that wait to be made refer to `resource`.
    virtual std::uint64_t count_pins(ResourceId resource) = 0;
    /// Calls visit(context, element_type, array) with a copy of each read-only array in values that wait. The copy takes the
    /// place of the array if visit() returns that it has changed it.
    virtual void visit_arrays(bool (*visit)(void* context, FieldType element_type, BlobArrayBase& array),
                              void* context) = 0;
    /// Calls visit(context, bytes) for values that wait and may have ids of texts: string ids and numbers of 32 bits, and all
    /// that spawns override.
    virtual void visit_values(void (*visit)(void* context, std::span<const std::byte>), void* context) = 0;
    /// Writes the changes that wait. Refused: those that cannot be saved.
    virtual void save(StateWriter& to) = 0;
    /// Puts what save() wrote, which may be false, in place of what waits. Errors: it does not fit; nothing waits then.
    virtual Status load(StateReader& from) = 0;
    /// Appends the component types that the changes name, some of them several times. Lifetime: as long as the changes wait.
    virtual void list_schemas(Array<const Schema*>& schemas) = 0;
    /// Returns how many changes wait to be made.
    virtual std::uint64_t num_waiting() = 0;
    virtual std::uint32_t first_waiting_pass() = 0;  ///< its place in the order of passes, from 1; 0: none waits
    /// Drops the changes that wait.
    virtual void discard() = 0;
    /// Ends the object and gives its memory back.
    virtual void release() = 0;

protected:
    ~DeferredChanges() = default;
};

}  // namespace shoal
