#pragma once
// What the tests of the database share.

#include "shoal/database/detail/lock.h"
#include "shoal/database/detail/match.h"
#include "support/database_fixture.h"
#include "support/manager_testing.h"
