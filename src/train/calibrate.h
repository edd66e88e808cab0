// Packs for devices of different kinds and models in proportion to their speed, which is measured on the job
// itself. The bits do not depend on what is found: how packs are dealt is no part of the law.
#pragma once
#include <vector>

#include "train/job.h"
#include "train/training_runner.h"

namespace lockstep::train {

// Speeds of the devices, as proportions: first each on minibatches of its own, all at the same time, since
// they may share the machine; then each on its share of common steps, where what a step costs beside its
// packs counts, too. Medians of at least five steps after two to warm up. Nothing is trained.
std::vector<double> measure_speeds(run::Crew& crew, const Job& job, const Machine& machine,
                                   const device::Minibatch& minibatch);

// The proportions that packs are dealt in: those of the machine if it has any, equal ones (none) where all
// devices are alike, else what a measurement finds.
std::vector<double> shares_for(run::Crew& crew, const Job& job, const Machine& machine,
                               const data::Dataset& data);

}  // namespace lockstep::train
