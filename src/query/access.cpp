#include "shoal/query/access.h"

namespace shoal {

bool conflict(const Access& a, const Access& b) {
    if (!a.writes && !b.writes) return false;
    if (a.is_everything() || b.is_everything()) return true;
    if (a.store != b.store || a.object != b.object) return false;
    if (a.component == ComponentId() || b.component == ComponentId()) return true;
    return a.component == b.component && (a.field == kAllFields || b.field == kAllFields || a.field == b.field);
}

}  // namespace shoal
