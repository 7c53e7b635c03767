// Compiles the text of properties. Flattens nested mappings to paths, reads values, and marks values in lower layers as
// hidden.

#include "shoal/base/detail/hash_map.h"
#include "shoal/base/text.h"
#include "shoal/components/properties.h"
#include "shoal/resource/detail/old_words.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/resource/migration.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace shoal {
namespace {

constexpr std::size_t kMaxEntries = 65536;
constexpr std::size_t kMostComparisons = std::size_t(1) << 22;  // of paths with those of lower layers, for hints

void append_words(std::vector<std::uint32_t>& words, std::uint64_t value) {
    words.push_back(static_cast<std::uint32_t>(value));
    words.push_back(static_cast<std::uint32_t>(value >> 32));
}

/// Whether adding, removing or replacing one letter, or swapping two, turns `a` into `b`. Digits are ignored,
/// because a different number is usually not a mistake.
bool is_one_edit_away(std::string_view a, std::string_view b) {
    if (a.size() > b.size()) std::swap(a, b);
    if (b.size() - a.size() > 1) return false;
    std::size_t i = 0;
    while (i < a.size() && a[i] == b[i]) ++i;
    const auto is_digit = [](std::string_view text, std::size_t at) {
        return at < text.size() && text[at] >= '0' && text[at] <= '9';
    };
    if (is_digit(a, i) || is_digit(b, i)) return false;
    if (a.size() < b.size()) return a.substr(i) == b.substr(i + 1);
    if (i < a.size() && a.substr(i + 1) == b.substr(i + 1)) return true;
    return i + 1 < a.size() && a[i] == b[i + 1] && a[i + 1] == b[i] && a.substr(i + 2) == b.substr(i + 2);
}

/// Reads one layer.
class PropertyReader {
public:
    PropertyReader(const CompileInput& in, CompileOutput& out) : in_(in), out_(out) {
        std::memcpy(static_cast<void*>(&properties_), out.image().data(), sizeof properties_);
    }

    bool read() {
        for (const Node entry : in_.node)
            if (out_.is_field(entry)) read_entry(entry, std::string(entry.key()));
        if (!good_ || !add_ids()) return false;
        list_below();
        hide_below();
        return good_ && write();
    }

private:
    struct Entry {
        std::string path;
        Node node;
        StringId id;
        PropertyShape shape;
        std::vector<std::uint32_t> words;
    };

    void fail(SourcePosition at, const std::string& problem, std::string hint = {}) {
        in_.diagnostics.error(at, concat("component \"properties\": ", problem), std::move(hint));
        good_ = false;
    }

    // --- values --------------------------------------------------------------------------------------------------

    void read_entry(Node node, std::string path) {
        if (node.key().empty() || path.front() == '.' || path.back() == '.' || path.find("..") != std::string::npos)
            return fail(node.key_position(), concat("a value is called ", quoted(path)), "give each part a name");
        if (path.find_first_of("[]") != std::string::npos)
            return fail(node.key_position(), concat("a value is called ", quoted(path)),
                        "elements of lists have no paths; write the whole list");
        if (node.is_mapping()) {
            for (const Node child : node) read_entry(child, concat(path, '.', child.key()));
            return;
        }
        if (entries_.size() == kMaxEntries)
            return fail(node.key_position(), concat("there are more than ", kMaxEntries, " values"),
                        "put some of them into lists");
        Entry entry{std::move(path), node, {}, {}, {}};
        if (node.is_list())
            read_list(node, entry);
        else if (!node.is_null())
            read_scalar(node, entry);
        entries_.push_back(std::move(entry));
    }

    static PropertyType type_of(Node node) {
        if (node.is_bool()) return PropertyType::kBool;
        if (node.is_string()) return PropertyType::kString;
        if (!node.is_number()) return PropertyType::kNone;
        return node.as_int64() != nullptr ? PropertyType::kInt : PropertyType::kFloat;
    }

    void read_scalar(Node node, Entry& entry) {
        entry.shape = {type_of(node), 1, 1};
        append_value(node, entry);
    }

    void append_value(Node node, Entry& entry) {
        if (entry.shape.type == PropertyType::kBool) return entry.words.push_back(node.as_bool());
        if (node.is_integer() && node.as_int64() == nullptr)
            return fail(node.position(), "an integer is above 9223372036854775807",
                        "write it with a point to have a float, or as a string");
        if (entry.shape.type == PropertyType::kInt)
            return append_words(entry.words, static_cast<std::uint64_t>(*node.as_int64()));
        if (entry.shape.type == PropertyType::kString) {
            const Result<StringId> id = out_.intern(node.as_string());
            return id ? append_words(entry.words, id->hash) : fail(node.position(), std::string(id.message()));
        }
        const auto number = static_cast<float>(node.as_double());
        if (!std::isfinite(number))
            fail(node.position(), "a number is too large for a float", "write one up to 3.4e38");
        entry.words.push_back(std::bit_cast<std::uint32_t>(number));
    }

