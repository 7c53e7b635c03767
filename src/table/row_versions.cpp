#include "shoal/table/detail/row_versions.h"

#include "shoal/base/assert.h"
#include "shoal/base/text.h"
#include "shoal/table/detail/schema.h"

#if SHOAL_CHECKED
namespace shoal {

void detail::refuse_stale_view(const Schema& component, int field) {
    const std::string what = field < 0 ? concat("component \"", component.name(), '"')
                                       : concat("field \"", component.fields()[static_cast<std::size_t>(field)].name,
                                                "\" of \"", component.name(), '"');
    fail_assertion(
        "the column is up to date",
        concat(
            "a column of ", what,
            " is older than the last removal or move of rows, or than the last growth of its table; take columns again "
            "after rows came or went"));
}

void detail::refuse_stale_batch() {
    fail_assertion(
        "the batch is up to date",
        "a batch of a query was used after its loop, and rows of its table were removed or moved since; use a "
        "batch in the function that it is given to");
}

}  // namespace shoal
#endif
