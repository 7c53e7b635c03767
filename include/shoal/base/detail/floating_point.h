#pragma once
// Floating point that is the same on every machine.
//
//     the same bits everywhere          + - * / sqrt, conversions, comparisons, floor, round, fmod, fabs, copysign
//     the last bits may differ          sin, cos, tan, exp, log, pow, atan2, hypot and all the rest of the C library
//
// The first are what IEEE 754 defines to the last bit. They are the same for every compiler, as long as it may not fuse
// operations (-ffp-contract=off, which shoal's targets ask for) nor reorder them (no -ffast-math), and for every thread
// that rounds to the nearest and keeps numbers close to zero, as threads do unless they are told otherwise.
// docs/guide/floating_point.md says more.
// Thread: functions of their arguments, and of how the calling thread rounds.

#include "shoal/base/detail/config.h"

namespace shoal {

struct SineCosine {
    double sine = 0, cosine = 1;
};

/// The sine and the cosine of an angle, with the same bits everywhere: they are made of additions and multiplications.
/// Units: radians. Within 2e-16 of the true values for angles up to 1e6. Whole turns are taken from larger ones first,
/// and a turn is rounded to a double, so the error grows to 4e-17 of the angle. For what is infinite or not a number,
/// neither result is a number.
/// Source: FreeBSD's msun, k_sin.c, k_cos.c and e_rem_pio2.c, from Sun Microsystems' fdlibm.
SHOAL_API SineCosine sine_and_cosine(double radians);

/// Whether the calling thread rounds to the nearest, and keeps numbers close to zero, down to 1e-45. Libraries that
/// were linked with -ffast-math change that for the thread that loads them. A checked world asks in each step.
SHOAL_API bool rounds_to_nearest();

}  // namespace shoal
