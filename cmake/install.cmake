# What others use: libraries made of the rooms' objects, their public headers, the tool, and how to find all that
# with CMake (find_package(shoal)) and with pkg-config.
#
#     shoal::runtime   libshoal           base to world
#     shoal::source    libshoal_source    the compiler of sources
#     shoal::inspect   libshoal_inspect   reports and pictures
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)

# Installed libraries lie apart from the rooms' own archives, which have the same names.
set(installed_libraries "")
function(shoal_add_library name output_name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ROOMS;PUBLIC;PRIVATE")
  set(objects "")
  foreach(room IN LISTS arg_ROOMS)
    if(TARGET shoal_${room})
      list(APPEND objects $<TARGET_OBJECTS:shoal_${room}>)
    endif()
  endforeach()
  if(NOT objects)
    return()
  endif()
  add_library(shoal_lib_${name} ${objects})
  add_library(shoal::${name} ALIAS shoal_lib_${name})
  set_target_properties(shoal_lib_${name} PROPERTIES
    LINKER_LANGUAGE CXX EXPORT_NAME ${name} OUTPUT_NAME ${output_name}
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(shoal_lib_${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(shoal_lib_${name} INTERFACE cxx_std_20)
  target_compile_definitions(shoal_lib_${name} INTERFACE ${SHOAL_INTERFACE_DEFINITIONS})
  target_link_libraries(shoal_lib_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:shoal_flags>)
  if(BUILD_SHARED_LIBS)
    # Only shoal's own names leave the library, and none that it needs is missing.
    set(map ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_link_options(shoal_lib_${name} PRIVATE LINKER:--version-script=${map} LINKER:-z,defs)
    set_property(TARGET shoal_lib_${name} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
  set(installed_libraries ${installed_libraries} shoal_lib_${name} PARENT_SCOPE)
endfunction()

shoal_add_library(runtime shoal ROOMS ${SHOAL_RUNTIME_ROOMS} PRIVATE PkgConfig::XXHASH PkgConfig::HWY TBB::tbb Threads::Threads)
if(NOT SHOAL_RUNTIME_ONLY)
  shoal_add_library(source shoal_source ROOMS ${SHOAL_OFFLINE_ROOMS} PUBLIC shoal_lib_runtime PRIVATE fmt::fmt)
  set(beneath_inspect shoal_lib_runtime)
  if(TARGET shoal_lib_source)
    set(beneath_inspect shoal_lib_source)
  endif()
  shoal_add_library(inspect shoal_inspect ROOMS ${SHOAL_INSPECT_ROOMS} PUBLIC ${beneath_inspect} PRIVATE fmt::fmt)
endif()

install(TARGETS ${installed_libraries} EXPORT shoal-targets)
install(EXPORT shoal-targets NAMESPACE shoal:: DESTINATION ${config_folder})
foreach(room IN LISTS SHOAL_ROOMS)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/include/shoal/${room})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/shoal/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shoal
            FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()
if(TARGET shoal)
  install(TARGETS shoal)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/shoal-config.cmake.in ${PROJECT_BINARY_DIR}/shoal-config.cmake
  INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shoal-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shoal-config.cmake ${PROJECT_BINARY_DIR}/shoal-config-version.cmake
        DESTINATION ${config_folder})

# One .pc file per library; found from where it lies, so that an installed tree can be moved.
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_prefix /${pc_folder} /)
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
list(TRANSFORM SHOAL_INTERFACE_DEFINITIONS PREPEND " -D" OUTPUT_VARIABLE pc_definitions)
list(JOIN pc_definitions "" pc_definitions)
function(shoal_add_pc name target description requires requires_private libraries_private)
  if(NOT TARGET ${target})
    return()
  endif()
  get_target_property(pc_library ${target} OUTPUT_NAME)
  set(pc_name ${name})
  set(pc_description "${description}")
  set(pc_requires "${requires}")
  set(pc_requires_private "${requires_private}")
  set(pc_libraries_private "${libraries_private}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/shoal.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pc_folder})
endfunction()

set(version_here "= ${PROJECT_VERSION}")
shoal_add_pc(shoal shoal_lib_runtime "Data-oriented entity system" "" "tbb, libxxhash, libhwy" "-lstdc++ -pthread")
shoal_add_pc(shoal-source shoal_lib_source "shoal: the compiler of sources" "shoal ${version_here}" "fmt" "-lstdc++")
if(TARGET shoal_lib_source)
  set(requires_inspect "shoal-source ${version_here}")
else()
  set(requires_inspect "shoal ${version_here}")
endif()
shoal_add_pc(shoal-inspect shoal_lib_inspect "shoal: reports and pictures" "${requires_inspect}" "fmt" "-lstdc++")
