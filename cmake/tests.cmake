# lockstep_test(NAME files... [LABEL label]): one program of tests; each TEST is one line of ctest. Unit tests also run
# under the sanitizers; what takes long and crosses rooms has a label of its own.
include(GoogleTest)
function(lockstep_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" LABEL "")
  if(NOT test_LABEL)
    set(test_LABEL unit)
  endif()
  add_executable(${name} ${test_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE GTest::gtest_main GTest::gmock)
  target_compile_definitions(${name} PRIVATE LOCKSTEP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${test_LABEL} TIMEOUT 300)
endfunction()
