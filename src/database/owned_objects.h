#pragma once
// Objects in bookkeeping memory of the database.

#include "shoal/base/memory.h"

#include <new>
#include <utility>

namespace shoal {

template <class T, class... Arguments>
T* make_owned(Arguments&&... arguments) {
    return ::new (allocate_memory(sizeof(T), "database")) T(std::forward<Arguments>(arguments)...);
}

template <class T>
void destroy_owned(const T* object) {
    if (object == nullptr) return;
    object->~T();
    release_memory(const_cast<T*>(object), sizeof(T), "database");
}

}  // namespace shoal
