#include "shoal/base/detail/memory.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace shoal {
namespace {

void* allocate_from_heap(void*, std::size_t bytes, const char*) { return std::malloc(bytes); }
void release_to_heap(void*, void* memory, std::size_t, const char*) { std::free(memory); }

constexpr MemoryHooks kHeapHooks{&allocate_from_heap, &release_to_heap, nullptr};

constinit MemoryHooks g_hooks = kHeapHooks;
constinit std::atomic<std::size_t> g_held_bytes{0};

}  // namespace

MemoryHooks set_memory_hooks(const MemoryHooks& hooks) {
    const MemoryHooks before = g_hooks;
    g_hooks = hooks.allocate == nullptr || hooks.release == nullptr ? kHeapHooks : hooks;
    return before;
}

void* allocate_memory(std::size_t bytes, const char* owner) {
    const bool is_counted = owner != kProgramOwner.name;
    void* memory = is_counted ? g_hooks.allocate(g_hooks.context, bytes, owner) : std::malloc(bytes);
    if (memory == nullptr && bytes > 0) {
        std::fprintf(stderr, "shoal: out of bookkeeping memory: %s asked for %zu bytes\n",
                     is_counted ? owner : "the program", bytes);
        std::abort();
    }
    if (is_counted) g_held_bytes.fetch_add(bytes, std::memory_order_relaxed);
    return memory;
}

void release_memory(void* memory, std::size_t bytes, const char* owner) {
    if (memory == nullptr) return;
    if (owner == kProgramOwner.name) return std::free(memory);
    g_hooks.release(g_hooks.context, memory, bytes, owner);
    g_held_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

std::size_t bookkeeping_bytes() { return g_held_bytes.load(std::memory_order_relaxed); }

}  // namespace shoal
