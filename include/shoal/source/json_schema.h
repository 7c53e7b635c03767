#pragma once
// A JSON Schema of sources, for editors: they complete and check what is written, in JSON and in YAML.
//
//     SourceRules rules;  // of schema files
//     const Document schema = json_schema(registry, rules);
//     const std::string text = write_source_text(schema.root(), SourceFormat::kJson, Diagnostics(), SourceComments());
//
// It is of draft 2020-12, and needs no more than draft 7 has besides `$defs`. A source that compiles is valid, whatever its
// form; a valid source may still have errors: the schema does not know prefabs, references, or which components of
// prefabs a change means. Fields of component types with a compile function that this room does not know are not checked.
// Thread: any.

#include "shoal/document/document.h"
#include "shoal/resource/registry.h"
#include "shoal/source/source_rules.h"
#include "shoal/table/value_text.h"

namespace shoal {

/// Returns the schema of sources with the component types of `registry`. `names` has the texts of string ids in defaults.
SHOAL_API Document json_schema(const ComponentRegistry& registry, const SourceRules& rules,
                               const ValueNames& names = PlainNames());

}  // namespace shoal
