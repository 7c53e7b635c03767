# What others use: libraries made of the rooms' objects, their public headers, the tool, and how to find all that
# with CMake (find_package(shoal)) and with pkg-config.
#
#     shoal::runtime   libshoal           base to world
#     shoal::source    libshoal_source    the compiler of sources
#     shoal::inspect   libshoal_inspect   reports and pictures
#
# One kind of library is made, static or, with BUILD_SHARED_LIBS, shared. With SHOAL_BOTH_LIBRARIES both are, of the same
# objects: `cmake --install build --component static --prefix A` and `--component shared --prefix B` install what each
# needs, and without `--component` others find the static ones.
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)
if(SHOAL_BOTH_LIBRARIES)
  set(kinds shared static)
elseif(BUILD_SHARED_LIBS)
  set(kinds shared)
else()
  set(kinds static)
endif()

# shoal_add_library(NAME OUTPUT_NAME KIND ROOMS ... PUBLIC ... PRIVATE ...): the target is shoal_lib_NAME_KIND.
# Installed libraries lie apart from the rooms' own archives, which have the same names.
function(shoal_add_library name output_name kind)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "ROOMS;PUBLIC;PRIVATE")
  set(objects "")
  foreach(room IN LISTS arg_ROOMS)
    if(TARGET shoal_${room})
      list(APPEND objects $<TARGET_OBJECTS:shoal_${room}>)
    endif()
  endforeach()
  if(NOT objects)
    return()
  endif()
  set(library shoal_lib_${name}_${kind})
  string(TOUPPER ${kind} type)
  add_library(${library} ${type} ${objects})
  if(NOT SHOAL_BOTH_LIBRARIES OR kind STREQUAL "static")
    add_library(shoal::${name} ALIAS ${library})
  endif()
  set_target_properties(${library} PROPERTIES
    LINKER_LANGUAGE CXX EXPORT_NAME ${name} OUTPUT_NAME ${output_name}
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${library} INTERFACE cxx_std_20)
  target_compile_definitions(${library} INTERFACE ${SHOAL_INTERFACE_DEFINITIONS})
  target_link_libraries(${library} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:shoal_flags>)
  if(kind STREQUAL "shared")
    # Only shoal's own names leave the library, and none that it needs is missing.
    set(map ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_link_options(${library} PRIVATE LINKER:--version-script=${map} LINKER:-z,defs)
    set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
  install(TARGETS ${library} EXPORT shoal-targets-${kind}
          ARCHIVE COMPONENT ${kind} LIBRARY COMPONENT ${kind} NAMELINK_COMPONENT ${kind})
  add_dependencies(shoal_libraries ${library})
endfunction()

add_custom_target(shoal_libraries COMMENT "What cmake --install needs")

foreach(kind IN LISTS kinds)
  shoal_add_library(runtime shoal ${kind} ROOMS ${SHOAL_RUNTIME_ROOMS}
                    PRIVATE PkgConfig::XXHASH PkgConfig::HWY TBB::tbb Threads::Threads)
  if(NOT SHOAL_RUNTIME_ONLY)
    shoal_add_library(source shoal_source ${kind} ROOMS ${SHOAL_OFFLINE_ROOMS}
                      PUBLIC shoal_lib_runtime_${kind} PRIVATE fmt::fmt)
    shoal_add_library(inspect shoal_inspect ${kind} ROOMS ${SHOAL_INSPECT_ROOMS}
                      PUBLIC shoal_lib_source_${kind} PRIVATE fmt::fmt)
  endif()
endforeach()
if(TARGET shoal)
  add_dependencies(shoal_libraries shoal)
endif()

# Headers and the tool belong to every kind; how CMake finds a library differs by kind.
foreach(kind IN LISTS kinds)
  install(EXPORT shoal-targets-${kind} NAMESPACE shoal:: FILE shoal-${kind}-targets.cmake DESTINATION ${config_folder}
          COMPONENT ${kind})
  install(FILES ${PROJECT_SOURCE_DIR}/include/shoal/shoal.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shoal COMPONENT ${kind})
  foreach(room IN LISTS SHOAL_ROOMS)
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/include/shoal/${room})
      install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/shoal/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shoal
              COMPONENT ${kind} FILES_MATCHING PATTERN "*.h")
    endif()
  endforeach()
  if(TARGET shoal)
    install(TARGETS shoal COMPONENT ${kind})
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/tools/debugger/shoal_gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal/debugger
          COMPONENT ${kind})

  set(kind_here ${kind})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/shoal-config.cmake.in
    ${PROJECT_BINARY_DIR}/${kind}/shoal-config.cmake INSTALL_DESTINATION ${config_folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/${kind}/shoal-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/${kind}/shoal-config.cmake ${PROJECT_BINARY_DIR}/${kind}/shoal-config-version.cmake
          DESTINATION ${config_folder} COMPONENT ${kind})
endforeach()

# One .pc file per library; found from where it lies, so that an installed tree can be moved.
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_prefix /${pc_folder} /)
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
list(TRANSFORM SHOAL_INTERFACE_DEFINITIONS PREPEND " -D" OUTPUT_VARIABLE pc_definitions)
list(JOIN pc_definitions "" pc_definitions)
function(shoal_add_pc name target description requires requires_private libraries_private)
  list(GET kinds 0 kind)
  if(NOT TARGET ${target}_${kind})
    return()
  endif()
  get_target_property(pc_library ${target}_${kind} OUTPUT_NAME)
  set(pc_name ${name})
  set(pc_description "${description}")
  set(pc_requires "${requires}")
  set(pc_requires_private "${requires_private}")
  set(pc_libraries_private "${libraries_private}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/shoal.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  foreach(kind IN LISTS kinds)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pc_folder} COMPONENT ${kind})
  endforeach()
endfunction()

set(version_here "= ${PROJECT_VERSION}")
shoal_add_pc(shoal shoal_lib_runtime "Data-oriented entity system" "" "tbb, libxxhash, libhwy" "-lstdc++ -pthread")
shoal_add_pc(shoal-source shoal_lib_source "shoal: the compiler of sources" "shoal ${version_here}" "fmt" "-lstdc++")
shoal_add_pc(shoal-inspect shoal_lib_inspect "shoal: reports and pictures" "shoal-source ${version_here}" "fmt" "-lstdc++")
