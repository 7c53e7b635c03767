# The rooms, top to bottom: a room may include only rooms above it (and its own files).
# tests/structure reads this list.
set(SHOAL_RUNTIME_ROOMS base document state entity table job store database command query resource transform pose components react world save reload)
# Of the runtime, too, but shoal/shoal.h does not bring its headers.
set(SHOAL_PLUGIN_ROOMS plugin)
# One library, shoal::source.
set(SHOAL_OFFLINE_ROOMS source rewrite import)
set(SHOAL_INSPECT_ROOMS inspect)
# Questions in SQL. Without SQLite it is not built.
set(SHOAL_SQL_ROOMS sql)
# The live inspector. Without SQLite, civetweb and the libraries for its page, it is not built.
set(SHOAL_INSPECTOR_ROOMS inspector)
# A world over several machines. Without MPI it is not built.
set(SHOAL_CLUSTER_ROOMS cluster)
# Lua. Without LuaJIT, or with ids of 64 bits, which do not fit into a tagged light userdata, it is not built.
set(SHOAL_SCRIPT_ROOMS script)
set(SHOAL_ROOMS ${SHOAL_RUNTIME_ROOMS} ${SHOAL_PLUGIN_ROOMS})
if(NOT SHOAL_RUNTIME_ONLY)
  list(APPEND SHOAL_ROOMS ${SHOAL_OFFLINE_ROOMS} ${SHOAL_INSPECT_ROOMS})
endif()

# What is found is visible in the project around this one too, which links with it.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(TBB REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET GLOBAL libxxhash)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET GLOBAL libhwy)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET GLOBAL libzstd)
if(NOT SHOAL_RUNTIME_ONLY)
  find_package(fmt REQUIRED)
  pkg_check_modules(YAML REQUIRED IMPORTED_TARGET GLOBAL yaml-0.1)
  pkg_check_modules(SQLITE IMPORTED_TARGET GLOBAL sqlite3>=3.38)
  if(SQLITE_FOUND)
    list(APPEND SHOAL_ROOMS ${SHOAL_SQL_ROOMS})
  endif()
  # By its name: the package's own configuration asks for a program that is in another package.
  find_library(SHOAL_CIVETWEB civetweb)
  find_path(SHOAL_CIVETWEB_HEADER civetweb.h)
  mark_as_advanced(SHOAL_CIVETWEB SHOAL_CIVETWEB_HEADER)
  if(SHOAL_CIVETWEB AND SHOAL_CIVETWEB_HEADER AND SQLITE_FOUND)
    include(${CMAKE_CURRENT_LIST_DIR}/page_files.cmake)
    shoal_find_page_libraries()
  endif()
  # For the tool, which draws PNG files with it. Not under sanitizers, which report what its libraries leave behind.
  if(NOT SHOAL_SANITIZE)
    pkg_check_modules(RSVG IMPORTED_TARGET GLOBAL librsvg-2.0)
  endif()
  pkg_check_modules(IMGUI IMPORTED_TARGET GLOBAL imgui)  # for a sample
  if(NOT SHOAL_WIDE_IDS)
    pkg_check_modules(LUAJIT IMPORTED_TARGET GLOBAL luajit)
    pkg_check_modules(LUA54 IMPORTED_TARGET GLOBAL lua5.4)
  endif()
  pkg_search_module(MPI IMPORTED_TARGET GLOBAL mpi-c ompi-c mpich)
  if(MPI_FOUND)
    list(APPEND SHOAL_ROOMS ${SHOAL_CLUSTER_ROOMS})
  endif()
  if(SHOAL_PAGE_LIBRARIES)
    list(APPEND SHOAL_ROOMS ${SHOAL_INSPECTOR_ROOMS})
  endif()
  if(LUAJIT_FOUND)
    list(APPEND SHOAL_ROOMS ${SHOAL_SCRIPT_ROOMS})
  endif()
endif()

# What decides the layout of public types: every user of the headers must see the same.
set(SHOAL_INTERFACE_DEFINITIONS "")
if(SHOAL_WIDE_IDS)
  list(APPEND SHOAL_INTERFACE_DEFINITIONS SHOAL_WIDE_IDS=1)
elseif(NOT SHOAL_INDEX_BITS EQUAL 22)
  list(APPEND SHOAL_INTERFACE_DEFINITIONS SHOAL_INDEX_BITS=${SHOAL_INDEX_BITS})
endif()

# What a room needs beyond the rooms above it.
set(SHOAL_PACKAGES_OF_base PkgConfig::XXHASH)
set(SHOAL_PACKAGES_OF_job TBB::tbb Threads::Threads)
set(SHOAL_PACKAGES_OF_transform PkgConfig::HWY)
set(SHOAL_PACKAGES_OF_save PkgConfig::ZSTD)
set(SHOAL_PACKAGES_OF_source fmt::fmt PkgConfig::YAML)
set(SHOAL_PACKAGES_OF_inspect fmt::fmt)
set(SHOAL_PACKAGES_OF_sql PkgConfig::SQLITE)
set(SHOAL_PACKAGES_OF_inspector civetweb Threads::Threads)
set(SHOAL_PACKAGES_OF_script PkgConfig::LUAJIT)
set(SHOAL_PACKAGES_OF_cluster PkgConfig::MPI)