    /// A list contains bools, numbers, strings, or vectors of the same length.
    void read_list(Node list, Entry& entry) {
        if (list.size() > PropertyShape::kMaxCount)
            return fail(list.position(), concat("an array has more than ", PropertyShape::kMaxCount, " elements"),
                        "divide it, or keep it in a blob_array of a component");
        entry.shape = {PropertyType::kFloat, 1, list.size()};
        if (list.size() == 0) return;
        if ((*list.begin()).is_list()) return read_vectors(list, entry);
        PropertyType type = type_of(*list.begin());
        for (const Node element : list) {
            const PropertyType other = type_of(element);
            const bool has_numbers =
                element.is_number() && (type == PropertyType::kInt || type == PropertyType::kFloat);
            if (other == PropertyType::kNone || (other != type && !has_numbers))
                return fail(element.position(), concat(quoted(entry.path), " has elements of several kinds"),
                            "write a list of bools, of numbers, of strings, or of vectors");
            if (other != type) type = PropertyType::kFloat;
        }
        entry.shape.type = type;
        for (const Node element : list) append_value(element, entry);
    }

    void read_vectors(Node list, Entry& entry) {
        const std::uint32_t lanes = (*list.begin()).size();
        for (const Node vector : list) {
            bool is_vector = vector.is_list() && vector.size() == lanes && lanes >= 2 && lanes <= 4;
            for (const Node number : vector) is_vector = is_vector && number.is_number();
            if (!is_vector)
                return fail(vector.position(), concat(quoted(entry.path), " is a list of lists that are no vectors"),
                            "write vectors of 2, 3 or 4 numbers, all alike");
            for (const Node number : vector) append_value(number, entry);
        }
        entry.shape = list.size() == 1 ? PropertyShape{PropertyType::kFloat, 1, lanes}
                                       : PropertyShape{PropertyType::kFloat, lanes, list.size()};
    }

    // --- paths ---------------------------------------------------------------------------------------------------

    /// Hashes the paths, and stores their strings in the blob.
    bool add_ids() {
        HashMap<StringId, std::uint32_t> first_of{Owner("properties")};
        for (std::uint32_t i = 0; i < entries_.size(); ++i) {
            Entry& entry = entries_[i];
            const Result<StringId> id = out_.intern(entry.path);
            if (!id) {
                fail(entry.node.key_position(), std::string(id.message()));
                continue;
            }
            entry.id = *id;
            const auto [first, is_new] = first_of.insert(*id, i);
            if (is_new) continue;
            in_.diagnostics
                .error(entry.node.key_position(),
                       concat("component \"properties\": two values are called ", quoted(entry.path)),
                       "remove one of them")
                .note(entries_[*first].node.key_position(), "the first is here");
            good_ = false;
        }
        return good_;
    }

    std::span<const std::uint32_t> table_of(const BlobArrayBase& array) const {
        const std::span<const std::byte> bytes = out_.array(array, FieldType::kUint32);
        return {reinterpret_cast<const std::uint32_t*>(bytes.data()), bytes.size() / sizeof(std::uint32_t)};
    }

    /// Lists the combined values of the lower layers, in ascending order of paths.
    void list_below() {
        const std::span<const std::uint32_t> values = table_of(properties_.values),
                                             overrides = table_of(properties_.overrides);
        const std::uint32_t num_values = num_property_entries(values), num_overrides = num_property_entries(overrides);
        for (std::uint32_t v = 0, o = 0; v < num_values || o < num_overrides;) {
            const PropertyEntry value = property_entry(values, v), change = property_entry(overrides, o);
            const bool takes_change = o < num_overrides && (v == num_values || change.path <= value.path);
            v += v < num_values && (!takes_change || change.path == value.path);
            o += takes_change;
            const PropertyEntry& taken = takes_change ? change : value;
            if (taken.shape.type != PropertyType::kNone) below_.push_back(taken);
        }
    }

    bool is_below(StringId path) const {
        const auto found = std::lower_bound(below_.begin(), below_.end(), path,
                                            [](const PropertyEntry& entry, StringId id) { return entry.path < id; });
        return found != below_.end() && found->path == path;
    }

