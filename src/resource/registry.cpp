#include "shoal/resource/detail/registry.h"

#include "shoal/base/text.h"
#include "shoal/resource/migration.h"

#include <algorithm>

namespace shoal {
namespace {

/// Compares the whole schemas, not only their layouts.
bool equal(const Schema& a, const Schema& b) {
    const auto same_field = [](const Field& x, const Field& y) {
        return x.unit == y.unit && x.has_range == y.has_range && x.minimum == y.minimum && x.maximum == y.maximum &&
               x.struct_offset == y.struct_offset && x.opaque == y.opaque && x.relation == y.relation;
    };
    if (a.layout_hash() != b.layout_hash() || a.version() != b.version() || a.enableable() != b.enableable() ||
        a.many() != b.many() || a.singleton() != b.singleton() || a.struct_bytes() != b.struct_bytes())
        return false;
    for (std::size_t i = 0; i < a.fields().size(); ++i)
        if (!same_field(a.fields()[i], b.fields()[i])) return false;
    const std::span<const std::byte> x = a.default_image(), y = b.default_image();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (x[i] != y[i]) return false;
    return true;
}

constexpr std::string_view kBytesField = "bytes";

}  // namespace

bool is_bytes_component(const Schema& schema) {
    if (schema.fields().size() != 1) return false;
    const Field& field = schema.fields()[0];
    return field.name == kBytesField && field.type == FieldType::kBlobArray &&
           field.element_type == FieldType::kUint8 && field.array_length == 0;
}

namespace {

void destroy(const RegisteredComponent* component) {
    delete component->schema;
    delete component->migrations;
    delete component;
}

}  // namespace

ComponentRegistry::~ComponentRegistry() {
    for (const RegisteredComponent* component : components_) destroy(component);
}

void ComponentRegistry::remove(std::string_view name) {
    const RegisteredComponent* const component = find(name);
    if (component == nullptr) return;
    by_id_.erase(component->id);
    components_.erase(std::find(components_.begin(), components_.end(), component));
    destroy(component);
}

void ComponentRegistry::remove_functions(std::string_view name) {
    if (find(name) == nullptr) return;
    RegisteredComponent& component = *by_id_.find_or(ComponentId(name), nullptr);
    component.spawn = nullptr, component.spawn_bytes = nullptr, component.spawn_context = nullptr;
    component.compile = nullptr, component.compile_context = nullptr, component.spawn_order = 0;
    component.compile_scope = CompileScope::kComponent, component.more_keys = {};
}

Status ComponentRegistry::add(const Schema& schema) {
    Result<RegisteredComponent*> component = claim(schema.name());
    if (!component) return component.status();
    const Schema*& known = (*component)->schema;
    if (known == nullptr) known = new Schema(schema);
    if (known->layout_hash() == schema.layout_hash() && equal(*known, schema)) return {};
    const bool is_hidden = known->to_text() == schema.to_text();
    return Status::error(concat(
        "component \"", schema.name(), "\" is registered as ", known->to_text(), ", and again as ", schema.to_text(),
        is_hidden ? ", with other defaults, units, ranges, enums or flags" : "", "; rename one of them"));
}

Status ComponentRegistry::set_compile_function(std::string_view name, CompileFunction function, void* context,
                                               std::int32_t spawn_order, CompileScope scope,
                                               std::span<const std::string_view> more_keys) {
    Result<RegisteredComponent*> component = claim(name);
    if (!component) return component.status();
    RegisteredComponent& c = **component;
    const bool is_new = c.compile == nullptr && c.spawn_order == 0;
    if (!is_new && (c.compile != function || c.compile_context != context || c.spawn_order != spawn_order ||
                    c.compile_scope != scope))
        return Status::error(concat("component \"", name, "\" has another compile function or spawn order already"));
    c.compile = function;
    c.compile_context = context;
    c.spawn_order = spawn_order;
    c.compile_scope = scope;
    c.more_keys = more_keys;
    return {};
}

Status ComponentRegistry::set_blob_order(std::string_view name, BlobOrder order) {
    Result<RegisteredComponent*> component = claim(name);
    if (component) (*component)->blob_order = order;
    return component.status();
}

Status ComponentRegistry::set_spawn_function(std::string_view name, SpawnFunction function, void* context) {
    SHOAL_ASSERT(function != nullptr, "a spawn function is needed");
    return set_spawn_functions(name, function, nullptr, context);
}

Status ComponentRegistry::set_spawn_functions(std::string_view name, SpawnFunction spawn,
                                              BytesSpawnFunction spawn_bytes, void* context) {
    Result<RegisteredComponent*> component = claim(name);
    if (!component) return component.status();
    RegisteredComponent& c = **component;
    if (c.has_spawn_function() && (c.spawn != spawn || c.spawn_bytes != spawn_bytes || c.spawn_context != context))
        return Status::error(concat("component \"", name, "\" has another spawn function already"));
    c.spawn = spawn;
    c.spawn_bytes = spawn_bytes;
    c.spawn_context = context;
    return {};
}

/// Errors: the name has a different schema, or is not a valid name.
Result<Schema> ComponentRegistry::make_bytes_schema(std::string_view name) const {
    ComponentDefinition definition;
    definition.name = name;
    definition.fields.push_back(
        {.name = std::string(kBytesField), .type = FieldType::kBlobArray, .element_type = FieldType::kUint8});
    Result<Schema> schema = Schema::make(std::move(definition));
    const RegisteredComponent* const known = find(name);
    if (!schema || known == nullptr || known->schema == nullptr || equal(*known->schema, *schema)) return schema;
    return Status::error(concat("component \"", name, "\" is registered as ", known->schema->to_text(),
                                ", so it cannot be bytes that a function makes; rename one of them"));
}

Status ComponentRegistry::set_bytes_compile_function(std::string_view name, CompileFunction function, void* context,
                                                     std::int32_t spawn_order) {
    SHOAL_ASSERT(function != nullptr, "a compile function is needed");
    const Result<Schema> schema = make_bytes_schema(name);
    if (!schema) return schema.status();
    if (Status status = set_compile_function(name, function, context, spawn_order); !status) return status;
    return add(*schema);
}

Status ComponentRegistry::set_bytes_spawn_function(std::string_view name, BytesSpawnFunction function, void* context) {
    SHOAL_ASSERT(function != nullptr, "a spawn function is needed");
    const Result<Schema> schema = make_bytes_schema(name);
    if (!schema) return schema.status();
    if (Status status = set_spawn_functions(name, nullptr, function, context); !status) return status;
    return add(*schema);
}

Migrations& ComponentRegistry::migrations(const Schema& schema) {
    const Status added = add(schema);
    SHOAL_ASSERT(added.ok(), added.message().data());
    Migrations*& known = by_id_.find_or(schema.id(), nullptr)->migrations;
    if (known == nullptr) known = new Migrations;
    return *known;
}

const RegisteredComponent* ComponentRegistry::find(ComponentId id) const { return by_id_.find_or(id, nullptr); }

const RegisteredComponent* ComponentRegistry::find(std::string_view name) const {
    const RegisteredComponent* component = find(ComponentId(name));
    return component != nullptr && component->name == name ? component : nullptr;
}

const RegisteredComponent* ComponentRegistry::find_current(ComponentId id) const {
    if (const RegisteredComponent* const known = find(id)) return known;
    for (const RegisteredComponent* component : components_)
        if (component->migrations != nullptr)
            for (const std::string& name : component->migrations->old_names())
                if (ComponentId(name) == id) return component;
    return nullptr;
}

Result<RegisteredComponent*> ComponentRegistry::claim(std::string_view name) {
    if (name.empty()) return Status::error("a component needs a name to be registered by");
    const ComponentId id(name);
    if (RegisteredComponent* const known = by_id_.find_or(id, nullptr)) {
        if (known->name == name) return known;
        return Status::error(concat("the components \"", known->name, "\" and \"", name,
                                    "\" have the same identifier; rename one of them"));
    }
    auto* component = new RegisteredComponent{std::string(name), id};
    components_.push_back(component);
    by_id_.add(id, component);
    return component;
}

}  // namespace shoal
