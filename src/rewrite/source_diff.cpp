#include "shoal/rewrite/source_diff.h"

#include "rewrite/moved_entities.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/detail/lines.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"

#include <algorithm>

namespace shoal {
namespace {

bool is_entity(const SourceItem& item) { return item.kind == ItemKind::kEntity; }

class Differ {
public:
    Differ(const SourceTree& before, const SourceTree& after)
        : before_(before), after_(after), keys_before_(before), keys_after_(after) {}

    std::vector<SourceDifference> diff() {
        compare(before_.root(), after_.root());
        return std::move(differences_);
    }

private:
    using Kind = SourceDifference::Kind;

    void compare(const SourceItem& before, const SourceItem& after) {
        const bool same_kind = before.kind == after.kind && before.type == after.type;
        if (!same_kind || before.is_mapping() != after.is_mapping()) return add(Kind::kChanged, &before, &after);
        if (before.value && !equal(before.value, after.value)) return add(Kind::kChanged, &before, &after);
        compare_children(before, after, false);
        compare_children(before, after, true);
    }

    /// If `entities` is set, compares the child entities of an item, and otherwise its other children.
    void compare_children(const SourceItem& before, const SourceItem& after, bool entities) {
        for (const SourceItem* child : before.children) {
            if (is_entity(*child) != entities) continue;
            if (const SourceItem* const other = after_.find(after, child->place, child->key))
                compare(*child, *other);
            else if (moved_to(*child) == nullptr)
                add(Kind::kRemoved, child, nullptr);
        }
        for (const SourceItem* child : after.children) {
            if (is_entity(*child) != entities || before_.find(before, child->place, child->key) != nullptr) continue;
            const SourceItem* const from = moved_from(*child);
            add(from == nullptr ? Kind::kAdded : Kind::kMoved, from, child);
            if (from != nullptr) compare(*from, *child);
        }
    }

    const SourceItem* moved_to(const SourceItem& before) const {
        return keys_before_.find(before) == &before ? other_place(before, keys_after_) : nullptr;
    }
    const SourceItem* moved_from(const SourceItem& after) const {
        return keys_after_.find(after) == &after ? other_place(after, keys_before_) : nullptr;
    }
    /// Returns the same entity in the other text, unless it was added or removed together with its parent.
    const SourceItem* other_place(const SourceItem& item, const UniqueEntities& others) const {
        const SourceItem* const other = others.find(item);
        return other != nullptr && is_compared(*other) && is_compared(item) ? other : nullptr;
    }
    /// Returns whether the parent of an entity is in both texts; false for a root.
    bool is_compared(const SourceItem& item) const {
        if (item.parent == nullptr) return false;
        const SourceTree& tree = keys_before_.find(item) == &item ? before_ : after_;
        const SourceTree& others = &tree == &before_ ? after_ : before_;
        return counterpart(*item.parent, others) != nullptr;
    }

    void add(Kind kind, const SourceItem* before, const SourceItem* after) {
        differences_.push_back({kind, before, after});
    }

    const SourceTree& before_;
    const SourceTree& after_;
    UniqueEntities keys_before_, keys_after_;
    std::vector<SourceDifference> differences_;
};

// --- text ----------------------------------------------------------------------------------------------------------

/// Appends the lines of `text`, each with `sign` and `indent` spaces before it.
void append_lines(std::string& out, char sign, std::size_t indent, std::string_view text) {
    while (!text.empty()) append_text(out, concat(sign, std::string(indent, ' '), take_line(text), '\n'));
}

std::string item_text(const SourceItem& item) {
    const Document content = canonical_document(item);
    if (item.kind == ItemKind::kEntity || item.kind == ItemKind::kLevel)
        return content.root().size() == 0 ? std::string() : write_sjson(content.root());
    if (item.kind == ItemKind::kDeletion) return member_path(item);
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.key(member_path(item));
    builder.value(content.root());
    builder.end();
    return write_sjson(builder.finish().root());
}

/// Returns the path and the name of an entity.
std::string entity_line(const SourceItem& item) {
    const SourceItem& entity = entity_of(item);
    std::string line = entity_path(entity);
    for (const SourceItem* child : entity.children)
        if (child->place == ItemRole::kMember && child->key == "name" && child->value && child->value.is_string())
            append_text(line, concat(' ', quoted(child->value.as_string())));
    if (entity.place == ItemRole::kModifiedChildren) line += " (a modified child)";
    return line;
}

void append_side(std::string& out, char sign, const SourceItem& item) {
    const bool is_whole = item.kind == ItemKind::kEntity || item.kind == ItemKind::kLevel;
    if (is_whole) append_text(out, concat(sign, ' ', entity_line(item), '\n'));
    append_lines(out, sign, 3, item_text(item));
}

}  // namespace

std::string_view difference_name(SourceDifference::Kind kind) {
    constexpr std::string_view kNames[] = {"added", "removed", "changed", "moved"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::vector<SourceDifference> diff_sources(const SourceTree& before, const SourceTree& after) {
    return Differ(before, after).diff();
}

std::string differences_text(const std::vector<SourceDifference>& differences) {
    std::string out, shown;  // `shown` is the entity whose parts are being listed.
    for (const auto& [kind, before, after] : differences) {
        const SourceItem& item = after != nullptr ? *after : *before;
        const bool is_part = item.kind != ItemKind::kEntity && item.kind != ItemKind::kLevel;
        std::string path = concat(entity_path(item), ' ', role_name(entity_of(item).place));
        if (is_part && path != shown) append_text(out, concat(entity_line(item), '\n'));
        shown = is_part ? std::move(path) : std::string();
        if (kind == SourceDifference::Kind::kMoved) {
            append_text(out, concat("> ", entity_line(item), " was at ", entity_path(*before), '\n'));
            continue;
        }
        if (before != nullptr) append_side(out, '-', *before);
        if (after != nullptr) append_side(out, '+', *after);
    }
    return out;
}

}  // namespace shoal
