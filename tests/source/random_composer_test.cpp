// Random prefabs and levels, in random spellings, against a model that copies everything.

#include "support/source_fixture.h"

#include "shoal/base/random.h"
#include "shoal/resource/blob.h"

#include <algorithm>
#include <vector>

namespace shoal_test {
namespace {

/// A field: a number, a list, or a mapping of numbers.
struct Value {
    int kind = 0;
    std::vector<std::pair<std::string, int>> parts;
};
using Fields = std::vector<std::pair<std::string, Value>>;

struct Change {
    std::string key;
    std::string type;  // of a component
    Fields fields;
};

/// An entity as a text says it.
struct Said {
    std::string key;
    int prefab = -1;
    std::vector<Change> components, modified;
    std::vector<std::string> deleted, deleted_children;
    std::vector<Said> children, modified_children;
};

/// An entity as it comes out.
struct Made {
    std::string key;
    std::vector<Change> components;
    std::vector<Made> children;
};

template <class T>
T* find(std::vector<T>& items, const std::string& key) {
    for (T& item : items)
        if (item.key == key) return &item;
    return nullptr;
}

Made* find_deep(std::vector<Made>& children, const std::string& key) {
    if (Made* child = find(children, key)) return child;
    for (Made& child : children)
        if (Made* found = find_deep(child.children, key)) return found;
    return nullptr;
}

bool erase_deep(std::vector<Made>& children, const std::string& key) {
    for (std::size_t i = 0; i < children.size(); ++i)
        if (children[i].key == key) return children.erase(children.begin() + static_cast<std::ptrdiff_t>(i)), true;
    for (Made& child : children)
        if (erase_deep(child.children, key)) return true;
    return false;
}

template <class Pairs, class Merge>
void merge_pairs(Pairs& into, const Pairs& from, Merge merge) {
    for (const auto& [key, value] : from) {
        auto at = into.begin();
        while (at != into.end() && at->first != key) ++at;
        if (at == into.end())
            into.push_back({key, value});
        else
            merge(at->second, value);
    }
}

void merge_fields(Fields& into, const Fields& from) {
    merge_pairs(into, from, [](Value& old, const Value& value) {
        if (old.kind == 2 && value.kind == 2)
            merge_pairs(old.parts, value.parts, [](int& a, int b) { a = b; });
        else
            old = value;
    });
}

void apply(Made& made, const Said& said, const std::vector<Said>& prefabs);

Made make(const Said& said, const std::vector<Said>& prefabs) {
    Made made;
    if (said.prefab >= 0) made = make(prefabs[static_cast<std::size_t>(said.prefab)], prefabs);
    made.key = said.key;
    apply(made, said, prefabs);
    return made;
}

void apply(Made& made, const Said& said, const std::vector<Said>& prefabs) {
    for (const Change& component : said.components) made.components.push_back(component);
    for (const std::string& key : said.deleted)
        std::erase_if(made.components, [&](const Change& c) { return c.key == key; });
    for (const Change& change : said.modified)
        if (Change* component = find(made.components, change.key)) merge_fields(component->fields, change.fields);
    for (const Said& child : said.children) made.children.push_back(make(child, prefabs));
    for (const std::string& key : said.deleted_children) erase_deep(made.children, key);
    for (const Said& change : said.modified_children)
        if (Made* child = find_deep(made.children, change.key)) apply(*child, change, prefabs);
}

/// Writes and invents texts.
class Author {
public:
    Author(Random& random, const std::vector<Said>& prefabs) : random_(random), prefabs_(prefabs) {}

    Said invent(const std::string& key, int depth, int max_prefab) {
        Said said;
        said.key = key;
        if (max_prefab > 0 && chance(60))
            said.prefab = static_cast<int>(random_.below(static_cast<std::uint32_t>(max_prefab)));
        for (int i = below(3); i > 0; --i) said.components.push_back({fresh("c"), concat("t", below(4)), fields()});
        for (int i = depth < 3 ? below(3) : 0; i > 0; --i)
            said.children.push_back(invent(fresh("k"), depth + 1, max_prefab));
        edit(said, make(said, prefabs_), depth);
        return said;
    }

