#include "source/composer_state.h"

#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"

#include <algorithm>

namespace shoal {
namespace {

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string_view last_part(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view without_extension(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos || dot < name.size() - last_part(name).size() + 1 ? name : name.substr(0, dot);
}

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

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
      source_names_(std::move(other.source_names_)) {}

std::string_view Composition::source_name(std::uint32_t file) const {
    for (const auto& [number, name] : source_names_)
        if (number == file) return name;
    return {};
}

std::optional<Composition> compose(const std::string& path, const ComposeOptions& options, Diagnostics& diagnostics) {
    return Composer(options, diagnostics).compose_path(path);
}

std::optional<Composition> compose_file(std::uint32_t file, const ComposeOptions& options, Diagnostics& diagnostics) {
    return Composer(options, diagnostics).compose_text(file);
}

// --- files ---------------------------------------------------------------------------------------------------------

Composer::Composer(const ComposeOptions& options, Diagnostics& diagnostics)
    : options_(options),
      diagnostics_(diagnostics),
      files_(options.files == nullptr ? disk_ : *options.files),
      roots_(options.roots),
      arena_(result_.memory_->arena),
      entity_keys_(kEntityKeys),
      wrapper_keys_(kWrapperKeys) {}

std::string Composer::path_in_root(std::size_t root, std::string_view name) const {
    std::string folder = roots_[root];
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (folder.empty() || folder == ".") return std::string(name);
    return concat(folder, folder == "/" ? "" : "/", name);
}

std::string Composer::name_in_root(std::size_t root, std::string_view name) const {
    return roots_.size() == 1 ? std::string(name) : concat('$', root, '/', name);
}

std::string Composer::source_name_of(const std::string& path) const {
    const std::string canonical = files_.canonical(path);
    for (std::size_t root = 0; root < roots_.size(); ++root) {
        std::string folder = files_.canonical(roots_[root]);
        if (folder == ".") folder.clear();
        if (!folder.empty() && folder.back() != '/') folder.push_back('/');
        if (canonical.size() > folder.size() && canonical.compare(0, folder.size(), folder) == 0)
            return name_in_root(root, std::string_view(canonical).substr(folder.size()));
    }
    return std::string(last_part(path));
}

const Document* Composer::read(std::uint32_t file, const std::string& path) {
    Result<Document> document = ends_with(path, ".json") ? read_json(file, diagnostics_, options_.read)
                                                         : read_sjson(file, diagnostics_, options_.read);
    if (!document) return nullptr;
    result_.memory_->documents.push_back(std::move(*document));
    return &result_.memory_->documents.back();
}

std::optional<Composition> Composer::compose_path(const std::string& path) {
    if (!is_utf8(path)) {
        diagnostics_.error({}, concat("the path ", quoted(path), " is not UTF-8"), "rename the file or its folder");
        return std::nullopt;
    }
    if (roots_.empty()) roots_.push_back(folder_of(path));
    Result<std::string> text = files_.read(path);
    if (!text) {
        diagnostics_.error({}, std::string(text.message()), "give the path of a source");
        return std::nullopt;
    }
    const std::uint32_t file = diagnostics_.add_file(path, std::move(text).value());
    const std::string name = source_name_of(path);
    result_.source_names_.emplace_back(file, name);
    result_.dependencies_.push_back({DependencyKind::kSource, path, name});
    prefabs_.emplace_back();
    prefab_by_path_[files_.canonical(path)] = &prefabs_.back();
    uses_.push_back({std::string(without_extension(name)), {}, &prefabs_.back()});
    return finish(read(file, path));
}

std::optional<Composition> Composer::compose_text(std::uint32_t file) {
    const std::string name(diagnostics_.name(file));
    result_.source_names_.emplace_back(file, name);
    prefabs_.emplace_back();
    uses_.push_back({std::string(without_extension(name)), {}, &prefabs_.back()});
    return finish(read(file, name));
}

std::optional<Composition> Composer::finish(const Document* document) {
    if (document == nullptr) return std::nullopt;
    const Node root = document->root();
    if (!root.is_mapping()) {
        diagnostics_.error(root.position(), concat("a source is a mapping, this is ", kind_name(root.kind())),
                           "write one entity, or a level with `entities`");
        return std::nullopt;
    }
    if (root.size() == 0)
        diagnostics_.warning(root.position(), "the source is empty, and makes one entity without components",
                             "write `components`, `children` or `prefab`, or a level with `entities`");
    result_.is_level_ = is_level(root);
    if (result_.is_level_) {
        compose_level(root);
    } else {
        Entry entry{{}, root.position(), root};
        entry.key = guid_of(root, entry.position);
        if (entry.key.empty()) entry.key = ".";
        const MergedEntity* entity = merge(root, entry, nullptr);
        if (entity != nullptr) flatten({&entity, 1});
    }
    return std::move(result_);
}

// --- prefabs -------------------------------------------------------------------------------------------------------

/// Looks for `name` in every root and notes what was tried.
void Composer::search_roots(std::string_view name, NamedPrefab& found) {
    std::vector<std::string> tries;
    if (last_part(name).find('.') != std::string_view::npos) tries.emplace_back(name);
    for (const std::string_view extension : kSourceExtensions) tries.push_back(concat(name, extension));
    std::string tried;
    for (std::size_t root = 0; root < roots_.size(); ++root)
        for (const std::string& relative : tries) {
            const std::string path = path_in_root(root, relative);
            if (files_.exists(path)) {
                result_.dependencies_.push_back({DependencyKind::kMustExist, path, name_in_root(root, relative)});
                found.prefab = load_prefab(path, name_in_root(root, relative));
                return;
            }
            result_.dependencies_.push_back({DependencyKind::kMustNotExist, path, name_in_root(root, relative)});
            if (relative == tries.front()) append_text(tried, concat(tried.empty() ? "" : ", ", path));
        }
    std::string endings;
    for (std::size_t i = 1; i < tries.size(); ++i)
        append_text(endings, concat(endings.empty() ? "" : " ",
                                    std::string_view(tries[i]).substr(without_extension(tries[i]).size())));
    found.problem = concat("there is no prefab ", quoted(name));
    found.hint = roots_.empty()
                     ? "a text without roots cannot use prefabs; give a root"
                     : concat("looked for ", tried, " (and ", endings, "); correct the name or give another root");
}

Composer::NamedPrefab& Composer::find_prefab(std::string_view name) {
    const auto [at, is_new] = prefab_by_name_.try_emplace(std::string(name));
    if (!is_new) return at->second;
    NamedPrefab& found = at->second;
    if (const std::string_view problem = resource_name_problem(name); !problem.empty()) {
        found.problem = concat("the prefab name ", quoted(name), " cannot be used: ", problem);
        found.hint = "name a resource by its path inside a root, such as \"reef/coral\"";
    } else {
        search_roots(name, found);
    }
    return found;
}

/// Returns the prefab in the file at `path`, which may have been met under another name. Its text is composed by
/// use_prefab, which knows who uses it.
Composer::Prefab* Composer::load_prefab(const std::string& path, std::string name) {
    Prefab*& prefab = prefab_by_path_[files_.canonical(path)];
    if (prefab != nullptr) return prefab;
    prefabs_.emplace_back();
    prefab = &prefabs_.back();
    Prefab& loaded = *prefab;
    loaded.state = Prefab::State::kFailed;
    Result<std::string> text = files_.read(path);
    if (!text) {
        diagnostics_.error(uses_.back().position, std::string(text.message()), "a prefab is a file with one entity");
        return &loaded;
    }
    const std::uint32_t file = diagnostics_.add_file(path, std::move(text).value());
    result_.source_names_.emplace_back(file, name);
    result_.dependencies_.push_back({DependencyKind::kSource, path, name});
    const Document* document = read(file, path);
    if (document == nullptr) return &loaded;
    const Node root = document->root();
    if (!root.is_mapping() || is_level(root)) {
        diagnostics_
            .error(root.position(),
                   concat(quoted(name), " is used as a prefab but is ",
                          root.is_mapping() ? "a level" : kind_name(root.kind())),
                   "a prefab is one entity with `components`, `children` or `prefab`")
            .note(uses_.back().position, "it is used here");
        return &loaded;
    }
    loaded.state = Prefab::State::kComposing;
    uses_.back().prefab = &loaded;
    ++prefab_depth_;
    loaded.merged = merge(root, {last_part(name), root.position(), root}, nullptr);
    --prefab_depth_;
    loaded.state = loaded.merged == nullptr ? Prefab::State::kFailed : Prefab::State::kReady;
    return &loaded;
}

void Composer::report_cycle(const Prefab& prefab, Node reference) {
    std::size_t first = 0;
    while (first + 1 < uses_.size() && uses_[first].prefab != &prefab) ++first;
    std::string chain;
    for (std::size_t i = first; i < uses_.size(); ++i) append_text(chain, concat(uses_[i].name, " -> "));
    append_text(chain, reference.as_string());
    if (uses_[first].name != reference.as_string())
        append_text(chain, concat(", which is the same file as ", uses_[first].name));
    Diagnostic& error = diagnostics_.error(reference.position(), concat("prefabs use one another in a cycle: ", chain),
                                           "remove one of the references");
    for (std::size_t i = first + 1; i < uses_.size(); ++i)
        error.note(uses_[i].position, concat(quoted(uses_[i].name), " is used here"));
}

/// Returns the merged prefab that `reference` names, or nullptr: none, or it has been reported (`failed`).
const MergedEntity* Composer::use_prefab(Node reference, bool& failed) {
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
        // A name that is being searched for further up has no result yet: that is a cycle too.
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

// --- levels --------------------------------------------------------------------------------------------------------

bool Composer::is_level(Node root) const {
    if (root.find("units") || root.find("entities")) return true;
    const Node type = root.find("_type") ? root.find("_type") : root.find("type");
    return type && type.is_string() && type.as_string() == "level";
}

void Composer::compose_level(Node root) {
    EntityText text;
    std::vector<Node> others;
    read_keys(root, true, text, others);
    result_.other_keys_ = std::move(others);
    const Node units = text[EntityKey::kUnits], entities = text[EntityKey::kEntities];
    if (units && entities)
        diagnostics_
            .error(entities.key_position(), "a level has `units` or `entities`, not both", "put all into one of them")
            .note(units.key_position(), "the other is here");
    std::vector<const MergedEntity*> roots;
    add_children(entities ? entities : units, entities ? EntityKey::kEntities : EntityKey::kUnits, roots);
    MergedEntity level;
    level.position = root.position();
    level.num_entities = 0;
    level.children = roots;
    count(level);
    if (!too_large_) flatten(level.children);
}

void Composer::flatten(std::span<const MergedEntity* const> roots) {
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
            if (step.parent != kNoBlobEntity) entities[step.parent].end = static_cast<std::uint32_t>(entities.size());
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

/// Refuses two entities that could not be told apart by their GUID path.
void Composer::add_guids() {
    const std::vector<ComposedEntity>& entities = result_.entities_;
    HashMap<std::uint64_t, std::uint32_t> by_guid{Owner("composer")};
    by_guid.reserve(entities.size());
    for (std::uint32_t i = 0; i < entities.size(); ++i) {
        const auto [other, is_new] = by_guid.insert(entities[i].guid, i);
        if (is_new) continue;
        diagnostics_
            .error(entities[i].entity->position,
                   concat("the GUID path of entity ", quoted(entities[i].entity->key), " is that of another entity"),
                   "give one of them another GUID")
            .note(entities[*other].entity->position, "the other is here");
    }
}

}  // namespace shoal
