#include "source/compiler_state.h"

#include "shoal/base/clock.h"
#include "shoal/base/text.h"
#include "shoal/document/sjson.h"
#include "source/layers.h"

#include <algorithm>
#include <cstring>

namespace shoal {

Compilation::Compilation(const Composition& composition, const ComponentRegistry& registry,
                         const CompileOptions& options, Diagnostics& diagnostics)
    : composition_(composition),
      registry_(registry),
      options_(options),
      diagnostics_(diagnostics),
      references_(composition),
      shared_(composition.num_shared_layers()) {}

void Compilation::run(CompiledSource& result) {
    plan_types();
    add_entities();
    group_components();
    std::vector<TypePlan*> order;
    for (TypePlan& plan : plans_) {
        if (plan.rows.empty()) continue;
        if (plan.schema != nullptr)
            order.push_back(&plan);
        else if (options_.rules.keep_unknown_components)
            keep_type(plan, result);
        else
            unknown_type(plan);
    }
    std::sort(order.begin(), order.end(), [](const TypePlan* a, const TypePlan* b) {
        const std::int32_t order_a = a->registered->spawn_order, order_b = b->registered->spawn_order;
        return order_a != order_b ? order_a < order_b : a->name < b->name;
    });
    for (TypePlan* plan : order) compile_type(*plan, result);
    keep_entity_keys(kNoBlobEntity, composition_.other_keys());
    warn_kept(result);
    for (const SourceDependency& dependency : composition_.dependencies())
        blob_.add_dependency(dependency.kind, dependency.name);
    result.num_entities = composition_.entities().size();
    for (const ComposedEntity& entity : composition_.entities()) result.num_roots += entity.parent == kNoBlobEntity;
    result.dependencies.assign(composition_.dependencies().begin(), composition_.dependencies().end());
}

void Compilation::plan_types() {
    plans_.resize(composition_.types().size());
    for (std::size_t i = 0; i < plans_.size(); ++i) {
        TypePlan& plan = plans_[i];
        plan.name = composition_.types()[i];
        plan.registered = registry_.find(plan.name);
        if (plan.registered == nullptr || plan.registered->schema == nullptr) continue;
        plan.schema = plan.registered->schema;
        plan.has_references = plan.schema->has(FieldType::kEntity);
        std::vector<std::string_view> names;
        for (const Field& field : plan.schema->fields()) names.push_back(field.name);
        plan.keys = KeyPredictor(names);
    }
}

namespace {

/// Lines of places that come in the order of the text, found in one pass. Others are left to Diagnostics.
class LineCursor {
public:
    LineCursor(const Diagnostics& diagnostics, std::uint32_t file)
        : diagnostics_(diagnostics), file_(file), text_(file == 0 ? std::string_view() : diagnostics.text(file)) {}

    std::uint32_t line_of(SourcePosition position) {
        if (position.file != file_ || position.offset < offset_ || position.offset > text_.size())
            return diagnostics_.locate(position).line;
        const std::string_view passed = text_.substr(offset_, position.offset - offset_);
        line_ += static_cast<std::uint32_t>(std::count(passed.begin(), passed.end(), '\n'));
        offset_ = position.offset;
        return line_;
    }

private:
    const Diagnostics& diagnostics_;
    std::uint32_t file_;
    std::string_view text_;
    std::uint32_t offset_ = 0;
    std::uint32_t line_ = 1;
};

}  // namespace

void Compilation::add_entities() {
    std::uint32_t file = 0;
    LineCursor lines(diagnostics_,
                     composition_.entities().empty() ? 0 : composition_.entities()[0].entity->position.file);
    std::string_view file_name;
    for (std::uint32_t i = 0; i < composition_.entities().size(); ++i) {
        const ComposedEntity& composed = composition_.entities()[i];
        const MergedEntity& entity = *composed.entity;
        if (entity.position.file != file) {
            file = entity.position.file;
            file_name = composition_.source_name(file);
        }
        blob_.add_entity({composed.parent, composed.guid, entity.name, file_name, lines.line_of(entity.position)});
        if (!entity.other_keys.empty()) keep_entity_keys(i, entity.other_keys);
    }
}

void Compilation::keep_entity_keys(std::uint32_t entity, std::span<const Node> keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto same_key = [&](Node other) { return other.key() == keys[i].key(); };
        if (std::any_of(keys.begin() + static_cast<std::ptrdiff_t>(i) + 1, keys.end(), same_key))
            continue;  // said again by a later text
        KeptCount& count = kept_keys_[keys[i].key()];
        if (count.count++ == 0) count.first = keys[i].key_position();
        DocumentBuilder builder;
        builder.begin_mapping();
        builder.member(keys[i]);
        builder.end();
        const Document document = builder.finish();
        blob_.add_kept_text(entity, "", write_sjson(document.root()));
    }
}

