#include "shoal/save/state_difference.h"

#include "save/field_values.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/world/detail/state_rows.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace shoal {

// --- which fields differ -----------------------------------------------------------------------------------------

std::vector<FieldName> differing_fields(std::span<const StateHash> here, std::span<const StateHash> there) {
    std::vector<FieldName> names;
    const auto note = [&](const StateHash& part) {
        FieldName name{std::string(part.component), std::string(part.field)};
        if (names.empty() || !(names.back() == name)) names.push_back(std::move(name));
    };
    const auto key = [](const StateHash& part) { return std::tuple(part.component, part.field, part.zone); };
    for (std::size_t a = 0, b = 0; a < here.size() || b < there.size();) {
        const bool only_here = b == there.size() || (a < here.size() && key(here[a]) < key(there[b]));
        const bool only_there = a == here.size() || (b < there.size() && key(there[b]) < key(here[a]));
        if (only_here || only_there || here[a].hash != there[b].hash) note(only_there ? there[b] : here[a]);
        a += !only_there, b += !only_here;
    }
    // If a component has different owners in the two worlds, its values differ as a consequence, so it comes later.
    const auto rank = [&](const FieldName& name) {
        if (name.component == kWorldComponent) return 2;
        return std::ranges::binary_search(names, FieldName{name.component, std::string(kRowsField)}) ? 1 : 0;
    };
    std::vector<FieldName> sorted;
    for (int wanted = 0; wanted <= 2; ++wanted)
        std::ranges::copy_if(names, std::back_inserter(sorted),
                             [&](const FieldName& name) { return rank(name) == wanted; });
    return sorted;
}

// --- values ------------------------------------------------------------------------------------------------------

namespace {

/// A world's rows, indexed by the name of their component type.
using RowsByName = std::map<std::string_view, std::vector<StateRows>>;

RowsByName rows_by_name(const World& world) {
    Array<StateRows> all{Owner("world")};
    for (Store* store : world.directory().stores()) list_rows(*store, all);
    RowsByName by_name;
    for (const StateRows& rows : all) by_name[rows.schema->name()].push_back(rows);
    return by_name;
}

}  // namespace

std::vector<FieldValues> values_of(const World& world, std::span<const FieldName> names) {
    const RowsByName by_name = rows_by_name(world);
    std::vector<FieldValues> values;
    values.reserve(names.size());
    for (const FieldName& name : names) {
        const auto rows = by_name.find(name.component);
        values.emplace_back(world, name,
                            rows == by_name.end() ? std::span<const StateRows>() : std::span(rows->second));
    }
    return values;
}

void remove_unknown(const World& world, std::vector<FieldName>& names) {
    const RowsByName by_name = rows_by_name(world);
    const auto is_unknown = [&](const FieldName& name) {
        const auto rows = by_name.find(name.component);
        return rows == by_name.end() || rows->second.front().schema->find_field(name.field) < 0;
    };
    if (!names.empty()) names.erase(std::remove_if(names.begin() + 1, names.end(), is_unknown), names.end());
}

FieldValues::FieldValues(const World& world, const FieldName& name, std::span<const StateRows> rows)
    : name_(name), strings_(&world.strings()) {
    if (name.component == kWorldComponent && name.field == "ids") add_living(world);
    for (const StateRows& some : rows) add_rows(some);
}

std::vector<Entity> living_entities(const World& world) {
    const std::span<const Generation> generations = world.entities().generations();
    std::vector<Entity> living;
    for (std::uint32_t index = 1; index < generations.size(); ++index)
        if (generations[index] != 0) living.push_back(make_entity(index, generations[index]));
    return living;
}

void FieldValues::add_living(const World& world) {
    owners_ = living_entities(world);
    is_enabled_.assign(owners_.size(), true);
}

void FieldValues::add_rows(const StateRows& rows) {
    const int number = rows.schema->find_field(name_.field);
    const Field* const field = number < 0 ? nullptr : &rows.schema->fields()[static_cast<std::size_t>(number)];
    if (field != nullptr) type_ = value_type_of(*field);
    for (std::uint32_t row = 0; row < rows.num_rows(); ++row) {
        if (!rows.table->entities()[row]) continue;
        owners_.push_back(rows.table->entities()[row]);
        is_enabled_.push_back(rows.enabled_bits == nullptr || test_bit(rows.enabled_bits, row));
        if (field == nullptr) continue;
        bytes_.resize(bytes_.size() + type_.num_bytes());
        rows.read(*field, row, bytes_.data() + bytes_.size() - type_.num_bytes());
    }
}

std::vector<std::uint32_t> FieldValues::by_entity() const {
    std::vector<std::uint32_t> order(owners_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return owners_[a].id != owners_[b].id ? owners_[a].id < owners_[b].id : a < b;
    });
    return order;
}

std::span<const std::byte> FieldValues::bytes_of(std::uint32_t i) const {
    return std::span(bytes_).subspan(std::size_t(i) * type_.num_bytes(), type_.num_bytes());
}

std::string FieldValues::text_of(std::uint32_t i) const {
    return type_.num_bytes() == 0 ? std::string() : AnyValue(type_, bytes_of(i).data()).to_text(strings_);
}

