#pragma once
// Floating-point results that are the same on every machine.
//
//     the same bits everywhere          + - * / sqrt, conversions, comparisons, floor, round, fmod, fabs, copysign
//     the last bits may differ          sin, cos, tan, exp, log, pow, atan2, hypot and all the rest of the C library
//
// IEEE 754 defines the results of the first group to the last bit. They are the same on every thread that rounds to
// nearest and keeps denormals (the default). They are also the same with every compiler, unless it is allowed to fuse
// operations (shoal's targets set -ffp-contract=off) or to reorder them (-ffast-math). See
// docs/guide/floating_point.md.
// Thread: any. Results depend on the arguments and on the rounding mode of the calling thread.

#include "shoal/base/detail/config.h"

namespace shoal {

struct SineCosine {
    double sine = 0, cosine = 1;
};

/// The sine and cosine of an angle. The bits are the same everywhere, because the functions only add and multiply.
/// Units: radians. The error is at most 2e-16 for angles up to 1e6. For larger angles, whole turns are subtracted
/// first; 2 pi is rounded to a double, so the error grows to 4e-17 times the angle. For infinities and NaN, both
/// results are NaN.
/// Source: FreeBSD's msun, k_sin.c, k_cos.c and e_rem_pio2.c, from Sun Microsystems' fdlibm.
SHOAL_API SineCosine sine_and_cosine(double radians);

/// Returns whether the calling thread rounds to nearest and keeps denormals (float values down to 1e-45). A library
/// that is linked with -ffast-math changes these settings for the thread that loads it. A world in a checked build
/// verifies these settings in each step.
SHOAL_API bool rounds_to_nearest();

}  // namespace shoal
