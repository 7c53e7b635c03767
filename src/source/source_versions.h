#pragma once
// For which versions of component types the texts of a composition are written.

#include "shoal/source/compiler.h"

#include <map>
#include <vector>

namespace shoal {

/// A text is written for the versions that its file says, otherwise for the oldest ones that the rules have schemas of.
/// Lifetime: what it is made with outlives it.
class SourceVersions {
public:
    /// Errors: a file says a version that nobody knows; reported.
    SourceVersions(const Composition& composition, const ComponentRegistry& registry, const SourceRules& rules,
                   Diagnostics& diagnostics);

    /// Returns the schemas of older versions of a component type.
    std::vector<const Schema*> older(const RegisteredComponent& component) const;
    /// Returns the version of a component type that a file says, or `otherwise`.
    std::uint32_t version(const RegisteredComponent& component, std::uint32_t file, std::uint32_t otherwise) const;

private:
    const Schema* find(const RegisteredComponent& component, std::uint32_t version) const;
    void read(const SourceVersion& said, Diagnostics& diagnostics);

    const ComponentRegistry& registry_;
    const SourceRules& rules_;
    std::map<std::pair<std::uint32_t, const RegisteredComponent*>, std::uint32_t> said_;  // by file and component type
};

}  // namespace shoal
