#pragma once
// Makes the changes that commands asked for. See commands.h for the rules.
// Thread: the structural thread of the database.

#include "command/command_log.h"

namespace shoal {

class CommandSettler {
public:
    /// `loops` are in the order that counts.
    CommandSettler(Database& database, CommandScratch& scratch, std::span<CommandLoop* const> loops, EntityBits epoch,
                   EntityBits num_pending);

    void run();
    const SettleCounts& counts() const { return counts_; }

private:
    using Kind = detail::CommandKind;
    using Row = detail::CommandRow;
    using Run = Commands::Run;

    void number_pending();
    void destroy();
    bool cancel(std::uint32_t chunk, Entity pending);
    void create();
    void create_rows(const Run& run);
    void create_in_zone(const Run& run, std::span<const std::uint32_t> order, std::span<const Entity> made, Zone zone);
    template <class Visit>
    void for_each_pending(Visit&& visit);
    void move();
    void change();
    void change_rows(std::uint32_t chunk, const Run& run);
    void change_contended();
    void change_one(std::span<const ContendedCommand> commands);

    /// Calls visit(chunk, run) for the rows of one kind, in order.
    template <class Visit>
    void for_each_run(Kind first, Kind last, Visit&& visit);
    template <class Visit>
    static void for_each_row(const Run& run, Visit&& visit) {
        for (std::byte* row = run.begin; row != run.end; row += run.list->row_bytes)
            visit(*reinterpret_cast<Row*>(row));
    }
    static Row& row_at(const Run& run, std::size_t i) {
        return *reinterpret_cast<Row*>(run.begin + i * run.list->row_bytes);
    }
    static std::uint32_t num_rows(const Run& run) {
        return static_cast<std::uint32_t>((run.end - run.begin) / run.list->row_bytes);
    }
    static std::span<const detail::CommandPart> parts_of(const detail::CommandList& list) {
        return {list.parts, list.num_parts};
    }

    EntityBits number_of(std::uint32_t chunk, Entity pending) const;
    Entity resolve(std::uint32_t chunk, Entity entity) const;
    void resolve_rows(std::uint32_t chunk, const Run& run);
    void resolve_values(std::uint32_t chunk, const Run& run);
    ComponentType component_of(const detail::CommandPart& part);
    const Archetype& type_of(const detail::CommandList& list);
    void give_values(const Run& run, std::span<const std::uint32_t> order);
    void clear_named();
    void note_failure(const char* what, std::size_t count, std::string_view message);

    Database& database_;
    EntityManager& entities_;
    CommandScratch& scratch_;
    EntityBits epoch_, num_pending_;
    std::size_t num_cancelled_ = 0;  // pending entities that are never made
    SettleCounts counts_;
};

}  // namespace shoal
