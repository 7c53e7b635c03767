// Reads the text of a query: its terms, and the stores of the components that they name.
//
//     query        term {"," term}
//     term         ["!" | "?" | "&"] component  |  ["^" | "$"] path [operator value]  |  component {"|" component}
//                  |  ["!"] "#" tag
//     tag          word | '"' text '"'
//     path         component ["." field {"." part | "[" index "]"}]
//     operator     "<" | "<=" | ">" | ">=" | "==" | "!="
//     value        number | true | false | word | '"' text '"'

#include "query/plan_state.h"
#include "query/text_plan.h"
#include "shoal/base/text.h"
#include "shoal/store/detail/component_directory.h"

#include <algorithm>
#include <charconv>

namespace shoal {
namespace {

constexpr std::size_t kMostTerms = 100;
constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kEndsWord = " \t\r\n,<>=!?&|^$#\"";

constexpr std::uint8_t kDiffers = kLess | kGreater | kUnordered;

struct Operator {
    std::string_view text;
    std::uint8_t holds_for;
};
constexpr Operator kOperators[] = {
    {"<=", kLess | kEqual}, {">=", kGreater | kEqual}, {"==", kEqual}, {"!=", kDiffers}, {"<", kLess}, {">", kGreater},
};

/// A term as written in the text.
struct ReadTerm {
    char sign = 0;  // ! ? & ^ $ or 0
    bool is_tag = false;
    std::string_view path;
    Array<std::string_view> others{Owner("query")};  // the names after `|`: an entity has `path` or one of these
    std::uint8_t holds_for = 0;                      // 0: no comparison
    std::string_view value;
};

bool is_ordered(FieldType type) {
    return (type >= FieldType::kInt8 && type <= FieldType::kUint64) || type == FieldType::kFloat ||
           type == FieldType::kDouble;
}
bool is_comparable(const ValueType& type) {
    return type.array_length == 0 &&
           (is_ordered(type.type) || type.type == FieldType::kBool || type.type == FieldType::kEnum ||
            type.type == FieldType::kStringId || type.type == FieldType::kResourceId);
}

/// Returns the value of a word or a quoted string, or nothing for a number that does not fit in 64 bits.
AnyValue value_of(std::string_view text) {
    if (text[0] == '"') return text.substr(1, text.size() - 2);
    if (text == "true" || text == "false") return text == "true";
    const char* const end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto read = std::from_chars(text.data(), end, whole); read.ptr == end) {
        std::uint64_t large = 0;
        if (read.ec == std::errc()) return AnyValue(whole);
        return std::from_chars(text.data(), end, large).ec == std::errc() ? AnyValue(large) : AnyValue();
    }
    double number = 0;
    if (const auto read = std::from_chars(text.data(), end, number); read.ptr == end)
        return read.ec == std::errc() ? AnyValue(number) : AnyValue();
    return text;
}

}  // namespace

class TextQueryReader {
public:
    TextQueryReader(const ComponentDirectory& directory, std::uint32_t file, Diagnostics& diagnostics)
        : directory_(directory), file_(file), diagnostics_(diagnostics), text_(diagnostics.text(file)), rest_(text_) {}

    Result<TextQuery> read() {
        if (!read_terms()) return failed();
        TextQuery query(new TextQuery::Plan());
        plan_ = query.plan_;
        for (const ReadTerm& term : terms_)
            if (!take_term(term)) return failed();
        if (!check_terms()) return failed();
        make_plan();
        return query;
    }

private:
    /// A component type that a term excludes.
    struct Excluded {
        detail::OwningStore keeper;
        const Schema* schema;
        std::string_view name;
    };
    /// One of the component types in a `|` term.
    struct AnyOption {
        detail::OwningStore keeper;
        const Schema* schema;
        std::uint16_t term;
    };
    /// The parent link of an entity.
    struct ParentLink {
        detail::OwningStore keeper;
        const Schema* schema = nullptr;
    };
    struct ReadTag {
        Store* store;
        StringId tag;
        bool excludes;
    };

