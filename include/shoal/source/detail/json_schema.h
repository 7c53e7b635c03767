#pragma once
// A JSON Schema for sources, which editors use to complete and check JSON and YAML sources.
//
//     SourceRules rules;  // of schema files
//     const Document schema = json_schema(registry, rules);
//     const std::string text = write_source_text(schema.root(), SourceFormat::kJson, Diagnostics(), SourceComments());
//
// It declares draft 2020-12, but uses only draft 7 and `$defs`. Every source that compiles is valid against the schema,
// in whatever form it is written. A valid source may still have errors, because the schema does not check prefabs,
// references, or whether modified components exist. It does not check the fields of a component type for which the
// program registered a compile function.
// Thread: any.

#include "shoal/document/detail/document.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/source/detail/source_rules.h"
#include "shoal/table/detail/value_text.h"

namespace shoal {

/// Returns the schema for sources that use the component types in `registry`. `names` resolves the string ids in
/// defaults.
SHOAL_API Document json_schema(const ComponentRegistry& registry, const SourceRules& rules,
                               const ValueNames& names = PlainNames());

}  // namespace shoal