// --- grouping ------------------------------------------------------------------------------------------------------

bool Compilation::check_single(const TypePlan& plan, const MergedComponent& component, std::uint32_t entity) {
    if (plan.schema == nullptr || plan.schema->many() || plan.rows.empty() || plan.rows.back().entity != entity)
        return true;
    const ComponentLayer* declared = component.top;
    while (declared->below != nullptr) declared = declared->below;
    if (doubles_.insert(declared).second)
        diagnostics_
            .error(component.position, concat("this entity has two components of type ", quoted(plan.name)),
                   "delete one of them; only component types declared with `many = true` may occur more than once")
            .note(plan.rows.back().component->position, "the other is here");
    return false;
}

void Compilation::group_components() {
    const std::span<const ComposedEntity> entities = composition_.entities();
    for (std::uint32_t i = 0; i < entities.size(); ++i)
        for (const MergedComponent& component : entities[i].entity->components) {
            TypePlan& plan = plans_[component.type];
            if (check_single(plan, component, i)) plan.rows.push_back({i, &component});
        }
}

void Compilation::unknown_type(const TypePlan& plan) {
    std::vector<std::string_view> names;
    for (const RegisteredComponent* known : registry_.components())
        if (known->schema != nullptr) names.push_back(known->name);
    const int close = closest_text(plan.name, names.data(), names.size());
    const bool has_function = plan.registered != nullptr;
    for (const TypePlan::Row& row : plan.rows) {
        const ComponentLayer* declared = row.component->top;
        while (declared->below != nullptr) declared = declared->below;
        if (!doubles_.insert(declared).second) continue;
        SourcePosition position = row.component->position;
        for (const std::string_view key : {"type", "_type"})
            if (const Node type = declared->value.find(key)) position = type.position();
        diagnostics_.error(position, concat("there is no component type ", quoted(plan.name)),
                           has_function ? "functions are registered for it, but no schema"
                           : close >= 0
                               ? concat("did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?")
                               : "give a schema file that declares it, or one that says `unknown_components = keep`");
    }
}

// --- components ----------------------------------------------------------------------------------------------------

void Compilation::compile_type(TypePlan& plan, CompiledSource& result) {
    const Result<std::uint32_t> type = blob_.add_component_type(*plan.schema, plan.registered->spawn_order);
    if (!type) {
        diagnostics_.error(plan.rows[0].component->position, std::string(type.message()));
        return;
    }
    const std::size_t num_bytes = plan.schema->struct_bytes();
    const bool is_whole =
        plan.registered->compile != nullptr && plan.registered->compile_scope == CompileScope::kComponent;
    std::uint64_t count = 0;
    for (const TypePlan::Row& row : plan.rows) {
        const std::byte* image = nullptr;
        if (is_whole) {
            if (!compile_merged(plan, row)) continue;
            image = image_.data();
        } else {
            image = make_image(plan, row, *row.component->top);
            if (plan.has_references) {
                if (image != image_.data()) image_.assign(image, image + num_bytes);
                resolve_references(plan, row);
                image = image_.data();
            }
        }
        if (!kept_.empty()) keep_fields(plan, row.entity);
        blob_.add_component(*type, row.entity, {image, num_bytes});
        ++count;
    }
    result.components.push_back({std::string(plan.name), count});
    result.num_components += count;
}

void Compilation::keep_type(TypePlan& plan, CompiledSource& result) {
    for (const TypePlan::Row& row : plan.rows) {
        const Document merged = merge_layers(*row.component->top);
        const bool is_empty = merged.root().is_null();
        blob_.add_kept_text(row.entity, plan.name, is_empty ? std::string() : write_sjson(merged.root()));
    }
    result.num_kept_components += plan.rows.size();
    diagnostics_.warning(plan.rows[0].component->position,
                         concat("kept ", plan.rows.size(), plan.rows.size() == 1 ? " component" : " components",
                                " of type ", quoted(plan.name), " as text"),
                         "no schema knows this type; declare it in a schema file to use it");
}

void Compilation::warn_kept(CompiledSource& result) {
    const auto warn = [&](const KeptCounts& counts, std::string_view owner) {
        for (const auto& [key, kept] : counts) {
            diagnostics_.warning(kept.first,
                                 concat("kept ", kept.count, kept.count == 1 ? " value" : " values", " of ",
                                        quoted(key), owner, " as text"),
                                 "no schema knows it; declare it, or list it under `ignored_keys`, in a schema file");
            result.num_kept_fields += kept.count;
        }
    };
    for (const TypePlan& plan : plans_) warn(plan.kept_fields, concat(" in components of type ", quoted(plan.name)));
    warn(kept_keys_, composition_.is_level() ? " in the level or its entities" : " in entities");
}

