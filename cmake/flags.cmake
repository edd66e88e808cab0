# One interface target carries the language, the warnings, the arithmetic and the hardening flags.
add_library(lockstep_flags INTERFACE)
target_compile_features(lockstep_flags INTERFACE cxx_std_20)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

target_compile_options(lockstep_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Werror
  -ffp-contract=off  # the law: a product that is added is an explicit fma, or it is rounded
  -fstack-protector-strong)
target_compile_definitions(lockstep_flags INTERFACE _GLIBCXX_ASSERTIONS LOCKSTEP_VERSION="${LOCKSTEP_VERSION}")
target_link_options(lockstep_flags INTERFACE -pie -Wl,-z,relro,-z,now)

if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(lockstep_flags INTERFACE -Wthread-safety)
endif()
if(LOCKSTEP_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(lockstep_flags INTERFACE -Wno-subobject-linkage)  # it takes each file of a batch for a header
endif()
if(LOCKSTEP_SANITIZE)
  target_compile_options(lockstep_flags INTERFACE -fsanitize=${LOCKSTEP_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_compile_definitions(lockstep_flags INTERFACE LOCKSTEP_SANITIZED)
  target_link_options(lockstep_flags INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
elseif(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  target_compile_options(lockstep_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
