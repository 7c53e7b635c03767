#pragma once
// Which instruction sets kernels are compiled for, of those that Highway knows. Include this instead of
// <hwy/targets.h>.
//
// Left out: vectors whose size is known only when the program runs, and AVX3_DL, which adds nothing for floats (and
// which Highway 1.0 does not compile where it is the least that the compiler was asked for).

#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/targets.h>
