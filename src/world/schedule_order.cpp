// Orders passes according to their declarations, and reports unknown names, cycles and ambiguities.

#include "world/schedule_order.h"

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/text.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::size_t kMaxNamed = 8;  // maximum number of pairs in a message

/// A partial order of passes: for each pass, the set of passes that come after it.
using PassRelation = Array<BitSet>;
PassRelation make_relation(std::size_t n) { return PassRelation(n, BitSet(Owner("schedule")), Owner("schedule")); }

const Schema* schema_of_access(const Access& access) {
    for (const Schema* schema : access.store->schemas())
        if (schema->id() == access.component) return schema;
    return nullptr;
}

/// Returns a string such as `component "body"` or `"body.position"`.
std::string access_text(const Access& access) {
    if (access.is_everything()) return "both may touch everything";
    if (access.store == nullptr) return "an object that is not a store";
    const Schema* schema = schema_of_access(access);
    if (schema == nullptr) {
        const auto schemas = access.store->schemas();
        return schemas.size() == 1 ? concat("component \"", schemas[0]->name(), '"') : std::string("a whole store");
    }
    if (access.field >= schema->fields().size()) return concat("component \"", schema->name(), '"');
    return concat('"', schema->name(), '.', schema->fields()[access.field].name, '"');
}

class Orderer {
public:
    Orderer(std::span<const PassDeclaration> passes, bool strict, bool all_zones)
        : passes_(passes), strict_(strict), all_zones_(all_zones), before_(make_relation(passes.size())) {}

    Result<PassPlan> order() {
        for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
            for (const std::string& name : passes_[pass].after)
                if (!order_against(pass, name, true)) return unknown(pass, "after", name);
            for (const std::string& name : passes_[pass].before)
                if (!order_against(pass, name, false)) return unknown(pass, "before", name);
        }
        if (Status status = sort(); !status) return status;
        if (strict_)
            if (Status status = find_ambiguities(); !status) return status;
        connect();
        note_stores_in_zones();
        return std::move(result_);
    }

private:
    Status unknown(std::size_t pass, std::string_view word, std::string_view name) const {
        return Status::error(concat("the pass \"", passes_[pass].name, "\" is to run ", word, " \"", name,
                                    "\", but the schedule has neither a pass nor a group of that name"));
    }

    /// Orders the pass after or before the pass or group with this name. Returns false if there is no such pass or
    /// group.
    bool order_against(std::size_t pass, std::string_view name, bool after) {
        const auto add = [&](std::size_t other) {
            // A pass that is ordered after its own group comes after all other passes of the group.
            if (other == pass && passes_[pass].name != name) return;
            after ? before_[other].set(pass) : before_[pass].set(other);
        };
        bool found = false;
        for (std::size_t other = 0; other < passes_.size(); ++other)
            if (passes_[other].name == name) add(other), found = true;
        if (found || name.empty()) return found;
        for (std::size_t other = 0; other < passes_.size(); ++other)
            if (passes_[other].group == name) add(other), found = true;
        return found;
    }

    /// Sorts the passes topologically. If several passes can be next, takes the one that was added first.
    Status sort() {
        Array<bool> placed(passes_.size(), false, "schedule");
        // Returns an unplaced pass that must precede `pass`, or passes_.size().
        const auto predecessor = [&](std::size_t pass) {
            std::size_t other = 0;
            while (other < passes_.size() && (placed[other] || !before_[other].test(pass))) ++other;
            return other;
        };
        while (result_.order.size() < passes_.size()) {
            std::size_t pass = 0;
            while (pass < passes_.size() && (placed[pass] || predecessor(pass) != passes_.size())) ++pass;
            if (pass == passes_.size()) return cycle(placed, predecessor);
            placed[pass] = true;
            result_.order.push_back(static_cast<std::uint32_t>(pass));
        }
        return {};
    }

    /// Reports a cycle. Each remaining pass has a predecessor, so following predecessors leads into a cycle.
    template <class Predecessor>
    Status cycle(const Array<bool>& placed, const Predecessor& predecessor) const {
        std::size_t pass = 0;
        while (placed[pass]) ++pass;
        for (std::size_t i = 0; i < passes_.size(); ++i) pass = predecessor(pass);
        const std::size_t first = pass;
        std::string chain = concat('"', passes_[pass].name, '"');
        do {
            pass = predecessor(pass);
            chain = concat('"', passes_[pass].name, "\" before ", chain);
        } while (pass != first);
        return Status::error(concat("the order of passes has a cycle: ", chain, "; remove one of these"));
    }

    const Access* find_conflict(std::size_t a, std::size_t b, bool all_zones = false) const {
        for (const Access& mine : passes_[a].accesses)
            for (const Access& other : passes_[b].accesses)
                if (conflict(mine, other, all_zones)) return mine.is_everything() ? &other : &mine;
        return nullptr;
    }

    /// Returns an error if conflicting passes of different groups are ordered only by when they were added.
    Status find_ambiguities() const {
        const std::size_t n = result_.order.size();
        PassRelation meant = make_relation(n);  // by position; filled from the end, because an entry uses later ones
        for (std::size_t p = n; p-- > 0;)
            for (std::size_t q = p + 1; q < n; ++q) {
                const std::size_t a = result_.order[p], b = result_.order[q];
                const bool same_group = passes_[a].group == passes_[b].group;
                if (!before_[a].test(b) && !(same_group && find_conflict(a, b))) continue;
                meant[p].set(q);
                meant[p] |= meant[q];
            }
        std::string text;
        std::size_t num_pairs = 0;
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t q = p + 1; q < n; ++q) {
                if (meant[p].test(q)) continue;
                const Access* shared = find_conflict(result_.order[p], result_.order[q]);
                if (shared == nullptr || ++num_pairs > kMaxNamed) continue;
                text += concat("\n  ", pass_text(result_.order[p]), " and ", pass_text(result_.order[q]), ": ",
                               access_text(*shared));
            }
        if (num_pairs == 0) return {};
        if (num_pairs > kMaxNamed) text += concat("\n  and ", num_pairs - kMaxNamed, " more");
        return Status::error(
            concat("these passes conflict, but their order is ambiguous; order them with after() or before():", text));
    }

    std::string pass_text(std::size_t pass) const {
        const std::string_view group = passes_[pass].group;
        return concat('"', passes_[pass].name, '"', group.empty() ? "" : concat(" of \"", group, '"'));
    }

    void connect() {
        const std::size_t n = result_.order.size();
        result_.successors.assign(n, Array<std::uint32_t>("schedule"));
        result_.num_predecessors.assign(n, 0);
        for (std::uint32_t p = 0; p < n; ++p)
            for (std::uint32_t q = p + 1; q < n; ++q) {
                const std::size_t a = result_.order[p], b = result_.order[q];
                if (!before_[a].test(b) && find_conflict(a, b, all_zones_) == nullptr) continue;
                result_.successors[p].push_back(q);
                ++result_.num_predecessors[q];
            }
    }

    void note_stores_in_zones() {
        Array<const Store*>& stores = result_.stores_in_zones;
        for (const PassDeclaration& pass : passes_)
            for (const Access& access : pass.accesses)
                if (access.in_zones && std::ranges::find(stores, access.store) == stores.end())
                    stores.push_back(access.store);
        result_.num_types_in_zones = result_.count_types_in_zones();
    }

    std::span<const PassDeclaration> passes_;
    bool strict_, all_zones_;
    PassRelation before_;  // the order that after() and before() request
    PassPlan result_;
};

}  // namespace

