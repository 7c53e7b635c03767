#pragma once
// Runs benchmarks on two ranks of an MPI program. Both ranks add the same actions, in the same order. The first rank
// measures, and decides when both run an action.
//
//     rank 0    add() add()  run(0) ... run(1) ... end()
//     rank 1    add() add()  end()                        runs what rank 0 runs, and sleeps in between
//
// Thread: the main thread of each rank.

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace shoal_bench {

class TwoRanks {
public:
    TwoRanks() { MPI_Comm_rank(MPI_COMM_WORLD, &rank_); }

    bool is_first() const { return rank_ == 0; }
    std::size_t add(std::function<void()> action) {
        actions_.push_back(std::move(action));
        return actions_.size() - 1;
    }
    /// Runs an action on both ranks. Requires: rank 0.
    void run(std::size_t action) {
        tell(static_cast<int>(action));
        actions_[action]();
    }
    /// On rank 1, runs the actions that rank 0 runs, until rank 0 calls end().
    void end() {
        if (is_first()) return tell(kEnd);
        for (int action = wait(); action != kEnd; action = wait()) actions_[static_cast<std::size_t>(action)]();
    }

private:
    static constexpr int kEnd = -1, kTag = 1;

    static void tell(int action) { MPI_Send(&action, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD); }
    /// Waits for the next action, without taking CPU time from the workers of rank 0.
    static int wait() {
        constexpr std::chrono::microseconds kPause(300);
        for (int is_there = 0; is_there == 0;) {
            MPI_Iprobe(0, kTag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
            if (is_there == 0) std::this_thread::sleep_for(kPause);
        }
        int action = kEnd;
        MPI_Recv(&action, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return action;
    }

    int rank_ = 0;
    std::vector<std::function<void()>> actions_;
};

}  // namespace shoal_bench
