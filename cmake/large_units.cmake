# Few large sources compile faster than many small ones: most of the time of a small one goes into headers. With
# SHOAL_LARGE_UNITS the sources of a test program are compiled eight together. A source that defines a name at the
# beginning of a line that an earlier source of the program or one of its headers defines too (two test files may each
# have a struct Fish in their anonymous namespace) is compiled alone.

# Puts the names that a source defines at the beginnings of lines into `result`.
function(shoal_names_defined source result)
  set(names "")
  file(STRINGS ${source} lines REGEX "^[A-Za-z_#]")
  foreach(line IN LISTS lines)
    if(line MATCHES "^(TEST|TYPED_TEST|INSTANTIATE|SHOAL_|using |namespace |#include|#if|#pragma|template)")
      continue()
    elseif(line MATCHES "^#define ([A-Za-z0-9_]+)")
      list(APPEND names ${CMAKE_MATCH_1})
    elseif(line MATCHES "^(struct|class|union|enum|enum class) ([A-Za-z0-9_:]+)[^;]*$")
      list(APPEND names ${CMAKE_MATCH_2})
    elseif(line MATCHES "^[^=({]*[ &*]([A-Za-z0-9_]+)(\\[[^]]*\\])* ?[={(]")
      list(APPEND names ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# shoal_large_units(TARGET HEADER...): HEADER... are those that the sources share.
function(shoal_large_units target)
  if(NOT SHOAL_LARGE_UNITS)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ takes each source of a large unit for a header, and warns of a struct with a member from its unnamed namespace.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  get_target_property(sources ${target} SOURCES)
  set(known "")
  foreach(source IN LISTS ARGN sources)
    shoal_names_defined(${source} names)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    foreach(name IN LISTS names)
      if(name IN_LIST known)
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        break()
      endif()
    endforeach()
    list(APPEND known ${names})
  endforeach()
endfunction()
