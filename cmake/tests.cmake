# lockstep_test(NAME files... [LABEL label] [OPENCL]): one program of tests; each TEST is one line of ctest. Unit tests
# also run under the sanitizers; what takes long and crosses rooms has a label of its own. Tests that use OpenCL, all of
# a program or those with OpenCl in their names, run one after the other: PoCL compiles while they run, all into one place.
include(GoogleTest)
include(cmake/cuda_for_tests.cmake)
function(lockstep_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test OPENCL LABEL "")
  if(NOT test_LABEL)
    set(test_LABEL unit)
  endif()
  add_executable(${name} ${test_UNPARSED_ARGUMENTS} ${PROJECT_SOURCE_DIR}/tests/crash_trace.cpp)
  target_link_libraries(${name} PRIVATE GTest::gtest_main GTest::gmock)
  lockstep_precompile(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  set(opencl "*OpenCl*")
  if(test_OPENCL)
    set(opencl "*")
  endif()
  set(timeout 300)
  if(LOCKSTEP_SANITIZE OR test_LABEL STREQUAL property)  # random cases take minutes on a busy machine
    set(timeout 900)
  endif()
  set(properties LABELS ${test_LABEL} TIMEOUT ${timeout})
  if(LOCKSTEP_SANITIZE AND nvrtc_for_tests)  # a sanitizer's dlopen does not look beside NVRTC for NVRTC's other library
    get_filename_component(folder ${nvrtc_for_tests} DIRECTORY)
    list(APPEND properties ENVIRONMENT LD_LIBRARY_PATH=${folder})
  endif()
  gtest_discover_tests(${name} TEST_FILTER "-${opencl}" DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  gtest_discover_tests(${name} TEST_FILTER "${opencl}" TEST_LIST ${name}_OPENCL DISCOVERY_TIMEOUT 60
                       PROPERTIES ${properties} RESOURCE_LOCK opencl)
endfunction()

# For a test that runs CUDA's kernels on the stand-in for CUDA's driver.
function(use_cuda_standin test)
  target_compile_definitions(${test} PRIVATE LOCKSTEP_CUDA_STANDIN="$<TARGET_FILE:cuda_standin>"
                                             $<$<BOOL:${nvrtc_for_tests}>:LOCKSTEP_NVRTC="${nvrtc_for_tests}">)
  add_dependencies(${test} cuda_standin)
endfunction()
