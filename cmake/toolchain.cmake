# How everything is compiled: language, warnings, sanitizers, caches.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(SHOAL_CCACHE ccache)
if(SHOAL_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SHOAL_CCACHE})
endif()

# Test programs link all rooms: a fast linker halves what an edit of a low room takes.
find_program(SHOAL_MOLD mold)
if(SHOAL_MOLD AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

# Compiles the programs of a folder, and what is in the folders below it, without optimisation, whatever the libraries get.
macro(shoal_do_not_optimise)
  foreach(build_type RELEASE RELWITHDEBINFO)
    string(REGEX REPLACE "-O[0-3]" "-O0" CMAKE_CXX_FLAGS_${build_type} "${CMAKE_CXX_FLAGS_${build_type}}")
  endforeach()
endmacro()

# shoal_large_units(TARGET): compiles the sources of a room or a program eight together, because headers take most of the time of
# a small one. Sources of one target therefore share no name at namespace scope, not even in unnamed namespaces.
function(shoal_large_units target)
  if(SHOAL_LARGE_UNITS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # g++ takes each source of a large unit for a header, and warns of a struct with a member from its unnamed namespace.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# The same results everywhere: no fused operations, never -ffast-math.
add_library(shoal_flags INTERFACE)
target_compile_options(shoal_flags INTERFACE -Wall -Wextra -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 warns of overlapping copies inside `"text" + string`, falsely (GCC bug 105329).
  target_compile_options(shoal_flags INTERFACE -Wno-restrict)
endif()
if(SHOAL_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # With sanitizers g++ warns falsely of what may be used uninitialised; the other builds say what is true.
  target_compile_options(shoal_flags INTERFACE -Wno-maybe-uninitialized)
endif()
if(SHOAL_WARNINGS_AS_ERRORS)
  target_compile_options(shoal_flags INTERFACE -Werror)
endif()
if(SHOAL_NATIVE)
  target_compile_options(shoal_flags INTERFACE -march=native)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(shoal_flags INTERFACE -march=x86-64-v2)
endif()
if(SHOAL_SANITIZE)
  target_compile_options(shoal_flags INTERFACE -fsanitize=${SHOAL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(shoal_flags INTERFACE -fsanitize=${SHOAL_SANITIZE})
endif()
string(REPLACE "-O2" "-O3" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
