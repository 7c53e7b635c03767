#include "saves.h"

#include "shoal/base/text.h"
#include "shoal/command/detail/saved_commands.h"
#include "shoal/document/sjson.h"
#include "shoal/inspect/describe_entity.h"

#include <algorithm>
#include <map>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

/// If there are pending commands, adds the number of each kind.
void write_commands(const Snapshot& state, DocumentBuilder& builder) {
    if (count_saved_commands(state) == 0) return;
    builder.begin_mapping("commands");
    for (std::uint32_t i = 0; i < kNumSavedCommandKinds; ++i) {
        const auto kind = static_cast<SavedCommandKind>(i);
        if (const std::uint64_t count = count_saved_commands(state, kind); count != 0)
            builder.unsigned_integer(name_of_kind(kind), count);
    }
    builder.end();
}

/// Adds the content of a world, except its entities.
void write_world(const LoadedSave& save, DocumentBuilder& builder) {
    std::string random;
    append_hex(random, save.world.random().state());
    builder.unsigned_integer("frame", save.world.frame());
    builder.unsigned_integer("stamp", save.world.stamp());
    builder.string("random", random);
    write_commands(save.file, builder);
}

void write_stores(const World& world, DocumentBuilder& builder) {
    builder.begin_list("stores");
    for (const Store* store : world.directory().stores()) {
        builder.begin_mapping();
        builder.string("kind", store->kind());
        std::uint64_t num_rows = 0;
        for (const Table* table : store->tables()) num_rows += table->num_rows();
        builder.unsigned_integer("rows", num_rows);
        builder.begin_list("components");
        for (const Schema* schema : store->schemas()) builder.string(schema->to_text());
        builder.end();
        builder.end();
    }
    builder.end();
}

// --- differences -------------------------------------------------------------------------------------------------

using Values = std::map<std::string, std::string>;  // values by path

/// Adds the values below a node, with their paths as keys. A list of plain values counts as one value.
void add_values(Node node, const std::string& path, Values& values) {
    if (node.is_mapping() && node.size() != 0) {
        for (const Node child : node) add_values(child, concat(path, path.empty() ? "" : ".", child.key()), values);
    } else if (node.is_list() && node.size() != 0 && node[0].is_mapping()) {
        std::uint32_t index = 0;
        for (const Node child : node) add_values(child, concat(path, '[', index++, ']'), values);
    } else if (!path.empty()) {
        values.emplace(path, write_sjson_line(node));
    }
}

/// A value that differs, or an entity that exists on only one side.
struct Difference {
    std::string entity;  // empty: the difference is in the world
    std::string member;  // empty: the entity itself differs
    std::optional<std::string> before, after;
};

class SaveDiff {
public:
    SaveDiff(const LoadedSave& before, const LoadedSave& after) : before_(before), after_(after) {}

    std::vector<Difference> run() {
        compare("", values_of_world(before_), values_of_world(after_));
        for (std::size_t a = 0, b = 0; a < before_.all.size() || b < after_.all.size();) {
            const Entity one = a < before_.all.size() ? before_.all[a] : Entity();
            const Entity other = b < after_.all.size() ? after_.all[b] : Entity();
            if (one == other) {
                compare(one);
                ++a, ++b;
            } else if (one && (!other || one.index() <= other.index())) {
                add_entity(one, before_, true);
                ++a;
            } else {
                add_entity(other, after_, false);
                ++b;
            }
        }
        compare_parts();
        return std::move(differences_);
    }

private:
    static Values values_of_world(const LoadedSave& save) {
        DocumentBuilder builder;
        builder.begin_mapping();
        write_world(save, builder);
        builder.end();
        Values values;
        const Document document = builder.finish();
        add_values(document.root(), "", values);
        return values;
    }
    static Document document_of(const EntityWriter& writer, Entity entity) {
        DocumentBuilder builder;
        builder.begin_mapping();
        writer.write(entity, builder);
        builder.end();
        return builder.finish();
    }
    static std::string name_of(const Document& document) {
        const Node name = document.root().find("name");
        const std::string_view entity = document.root().find("entity").as_string();
        return name ? concat(entity, ' ', write_sjson_line(name)) : std::string(entity);
    }

