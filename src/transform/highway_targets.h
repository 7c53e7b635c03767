#pragma once
// Selects the Highway instruction sets for which kernels are compiled. Include this file instead
// of <hwy/targets.h>.
//
// This leaves out instruction sets whose vector size is known only at run time. It also leaves out AVX3_DL, which adds
// nothing for floats, and which Highway 1.0 cannot compile as the baseline.

#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/targets.h>
