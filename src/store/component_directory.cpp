#include "shoal/store/detail/component_directory.h"

#include "shoal/base/assert.h"
#include "shoal/base/text.h"
#include "shoal/store/detail/waiting_commands.h"
#include "shoal/table/detail/type_name.h"

#include <algorithm>
#include <utility>

namespace shoal {

ComponentDirectory::ComponentDirectory(EntityManager& entities, DirectoryOwner* owner)
    : entities_(entities), owner_(owner) {}

ComponentDirectory::~ComponentDirectory() { end_stores(); }

// --- stores ------------------------------------------------------------------------------------------------------

Status ComponentDirectory::add(Store& store) {
    if (is_held_) refuse_held(store);
    if (has(store)) return Status::error("the store is attached to this world already");
    if (store.component_directory_ != store.alone_in_)
        return Status::error("the store is attached to another world; detach it there first");
    if (store.alone_in_ != nullptr && store.alone_in_ != this && store.alone_in_->commands() != nullptr &&
        store.alone_in_->commands()->num_waiting() != 0)
        return Status::error(concat("commands wait in ", store.kind(), "; settle it before it is attached"));
    for (const Schema* schema : store.schemas())
        if (Status status = check(store, *schema); !status) return status;
    stores_.push_back(&store);
    store.component_directory_ = this;
    for (const Schema* schema : store.schemas()) note(store, schema->id());
    if (owner_ != nullptr) owner_->note_store(store);
    return {};
}

/// Ends the program because a pass has created a store, often by using one of its component types for the first time.
void ComponentDirectory::refuse_held(const Store& store) {
    std::string names, values;
    for (const Schema* schema : store.schemas()) {
        names += concat(names.empty() ? " for \"" : "\", \"", schema->name());
        if (values.empty()) values = concat("commands.add(entity, ", type_name_of(schema->name()), "{...})");
    }
    if (!names.empty()) names += '"';
    fail_assertion(
        "no passes run",
        concat("a pass made or attached a store of the world that runs it: ", store.kind(), names,
               "; make the store before World::step()",
               values.empty() ? std::string() : concat(", or let the function take a Commands& and say ", values)));
}

void ComponentDirectory::remove(Store& store) {
    SHOAL_ASSERT(has(store), "the store is not attached to this world");
    SHOAL_ASSERT(!is_held_, "a pass removed a store of the world that runs it; remove it after World::step()");
    leave(store);
}

/// The store may already be partly destroyed, so its virtual functions are not called.
void ComponentDirectory::erase(Store& store) {
    stores_.erase(std::remove(stores_.begin(), stores_.end(), &store), stores_.end());
    store.component_directory_ = store.alone_in_;
    Array<ComponentId> kept{Owner("world")};
    keepers_.for_each([&](ComponentId component, Store* keeper) {
        if (keeper == &store) kept.push_back(component);
    });
    for (const ComponentId component : kept) keepers_.erase(component);
}

void ComponentDirectory::clear() {
    for (Store* store : stores_) {
        if (store->alone_in_ == this) store->alone_in_ = nullptr;
        store->component_directory_ = store->alone_in_;
    }
    stores_.clear();
    keepers_.clear();
}

void ComponentDirectory::end_stores() {
    end_commands();  // before the stores, because values in commands may refer to their data
    clear();
    destroy_after(0);
    singletons_.destroy();
}

void ComponentDirectory::leave(Store& store) {
    if (owner_ != nullptr) owner_->forget_store(store);
    if (has(store)) erase(store);
}

void ComponentDirectory::replace(Store& before, Store& after) {
    SHOAL_ASSERT(!is_held_, "a pass replaced a store of the world that runs it");
    SHOAL_ASSERT(has(before) && after.component_directory_ == after.alone_in_,
                 "a store takes the place of one that is here");
    *std::find(stores_.begin(), stores_.end(), &before) = &after;
    before.component_directory_ = before.alone_in_;
    after.component_directory_ = this;
    for (const Schema* schema : after.schemas()) note(after, schema->id());
}

// --- owned stores ------------------------------------------------------------------------------------------------

void ComponentDirectory::own(Store& store, void* object, void (*destroy)(void* object)) {
    owned_.push_back({&store, object, destroy});
    if (has(store)) return;
    const Status status = add(store);
    SHOAL_ASSERT(status.ok(), status.ok() ? "" : status.message().data());
}

/// Returns the index of a store among the owned stores, or the number of owned stores if the store is not owned.
std::size_t ComponentDirectory::find_owned(const Store& store) const {
    std::size_t i = 0;
    while (i < owned_.size() && owned_[i].store != &store) ++i;
    return i;
}

void ComponentDirectory::destroy(Store& store) {
    SHOAL_ASSERT(!is_held_, "a pass ended a store of the world that runs it");
    const std::size_t i = find_owned(store);
    SHOAL_ASSERT(i < owned_.size(), "the directory owns the store");
    const Owned owned = owned_[i];
    owned_.erase(owned_.begin() + static_cast<std::ptrdiff_t>(i));
    end(owned);
}

void ComponentDirectory::end(const Owned& owned) {
    if (has(*owned.store)) leave(*owned.store);
    owned.destroy(owned.object);
}

void ComponentDirectory::destroy_after(std::size_t num_owned) {
    while (owned_.size() > num_owned) {
        const Owned last = owned_.back();
        owned_.pop_back();
        end(last);
    }
}

// --- all stores together -----------------------------------------------------------------------------------------

void ComponentDirectory::hold(bool holds) {
    is_held_ = holds;
    entities_.hold(holds);
    for (Store* store : stores_) store->hold_rows(holds);
}

// --- component types ---------------------------------------------------------------------------------------------

const Schema* ComponentDirectory::find_schema(ComponentId component) const {
    const Store* const keeper = find(component);
    for (std::size_t i = 0; keeper != nullptr && i < keeper->schemas().size(); ++i)
        if (keeper->schemas()[i]->id() == component) return keeper->schemas()[i];
    return nullptr;
}

KeptComponent ComponentDirectory::find_kept(ComponentId component) const {
    if (const Schema* const schema = find_schema(component)) return {find(component), schema};
    for (Store* store : stores_)
        for (const Schema* schema : store->shown_schemas())
            if (schema->id() == component) return {store, schema};
    return {};
}

Store* ComponentDirectory::find_shown(const Schema& component) const {
    if (Store* const keeper = find(component.id())) return keeper;
    for (Store* store : stores_)
        if (store->find_columns(component)) return store;
    return nullptr;
}

Result<Store*> ComponentDirectory::require(const Schema& component) {
    if (Store* const store = find_shown(component)) return store;
    return owner_ == nullptr ? Result<Store*>(static_cast<Store*>(nullptr)) : owner_->make_store_of(component);
}

Store* ComponentDirectory::require_or_end(const Schema& component) {
    const Result<Store*> store = require(component);
    SHOAL_ASSERT(store.ok(), store.ok() ? "" : store.message().data());
    return *store;
}

Status ComponentDirectory::require_built_in(ComponentId name) {
    const Schema* const component = owner_ == nullptr ? nullptr : owner_->find_built_in(name);
    return component == nullptr ? Status() : require(*component).status();
}

Result<Store*> ComponentDirectory::require_for_command(const Schema& component) {
    Result<Store*> known = require(component);
    if (!known || *known != nullptr) return known;
    if (owner_ != nullptr) {
        Result<Store*> chosen = owner_->choose_store_for(component);
        if (!chosen) return chosen;
        if (Status status = claim(**chosen, component); !status) return status;
        return chosen;
    }
    Status why = Status::error(concat("no store keeps \"", component.name(), '"'));
    for (Store* store : stores_) {
        why = claim(*store, component);
        if (why) return store;
    }
    return why;
}

Status ComponentDirectory::check(const Store& store, const Schema& component) const {
    const Store* const keeper = find_shown(component);
    if (keeper == &store) return {};
    if (keeper == nullptr) return owner_ == nullptr ? Status() : owner_->check_store(store, component);
    return Status::error(concat("\"", component.name(), "\" is kept in ", keeper->kind(),
                                " of this world, so it cannot also be kept in ", store.kind(),
                                "; use the first, or choose with ComponentDirectory::claim() before either is used"));
}

Status ComponentDirectory::claim(Store& store, const Schema& component) {
    SHOAL_ASSERT(has(store), "the owning store of a component type is a store of the world");
    if (Status status = check(store, component); !status) return status;
    if (Status status = store.take_component(component); !status) return status;
    note(store, component.id());
    return {};
}

// --- commands ----------------------------------------------------------------------------------------------------

WaitingCommands& ComponentDirectory::set_commands(WaitingCommands& made, void (*release)(WaitingCommands&)) {
    __atomic_store_n(&release_commands_, release, __ATOMIC_RELAXED);  // all threads set the same value
    WaitingCommands* known = nullptr;
    const bool is_first =
        __atomic_compare_exchange_n(&commands_, &known, &made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return is_first ? made : *known;
}

void ComponentDirectory::end_commands() {
    while (commands_ != nullptr) release_commands_(*std::exchange(commands_, nullptr));
}

}  // namespace shoal
