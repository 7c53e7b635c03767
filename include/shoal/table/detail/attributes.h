#pragma once
// The attributes that a declaration can give to fields and components:
//
//     SHOAL_COMPONENT((Body, version(2), whole), (mass, unit("kg"), range(0, 1e9)), position)
//
//     field       unit(text)  range(least, greatest)  split  relation  relation(cleared)  relation(dies_too)  ignored
//                 shorthand  keys(field)
//     component   name(text)  version(number)  whole  enableable  many  singleton  computed

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

/// Whether a reference to an entity is a relation, and what happens to the reference when its target dies.
enum class Relation : std::uint8_t {
    kNone,     ///< a plain reference
    kKept,     ///< the reference stays, and refers to a dead entity
    kCleared,  ///< the reference becomes null
    kDiesToo   ///< the entity that refers to the target dies too
};

namespace attributes {

struct Unit {
    const char* text;
};
struct Range {
    double minimum, maximum;
};
struct Split {};
struct RelationOf {
    Relation relation = Relation::kKept;
    constexpr RelationOf operator()(Relation when_target_dies) const { return {when_target_dies}; }
};
struct Ignored {};
struct Shorthand {};
struct Keys {
    const char* field;
};
struct Whole {};
struct Enableable {};
struct Many {};
struct Singleton {};
struct Computed {};
struct Version {
    std::uint32_t number;
};
struct Name {
    const char* text;
};

constexpr Unit unit(const char* text) { return {text}; }
constexpr Range range(double minimum, double maximum) { return {minimum, maximum}; }
constexpr Keys keys(const char* field) { return {field}; }
constexpr Version version(std::uint32_t number) { return {number}; }
constexpr Name name(const char* text) { return {text}; }
[[maybe_unused]] inline constexpr Split split{};
[[maybe_unused]] inline constexpr RelationOf relation{};
[[maybe_unused]] inline constexpr Relation cleared = Relation::kCleared, dies_too = Relation::kDiesToo;
[[maybe_unused]] inline constexpr Ignored ignored{};
[[maybe_unused]] inline constexpr Shorthand shorthand{};
[[maybe_unused]] inline constexpr Whole whole{};
[[maybe_unused]] inline constexpr Enableable enableable{};
[[maybe_unused]] inline constexpr Many many{};
[[maybe_unused]] inline constexpr Singleton singleton{};
[[maybe_unused]] inline constexpr Computed computed{};

}  // namespace attributes

/// The attributes of one field.
struct FieldNote {
    const char *name = nullptr, *unit = "", *keys = "";
    const char* groups[3] = {};  ///< the members that enclose a field of a nested struct, outermost
                                 ///< first
    bool split = false, shorthand = false;
    Relation relation = Relation::kNone;
    bool has_range = false;
    double minimum = 0, maximum = 0;
    constexpr void nest(const char* group) {
        shorthand = false;  // shorthand applies only where the struct is the component
        if (groups[2] != nullptr) name = nullptr;
        groups[2] = groups[1], groups[1] = groups[0], groups[0] = group;
    }
    constexpr void add(attributes::Unit value) { unit = value.text; }
    constexpr void add(attributes::Range value) { has_range = true, minimum = value.minimum, maximum = value.maximum; }
    constexpr void add(attributes::Split) { split = true; }
    constexpr void add(attributes::Shorthand) { shorthand = true; }
    constexpr void add(attributes::Keys value) { keys = value.field; }
    constexpr void add(attributes::RelationOf value) { relation = value.relation; }
};

/// The attributes of the component.
struct ComponentNote {
    const char* struct_name = nullptr;
    const char* name = nullptr;
    std::uint32_t version = 1;
    bool whole = false, enableable = false, many = false, singleton = false;
    bool computed = false;  ///< its store computes the values; queries can only read them

    constexpr void add(attributes::Name value) { name = value.text; }
    constexpr void add(attributes::Version value) { version = value.number; }
    constexpr void add(attributes::Whole) { whole = true; }
    constexpr void add(attributes::Enableable) { enableable = true; }
    constexpr void add(attributes::Many) { many = true; }
    constexpr void add(attributes::Singleton) { singleton = true; }
    constexpr void add(attributes::Computed) { computed = true; }
};

}  // namespace shoal
