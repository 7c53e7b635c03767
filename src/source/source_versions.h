#pragma once
// The component type versions that the texts of a composition are written for.

#include "shoal/base/text.h"
#include "shoal/source/compiler.h"

#include <map>
#include <vector>

namespace shoal {

/// A text is written for the versions that its file declares. If the file does not declare a version of a component
/// type, the text is written for the oldest version whose schema is in the rules. Lifetime: the constructor's arguments
/// outlive this object.
class SourceVersions {
public:
    /// Errors: a file declares an unknown version; reported to `diagnostics`.
    SourceVersions(const Composition& composition, const ComponentRegistry& registry, const SourceRules& rules,
                   Diagnostics& diagnostics)
        : registry_(registry), rules_(rules) {
        for (const SourceVersion& said : composition.versions()) read(said, diagnostics);
    }

    /// Returns the schemas of older versions of a component type.
    std::vector<const Schema*> older(const RegisteredComponent& component) const {
        std::vector<const Schema*> schemas;
        for (const Schema& schema : rules_.older_schemas)
            if (registry_.find_current(schema.id()) == &component && schema.version() < component.schema->version())
                schemas.push_back(&schema);
        return schemas;
    }

    /// Returns the version that a file declares for a component type, or `otherwise` if it declares none.
    std::uint32_t version(const RegisteredComponent& component, std::uint32_t file, std::uint32_t otherwise) const {
        const auto said = said_.find({file, &component});
        return said != said_.end() ? said->second : otherwise;
    }

private:
    void read(const SourceVersion& said, Diagnostics& diagnostics) {
        const RegisteredComponent* const component = registry_.find_current(ComponentId(said.type));
        if (component == nullptr || component->schema == nullptr) {
            std::vector<std::string_view> names;
            for (const RegisteredComponent* known : registry_.components()) names.push_back(known->name);
            const int close = closest_text(said.type, names.data(), names.size());
            diagnostics.error(said.position, concat("there is no component type ", quoted(said.type)),
                              close >= 0 ? concat("did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?")
                                         : "give a schema file that declares it");
            return;
        }
        const std::uint32_t newest = component->schema->version();
        const bool is_known = said.version == newest || find(*component, said.version) != nullptr;
        if (is_known)
            said_[{said.position.file, component}] = said.version;
        else
            diagnostics.error(said.position,
                              concat("version ", said.version, " of ", quoted(said.type), " is not known",
                                     said.version > newest ? concat("; the schema has version ", newest) : ""),
                              said.version > newest
                                  ? "give the schema file of the newer version"
                                  : "give the schema file that declared it as an older one: --source-schema FILE");
    }

    const Schema* find(const RegisteredComponent& component, std::uint32_t version) const {
        for (const Schema* schema : older(component))
            if (schema->version() == version) return schema;
        return nullptr;
    }

    const ComponentRegistry& registry_;
    const SourceRules& rules_;
    std::map<std::pair<std::uint32_t, const RegisteredComponent*>, std::uint32_t> said_;  // by file and component type
};

}  // namespace shoal
