#pragma once
// Declares a component type with one macro per struct, in the struct's own namespace.
//
//     struct Body {
//         float mass = 1;
//         Vec3 position, velocity, acceleration;
//     };
//     SHOAL_COMPONENT(Body, (mass, unit("kg"), range(0, 1e9)), (position, unit("m"), split), velocity, acceleration)
//
// A field is listed alone or with attributes in parentheses: unit(text), range(least, greatest), split, relation. The
// struct can also have attributes: SHOAL_COMPONENT((Body, whole, version(2), name("body"), enableable, many), mass). An
// enableable component may be disabled: Disabled{Body{}}. Defaults are the values of a default-constructed struct. A
// component has up to 64 fields. Nothing is registered globally: the description is a function found by
// argument-dependent look-up. `&Body::mass` names a field, and `all_fields<Body>` names all fields.
//
// A declaration that omits a member does not compile, because tables would lose the member's value. To omit a member on
// purpose, list it as (scratch, ignored). Structs with constructors, base classes or private members are not checked.
//
// A member whose type was declared in the same way becomes several fields: one of them is `volume.aabbox.min` in text,
// and nested<&Volume::aabbox, &Aabbox::min> in code.
//
//     template <class Of>
//     struct Stock {
//         float amount = 0;
//     };
//     SHOAL_COMPONENT_TEMPLATE((class Of), (Stock<Of>, name(Of::kStockName)), amount)  // each has its own name
//
//     enum class Shape : std::uint8_t { kBox, kSphere };
//     SHOAL_ENUM(Shape, (kBox, "box"), (kSphere, "sphere"))  // or plain: SHOAL_ENUM(Shape, kBox, kSphere)

#include "shoal/table/detail/attributes.h"
#include "shoal/table/detail/preprocessor.h"
#include "shoal/table/detail/schema.h"

