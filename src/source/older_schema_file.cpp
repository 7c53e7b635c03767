#include "shoal/base/text.h"
#include "shoal/source/schema_file.h"
#include "source/schema_text.h"

#include <algorithm>
#include <vector>

namespace shoal {
namespace {

/// Returns the reason why an older declaration does not fit the newest one; empty if it fits.
std::string problem_of(const Schema& older, const Schema& newest) {
    if (older.version() > newest.version())
        return concat("version ", older.version(), " of ", quoted(older.name()), " is newer than the newest, ",
                      newest.version());
    if (older.version() < newest.version()) return {};
    const std::string what = difference(older, newest);
    return what.empty()
               ? what
               : concat("version ", older.version(), " of ", quoted(older.name()), " is the newest, but ", what);
}

}  // namespace

bool read_older_schema_text(std::uint32_t file, const ComponentRegistry& registry, SourceRules& rules,
                            Diagnostics& diagnostics) {
    ComponentRegistry declared;
    SourceRules unused;
    if (!read_schema_text(file, declared, unused, diagnostics)) return false;
    const std::size_t errors = diagnostics.num_errors();
    std::vector<Schema> added;
    for (const SourceRules::Declaration& declaration : unused.declarations) {
        const Schema& older = *declared.find(declaration.component)->schema;
        const RegisteredComponent* const known = registry.find_current(older.id());
        if (known == nullptr || known->schema == nullptr) continue;  // it is an error if a source has the component
        std::string problem = problem_of(older, *known->schema);
        bool is_new = older.version() < known->schema->version();
        for (const Schema& other : rules.older_schemas) {
            if (registry.find_current(other.id()) != known || other.version() != older.version()) continue;
            is_new = false;
            if (const std::string what = difference(older, other); !what.empty())
                problem = concat("version ", older.version(), " of ", quoted(older.name()),
                                 " is given twice, but differently: ", what);
        }
        if (!problem.empty())
            diagnostics.error(declaration.position, std::move(problem),
                              "each change of the fields needs a higher `version` and its own file");
        else if (is_new)
            added.push_back(older);
    }
    if (diagnostics.num_errors() != errors) return false;
    rules.older_schemas.insert(rules.older_schemas.end(), added.begin(), added.end());
    return true;
}

bool read_older_schema_file(const std::string& path, const ComponentRegistry& registry, SourceRules& rules,
                            Diagnostics& diagnostics, SourceFiles* files) {
    DiskFiles disk;
    Result<std::string> text = (files == nullptr ? disk : *files).read(path);
    if (text)
        return read_older_schema_text(diagnostics.add_file(path, std::move(text).value()), registry, rules,
                                      diagnostics);
    diagnostics.error({}, std::string(text.message()), "give the path of a schema file of older versions");
    return false;
}

}  // namespace shoal
