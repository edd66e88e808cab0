# Writes the kernels' files as C++ strings: cmake -DSOURCES=... -DOUT=... -P kernel_text.cmake
# SOURCES is a list of name=path; a name becomes the constant k<Name>Text of kernel_source.cpp.
set(text "// Generated from the kernels' files.\nnamespace lockstep::gpu {\n")
foreach(source ${SOURCES})
  string(REGEX MATCH "^([A-Za-z]+)=(.*)$" _ "${source}")
  set(name ${CMAKE_MATCH_1})
  file(READ "${CMAKE_MATCH_2}" content)
  string(APPEND text "extern const char* const k${name}Text;\n"
         "const char* const k${name}Text = R\"kernel(${content})kernel\";\n")
endforeach()
string(APPEND text "}\n")
file(WRITE "${OUT}" "${text}")
