// The stand-in driver that tests run CUDA's kernels on: a machine with as many devices as it is told to have.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "gpu/cuda/library.h"
#include "gpu/cuda/nvrtc_for_test.h"

namespace lockstep::gpu::cuda {

class Standin {
 public:
  // `machine` as in "devices=2,seed=7". Without a stand-in library() is null, and problem() says why.
  explicit Standin(const std::string& machine) {
#ifdef LOCKSTEP_CUDA_STANDIN
    const std::array<std::string, 1> paths{LOCKSTEP_CUDA_STANDIN};
    shared_ = SharedLibrary::open(paths, problem_);
    if (!shared_) return;
    if (reinterpret_cast<int (*)(const char*)>(shared_->find("standin_configure"))(machine.c_str()) != 0)
      problem_ = "the stand-in refuses " + machine;
    else
      library_ = Library::open(paths[0], problem_);
#else
    problem_ = "built without the stand-in for CUDA's driver, " + machine;
#endif
  }

  const std::shared_ptr<const Library>& library() const { return library_; }
  const std::string& problem() const { return problem_; }

  // What the stand-in says of the last error.
  std::string last_error() const {
    return reinterpret_cast<const char* (*)()>(shared_->find("standin_last_error"))();
  }

 private:
  std::unique_ptr<SharedLibrary> shared_;
  std::shared_ptr<const Library> library_;
  std::string problem_;
};

}  // namespace lockstep::gpu::cuda
