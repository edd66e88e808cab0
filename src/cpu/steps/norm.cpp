#include "base/error.h"
#include "cpu/steps/step_maker.h"

namespace lockstep::cpu {

std::unique_ptr<Step> StepMaker::operator()(const program::NormStatistics&) const {
  throw Error(Fault::ours, "no kernel yet");
}
std::unique_ptr<Step> StepMaker::operator()(const program::NormCoefficients&) const {
  throw Error(Fault::ours, "no kernel yet");
}
std::unique_ptr<Step> StepMaker::operator()(const program::RunningCoefficients&) const {
  throw Error(Fault::ours, "no kernel yet");
}
std::unique_ptr<Step> StepMaker::operator()(const program::NormForward&) const {
  throw Error(Fault::ours, "no kernel yet");
}
std::unique_ptr<Step> StepMaker::operator()(const program::NormSums&) const {
  throw Error(Fault::ours, "no kernel yet");
}
std::unique_ptr<Step> StepMaker::operator()(const program::NormFactors&) const {
  throw Error(Fault::ours, "no kernel yet");
}
std::unique_ptr<Step> StepMaker::operator()(const program::NormInputGradient&) const {
  throw Error(Fault::ours, "no kernel yet");
}
std::unique_ptr<Step> StepMaker::operator()(const program::NormRunning&) const {
  throw Error(Fault::ours, "no kernel yet");
}

}  // namespace lockstep::cpu
