# lockstep_precompile(TARGET): the headers that most files include are compiled once for all rooms, and once with
# GoogleTest's for all programs of tests. The first target of each kind compiles them; the others take its result.
set(common_headers <algorithm> <array> <atomic> <cstdint> <filesystem> <functional> <map> <memory> <optional> <span>
    <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
function(lockstep_precompile target)
  get_target_property(kind ${target} TYPE)
  set(headers ${common_headers})
  if(kind STREQUAL EXECUTABLE)
    list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  get_property(first GLOBAL PROPERTY lockstep_precompiled_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${headers})
    set_property(GLOBAL PROPERTY lockstep_precompiled_${kind} ${target})
  endif()
endfunction()