    /// Adds entries that hide values of lower layers. A value is hidden if it is set to null, or if its name is a value
    /// in one layer and a mapping in the other.
    void hide_below() {
        const bool changes_values_only = std::all_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
            return !entry.node.is_null() && is_below(entry.id);
        });
        if (changes_values_only) return;
        note_paths();
        Array<StringId> hidden{Owner("properties")};
        HashMap<StringId, bool> with_hidden{Owner("properties")};  // mappings that contain a hidden value
        for (const PropertyEntry& entry : below_) {
            const std::string_view path = out_.text(entry.path);
            if (!is_hidden(entry.path, path)) continue;
            hidden.push_back(entry.path);
            for_each_mapping(path, [&](StringId mapping) { with_hidden.insert(mapping, true); });
        }
        for (const Entry& entry : entries_) check_name(entry, with_hidden);
        remove_nulls();
        for (const StringId path : hidden) entries_.push_back({{}, {}, path, {}, {}});
    }

    void remove_nulls() {
        std::erase_if(entries_, [](const Entry& entry) { return entry.node.is_null(); });
    }

    /// Calls visit(id) for the path of each mapping that contains a value, such as "a" and "a.b" for "a.b.c".
    template <class Visit>
    static void for_each_mapping(std::string_view path, Visit&& visit) {
        for (std::size_t point = path.find('.'); point != std::string_view::npos; point = path.find('.', point + 1))
            visit(StringId(path.substr(0, point)));
    }
    void note_paths() {
        for (const Entry& entry : entries_) {
            is_null_.insert(entry.id, entry.node.is_null());
            for_each_mapping(entry.path, [&](StringId mapping) { mappings_.insert(mapping, true); });
        }
    }

    bool is_hidden(StringId id, std::string_view path) const {
        if (const bool* const is_null = is_null_.find(id)) return *is_null;
        bool lies_in_value = false;
        for_each_mapping(path, [&](StringId mapping) { lies_in_value |= is_null_.find(mapping) != nullptr; });
        return lies_in_value || mappings_.find(id) != nullptr;
    }

    /// Warns about a change that matches nothing, and about a path that resembles a path in a lower layer.
    void check_name(const Entry& entry, const HashMap<StringId, bool>& with_hidden) {
        if (is_below(entry.id)) return;
        const auto warn = [&](const std::string& problem, std::string hint) {
            in_.diagnostics.warning(entry.node.key_position(), concat("component \"properties\": ", problem),
                                    std::move(hint));
        };
        if (entry.node.is_null()) {
            if (with_hidden.find(entry.id) == nullptr)
                warn(concat(quoted(entry.path), " is null, and nothing below has it"), "remove it");
            return;
        }
        if (entry.path.size() < 4 || entries_.size() * below_.size() > kMostComparisons) return;
        for (const PropertyEntry& below : below_) {
            const std::string_view known = out_.text(below.path);
            if (!is_one_edit_away(entry.path, known)) continue;
            if (is_null_.find(below.path) != nullptr) continue;
            return warn(concat("the prefab has no ", quoted(entry.path)), concat("did you mean ", quoted(known), "?"));
        }
    }

    // --- tables --------------------------------------------------------------------------------------------------

    BlobArrayBase add_table(std::span<const PropertyEntry> entries) {
        if (entries.empty()) return {};
        const Array<std::uint32_t> table = make_property_table(entries);
        return out_.add_array(FieldType::kUint32, std::as_bytes(std::span(table)));
    }

    /// Writes this layer's entries as values, or as overrides of lower layers.
    bool write() {
        if (entries_.empty()) return true;
        std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
        Array<PropertyEntry> here{Owner("properties")};
        for (const Entry& entry : entries_) here.push_back({entry.id, entry.shape, entry.words});
        BlobArrayBase& values = properties_.values;
        BlobArrayBase& overrides = properties_.overrides;
        if (overrides.count != 0) values = add_table(below_);
        overrides = {};
        (values.count != 0 ? overrides : values) = add_table(here);
        out_.store(properties_);
        return true;
    }

    const CompileInput& in_;
    CompileOutput& out_;
    Properties properties_;
    bool good_ = true;
    std::vector<Entry> entries_;
    HashMap<StringId, bool> is_null_{Owner("properties")};   // by the path of each entry
    HashMap<StringId, bool> mappings_{Owner("properties")};  // mappings that contain entries
    Array<PropertyEntry> below_{Owner("properties")};        // the combined values of the lower layers
};

bool compile_properties(void*, const CompileInput& in, CompileOutput& out) { return PropertyReader(in, out).read(); }

}  // namespace

Status add_properties(ComponentRegistry& registry) {
    if (Status status = registry.add<Properties>(); !status) return status;
    registry.migrations<Properties>().renamed_from(old_words::kProperties);
    return registry.set_compile_function(schema_of<Properties>().name(), compile_properties, nullptr, 0,
                                         CompileScope::kLayer);
}

}  // namespace shoal