    std::string write(const Said& said, bool with_guid) {
        std::string text = "{ ";
        if (with_guid) append_text(text, concat("_guid = \"", said.key, "\" "));
        if (said.prefab >= 0) append_text(text, concat("prefab = \"p", said.prefab, "\" "));
        if (!said.components.empty()) append_text(text, "components = " + changes(said.components, true));
        if (!said.modified.empty()) append_text(text, "modified_components = " + changes(said.modified, false));
        append_text(text, keys("deleted_components", said.deleted) + keys("deleted_children", said.deleted_children));
        append_text(text, entities("children", said.children) + entities("modified_children", said.modified_children));
        return text + "} ";
    }

private:
    int below(int bound) { return static_cast<int>(random_.below(static_cast<std::uint32_t>(bound))); }
    bool chance(int percent) { return below(100) < percent; }
    std::string fresh(const char* prefix) { return concat(prefix, next_++); }

    Fields fields() {
        Fields result;
        for (int i = below(4); i > 0; --i) {
            const std::string name = concat("f", below(5));
            if (std::any_of(result.begin(), result.end(), [&](const auto& field) { return field.first == name; }))
                continue;
            Value value{below(3), {}};
            const int count = value.kind == 0 ? 1 : below(3);
            for (int j = 0; j < count; ++j)
                value.parts.push_back({concat("n", value.kind == 2 ? j * 2 + below(2) : j), below(100)});
            result.push_back({name, value});
        }
        return result;
    }

    /// Adds edits of what is there, and now and then of what is not.
    void edit(Said& said, const Made& made, int depth) {
        for (const Change& component : made.components) {
            if (chance(20)) said.deleted.push_back(component.key);
            if (chance(40)) said.modified.push_back({component.key, component.type, fields()});
        }
        if (chance(10)) said.modified.push_back({"stale", "t0", fields()});
        std::vector<std::string> keys;
        collect(made.children, keys);
        for (const std::string& key : keys) {
            if (chance(10)) said.deleted_children.push_back(key);
            if (depth > 4 || !chance(20)) continue;
            Said change;
            change.key = key;
            std::vector<Made> children = made.children;
            edit(change, *find_deep(children, key), depth + 2);
            if (chance(30)) change.components.push_back({fresh("c"), "t1", fields()});
            if (chance(30)) change.children.push_back(invent(fresh("k"), 4, 0));
            said.modified_children.push_back(change);
        }
    }

    static void collect(const std::vector<Made>& children, std::vector<std::string>& keys) {
        for (const Made& child : children) {
            if (std::find(keys.begin(), keys.end(), child.key) == keys.end()) keys.push_back(child.key);
            collect(child.children, keys);
        }
    }

    static std::string field_text(const Fields& fields) {
        std::string text = "{ ";
        for (const auto& [name, value] : fields) {
            append_text(text, concat(name, " = ", value.kind == 0 ? "" : value.kind == 1 ? "[ " : "{ "));
            for (const auto& [part, number] : value.parts)
                append_text(text, concat(value.kind == 2 ? concat(part, " = ") : "", number, ' '));
            append_text(text, value.kind == 0 ? "" : value.kind == 1 ? "] " : "} ");
        }
        return text + "} ";
    }

    std::string changes(const std::vector<Change>& items, bool declares) {
        const bool is_list = chance(50);
        std::string text = is_list ? "[ " : "{ ";
        for (const Change& item : items) {
            const bool wrapped = chance(50);
            if (!is_list) append_text(text, concat(chance(50) ? "#" : "", item.key, " = "));
            append_text(text, "{ ");
            if (is_list) append_text(text, concat("_guid = \"", item.key, "\" "));
            if (declares || (wrapped && chance(50)))
                append_text(text, concat(chance(50) ? "_type" : "type", " = \"", item.type, "\" "));
            const std::string fields = field_text(item.fields);
            append_text(text, wrapped ? "data = " + fields : fields.substr(1, fields.size() - 3));
            append_text(text, " } ");
        }
        return text + (is_list ? "] " : "} ");
    }

    std::string keys(std::string_view name, const std::vector<std::string>& items) {
        if (items.empty()) return {};
        const int spelling = below(3);
        std::string text = concat(name, spelling == 0 ? " = { " : " = [ ");
        for (const std::string& item : items)
            append_text(text, spelling == 0   ? concat('#', item, " = false ")
                              : spelling == 1 ? concat("\"", item, "\" ")
                                              : concat("{ id = \"", item, "\" } "));
        return text + (spelling == 0 ? "} " : "] ");
    }

