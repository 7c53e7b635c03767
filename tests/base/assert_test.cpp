#include "shoal/base/assert.h"

#include "shoal/base/detail/running_pass.h"
#include "shoal/base/log.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace shoal {
namespace {

void require_even(int number) { SHOAL_ASSERT(number % 2 == 0, "give an even number"); }
void check_even([[maybe_unused]] int number) { SHOAL_CHECK(number % 2 == 0, "give an even number"); }

TEST(AssertDeathTest, a_failed_assertion_prints_condition_message_and_place_and_ends_the_program) {
    EXPECT_DEATH(require_even(3), "assert_test.cpp:[0-9]+: .*number % 2 == 0\n  give an even number");
}

TEST(Assert, a_true_condition_is_evaluated_once_and_calls_nothing) {
    int calls = 0;
    SHOAL_ASSERT(++calls == 1, "called once");
    EXPECT_EQ(calls, 1);
}

TEST(AssertDeathTest, the_programs_handler_gets_the_failure_and_the_program_ends_when_it_returns) {
    const auto handler = [](const AssertionFailure& failure) {
        std::fprintf(stderr, "mine: %s / %s / %d\n", failure.condition, failure.message, failure.line > 0);
    };
    EXPECT_DEATH(
        {
            set_assertion_handler(handler);
            require_even(5);
        },
        "^mine: number % 2 == 0 / give an even number / 1\n$");
}

TEST(AssertDeathTest, the_message_ends_with_the_pass_that_the_thread_runs_and_handlers_can_ask_for_it) {
    EXPECT_EQ(running_pass(), nullptr);
    EXPECT_DEATH((set_running_pass("swim"), require_even(5)), "give an even number\n  in the pass \"swim\"\n$");
    EXPECT_DEATH(require_even(5), "give an even number\n$") << "outside of passes";
    EXPECT_DEATH(
        {
            set_assertion_handler([](const AssertionFailure&) { std::fprintf(stderr, "mine: %s\n", running_pass()); });
            set_running_pass("swim");
            require_even(5);
        },
        "^mine: swim\n$");
}

TEST(AssertDeathTest, a_handler_may_end_the_program_its_own_way) {
    EXPECT_EXIT(
        {
            set_assertion_handler([](const AssertionFailure&) { std::_Exit(42); });
            require_even(5);
        },
        ::testing::ExitedWithCode(42), "");
}

TEST(Assert, setting_a_handler_returns_the_one_before) {
    const AssertionHandler mine = [](const AssertionFailure&) {};
    const AssertionHandler standard = set_assertion_handler(mine);
    EXPECT_EQ(set_assertion_handler(nullptr), mine);
    EXPECT_EQ(set_assertion_handler(nullptr), standard);
}

#if SHOAL_CHECKED
TEST(AssertDeathTest, a_contract_is_checked_in_a_checked_build) { EXPECT_DEATH(check_even(3), "give an even number"); }
#else
TEST(Assert, a_contract_costs_nothing_in_an_unchecked_build) {
    check_even(3);
    SHOAL_CHECK(ADD_FAILURE(), "not evaluated");
}
#endif

struct LoggedMessage {
    LogLevel level;
    std::string text;
};

void keep_message(void* context, LogLevel level, std::string_view message) {
    static_cast<std::vector<LoggedMessage>*>(context)->push_back({level, std::string(message)});
}

TEST(Log, messages_go_to_the_hook_with_its_context) {
    std::vector<LoggedMessage> messages;
    set_log_hook(&keep_message, &messages);
    log(LogLevel::kWarning, "two");
    log(LogLevel::kError, std::string_view("three, cut", 5));
    set_log_hook(nullptr, nullptr);
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[0].level, LogLevel::kWarning);
    EXPECT_EQ(messages[0].text, "two");
    EXPECT_EQ(messages[1].level, LogLevel::kError);
    EXPECT_EQ(messages[1].text, "three");
}

TEST(Log, the_default_writes_the_level_and_the_message_to_standard_error) {
    set_log_hook(nullptr, nullptr);
    ::testing::internal::CaptureStderr();
    log(LogLevel::kNote, "a");
    log(LogLevel::kWarning, "b");
    log(LogLevel::kError, std::string_view("c and more", 1));
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "shoal: note: a\nshoal: warning: b\nshoal: error: c\n");
}

}  // namespace
}  // namespace shoal
