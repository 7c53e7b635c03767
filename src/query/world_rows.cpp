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
void require_use(const ComponentHome& home, const Schema& component, const ComponentUse& use) {
    const std::string name = concat("a query over a world names \"", component.name(), "\", ");
    if (home.database != nullptr) return;
    if (use.has_field && !home.columns.has_fields)
        refuse("home.columns.has_fields",
               concat(name, "whose store keeps its fields in another form; say With, or ask the store"));
    if (use.writes && home.columns.is_read_only)
        refuse("!home.columns.is_read_only",
               concat(name, "which its store computes; say Read, and ", home.columns.instead));
    if (use.writes && home.columns.is_source && home.columns.first_column + component.columns().size() > 64)
        refuse("first_column + num_columns <= 64",
               concat(name,
                      "whose store is told what is written in columns 0 to 63 of its table, and keeps it behind "
                      "them; say Read, or call the store"));
}

}  // namespace

JoinedStore further_store(Database& database, std::uint32_t component) {
    return {.store = &database, .rows = database.further_values({component}), .is_required = true, .is_driver = true};
}

TermPlaces places_of_further(Database& database, std::uint32_t component) {
    TermPlaces places(1);
    places.store_of[0] = places.add(further_store(database, component));
    return places;
}

ComponentHome look_up_home(const ComponentDirectory& directory, const Schema& component) {
    ComponentHome home;
    home.store = directory.find_shown(component);
    if (home.store == nullptr) return home;
    home.columns = home.store->find_columns(component);
    if (home.columns) return home;
    home.database = dynamic_cast<Database*>(home.store);  // whose tables are matched, not looked up
    const ComponentType type =
        home.database == nullptr ? ComponentType() : home.database->find_component(component.id());
    if (!type) return {};
    home.component = type.number;
    return home;
}

ComponentHome find_home(const ComponentDirectory& directory, const Schema& component, const ComponentUse& use) {
    if (const ComponentHome home = look_up_home(directory, component); home.store != nullptr) {
        require_use(home, component, use);
        return home;
    }
    if (directory.find(component.id()) != nullptr)
        refuse("home.columns", concat("a query over a world names \"", component.name(),
                                      "\", whose store shows queries no rows; see Store::find_columns()"));
    refuse("home.store != nullptr",
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

Database* find_any_database(const ComponentDirectory& directory) { return find_database(directory); }

}  // namespace shoal::detail
