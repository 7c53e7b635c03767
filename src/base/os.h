#pragma once
// Every call to the operating system. Ported by writing another os_*.cpp.

#include "shoal/base/config.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace shoal::os {

/// Reserves zeroed address space that commits itself when written; nullptr when there is none.
void* reserve(std::size_t num_bytes);
void release(void* data, std::size_t num_bytes);
void discard(void* data, std::size_t num_bytes);
void prefer_large_pages(void* data, std::size_t num_bytes);
void prefer_small_pages(void* data, std::size_t num_bytes);

/// Gives the memory that a file of `num_bytes` is read into, or nullptr.
using PlaceFunction = char* (*)(void* context, std::size_t num_bytes);
/// Reads a whole regular file into the memory that `place` gives. Returns an empty text, or the reason of the failure.
std::string read_file(const std::string& path, std::size_t max_bytes, void* context, PlaceFunction place,
                      std::size_t& num_read);
/// Writes a temporary file beside `path`, flushes and renames it. Returns the reason of a failure, or an empty text.
std::string replace_file(const std::string& path, const void* data, std::size_t num_bytes);

bool is_file(const std::string& path);
bool is_directory(const std::string& path);
/// Whether anything is there: a link that leads nowhere too, and what one may not look at.
bool is_anything(const std::string& path);
std::int64_t monotonic_ns();

}  // namespace shoal::os
