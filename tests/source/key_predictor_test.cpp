// Keys of a few names, of which the next one is guessed.

#include "shoal/source/detail/key_predictor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal {
namespace {

TEST(KeyPredictor, keys_of_any_length_differ_in_any_byte) {
    for (std::size_t length = 0; length <= 40; ++length) {
        const std::string name(length, 'k');
        const std::string_view names[] = {name};
        KeyPredictor keys(names);
        EXPECT_EQ(keys.find(std::string(name), -1), 0);
        EXPECT_EQ(keys.find(name + 'k', -1), -1);
        for (std::size_t i = 0; i < length; ++i) {
            std::string other = name;
            other[i] = 'x';
            EXPECT_EQ(keys.find(other, -1), -1) << "byte " << i << " of " << length;
        }
    }
}

TEST(KeyPredictor, a_guess_never_decides) {
    const std::vector<std::string_view> names = {"a", "b", "c"};
    KeyPredictor keys(names);
    for (int round = 0; round < 2; ++round)
        for (int previous = -1; previous < 3; ++previous)
            for (int wanted = 0; wanted < 3; ++wanted) {
                EXPECT_EQ(keys.find(names[static_cast<std::size_t>(wanted)], previous), wanted);
                EXPECT_EQ(keys.find("d", previous), -1);
            }
    EXPECT_EQ(KeyPredictor().find("a", -1), -1);
}

}  // namespace
}  // namespace shoal
