// expected: nothing
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database, Manager<Body>& bodies, Manager<Sail>& sails) {
    query<Write<&Body::position>>(database).for_each([](auto&& p) { p += Vec3{1, 1, 1}; });
    query<Write<&Body::position>>(database).for_each([](auto&& p) { p.x += 1, p = {p.x, p.y, 0}, p /= 2; });
    query<Read<&Sail::area>, Maybe<&Body::position>>(sails, bodies).for_each([](float, auto p) {
        return p ? p->x + (*p).y : 0;
    });
    query<Read<&Sail::area>, Maybe<all_fields<Body>>>(sails, bodies).for_each([](float, const Body* body) {
        return body != nullptr ? body->mass : 0;
    });
}