namespace shoal {

template <class T>
struct ComponentTag {};

template <class Member>
struct MemberTraits;
template <class C, class T>
struct MemberTraits<T C::*> {
    using Component = C;
    using Value = T;
};
/// Names a member of a struct within a component; `kInner` may itself be nested.
template <auto kOuter, auto kInner>
struct NestedMember {};
template <auto kOuter, auto kInner>
inline constexpr NestedMember<kOuter, kInner> nested{};
template <auto kOuter, auto kInner>
struct MemberTraits<NestedMember<kOuter, kInner>> {
    using Component = typename MemberTraits<std::remove_const_t<decltype(kOuter)>>::Component;
    using Value = typename MemberTraits<std::remove_const_t<decltype(kInner)>>::Value;
};
template <class T, auto kOuter, auto kInner>
SHOAL_INLINE constexpr auto& operator->*(T* object, NestedMember<kOuter, kInner>) {
    return (&(object->*kOuter))->*kInner;
}
/// The type of `all_fields<T>`.
template <class T>
struct AllFields {};
/// Names a whole component where one of its members is expected: Read<all_fields<Body>>, column<all_fields<Body>>().
template <class T>
inline constexpr AllFields<T> all_fields{};
template <class T>
struct MemberTraits<AllFields<T>> {
    using Component = T;
    using Value = T;
};

template <auto kMember>
using ComponentOf = typename MemberTraits<std::remove_const_t<decltype(kMember)>>::Component;
template <auto kMember>
using ValueOf = typename MemberTraits<std::remove_const_t<decltype(kMember)>>::Value;

template <auto kA, auto kB>
inline constexpr bool kSameMember = false;
template <auto kA>
inline constexpr bool kSameMember<kA, kA> = true;
/// Whether `kMember` names all fields of its component.
template <auto kMember>
inline constexpr bool kNamesAllFields = kSameMember<kMember, all_fields<ComponentOf<kMember>>>;

template <auto kMember_, bool kSplit_>
struct DescribedField {
    static constexpr auto kMember = kMember_;
    static constexpr bool kSplit = kSplit_;
    static constexpr std::uint32_t kNumColumns = kSplit_ ? field_type_lanes(FieldTraits<ValueOf<kMember_>>::type) : 1;
    FieldNote note;
};

/// A member that is not a field.
template <class Value_>
struct IgnoredMember {
    using Value = Value_;
};
template <class Described>
inline constexpr bool kIsIgnored = false;
template <class Value>
inline constexpr bool kIsIgnored<IgnoredMember<Value>> = true;
/// How many initialisers a member needs: one, or one for each element of a C array.
template <class Value>
inline constexpr std::size_t kNumInitialisers = sizeof(Value) / sizeof(std::remove_all_extents_t<Value>);
/// How many initialisers a declared member needs. For a struct within a component, the first field has the number for
/// the whole struct, and the other fields have 0.
template <class Member>
inline constexpr std::size_t kNumInitialisersOf = kNumInitialisers<typename MemberTraits<Member>::Value>;
template <class Described>
inline constexpr std::size_t kNumIgnoredInitialisers = 0;
template <class Value>
inline constexpr std::size_t kNumIgnoredInitialisers<IgnoredMember<Value>> = kNumInitialisers<Value>;

/// Initialises any member of T, but not a base class of T.
template <class T>
struct AnyMemberOf {
    template <class Value>
        requires(!std::is_base_of_v<Value, T>)
    operator Value() const noexcept;
};
/// Whether T has no more members than `kNumInitialisers` initialisers cover, so that one more would not compile. Also
/// true for structs with constructors or base classes, which cannot be checked.
template <class T, std::size_t kNumInitialisers>
constexpr bool has_no_more_members() {
    if constexpr (!std::is_aggregate_v<T> || kNumInitialisers > 256) {
        return true;
    } else {
        return []<std::size_t... i>(std::index_sequence<i...>) {
            return !requires { T{(static_cast<void>(i), AnyMemberOf<T>{})...}; };
        }(std::make_index_sequence<kNumInitialisers + 1>());
    }
}

template <bool kWhole_, bool kMany_, bool kNamed_, bool kSingleton_>
struct DescribedHead {
    static constexpr bool kWhole = kWhole_;
    static constexpr bool kMany = kMany_;
    static constexpr bool kNamed = kNamed_;
    static constexpr bool kSingleton = kSingleton_;
    static constexpr std::size_t kNumIgnored = 0;  ///< initialisers of ignored members
    ComponentNote note;
};
template <class Head, std::size_t kNumIgnored_>
struct HeadWithIgnored : Head {
    static constexpr std::size_t kNumIgnored = kNumIgnored_;
};
template <class T>
concept DescribedComponent = requires { shoal_describe(ComponentTag<T>{}); };
/// The value of DescribedComponent<T>, for static_assert, because compilers explain a failed concept at length.
template <class T>
inline constexpr bool kIsDescribed = DescribedComponent<T>;
template <DescribedComponent T>
using DescriptionOf = decltype(shoal_describe(ComponentTag<T>{}));
template <auto kMember, class... Attributes>
constexpr auto describe_kept_field(const char* name, Attributes... attributes) {
    constexpr bool kSplit = (std::is_same_v<Attributes, attributes::Split> || ...);
    static_assert(!kSplit || field_type_lanes(FieldTraits<ValueOf<kMember>>::type) > 1,
                  "only Vec2, Vec3, Vec4 and Quaternion fields can be split");
    static_assert(!kSplit || !kIsArray<ValueOf<kMember>>, "an array cannot be split");
    constexpr bool kRelates = (std::is_same_v<Attributes, attributes::RelationOf> || ...);
    static_assert(!kRelates || std::is_same_v<ValueOf<kMember>, Entity>, "only a field of type Entity is a relation");
    constexpr std::size_t kBytes = field_type_bytes(FieldTraits<ValueOf<kMember>>::type);
    static_assert(kBytes == 0 || kBytes * kNumValues<ValueOf<kMember>> == sizeof(ValueOf<kMember>),
                  "the C++ type has another size than the field type that its FieldTraits name");
    DescribedField<kMember, kSplit> field{{name}};
    (field.note.add(attributes), ...);
    return field;
}

template <auto kMember, class... Attributes>
constexpr auto describe_field(const char* name, Attributes... attributes) {
    if constexpr ((std::is_same_v<Attributes, attributes::Ignored> || ...)) {
        static_assert(sizeof...(Attributes) == 1, "an ignored member has no other attributes");
        return IgnoredMember<ValueOf<kMember>>();
    } else if constexpr (kIsDescribed<ValueOf<kMember>>) {
        static_assert(sizeof...(Attributes) == 0, "the fields of a struct have the attributes of its own declaration");
        return nested_fields<kMember>(name, shoal_describe(ComponentTag<ValueOf<kMember>>{}));
    } else {
        return describe_kept_field<kMember>(name, attributes...);
    }
}

template <class... Attributes>
constexpr auto describe_head(const char* struct_name, Attributes... attributes) {
    constexpr bool kSingleton = (std::is_same_v<Attributes, attributes::Singleton> || ...);
    DescribedHead<(kSingleton || ... || std::is_same_v<Attributes, attributes::Whole>),
                  (std::is_same_v<Attributes, attributes::Many> || ...),
                  (std::is_same_v<Attributes, attributes::Name> || ...), kSingleton>
        head{{struct_name}};
    (head.note.add(attributes), ...);
    return head;
}

/// A whole declaration, at compile time.
template <class T, class Head, class... Fields>
struct Description {
    using Component = T;
    static constexpr bool kWhole = Head::kWhole;
    static constexpr bool kMany = Head::kMany;
    static constexpr bool kSingleton = Head::kSingleton;
    static constexpr std::uint32_t kNumFields = sizeof...(Fields);
    static_assert(kNumFields <= kMaxFields, "a component has at most 64 fields");
    /// Whether every member of the struct is a field or ignored.
    static constexpr bool kListsAllMembers =
        has_no_more_members<T, (Head::kNumIgnored + ... +
                                kNumInitialisersOf<std::remove_const_t<decltype(Fields::kMember)>>)>();

