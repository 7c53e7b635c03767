#pragma once
// Reads levels, entities and components from the nodes of a text, one at a time. The composer merges each of them
// immediately; source trees keep all of them.
//
//     entities = [                                      each_key(): `entities`, which is known
//         { _guid = "a1"  glow = { power = 2 } }        each_entry(): a1; each_key(): `glow`, a component
//         { id = "b1"  components = {                   each_entry(): b1; each_key(): `components`
//             lamp = { _type = "glow"  data = {} }      each_entry(): lamp; read_component(): glow, wrapped fields
//         } }
//     ]
//
// Thread: one thread at a time per SourceGrammar.

#include "shoal/base/detail/hash_map.h"
#include "shoal/source/detail/entity_key.h"
#include "shoal/source/detail/key_predictor.h"
#include "shoal/source/detail/source_keys.h"

#include <span>
#include <string_view>

namespace shoal {

/// The meaning of a key in a level or entity.
enum class KeyUse : std::uint8_t {
    kKnown,      ///< a built-in key: a row of kSourceKeys
    kRenamed,    ///< an alias of another key: a row of the renamed keys
    kComponent,  ///< a component of a short-form entity
    kUnknown,
};

/// The syntax of an entity, a component or a deletion.
enum class ItemForm : std::uint8_t {
    kByKey,    ///< in a mapping, after its key
    kElement,  ///< in a list; the item contains its own key
    kShort,    ///< a component of a short-form entity
};

/// A member or element of a list of entities, components or deletions.
struct SourceEntry {
    std::string_view key;     ///< normalized GUID or name; empty in an element without a key
    SourcePosition position;  ///< position of the key, or of an element without a key
    Node text;
    ItemForm form = ItemForm::kByKey;
    std::string_view key_name{};  ///< in an element, the name of the key's member: `_guid`, `guid` or `id`

    bool has_key() const { return form != ItemForm::kElement || !key.empty(); }
};

/// The keys of a long-form component that are not fields. If a key is missing, its node is none.
struct ComponentText {
    Node type, plain_type, data;  ///< `_type`, `type`, `data`
    bool has_others = false;      ///< keys that are not in kComponentKeys

    /// Returns whether the fields are in `data`, which is then a mapping or null.
    bool is_wrapped() const { return data && (data.is_mapping() || data.is_null()); }
    /// Returns the type that the text names, or an empty string. If `declares` is set, `type` is used even if there is
    /// no `data`.
    SHOAL_API std::string_view type_name(bool declares) const;
};

/// Returns the `data` of a component, or none if the fields are in the component itself.
SHOAL_API Node wrapped_fields(Node component);

/// A problem with a list of entries or with one entry.
enum class EntryProblem : std::uint8_t {
    kNoList,    ///< the value is neither a list nor a mapping
    kKind,      ///< an element is not a mapping (or, among deletions, a string)
    kKeyKind,   ///< the key of an element is not a string
    kNoTarget,  ///< a change or a deletion in a list has no key
    kEmptyKey,  ///< a key of a mapping is empty
};

/// Reports a SourceGrammar's problems, and stores keys whose normal form differs from the text.
class GrammarUser {
public:
    /// Reports a problem with a node in the list whose key is `list`. Returns whether the entry is used anyway.
    virtual bool refuse(EntryProblem problem, Node node, SourceKey list) = 0;
    /// Returns a copy of a key. Lifetime: as long as the entries are used.
    virtual std::string_view keep(std::string_view key) = 0;

protected:
    ~GrammarUser() = default;
};

class SourceGrammar {
public:
    /// Lifetime: `user`, `renamed_keys` and the keys of all nodes that are read outlive this object.
    SHOAL_API explicit SourceGrammar(GrammarUser& user, std::span<const RenamedKey> renamed_keys = {});

    /// Calls visit(child, use, row) for each key of a level or entity. `row` is the key's row in the table for its
    /// KeyUse.
    template <class Visit>
    void each_key(Node node, bool of_level, Visit&& visit) {
        const bool is_short = !of_level && is_short_form(node);
        int row = -1;
        for (const Node child : node) {
            row = keys_.find(child.key(), row);
            const auto known = static_cast<std::size_t>(row);
            if (row >= static_cast<int>(std::size(kSourceKeys)))
                visit(child, KeyUse::kRenamed, known - std::size(kSourceKeys));
            else if (row >= 0 && has_meaning(kSourceKeys[known], of_level))
                visit(child, KeyUse::kKnown, known);
            else
                visit(child, is_short ? KeyUse::kComponent : KeyUse::kUnknown, std::size_t(0));
        }
    }

    /// Calls visit(entry) for each element if `list` is a list, or for each member if it is a mapping. `list` may be
    /// none or null.
    template <class Visit>
    void each_entry(Node list, SourceKey key, Visit&& visit) {
        if (!has_entries(list, key)) return;
        const bool is_list = list.is_list();
        SourceEntry entry;
        for (const Node child : list)
            if (is_list ? read_element(child, key, entry) : read_member(child, key, entry)) visit(entry);
    }

    /// Reads the key of an entity or component in `element` into `entry`, if there is a key.
    SHOAL_API void read_key(Node element, SourceKey list, SourceEntry& entry);
    /// Requires: `component` is a mapping.
    SHOAL_API ComponentText read_component(Node component);

    /// Returns a key without `#`, and with its GUIDs in lower case.
    std::string_view plain_key(std::string_view key) {
        return normal_key(without_hash(key), [&](std::string_view text) { return user_.keep(text); });
    }

private:
    SHOAL_API bool is_short_form(Node entity);
    SHOAL_API bool has_entries(Node list, SourceKey key);
    SHOAL_API bool read_element(Node element, SourceKey list, SourceEntry& entry);
    SHOAL_API bool read_member(Node member, SourceKey list, SourceEntry& entry);

    GrammarUser& user_;
    std::span<const RenamedKey> renamed_keys_;
    KeyPredictor keys_;                                                  // kSourceKeys, then the renamed keys
    KeyPredictor component_keys_;                                        // kComponentKeys
    HashMap<std::string_view, bool> is_short_{Owner("source grammar")};  // whether the short form allows each key
};

}  // namespace shoal