    void compare(Entity entity) {
        const Document before = document_of(write_before_, entity), after = document_of(write_after_, entity);
        if (equal(before.root(), after.root())) return;
        Values values_before, values_after;
        add_values(before.root(), "", values_before), add_values(after.root(), "", values_after);
        compare(name_of(before), values_before, values_after);
    }
    void compare(const std::string& entity, const Values& before, const Values& after) {
        for (auto a = before.begin(), b = after.begin(); a != before.end() || b != after.end();) {
            const bool is_in_a = a != before.end() && (b == after.end() || a->first <= b->first);
            const bool is_in_b = b != after.end() && (a == before.end() || b->first <= a->first);
            if (!is_in_a || !is_in_b || a->second != b->second)
                differences_.push_back({entity, is_in_a ? a->first : b->first,
                                        is_in_a ? std::optional(a->second) : std::nullopt,
                                        is_in_b ? std::optional(b->second) : std::nullopt});
            if (is_in_a) ++a;
            if (is_in_b) ++b;
        }
    }
    void add_entity(Entity entity, const LoadedSave& save, bool is_before) {
        const Document document = document_of(&save == &before_ ? write_before_ : write_after_, entity);
        const std::string components = write_sjson_line(document.root().find("components"));
        differences_.push_back({name_of(document), "", is_before ? std::optional(components) : std::nullopt,
                                is_before ? std::nullopt : std::optional(components)});
    }
    /// Compares the parts that the tool does not load (such as passes, events and observers) and the parts that need
    /// missing blobs. If nothing else differs, also compares the order of the rows and the order of the ids.
    void compare_parts() {
        const auto is_of_rows = [](std::string_view path) {
            return path.starts_with("stores/") || path.starts_with("entities/");
        };
        // The rows in these files are already loaded and compared.
        const auto is_zone_file = [](std::string_view path) {
            return path.starts_with("zones/") && path.ends_with("/file");
        };
        const auto is_left_out = [&](std::string_view path) {
            const auto has_path = [&](const std::string& scope) { return path.starts_with(scope); };
            return std::ranges::any_of(before_.left_out, has_path) || std::ranges::any_of(after_.left_out, has_path);
        };
        const auto is_beside = [&](std::string_view path) {
            if (is_left_out(path)) return true;
            if (is_zone_file(path)) return false;
            return !is_of_rows(path) && path != "stores" && path != "types" && !path.starts_with("world/");
        };
        if (differences_.empty()) compare_parts(before_.state, after_.state, is_of_rows);
        compare_parts(before_.file, after_.file, is_beside);
    }
    template <class Predicate>
    void compare_parts(const Snapshot& before, const Snapshot& after, Predicate&& is_compared) {
        const auto add = [&](const Snapshot& from, const Snapshot& to, bool is_first) {
            for (std::size_t i = 0; i < from.num_parts(); ++i) {
                const SnapshotPart part = from.part(i);
                const std::size_t number = to.find(part.path);
                const bool is_missing = number == to.num_parts();
                if ((!is_first && !is_missing) || !is_compared(part.path)) continue;
                const std::string was = text_of(from, part);
                const std::string is = is_missing ? std::string() : text_of(to, to.part(number));
                if (!is_missing && was == is) continue;
                const std::optional<std::string> other = is_missing ? std::nullopt : std::optional(is);
                differences_.push_back(is_first ? Difference{"", concat("part ", part.path), was, other}
                                                : Difference{"", concat("part ", part.path), other, was});
            }
        };
        add(before, after, true);
        add(after, before, false);
    }
    static std::string text_of(const Snapshot& state, const SnapshotPart& part) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(part.num_bytes()));
        state.copy(part, 0, part.num_elements, bytes.data());
        std::string hash;
        append_hex(hash, hash_bytes(bytes.data(), bytes.size()));
        return concat(counted(part.num_elements, "element", "elements"), " with the hash ", hash);
    }

    const LoadedSave &before_, &after_;
    EntityWriter write_before_{before_.world}, write_after_{after_.world};
    std::vector<Difference> differences_;
};