    ComponentNote component;
    FieldNote fields[kNumFields == 0 ? 1 : kNumFields];

    /// Returns the index of `kMember` among the fields, or -1.
    template <auto kMember>
    static constexpr int field_index() {
        int index = -1, i = 0;
        ((kSameMember<kMember, Fields::kMember> ? void(index = i) : void(), ++i), ...);
        return index;
    }
    /// Returns the index of the first column of field `field_index` in Schema::columns().
    static constexpr std::uint32_t first_column(int field_index) {
        if (kWhole) return 0;
        std::uint32_t column = 0;
        int i = 0;
        ((i++ < field_index ? void(column += Fields::kNumColumns) : void()), ...);
        return column;
    }
    static constexpr bool split(int field_index) {
        bool result = false;
        int i = 0;
        ((i++ == field_index ? void(result = Fields::kSplit) : void()), ...);
        return result && !kWhole;
    }
    /// The number of columns in Schema::columns().
    static constexpr std::uint32_t kNumColumns = kNumFields == 0 ? 0 : kWhole ? 1 : (0 + ... + Fields::kNumColumns);
    /// Whether no field is opaque, so that all values are plain bytes.
    static constexpr bool kIsPlain = ((FieldTraits<ValueOf<Fields::kMember>>::type != FieldType::kOpaque) && ...);
    /// The size of an element in column `column`, in bytes. Requires: the component is not kept whole.
    static constexpr std::size_t column_bytes(std::uint32_t column) {
        std::size_t bytes = 0;
        std::uint32_t first = 0;
        ((first <= column ? void(bytes = sizeof(ValueOf<Fields::kMember>) / Fields::kNumColumns) : void(),
          first += Fields::kNumColumns),
         ...);
        return bytes;
    }
    /// Calls visit.template operator()<kMember, kFirstColumn, kSplit>() for each field, in order.
    template <class Visitor>
    SHOAL_INLINE static constexpr void for_each_field(Visitor&& visit) {
        (visit.template
         operator()<Fields::kMember, first_column(field_index<Fields::kMember>()), Fields::kSplit && !kWhole>(),
         ...);
    }
};

/// The fields collected so far, without ignored members.
template <class... Fields>
struct FieldList {
    FieldNote notes[sizeof...(Fields) + 1];

