#pragma once
// Every call to the operating system. To port shoal, write another os_*.cpp. That file also defines the functions in
// clock.h, and remove_temporary_files() and the path functions in file.h. Thread: any thread.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace shoal::os {

/// Reserves address space. The space reads as zero, and writing to it commits memory. Returns nullptr on failure.
void* reserve(std::size_t num_bytes);
/// Returns how many bytes reserve() can still reserve under the process limits, or the largest number if there is no
/// limit.
std::size_t left_address_space();
/// Returns the limit that made a reservation of `num_bytes` fail, such as "the limit on data (ulimit -d)".
std::string limit_of_reserve(std::size_t num_bytes);
void release(void* data, std::size_t num_bytes);
void discard(void* data, std::size_t num_bytes);
void prefer_large_pages(void* data, std::size_t num_bytes);
void prefer_small_pages(void* data, std::size_t num_bytes);

/// Returns memory for a file of `num_bytes`, or nullptr.
using BufferFunction = char* (*)(void* context, std::size_t num_bytes);
/// Reads a whole regular file into the memory that `place` returns. Returns an empty string, or the reason for a
/// failure.
std::string read_file(const std::string& path, std::size_t max_bytes, void* context, BufferFunction place,
                      std::size_t& num_read);
/// Writes a temporary file beside `path`, flushes it and renames it to `path`. Returns an empty string, or the reason
/// for a failure. If `to_append` is not null, opens the new file for append_to_file() before renaming it; if the file
/// cannot be opened, nothing is replaced.
std::string replace_file(const std::string& path, const void* data, std::size_t num_bytes, int* to_append = nullptr);
/// If it is known in advance that replace_file() would fail, returns the reason. Otherwise returns an empty string.
std::string why_not_replace(const std::string& path);

/// See append_file.h and folder.h. A function that returns a string returns the reason for a failure, or an empty
/// string on success.
std::string create_file(const std::string& path, int& file);
std::string append_to_file(int file, const void* data, std::size_t num_bytes);
std::string flush_file(int file);
void cut_file(int file, std::uint64_t num_bytes);
void close_file(int file);
std::string lock_file(const std::string& path, int& file);
std::string make_folder(const std::string& path);
std::string list_folder(const std::string& path, void* context, void (*visit)(void* context, const char* name));
std::string flush_folder(const std::string& path);
std::string remove_file(const std::string& path);

/// Returns the folder that contains `path`.
std::string folder_of(const std::string& path);

/// Creates a watch for changes in folders. Returns -1 if the system supports no watches or has none left.
int open_watch();
void close_watch(int watch);
/// Adds a folder to a watch, unless the watch already has it. Returns false on failure.
bool watch_folder(int watch, const std::string& folder);
/// Returns whether anything has changed in the folders since the last call. Never waits.
bool take_watched(int watch);

/// Opens a copy of a shared library, and deletes the copy's file immediately. Returns an empty string, or the reason
/// for a failure.
std::string open_library(const std::string& path, void*& library);
void close_library(void* library);
/// Returns the address of a symbol that the library exports, or nullptr.
void* find_in_library(void* library, const char* name);

}  // namespace shoal::os
