#include "shoal/query/query.h"
#include "shoal/store/manager.h"
#include "shoal/world/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace shoal;

struct HookedBody {
    float size = 1;
};
SHOAL_COMPONENT(HookedBody, size)

/// What a hook was told, in its order.
struct Call {
    std::thread::id thread;
    std::string pass;
    bool begins = false;
    std::size_t depth = 0;  // zones of the thread that are open around it
};

class Calls final : public PassHook {
public:
    void begin(const char* pass) override {
        const std::lock_guard lock(mutex_);
        std::vector<std::string>& open = open_of();
        calls.push_back({std::this_thread::get_id(), pass, true, open.size()});
        open.emplace_back(pass);
    }
    void end(const char* pass) override {
        const std::lock_guard lock(mutex_);
        std::vector<std::string>& open = open_of();
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(open.back(), pass) << "the zone that began last ends first";
        open.pop_back();
        calls.push_back({std::this_thread::get_id(), pass, false, open.size()});
    }
    std::size_t num_begins(std::string_view pass) const {
        const auto is_begin = [&](const Call& call) { return call.begins && call.pass == pass; };
        return static_cast<std::size_t>(std::ranges::count_if(calls, is_begin));
    }
    bool all_ended() const {
        return std::ranges::all_of(open_, [](const auto& thread) { return thread.second.empty(); });
    }

    std::vector<Call> calls;

private:
    std::vector<std::string>& open_of() {
        const std::thread::id self = std::this_thread::get_id();
        for (auto& [thread, open] : open_)
            if (thread == self) return open;
        return open_.emplace_back(self, std::vector<std::string>()).second;
    }

    std::vector<std::pair<std::thread::id, std::vector<std::string>>> open_;
    std::mutex mutex_;
};

class PassHookTest : public ::testing::Test {
protected:
    void run(int num_frames) {
        for (int i = 0; i < num_frames; ++i) schedule.run(executor, 1, frame++);
    }

    ThreadedExecutor executor{3};
    Schedule schedule;
    std::uint64_t frame = 0;
    Calls hook;
};

TEST_F(PassHookTest, is_told_of_each_pass_that_runs) {
    schedule.add("grow", [](PassContext&) {});
    schedule.add("rest", [](PassContext&) {}).every_frames(2);
    schedule.add("off", [](PassContext&) {});
    ASSERT_TRUE(schedule.enable("off", false).ok());
    run(1);
    EXPECT_TRUE(hook.calls.empty()) << "it is not set yet";
    schedule.set_hook(&hook);
    run(4);
    EXPECT_EQ(hook.num_begins("grow"), 4u);
    EXPECT_EQ(hook.num_begins("rest"), 2u);
    EXPECT_EQ(hook.num_begins("off"), 0u);
    EXPECT_TRUE(hook.all_ended());
    schedule.set_hook(nullptr);
    const std::size_t num_calls = hook.calls.size();
    run(1);
    EXPECT_EQ(hook.calls.size(), num_calls);
}

TEST_F(PassHookTest, times_of_a_thread_never_overlap_while_workers_share_loops) {
    EntityManager entities;
    PagePool pool;
    Manager<HookedBody> bodies(entities, pool);
    std::vector<Entity> made(200'000);
    ASSERT_TRUE(entities.create(made).ok());
    ASSERT_TRUE(bodies.add(made));
    for (const char* name : {"a", "b", "c"}) schedule.add(name, query<Read<&HookedBody::size>>(bodies), [](float) {});
    schedule.add("grow", query<Write<&HookedBody::size>>(bodies), [](auto&& size) { size += 1; });
    schedule.set_hook(&hook);
    run(20);
    for (const Call& call : hook.calls) EXPECT_EQ(call.depth, 0u) << call.pass;
    for (const char* name : {"a", "b", "c", "grow"}) EXPECT_GE(hook.num_begins(name), 20u) << name;
    EXPECT_TRUE(hook.all_ended());
}

TEST_F(PassHookTest, times_of_a_schedule_that_a_pass_runs_lie_within_those_of_the_pass) {
    Schedule inner;
    inner.add("inner", [](PassContext&) {});
    inner.set_hook(&hook);
    schedule.add("outer", [&](PassContext& context) { inner.run(executor, 1, context.frame); });
    schedule.set_hook(&hook);
    run(1);
    ASSERT_EQ(hook.num_begins("inner"), 1u);
    ASSERT_EQ(hook.num_begins("outer"), 1u);
    const auto depth_of = [&](std::string_view pass) {
        return std::ranges::find(hook.calls, pass, &Call::pass)->depth;
    };
    EXPECT_EQ(depth_of("outer"), 0u);
    EXPECT_LE(depth_of("inner"), 1u) << "1 on the thread of the pass, 0 on another";
    EXPECT_TRUE(hook.all_ended());
}

TEST_F(PassHookTest, a_pass_that_fails_ends_too) {
    schedule.add("fail", [](PassContext&) -> Status { return Status::error("no fish"); });
    schedule.set_hook(&hook);
    run(1);
    EXPECT_EQ(hook.num_begins("fail"), 1u);
    EXPECT_TRUE(hook.all_ended());
}

}  // namespace
