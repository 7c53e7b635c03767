#include "shoal/source/detail/composer.h"

#include "shoal/base/detail/hash_map.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/source/detail/source_grammar.h"
#include "source/arena.h"
#include "source/child_editor.h"
#include "source/compile_tree.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

namespace shoal {
namespace {

/// The values of an entity's keys; none for missing keys.
struct EntityText {
    /// A key that is an alias of a component's field.
    struct Field {
        Node node;
        std::string_view component, field;
    };

    Node keys[std::size(kSourceKeys)];
    std::vector<Node> others;      ///< unknown keys to keep
    std::vector<Field> fields;     ///< in text order
    std::vector<Node> components;  ///< components of a short-form entity, which has no `components` key
    Node operator[](SourceKey key) const { return keys[static_cast<std::size_t>(key)]; }
};

constexpr std::string_view kHintForLinks =
    "give the folder that it leads to as a root, put the file into one, or follow links (--follow-links)";
constexpr std::size_t kMaxComponentsPerEntity = 1024;
constexpr std::uint16_t kMaxLayers = 1024;
constexpr int kMostSuggestions = 100;  // limit per source, because comparing a name with many others is slow

/// The maximum number of children that a composition may visit in searches for the targets of changes. It is a few
/// times the limit on entities, and is exceeded if many prefabs change descendants of large prefabs.
constexpr std::uint64_t kSearchStepsPerEntity = 8, kLeastSearchSteps = std::uint64_t(1) << 20;

/// Fills in a layer whose text is a value, or a mapping with only fields as keys.
void set_fields(ComponentLayer& layer, Node value) {
    layer.value = layer.fields = value;
    layer.consumed_keys = consumed_bit(SourceKey::kData);
    layer.has_other_keys = false;
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

bool contains(const std::vector<std::string>& texts, std::string_view text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// Whether `editor` contains only a name.
bool is_only_name(Node editor) {
    if (editor.is_null()) return true;
    return editor.is_mapping() && editor.size() == (editor.find("name") ? 1u : 0u);
}

/// Makes the mapping for a component whose text uses aliases of fields.
class RenamedFields {
public:
    RenamedFields(SourcePosition position, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
        builder_.begin_mapping(position);
    }

    void add(std::string_view name, Node child) {
        if (const auto [other, is_new] = names_.insert(name, child); !is_new) {
            diagnostics_
                .error(child.key_position(),
                       concat("the field ", quoted(name), " is given twice: as ", quoted(other->key()), " and as ",
                              quoted(child.key())),
                       "remove one of them")
                .note(other->key_position(), "the other is here");
            return;
        }
        builder_.key(name, child.key_position());
        builder_.value(child);
    }
    Document finish() {
        builder_.end();
        return builder_.finish();
    }

private:
    Diagnostics& diagnostics_;
    DocumentBuilder builder_;
    HashMap<std::string_view, Node> names_{Owner("composer")};
};

/// The folders that resource names are relative to.
class SourceRoots {
public:
    /// The location where a resource was found.
    struct FoundSource {
        std::string path;
        std::string name;     ///< see SourceDependency::name
        std::string outside;  ///< the real location if it is outside all roots; otherwise empty
    };

    explicit SourceRoots(const ComposeOptions& options)
        : files_(options.files == nullptr ? disk_ : *options.files),
          roots_(options.roots),
          follow_links_(options.follow_links) {}

    SourceFiles& files() { return files_; }
    /// If no roots are given for a source, makes `root` the only one.
    void set_default(std::string root) {
        if (roots_.empty()) roots_.push_back(std::move(root));
    }

    /// Returns the name that dependencies use for a source. A path inside a root keeps its name even if it is a link,
    /// because the target of the link may change.
    std::string name_of(const std::string& path) const {
        for (std::size_t root = 0; root < roots_.size() && path.find("..") == std::string::npos; ++root) {
            const std::string probe = path_in_root(roots_[root], "_");
            const std::string_view folder = std::string_view(probe).substr(0, probe.size() - 1);
            if (!folder.empty() && folder != "/" && path.size() > folder.size() && path.starts_with(folder))
                return name_in_root(root, path.substr(folder.size()));
            if (folder.empty() && path.find('/') == std::string::npos) return name_in_root(root, path);
        }
        const std::string canonical = files_.canonical(path);
        for (std::size_t root = 0; root < roots_.size(); ++root)
            if (const std::string_view name = in_root(root, canonical); !name.empty()) return name_in_root(root, name);
        return std::string(last_part(path));
    }

    /// Searches for a resource in all roots, and records which files were found and which were missing. Errors: the
    /// resource was not found; `hint` lists the places that were searched.
    std::optional<FoundSource> find(std::string_view name, std::vector<SourceDependency>& dependencies,
                                    std::string& hint) const {
        std::vector<std::string> tries;
        if (last_part(name).find('.') != std::string_view::npos) tries.emplace_back(name);
        for (const std::string_view extension : kSourceExtensions) tries.push_back(concat(name, extension));
        std::string tried;
        for (std::size_t root = 0; root < roots_.size(); ++root)
            for (const std::string& relative : tries) {
                FoundSource place{path_in_root(roots_[root], relative), name_in_root(root, relative), {}};
                const bool exists = files_.exists(place.path);
                dependencies.push_back(
                    {exists ? DependencyKind::kMustExist : DependencyKind::kMustNotExist, place.path, place.name, 0});
                if (exists) place.outside = outside(place.path);
                if (exists) return place;
                if (relative == tries.front()) append_text(tried, concat(tried.empty() ? "" : ", ", place.path));
            }
        std::string endings;
        for (std::size_t i = 1; i < tries.size(); ++i)
            append_text(endings, concat(endings.empty() ? "" : " ",
                                        std::string_view(tries[i]).substr(without_extension(tries[i]).size())));
        hint = roots_.empty() ? "a text without roots cannot use prefabs; give a root"
                              : concat(did_you_mean(name), "looked for ", tried, " (and ", endings,
                                       "); correct the name or give another root");
        return std::nullopt;
    }

private:
    /// Returns a canonical path relative to a root; empty if the path is not inside the root.
    std::string_view in_root(std::size_t root, std::string_view canonical) const {
        std::string folder = files_.canonical(roots_[root]);
        if (folder == ".") folder.clear();
        if (!folder.empty() && folder.back() != '/') folder.push_back('/');
        const bool is_inside = canonical.size() > folder.size() && canonical.compare(0, folder.size(), folder) == 0;
        return is_inside ? canonical.substr(folder.size()) : std::string_view();
    }

    /// If a link leads to a file outside all roots, returns the file's real path. Otherwise, or if links are followed,
    /// returns an empty string.
    std::string outside(const std::string& path) const {
        if (follow_links_) return {};
        std::string canonical = files_.canonical(path);
        if (canonical == path) return {};  // there is no link, or its target cannot be found
        for (std::size_t root = 0; root < roots_.size(); ++root)
            if (!in_root(root, canonical).empty()) return {};
        return canonical;
    }

    /// Returns a hint that suggests a similar resource name from the same folder; empty if there is none.
    std::string did_you_mean(std::string_view name) const {
        if (++num_suggestions_ > kMostSuggestions) return {};
        const std::string_view folder = name.substr(0, name.size() - last_part(name).size());
        std::vector<std::string> names;
        for (std::size_t root = 0; root < roots_.size(); ++root) {
            const std::string probe = path_in_root(roots_[root], concat(folder, "_"));
            if (!outside(probe).empty()) continue;
            for (const std::string& file : files_.list(folder_of(probe)))
                for (const std::string_view extension : kSourceExtensions)
                    if (file.ends_with(extension))
                        names.push_back(concat(folder, file.substr(0, file.size() - extension.size())));
        }
        const std::vector<std::string_view> candidates(names.begin(), names.end());
        const int close = closest_text(name, candidates.data(), candidates.size());
        return close < 0 ? std::string()
                         : concat("did you mean ", quoted(names[static_cast<std::size_t>(close)]), "? ");
    }

    std::string name_in_root(std::size_t root, std::string_view name) const {
        return roots_.size() == 1 ? std::string(name) : concat('$', root, '/', name);
    }

    DiskFiles disk_;
    SourceFiles& files_;
    std::vector<std::string> roots_;
    bool follow_links_;
    mutable int num_suggestions_ = 0;
};

}  // namespace

struct Composition::Memory {
    Arena arena;
    std::deque<Document> documents;
};

class Composer : private GrammarUser {
public:
    Composer(const ComposeOptions& options, Diagnostics& diagnostics)
        : options_(options),
          diagnostics_(diagnostics),
          roots_(options),
          arena_(result_.memory_->arena),
          grammar_(*this, options.renamed_keys),
          renamed_components_(options.renamed_keys.size()),
          max_search_steps_(std::min(options.max_entities, std::uint64_t(1) << 32) * kSearchStepsPerEntity +
                            kLeastSearchSteps) {}

    std::optional<Composition> compose_path(const std::string& path) {
        if (!is_utf8(path)) {
            diagnostics_.error({}, concat("the path ", quoted(path), " is not UTF-8"), "rename the file or its folder");
            return std::nullopt;
        }
        roots_.set_default(folder_of(path));
        Result<std::string> text = roots_.files().read(path);
        const std::string name = roots_.name_of(path);
        result_.dependencies_.push_back({DependencyKind::kSource, path, name, text ? content_hash(*text) : 0});
        if (!text) {
            diagnostics_.error({}, std::string(text.message()), "give the path of a source");
            return std::nullopt;
        }
        const std::uint32_t file = diagnostics_.add_file(path, std::move(text).value());
        result_.source_names_.emplace_back(file, name);
        prefabs_.emplace_back();
        prefab_by_path_[roots_.files().canonical(path)] = &prefabs_.back();
        prefabs_.back().path = path;
        prefabs_.back().content = result_.dependencies_.back().hash;
        uses_.push_back({std::string(without_extension(name)), {}, &prefabs_.back()});
        return finish(read(file));
    }

    std::optional<Composition> compose_text(std::uint32_t file) {
        const std::string name(diagnostics_.name(file));
        result_.source_names_.emplace_back(file, name);
        prefabs_.emplace_back();
        uses_.push_back({std::string(without_extension(name)), {}, &prefabs_.back()});
        return finish(read(file));
    }

    std::optional<Composition> compose_root(Node root) {
        prefabs_.emplace_back();
        uses_.push_back({{}, {}, &prefabs_.back()});
        return finish(root);
    }

    /// Stores the dependencies for the caller, even if there is no composition.
    std::optional<Composition> keep_dependencies(std::optional<Composition> composition) {
        if (options_.dependencies != nullptr)
            *options_.dependencies = composition ? composition->dependencies_ : std::move(result_.dependencies_);
        return composition;
    }

private:
    struct Prefab {
        enum class State : std::uint8_t { kComposing, kReady, kFailed };
        State state = State::kComposing;
        const MergedEntity* merged = nullptr;
        std::string path;           ///< the path from which the prefab was read
        std::uint64_t content = 0;  ///< content_hash()
    };
    /// A use of a prefab that is being composed: the prefab's name, and the position of that name.
    struct Use {
        std::string name;
        SourcePosition position;
        const Prefab* prefab;
    };
    /// The cached result of looking up a prefab by its name.
    struct NamedPrefab {
        Prefab* prefab = nullptr;  ///< nullptr: not found
        std::string problem;
        std::string hint;
    };
    /// An entity that is being merged with its prefab.
    struct Draft {
        ChildEditor* editor = nullptr;  ///< set while its descendants are being changed
        bool base_failed = false;       ///< the prefab has errors, so changes whose target is missing are not reported
        std::string_view base_name;
    };

    const Document* read(std::uint32_t file) {
        Result<Document> document = read_document(file, diagnostics_, options_.read);
        if (!document) return nullptr;
        result_.memory_->documents.push_back(std::move(*document));
        return &result_.memory_->documents.back();
    }

    std::optional<Composition> finish(const Document* document) {
        return document == nullptr ? std::nullopt : finish(document->root());
    }

    std::optional<Composition> finish(Node root) {
        if (!root.is_mapping()) {
            diagnostics_.error(root.position(), concat("a source is a mapping, this is ", kind_name(root.kind())),
                               root.is_list()
                                   ? "write `entities` before the list, which makes it a level; each element has its "
                                     "key as `id`, and its component types as keys or under `components`"
                                   : "write one entity, or a level with `entities`");
            return std::nullopt;
        }
        file_roots_.push_back(root.position());
        const std::size_t num_errors = diagnostics_.num_errors();
        if (root.size() == 0)
            diagnostics_.warning(root.position(), "the source is empty, and makes one entity without components",
                                 "write `components`, `children` or `prefab`, or a level with `entities`");
        result_.is_level_ = is_level_text(root);
        if (result_.is_level_) {
            compose_level(root);
        } else {
            SourceEntry entry{{}, root.position(), root};
            grammar_.read_key(root, SourceKey::kChildren, entry);
            if (entry.key.empty()) entry.key = ".";
            const MergedEntity* entity = merge(root, entry, nullptr);
            if (entity != nullptr) {
                flatten({&entity, 1});
                check_components(root, {&entity, 1}, num_errors);
            }
        }
        return std::move(result_);
    }

    /// Warns about a source that has content but no components. Does not warn about a level without entities, which may
    /// be new.
    void check_components(Node root, std::span<const MergedEntity* const> entities, std::size_t num_errors) {
        const bool is_new_level = entities.empty() && result_.other_keys_.empty();
        if (root.size() == 0 || is_new_level || diagnostics_.num_errors() != num_errors) return;
        for (const MergedEntity* entity : entities)
            if (entity->num_components != 0) return;
        diagnostics_.warning(root.position(), "the source gives no component",
                             "write `components`, or a `prefab` that has some; keys that are kept as text, ignored or "
                             "deleted again give none");
    }

    // --- prefabs -----------------------------------------------------------------------------------------------------

    NamedPrefab& find_prefab(std::string_view name) {
        const auto [at, is_new] = prefab_by_name_.try_emplace(std::string(name));
        if (!is_new) return at->second;
        NamedPrefab& found = at->second;
        if (const std::string_view problem = resource_name_problem(name); !problem.empty()) {
            found.problem = concat("the prefab name ", quoted(name), " cannot be used: ", problem);
            found.hint = "name a resource by its path inside a root, such as \"reef/coral\"";
        } else if (const auto place = roots_.find(name, result_.dependencies_, found.hint)) {
            if (place->outside.empty()) {
                found.prefab = load_prefab(place->path, place->name);
            } else {
                found.problem =
                    concat("the prefab ", quoted(name), " is a link that leads out of the roots, to ", place->outside);
                found.hint = std::string(kHintForLinks);
            }
        } else {
            found.problem = concat("there is no prefab ", quoted(name));
        }
        return found;
    }

    /// Reads the file that is named at `from`. If it cannot be read, the error has the hint `what`.
    const Document* load(const SourceRoots::FoundSource& place, SourcePosition from, std::string_view what) {
        Result<std::string> text = roots_.files().read(place.path);
        result_.dependencies_.push_back(
            {DependencyKind::kSource, place.path, place.name, text ? content_hash(*text) : 0});
        if (!text) {
            diagnostics_.error(from, std::string(text.message()), std::string(what));
            return nullptr;
        }
        const std::uint32_t file = diagnostics_.add_file(place.path, std::move(text).value());
        result_.source_names_.emplace_back(file, place.name);
        return read(file);
    }

    /// Returns the prefab in the file at `path`. Composes it, unless it is already known under another name.
    Prefab* load_prefab(const std::string& path, std::string name) {
        Prefab*& prefab = prefab_by_path_[roots_.files().canonical(path)];
        if (prefab != nullptr) {
            // The path may be a link, which may later lead to a different file.
            if (prefab->path != path)
                result_.dependencies_.push_back({DependencyKind::kSource, path, std::move(name), prefab->content});
            return prefab;
        }
        prefabs_.emplace_back();
        prefab = &prefabs_.back();
        Prefab& loaded = *prefab;
        loaded.state = Prefab::State::kFailed;
        const Document* document = load({path, name, {}}, uses_.back().position, "a prefab is a file with one entity");
        loaded.path = path;
        loaded.content = result_.dependencies_.back().hash;
        if (document == nullptr) return &loaded;
        const Node root = document->root();
        if (!root.is_mapping() || is_level_text(root)) {
            diagnostics_
                .error(root.position(),
                       concat(quoted(name), " is used as a prefab but is ",
                              root.is_mapping() ? "a level" : kind_name(root.kind())),
                       "a prefab is one entity with `components`, `children` or `prefab`")
                .note(uses_.back().position, "it is used here");
            return &loaded;
        }
        file_roots_.push_back(root.position());
        loaded.state = Prefab::State::kComposing;
        uses_.back().prefab = &loaded;
        ++prefab_depth_;
        loaded.merged = merge(root, {last_part(name), root.position(), root}, nullptr);
        --prefab_depth_;
        loaded.state = loaded.merged == nullptr ? Prefab::State::kFailed : Prefab::State::kReady;
        return &loaded;
    }

    void report_cycle(const Prefab& prefab, Node reference) {
        std::size_t first = 0;
        while (first + 1 < uses_.size() && uses_[first].prefab != &prefab) ++first;
        std::string chain;
        for (std::size_t i = first; i < uses_.size(); ++i) append_text(chain, concat(uses_[i].name, " -> "));
        append_text(chain, reference.as_string());
        if (uses_[first].name != reference.as_string())
            append_text(chain, concat(", which is the same file as ", uses_[first].name));
        Diagnostic& error = diagnostics_.error(reference.position(), concat("prefabs form a cycle: ", chain),
                                               "remove one of the references");
        for (std::size_t i = first + 1; i < uses_.size(); ++i)
            error.note(uses_[i].position, concat(quoted(uses_[i].name), " is used here"));
    }

    /// Returns the merged prefab that `reference` names. Returns nullptr if `reference` is missing or null. If there is
    /// an error, reports it, sets `failed` and returns nullptr.
    const MergedEntity* use_prefab(Node reference, bool& failed) {
        failed = false;
        if (!reference || reference.is_null()) return nullptr;
        failed = true;
        if (!reference.is_string()) {
            wrong_kind(reference, "prefab", "the name of a resource, or null");
            return nullptr;
        }
        const std::string_view name = reference.as_string();
        if (last_prefab_ != nullptr && name == last_prefab_name_) {
            failed = false;
            return last_prefab_;
        }
        uses_.push_back({std::string(name), reference.position(), nullptr});
        const NamedPrefab& found = find_prefab(name);
        uses_.pop_back();
        if (found.prefab == nullptr) {
            // While a prefab is being composed, its name has no result, so a missing result may mean a cycle.
            if (!found.problem.empty()) {
                diagnostics_.error(reference.position(), found.problem, found.hint);
                return nullptr;
            }
            for (const Use& use : uses_)
                if (use.name == name && use.prefab != nullptr) return report_cycle(*use.prefab, reference), nullptr;
            return nullptr;
        }
        if (found.prefab->state == Prefab::State::kComposing) return report_cycle(*found.prefab, reference), nullptr;
        if (found.prefab->state == Prefab::State::kFailed) return nullptr;
        failed = false;
        last_prefab_name_ = name;
        last_prefab_ = found.prefab->merged;
        return last_prefab_;
    }

    // --- levels ------------------------------------------------------------------------------------------------------

    void compose_level(Node root) {
        const std::size_t num_errors = diagnostics_.num_errors();
        EntityText text;
        read_keys(root, true, text);
        const Node units = text[SourceKey::kUnits], entities = text[SourceKey::kEntities];
        if (units && entities && options_.level_entities == LevelEntities::kUndecided)
            diagnostics_
                .error(entities.key_position(), "a level has `units` or `entities`, not both",
                       "put all into one of them, or say which one counts in a schema file: `level_entities = units`, "
                       "`entities` or `both`")
                .note(units.key_position(), "the other is here");
        std::vector<const MergedEntity*> roots;
        const bool skips_units = entities && options_.level_entities == LevelEntities::kEntities;
        const bool skips_entities = units && (options_.level_entities == LevelEntities::kUnits ||
                                              options_.level_entities == LevelEntities::kUndecided);
        if (!skips_units) add_children(units, SourceKey::kUnits, roots);
        if (!skips_entities) add_children(entities, SourceKey::kEntities, roots);
        result_.other_keys_ = std::move(text.others);
        MergedEntity level;
        level.position = root.position();
        level.num_entities = 0;
        level.children = roots;
        count(level);
        if (!too_large_) flatten(level.children);
        check_components(root, roots, num_errors);
    }

    void flatten(std::span<const MergedEntity* const> roots) {
        struct Step {
            std::span<const MergedEntity* const> siblings;
            std::size_t next;
            std::uint32_t parent;
            std::size_t path_bytes;
        };
        if (too_large_) return;
        std::size_t total = 0;
        for (const MergedEntity* entity : roots) total += entity->num_entities;
        std::vector<ComposedEntity>& entities = result_.entities_;
        entities.reserve(total);
        std::string path;
        std::vector<Step> steps{{roots, 0, kNoBlobEntity, 0}};
        while (!steps.empty()) {
            Step& step = steps.back();
            if (step.next == step.siblings.size()) {
                if (step.parent != kNoBlobEntity)
                    entities[step.parent].end = static_cast<std::uint32_t>(entities.size());
                steps.pop_back();
                continue;
            }
            const MergedEntity* entity = step.siblings[step.next++];
            path.resize(step.path_bytes);
            const auto index = static_cast<std::uint32_t>(entities.size());
            entities.push_back({entity, step.parent, index + 1, entity->key_hash});
            if (step.path_bytes != 0) {
                append_text(path, concat('/', entity->key));
                entities.back().guid = hash_text(path);
            }
            if (entity->children.empty()) continue;
            if (step.path_bytes == 0) path = entity->key;
            steps.push_back({entity->children, 0, index, path.size()});
        }
        add_guids();
    }

    /// Reports entities with the same GUID path.
    void add_guids() {
        const std::vector<ComposedEntity>& entities = result_.entities_;
        HashMap<std::uint64_t, std::uint32_t> by_guid{Owner("composer")};
        by_guid.reserve(entities.size());
        for (std::uint32_t i = 0; i < entities.size(); ++i) {
            const auto [other, is_new] = by_guid.insert(entities[i].guid, i);
            if (is_new) continue;
            diagnostics_
                .error(
                    entities[i].entity->position,
                    concat("the GUID path of entity ", quoted(entities[i].entity->key), " is that of another entity"),
                    "give one of them another GUID")
                .note(entities[*other].entity->position, "the other is here");
        }
    }

    // --- the keys of an entity ---------------------------------------------------------------------------------------

    void wrong_kind(Node node, std::string_view key, std::string_view wanted) {
        diagnostics_.error(node.position(), concat("`", key, "` is ", kind_name(node.kind())),
                           concat("write ", wanted));
    }

    void read_keys(Node node, bool of_level, EntityText& text) {
        grammar_.each_key(node, of_level, [&](Node child, KeyUse use, std::size_t row) {
            if (use == KeyUse::kComponent && !contains(options_.ignored_keys, child.key()))
                return text.components.push_back(child);
            if (use == KeyUse::kRenamed && read_renamed_key(row, child, of_level, text)) return;
            if (use != KeyUse::kKnown) return unknown_key(child, of_level, text);
            text.keys[row] = child;
            if (static_cast<SourceKey>(row) == SourceKey::kVersions) read_versions(child, node);
            if (static_cast<SourceKey>(row) == SourceKey::kEditor && !is_only_name(child))
                unknown_key(child, of_level, text);
        });
        if (text[SourceKey::kType] || text[SourceKey::kPlainType]) check_type(of_level, text);
    }

    /// Reads a key that is an alias of another key. Returns false if the other key has no meaning here.
    bool read_renamed_key(std::size_t renamed, Node child, bool of_level, EntityText& text) {
        const auto& [from, to] = options_.renamed_keys[renamed];
        if (const std::size_t dot = to.find('.'); dot != std::string::npos) {
            if (of_level) return false;
            std::string_view& component = renamed_components_[renamed];
            if (component.empty()) component = arena_.copy(std::string_view(to).substr(0, dot));
            text.fields.push_back({child, component, std::string_view(to).substr(dot + 1)});
            return true;
        }
        const auto key = std::ranges::find(kEntityKeys, to, &KeyMeaning::name);
        if (key == kEntityKeys.end() || !has_meaning(*key, of_level)) return false;
        Node& value = text.keys[&*key - kSourceKeys];
        if (value)
            diagnostics_
                .error(child.key_position(), concat(quoted(from), " means `", to, "`, which is there too"),
                       "remove one of them")
                .note(value.key_position(), "the other is here");
        value = child;
        return true;
    }

    /// Ignores, keeps or reports an unknown key.
    void unknown_key(Node child, bool of_level, EntityText& text) {
        const std::string_view key = child.key();
        if (contains(options_.ignored_keys, key) && !is_structural_key(key)) return;
        if (options_.keep_unknown_keys) {
            text.others.push_back(child);
            return;
        }
        const std::string_view owner = of_level ? "a level" : "an entity";
        if (key == key_name(SourceKey::kEditor)) {
            diagnostics_.error(
                child.key_position(), concat("only the `name` in the `editor` of ", owner, " means something"),
                "remove the rest, or list `editor` under `ignored_keys` in a schema file, which keeps the name");
            return;
        }
        const bool is_source =
            depth_ == 1 && !result_.is_level_;  // a level with a mistyped `units` looks like an entity
        std::vector<std::string_view> known;
        for (const KeyMeaning& other : kEntityKeys)
            if (has_meaning(other, of_level) || (is_source && other.in_level)) known.push_back(other.name);
        const int close = closest_text(key, known.data(), known.size());
        diagnostics_.error(child.key_position(), concat(owner, " has no key ", quoted(key)),
                           close >= 0 ? concat("did you mean `", known[static_cast<std::size_t>(close)], "`?")
                           : is_structural_key(key) ? std::string(of_level ? "entities have it; write it in one of them"
                                                                           : "remove it; levels have it")
                                                    : "remove it, or list it under `ignored_keys` in a schema file");
    }

    /// Reads which versions of component types a file is written for.
    void read_versions(Node versions, Node owner) {
        const auto is_owner = [&](SourcePosition root) {
            return root.file == owner.position().file && root.offset == owner.position().offset;
        };
        if (std::ranges::none_of(file_roots_, is_owner)) {
            diagnostics_.error(versions.key_position(), "`_versions` stands in an entity inside of a file",
                               "write it at the top of the file; it counts for all of it");
            return;
        }
        if (!versions.is_mapping()) return wrong_kind(versions, "_versions", "a mapping: { body = 1 }");
        for (const Node child : versions) {
            const std::int64_t* const version = child.as_int64();
            if (version != nullptr && *version >= 1 && *version <= 0xFFFFFFFF)
                result_.versions_.push_back({child.key(), static_cast<std::uint32_t>(*version), child.key_position()});
            else
                diagnostics_.error(child.position(),
                                   concat("the version of ", quoted(child.key()), " is not a version"),
                                   "write a whole number from 1 on");
        }
    }

    /// Keeps or reports the type of an entity or level, unless it is `entity` or `level`.
    void check_type(bool of_level, EntityText& text) {
        for (const SourceKey key : kTypeKeys) {
            const Node type = text[key];
            if (!type || type.is_null()) continue;
            if (!type.is_string()) {
                wrong_kind(type, key_name(key), of_level ? "\"level\"" : "\"entity\"");
                continue;
            }
            const std::string_view name = type.as_string();
            if (of_level ? name == "level" : name == "unit" || name == "entity") continue;
            if (options_.keep_unknown_keys) {
                text.others.push_back(type);
                continue;
            }
            constexpr std::string_view kTypes[] = {"level", "unit", "entity"};
            const int close = closest_text(name, kTypes, std::size(kTypes));
            diagnostics_.error(
                type.position(),
                concat("`", key_name(key), "` of ", of_level ? "a level" : "an entity", " is ", quoted(name)),
                close >= 0 && (kTypes[close] == "level") == of_level ? concat("did you mean \"", kTypes[close], "\"?")
                : of_level                                           ? "write \"level\", or leave it out"
                           : "write \"entity\", or leave it out; an entity is what its `prefab` and "
                             "`components` make it");
        }
    }

    void read_name(const EntityText& text, MergedEntity& entity) {
        Node name = text[SourceKey::kName];
        if (!name)
            if (const Node editor = text[SourceKey::kEditor]; editor && editor.is_mapping()) name = editor.find("name");
        if (!name || name.is_null()) return;
        if (!name.is_string()) return wrong_kind(name, "name", "a string");
        entity.name = name.as_string();
    }

    bool refuse(EntryProblem problem, Node node, SourceKey list) override {
        const std::string_view name = key_name(list);
        const bool deletes = meaning_of(list).value == KeyValue::kDeletions;
        const auto refuse_entry = [&](SourcePosition position, std::string_view what, std::string_view hint) {
            diagnostics_.error(position, concat("an element of `", name, "` ", what), std::string(hint));
        };
        switch (problem) {
            case EntryProblem::kNoList:
                wrong_kind(node, name, "a list, or a mapping by GUID or name");
                break;
            case EntryProblem::kKind:
                refuse_entry(node.position(), concat("is ", kind_name(node.kind())),
                             deletes ? "write a GUID or name" : "write a mapping");
                break;
            case EntryProblem::kKeyKind:
                wrong_kind(node, node.key(), "a string");
                break;
            case EntryProblem::kNoTarget:
                refuse_entry(node.position(), "does not name its target", "give it a `_guid`");
                break;
            case EntryProblem::kEmptyKey:
                refuse_entry(node.key_position(), "has an empty key", "give it a GUID or a name");
                break;
        }
        return false;
    }
    std::string_view keep(std::string_view key) override { return arena_.copy(key); }

    // --- entities ----------------------------------------------------------------------------------------------------

    /// Merges the entity `node` with its prefab. If the entity is an element of `modified_children`, merges it with
    /// `modified`.
    const MergedEntity* merge(Node node, const SourceEntry& entry, const MergedEntity* modified) {
        if (!node.is_mapping()) {
            diagnostics_.error(node.position(), concat("an entity is a mapping, this is ", kind_name(node.kind())),
                               "write { ... } with `components`, `children` or `prefab`");
            return nullptr;
        }
        if (depth_ == options_.max_depth) {
            diagnostics_.error(node.position(),
                               concat("children and prefabs are nested more than ", options_.max_depth, " levels deep"),
                               "make the source flatter");
            return nullptr;
        }
        ++depth_;
        const MergedEntity* result = merge_within_depth(node, entry, modified);
        --depth_;
        return result;
    }

    const MergedEntity* merge_within_depth(Node node, const SourceEntry& entry, const MergedEntity* modified) {
        EntityText text;
        read_keys(node, false, text);
        Draft draft;
        const MergedEntity* base = modified;
        if (const Node prefab = text[SourceKey::kPrefab]; modified == nullptr) {
            base = use_prefab(prefab, draft.base_failed);
            if (prefab && prefab.is_string()) draft.base_name = prefab.as_string();
        } else if (prefab && !prefab.is_null()) {
            diagnostics_.error(prefab.position(), "`modified_children` cannot give a child another prefab",
                               "delete the child and add a new one under `children`");
        }
        MergedEntity* entity = base == nullptr ? arena_.make<MergedEntity>() : arena_.make<MergedEntity>(*base);
        entity->key = entry.key;
        entity->key_hash = hash_text(entry.key);
        if (modified == nullptr) entity->position = node.has_key() ? node.key_position() : node.position();
        read_name(text, *entity);
        if (!text.others.empty()) {
            text.others.insert(text.others.begin(), entity->other_keys.begin(), entity->other_keys.end());
            entity->other_keys = arena_.copy(std::span<const Node>(text.others));
        }
        merge_components(text, *entity, draft);
        merge_children(text, *entity, draft);
        count(*entity);
        return entity;
    }

    /// Counts the entities and components of a subtree before it is expanded. Reports an error if there are too many.
    void count(MergedEntity& entity) {
        if (too_large_) {
            entity.children = {};
            entity.num_entities = 1;
            entity.num_components = entity.components.size();
            entity.height = 1;
            return;
        }
        const bool is_level = entity.num_entities == 0;
        entity.num_entities = is_level ? 0 : 1;
        entity.num_components = entity.components.size();
        entity.height = 1;
        for (const MergedEntity* child : entity.children) {
            entity.num_entities += child->num_entities;  // cannot overflow, because each number is at most the limit
            entity.num_components += child->num_components;
            entity.height = std::max(entity.height, child->height + 1);
            if (entity.num_entities > options_.max_entities || entity.num_components > options_.max_components) break;
        }
        const auto refuse = [&](std::string problem) {
            too_large_ = true;
            diagnostics_.error(entity.position,
                               concat(is_level ? "this level has " : "this entity and its children have ", problem),
                               "look for a prefab that uses another one many times");
        };
        if (entity.num_entities > options_.max_entities)
            return refuse(concat("more than ", options_.max_entities, " entities"));
        if (entity.num_components > options_.max_components)
            return refuse(concat("more than ", options_.max_components, " components"));
        if (entity.height > options_.max_depth + 1)
            return refuse(concat("children more than ", options_.max_depth, " deep"));
    }

    void stale(const SourceEntry& entry, SourceKey key, const Draft& draft, std::string_view what) {
        if (draft.base_failed || too_large_) return;
        const std::string_view named_type = current_type(entry.key);
        const auto is_of_type = [&](const MergedComponent& c) { return result_.types_[c.type] == named_type; };
        const bool is_component = key == SourceKey::kModifiedComponents || key == SourceKey::kDeletedComponents;
        const auto num_of_type = is_component ? std::count_if(components_.begin(), components_.end(), is_of_type) : 0;
        if (num_of_type > 1) {
            diagnostics_.warning(entry.position,
                                 concat("`", key_name(key), "` names ", quoted(entry.key), ", but there are ",
                                        num_of_type, " components of this type"),
                                 "name one of them by its GUID");
            return;
        }
        std::vector<std::string_view> candidates;
        if (num_suggestions_ < kMostSuggestions && is_component)
            for (const MergedComponent& component : components_) {
                candidates.push_back(component.key);
                candidates.push_back(result_.types_[component.type]);
            }
        if (num_suggestions_ < kMostSuggestions && !is_component)
            for (const MergedEntity* child : draft.editor->children()) candidates.push_back(child->key);
        const std::string where =
            draft.base_name.empty() ? std::string("here") : concat("in the prefab ", quoted(draft.base_name));
        diagnostics_.warning(
            entry.position,
            concat("`", key_name(key), "` names ", quoted(entry.key), ", but there is no such ", what, ' ', where),
            suggestion(entry.key, candidates).append("correct the key, or remove this"));
    }

    /// Returns the beginning of a hint that suggests a similar candidate; empty if there is none.
    std::string suggestion(std::string_view text, const std::vector<std::string_view>& candidates) {
        constexpr std::size_t kMostCandidates = 4096;
        ++num_suggestions_;
        const int close = closest_text(text, candidates.data(), std::min(candidates.size(), kMostCandidates));
        return close < 0 ? std::string()
                         : concat("did you mean ", quoted(candidates[static_cast<std::size_t>(close)]), "? ");
    }

    // --- components --------------------------------------------------------------------------------------------------

    /// Returns the current name of a component type. Lifetime: as long as the composition and the text.
    std::string_view current_type(std::string_view name) {
        for (const RenamedKey& renamed : options_.old_words)
            if (renamed.from == name) return arena_.copy(std::string_view(renamed.to));
        for (const RenamedKey& renamed : options_.renamed_types)
            if (renamed.from == name) return arena_.copy(std::string_view(renamed.to));
        return name;
    }

    /// Like current_type(), but warns about an old name of a built-in component type.
    std::string_view current_type(std::string_view name, SourcePosition position) {
        const std::string_view now = current_type(name);
        warn_of_old_word(name, position, now);
        return now;
    }

    /// Warns if `name` is an old name of the built-in component type `now`.
    void warn_of_old_word(std::string_view name, SourcePosition position, std::string_view now) {
        for (const RenamedKey& renamed : options_.old_words)
            if (renamed.from == name && renamed.to == now)
                diagnostics_.warning(position,
                                     concat("the component type ", quoted(name), " is called ", quoted(now), " now"),
                                     concat("write `", now, "`"));
    }

    std::uint32_t type_index(std::string_view name) {
        std::vector<std::string_view>& types = result_.types_;
        for (const std::uint32_t guess : {last_type_ + 1, last_type_}) {
            if (guess >= types.size() || types[guess] != name) continue;
            return last_type_ = guess;
        }
        const auto [at, is_new] = type_by_name_.insert(name, static_cast<std::uint32_t>(types.size()));
        if (is_new) types.push_back(name);
        return last_type_ = *at;
    }

    /// If components of this type may be written as a file name, replaces the name with the content of the file.
    void read_from_file(std::string_view type, ComponentLayer& layer) {
        const std::vector<std::string>& types = options_.components_in_files;
        if (!layer.fields.is_string() || std::find(types.begin(), types.end(), type) == types.end()) return;
        const Document* document = component_file(layer.fields);
        if (document != nullptr)
            set_fields(layer, document->root());
        else
            layer.fields = Node();
    }

    /// Returns the file that `reference` names. If there is an error, reports it and returns nullptr. Each file is read
    /// only once.
    const Document* component_file(Node reference) {
        const std::string_view name = reference.as_string();
        const auto [at, is_new] = component_files_.try_emplace(std::string(name));
        if (!is_new) return at->second;
        std::string hint = "name a file by its path inside a root, such as \"visual/ship.yaml\"";
        if (const std::string_view problem = resource_name_problem(name); !problem.empty()) {
            diagnostics_.error(reference.position(),
                               concat("the file name ", quoted(name), " cannot be used: ", problem), hint);
        } else if (const auto place = roots_.find(name, result_.dependencies_, hint)) {
            if (place->outside.empty())
                at->second = load(*place, reference.position(), "a component can be written in a file of its own");
            else
                diagnostics_.error(
                    reference.position(),
                    concat("the file ", quoted(name), " is a link that leads out of the roots, to ", place->outside),
                    std::string(kHintForLinks));
        } else {
            diagnostics_.error(reference.position(), concat("there is no file ", quoted(name)), hint);
        }
        return at->second;
    }

    /// Reads the layer of a component from its text, and its type if the text names one. If there is an error, reports
    /// it and returns false.
    bool read_component(Node value, bool declares, ComponentLayer& layer, Node& type) {
        layer.value = layer.fields = value;
        if (!value.is_mapping()) return true;
        const ComponentText text = grammar_.read_component(value);
        const Node plain_type = text.plain_type;
        type = text.type;
        const SourceKey type_key = type ? SourceKey::kType : SourceKey::kPlainType;
        layer.consumed_keys = consumed_bit(SourceKey::kGuid) | consumed_bit(SourceKey::kType);
        if (text.data) {
            if (!text.is_wrapped()) return wrong_kind(text.data, "data", "a mapping of fields"), false;
            layer.fields = text.data;
            layer.consumed_keys |= consumed_bit(SourceKey::kData);
            layer.has_other_keys = text.has_others;
            if (type && type.is_string() && plain_type && plain_type.is_string() &&
                type.as_string() != plain_type.as_string()) {
                diagnostics_.error(
                    plain_type.position(),
                    concat("`_type` is ", quoted(type.as_string()), ", but `type` is ", quoted(plain_type.as_string())),
                    "remove one of them, or move `type` into `data` if it is a field");
                return false;
            }
            if (!type) type = plain_type;
        } else if (!type && declares) {
            type = plain_type;
            layer.consumed_keys |= consumed_bit(SourceKey::kPlainType);
        }
        if (!type || type.is_string()) return true;
        return wrong_kind(type, key_name(type_key), "the name of a component type"), false;
    }

    /// Replaces field aliases in a component with the names of the fields.
    void rename_fields(ComponentLayer& layer, std::string_view type) {
        if (options_.renamed_keys.empty() || !layer.fields || !layer.fields.is_mapping()) return;
        const auto name_of = [&](std::string_view key) {
            for (const RenamedKey& renamed : options_.renamed_keys) {
                if (renamed.from != key) continue;
                const std::string_view to = renamed.to;
                const std::size_t dot = to.find('.');
                if (dot == std::string_view::npos && !is_structural_key(to)) return to;
                if (to.substr(0, dot) == type && dot != std::string_view::npos) return to.substr(dot + 1);
            }
            return key;
        };
        const auto is_renamed = [&](Node child) { return name_of(child.key()) != child.key(); };
        if (std::none_of(layer.fields.begin(), layer.fields.end(), is_renamed)) return;
        RenamedFields fields(layer.fields.position(), diagnostics_);
        for (const Node child : layer.fields) fields.add(name_of(child.key()), child);
        result_.memory_->documents.push_back(fields.finish());
        layer.fields = result_.memory_->documents.back().root();
    }

    /// Adds or changes components whose fields are given as keys of the entity.
    void add_renamed_fields(const EntityText& text, const Draft& draft) {
        std::vector<bool> is_done(text.fields.size());
        for (std::size_t i = 0; i < text.fields.size(); ++i) {
            if (is_done[i]) continue;
            const EntityText::Field& first = text.fields[i];
            RenamedFields fields(first.node.key_position(), diagnostics_);
            for (std::size_t j = i; j < text.fields.size(); ++j) {
                if (text.fields[j].component != first.component) continue;
                is_done[j] = true;
                fields.add(text.fields[j].field, text.fields[j].node);
            }
            result_.memory_->documents.push_back(fields.finish());
            const SourceEntry entry{first.component, first.node.key_position(),
                                    result_.memory_->documents.back().root()};
            if (find_component(entry.key) < 0)
                add_component(entry);
            else
                modify_component(entry, draft);
        }
    }

    int find_component(std::string_view key) {
        for (std::size_t i = 0; i < components_.size(); ++i)
            if (components_[i].key == key) return static_cast<int>(i);
        const std::string_view type = current_type(key);
        int found = -1;
        for (std::size_t i = 0; i < components_.size(); ++i) {
            if (result_.types_[components_[i].type] != type) continue;
            if (found >= 0) return -1;  // ambiguous, because there are several of this type
            found = static_cast<int>(i);
        }
        return found;
    }

    /// If `has_only_fields` is set, the key is the type, and the value has only fields.
    void add_component(const SourceEntry& entry, bool has_only_fields = false) {
        ComponentLayer layer;
        Node type;
        if (has_only_fields)
            set_fields(layer, entry.text);
        else if (!read_component(entry.text, true, layer, type))
            return;
        if (!entry.has_key() && !type) {
            diagnostics_.error(entry.position, "a component in a list has no type", "give it a `type`");
            return;
        }
        MergedComponent component;
        component.key = entry.has_key() ? entry.key : type.as_string();
        component.position = entry.position;
        for (const MergedComponent& other : components_) {
            if (other.key != component.key) continue;
            diagnostics_
                .error(entry.position, concat("there is already a component ", quoted(component.key)),
                       "change it under `modified_components`, or give this one another key and a `type`")
                .note(other.position, "the other is here");
            return;
        }
        if (components_.size() == kMaxComponentsPerEntity) {
            diagnostics_.error(entry.position, concat("an entity has at most ", kMaxComponentsPerEntity, " components"),
                               "use children");
            return;
        }
        const std::string_view type_name =
            type ? current_type(type.as_string(), type.position()) : current_type(component.key, entry.position);
        component.type = type_index(type_name);
        read_from_file(type_name, layer);
        rename_fields(layer, type_name);
        if (prefab_depth_ > 0) layer.shared_index = result_.num_shared_layers_++;
        component.top = arena_.make<ComponentLayer>(layer);
        components_.push_back(component);
    }

    void modify_component(const SourceEntry& entry, const Draft& draft) {
        const int index = find_component(entry.key);
        if (index < 0) return stale(entry, SourceKey::kModifiedComponents, draft, "component");
        MergedComponent& component = components_[static_cast<std::size_t>(index)];
        ComponentLayer layer;
        Node type;
        if (entry.text.is_null()) return;
        if (!read_component(entry.text, false, layer, type)) return;
        const std::string_view type_name = result_.types_[component.type];
        if (type && current_type(type.as_string(), type.position()) != type_name) {
            diagnostics_
                .error(type.position(),
                       concat("the component ", quoted(entry.key), " is of type ", quoted(type_name), ", not ",
                              quoted(type.as_string())),
                       "delete it and add another one to change its type")
                .note(component.position, "it is declared here");
            return;
        }
        if (component.top->height == kMaxLayers) {
            diagnostics_.error(
                entry.position,
                concat("the component ", quoted(entry.key), " is modified more than ", kMaxLayers, " times"),
                "merge the changes");
            return;
        }
        warn_of_old_word(entry.key, entry.position, type_name);
        read_from_file(type_name, layer);
        rename_fields(layer, type_name);
        layer.below = component.top;
        layer.height = static_cast<std::uint16_t>(component.top->height + 1);
        if (prefab_depth_ > 0) layer.shared_index = result_.num_shared_layers_++;
        component.top = arena_.make<ComponentLayer>(layer);
    }

    void delete_component(const SourceEntry& entry, const Draft& draft) {
        const int index = find_component(entry.key);
        if (index < 0) return stale(entry, SourceKey::kDeletedComponents, draft, "component");
        warn_of_old_word(entry.key, entry.position, result_.types_[components_[static_cast<std::size_t>(index)].type]);
        components_.erase(components_.begin() + index);
    }

    void merge_components(const EntityText& text, MergedEntity& entity, const Draft& draft) {
        const Node added = text[SourceKey::kComponents], deleted = text[SourceKey::kDeletedComponents],
                   modified = text[SourceKey::kModifiedComponents];
        if (!added && !deleted && !modified && text.fields.empty() && text.components.empty()) return;
        components_.assign(entity.components.begin(), entity.components.end());
        for (const Node component : text.components)
            add_component({without_hash(component.key()), component.key_position(), component, ItemForm::kShort}, true);
        grammar_.each_entry(added, SourceKey::kComponents, [&](const SourceEntry& entry) { add_component(entry); });
        grammar_.each_entry(deleted, SourceKey::kDeletedComponents,
                            [&](const SourceEntry& entry) { delete_component(entry, draft); });
        grammar_.each_entry(modified, SourceKey::kModifiedComponents,
                            [&](const SourceEntry& entry) { modify_component(entry, draft); });
        if (!text.fields.empty()) add_renamed_fields(text, draft);
        entity.components = arena_.copy(std::span<const MergedComponent>(components_));
    }

    // --- children ----------------------------------------------------------------------------------------------------

    void add_children(Node list, SourceKey key, std::vector<const MergedEntity*>& children) {
        if (!list) return;
        std::vector<SourcePosition> keys;  // key positions of added children
        keys.reserve(list.size());
        std::uint32_t place = 0;
        grammar_.each_entry(list, key, [&](const SourceEntry& found) {
            SourceEntry entry = found;
            if (!entry.has_key()) entry.key = arena_.copy(concat('[', place, ']'));
            ++place;
            if (key != SourceKey::kChildren) options_.progress.tell("entities merged", place, list.size());
            const MergedEntity* const child = merge(entry.text, entry, nullptr);
            if (child == nullptr) return;
            children.push_back(child);
            keys.push_back(entry.position);
        });
        refuse_same_keys(children, keys);
    }

    /// Removes each added child that has the same key as an earlier child. The added children are the last ones, and
    /// `keys` has the positions of their keys. This is a separate loop, so that cache misses of the map overlap. That
    /// saves 80 ns per entity in a large level.
    void refuse_same_keys(std::vector<const MergedEntity*>& children, std::span<const SourcePosition> keys) {
        HashMap<std::uint64_t, std::uint32_t> by_key{Owner("composer")};  // hash of a key -> the first child with it
        by_key.reserve(children.size());
        const std::size_t num_before = children.size() - keys.size();
        std::size_t num_kept = 0;
        for (std::size_t i = 0; i < children.size(); ++i) {
            const MergedEntity* const child = children[i];
            const auto [first, is_new] = by_key.insert(child->key_hash, static_cast<std::uint32_t>(num_kept));
            if (is_new || i < num_before || children[*first]->key != child->key) {
                children[num_kept++] = child;
                continue;
            }
            diagnostics_
                .error(keys[i - num_before], concat("there is already an entity ", quoted(child->key), " here"),
                       "give it another GUID, or change the other under `modified_children`")
                .note(children[*first]->position, "the other is here");
        }
        children.resize(num_kept);
    }

    /// Warns that a key matches more than one descendant.
    void warn_of_other(const SourceEntry& entry, SourceKey key, const Draft& draft, std::uint32_t found) {
        ChildEditor& editor = *draft.editor;
        const std::string path = editor.path_of(found), other = editor.path_of(editor.other());
        diagnostics_
            .warning(entry.position,
                     concat(quoted(entry.key), " of `", key_name(key), "` means several descendants, and the first is ",
                            key == SourceKey::kDeletedChildren ? "deleted" : "changed"),
                     concat("write its path, ", quoted(path), ", or that of another, such as ", quoted(other)))
            .note(editor.entity(found)->position, "the first is here")
            .note(editor.entity(editor.other())->position, "another is here");
    }

    /// Finds the target of an entry in `modified_children` or `deleted_children`.
    std::uint32_t find_child(const SourceEntry& entry, SourceKey key, const Draft& draft) {
        const std::uint32_t found = draft.editor->find(entry.key);
        if (found != ChildEditor::kNone) {
            if (draft.editor->other() != ChildEditor::kNone) warn_of_other(entry, key, draft, found);
            return found;
        }
        if (!draft.editor->is_exhausted()) {
            stale(entry, key, draft, "child");
        } else if (!too_large_) {
            too_large_ = true;
            diagnostics_.error(
                entry.position,
                concat("looking for ", quoted(entry.key), " of `", key_name(key), "` takes too long: ", search_steps_,
                       " descendants were looked at, here and before"),
                "name the target by its path, such as \"trunk/branch\", so that only its level is searched");
        }
        return ChildEditor::kNone;
    }

    void delete_child(const SourceEntry& entry, Draft& draft) {
        if (const std::uint32_t found = find_child(entry, SourceKey::kDeletedChildren, draft);
            found != ChildEditor::kNone)
            draft.editor->remove(found);
    }

    void modify_child(const SourceEntry& entry, Draft& draft) {
        const std::uint32_t found = find_child(entry, SourceKey::kModifiedChildren, draft);
        if (found == ChildEditor::kNone) return;
        const MergedEntity* const target = draft.editor->entity(found);
        SourceEntry kept = entry;
        kept.key = target->key;
        if (const MergedEntity* const changed = merge(entry.text, kept, target)) draft.editor->replace(found, changed);
    }

    void merge_children(const EntityText& text, MergedEntity& entity, Draft& draft) {
        const Node added = text[SourceKey::kChildren], deleted = text[SourceKey::kDeletedChildren],
                   modified = text[SourceKey::kModifiedChildren];
        const auto is_empty = [](Node list) {
            return !list || list.is_null() || ((list.is_list() || list.is_mapping()) && list.size() == 0);
        };
        if (is_empty(added) && is_empty(deleted) && is_empty(modified)) return;
        std::vector<const MergedEntity*> children(entity.children.begin(), entity.children.end());
        add_children(added, SourceKey::kChildren, children);
        if (!is_empty(deleted) || !is_empty(modified)) {
            ChildEditor editor(children, arena_, search_steps_, max_search_steps_,
                               [this](MergedEntity& changed) { count(changed); });
            draft.editor = &editor;
            grammar_.each_entry(deleted, SourceKey::kDeletedChildren,
                                [&](const SourceEntry& entry) { delete_child(entry, draft); });
            grammar_.each_entry(modified, SourceKey::kModifiedChildren,
                                [&](const SourceEntry& entry) { modify_child(entry, draft); });
            draft.editor = nullptr;
            children = editor.finish();
        }
        entity.children = arena_.copy(std::span<const MergedEntity* const>(children));
    }

    const ComposeOptions& options_;
    Diagnostics& diagnostics_;
    SourceRoots roots_;
    Composition result_;
    Arena& arena_;

    std::deque<Prefab> prefabs_;
    std::unordered_map<std::string, Prefab*> prefab_by_path_;  // by canonical path
    std::unordered_map<std::string, NamedPrefab> prefab_by_name_;
    std::unordered_map<std::string, const Document*> component_files_;  // by name; nullptr if an error was reported
    std::vector<SourcePosition> file_roots_;                            // root positions of sources and prefabs
    std::vector<Use> uses_;                                             // from the source to the current prefab
    std::string_view last_prefab_name_;
    const MergedEntity* last_prefab_ = nullptr;

    SourceGrammar grammar_;
    std::vector<std::string_view> renamed_components_;  // component of each renamed key, stored in the composition
    HashMap<std::string_view, std::uint32_t> type_by_name_{Owner("composer")};
    std::uint32_t last_type_ = 0;
    std::vector<MergedComponent> components_;  // components of the entity that is being merged
    std::uint32_t depth_ = 0;
    std::uint32_t prefab_depth_ = 0;  // if > 0, layers may be shared
    std::uint64_t search_steps_ = 0, max_search_steps_;
    int num_suggestions_ = 0;
    bool too_large_ = false;  // an error was reported
};

// --- the composition -----------------------------------------------------------------------------------------------

Composition::Composition() : memory_(new Memory) {}
Composition::~Composition() { delete memory_; }
Composition::Composition(Composition&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      is_level_(other.is_level_),
      num_shared_layers_(other.num_shared_layers_),
      entities_(std::move(other.entities_)),
      types_(std::move(other.types_)),
      other_keys_(std::move(other.other_keys_)),
      dependencies_(std::move(other.dependencies_)),
      versions_(std::move(other.versions_)),
      source_names_(std::move(other.source_names_)) {}

Composition& Composition::operator=(Composition&& other) noexcept {
    std::swap(memory_, other.memory_);
    is_level_ = other.is_level_;
    num_shared_layers_ = other.num_shared_layers_;
    entities_ = std::move(other.entities_);
    types_ = std::move(other.types_);
    other_keys_ = std::move(other.other_keys_);
    dependencies_ = std::move(other.dependencies_);
    versions_ = std::move(other.versions_);
    source_names_ = std::move(other.source_names_);
    return *this;
}

std::string_view Composition::source_name(std::uint32_t file) const {
    for (const auto& [number, name] : source_names_)
        if (number == file) return name;
    return {};
}

std::optional<Composition> compose(const std::string& path, const ComposeOptions& options, Diagnostics& diagnostics) {
    Composer composer(options, diagnostics);
    return composer.keep_dependencies(composer.compose_path(path));
}

std::optional<Composition> compose_file(std::uint32_t file, const ComposeOptions& options, Diagnostics& diagnostics) {
    Composer composer(options, diagnostics);
    return composer.keep_dependencies(composer.compose_text(file));
}

std::optional<Composition> compose_tree(Node root, const ComposeOptions& options, Diagnostics& diagnostics) {
    return Composer(options, diagnostics).compose_root(root);
}

std::uint64_t content_hash(std::string_view content) { return std::max<std::uint64_t>(hash_text(content), 1); }

}  // namespace shoal
