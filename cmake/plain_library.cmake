# lockstep_plain_library(NAME HEADER): NAME::NAME, for a library that comes without a CMake file.
function(lockstep_plain_library name header)
  if(TARGET ${name}::${name})
    return()
  endif()
  find_path(LOCKSTEP_${name}_HEADERS ${header} REQUIRED)
  find_library(LOCKSTEP_${name} ${name} REQUIRED)
  add_library(${name}::${name} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${name}::${name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${LOCKSTEP_${name}_HEADERS}
                        INTERFACE_LINK_LIBRARIES ${LOCKSTEP_${name}})
endfunction()
