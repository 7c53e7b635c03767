# The page of the inspector as a part of the library: its own files, and the libraries for browsers from the distribution.
#
#     shoal_find_page_libraries()      sets SHOAL_PAGE_LIBRARIES: PATH=FILE, or nothing if one of them is missing
#     shoal_add_page(RESULT)           writes a source with all files in it, and sets RESULT to it

# PATH in the page, and the places where packages put it.
set(SHOAL_PAGE_LIBRARY_FILES
  "/lib/chart.js" chart.js/Chart.min.js
  "/lib/d3.js" d3/dist/d3.min.js
  "/lib/codemirror.js" codemirror/lib/codemirror.js
  "/lib/codemirror.css" codemirror/lib/codemirror.css
  "/lib/sql.js" codemirror/mode/sql/sql.js
  "/lib/show-hint.js" codemirror/addon/hint/show-hint.js
  "/lib/show-hint.css" codemirror/addon/hint/show-hint.css)

function(shoal_find_page_libraries)
  set(found "")
  set(files ${SHOAL_PAGE_LIBRARY_FILES})
  while(files)
    list(POP_FRONT files path name)
    string(MAKE_C_IDENTIFIER "SHOAL_PAGE${path}" variable)
    find_file(${variable} ${name} PATHS /usr/share/javascript /usr/share/nodejs NO_DEFAULT_PATH)
    mark_as_advanced(${variable})
    if(NOT ${variable})
      message(STATUS "The inspector is not built: there is no ${name}")
      set(SHOAL_PAGE_LIBRARIES "" PARENT_SCOPE)
      return()
    endif()
    list(APPEND found "${path}=${${variable}}")
  endwhile()
  set(SHOAL_PAGE_LIBRARIES "${found}" PARENT_SCOPE)
endfunction()

function(shoal_page_type path result)
  get_filename_component(extension "${path}" LAST_EXT)
  set(type_of.html "text/html; charset=utf-8")
  set(type_of.js "text/javascript; charset=utf-8")
  set(type_of.css "text/css; charset=utf-8")
  set(type_of.svg "image/svg+xml")
  set(type_of.json "application/json")
  set(${result} "${type_of${extension}}" PARENT_SCOPE)
endfunction()

function(shoal_add_page result)
  set(folder ${PROJECT_SOURCE_DIR}/src/inspector/page)
  file(GLOB_RECURSE own CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*.html ${folder}/*.js ${folder}/*.css ${folder}/*.svg
       ${folder}/*.json)
  set(files ${SHOAL_PAGE_LIBRARIES} "/openapi.json=${PROJECT_SOURCE_DIR}/src/inspector/openapi.json")
  list(FILTER own EXCLUDE REGEX "package\\.json")  # says to tests that these are modules
  foreach(file IN LISTS own)
    list(APPEND files "/${file}=${folder}/${file}")
  endforeach()
  list(SORT files)
  set(bytes "")
  set(names "")
  set(entries "")
  set(inputs "")
  set(number 0)
  foreach(file IN LISTS files)
    string(REGEX MATCH "^([^=]*)=(.*)$" ignored "${file}")
    set(path "${CMAKE_MATCH_1}")
    set(input "${CMAKE_MATCH_2}")
    shoal_page_type("${path}" type)
    set(name shoal_page_file_${number})
    string(APPEND bytes "    \".hidden ${name}\\n.hidden ${name}_end\\n.global ${name}\\n.global ${name}_end\\n\"\n"
                        "    \"${name}:\\n.incbin \\\"${input}\\\"\\n${name}_end:\\n.byte 0\\n\"\n")
    string(APPEND names "extern const char ${name}[], ${name}_end[];\n")
    string(APPEND entries "        {\"${path}\", \"${type}\", text(${name}, ${name}_end)},\n")
    list(APPEND inputs ${input})
    math(EXPR number "${number} + 1")
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/page_files.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
// Written by cmake/page_files.cmake.
#include "inspector/page_files.h"

asm(".section .rodata\n"
@bytes@    ".previous\n");
extern "C" {
@names@}

namespace shoal::inspect {

std::span<const PageFile> page_files() {
    const auto text = [](const char* begin, const char* end) {
        return std::string_view(begin, static_cast<std::size_t>(end - begin));
    };
    static const PageFile files[] = {
@entries@    };
    return files;
}

}  // namespace shoal::inspect
]])
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON OBJECT_DEPENDS "${inputs}")
  set(${result} ${source} PARENT_SCOPE)
endfunction()