namespace {

/// Returns "body.mass", "body", the name of a store, or "*" for everything.
std::string access_name(const Access& access) {
    if (access.is_everything()) return "*";
    if (access.store == nullptr) return "an object";
    const Schema* const schema = schema_of_access(access);
    if (schema == nullptr) {
        const auto schemas = access.store->schemas();
        return schemas.size() == 1 ? schemas[0]->name() : std::string(access.store->kind());
    }
    if (access.field >= schema->fields().size()) return schema->name();
    return concat(schema->name(), '.', schema->fields()[access.field].name);
}

void add_name(std::vector<std::string>& names, std::string name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

/// Returns the names of all data that both passes touch and at least one of them writes.
std::vector<std::string> shared_names(const PassDeclaration& a, const PassDeclaration& b) {
    std::vector<std::string> names;
    for (const Access& mine : a.accesses)
        for (const Access& other : b.accesses)
            if (conflict(mine, other)) add_name(names, access_name(mine.is_everything() ? other : mine));
    return names;
}

bool names_either(std::span<const std::string> names, const PassDeclaration& pass) {
    return std::ranges::any_of(names, [&](const std::string& name) { return name == pass.name || name == pass.group; });
}

}  // namespace

ScheduleGraph graph_of(const PassPlan& plan, std::span<const PassDeclaration> passes) {
    ScheduleGraph graph;
    const std::size_t n = plan.order.size();
    for (const std::uint32_t number : plan.order) {
        PassNode node{std::string(passes[number].name), std::string(passes[number].group), number, 0, {}, {}};
        for (const Access& access : passes[number].accesses)
            add_name(access.writes ? node.writes : node.reads, access_name(access));
        graph.passes.push_back(std::move(node));
    }
    PassRelation reached = make_relation(n);  // by position: all passes that wait for the pass; filled from the end
    for (std::size_t p = n; p-- > 0;)
        for (const std::uint32_t q : plan.successors[p]) {
            if (reached[p].test(q)) continue;  // implied by earlier edges, because successors are sorted
            reached[p].set(q);
            reached[p] |= reached[q];
            const PassDeclaration& first = passes[plan.order[p]];
            const PassDeclaration& second = passes[plan.order[q]];
            graph.edges.push_back({static_cast<std::uint32_t>(p), q,
                                   names_either(second.after, first) || names_either(first.before, second),
                                   shared_names(first, second)});
        }
    std::ranges::sort(graph.edges, {}, [](const PassEdge& edge) { return std::pair(edge.from, edge.to); });
    for (const PassEdge& edge : graph.edges)  // edges are sorted by `from`, so each level is final when it is used
        graph.passes[edge.to].level = std::max(graph.passes[edge.to].level, graph.passes[edge.from].level + 1);
    return graph;
}

bool PassPlan::orders(std::size_t pass, std::size_t other) const {
    const auto position_of = [&](std::size_t number) {
        return static_cast<std::size_t>(std::find(order.begin(), order.end(), number) - order.begin());
    };
    const std::size_t first = std::min(position_of(pass), position_of(other));
    const std::size_t last = std::max(position_of(pass), position_of(other));
    Array<bool> waits(order.size(), false, "schedule");  // by position: whether the pass waits for `first`
    waits[first] = true;
    for (std::size_t position = first; position < last; ++position)
        if (waits[position])
            for (const std::uint32_t successor : successors[position]) waits[successor] = true;
    return waits[last];
}

std::size_t PassPlan::count_types_in_zones() const {
    std::size_t count = 0;
    for (const Store* store : stores_in_zones) count += store->schemas().size();
    return count;
}

Result<PassPlan> order_passes(std::span<const PassDeclaration> passes, bool strict, bool all_zones) {
    return Orderer(passes, strict, all_zones).order();
}

}  // namespace shoal