// --- the whole -----------------------------------------------------------------------------------------------------

namespace {

ComposeOptions compose_options(const CompileOptions& options) {
    ComposeOptions result = options.compose;
    result.ignored_keys.insert(result.ignored_keys.end(), options.rules.ignored_keys.begin(),
                               options.rules.ignored_keys.end());
    result.keep_unknown_keys = options.rules.keep_unknown_fields;
    return result;
}

std::string_view without_folder_and_extension(std::string_view name, bool keep_folder) {
    const std::size_t slash = name.rfind('/');
    const std::size_t dot = name.rfind('.');
    if (dot != std::string_view::npos && dot > 0 && (slash == std::string_view::npos || dot > slash + 1))
        name = name.substr(0, dot);
    return keep_folder || slash == std::string_view::npos ? name : name.substr(slash + 1);
}

/// The name of a resource: its path inside its root.
std::string resource_name(std::string_view source_name) {
    if (!source_name.empty() && source_name[0] == '$')
        source_name.remove_prefix(std::min(source_name.find('/') + 1, source_name.size()));
    return std::string(without_folder_and_extension(source_name, true));
}

struct Problems {
    std::size_t errors, warnings;
};

/// Says whether what was reported since `before` lets the compilation go on.
Status judge(std::string_view what, const Diagnostics& diagnostics, const Problems& before, bool strict) {
    const std::size_t errors = diagnostics.num_errors() - before.errors,
                      warnings = diagnostics.num_warnings() - before.warnings;
    const auto counted = [](std::size_t count, std::string_view word) {
        return concat(count, ' ', word, count == 1 ? "" : "s");
    };
    if (errors != 0) return Status::error(concat(what, ": ", counted(errors, "error")));
    if (strict && warnings != 0)
        return Status::error(concat(what, ": ", counted(warnings, "warning"), ", which count as errors here"));
    return {};
}

Result<CompiledSource> compile(std::string_view what, std::optional<Composition> composition, std::int64_t compose_ns,
                               const ComponentRegistry& registry, const CompileOptions& options,
                               Diagnostics& diagnostics, const Problems& before, bool makes_blob) {
    if (!composition) return judge(what, diagnostics, before, options.strict);
    CompiledSource result;
    result.compose_ns = compose_ns;
    const std::int64_t start = monotonic_ns();
    Compilation compilation(*composition, registry, options, diagnostics);
    compilation.run(result);
    result.num_warnings = diagnostics.num_warnings() - before.warnings;
    result.compile_ns = monotonic_ns() - start;
    if (Status status = judge(what, diagnostics, before, options.strict); !status) return status;
    if (!makes_blob) return result;
    std::string_view source;
    if (!composition->dependencies().empty()) source = composition->dependencies()[0].name;
    compilation.blob().set_name(options.name.empty() ? resource_name(source.empty() ? what : source) : options.name);
    Result<std::vector<std::byte>> bytes = compilation.blob().write(options.blob);
    if (!bytes) return Status::error(concat(what, ": ", bytes.message()));
    result.blob = std::move(bytes).value();
    result.write_ns = monotonic_ns() - start - result.compile_ns;
    return result;
}

Result<CompiledSource> compile_path(const std::string& path, const ComponentRegistry& registry,
                                    const CompileOptions& options, Diagnostics& diagnostics, bool makes_blob) {
    const Problems before{diagnostics.num_errors(), diagnostics.num_warnings()};
    const std::int64_t start = monotonic_ns();
    const ComposeOptions composing = compose_options(options);
    std::optional<Composition> composition = compose(path, composing, diagnostics);
    return compile(path, std::move(composition), monotonic_ns() - start, registry, options, diagnostics, before,
                   makes_blob);
}

}  // namespace

Result<CompiledSource> compile_source(const std::string& path, const ComponentRegistry& registry,
                                      const CompileOptions& options, Diagnostics& diagnostics) {
    return compile_path(path, registry, options, diagnostics, true);
}

Result<CompiledSource> check_source(const std::string& path, const ComponentRegistry& registry,
                                    const CompileOptions& options, Diagnostics& diagnostics) {
    return compile_path(path, registry, options, diagnostics, false);
}

Result<CompiledSource> compile_file(std::uint32_t file, const ComponentRegistry& registry,
                                    const CompileOptions& options, Diagnostics& diagnostics) {
    const Problems before{diagnostics.num_errors(), diagnostics.num_warnings()};
    const std::int64_t start = monotonic_ns();
    const ComposeOptions composing = compose_options(options);
    std::optional<Composition> composition = compose_file(file, composing, diagnostics);
    return compile(diagnostics.name(file), std::move(composition), monotonic_ns() - start, registry, options,
                   diagnostics, before, true);
}

}  // namespace shoal
