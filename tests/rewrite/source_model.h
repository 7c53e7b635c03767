#pragma once
// A naive model of what sources say, and texts that say it in many ways, for the tests of differences and merges.

#include "shoal/base/text.h"
#include "shoal/rewrite/detail/source_tree.h"
#include "support/testing.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace shoal_test {

using namespace shoal;

/// What a source says of an entity. Keys are made of the path, so that no two entities have one key.
struct ModelEntity {
    std::map<std::string, std::string> members;                                      // key -> value as SJSON
    std::map<std::string, std::map<std::string, std::map<std::string, int>>> parts;  // place -> component -> field
    std::set<std::string> deleted;                                                   // components
    std::map<std::string, ModelEntity> children;
};

/// A level of entities.
struct SourceModel {
    std::map<std::string, ModelEntity> entities;
};

inline void add_lines(const std::string& path, const ModelEntity& entity, std::set<std::string>& lines) {
    lines.insert(path);
    for (const auto& [key, value] : entity.members) lines.insert(concat(path, ' ', key, " = ", value));
    for (const auto& [place, components] : entity.parts)
        for (const auto& [name, fields] : components) {
            lines.insert(concat(path, ' ', place, '.', name));
            for (const auto& [field, value] : fields)
                lines.insert(concat(path, ' ', place, '.', name, '.', field, " = ", value));
        }
    for (const std::string& name : entity.deleted) lines.insert(concat(path, " deleted_components.", name));
    for (const auto& [key, child] : entity.children) add_lines(concat(path, '/', key), child, lines);
}

/// Returns a line for each value, as canonical_lines() does.
inline std::set<std::string> lines_of(const SourceModel& model) {
    std::set<std::string> lines{"the level"};
    for (const auto& [key, entity] : model.entities) add_lines(key, entity, lines);
    return lines;
}

inline std::string text_of(const std::set<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) append_text(text, concat(line, '\n'));
    return text;
}

/// Invents models, changes them, and writes them down in an order and in forms of its own.
class ModelAuthor {
public:
    explicit ModelAuthor(Random& random) : random_(random) {}

    SourceModel invent() {
        SourceModel model;
        invent_children(model.entities, "e", 0);
        return model;
    }

    /// Changes a few things.
    SourceModel change(SourceModel model) {
        for (int i = 1 + below(4); i > 0; --i) change_one(model.entities, "e", 0);
        return model;
    }

    std::string write(const SourceModel& model) {
        std::string text;
        write_entities(text, chance(50) ? "entities" : "units", model.entities, 0);
        return text;
    }

private:
    int below(int count) { return static_cast<int>(random_.below(static_cast<std::uint32_t>(count))); }
    bool chance(int percent) { return below(100) < percent; }

    ModelEntity invent_entity(const std::string& key, int depth) {
        ModelEntity entity;
        for (int i = below(6); i > 0; --i) change_part(entity);
        if (depth < 2) invent_children(entity.children, key, depth + 1);
        return entity;
    }
    void invent_children(std::map<std::string, ModelEntity>& children, const std::string& key, int depth) {
        for (int i = below(4); i > 0; --i) {
            const std::string name = concat(key, below(4));
            children[name] = invent_entity(name, depth);
        }
    }
    void change_part(ModelEntity& entity) {
        const std::string component = concat("part", below(3));
        auto& components = entity.parts[chance(50) ? "components" : "modified_components"];
        switch (below(8)) {
            case 0:
                entity.members["prefab"] = concat("\"p", below(3), '"');
                return;
            case 1:
                entity.members["name"] = concat("\"n", below(3), '"');
                return;
            case 2:
                entity.members.clear();
                return;
            case 3:
                components.erase(component);
                return;
            case 4:
                entity.deleted.insert(component);
                return;
            case 5:
                entity.deleted.erase(component);
                return;
            default:
                components[component][concat("field", below(3))] = below(3);
                return;
        }
    }
    void change_one(std::map<std::string, ModelEntity>& entities, const std::string& key, int depth) {
        const std::string name = concat(key, below(4));
        const auto at = entities.find(name);
        if (at == entities.end() || chance(10)) {
            if (chance(70))
                entities[name] = invent_entity(name, depth);
            else
                entities.erase(name);
        } else if (depth < 2 && chance(50)) {
            change_one(at->second.children, name, depth + 1);
        } else {
            change_part(at->second);
        }
    }