    template <class... More>
    constexpr auto append(const FieldList<More...>& next) const {
        FieldList<Fields..., More...> longer{};
        for (std::size_t i = 0; i < sizeof...(Fields); ++i) longer.notes[i] = notes[i];
        for (std::size_t i = 0; i < sizeof...(More); ++i) longer.notes[sizeof...(Fields) + i] = next.notes[i];
        return longer;
    }
    template <class Next>
    constexpr auto operator+(Next next) const {
        if constexpr (kIsIgnored<Next>) {
            return *this;
        } else if constexpr (requires { next.notes; }) {
            return append(next);
        } else {
            return append(FieldList<Next>{{next.note}});
        }
    }
};

/// The fields of a struct within a component.
template <auto kOuter, class T, class Head, class... Fields>
constexpr auto nested_fields(const char* group, const Description<T, Head, Fields...>& inner) {
    static_assert(sizeof...(Fields) > 0, "a struct without fields cannot be a field; write (member, ignored)");
    FieldList<DescribedField<NestedMember<kOuter, Fields::kMember>{}, Fields::kSplit>...> list{};
    for (std::size_t i = 0; i < sizeof...(Fields); ++i) (list.notes[i] = inner.fields[i]).nest(group);
    return list;
}
template <auto kOuter, auto kInner>
inline constexpr std::size_t kNumInitialisersOf<NestedMember<kOuter, kInner>> =
    DescriptionOf<ValueOf<kOuter>>::template field_index<kInner>() == 0 ? kNumInitialisers<ValueOf<kOuter>> : 0;
template <class T, class Head, class... Fields>
constexpr Description<T, Head, Fields...> describe_fields(const ComponentNote& note, FieldList<Fields...> list) {
    Description<T, Head, Fields...> description{note, {}};
    for (std::size_t i = 0; i < sizeof...(Fields); ++i) description.fields[i] = list.notes[i];
    return description;
}

template <class T, class Head, class... Fields>
constexpr auto describe(Head head, Fields... fields) {
    if constexpr (((kIsIgnored<Fields> || requires { fields.notes; }) || ...))
        return describe_fields<T, HeadWithIgnored<Head, (0 + ... + kNumIgnoredInitialisers<Fields>)>>(
            head.note, (FieldList<>{} + ... + fields));
    else
        return Description<T, Head, Fields...>{head.note, {fields.note...}};
}

/// Describes an instance of a component template. The instance needs its own name, because all instances share the
/// template's name.
template <class T, class Head, class... Fields>
constexpr auto describe_instance(Head head, Fields... fields) {
    static_assert(Head::kNamed, "a component template says how its instances are named: name(text)");
    constexpr bool kListsAllMembers = decltype(describe<T>(head, fields...))::kListsAllMembers;
    static_assert(kListsAllMembers, "SHOAL_COMPONENT_TEMPLATE leaves out a member of the struct");
    return describe<T>(head, fields...);
}

/// A disabled component of an enableable type: `database.create(Position{}, Disabled{Asleep{.depth = 3}})`.
/// Its value stays in the row until the component is added. Databases and commands accept it wherever they accept
/// the component.
template <DescribedComponent T>
struct Disabled {
    static_assert(shoal_describe(ComponentTag<T>{}).component.enableable,
                  "only an enableable component can be disabled; write SHOAL_COMPONENT((Name, enableable), fields...)");
    T value{};
};
template <class T>
Disabled(T) -> Disabled<T>;

namespace detail {

template <class Given>
struct GivenTraits {
    static constexpr bool kIsDisabled = false;
    using Component = Given;
};
template <class T>
struct GivenTraits<Disabled<T>> {
    static constexpr bool kIsDisabled = true;
    using Component = T;
};
template <class Given>
inline constexpr bool kIsDisabled = GivenTraits<Given>::kIsDisabled;
template <class... Given>
inline constexpr bool kSomeDisabled = (kIsDisabled<Given> || ...);
template <class Given>
using ComponentOfGiven = typename GivenTraits<Given>::Component;

}  // namespace detail

/// A component type T, or Disabled<T>.
template <class Given>
concept GivenComponent = DescribedComponent<detail::ComponentOfGiven<Given>>;
/// Whether a component type is declared `singleton`, so that a world has only one component of the type.
template <class T>
inline constexpr bool kIsSingleton = false;
template <DescribedComponent T>
inline constexpr bool kIsSingleton<T> = DescriptionOf<T>::kSingleton;

/// Whether a component type is declared `computed`: its store computes the values.
template <class T>
inline constexpr bool kIsComputed = false;
template <DescribedComponent T>
inline constexpr bool kIsComputed<T> = shoal_describe(ComponentTag<T>{}).component.computed;

/// A declaration and the defaults of its struct, for code that is not templated on the C++ type.
struct DescribedDefaults {
    const ComponentNote& component;
    std::size_t struct_bytes, struct_alignment;
    const FieldNote* fields;
    const FieldTypeInfo* types;  ///< by field
    const void* const* values;   ///< by field; each points into `defaults`
    const void* defaults;
    std::size_t num_fields;
};
SHOAL_API ComponentDefinition make_described_definition(const DescribedDefaults& described);
/// Requires: the declaration is valid (it has a name, and its sizes fit).
SHOAL_API Schema make_described_schema(const DescribedDefaults& described);

/// Calls `make`, which is one of the functions above, with the declaration of T and, for the defaults, a
/// value-initialised T.
template <DescribedComponent T, class Result>
Result make_of(Result (*make)(const DescribedDefaults&)) {
    static constexpr auto kDescription = shoal_describe(ComponentTag<T>{});
    const T defaults{};
    FieldTypeInfo types[DescriptionOf<T>::kNumFields + 1];
    const void* values[DescriptionOf<T>::kNumFields + 1];
    std::size_t i = 0;
    DescriptionOf<T>::for_each_field([&]<auto kMember, std::uint32_t, bool>() {
        types[i] = FieldTraits<ValueOf<kMember>>::info();
        values[i++] = &((&defaults)->*kMember);
    });
    return make({kDescription.component, sizeof(T), alignof(T), kDescription.fields, types, values, &defaults, i});
}

template <DescribedComponent T>
ComponentDefinition make_definition() {
    return make_of<T, ComponentDefinition>(make_described_definition);
}

/// Returns the schema of T, which the first call creates. Requires: the declaration is valid.
template <DescribedComponent T>
const Schema& schema_of() {
    static const Schema schema = make_of<T, Schema>(make_described_schema);
    return schema;
}

}  // namespace shoal

