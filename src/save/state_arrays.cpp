// References to read-only arrays in a snapshot. Rows refer to an array by its offset in a blob, and the blob is not
// part of the state.
//
//     arrays/blobs     each resource that rows, commands and models refer to: its id, the checksum of its build, and a
//                      hash of all its arrays and their offsets
//     arrays/names     the same in lines: its name, a component type and a field that refer to it, with tabs between
//
// A different build of the resource may have different values at these offsets. So a state is refused if the library
// has a different build, unless the arrays of that build have the same offsets and contents.

#include "save/world_state.h"
#include "shoal/base/detail/bytes.h"
#include "shoal/base/text.h"
#include "shoal/command/detail/saved_commands.h"
#include "shoal/pose/model_pose.h"
#include "shoal/resource/detail/array_finder.h"
#include "shoal/resource/detail/blob_values.h"
#include "shoal/table/detail/saved_rows.h"
#include "shoal/world/detail/state_rows.h"

#include <algorithm>
#include <vector>

namespace shoal {
namespace {

constexpr std::string_view kBuilds = "arrays/blobs", kNames = "arrays/names";

/// A resource whose arrays are in use, and one of the fields that refer to them.
struct ArrayUse {
    ResourceId resource;
    std::string_view component, field;
};

struct SavedBuild {
    ResourceId resource;
    std::uint64_t checksum;  // 0 if the library did not have it when the state was saved
    std::uint64_t arrays;    // hash of the arrays
};

std::uint64_t hash_of_arrays(const Blob& blob) {
    const std::span<const std::byte> table = section_bytes(blob, BlobSectionKind::kArrays);
    const std::span<const std::byte> values = section_bytes(blob, BlobSectionKind::kArrayData);
    return hash_bytes(values.data(), values.size(), hash_bytes(table.data(), table.size()));
}

/// Whether a value belongs to an entity. Rows without an owner may hold garbage.
bool has_owner(const StateRows& rows, const FieldRows& values, const std::byte* place) {
    return bool(rows.table->entities()[static_cast<std::size_t>(place - values.first) / values.stride]);
}

/// Calls visit(rows, field) for the array fields in all rows of a store.
template <class Visit>
void for_each_array_field(Store& store, Visit&& visit) {
    Array<StateRows> all{Owner("world")};
    if (std::ranges::any_of(store.schemas(), [](const Schema* one) { return one->has(FieldType::kBlobArray); }))
        list_rows(store, all);
    for (const StateRows& rows : all)
        for (const Field& field : rows.schema->fields())
            if (field.type == FieldType::kBlobArray && !rows.asks_store) visit(rows, field);
}

/// Returns the reason why the library does not have the arrays of a saved build, or an empty string if it has them.
/// `use` is a line in kNames.
std::string problem_of(const SavedBuild& saved, std::string_view use, const ResourceLibrary& library) {
    const Blob* const blob = library.find(saved.resource);
    if (saved.checksum == 0 || (blob != nullptr && blob->header().checksum == saved.checksum)) return {};
    if (blob != nullptr && hash_of_arrays(*blob) == saved.arrays) return {};
    const std::size_t name_end = std::min(use.find('\t'), use.size());
    std::string text = concat('"', use.substr(std::min(name_end + 1, use.size())), '"');
    std::replace(text.begin(), text.end(), '\t', '.');
    text += concat(" refers to arrays of the resource \"", use.substr(0, name_end), "\" with the checksum 0x");
    append_hex(text, saved.checksum);
    if (blob == nullptr)
        return text +
               ", which is not loaded; load it through the world's library, WorldOptions::library, before the "
               "state";
    text += ", and the library has it with the checksum 0x";
    append_hex(text, blob->header().checksum);
    return text +
           " and other arrays; give the library the older build with ResourceLibrary::replace(), load the state, "
           "and then go on to the newer one with replace() and Reloader::reload()";
}

}  // namespace

/// The distinct resources whose arrays are in use.
class ArrayUses {
public:
    bool knows(const BlobArrayBase& array) const { return array.count == 0 || array.resource == last_; }
    void note(const BlobArrayBase& array, std::string_view component, std::string_view field) {
        if (knows(array)) return;
        last_ = array.resource;
        if (known_.insert(last_.hash, true).is_new) uses_.push_back({last_, component, field});
    }
    std::span<const ArrayUse> all() const { return uses_; }

private:
    ResourceId last_;
    HashMap<std::uint64_t, bool> known_{Owner("world")};
    Array<ArrayUse> uses_{Owner("world")};
};

namespace {

/// Lists the resources that the values in commands refer to. The values are columns at `path`.
void list_arrays_of_values(const Snapshot& state, const std::string& path, const Schema& schema, ArrayUses& uses) {
    Array<std::byte> column{Owner("world")};
    for (const Field& field : schema.fields()) {
        if (field.type != FieldType::kBlobArray) continue;
        const std::size_t number = state.find(concat(path, saved_column_name(schema, field.first_column)));
        if (number == state.num_parts()) continue;  // the commands have no values of this type
        const SnapshotPart part = state.part(number);
        column.resize(static_cast<std::size_t>(part.num_bytes()));
        state.copy(part, 0, part.num_elements, column.data());
        const FieldRows values{column.data() + schema.offset_in_column(field), part.element_bytes, part.num_elements};
        find_invalid_value(field, values, [&](const std::byte* place) {
            uses.note(read_as<BlobArrayBase>(place), schema.name(), field.name);
            return true;
        });
    }
}

}  // namespace

// --- saving ------------------------------------------------------------------------------------------------------

/// Writes the build of each resource whose arrays are in use. Requires: the stores are already in `state`.
void WorldState::save_arrays(SnapshotWriter& to, const Snapshot& state, const Snapshot* before) const {
    if (world_.library() == nullptr) return;
    ArrayUses uses;
    for (Store* store : world_.directory().stores())
        for_each_array_field(*store, [&](const StateRows& rows, const Field& field) {
            const FieldRows values = rows.values_of(field);
            find_invalid_value(field, values, [&](const std::byte* place) {
                const BlobArrayBase array = read_as<BlobArrayBase>(place);
                if (!uses.knows(array) && has_owner(rows, values, place))
                    uses.note(array, rows.schema->name(), field.name);
                return true;
            });
        });
    list_arrays_of_models(state, uses);
    list_arrays_of_commands(state, uses);
    if (uses.all().empty()) return;

    Array<SavedBuild> known{Owner("world")}, builds{Owner("world")};
    if (before != nullptr) static_cast<void>(SnapshotReader(*before).array(kBuilds, known));
    std::string names;
    for (const ArrayUse& use : uses.all()) {
        const Blob* const blob = world_.library()->find(use.resource);
        std::string name(blob == nullptr ? "?" : blob->name());
        std::replace(name.begin(), name.end(), '\n', ' ');  // the name is only for messages
        names += concat(name, '\t', use.component, '\t', use.field, '\n');
        builds.push_back({use.resource, blob == nullptr ? 0 : blob->header().checksum, 0});
        if (blob == nullptr) continue;
        const auto earlier = std::ranges::find(known, builds.back().checksum, &SavedBuild::checksum);
        builds.back().arrays = earlier == known.end() ? hash_of_arrays(*blob) : earlier->arrays;
    }
    to.array(kBuilds, builds);
    to.text(kNames, names);
}

/// Lists the resources that models refer to, because the trees of models are read-only arrays.
void WorldState::list_arrays_of_models(const Snapshot& state, ArrayUses& uses) {
    SnapshotReader from(state);
    const Schema& schema = schema_of<ModelPose>();
    const SnapshotPath::Scope scope = from.in(concat("stores/", schema.name()));
    std::uint32_t num_slots = 0;
    if (!from.has("num_slots") || !from.value("num_slots", num_slots)) return;
    for (std::uint32_t slot = 0; slot < num_slots; ++slot) {
        ModelPose pose;
        const std::string source = concat("tree/", slot, "/source");
        if (from.has(source) && from.value(source, pose)) uses.note(pose.names, schema.name(), "names");
    }
}

void WorldState::list_arrays_of_commands(const Snapshot& state, ArrayUses& uses) const {
    Array<const Schema*> named{Owner("world")};
    commands().list_schemas(named);
    erase_if(named, [](const Schema* schema) { return !schema->has(FieldType::kBlobArray); });
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    const std::size_t lists = named.empty() ? state.num_parts() : state.find("commands/lists");
    const std::uint64_t num_lists = lists == state.num_parts() ? 0 : state.part(lists).num_elements;
    for (std::uint64_t list = 0; list < num_lists; ++list)
        for (const Schema* schema : named)
            list_arrays_of_values(state, concat("commands/list/", list, '/', schema->name(), '/'), *schema, uses);
}

// --- loading -----------------------------------------------------------------------------------------------------

/// Errors: the library does not have the arrays that the state refers to.
Status WorldState::check_builds(SnapshotReader& from) const {
    if (world_.library() == nullptr || !from.has(kBuilds)) return {};
    Array<SavedBuild> builds{Owner("world")};
    if (Status status = from.array(kBuilds, builds); !status) return status;
    const Result<std::string> names = from.text(kNames);
    if (!names) return names.status();
    std::vector<std::string_view> uses;
    for_each_line(*names, [&](std::string_view line) { uses.push_back(line); });
    if (uses.size() != builds.size())
        return from.error(kNames, concat("it has ", uses.size(), " lines for ", builds.size(), " resources"));
    for (std::size_t i = 0; i < builds.size(); ++i)
        if (const std::string problem = problem_of(builds[i], uses[i], *world_.library()); !problem.empty())
            return from.error(kBuilds, problem);
    return {};
}

/// Errors: a row refers to an array that the library does not have. The rows may come from a forged file.
Status WorldState::check_arrays(SnapshotReader& from) const {
    if (world_.library() == nullptr) return {};
    Status status;
    ArrayFinder arrays(*world_.library());
    for (Store* store : world_.directory().stores())
        for_each_array_field(*store, [&](const StateRows& rows, const Field& field) {
            const FieldRows values = rows.values_of(field);
            const auto is_right = [&](const std::byte* place) {
                return arrays.has(read_as<BlobArrayBase>(place), field.element_type) || !has_owner(rows, values, place);
            };
            if (status && find_invalid_value(field, values, is_right) != nullptr)
                status = from.error(concat("stores/", name_of(*store)), arrays.problem(*rows.schema, field));
        });
    return status;
}

}  // namespace shoal
