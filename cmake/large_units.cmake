# Few large sources compile faster than many small ones: most of the time of a small one goes into headers. With
# SHOAL_LARGE_UNITS the sources of a test program are compiled eight together, and so are those of a room in builds with
# sanitizers. A source that defines a name at the beginning of a line that an earlier source or one of its headers defines
# too (two test files may each have a struct Fish in their anonymous namespace) is put into a namespace of its own there.
# Where that would change what it means, because it opens a namespace with a name, it is compiled alone.

# Puts the names that a source defines at the beginnings of lines into `result`.
function(shoal_names_defined source result)
  set(names "")
  file(STRINGS ${source} lines REGEX "^[A-Za-z_#]")
  foreach(line IN LISTS lines)
    if(line MATCHES "^using ([A-Za-z0-9_]+) =")
      list(APPEND names ${CMAKE_MATCH_1})
    elseif(line MATCHES "^(TEST|TYPED_TEST|INSTANTIATE|SHOAL_|using |namespace |#include|#if|#pragma|template)")
      continue()
    elseif(source MATCHES "\\.h$" AND line MATCHES "^[^=]*[(]" AND NOT line MATCHES "^(inline|constexpr|static) ")
      continue()  # a header declares it, and one of the sources defines it
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

# Sets `result` to whether a source means the same within a namespace: it opens no other one with a name, except such as no
# other file has.
function(shoal_may_be_wrapped source shared_namespaces result)
  set(${result} ON PARENT_SCOPE)
  file(STRINGS ${source} fixed REGEX "^(namespace [a-z]|template <>|extern |int main|#define|#undef)")
  foreach(line IN LISTS fixed)
    if(line MATCHES "^namespace [a-z_0-9]+ =")
      continue()
    elseif(NOT line MATCHES "^namespace ([a-z_0-9]+)" OR CMAKE_MATCH_1 IN_LIST shared_namespaces)
      set(${result} OFF PARENT_SCOPE)
    endif()
  endforeach()
  if(NOT source MATCHES "_test\\.cpp$")
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

# Writes a source that includes what `source` includes, and then `source` within a namespace, and sets `result` to its path.
function(shoal_wrap target source result)
  file(STRINGS ${source} includes REGEX "^#include ")
  list(JOIN includes "\n" includes)
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(path ${source} ABSOLUTE)
  set(wrapped ${CMAKE_CURRENT_BINARY_DIR}/wrapped/${target}/${name}.cpp)
  file(CONFIGURE OUTPUT ${wrapped} CONTENT "${includes}
namespace ${name}_source {
#include \"${path}\"
}
" @ONLY)
  set(${result} ${wrapped} PARENT_SCOPE)
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
  set(shared_namespaces shoal shoal_test std hwy)
  foreach(header IN LISTS ARGN)
    file(STRINGS ${header} namespaces REGEX "^namespace [a-z]")
    list(TRANSFORM namespaces REPLACE "^namespace ([a-z_0-9]+).*" "\\1")
    list(APPEND shared_namespaces ${namespaces})
  endforeach()
  set(known "")
  set(units "")
  foreach(source IN LISTS ARGN sources)
    shoal_names_defined(${source} names)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} includes_itself REGEX "hwy/foreach_target.h" LIMIT_COUNT 1)
    if(includes_itself)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    set(new_names ${names})
    list(REMOVE_ITEM new_names "" ${known})
    list(LENGTH new_names num_new)
    list(LENGTH names num_names)
    shoal_may_be_wrapped(${source} "${shared_namespaces}" may_be_wrapped)
    if(num_new EQUAL num_names)
      list(APPEND known ${names})
    elseif(may_be_wrapped)
      shoal_wrap(${target} ${source} source)
    else()
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    if(source IN_LIST ARGN)
      continue()
    endif()
    list(APPEND units ${source})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${units}")
endfunction()

# shoal_precompile(TARGET HEADER...): what most sources of a target include is read once, where they do not make good large
# units. In other builds each source shows that it includes what it needs.
function(shoal_precompile target)
  if(SHOAL_LARGE_UNITS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # g++ 12 forgets that what it warns of is in a header of its own: "text" + std::string is no overflow.
      target_compile_options(${target} PRIVATE -Wno-stringop-overflow)
    endif()
  endif()
endfunction()