# shoal_add_rooms(SUFFIX RESULT DEFINITION...): one static library per room, shoal_ROOM and the suffix, each linked to the
# rooms above it. RESULT is set to all of them, the lowest room first.
function(shoal_add_rooms suffix result)
  set(above "")
  foreach(room IN LISTS SHOAL_ROOMS)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
    if(NOT sources)
      continue()
    endif()
    if(room IN_LIST SHOAL_INSPECTOR_ROOMS)
      shoal_add_page(page)
      list(APPEND sources ${page})
    endif()
    set(library shoal_${room}${suffix})
    add_library(${library} STATIC ${sources})
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_compile_features(${library} PUBLIC cxx_std_20)
    target_compile_definitions(${library} PUBLIC ${ARGN})
    target_link_libraries(${library} PUBLIC ${above} PRIVATE $<BUILD_INTERFACE:shoal_flags> ${SHOAL_PACKAGES_OF_${room}})
    if(room IN_LIST SHOAL_CLUSTER_ROOMS)  # its header brings that of MPI, without the C++ interface of old
      target_link_libraries(${library} PUBLIC PkgConfig::MPI)
      target_compile_definitions(${library} PUBLIC OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
    endif()
    # Compiled once for each instruction set, by including itself.
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/transform/pose_kernels.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    if(room IN_LIST SHOAL_RUNTIME_ROOMS OR room IN_LIST SHOAL_PLUGIN_ROOMS OR room IN_LIST SHOAL_SQL_ROOMS
       OR room IN_LIST SHOAL_SCRIPT_ROOMS OR room IN_LIST SHOAL_CLUSTER_ROOMS)
      target_compile_options(${library} PRIVATE -fno-exceptions)
      # These keep what functions of programs and oneTBB throw, or tidy up behind it.
      set_source_files_properties(
        ${PROJECT_SOURCE_DIR}/src/base/log.cpp ${PROJECT_SOURCE_DIR}/src/base/page_memory.cpp
        ${PROJECT_SOURCE_DIR}/src/job/executor.cpp ${PROJECT_SOURCE_DIR}/src/job/failure.cpp
        ${PROJECT_SOURCE_DIR}/src/database/match.cpp ${PROJECT_SOURCE_DIR}/src/query/text_query.cpp
        ${PROJECT_SOURCE_DIR}/src/query/plan_loop.cpp ${PROJECT_SOURCE_DIR}/src/plugin/guest.cpp PROPERTIES COMPILE_OPTIONS -fexceptions)
    endif()
    shoal_large_units(${library})
    if(suffix)  # checks, or tests of other ids: for those who develop, who also compile them
      set_target_properties(${library} PROPERTIES EXCLUDE_FROM_ALL ON)
      target_compile_options(${library} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${SHOAL_OPTIMISE_PROGRAMS}>,-O1,-O0>>)
    endif()
    set(above ${library} ${above})
  endforeach()
  set(${result} ${above} PARENT_SCOPE)
endfunction()

# The installed libraries are made of the objects of these.
set(SHOAL_CHECKED_DEFINITIONS ${SHOAL_INTERFACE_DEFINITIONS} SHOAL_CHECKED=1)
if(SHOAL_CHECKED)
  set(SHOAL_INTERFACE_DEFINITIONS ${SHOAL_CHECKED_DEFINITIONS})
endif()
shoal_add_rooms("" SHOAL_ROOM_LIBRARIES ${SHOAL_INTERFACE_DEFINITIONS})
if(SHOAL_CHECKED_LIBRARIES AND NOT SHOAL_CHECKED)
  shoal_add_rooms(_checked checked_room_libraries ${SHOAL_CHECKED_DEFINITIONS})
endif()

# The same room with Lua 5.4 in place of LuaJIT, for programs of this build that link it instead: on machines that LuaJIT does
# not know, and for the tests.
if(TARGET shoal_script AND LUA54_FOUND AND NOT SHOAL_SANITIZE)
  get_target_property(sources shoal_script SOURCES)
  add_library(shoal_script_lua54 STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(shoal_script_lua54 PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(shoal_script_lua54 PUBLIC ${SHOAL_INTERFACE_DEFINITIONS})
  target_compile_options(shoal_script_lua54 PRIVATE -fno-exceptions)
  target_link_libraries(shoal_script_lua54 PUBLIC shoal_plugin PRIVATE $<BUILD_INTERFACE:shoal_flags> PkgConfig::LUA54)
  target_compile_options(shoal_script_lua54 PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${SHOAL_OPTIMISE_PROGRAMS}>,-O1,-O0>>)
  shoal_large_units(shoal_script_lua54)
endif()
