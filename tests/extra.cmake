# Tests of the tree itself rather than of a room. One kind of build says it all; sanitizers add nothing here.
if(NOT SHOAL_SANITIZE)
  add_subdirectory(structure)
endif()
# The command-line tool as a process, and what it makes of damage. Its threads are those of the rooms, whose tests the
# thread sanitizer runs.
if(NOT SHOAL_RUNTIME_ONLY AND NOT SHOAL_SANITIZE MATCHES "thread")
  add_subdirectory(tool)
  add_subdirectory(safety)
endif()
