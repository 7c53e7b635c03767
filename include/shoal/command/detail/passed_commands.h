#pragma once
// Commands that are passed from one directory of stores to another, such as the directory on the machine that owns the
// command's entity.
//
//     here   pass 3: destroy(e7), add(e9, ...)   --take_commands()-->   add(e9, ...)
//                              |  e7 is elsewhere
//     there  pass 3: ...   <--give_command()     carried out after the commands of pass 3 there
// Commands that create, spawn or copy have no existing entity as their target and are not passed on. Functions of
// Commands::call() are not passed on either.
// Thread: the structural thread, between passes.

#include "shoal/command/detail/saved_commands.h"
#include "shoal/store/detail/waiting_commands.h"

#include <span>
#include <string_view>

namespace shoal {

/// A component type that a command names. A plain struct of views.
struct PassedPart {
    const Schema* component = nullptr;
    static constexpr std::uint32_t kNoField = 0xFFFFFFFF;
    std::uint32_t field = kNoField;  ///< for kSet: the field that is set
    bool is_disabled = false;
    /// The schema of the value: the component's schema, or a schema with only the field that is set; nullptr if there
    /// is no value.
    const Schema* value_schema = nullptr;
    std::span<const std::byte> value{};  ///< a struct image of value_schema
};

struct PassedCommand {
    SavedCommandKind kind{};
    std::uint32_t pass = 0;  ///< the 1-based place of the pass in the order, or 0 outside of passes
    Entity entity{};
    Zone zone = kNoZone;  ///< for kMove: the new zone
    TextChange change{};  ///< for kText: the change, with the text
    std::string_view text{};
    std::span<const PassedPart> parts{};
};

/// Takes the pending commands about entities for which is_elsewhere(context, entity) is true. Calls visit(context,
/// command) for each of them, in the order in which they would be carried out, and drops them here. Commands with
/// values of a C++ type that has more than its declared fields cannot be passed on, and are also dropped. Returns how
/// many commands could not be passed on.
SHOAL_API std::uint64_t take_commands(ComponentDirectory& directory,
                                      bool (*is_elsewhere)(const void* context, Entity entity),
                                      void (*visit)(void* context, const PassedCommand& command), void* context);
/// Makes the next settle replace these pending entities with the entities that it creates for them, or with null where
/// it creates none. If that settle carries out no commands, the entities stay pending. Lifetime: `pending` outlives
/// that settle.
SHOAL_API void resolve_when_created(ComponentDirectory& directory, std::span<Entity> pending);
/// Returns the schema of the value that sets a field. Requires: the field is plain bytes.
SHOAL_API Schema value_schema_of(const Schema& component, std::uint32_t field);
/// Errors: the bytes are not a valid value of the field, or a store would refuse them. Shape: a struct image of
/// `schema`.
SHOAL_API Status check_passed_value(ComponentDirectory& directory, const Schema& schema,
                                    std::span<const std::byte> image);
/// Adds a command after the commands of the same pass. Requires: the command does not create, spawn or copy; values
/// have the layout of their schemas.
SHOAL_API void give_command(ComponentDirectory& directory, const PassedCommand& command);

}  // namespace shoal
