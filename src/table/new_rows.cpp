#include "shoal/table/detail/new_rows.h"

#include "shoal/base/assert.h"
#include "shoal/base/text.h"

namespace shoal {

void NewRows::refuse(const Schema& component) const {
    std::string named;
    for (const Component& one : components_) named += concat(named.empty() ? "\"" : ", \"", one.schema->name(), '"');
    const std::string message = concat("a column of \"", component.name(), "\" was asked of new rows that have ", named,
                                       "; name the component type in the call that makes them");
    fail_assertion({"the new rows have the component", message.c_str(), __FILE__, __LINE__});
}

}  // namespace shoal
