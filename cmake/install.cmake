# What an outside project gets: headers, liblockstep.a with everything the room api uses, a CMake package and the
# program. It links lockstep::lockstep and nothing else.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_target_property(rooms lockstep_api room_USES)
list(APPEND rooms lockstep_api)
foreach(room ${rooms})
  get_target_property(type ${room} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    list(APPEND objects $<TARGET_OBJECTS:${room}>)
  endif()
  get_target_property(links ${room} room_LINKS)
  list(APPEND dependencies ${links})
endforeach()
list(REMOVE_DUPLICATES dependencies)
list(REMOVE_ITEM dependencies nlohmann_json::nlohmann_json)  # headers only, and none of ours includes them

add_library(lockstep_library STATIC ${objects})
add_library(lockstep::lockstep ALIAS lockstep_library)
set_target_properties(lockstep_library PROPERTIES OUTPUT_NAME lockstep EXPORT_NAME lockstep LINKER_LANGUAGE CXX)
target_compile_features(lockstep_library INTERFACE cxx_std_20)
target_include_directories(lockstep_library INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(lockstep_library PRIVATE fmt::fmt Threads::Threads ${dependencies})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/lockstep)
configure_package_config_file(cmake/lockstepConfig.cmake.in ${PROJECT_BINARY_DIR}/lockstepConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake COMPATIBILITY SameMajorVersion)

# `./lockstep train` builds the program alone.
install(CODE [[
  if(NOT EXISTS "$<TARGET_FILE:lockstep_library>")
    message(FATAL_ERROR "the library is not built; run
  cmake --build ${CMAKE_CURRENT_LIST_DIR} --target lockstep_library
and install again, or install the program alone with --component program")
  endif()
]] COMPONENT library)
install(DIRECTORY include/lockstep DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(TARGETS lockstep_library EXPORT lockstep ARCHIVE COMPONENT library)
install(EXPORT lockstep NAMESPACE lockstep:: FILE lockstepTargets.cmake DESTINATION ${package} COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/lockstepConfig.cmake ${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake
              cmake/plain_library.cmake
        DESTINATION ${package} COMPONENT library)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
# Without debugging information the program has a seventh of its size. The one in the build tree keeps it.
install(CODE "set(CMAKE_INSTALL_DO_STRIP TRUE)" COMPONENT program)
install(TARGETS lockstep RUNTIME COMPONENT program)
