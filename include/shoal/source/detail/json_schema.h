#pragma once
// A JSON Schema of sources, which editors use to complete and check sources in JSON and YAML.
//
//     SourceRules rules;  // of schema files
//     const Document schema = json_schema(registry, rules);
//     const std::string text = write_source_text(schema.root(), SourceFormat::kJson, Diagnostics(), SourceComments());
//
// It declares draft 2020-12, but uses only draft 7 and `$defs`. Every source that compiles is valid against the schema,
// in whatever form it is written. A valid source may still have errors, because the schema does not check prefabs,
// references, or whether a change names a component that the prefab has. The fields of component types with a compile
// function of the program are not checked.
// Thread: any.

#include "shoal/document/detail/document.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/source/detail/source_rules.h"
#include "shoal/table/detail/value_text.h"

namespace shoal {

/// Returns the schema of sources with the component types of `registry`. `names` has the texts of string ids in
/// defaults.
SHOAL_API Document json_schema(const ComponentRegistry& registry, const SourceRules& rules,
                               const ValueNames& names = PlainNames());

}  // namespace shoal
