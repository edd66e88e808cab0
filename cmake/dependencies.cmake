# Everything from Debian's packages; packages.txt names them.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(hwy REQUIRED)
find_path(LOCKSTEP_HWLOC_HEADERS hwloc.h REQUIRED)  # it comes without a CMake file
find_library(LOCKSTEP_HWLOC hwloc REQUIRED)
add_library(hwloc::hwloc INTERFACE IMPORTED)
set_target_properties(hwloc::hwloc PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${LOCKSTEP_HWLOC_HEADERS}
                      INTERFACE_LINK_LIBRARIES ${LOCKSTEP_HWLOC})
find_package(tomlplusplus REQUIRED)
if(LOCKSTEP_TESTS)
  find_package(GTest REQUIRED)
endif()
