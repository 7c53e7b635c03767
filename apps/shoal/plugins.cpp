#include "plugins.h"

#include "shoal/base/text.h"
#include "shoal/resource/detail/registry.h"
#include "sources.h"
#include "verbs.h"

#include <vector>

namespace shoal_tool {

using namespace shoal;

Status check_plugin_paths(std::span<const std::string> paths) {
    for (const std::string& path : paths)
        if (is_standard_stream(path)) return Status::error("--plugin needs a file, not standard input");
    return {};
}

Status LoadedPlugins::load(std::span<const std::string> paths, const ComponentRegistry& known) {
    if (Status status = make_managers(world_, known); !status) return status;
    for (const std::string& path : paths)
        if (Status status = plugins_.load(path); !status) return status;
    for (std::size_t i = 0; i < plugins_.num_verbs(); ++i)
        if (const std::string_view name = plugins_.verb(i).name; shoal_tool::find_verb(name) != nullptr)
            return Status::error(concat("a plugin has a verb ", quoted(name), ", which is one of the tool"));
    return {};
}

std::optional<std::size_t> LoadedPlugins::find_verb(std::string_view name) const {
    for (std::size_t i = 0; i < plugins_.num_verbs(); ++i)
        if (plugins_.verb(i).name == name) return i;
    return std::nullopt;
}

std::string LoadedPlugins::list_of_verbs() const {
    std::string text;
    for (std::size_t i = 0; i < plugins_.num_verbs(); ++i) {
        const PluginVerbInfo verb = plugins_.verb(i);
        const std::string name = utf8_text(verb.name);
        text += concat(text.empty() ? "\nverbs of plugins:\n" : "", "  ", name,
                       std::string(name.size() < 12 ? 14 - name.size() : 2, ' '), utf8_text(verb.summary), "\n");
    }
    return text;
}

std::string LoadedPlugins::manual_of_verb(std::size_t number) const {
    const PluginVerbInfo verb = plugins_.verb(number);
    return concat("shoal ", utf8_text(verb.name), ": ", utf8_text(verb.summary),
                  "\n\nusage:\n  shoal --plugin FILE.so ", utf8_text(verb.name), verb.operands.empty() ? "" : " ",
                  utf8_text(verb.operands), "\n");
}

int LoadedPlugins::run_verb(std::size_t verb, std::span<const std::string_view> words, Console& console) {
    const std::vector<std::string> given(words.begin(), words.end());
    const Status status = plugins_.run_verb(
        verb, given,
        [](void* to, std::string_view text) { static_cast<Console*>(to)->print_out(utf8_text(std::string(text))); },
        &console);
    return status ? 0 : fail(console, status.message());
}

}  // namespace shoal_tool
