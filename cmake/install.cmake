# How others find the libraries: rules for the libraries, their public headers, the tool with its manuals, and what CMake
# (find_package(shoal)) and pkg-config read.
#
# With SHOAL_BOTH_LIBRARIES, `cmake --install build --component static --prefix A` and `--component shared --prefix B`
# install what each kind needs, and without `--component` others find the static ones.
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)

# Before anything of any kind is copied: an install of what is not built would leave half of a prefix.
function(shoal_install_if_built kind)
  set(files "")
  if(TARGET shoal)
    list(APPEND ARGN shoal)
  endif()
  foreach(library IN LISTS ARGN)
    get_target_property(type ${library} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      string(APPEND files " \"$<TARGET_FILE:${library}>\"")
    endif()
  endforeach()
  install(CODE "
    foreach(file IN ITEMS ${files})
      if(NOT EXISTS \"\${file}\")
        message(FATAL_ERROR \"\${file} is not built, so nothing is installed; `./dev install PREFIX` builds what it installs, and \"
                            \"`cmake --build ${PROJECT_BINARY_DIR} --target shoal_libraries` builds it here\")
      endif()
    endforeach()" COMPONENT ${kind})
endfunction()

foreach(kind IN LISTS kinds)
  get_property(libraries GLOBAL PROPERTY SHOAL_LIBRARIES_${kind})
  shoal_install_if_built(${kind} ${libraries})
endforeach()
foreach(kind IN LISTS kinds)
  get_property(libraries GLOBAL PROPERTY SHOAL_LIBRARIES_${kind})
  install(TARGETS ${libraries} EXPORT shoal-targets-${kind}
          ARCHIVE COMPONENT ${kind} LIBRARY COMPONENT ${kind} NAMELINK_COMPONENT ${kind})
endforeach()
if(TARGET shoal)
  add_dependencies(shoal_libraries shoal)
endif()
if(TARGET shoal_manuals)
  add_dependencies(shoal_libraries shoal_manuals)
  get_target_property(manuals shoal_manuals FOLDER_OF_MANUALS)
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
  if(TARGET shoal_manuals)  # in the folders where man and the shells look
    install(FILES ${manuals}/shoal.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${kind})
    install(FILES ${manuals}/shoal DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${kind})
    install(FILES ${manuals}/_shoal DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT ${kind})
    install(FILES ${manuals}/shoal.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT ${kind})
  endif()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/debugger/ DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal/debugger
          COMPONENT ${kind} FILES_MATCHING PATTERN "*.py" PATTERN "*.natvis" PATTERN "__pycache__" EXCLUDE)

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
function(shoal_add_pc name library flavour description requires requires_private libraries_private)
  list(GET kinds 0 kind)
  set(target shoal_lib_${library}${flavour}_${kind})
  if(NOT TARGET ${target})
    return()
  endif()
  get_target_property(pc_library ${target} OUTPUT_NAME)
  get_target_property(definitions ${target} INTERFACE_COMPILE_DEFINITIONS)
  list(FILTER definitions INCLUDE REGEX "=")
  list(TRANSFORM definitions PREPEND " -D")
  list(JOIN definitions "" pc_definitions)
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
foreach(flavour IN ITEMS "" ${flavours})
  string(REPLACE "_" "-" suffix "${flavour}")
  string(REPLACE "_checked" ", with contract checks" note "${flavour}")
  shoal_add_pc(shoal${suffix} runtime "${flavour}" "Data-oriented entity system${note}"
               "" "tbb, libxxhash, libhwy, libzstd" "-lstdc++ -pthread")
  shoal_add_pc(shoal-source${suffix} source "${flavour}" "shoal: the compiler of sources${note}"
               "shoal${suffix} ${version_here}" "fmt, yaml-0.1" "-lstdc++")
  shoal_add_pc(shoal-inspect${suffix} inspect "${flavour}" "shoal: reports and pictures${note}"
               "shoal-source${suffix} ${version_here}" "fmt" "-lstdc++")
  shoal_add_pc(shoal-sql${suffix} sql "${flavour}" "shoal: questions in SQL${note}"
               "shoal-inspect${suffix} ${version_here}" "sqlite3" "-lstdc++")
  shoal_add_pc(shoal-inspector${suffix} inspector "${flavour}" "shoal: the live inspector${note}"
               "shoal-sql${suffix} ${version_here}" "" "-lcivetweb -lstdc++ -pthread")
  shoal_add_pc(shoal-cluster${suffix} cluster "${flavour}" "shoal: a world over several machines${note}"
               "shoal${suffix} ${version_here} mpi-c" "" "-lstdc++")
  shoal_add_pc(shoal-script${suffix} script "${flavour}" "shoal: scripts in Lua${note}"
               "shoal${suffix} ${version_here}" "luajit" "-lstdc++")
endforeach()
