#include "shoal/query/typed_database.h"

#include "shoal/base/text.h"

#include <algorithm>

namespace shoal::detail {

void ListedTypes::add_component(const Schema& schema, std::uint32_t number) {
    const Result<ComponentType> component = database_->add_component(schema);
    SHOAL_ASSERT(component.ok(), component.ok() ? "" : component.message().data());
    SHOAL_ASSERT(component->number == number,
                 "the database has numbered its component types otherwise; make the typed view of it first");
}

void ListedTypes::add_type(std::span<const ComponentType> components) {
    types_.push_back(&database_->archetype(components));
}

bool ListedTypes::has(const Archetype& type) const {
    return std::find(types_.begin(), types_.end(), &type) != types_.end();
}

Status ListedTypes::check_step(std::span<const Entity> entities, std::span<const ComponentType> components, bool adds) {
    const Archetype* last = nullptr;
    for (const Entity entity : entities) {
        if (adds && !database_->entity_manager().alive(entity)) continue;
        const DatabaseRow at = database_->find(entity);
        if (!at && !adds) continue;
        const Archetype& from = at ? at.table->type() : database_->archetype(std::span<const ComponentType>());
        if (&from == last) continue;
        last = &from;
        const Archetype* to = &from;
        for (const ComponentType component : components) {
            if (adds)
                to = &database_->with(*to, component);
            else if (!database_->schema(component).enableable())
                to = &database_->without(*to, component);
        }
        if (to != &from && !has(*to))
            return Status::error(concat("an entity of \"", from.schema().name(), "\" would become one of \"",
                                        to->schema().name(), "\", which is no listed archetype"));
    }
    return {};
}

Status ListedTypes::validate() const {
    for (const DatabaseTable* table : database_->all_tables())
        if (table != nullptr && table->num_rows() != 0 && !has(table->type()))
            return Status::error(concat("zone ", table->zone(), " holds ", table->num_rows(), " entities of \"",
                                        table->type().schema().name(), "\", which is no listed archetype"));
    return {};
}

}  // namespace shoal::detail
