#pragma once
// Bookkeeping memory: small arrays that describe data. The data itself is in pages; see page_memory.h. Every allocation
// names its owner and uses hooks that the program can replace.
//
// Running out of bookkeeping memory ends the program with the owner's name: callers could do nothing about it, and code
// that tried to would never be tested. Running out of page memory is a Status. Thread: set the hooks before other
// threads start. Any thread may call the hooks.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <new>

namespace shoal {

/// Allocates and frees bookkeeping memory. `allocate` returns nullptr if there is no memory. Memory is aligned like
/// std::max_align_t.
struct MemoryHooks {
    void* (*allocate)(void* context, std::size_t bytes, const char* owner) = nullptr;
    void (*release)(void* context, void* memory, std::size_t bytes, const char* owner) = nullptr;
    void* context = nullptr;
};

/// Replaces the hooks and returns the previous ones. Hooks without functions restore the default, the C heap.
/// Requires: no bookkeeping memory is held, or the new hooks can release what the old ones allocated.
SHOAL_API MemoryHooks set_memory_hooks(const MemoryHooks& hooks);

/// Allocates `bytes` of memory and never returns nullptr. Errors: without memory, the program ends with the owner's
/// name.
SHOAL_API void* allocate_memory(std::size_t bytes, const char* owner);
SHOAL_API void release_memory(void* memory, std::size_t bytes, const char* owner);

/// Makes an object in bookkeeping memory; destroy_owned() also accepts nullptr. Requires: the same `owner` for both
/// calls.
template <class T, class... Arguments>
T* make_owned(const char* owner, Arguments&&... arguments) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return ::new (allocate_memory(sizeof(T), owner)) T(static_cast<Arguments&&>(arguments)...);
}
template <class T>
void destroy_owned(const char* owner, const T* object) {
    if (object == nullptr) return;
    object->~T();
    release_memory(const_cast<T*>(object), sizeof(T), owner);
}

/// Returns the bytes of bookkeeping memory that all owners hold now.
SHOAL_API std::size_t bookkeeping_bytes();

/// The name of an owner of bookkeeping memory. Lifetime: the name is a literal.
struct Owner {
    constexpr Owner(const char* owner_name) : name(owner_name) {}  // NOLINT: conversion is the point
    const char* name;
};
/// The owner of objects that exist until the program ends, such as schemas of C++ types. Their memory comes from the C
/// heap: it is not counted, and hooks, which may change in between, do not see it.
inline constexpr Owner kProgramOwner{nullptr};

}  // namespace shoal
