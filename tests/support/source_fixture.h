#pragma once
// Sources in memory, a few component types, and what comes out, for tests of sources.

#include "shoal/base/text.h"
#include "shoal/document/sjson.h"
#include "shoal/source/compiler.h"
#include "shoal/source/schema_file.h"
#include "support/testing.h"

#include <map>
#include <string>
#include <vector>

namespace shoal_test {

using namespace shoal;

/// Returns a tree on one line: {a=1 b=[1 2]}.
inline std::string flat_text(Node node) {
    if (node.is_null()) return "null";
    if (node.is_bool()) return node.as_bool() ? "true" : "false";
    if (node.is_number()) return concat(node.as_double());
    if (node.is_string()) return std::string(node.as_string());
    std::string result = node.is_list() ? "[" : "{";
    for (const Node child : node)
        append_text(result, concat(result.size() == 1 ? "" : " ", child.has_key() ? concat(child.key(), '=') : "",
                                   flat_text(child)));
    return result + (node.is_list() ? "]" : "}");
}

class SourceTest : public ::testing::Test {
protected:
    SourceTest() { options.compose.files = &files; }

    void file(const std::string& path, const std::string& text) { files.add(path, text); }

    void schema(const std::string& text) {
        const std::uint32_t number = diagnostics.add_file("test.schema.sjson", text);
        ASSERT_TRUE(read_schema_text(number, registry, options.rules, diagnostics)) << diagnostics.format();
    }
    /// Returns the messages of a schema file that is wrong.
    std::string schema_errors(const std::string& text) {
        const std::string before = diagnostics.format();
        const std::uint32_t number = diagnostics.add_file("test.schema.sjson", text);
        EXPECT_FALSE(read_schema_text(number, registry, options.rules, diagnostics));
        return messages_since(before);
    }
    /// The messages behind those that there were before: a test that looks for one finds no older one.
    std::string messages_since(const std::string& before) const {
        const std::string all = diagnostics.format();
        return all.starts_with(before) ? all.substr(before.size()) : all;
    }

    std::optional<Composition> composed(const std::string& path) {
        ComposeOptions composing = options.compose;
        composing.ignored_keys = options.rules.ignored_keys;
        composing.keep_unknown_keys = options.rules.keep_unknown_fields;
        composing.renamed_keys = options.rules.renamed_keys;
        composing.level_entities = options.rules.level_entities;
        return compose(path, composing, diagnostics);
    }

    /// Returns the composed entities as text: one line per entity `path "name" key:type{fields} ...`.
    std::string outline(const std::string& path) {
        const std::optional<Composition> composition = composed(path);
        if (!composition) return "nothing\n";
        std::string result;
        std::vector<std::string> paths;
        for (const ComposedEntity& composed : composition->entities()) {
            const MergedEntity& entity = *composed.entity;
            paths.push_back((composed.parent == kNoBlobEntity ? "" : paths[composed.parent] + "/") +
                            std::string(entity.key));
            EXPECT_EQ(composed.guid, hash_text(paths.back()));
            append_text(result, paths.back());
            if (!entity.name.empty()) append_text(result, concat(" \"", entity.name, '"'));
            for (const MergedComponent& component : entity.components) {
                const Document merged = merge_layers(*component.top);
                append_text(result, concat(' ', component.key));
                if (component.key != composition->types()[component.type])
                    append_text(result, concat(':', composition->types()[component.type]));
                append_text(result, flat_text(merged.root()));
            }
            result.push_back('\n');
        }
        return result;
    }

    Result<CompiledSource> compiled(const std::string& path) {
        return compile_source(path, registry, options, diagnostics);
    }

    /// Compiles what must fail and returns the messages.
    std::string errors(const std::string& path) {
        const std::string before = diagnostics.format();
        EXPECT_FALSE(compiled(path).ok());
        return messages_since(before);
    }

    MemoryFiles files;
    ComponentRegistry registry;
    CompileOptions options;
    Diagnostics diagnostics;
};

}  // namespace shoal_test
