// Writes a merged tree. What is as it stands in its text is taken over, node by node, so that it keeps its place and
// comments; around it, lists and mappings are begun at the places of those that they replace.

#include "rewrite/merged_tree.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/source/source_keys.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace shoal {
namespace {

bool is_wrapper_key(std::string_view key) {
    return std::find(std::begin(kWrapperKeys), std::end(kWrapperKeys), key) != std::end(kWrapperKeys);
}

SourcePosition place_of(Node node) { return node ? node.position() : SourcePosition(); }

class MergedWriter {
public:
    explicit MergedWriter(MergedTree& tree) : tree_(tree) {}

    Document write() {
        const SourceItem& root = tree_.builder.root();
        if (tree_.find(root).is_same)
            out_.value(root.text);
        else
            write_entity(root, ItemForm::kByKey, false);
        return out_.finish();
    }

private:
    /// Writes an item with its key. `index`: of an element.
    void write_entry(const SourceItem& item, ItemForm form, std::size_t index = 0) {
        const bool is_element = form == ItemForm::kElement;
        const bool needs_guid = is_element && !says_key(item, index);
        if (tree_.find(item).is_same && item.form == form && !needs_guid)
            return is_element ? out_.value(item.text) : out_.member(item.text);
        if (!is_element && item.form != ItemForm::kElement) out_.key(item.text);
        if (!is_element && item.form == ItemForm::kElement) out_.key(item.key, item.text.position());
        switch (item.kind) {
            case ItemKind::kDeletion:
                return is_element ? out_.string(item.key, item.position) : out_.null();
            case ItemKind::kComponent:
                return write_component(item, form, needs_guid);
            case ItemKind::kMember:
                return write_member(item);
            case ItemKind::kEntity:
            case ItemKind::kLevel:
                return write_entity(item, form, needs_guid);
        }
    }

    /// Returns whether an element of a list says its key, or has it by its index or type.
    static bool says_key(const SourceItem& item, std::size_t index) {
        if (item.kind == ItemKind::kDeletion) return true;
        if (item.form != ItemForm::kElement) return false;
        if (!item.key_name.empty()) return true;
        return item.kind == ItemKind::kComponent ? item.type == item.key : item.key == concat('[', index, ']');
    }

    void write_member(const SourceItem& item) {
        if (item.value) return out_.value(item.value);
        out_.begin_mapping(place_of(item.text));
        for (const SourceItem* child : item.children) write_entry(*child, ItemForm::kByKey);
        out_.end();
    }

    // --- entities ----------------------------------------------------------------------------------------------------

    void write_entity(const SourceItem& item, ItemForm form, bool needs_guid) {
        out_.begin_mapping(place_of(item.text));
        if (needs_guid) out_.string("_guid", item.key);
        if (!item.key_name.empty() && item.form == form) out_.member(item.text.find(item.key_name));
        const bool is_short = can_be_short(item);
        bool is_done[kNumItemRoles] = {};
        for (const SourceItem* child : item.children) {
            bool& done = is_done[static_cast<std::size_t>(child->place)];
            if (needs_guid && child->key == "_guid" && child->place == ItemRole::kMember) continue;
            if (child->place == ItemRole::kMember)
                write_entry(*child, ItemForm::kByKey);
            else if (is_short)
                write_entry(*child, ItemForm::kShort);
            else if (!std::exchange(done, true))
                write_list(item, child->place);
        }
        write_empty_lists(item, is_done);
        out_.end();
    }

    /// Returns whether an entity that is written in the short form can stay so.
    static bool can_be_short(const SourceItem& item) {
        bool has_short = false;
        for (const SourceItem* child : item.children) {
            if (child->place == ItemRole::kMember) {
                const bool is_ours =
                    std::find(std::begin(kEntityKeys), std::end(kEntityKeys), child->key) != std::end(kEntityKeys);
                if (!is_ours || !is_key_of_short_form(child->key)) return false;
                continue;
            }
            if (child->place != ItemRole::kComponents || !is_short_component(*child)) return false;
            has_short |= child->form == ItemForm::kShort && item.text && item.text.find(child->text.key());
        }
        return has_short;
    }

    static bool is_short_component(const SourceItem& item) {
        const auto is_beside = [](const SourceItem* child) { return child->place == ItemRole::kBeside; };
        const bool is_ours =
            std::find(std::begin(kEntityKeys), std::end(kEntityKeys), item.key) != std::end(kEntityKeys);
        return item.type == item.key && !is_ours && is_key_of_short_form(item.key) &&
               std::none_of(item.children.begin(), item.children.end(), is_beside);
    }

    static bool is_unit(const SourceItem* item) { return item->place == ItemRole::kUnits; }

