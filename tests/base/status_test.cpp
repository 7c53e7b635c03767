#include "shoal/base/status.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace shoal {
namespace {

using shoal_test::LeakCheck;

TEST(Status, is_success_unless_it_is_an_error) {
    const Status status;
    EXPECT_TRUE(status);
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(status.message(), "");
}

TEST(Status, success_is_as_small_as_a_pointer) { EXPECT_EQ(sizeof(Status), sizeof(void*)); }

TEST(Status, an_error_keeps_a_copy_of_its_message) {
    const LeakCheck leaks;
    std::string text = "the reef is closed";
    const Status status = Status::error(text);
    text.assign(text.size(), 'x');
    EXPECT_FALSE(status);
    EXPECT_EQ(status.message(), "the reef is closed");
}

TEST(Status, an_error_without_a_message_is_still_an_error) {
    const LeakCheck leaks;
    EXPECT_FALSE(Status::error(""));
    EXPECT_EQ(Status::error("").message(), "");
}

TEST(Status, a_zero_byte_does_not_cut_the_message) {
    const LeakCheck leaks;
    EXPECT_EQ(Status::error(std::string_view("a\0b", 3)).message(), "a?b");
}

TEST(Status, copies_and_moves_keep_the_message_once_each) {
    const LeakCheck leaks;
    Status first = Status::error("first");
    Status copy = first;
    EXPECT_EQ(copy.message(), "first");
    EXPECT_EQ(first.message(), "first");
    Status moved = std::move(first);
    EXPECT_EQ(moved.message(), "first");
    moved = Status::error("second");
    EXPECT_EQ(moved.message(), "second");
    copy = moved;
    EXPECT_EQ(copy.message(), "second");
    moved = Status();
    EXPECT_TRUE(moved);
    EXPECT_EQ(copy.message(), "second");
}

TEST(Status, assigning_a_status_to_itself_keeps_it) {
    const LeakCheck leaks;
    Status status = Status::error("same");
    Status& alias = status;
    status = alias;
    EXPECT_EQ(status.message(), "same");
    status = std::move(alias);
    EXPECT_EQ(status.message(), "same");
}

/// Counts how many are alive.
struct Counted {
    explicit Counted(int n) : number(n) { ++num_alive; }
    Counted(Counted&& other) noexcept : number(std::exchange(other.number, -1)) { ++num_alive; }
    Counted& operator=(Counted&&) = delete;
    ~Counted() { --num_alive; }
    int number;
    static inline int num_alive = 0;
};

Result<Counted> make(bool good) {
    if (!good) return Status::error("not made");
    return Counted(7);
}

TEST(Result, holds_a_value_or_the_failure) {
    const LeakCheck leaks;
    Result<Counted> good = make(true);
    ASSERT_TRUE(good);
    EXPECT_EQ(good->number, 7);
    EXPECT_EQ((*good).number, 7);
    EXPECT_TRUE(good.status());
    EXPECT_EQ(good.message(), "");
    const Result<Counted> bad = make(false);
    EXPECT_FALSE(bad.ok());
    EXPECT_EQ(bad.message(), "not made");
    EXPECT_EQ(bad.status().message(), "not made");
}

TEST(Result, destroys_exactly_what_it_holds) {
    const LeakCheck leaks;
    {
        Result<Counted> a = make(true);
        Result<Counted> b = make(false);
        Result<Counted> moved = std::move(a);
        EXPECT_EQ(moved->number, 7);
        b = std::move(moved);
        EXPECT_EQ(b->number, 7);
        b = make(false);
        EXPECT_EQ(b.message(), "not made");
        b = make(true);
        const Counted taken = *std::move(b);
        EXPECT_EQ(taken.number, 7);
    }
    EXPECT_EQ(Counted::num_alive, 0);
}

TEST(Result, assigning_a_result_to_itself_keeps_it) {
    const LeakCheck leaks;
    Result<std::string> text = std::string("a text that does not fit into the string object itself");
    Result<std::string>& alias = text;
    text = std::move(alias);
    EXPECT_EQ(*text, "a text that does not fit into the string object itself");
}

TEST(ResultDeathTest, using_the_value_of_a_failure_is_a_bug) {
    EXPECT_DEATH(static_cast<void>(make(false).value()), "the value of a failed Result was used");
    const Result<Counted> bad = make(false);
    EXPECT_DEATH(static_cast<void>(bad->number), "the value of a failed Result was used");
}

TEST(ResultDeathTest, a_failure_needs_an_error) {
    EXPECT_DEATH(static_cast<void>(Result<int>{Status()}), "a Result without a value needs a failure");
}

}  // namespace
}  // namespace shoal