    std::string entities(std::string_view name, const std::vector<Said>& items) {
        if (items.empty()) return {};
        const bool is_list = chance(50);
        std::string text = concat(name, is_list ? " = [ " : " = { ");
        for (const Said& item : items)
            append_text(text, concat(chance(30) ? "\n\n" : "", is_list ? std::string() : concat('#', item.key, " = "),
                                     write(item, is_list)));
        return text + (is_list ? "] " : "} ");
    }

    Random& random_;
    const std::vector<Said>& prefabs_;
    int next_ = 0;
};

void outline_of(const Made& made, const std::string& path, std::string& text) {
    append_text(text, path);
    for (const Change& component : made.components) {
        append_text(text, concat(' ', component.key, ':', component.type, '{'));
        for (std::size_t i = 0; i < component.fields.size(); ++i) {
            const auto& [name, value] = component.fields[i];
            append_text(text, concat(i == 0 ? "" : " ", name, '=', value.kind == 0 ? "" : value.kind == 1 ? "[" : "{"));
            for (std::size_t j = 0; j < value.parts.size(); ++j)
                append_text(text, concat(j == 0 ? "" : " ", value.kind == 2 ? concat(value.parts[j].first, '=') : "",
                                         value.parts[j].second));
            append_text(text, value.kind == 0 ? "" : value.kind == 1 ? "]" : "}");
        }
        text.push_back('}');
    }
    text.push_back('\n');
    for (const Made& child : made.children) outline_of(child, path + "/" + child.key, text);
}

TEST(RandomComposer, composes_what_a_naive_model_composes) {  // req: G1 G2
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const std::int64_t rounds = scaled_operations(2000);
    for (std::int64_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE(round);
        std::vector<Said> prefabs;
        Author author(random, prefabs);
        const int num_prefabs = 1 + static_cast<int>(random.below(5));
        MemoryFiles files;
        for (int i = 0; i < num_prefabs; ++i) {
            Said prefab = author.invent(concat("root", i), 0, i);
            files.add(concat("p", i, ".sjson"), author.write(prefab, true));
            prefabs.push_back(std::move(prefab));
        }
        std::string expected, level = "entities = [ ";
        for (int i = 0; i < 3; ++i) {
            const Said entity = author.invent(concat("e", i), 0, num_prefabs);
            append_text(level, author.write(entity, true) + '\n');
            outline_of(make(entity, prefabs), entity.key, expected);
        }
        files.add("level.sjson", level + "]");

        ComposeOptions options;
        options.files = &files;
        Diagnostics diagnostics;
        const std::optional<Composition> composition = compose("level.sjson", options, diagnostics);
        ASSERT_TRUE(composition && diagnostics.num_errors() == 0) << level << "\n" << diagnostics.format();
        std::string text;
        std::vector<std::string> paths;
        for (const ComposedEntity& entity : composition->entities()) {
            paths.push_back((entity.parent == kNoBlobEntity ? "" : paths[entity.parent] + "/") +
                            std::string(entity.entity->key));
            append_text(text, paths.back());
            for (const MergedComponent& component : entity.entity->components)
                append_text(text, concat(' ', component.key, ':', composition->types()[component.type],
                                         flat_text(merge_layers(*component.top).root())));
            text.push_back('\n');
        }
        ASSERT_EQ(text, expected) << level;

        CompileOptions compiling;
        compiling.compose.files = &files;
        compiling.rules.keep_unknown_components = true;
        const Result<CompiledSource> compiled =
            compile_source("level.sjson", ComponentRegistry(), compiling, diagnostics);
        ASSERT_TRUE(compiled) << diagnostics.format();
        const Result<Blob> blob = Blob::load(compiled->blob);
        ASSERT_TRUE(blob && blob->num_entities() == paths.size());
        for (std::size_t i = 0; i < paths.size(); ++i) {
            const ComposedEntity& entity = composition->entities()[i];
            const std::uint32_t found = blob->find_guid(entity.guid);
            ASSERT_NE(found, kNoBlobEntity) << paths[i];
            ASSERT_EQ(blob->source_line(found), diagnostics.locate(entity.entity->position).line) << paths[i] << '\n'
                                                                                                  << level;
            ASSERT_EQ(blob->source_file(found), diagnostics.name(entity.entity->position.file)) << paths[i];
            ASSERT_EQ(blob->parents()[found], entity.parent == kNoBlobEntity
                                                  ? kNoBlobEntity
                                                  : blob->find_guid(composition->entities()[entity.parent].guid));
        }
    }
}

}  // namespace
}  // namespace shoal_test
