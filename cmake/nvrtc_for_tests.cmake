# The NVRTC that tests compile CUDA's kernels with: a toolkit's, else that of the wheel that `./lockstep test` installs.
file(GLOB toolkits /usr/local/cuda/lib64/libnvrtc.so.*)
file(GLOB wheels ${PROJECT_SOURCE_DIR}/.venv/test-pypi/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*)
set(nvrtc_for_tests ${toolkits} ${wheels})
list(FILTER nvrtc_for_tests EXCLUDE REGEX "libnvrtc\\.alt")
if(nvrtc_for_tests)
  list(GET nvrtc_for_tests 0 nvrtc_for_tests)
endif()
