#pragma once
// What the tests of the database share.

#include "shoal/store/database_lock.h"
#include "shoal/store/database_match.h"
#include "store/manager_testing.h"
#include "support/database_fixture.h"
