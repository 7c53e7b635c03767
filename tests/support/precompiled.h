#pragma once
// The headers that most tests include, compiled once for all test programs where SHOAL_PRECOMPILED_HEADERS is set.
// A test includes what it needs all the same: the preset `dev` compiles it without this one.

#include "shoal/entity/entity_manager.h"
#include "shoal/world/world.h"
#include "support/json.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
