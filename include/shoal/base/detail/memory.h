#pragma once
// Bookkeeping memory: small arrays that describe data. The data itself lies in pages; see page_memory.h. Every
// allocation names its owner and goes through hooks that the program can replace.
//
// Running out of bookkeeping memory ends the program with the owner's name: no caller could do anything about it, and
// none needs a path that is never tested. Running out of page memory is a Status.
// Thread: set the hooks before other threads start. They are called from any thread.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <new>

namespace shoal {

/// Allocates and frees bookkeeping memory. `allocate` returns nullptr when there is none. Memory is aligned like
/// std::max_align_t.
struct MemoryHooks {
    void* (*allocate)(void* context, std::size_t bytes, const char* owner) = nullptr;
    void (*release)(void* context, void* memory, std::size_t bytes, const char* owner) = nullptr;
    void* context = nullptr;
};

/// Replaces the hooks and returns the previous ones. Hooks without functions restore the default, the C heap.
/// Requires: no bookkeeping memory is held, or the new hooks can release what the old ones allocated.
SHOAL_API MemoryHooks set_memory_hooks(const MemoryHooks& hooks);

/// Allocates `bytes` of memory and never returns nullptr. Errors: without memory the program ends with the owner's
/// name.
SHOAL_API void* allocate_memory(std::size_t bytes, const char* owner);
SHOAL_API void release_memory(void* memory, std::size_t bytes, const char* owner);

/// Makes an object in bookkeeping memory; destroy_owned() takes nullptr, too. Requires: the `owner` that it was made
/// with.
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

/// Returns how many bytes of bookkeeping memory all owners hold now.
SHOAL_API std::size_t bookkeeping_bytes();

/// The name of whoever holds bookkeeping memory. Lifetime: the name is a literal.
struct Owner {
    constexpr Owner(const char* owner_name) : name(owner_name) {}  // NOLINT: conversion is the point
    const char* name;
};
/// Owns what lives until the program ends, such as schemas of C++ types. Its memory comes from the C heap: hooks, which
/// may change meanwhile, do not see it, and it is not counted.
inline constexpr Owner kProgramOwner{nullptr};

}  // namespace shoal