    Status failed() const { return Status::error("the text is not a query"); }
    bool error(std::string_view at, std::string message, std::string hint = {}) {
        const SourcePosition place{file_, static_cast<std::uint32_t>(at.data() - text_.data())};
        diagnostics_.error(place, std::move(message), std::move(hint)).underline(static_cast<std::uint32_t>(at.size()));
        return false;
    }

    // --- text --------------------------------------------------------------------------------------------------------

    void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size())); }
    std::string_view take(std::size_t num_bytes) {
        const std::string_view taken = rest_.substr(0, num_bytes);
        rest_.remove_prefix(taken.size());
        skip_space();
        return taken;
    }
    bool read_terms() {
        skip_space();
        if (rest_.empty()) return error(rest_, "the text is empty", "name component types, such as: body, !asleep");
        for (;;) {
            ReadTerm term;
            if (!read_term(term)) return false;
            if (terms_.size() == kMostTerms)
                return error(term.path, concat("there are more than ", kMostTerms, " terms"));
            terms_.push_back(term);
            if (rest_.empty()) return true;
            if (rest_[0] != ',') return error(rest_.substr(0, 1), "a comma is expected between terms");
            take(1);
        }
    }
    bool read_term(ReadTerm& term) {
        if (!rest_.empty() && std::string_view("!?&^$").find(rest_[0]) != std::string_view::npos)
            term.sign = take(1)[0];
        if (rest_.starts_with('#')) return read_tag(term);
        term.path = take(std::min(rest_.find_first_of(kEndsWord), rest_.size()));
        if (term.path.empty()) return error(rest_.substr(0, 1), "the name of a component type is expected");
        for (const Operator& known : kOperators) {
            if (!rest_.starts_with(known.text)) continue;
            if (term.sign != 0 && term.sign != '^' && term.sign != '$')
                return error(term.path, concat("a term with ", term.sign, " names a component type only"),
                             "compare its fields in a term of their own");
            take(known.text.size());
            term.holds_for = known.holds_for;
            return read_value(term.value);
        }
        if (rest_.starts_with('=')) return error(rest_.substr(0, 1), "= is no comparison", "write ==");
        return read_others(term);
    }
    bool read_tag(ReadTerm& term) {
        term.is_tag = true;
        const std::string_view sign = take(1);
        if (term.sign != 0 && term.sign != '!')
            return error(sign, concat("a tag is had or lacked, so ", term.sign, " says nothing of it"),
                         "write #name or !#name");
        if (!read_value(term.path)) return false;
        if (term.path.starts_with('"')) term.path = term.path.substr(1, term.path.size() - 2);
        return !term.path.empty() || error(sign, "a tag needs a name");
    }
    bool read_others(ReadTerm& term) {
        while (rest_.starts_with('|')) {
            const std::string_view bar = take(1);
            if (term.sign != 0)
                return error(bar, concat("a term with ", term.sign, " names one component type"),
                             "leave the sign out, or write a term for each");
            term.others.push_back(take(std::min(rest_.find_first_of(kEndsWord), rest_.size())));
            if (term.others.back().empty()) return error(bar, "the name of a component type is expected behind |");
        }
        return true;
    }
    bool read_value(std::string_view& value) {
        if (rest_.starts_with('"')) {
            const std::size_t end = rest_.find('"', 1);
            if (end == std::string_view::npos) return error(rest_.substr(0, 1), "the text has no closing quote");
            value = take(end + 1);
            return true;
        }
        value = take(std::min(rest_.find_first_of(kEndsWord), rest_.size()));
        return !value.empty() || error(rest_.substr(0, 1), "a value is expected",
                                       "give a number, true, false, a name or a text in quotes");
    }

    // --- component types ---------------------------------------------------------------------------------------------

    const Schema* find_component(std::string_view name) {
        if (const KeptComponent kept = directory_.find_kept(ComponentId(name))) return kept.schema;
        Array<std::string_view> names{Owner("query")};
        for (const Store* store : directory_.stores()) {
            for (const Schema* schema : store->schemas()) names.push_back(schema->name());
            for (const Schema* schema : store->shown_schemas()) names.push_back(schema->name());
        }
        error(name, concat("no store keeps a component ", quoted(name)), hint_about(name, names));
        return nullptr;
    }
    static std::string hint_about(std::string_view name, std::span<const std::string_view> names) {
        const int close = closest_text(name, names.data(), names.size());
        if (close >= 0) return concat("did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?");
        std::string list = names.empty() ? "they keep none" : "they keep ";
        for (const std::string_view known : names)
            append_text(list, concat(known.data() == names[0].data() ? "" : ", ", known));
        return list;
    }
    /// Finds the store with the rows of a component type.
    bool find_owning_store(std::string_view name, const Schema& schema, detail::OwningStore& keeper) {
        keeper = detail::look_up_owning_store(directory_, schema);
        if (keeper.store == nullptr)
            return error(name, concat("the store of ", quoted(name), " shows queries no rows"), "ask the store");
        if (keeper.database != nullptr && database_ != nullptr && keeper.database != database_)
            return error(name, "the components are in two databases, of which a query joins one",
                         "make a query for each");
        if (keeper.database != nullptr) database_ = keeper.database;
        return true;
    }
    bool take_term(const ReadTerm& term) {
        if (term.is_tag) return take_tag(term);
        if (!term.others.empty()) return take_any(term);
        return term.sign == '!' ? exclude(term) : include(term);
    }
    bool take_tag(const ReadTerm& term) {
        Store* const store = directory_.find(ComponentId(detail::kTagName));
        if (store == nullptr)
            return error(term.path, "no store keeps tags yet", "call World::manager<Tag>() before the query is made");
        if (detail::find_tag_lists(*store) == nullptr)
            return error(term.path, concat("tags are kept in ", store->kind(), ", which does not list who has one"),
                         "keep them in a manager, World::manager<Tag>()");
        tags_.push_back({store, StringId(term.path), term.sign == '!'});
        return true;
    }
    bool take_any(const ReadTerm& term) {
        Array<std::string_view> names(term.others);
        names.insert(names.begin(), term.path);
        for (const std::string_view name : names) {
            const Schema* const schema = find_component(name);
            detail::OwningStore keeper;
            if (schema == nullptr || !find_owning_store(name, *schema, keeper)) return false;
            any_.push_back({keeper, schema, static_cast<std::uint16_t>(&term - terms_.data())});
        }
        return true;
    }
    bool exclude(const ReadTerm& term) {
        const Schema* const schema = find_component(term.path);
        detail::OwningStore keeper;
        if (schema == nullptr || !find_owning_store(term.path, *schema, keeper)) return false;
        excluded_.push_back({keeper, schema, term.path});
        return true;
    }
    bool include(const ReadTerm& term) {
        const std::string_view name = term.path.substr(0, term.path.find_first_of(".["));
        const Schema* const schema = find_component(name);
        detail::OwningStore keeper;
        if (schema == nullptr || !find_owning_store(name, *schema, keeper)) return false;
        const bool is_field = name.size() != term.path.size();
        if (is_field && term.holds_for == 0)
            return error(term.path, "a field alone says nothing about rows",
                         concat("compare it, or name the component ", quoted(name)));
        if (!check_sign(term, name, *schema)) return false;
        const bool has_fields = keeper.database != nullptr || keeper.columns.has_fields;
        if (!has_fields && (term.holds_for != 0 || std::string_view("&^").find(term.sign) != std::string_view::npos))
            return error(name, concat("the store of ", quoted(name), " keeps its fields in another form"),
                         "ask the store for them");
        if (term.sign == '&' && keeper.database == nullptr && keeper.columns.is_read_only)
            return error(name, concat("the store of ", quoted(name), " computes it, and does not let it be written"),
                         std::string(keeper.columns.instead));
        const std::size_t end_column = keeper.columns.first_column + schema->columns().size();
        if (term.sign == '&' && keeper.database == nullptr && keeper.columns.is_source && end_column > 64)
            return error(name,
                         concat("the store of ", quoted(name),
                                " is told of writes to columns 0 to 63, and keeps it "
                                "behind them"),
                         "set it through the store");
        const std::size_t component = add(*schema, keeper, has_fields, term);
        return term.holds_for == 0 || compare(term, component);
    }
    /// Errors: the component type after `$` is not declared singleton; there is no parent link.
    bool check_sign(const ReadTerm& term, std::string_view name, const Schema& schema) {
        if (term.sign == '$' && !schema.singleton())
            return error(name, concat(quoted(name), " is not declared singleton, so rows have their own"),
                         concat("write ", name));
        if (term.sign != '^' || parents_.schema != nullptr) return true;
        if (const KeptComponent kept = directory_.find_kept(ComponentId(detail::kParentName)))
            if (const detail::OwningStore keeper = detail::look_up_owning_store(directory_, *kept.schema);
                keeper.store != nullptr) {
                parents_ = {keeper, kept.schema};
                return true;
            }
        return error(name, "nothing has a parent in a world without transforms", "call World::transforms() before");
    }
    /// Returns the number of a shown component type; adds the type if it is new.
    std::size_t add(const Schema& schema, const detail::OwningStore& keeper, bool has_columns, const ReadTerm& term) {
        Array<TextComponent>& components = plan_->components;
        std::size_t i = 0;
        const bool is_of_parent = term.sign == '^', is_singleton = term.sign == '$';
        while (i < components.size() &&
               (components[i].schema->id() != schema.id() || components[i].is_of_parent != is_of_parent ||
                components[i].is_singleton != is_singleton))
            ++i;
        if (i == components.size()) {
            components.push_back({&schema, has_columns, true, false, is_of_parent, is_singleton});
            keepers_.push_back(keeper);
        }
        components[i].is_optional = components[i].is_optional && (term.sign == '?' || is_of_parent || is_singleton);
        components[i].is_written = components[i].is_written || term.sign == '&';
        return i;
    }

    // --- comparisons -------------------------------------------------------------------------------------------------

    bool find_part(const ReadTerm& term, const Schema& schema, FieldPart& part) {
        const std::size_t end = term.path.find_first_of(".[");
        if (end == std::string_view::npos && schema.fields().size() != 1)
            return error(term.path, concat(quoted(schema.name()), " is a component type with several fields"),
                         schema.fields().empty() ? "it has none to compare" : hint_for({}, field_names(schema)));
        const bool has_field = end != std::string_view::npos && term.path[end] == '.' && end + 1 < term.path.size();
        if (end != std::string_view::npos && !has_field)
            return error(term.path, concat(quoted(term.path), " is not the name of a field"),
                         "write component.field, such as body.position");
        const std::string_view name = has_field ? term.path.substr(end + 1) : std::string_view(schema.fields()[0].name);
        const Result<FieldPart> found = find_field_part(schema, name);
        if (!found) return error(term.path, std::string(found.status().message()));
        part = *found;
        return true;
    }
    bool compare(const ReadTerm& term, std::size_t component) {
        TextComparison comparison{component, {}, term.holds_for, {}};
        if (!find_part(term, *plan_->components[component].schema, comparison.part)) return false;
        const ValueType& type = comparison.part.type;
        if (!is_comparable(type))
            return error(term.path, concat(quoted(term.path), " is ", type.to_text(), ", which cannot be compared"),
                         field_type_lanes(type.type) > 1 ? "compare a part of it, such as .x" : "");
        if (!is_ordered(type.type) && term.holds_for != kEqual && term.holds_for != kDiffers)
            return error(term.path, concat(quoted(term.path), " is ", type.to_text(), ", which has no order"),
                         "compare it with == or !=");
        const AnyValue given = value_of(term.value);
        if (given.type().type == FieldType(0)) return error(term.value, "the number is too large");
        const Result<AnyValue> value = given.convert(type, term.path);
        if (!value) return error(term.value, std::string(value.status().message()));
        comparison.value = *value;
        (plan_->components[component].is_singleton ? plan_->of_singletons : plan_->comparisons).push_back(comparison);
        return true;
    }

    // --- stores ------------------------------------------------------------------------------------------------------

    bool check_terms() {
        for (const Excluded& excluded : excluded_)
            for (const TextComponent& component : plan_->components)
                if (component.schema->id() == excluded.schema->id() && !component.is_of_parent &&
                    !component.is_singleton)
                    return error(excluded.name,
                                 concat(quoted(excluded.schema->name()), " is both asked for and ruled out"));
        const auto is_required = [](const TextComponent& component) { return !component.is_optional; };
        const auto has_tag = [](const ReadTag& tag) { return !tag.excludes; };
        return std::ranges::any_of(plan_->components, is_required) || std::ranges::any_of(tags_, has_tag) ||
               error(text_, "no term says whose rows to visit", "name a component type without a sign");
    }
    void make_plan() {
        Array<detail::PlanTerm> terms{Owner("query")};
        Array<detail::OwningStore> keepers{Owner("query")};
        const auto add_term = [&](const detail::PlanTerm& term, const detail::OwningStore& keeper) {
            terms.push_back(term);
            keepers.push_back(keeper);
        };
        if (parents_.schema != nullptr)
            add_term({.component = parents_.schema, .is_optional = true, .is_link = true}, parents_.keeper);
        const bool is_all = plan_->components.size() == 1 && excluded_.empty() && any_.empty() && tags_.empty();
        std::size_t num_fields = 0;
        for (std::size_t i = 0; i < plan_->components.size(); ++i) {
            const TextComponent& component = plan_->components[i];
            plan_->singletons.push_back(component.is_singleton ? keepers_[i].columns.rows : nullptr);
            plan_->fields.push_back(component.is_singleton ? TextQuery::Plan::kNoField : num_fields++);
            if (component.is_singleton) continue;
            const std::size_t num_columns = component.has_columns ? component.schema->columns().size() : 0;
            add_term({.component = component.schema,
                      .is_field = true,
                      .writes = component.is_written,
                      .is_optional = component.is_optional,
                      .is_each_value = is_all && component.schema->many(),
                      .link = component.is_of_parent ? std::uint16_t(0) : detail::PlanTerm::kNoLink,
                      .num_columns = static_cast<std::uint16_t>(num_columns)},
                     keepers_[i]);
        }
        for (const Excluded& excluded : excluded_)
            add_term({.component = excluded.schema, .excludes = true}, excluded.keeper);
        for (const AnyOption& option : any_)
            add_term({.component = option.schema, .is_optional = true, .any_of = option.term}, option.keeper);
        plan_->rows.emplace(detail::PlanState::make(terms, keepers));
        for (const ReadTag& tag : tags_) detail::PlanState::add_tag(*plan_->rows, *tag.store, tag.tag, tag.excludes);
        plan_->accesses = plan_->rows->accesses();
        for (std::size_t i = 0; i < plan_->components.size(); ++i) {
            if (!plan_->components[i].is_singleton) continue;
            plan_->rows->hold(*plan_->singletons[i]);
            plan_->accesses.push_back(
                {keepers_[i].store, nullptr, plan_->components[i].schema->id(), kAllFields, false});
        }
    }

    const ComponentDirectory& directory_;
    std::uint32_t file_;
    Diagnostics& diagnostics_;
    std::string_view text_, rest_;
    Array<ReadTerm> terms_{Owner("query")};
    TextQuery::Plan* plan_ = nullptr;
    Array<detail::OwningStore> keepers_{Owner("query")};  // one element per shown component
    Array<Excluded> excluded_{Owner("query")};
    Array<AnyOption> any_{Owner("query")};
    Array<ReadTag> tags_{Owner("query")};
    Database* database_ = nullptr;  // the database of the terms
    ParentLink parents_;            // set if a term needs it
};

Result<TextQuery> TextQuery::make(const ComponentDirectory& directory, std::uint32_t file, Diagnostics& diagnostics) {
    return TextQueryReader(directory, file, diagnostics).read();
}

Result<TextQuery> TextQuery::make(const ComponentDirectory& directory, std::string_view text) {
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.refer_file("query", text);
    Result<TextQuery> query = make(directory, file, diagnostics);
    if (query) return query;
    const Diagnostic& first = diagnostics.entries()[0];
    const SourceLocation at = diagnostics.locate(first.position);
    return Status::error(
        concat(at.line, ':', at.column, ": ", first.message, first.hint.empty() ? "" : "; ", first.hint));
}

}  // namespace shoal
