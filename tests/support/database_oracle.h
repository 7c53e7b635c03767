#pragma once
// The components of the random test of the database, one of each kind: apart, split, whole, without fields, enableable,
// opaque, and two of which an entity may have several. Every one follows from a number, and gives it back.

#include "support/database_testing.h"

#include <gtest/gtest.h>

#include <array>
#include <tuple>
#include <vector>

namespace shoal_test {

inline Position make_of(std::type_identity<Position>, std::uint32_t n) { return {{float(n), 1, 2}}; }
inline Velocity make_of(std::type_identity<Velocity>, std::uint32_t n) { return {{3, float(n), 4}}; }
inline Mass make_of(std::type_identity<Mass>, std::uint32_t n) { return {float(n)}; }
inline Marked make_of(std::type_identity<Marked>, std::uint32_t) { return {}; }
inline Asleep make_of(std::type_identity<Asleep>, std::uint32_t n) { return {n}; }
inline Hungry make_of(std::type_identity<Hungry>, std::uint32_t) { return {}; }
inline Body make_of(std::type_identity<Body>, std::uint32_t n) { return {double(n), 9, {n}}; }
inline Title make_of(std::type_identity<Title>, std::uint32_t n) { return {std::string(n % 40, 'x'), n}; }

inline Tally make_of(std::type_identity<Tally>, std::uint32_t n) { return {{float(n), 1, float(n)}, n}; }
inline Page make_of(std::type_identity<Page>, std::uint32_t n) { return {std::string(n % 50, 'y'), n}; }

using Components = std::tuple<Position, Velocity, Mass, Marked, Asleep, Hungry, Body, Title, Tally, Page>;
inline constexpr std::size_t kNumComponents = std::tuple_size_v<Components>;
inline constexpr std::array<bool, kNumComponents> kEnableable = {false, false, false, false, true,
                                                                 true,  false, false, false, false};
inline constexpr std::array<bool, kNumComponents> kEmpty = {false, false, false, true,  false,
                                                            true,  false, false, false, false};
inline constexpr std::array<bool, kNumComponents> kSeveral = {false, false, false, false, false,
                                                              false, false, false, true,  true};
inline constexpr std::array<std::uint32_t, kNumComponents> kDefault = {0, 2, 5, 0, 7, 0, 3, 4, 6, 8};
inline constexpr std::uint32_t kMaxNumber = 1u << 20;

template <std::size_t I>
using Nth = std::tuple_element_t<I, Components>;

/// The number that a row's component was made from.
template <class T>
std::uint32_t number_at(const Database& database, DatabaseRow row) {
    if constexpr (std::is_same_v<T, Position>) return std::uint32_t(database.get<&Position::value>(row).x);
    if constexpr (std::is_same_v<T, Velocity>) return std::uint32_t(database.get<&Velocity::value>(row).y);
    if constexpr (std::is_same_v<T, Mass>) return std::uint32_t(database.get<&Mass::value>(row));
    if constexpr (std::is_same_v<T, Asleep>) return database.get<&Asleep::since>(row);
    if constexpr (std::is_same_v<T, Body>) return std::uint32_t(database.get<&Body::energy>(row));
    if constexpr (std::is_same_v<T, Title>) {
        const std::uint32_t number = database.get<&Title::number>(row);
        const std::string& text = database.get<&Title::text>(row);
        EXPECT_TRUE(text == std::string(number % 40, 'x') || (number == kDefault[7] && text.empty()));
        return number;
    }
    return 0;
}

/// The numbers of all values of a `many` type, as each way to look at them says.
template <class T>
std::vector<std::uint32_t> numbers_of(const Database& database, Entity entity) {
    std::vector<std::uint32_t> numbers;
    database.for_each_value<&T::number>(entity, [&](std::uint32_t number) { numbers.push_back(number); });
    EXPECT_EQ(numbers.size(), database.num_values<T>(entity));
    for (std::uint32_t i = 0; i < numbers.size(); i += i < 4 ? 1 : i) {  // each look-up takes a step per index
        EXPECT_EQ(database.get_value<&T::number>(entity, i), numbers[i]);
        if constexpr (std::is_same_v<T, Tally>) {
            const float place = database.get_value<&Tally::place>(entity, i).z;
            EXPECT_TRUE(place == float(numbers[i]) || (numbers[i] == kDefault[8] && place == 8));
        } else {
            const std::string& text = database.get_value<&Page::text>(entity, i);
            EXPECT_TRUE(text == std::string(numbers[i] % 50, 'y') || (numbers[i] == kDefault[9] && text.empty()));
        }
    }
    EXPECT_FALSE(database.find_row(schema_of<T>().id(), entity, std::uint32_t(numbers.size())));
    return numbers;
}

template <class T>
void set_number(Database& database, DatabaseRow row, std::uint32_t number) {
    const T value = make_of(std::type_identity<T>(), number);
    DescriptionOf<T>::for_each_field(
        [&]<auto kMember, std::uint32_t, bool>() { database.set<kMember>(row, (&value)->*kMember); });
}
template <class T>
void set_number(Database& database, Entity entity, std::uint32_t index, std::uint32_t number) {
    const T value = make_of(std::type_identity<T>(), number);
    DescriptionOf<T>::for_each_field(
        [&]<auto kMember, std::uint32_t, bool>() { database.set_value<kMember>(entity, index, (&value)->*kMember); });
}

}  // namespace shoal_test
