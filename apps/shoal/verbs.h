#pragma once
// The verbs of the tool. Each is defined in its own file.

#include "arguments.h"

namespace shoal_tool {

extern const Verb kCompileVerb;
extern const Verb kCheckVerb;
extern const Verb kFormatVerb;
extern const Verb kConvertVerb;
extern const Verb kDumpVerb;
extern const Verb kSchemaVerb;
extern const Verb kDiffVerb;
extern const Verb kMergeVerb;
extern const Verb kImportVerb;
extern const Verb kRunVerb;
extern const Verb kReplayVerb;
extern const Verb kInspectVerb;
extern const Verb kSqlVerb;
extern const Verb kReportVerb;
extern const Verb kCompletionVerb;
extern const Verb kHelpVerb;

/// Returns the verb with this name, or nullptr.
const Verb* find_verb(std::string_view name);
/// Returns a suggestion such as `; did you mean "compile"?`, or an empty string.
std::string suggest_verb(std::string_view name);

/// Return the manual of a verb, and of the tool.
std::string manual_of(const Verb& verb);
std::string manual_of_tool();
/// Returns all manuals as one man page, for `man -l`.
std::string man_page();

/// The manual of the tool, without its verbs.
struct ToolManual {
    std::string_view title;
    std::string_view examples;  ///< lines
    std::string_view syntax;    ///< paragraphs
    struct Entry {
        std::string_view name, text;
    };
    std::span<const Entry> exit_codes;
    std::span<const Entry> environment;
};
extern const ToolManual kToolManual;

}  // namespace shoal_tool
