# The NVRTC that tests compile CUDA's kernels with, and the headers that declarations are held against: a toolkit's, else
# those of the wheels that `./lockstep test` installs.
set(wheels ${PROJECT_SOURCE_DIR}/.venv/test-pypi/lib/python3*/site-packages/nvidia/*)
file(GLOB nvrtc_for_tests /usr/local/cuda/lib64/libnvrtc.so.*)
if(NOT nvrtc_for_tests)
  file(GLOB nvrtc_for_tests ${wheels}/lib/libnvrtc.so.*)
endif()
list(FILTER nvrtc_for_tests EXCLUDE REGEX "libnvrtc\\.alt")
if(nvrtc_for_tests)
  list(GET nvrtc_for_tests 0 nvrtc_for_tests)
endif()

file(GLOB cuda_headers /usr/local/cuda/include/cuda.h)
if(NOT cuda_headers)
  file(GLOB cuda_headers ${wheels}/include/cuda.h)
endif()

# For a test that includes cuda.h or nvrtc.h where they are. Nothing else sees that folder, which has much more in it.
function(use_cuda_headers source)
  if(cuda_headers)
    list(GET cuda_headers 0 header)
    get_filename_component(folder ${header} DIRECTORY)
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-isystem;${folder}")
  endif()
endfunction()
