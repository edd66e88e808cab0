// What the data asks of a model of the zoo.
#pragma once
#include "data/dataset.h"
#include "model/zoo.h"

namespace lockstep::train {

inline model::Pictures pictures_of(const data::Dataset& dataset) {
  return {{dataset.channels, dataset.height, dataset.width}, dataset.classes};
}

}  // namespace lockstep::train