    template <class T>
    std::vector<std::pair<std::string, T>> shuffled(const std::map<std::string, T>& map) {
        std::vector<std::pair<std::string, T>> all(map.begin(), map.end());
        for (std::size_t i = all.size(); i > 1; --i)
            std::swap(all[i - 1], all[random_.below(static_cast<std::uint32_t>(i))]);
        return all;
    }
    void line(std::string& text, int depth, const std::string& words) {
        if (chance(10))
            append_text(text, concat(std::string(static_cast<std::size_t>(depth), '\t'), "// about ", depth, '\n'));
        append_text(text, concat(std::string(static_cast<std::size_t>(depth), '\t'), words, '\n'));
    }

    void write_entities(std::string& text, const std::string& place, const std::map<std::string, ModelEntity>& entities,
                        int depth) {
        if (entities.empty() && depth > 0 && chance(80)) return;
        const bool is_list = chance(50);
        line(text, depth, concat(place, is_list ? " = [" : " = {"));
        for (const auto& [key, entity] : shuffled(entities)) {
            line(text, depth + 1, is_list ? "{" : concat(key, " = {"));
            if (is_list) line(text, depth + 2, concat(chance(50) ? "_guid" : "id", " = \"", key, '"'));
            write_entity(text, entity, depth + 2);
            line(text, depth + 1, "}");
        }
        line(text, depth, is_list ? "]" : "}");
    }
    bool fits_short_form(const ModelEntity& entity) {
        const auto modified = entity.parts.find("modified_components");
        return entity.children.empty() && entity.deleted.empty() && entity.members.count("prefab") == 0 &&
               (modified == entity.parts.end() || modified->second.empty());
    }
    void write_entity(std::string& text, const ModelEntity& entity, int depth) {
        for (const auto& [key, value] : shuffled(entity.members)) line(text, depth, concat(key, " = ", value));
        if (fits_short_form(entity) && chance(50)) {
            for (const auto& [place, components] : entity.parts)
                for (const auto& [name, fields] : shuffled(components))
                    line(text, depth, concat(name, " = ", fields_text(fields)));
            return;
        }
        for (const auto& [place, components] : shuffled(entity.parts)) write_components(text, place, components, depth);
        if (!entity.deleted.empty()) {
            std::string keys;
            for (const std::string& key : entity.deleted) append_text(keys, concat(" \"", key, '"'));
            line(text, depth, concat("deleted_components = [", keys, " ]"));
        }
        write_entities(text, "children", entity.children, depth);
    }
    std::string fields_text(const std::map<std::string, int>& fields) {
        if (fields.empty() && chance(50)) return "null";
        std::string text = "{";
        for (const auto& [field, value] : shuffled(fields)) append_text(text, concat(' ', field, " = ", value));
        return text + " }";
    }
    void write_components(std::string& text, const std::string& place,
                          const std::map<std::string, std::map<std::string, int>>& components, int depth) {
        const bool is_list = chance(40);
        line(text, depth, concat(place, is_list ? " = [" : " = {"));
        for (const auto& [name, fields] : shuffled(components)) {
            const std::string key = is_list ? concat("_guid = \"", name, '"') : std::string();
            const std::string type =
                place == "components" && (is_list || chance(20)) ? concat(" _type = \"", name, '"') : "";
            const std::string start = is_list ? std::string() : concat(name, " = ");
            if (!key.empty() || !type.empty() || chance(30))
                line(text, depth + 1, concat(start, "{ ", key, type, " data = ", fields_text(fields), " }"));
            else
                line(text, depth + 1, concat(start, fields_text(fields)));
        }
        line(text, depth, is_list ? "]" : "}");
    }

    Random& random_;
};

/// Reads a text; the messages are in `diagnostics`.
inline std::optional<SourceTree> tree_of(const std::string& text, Diagnostics& diagnostics,
                                         const std::string& name = "test.sjson") {
    return read_source_tree(diagnostics.add_file(name, text), diagnostics);
}

}  // namespace shoal_test
