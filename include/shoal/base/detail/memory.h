#pragma once
// Bookkeeping memory: small arrays that describe data. The data itself is in pages; see page_memory.h. Every allocation
// names its owner and uses hooks that the program can replace.
//
// Running out of bookkeeping memory ends the program with a message that names the owner, because callers could not
// recover, and recovery code would never be tested. Functions that run out of page memory return a Status. Thread: set
// the hooks before other threads start. Any thread may call the hooks.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <new>

namespace shoal {

/// Allocates and frees bookkeeping memory. `allocate` returns nullptr if it fails. Memory is aligned like
/// std::max_align_t.
struct MemoryHooks {
    void* (*allocate)(void* context, std::size_t bytes, const char* owner) = nullptr;
    void (*release)(void* context, void* memory, std::size_t bytes, const char* owner) = nullptr;
    void* context = nullptr;
};

/// Replaces the hooks and returns the previous ones. If `hooks` has no functions, restores the default, the C heap.
/// Requires: either no bookkeeping memory is in use, or the new hooks can release memory that the old ones allocated.
SHOAL_API MemoryHooks set_memory_hooks(const MemoryHooks& hooks);

/// Allocates `bytes` of memory and never returns nullptr. Errors: if memory runs out, the program ends with a message
/// that names the owner.
SHOAL_API void* allocate_memory(std::size_t bytes, const char* owner);
SHOAL_API void release_memory(void* memory, std::size_t bytes, const char* owner);

/// make_owned() creates an object in bookkeeping memory, and destroy_owned() destroys it. destroy_owned() ignores
/// nullptr. Requires: both calls pass the same `owner`.
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

/// Returns the total number of bytes of bookkeeping memory in use by all owners.
SHOAL_API std::size_t bookkeeping_bytes();

/// Names the owner of bookkeeping memory. Lifetime: the name is a literal.
struct Owner {
    constexpr Owner(const char* owner_name) : name(owner_name) {}  // NOLINT: conversion is the point
    const char* name;
};
/// The owner of objects that exist until the program ends, such as schemas of C++ types. Their memory comes from the C
/// heap and is not counted. The hooks do not see it, because they may be replaced before it is released.
inline constexpr Owner kProgramOwner{nullptr};

}  // namespace shoal
