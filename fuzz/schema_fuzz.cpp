// Fuzzes schema files. A text declares component types that compile, or produces diagnostics and adds nothing.
#include "shoal/source/schema_file.h"

#include <cstdlib>
#include <string_view>

using namespace shoal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Diagnostics diagnostics;
    ComponentRegistry registry;
    SourceRules rules;
    const std::uint32_t file = diagnostics.refer_file("schemas", {reinterpret_cast<const char*>(data), size});
    const bool read = read_schema_text(file, registry, rules, diagnostics);
    if (read != (diagnostics.num_errors() == 0)) std::abort();
    if (!read && !registry.components().empty()) std::abort();
    for (const RegisteredComponent* component : registry.components())
        if (component->schema != nullptr) static_cast<void>(component->schema->to_text());
    static_cast<void>(diagnostics.format());
    return 0;
}
