// Lockstep: training on any number of devices, with the same bits every time.
#pragma once
#include <lockstep/book.h>
#include <lockstep/dataset.h>
#include <lockstep/error.h>
#include <lockstep/evaluate.h>
#include <lockstep/model.h>
#include <lockstep/train.h>
#include <lockstep/weights.h>
