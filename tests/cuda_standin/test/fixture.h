// PTX texts for tests that need no compiler.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace standin_test {

inline std::string fixture(const std::string& name) {
  const std::ifstream file(STANDIN_SOURCE_DIR "/fixtures/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A kernel `k` with one pointer, `out`, in %out, the thread's number in %t, and registers of every type.
inline std::string ptx_of(const std::string& body, const std::string& variables = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + variables +
         "\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<20>;\n"
         ".reg .f32 %f<20>; .reg .b64 %rd<20>; .reg .f64 %fd<10>; .reg .b64 %out; .reg .b32 %t;\n"
         "ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n" +
         body + "\nret;\n}\n";
}

}  // namespace standin_test
