#pragma once
// One verb per file.

#include "arguments.h"

namespace shoal_tool {

extern const Verb kCompileVerb;
extern const Verb kCheckVerb;
extern const Verb kDumpVerb;
extern const Verb kSchemaVerb;
extern const Verb kRunVerb;
extern const Verb kHelpVerb;

/// Returns the verb or nullptr.
const Verb* find_verb(std::string_view name);
/// Returns `; did you mean "compile"?`, or nothing.
std::string suggest_verb(std::string_view name);

/// The manual page of a verb, and that of the tool.
std::string manual_of(const Verb& verb);
std::string manual_of_tool();

}  // namespace shoal_tool
