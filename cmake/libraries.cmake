# What other projects link: libraries made of the rooms' objects.
#
#     shoal::runtime   libshoal           base to world, and plugin
#     shoal::source    libshoal_source    the compiler of sources, and what rewrites and imports them
#     shoal::inspect   libshoal_inspect   reports and pictures
#     shoal::sql       libshoal_sql       questions in SQL, where SQLite is there
#     shoal::inspector libshoal_inspector the live inspector, where civetweb and the libraries for its page are there
#     shoal::script    libshoal_script    scripts in Lua, where LuaJIT is there
#     shoal::cluster   libshoal_cluster   a world over several machines, where MPI is there
#
# With SHOAL_CHECKED_LIBRARIES there are also shoal::runtime_checked, source_checked and inspect_checked, made with
# SHOAL_CHECKED=1, which programs that link them are compiled with too. A program links one flavour: CMake or
# the linker says so when it links both, or, of shared libraries that other tools linked, the start of the program.
#
# One kind of library is made, static or, with BUILD_SHARED_LIBS, shared. With SHOAL_BOTH_LIBRARIES both are, of the same
# objects. The names are the same in a build that contains this one (add_subdirectory, FetchContent) and in one that finds
# the installed libraries.
if(SHOAL_BOTH_LIBRARIES)
  set(kinds shared static)
elseif(BUILD_SHARED_LIBS)
  set(kinds shared)
else()
  set(kinds static)
endif()

# shoal_add_library(NAME OUTPUT_NAME KIND FLAVOUR ROOMS ... PUBLIC ... PRIVATE ...): the target is
# shoal_lib_NAME_KIND. FLAVOUR is empty or `_checked`, and ends the names of the rooms, the library and its alias. Installed
# libraries lie apart from the rooms' own archives, which have the same names.
function(shoal_add_library name output_name kind flavour)
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "" "ROOMS;PUBLIC;PRIVATE")
  set(objects "")
  foreach(room IN LISTS arg_ROOMS)
    if(TARGET shoal_${room}${flavour})
      list(APPEND objects $<TARGET_OBJECTS:shoal_${room}${flavour}>)
    endif()
  endforeach()
  if(NOT objects)
    return()
  endif()
  set(is_checked ${SHOAL_CHECKED})
  set(definitions ${SHOAL_INTERFACE_DEFINITIONS})
  if(flavour)
    set(is_checked ON)
    set(definitions ${SHOAL_CHECKED_DEFINITIONS})
  endif()
  string(APPEND name ${flavour})
  string(APPEND output_name ${flavour})
  set(library shoal_lib_${name}_${kind})
  string(TOUPPER ${kind} type)
  add_library(${library} ${type} ${objects})
  if(NOT SHOAL_BOTH_LIBRARIES OR kind STREQUAL "static")
    add_library(shoal::${name} ALIAS ${library})
  endif()
  set_target_properties(${library} PROPERTIES
    SYSTEM ON  # compilers do not warn others about shoal's headers
    LINKER_LANGUAGE CXX EXPORT_NAME ${name} OUTPUT_NAME ${output_name}
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${library} INTERFACE cxx_std_20)
  target_compile_definitions(${library} INTERFACE ${definitions})
  # Passes of programs, and inline functions, round as the library does, whatever the processor: see
  # docs/guide/floating_point.md.
  target_compile_options(${library} INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>)
  # CMake refuses to link libraries whose values of this property differ.
  set_target_properties(${library} PROPERTIES
    INTERFACE_SHOAL_CHECKED ${is_checked} COMPATIBLE_INTERFACE_BOOL SHOAL_CHECKED)
  target_link_libraries(${library} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:shoal_flags>)
  if(kind STREQUAL "shared")
    # Only shoal's own names leave the library, and none that it needs is missing.
    set(map ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_link_options(${library} PRIVATE LINKER:--version-script=${map} LINKER:-z,defs)
    set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
  if(SHOAL_BUILD_TESTS)  # which link the rooms
    set_target_properties(${library} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  set_property(GLOBAL APPEND PROPERTY SHOAL_LIBRARIES_${kind} ${library})
  add_dependencies(shoal_libraries ${library})
endfunction()

# shoal::plugin is what a plugin is compiled with: the C interface, and nothing to link. Variables of its inline functions
# are its own: the system never unloads a library that shares them, and a newer version would use those of the older.
add_library(shoal_plugin_headers INTERFACE)
add_library(shoal::plugin ALIAS shoal_plugin_headers)
set_target_properties(shoal_plugin_headers PROPERTIES EXPORT_NAME plugin)
target_include_directories(shoal_plugin_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_options(shoal_plugin_headers INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off> $<$<COMPILE_LANGUAGE:C,CXX>:-fvisibility=hidden>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
if(SHOAL_WIDE_IDS)
  target_compile_definitions(shoal_plugin_headers INTERFACE SHOAL_WIDE_IDS=1)
endif()
foreach(kind IN LISTS kinds)
  set_property(GLOBAL APPEND PROPERTY SHOAL_LIBRARIES_${kind} shoal_plugin_headers)
endforeach()

add_custom_target(shoal_libraries COMMENT "What cmake --install needs")

set(flavours "")
if(SHOAL_CHECKED_LIBRARIES AND NOT SHOAL_CHECKED)
  set(flavours _checked)
endif()
foreach(kind IN LISTS kinds)
  foreach(flavour IN ITEMS "" ${flavours})
    shoal_add_library(runtime shoal ${kind} "${flavour}" ROOMS ${SHOAL_RUNTIME_ROOMS} ${SHOAL_PLUGIN_ROOMS}
                      PRIVATE PkgConfig::XXHASH PkgConfig::HWY PkgConfig::ZSTD TBB::tbb Threads::Threads)
    if(NOT SHOAL_RUNTIME_ONLY)
      shoal_add_library(source shoal_source ${kind} "${flavour}" ROOMS ${SHOAL_OFFLINE_ROOMS}
                        PUBLIC shoal_lib_runtime${flavour}_${kind} PRIVATE fmt::fmt PkgConfig::YAML)
      shoal_add_library(inspect shoal_inspect ${kind} "${flavour}" ROOMS ${SHOAL_INSPECT_ROOMS}
                        PUBLIC shoal_lib_source${flavour}_${kind} PRIVATE fmt::fmt)
      if(TARGET shoal_sql)
        shoal_add_library(sql shoal_sql ${kind} "${flavour}" ROOMS ${SHOAL_SQL_ROOMS}
                          PUBLIC shoal_lib_inspect${flavour}_${kind} PRIVATE PkgConfig::SQLITE)
      endif()
      if(TARGET shoal_inspector)
        shoal_add_library(inspector shoal_inspector ${kind} "${flavour}" ROOMS ${SHOAL_INSPECTOR_ROOMS}
                          PUBLIC shoal_lib_sql${flavour}_${kind} PRIVATE civetweb Threads::Threads)
      endif()
      if(TARGET shoal_cluster)
        shoal_add_library(cluster shoal_cluster ${kind} "${flavour}" ROOMS ${SHOAL_CLUSTER_ROOMS}
                          PUBLIC shoal_lib_runtime${flavour}_${kind} PkgConfig::MPI)
        target_compile_definitions(shoal_lib_cluster${flavour}_${kind} INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
      endif()
      if(TARGET shoal_script)
        shoal_add_library(script shoal_script ${kind} "${flavour}" ROOMS ${SHOAL_SCRIPT_ROOMS}
                          PUBLIC shoal_lib_runtime${flavour}_${kind} PRIVATE PkgConfig::LUAJIT)
      endif()
    endif()
  endforeach()
endforeach()
