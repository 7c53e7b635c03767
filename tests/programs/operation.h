#pragma once
// One operation of a program: what it is called with, the code that does it, and what the model does in its place. The code is
// written once: it is compiled, and its text, with the names of the arguments replaced by what they stand for, is what a
// printed program says.
//
//     {CALL(world.ownership().own(e, f)), [](Model& model, const Arguments& a) { ... }}
//                                            `-- returns what the call returns, as a text
//     printed: expect(pond.ownership().own(p[3], p[5]), "ok");
//
// In the code stand:
//     world                sea, lake or pond
//     e, f                 entities by their names
//     n, m, count, zone    numbers: count is 1 to 3, zone 0 to 2
//     text                 one of a few words
//     T, value, path       of operations on component types: the type, a component, the name of its first field
//     stage                the stage
// An operation that cannot be carried out, such as one on a component that is not there, is left out, in both.

#include "programs/model.h"

#include <functional>
#include <vector>

namespace programs {

struct Arguments {
    int world = 0, e = 0, f = 0, n = 0, m = 0;
};

struct Code {
    std::string text;
    bool is_statement = false;  // it has no value
    std::string (*run)(Stage& stage, const Arguments& a) = nullptr;
};

struct Operation {
    Code code;
    std::function<std::string(Model&, const Arguments&)> expected;
    std::function<bool(const Model&, const Arguments&)> can = nullptr;
    std::string type{};   // what T stands for
    std::string value{};  // how a value of T is written, with n, m and f
    std::string path{};
    int weight = 1;
    int group = 0;  // of operations that need each other; see operations.cpp

    bool is_possible(const Model& model, const Arguments& a) const { return can == nullptr || can(model, a); }
    /// Whether its code names an argument.
    bool names(const std::string& argument) const;
    /// Its code as a program says it.
    std::string print(const Arguments& a) const;
};

/// All operations that change something, and all looks at what there is, which change nothing.
const std::vector<Operation>& operations();
const std::vector<Operation>& looks();

// --- for the lists of operations ---------------------------------------------------------------------------------------

template <class T>
T made(int n, int m, Entity f) {
    if constexpr (std::is_same_v<T, Place>)
        return {n, {float(m), 0, 2}};
    else if constexpr (std::is_same_v<T, Body>)
        return {n, double(m), m % 2 == 1};
    else if constexpr (std::is_same_v<T, Buoy>)
        return {{float(n), 0, 0}, {float(m), 0, 0}};
    else if constexpr (std::is_same_v<T, Title>)
        return {"title " + std::to_string(n)};
    else if constexpr (std::is_same_v<T, Song>)
        return {n, {}};
    else if constexpr (std::is_same_v<T, AttachedToNode>)
        return {.node = node_name(n), .position = {float(m), 0, 0}};
    else if constexpr (std::is_same_v<T, Wet>)
        return {};
    else if constexpr (requires(T value) { value.who; })
        return {f};
    else
        return {n};
}

using T = Mark;  // in operations that are not about a component type

#define PROGRAM_ARGUMENTS                                                    \
    [[maybe_unused]] World& world = stage.world(a.world);                    \
    [[maybe_unused]] Entity& e = stage.names(world)[std::size_t(a.e)];       \
    [[maybe_unused]] Entity& f = stage.names(world)[std::size_t(a.f)];       \
    [[maybe_unused]] const int n = a.n, m = a.m;                             \
    [[maybe_unused]] const std::uint32_t count = std::uint32_t(1 + a.m % 3); \
    [[maybe_unused]] const Zone zone = Zone(a.n % 3);                        \
    [[maybe_unused]] const char* const text = kWords[a.n % 3];               \
    [[maybe_unused]] const T value = made<T>(a.n, a.m, f);                   \
    [[maybe_unused]] const char* const path = path_of<T>;

/// Code with a value, which a program expects to be that of the model, and code without.
#define CALL(...)                                                   \
    Code {                                                          \
        #__VA_ARGS__, false, [](Stage& stage, const Arguments& a) { \
            PROGRAM_ARGUMENTS                                       \
            return text_of(__VA_ARGS__);                            \
        }                                                           \
    }
#define DO(...)                                                    \
    Code {                                                         \
        #__VA_ARGS__, true, [](Stage& stage, const Arguments& a) { \
            PROGRAM_ARGUMENTS                                      \
            __VA_ARGS__;                                           \
            return std::string();                                  \
        }                                                          \
    }

template <class T>
inline constexpr const char* path_of = "";
template <>
inline constexpr const char* path_of<Mark> = "mark.n";
template <>
inline constexpr const char* path_of<Place> = "place.n";
template <>
inline constexpr const char* path_of<Body> = "body.n";
template <>
inline constexpr const char* path_of<Scar> = "scar.n";
template <>
inline constexpr const char* path_of<Hungry> = "hungry.n";
template <>
inline constexpr const char* path_of<Song> = "song.n";
template <>
inline constexpr const char* path_of<Coin> = "coin.n";

/// Completes operations on a type with how it is written.
template <class T>
Operation of_type(Operation operation) {
    constexpr int kType = Stage::type_of<T>();
    operation.type = kTypeNames[kType];
    operation.path = path_of<T>;
    operation.value = operation.type + (kType == kPlace       ? "{n, {m, 0, 2}}"
                                        : kType == kBody      ? "{n, m, m % 2 == 1}"
                                        : kType == kTitle     ? "{\"title n\"}"
                                        : kType == kSong      ? "{n, {}}"
                                        : kType == kAttached  ? "{node_name(n), {m, 0, 0}}"
                                        : kType == kBuoy      ? "{{n, 0, 0}, {m, 0, 0}}"
                                        : kType == kWet       ? "{}"
                                        : is_reference(kType) ? "{f}"
                                                              : "{n}");
    return operation;
}

/// The value of T that `made` makes, in the model.
template <class T>
Value value_of(const Model& model, const Arguments& a) {
    if constexpr (requires(T value) { value.who; })
        return {0, 0, model.entity(a.world, a.f)};
    else if constexpr (std::is_same_v<T, Wet>)
        return {};
    else if constexpr (std::is_same_v<T, AttachedToNode>)
        return {a.n % 4, a.m, {}};
    else
        return {a.n,
                std::is_same_v<T, Place> || std::is_same_v<T, Body> || std::is_same_v<T, Buoy> ? a.m : 0,
                {},
                std::is_same_v<T, Body> && a.m % 2 == 1};
}

}  // namespace programs
