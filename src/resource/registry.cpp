#include "shoal/resource/registry.h"

#include "shoal/base/text.h"

namespace shoal {
namespace {

/// Compares everything that a registration says, not only the layout.
bool equal(const Schema& a, const Schema& b) {
    const auto same_field = [](const Field& x, const Field& y) {
        return x.unit == y.unit && x.has_range == y.has_range && x.minimum == y.minimum && x.maximum == y.maximum &&
               x.struct_offset == y.struct_offset && x.opaque == y.opaque && x.relation == y.relation;
    };
    if (a.layout_hash() != b.layout_hash() || a.version() != b.version() || a.toggled() != b.toggled() ||
        a.many() != b.many() || a.struct_bytes() != b.struct_bytes())
        return false;
    for (std::size_t i = 0; i < a.fields().size(); ++i)
        if (!same_field(a.fields()[i], b.fields()[i])) return false;
    const std::span<const std::byte> x = a.default_image(), y = b.default_image();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (x[i] != y[i]) return false;
    return true;
}

}  // namespace

ComponentRegistry::~ComponentRegistry() {
    for (const RegisteredComponent* component : components_) {
        delete component->schema;
        delete component;
    }
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

Status ComponentRegistry::set_spawn_function(std::string_view name, SpawnFunction function, void* context) {
    SHOAL_ASSERT(function != nullptr, "a spawn function is needed");
    Result<RegisteredComponent*> component = claim(name);
    if (!component) return component.status();
    RegisteredComponent& c = **component;
    if (c.spawn != nullptr && (c.spawn != function || c.spawn_context != context))
        return Status::error(concat("component \"", name, "\" has another spawn function already"));
    c.spawn = function;
    c.spawn_context = context;
    return {};
}

const RegisteredComponent* ComponentRegistry::find(ComponentId id) const { return by_id_.find_or(id, nullptr); }

const RegisteredComponent* ComponentRegistry::find(std::string_view name) const {
    const RegisteredComponent* component = find(ComponentId(name));
    return component != nullptr && component->name == name ? component : nullptr;
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
