#pragma once
// A JSON Schema of sources, with which editors complete and check sources in JSON and in YAML.
//
//     SourceRules rules;  // of schema files
//     const Document schema = json_schema(registry, rules);
//     const std::string text = write_source_text(schema.root(), SourceFormat::kJson, Diagnostics(), SourceComments());
//
// It uses draft 2020-12, and nothing beyond draft 7 except `$defs`. Every source that compiles is valid, in any form,
// but a valid source may still have errors: the schema does not know prefabs, references, or which components of
// prefabs a change refers to. Fields of component types with a program's compile function are not checked.
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
