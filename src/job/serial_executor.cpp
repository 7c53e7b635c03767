#include "shoal/job/executor.h"

namespace shoal {

Executor::~Executor() = default;

SerialExecutor::SerialExecutor() = default;
SerialExecutor::~SerialExecutor() = default;

std::uint32_t SerialExecutor::num_workers() const { return 1; }
std::uint32_t SerialExecutor::current_worker() const { return 0; }

void SerialExecutor::start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) {
    SHOAL_ASSERT(fence.loop() == nullptr, "a fence belongs to one loop at a time; wait for the one before");
    for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) function(context, chunk, 0);
    fence.set_loop(this);
}

void SerialExecutor::wait(Fence& fence) { fence.set_loop(nullptr); }

}  // namespace shoal