    void write_list(const SourceItem& item, ItemRole place) {
        Node list = list_in(item, place);
        if (const SourceItem* const other = tree_.find(item).other; !list && other != nullptr)
            list = list_in(*other, place);
        std::vector<const SourceItem*> entries;
        std::copy_if(item.children.begin(), item.children.end(), std::back_inserter(entries),
                     [&](const SourceItem* child) { return child->place == place; });
        const bool was_list = list && !list.is_null() ? list.is_list() : entries[0]->form == ItemForm::kElement;
        const bool is_list = was_list && std::none_of(entries.begin(), entries.end(), [](const SourceItem* entry) {
                                 return entry->kind == ItemKind::kComponent && entry->value;
                             });
        const bool has_both =
            item.kind == ItemKind::kLevel && std::any_of(item.children.begin(), item.children.end(), is_unit);
        list && !has_both ? out_.key(list) : out_.key(role_name(place));
        is_list ? out_.begin_list(place_of(list)) : out_.begin_mapping(place_of(list));
        std::size_t index = 0;
        for (const SourceItem* entry : entries)
            write_entry(*entry, is_list ? ItemForm::kElement : ItemForm::kByKey, index++);
        out_.end();
    }

    /// Keeps the empty lists of the text, and what makes a level a level and a long form long.
    void write_empty_lists(const SourceItem& item, const bool (&is_done)[kNumItemRoles]) {
        const bool is_level = item.kind == ItemKind::kLevel;
        bool has_list = std::find(std::begin(is_done), std::end(is_done), true) != std::end(is_done);
        for (std::size_t i = 1; i < kNumItemRoles; ++i) {
            const Node list = is_done[i] ? Node() : list_in(item, static_cast<ItemRole>(i));
            if (!list || list.size() != 0 || (is_level && is_done[static_cast<std::size_t>(ItemRole::kUnits)]))
                continue;
            out_.member(list);
            has_list = true;
        }
        if (has_list || (is_level ? says_level(item) : !has_other_keys(item))) return;
        out_.begin_mapping(role_name(is_level ? ItemRole::kEntities : ItemRole::kComponents));
        out_.end();
    }

    static bool says_level(const SourceItem& item) {
        return std::any_of(item.children.begin(), item.children.end(), [](const SourceItem* child) {
            return (child->key == "type" || child->key == "_type") && child->value && child->value.is_string() &&
                   child->value.as_string() == "level";
        });
    }

    /// Returns whether keys would be read as components if nothing showed that this is the long form.
    static bool has_other_keys(const SourceItem& item) {
        bool has_others = false;
        for (const SourceItem* child : item.children) {
            if (child->place != ItemRole::kMember || !is_key_of_short_form(child->key)) return false;
            has_others |=
                std::find(std::begin(kEntityKeys), std::end(kEntityKeys), child->key) == std::end(kEntityKeys);
        }
        return has_others;
    }

    // --- components --------------------------------------------------------------------------------------------------

    void write_component(const SourceItem& item, ItemForm form, bool needs_guid) {
        if (item.value) return out_.value(item.value);
        out_.begin_mapping(place_of(item.text));
        if (form == ItemForm::kShort) {
            write_members(item, ItemRole::kMember);
            return out_.end();
        }
        if (needs_guid) out_.string("_guid", item.key);
        write_type(item, form, needs_guid);
        write_members(item, ItemRole::kBeside);
        const Node data = data_of(item);
        const bool needs_data = data || needs_wrapper(item, form);
        if (needs_data) data ? out_.key(data) : out_.key("data");
        if (needs_data) out_.begin_mapping(place_of(data));
        write_members(item, ItemRole::kMember);
        if (needs_data) out_.end();
        out_.end();
    }

    void write_members(const SourceItem& item, ItemRole place) {
        for (const SourceItem* child : item.children)
            if (child->place == place) write_entry(*child, ItemForm::kByKey);
    }

    /// Writes what says the key and the type of a component in its text, with the type that it has now.
    void write_type(const SourceItem& item, ItemForm form, bool has_guid) {
        bool says_type = form == ItemForm::kByKey && item.place == ItemRole::kComponents && item.type == item.key;
        if (item.text.is_mapping() && item.form != ItemForm::kShort)
            for (const Node child : item.text) {
                if (!says_key_or_type(item, child) || (has_guid && child.key() == "_guid")) continue;
                const bool is_key = child.key() == "_guid" || child.key() == item.key_name;
                if (is_key ? item.form == form : child.as_string() == item.type) out_.member(child);
                says_type |= !is_key && child.as_string() == item.type;
            }
        if (!says_type && !item.type.empty()) out_.string("_type", item.type);
    }

    /// Returns whether the fields have to be in `data`: something is beside them, or one has the name of a key that says the
    /// key or the type.
    static bool needs_wrapper(const SourceItem& item, ItemForm form) {
        return std::any_of(item.children.begin(), item.children.end(), [&](const SourceItem* child) {
            if (child->place == ItemRole::kBeside) return true;
            const Node field = item.form == form && item.text.is_mapping() ? item.text.find(child->key) : Node();
            return is_wrapper_key(child->key) && !(field && !says_key_or_type(item, field));
        });
    }

    MergedTree& tree_;
    DocumentBuilder out_;
};

}  // namespace

Document write_merged(MergedTree& tree) { return MergedWriter(tree).write(); }

}  // namespace shoal
