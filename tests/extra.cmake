# The same state from every build of every preset.
add_subdirectory(determinism)
# Tests of the tree itself rather than of a room. Sanitizers and wide ids add nothing here.
if(NOT SHOAL_SANITIZE AND NOT SHOAL_RUNTIME_ONLY)
  add_subdirectory(structure)
endif()
# The programs that headers show.
if(NOT SHOAL_RUNTIME_ONLY)
  add_subdirectory(manuals)
endif()
# The printers for debuggers, in the build whose programs debuggers run unaided.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT SHOAL_RUNTIME_ONLY AND NOT SHOAL_WIDE_IDS)
  add_subdirectory(debugger)
endif()
# What compilers say of mistakes: g++ is asked by the release preset, clang by the preset runtime.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CROSSCOMPILING)
  add_subdirectory(compile_fail)
endif()
# The command-line tool as a process, and what it makes of damage. Its threads are those of the rooms, whose tests the
# thread sanitizer runs.
if(NOT SHOAL_RUNTIME_ONLY AND NOT SHOAL_SANITIZE MATCHES "thread")
  add_subdirectory(tool)
  add_subdirectory(safety)
endif()
# Blobs for machines of the other byte order, which `./dev test endianness` compares with those of such a machine.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT SHOAL_RUNTIME_ONLY)
  add_subdirectory(endianness)
endif()
# The sample that `./dev run` shows. Under the thread sanitizer it runs on threads that the sanitizer knows.
if(NOT SHOAL_RUNTIME_ONLY)
  add_subdirectory(samples)
endif()
# Random programs of all operations on several worlds. Their threads are those of the rooms.
if(NOT SHOAL_RUNTIME_ONLY AND NOT SHOAL_SANITIZE MATCHES "thread")
  add_subdirectory(programs)
endif()
# The benchmarks, where they are built: once, by the release build.
if(SHOAL_BUILD_BENCH)
  add_subdirectory(bench)
endif()