#define SHOAL_PP_FIRST(x, ...) x
#define SHOAL_PP_ALL(...) __VA_ARGS__
#define SHOAL_PP_FIELD(element) , SHOAL_PP_SPREAD(SHOAL_PP_FIELD_, element)
#define SHOAL_PP_FIELD_(field, ...) ::shoal::describe_field<&Self::field>(#field __VA_OPT__(, ) __VA_ARGS__)
#define SHOAL_PP_HEAD_(type, ...) ::shoal::describe_head(#type __VA_OPT__(, ) __VA_ARGS__)
#define SHOAL_PP_ENUMERATOR(element) SHOAL_PP_SPREAD(SHOAL_PP_ENUMERATOR_, element),
#define SHOAL_PP_ENUMERATOR_(value, ...) \
    ::shoal::Enumerator { SHOAL_PP_FIRST(__VA_OPT__(__VA_ARGS__, ) #value), static_cast<std::int64_t>(Self::value) }

/// There is a using-declaration for each attribute, to hide names of the program such as `split` or `range`.
#define SHOAL_USE_ATTRIBUTES               \
    using ::shoal::attributes::unit;       \
    using ::shoal::attributes::range;      \
    using ::shoal::attributes::split;      \
    using ::shoal::attributes::relation;   \
    using ::shoal::attributes::cleared;    \
    using ::shoal::attributes::dies_too;   \
    using ::shoal::attributes::ignored;    \
    using ::shoal::attributes::shorthand;  \
    using ::shoal::attributes::keys;       \
    using ::shoal::attributes::whole;      \
    using ::shoal::attributes::enableable; \
    using ::shoal::attributes::many;       \
    using ::shoal::attributes::singleton;  \
    using ::shoal::attributes::computed;   \
    using ::shoal::attributes::version;    \
    using ::shoal::attributes::name;

#define SHOAL_PP_TYPE(head) SHOAL_PP_SPREAD(SHOAL_PP_FIRST, head)
#define SHOAL_PP_DESCRIBE(function, type, head, ...)                                        \
    [[maybe_unused]] constexpr auto shoal_describe(::shoal::ComponentTag<type>) {           \
        using Self [[maybe_unused]] = type;                                                 \
        SHOAL_USE_ATTRIBUTES                                                                \
        return ::shoal::function<Self>(SHOAL_PP_SPREAD(SHOAL_PP_HEAD_, head)                \
                                           SHOAL_PP_FOR_EACH(SHOAL_PP_FIELD, __VA_ARGS__)); \
    }

#define SHOAL_COMPONENT(head, ...)                                                                             \
    SHOAL_PP_DESCRIBE(describe, SHOAL_PP_TYPE(head), head, __VA_ARGS__)                                        \
    static_assert(decltype(shoal_describe(::shoal::ComponentTag<SHOAL_PP_TYPE(head)>()))::kListsAllMembers,    \
                  "SHOAL_COMPONENT leaves out a member of the struct (list it, or write (member, ignored) if " \
                  "that is meant)");

/// Declares the instances of a struct template. `parameters` are the template's parameters, in parentheses. A type with
/// a comma also needs parentheses: ((Pair<A, B>), name(...)).
#define SHOAL_COMPONENT_TEMPLATE(parameters, head, ...)                                                          \
    template <SHOAL_PP_SPREAD(SHOAL_PP_ALL, parameters)>                                                         \
    SHOAL_PP_DESCRIBE(describe_instance, SHOAL_PP_ALL(SHOAL_PP_SPREAD(SHOAL_PP_ALL, SHOAL_PP_TYPE(head))), head, \
                      __VA_ARGS__)

#define SHOAL_ENUM(type, ...)                                                                                        \
    inline std::span<const ::shoal::Enumerator> shoal_enumerators(::shoal::EnumTag<type>) {                          \
        using Self = type;                                                                                           \
        static constexpr ::shoal::Enumerator kEnumerators[] = {SHOAL_PP_FOR_EACH(SHOAL_PP_ENUMERATOR, __VA_ARGS__)}; \
        return kEnumerators;                                                                                         \
    }
