// Which store of a directory keeps a component type that a query names.

#include "shoal/query/detail/world_rows.h"

#include "shoal/base/text.h"
#include "shoal/database/database.h"

namespace shoal::detail {
namespace {

[[noreturn]] void refuse(const char* condition, std::string message) {
    fail_assertion({condition, message.c_str(), __FILE__, __LINE__});
}

/// Asserts that the fields of a component type that a store keeps may be used in this way.
void require_use(const OwningStore& keeper, const Schema& component, const ComponentUse& use) {
    const std::string name = concat("a query over a world names \"", component.name(), "\", ");
    if (keeper.database != nullptr) return;
    if (use.has_field && !keeper.columns.has_fields)
        refuse("keeper.columns.has_fields",
               concat(name, "whose store keeps its fields in another form; say With, or ask the store"));
    if (use.writes && keeper.columns.is_read_only)
        refuse("!keeper.columns.is_read_only",
               concat(name, "which its store computes; say Read, and ", keeper.columns.instead));
    if (use.writes && keeper.columns.is_source && keeper.columns.first_column + component.columns().size() > 64)
        refuse("first_column + num_columns <= 64",
               concat(name,
                      "whose store is told what is written in columns 0 to 63 of its table, and keeps it behind "
                      "them; say Read, or call the store"));
}

}  // namespace

JoinedStore further_store(Database& database, std::uint32_t component) {
    return {.store = &database, .rows = database.further_values({component}), .is_required = true, .is_driver = true};
}

TermStores places_of_further(Database& database, std::uint32_t component) {
    TermStores places(1);
    places.store_of[0] = places.add(further_store(database, component));
    return places;
}

OwningStore look_up_owning_store(const ComponentDirectory& directory, const Schema& component) {
    OwningStore keeper;
    keeper.store = directory.find_shown(component);
    if (keeper.store == nullptr) return keeper;
    keeper.columns = keeper.store->find_columns(component);
    if (keeper.columns) return keeper;
    keeper.database = dynamic_cast<Database*>(keeper.store);  // whose tables are matched, not looked up
    const ComponentType type =
        keeper.database == nullptr ? ComponentType() : keeper.database->find_component(component.id());
    if (!type) return {};
    keeper.component = type.number;
    return keeper;
}

OwningStore find_owning_store(const ComponentDirectory& directory, const Schema& component, const ComponentUse& use) {
    if (const OwningStore keeper = look_up_owning_store(directory, component); keeper.store != nullptr) {
        require_use(keeper, component, use);
        return keeper;
    }
    if (directory.find(component.id()) != nullptr)
        refuse("keeper.columns", concat("a query over a world names \"", component.name(),
                                        "\", whose store shows queries no rows; see Store::find_columns()"));
    refuse("keeper.store != nullptr",
           concat("a query over a world names \"", component.name(),
                  "\", which none of its stores keeps; call world.manager<T>() or world.database().component<T>() "
                  "before the query is made"));
}

Store& require_tag_store(ComponentDirectory& directory) {
    const ComponentId tag("tag");
    const Status made = directory.require_built_in(tag);
    SHOAL_ASSERT(made.ok(), made.ok() ? "" : made.message().data());
    Store* const store = directory.find(tag);
    const bool lists = store != nullptr && find_tag_lists(*store) != nullptr;
    SHOAL_ASSERT(lists,
                 "a query asks who has a tag, but this world keeps its tags in a store that does not list that; call "
                 "World::manager<Tag>() before tags are used");
    return *store;
}

Store& require_parents_store(ComponentDirectory& directory) {
    const ComponentId transform("transform");
    const Status made = directory.require_built_in(transform);
    SHOAL_ASSERT(made.ok(), made.ok() ? "" : made.message().data());
    Store* const store = directory.find(transform);
    SHOAL_ASSERT(store != nullptr, "a query reads components of parents, and no store keeps transforms");
    return *store;
}

}  // namespace shoal::detail