StateDifference FieldValues::compare(const FieldValues& there) const {
    StateDifference found;
    found.component = name_.component, found.field = name_.field;
    const std::vector<std::uint32_t> mine = by_entity(), theirs = there.by_entity();
    std::uint64_t count = 0, first = ~std::uint64_t(0);
    const auto note = [&](DifferenceKind kind, std::uint64_t place, Entity entity, std::string a, std::string b) {
        ++count;
        if (place >= first) return;
        first = place;
        found.kind = kind, found.entity = entity, found.here = std::move(a), found.there = std::move(b);
    };
    for (std::size_t a = 0, b = 0; a < mine.size() || b < theirs.size();) {
        const Entity one = a < mine.size() ? owners_[mine[a]] : Entity();
        const Entity other = b < theirs.size() ? there.owners_[theirs[b]] : Entity();
        if (b == theirs.size() || (a < mine.size() && one.id < other.id)) {
            note(DifferenceKind::kMember, mine[a++], one, "there", "");
        } else if (a == mine.size() || other.id < one.id) {
            note(DifferenceKind::kMember, mine.size() + theirs[b++], other, "", "there");
        } else {
            const std::uint32_t i = mine[a++], k = theirs[b++];
            if (is_enabled_[i] != there.is_enabled_[k])
                note(DifferenceKind::kEnabled, i, one, is_enabled_[i] ? "enabled" : "disabled",
                     there.is_enabled_[k] ? "enabled" : "disabled");
            else if (!std::ranges::equal(bytes_of(i), there.bytes_of(k)))
                note(DifferenceKind::kValue, i, one, text_of(i), there.text_of(k));
        }
    }
    found.num_others = count == 0 ? 0 : count - 1;
    if (count == 0) compare_order(there, found);
    return found;
}

/// Compares the order of rows. Requires: both sides have the same entities and values.
void FieldValues::compare_order(const FieldValues& there, StateDifference& found) const {
    const auto [mine, theirs] = std::ranges::mismatch(owners_, there.owners_);
    if (mine == owners_.end()) {
        found.kind = DifferenceKind::kOther;
        return;
    }
    found.kind = DifferenceKind::kOrder;
    found.entity = *mine;
    found.here = entity_text(*mine), found.there = entity_text(*theirs);
}

StateDifference compare_values(std::span<const FieldValues> here, std::span<const FieldValues> there) {
    StateDifference first;
    for (std::size_t i = 0; i < here.size(); ++i) {
        StateDifference found = here[i].compare(there[i]);
        // After a difference in entities or their order, differing values are only a consequence, so they are only
        // counted.
        if (first && found.kind == DifferenceKind::kValue) first.num_others += 1 + found.num_others;
        if (!first) first = std::move(found);
    }
    return first;
}

StateDifference find_difference(const World& here, const World& there) {
    const std::vector<FieldName> names = differing_fields(hash_state(here).parts(), hash_state(there).parts());
    return compare_values(values_of(here, names), values_of(there, names));
}

// --- in words ----------------------------------------------------------------------------------------------------

namespace {

std::string other_text(const StateDifference& difference, std::string_view field) {
    if (difference.component == kWorldComponent) return concat("the state of World::", difference.field, "() differs");
    if (difference.field == kRowsField) return concat("the links between the rows of ", field, " differ");
    if (difference.field == kBesideRowsField)
        return concat("what ", difference.component, " keeps beside its rows differs");
    return concat(field, " differs");
}

std::string first_text(const StateDifference& difference, std::string_view here, std::string_view there) {
    const bool is_world = difference.component == kWorldComponent;
    const bool names_field = !difference.field.starts_with('(');
    const std::string field = names_field ? concat(difference.component, '.', difference.field) : difference.component;
    const std::string entity = entity_text(difference.entity);
    const bool is_here = !difference.here.empty();
    switch (difference.kind) {
        case DifferenceKind::kNone:
            return {};
        case DifferenceKind::kValue:
            return concat(field, " of entity ", entity, " is ", difference.here, ' ', here, " and ", difference.there,
                          ' ', there);
        case DifferenceKind::kMember:
            return concat("entity ", entity, is_world ? " lives " : " has ", is_world ? "" : difference.component,
                          is_world ? "" : " ", is_here ? here : there, " and not ", is_here ? there : here);
        case DifferenceKind::kEnabled:
            return concat(difference.component, " of entity ", entity, " is ", difference.here, ' ', here, " and ",
                          difference.there, ' ', there);
        case DifferenceKind::kOrder:
            return concat("the rows of ", difference.component, " are in another order: that of entity ",
                          difference.here, ' ', here, " is where that of ", difference.there, " is ", there);
        case DifferenceKind::kOther:
            break;
    }
    return other_text(difference, field);
}

}  // namespace

std::string StateDifference::text(std::string_view here_name, std::string_view there_name) const {
    std::string text = first_text(*this, here_name, there_name);
    if (num_others != 0)
        text += concat("; ", num_others, num_others == 1 ? " other value differs" : " other values differ", " too");
    return text;
}

}  // namespace shoal
