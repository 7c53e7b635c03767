#pragma once
// What the tests of the database share.

#include "shoal/database/database_lock.h"
#include "shoal/database/database_match.h"
#include "support/database_fixture.h"
#include "support/manager_testing.h"
