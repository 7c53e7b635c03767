#pragma once
// Bookkeeping memory: small arrays that describe data (never the data itself, which lies in pages; see
// page_memory.h). Every allocation names its owner and goes through hooks that the program can replace.
//
// Bookkeeping memory that runs out ends the program, naming the owner: nothing can be done about it, and no caller
// is burdened with a path that is never tested. Page memory that runs out is a Status.
// Thread: hooks are set before other threads start and must be callable from any thread.

#include "shoal/base/config.h"

#include <cstddef>
#include <vector>

namespace shoal {

/// How bookkeeping memory is had and given back. `allocate` returns nullptr when there is none.
/// Alignment is that of std::max_align_t.
struct MemoryHooks {
    void* (*allocate)(void* context, std::size_t bytes, const char* owner) = nullptr;
    void (*release)(void* context, void* memory, std::size_t bytes, const char* owner) = nullptr;
    void* context = nullptr;
};

/// Replaces the hooks and returns those before. Hooks without functions restore the default (the C heap).
/// Requires: no bookkeeping memory is held, or the new hooks can release what the old ones gave.
SHOAL_API MemoryHooks set_memory_hooks(const MemoryHooks& hooks);

/// Returns `bytes` of memory; never nullptr. Errors: ends the program with the owner's name when there is none.
SHOAL_API void* allocate_memory(std::size_t bytes, const char* owner);
SHOAL_API void release_memory(void* memory, std::size_t bytes, const char* owner);

/// The bytes of bookkeeping memory now held, over all owners.
SHOAL_API std::size_t bookkeeping_bytes();

/// Who bookkeeping memory belongs to. Lifetime: the name is a literal.
struct Owner {
    explicit constexpr Owner(const char* owner_name) : name(owner_name) {}
    const char* name;
};

/// A standard allocator over the hooks.
template <class T>
class OwnedAllocator {
public:
    using value_type = T;

    OwnedAllocator(const char* owner = "shoal") noexcept : owner_(owner) {}  // NOLINT: conversion is the point
    OwnedAllocator(Owner owner) noexcept : owner_(owner.name) {}             // NOLINT: the same
    template <class U>
    OwnedAllocator(const OwnedAllocator<U>& other) noexcept : owner_(other.owner()) {}

    T* allocate(std::size_t count) { return static_cast<T*>(allocate_memory(count * sizeof(T), owner_)); }
    void deallocate(T* memory, std::size_t count) { release_memory(memory, count * sizeof(T), owner_); }

    const char* owner() const noexcept { return owner_; }
    friend bool operator==(const OwnedAllocator&, const OwnedAllocator&) { return true; }

private:
    const char* owner_;
};

/// A growing array of bookkeeping. It names its owner: `Array<int> rows{Owner("table")};`
template <class T>
using Array = std::vector<T, OwnedAllocator<T>>;

}  // namespace shoal
