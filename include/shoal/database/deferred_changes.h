#pragma once
// What a database knows of the changes that are asked for while passes run: that there is something to be made when it
// settles. Who collects them, and in which order they are made, is the command room's business; see
// command/commands.h.
// Thread: made and asked for from any thread; apply() between passes.

#include "shoal/store/store.h"

namespace shoal {

class DeferredChanges {
public:
    /// Makes all changes and adds what it has done to `counts`, if any.
    virtual void apply(SettleCounts* counts) = 0;
    /// Ends the object and gives its memory back.
    virtual void release() = 0;

protected:
    ~DeferredChanges() = default;
};

}  // namespace shoal
