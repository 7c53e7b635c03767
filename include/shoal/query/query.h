#pragma once
// Rows, by the component types that they have and the fields that a pass reads and writes.
//
//     auto moving = query<Write<&Body::position>, Read<&Body::velocity>, Without<Frozen>>(database);
//     moving.for_each([dt](auto&& p, Vec3 v) { p += v * dt; });                  // on this thread
//     moving.in(near).for_each(executor, [dt](auto&& p, Vec3 v) { p += v * dt; });   // on all, in some zones
//     moving.for_each_batch([&](auto&& batch) {                                  // columns and entities
//         draw(batch.entities(), batch.template column<&Body::position>());
//     });
//
// The function is called with one argument per field, in order, with the Entity before them if it takes one, and with
// a Commands& before that (see commands.h); a pass may put a const PassContext& before all of them (see
// world/schedule.h). See query_terms.h for the terms. Keep a query: it remembers which tables match, and looks at new
// ones only.
//
// A manager is one table, whose rows all match. Fields of other managers are gathered by entity and come as a pointer,
// which is null where the entity lacks the component:
//
//     auto pushed = query<Write<&Body::velocity>, Gather<&Wind::force>>(bodies, winds);     // or (database, winds)
//     pushed.for_each([](auto&& v, const Vec3* force) { if (force) v += *force; });
//
// Where a query over a database reads or writes fields of a manager, both must have the entity. Such a join goes
// through the rows of the side that has fewer and looks the other up; driver() says which side that is:
//
//     auto sailing = query<Write<&Boat::position>, Read<&Sail::area>>(database, sails);
//
// Lifetime: a query refers to its database and managers; columns are looked up anew by each loop.
// Thread: between structural calls; made inside a loop, they end the program (see RowLock, DatabaseLock). Two loops
// may run at once, of different queries, if neither writes what the other names. A query is used by one thread, and by
// chunks of its own loop.

#include "shoal/query/query_database.h"
#include "shoal/query/query_join.h"
#include "shoal/query/query_manager.h"
#include "shoal/store/manager.h"
