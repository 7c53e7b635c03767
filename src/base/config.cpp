#include "shoal/base/config.h"

extern "C" const char SHOAL_BUILD_SYMBOL = 0;
