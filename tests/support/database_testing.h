#pragma once
// What the tests of the database share.

#include "shoal/database/lock.h"
#include "shoal/database/match.h"
#include "support/database_fixture.h"
#include "support/manager_testing.h"