std::string text_of(const std::vector<Difference>& differences) {
    std::string text;
    std::string_view shown = "-";  // no entity
    for (const Difference& difference : differences) {
        if (difference.member.empty()) {
            for (const auto& [sign, side] : {std::pair('-', &difference.before), std::pair('+', &difference.after)})
                if (*side) text += concat(sign, ' ', difference.entity, ": ", **side, '\n');
            shown = "-";
            continue;
        }
        if (difference.entity != shown)
            text += concat(difference.entity.empty() ? "the world" : difference.entity, '\n');
        shown = difference.entity;
        for (const auto& [sign, side] : {std::pair('-', &difference.before), std::pair('+', &difference.after)})
            if (*side) text += concat(sign, "   ", difference.member, " = ", **side, '\n');
    }
    return text;
}

void print_json(Console& console, const std::vector<Difference>& differences, const std::string& before,
                const std::string& after, const Diagnostics& diagnostics) {
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.boolean("ok", true);
    builder.boolean("different", !differences.empty());
    builder.string("before", utf8_text(before));
    builder.string("after", utf8_text(after));
    builder.begin_list("differences");
    for (const Difference& difference : differences) {
        builder.begin_mapping();
        builder.string("difference", !difference.before ? "added" : !difference.after ? "removed" : "changed");
        builder.string("entity", difference.entity);
        builder.string("member", difference.member);
        if (difference.before) builder.string("before", *difference.before);
        if (difference.after) builder.string("after", *difference.after);
        builder.end();
    }
    builder.end();
    if (diagnostics.num_warnings() != 0) write_diagnostics(diagnostics, builder);
    builder.end();
    console.print_json(builder.finish());
}

}  // namespace

int dump_save(const Arguments& arguments, Files& files, Console& console) {
    Diagnostics diagnostics;
    LoadedSave save(arguments);
    if (!load_save(arguments, files, arguments.operands()[0], Snapshots::kNewestWhole, save, diagnostics))
        return fail(console, diagnostics);
    console.print_diagnostics(diagnostics);
    const TextFunction print = [](void* to, std::string_view piece) { static_cast<Console*>(to)->print_out(piece); };
    DocumentBuilder builder(console.json() ? TextFormat::kJson : TextFormat::kSjson, print, &console);
    builder.begin_mapping();
    if (console.json()) builder.boolean("ok", true);
    write_world(save, builder);
    builder.unsigned_integer("entities", save.all.size());
    write_stores(save.world, builder);
    builder.begin_list("entity_data");
    const EntityWriter writer(save.world);
    const ProgressListener progress = console.progress_beside_output();
    for (std::size_t i = 0; i < save.all.size(); ++i) {
        builder.begin_mapping();
        writer.write(save.all[i], builder);
        builder.end();
        progress.tell("entities", i + 1, save.all.size());
    }
    builder.end();
    if (console.json() && diagnostics.num_warnings() != 0) write_diagnostics(diagnostics, builder);
    builder.end();
    builder.finish();
    return 0;
}

int diff_saves(const Arguments& arguments, Files& files, Console& console, int different) {
    const std::string &before = arguments.operands()[0], &after = arguments.operands()[1];
    for (const std::string& path : {before, after})
        if (!holds_world(files, path))
            return fail(console, concat("\"", path, "\" is not a save, and is compared with one"),
                        "give two saves, or two sources; `shoal dump` shows what a blob holds");
    Diagnostics diagnostics;
    LoadedSave one(arguments), other(arguments);
    if (!load_save(arguments, files, before, Snapshots::kNewestWhole, one, diagnostics) ||
        !load_save(arguments, files, after, Snapshots::kNewestWhole, other, diagnostics))
        return fail(console, diagnostics);
    console.print_diagnostics(diagnostics);
    const std::vector<Difference> differences = SaveDiff(one, other).run();
    if (!differences.empty() && !console.json())
        console.print(concat("--- ", before, "\n+++ ", after, "\n", text_of(differences)));
    if (console.json()) print_json(console, differences, before, after, diagnostics);
    return differences.empty() ? 0 : different;
}

}  // namespace shoal_tool
