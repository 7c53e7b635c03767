// The declaration of a component chooses its layout. The same code runs over all three layouts.
#include <shoal/query/query.h>

#include <cstdio>

struct Apart {
    float mass = 1;
    shoal::Vec3 position{}, velocity{1, 2, 3};
};
SHOAL_COMPONENT(Apart, mass, position, velocity)  // structure of arrays: one column per field

struct Split {
    float mass = 1;
    shoal::Vec3 position{}, velocity{1, 2, 3};
};
SHOAL_COMPONENT(Split, mass, (position, split), (velocity, split))  // separate columns for x, y and z

struct Whole {
    float mass = 1;
    shoal::Vec3 position{}, velocity{1, 2, 3};
};
SHOAL_COMPONENT((Whole, whole), mass, position, velocity)  // array of structures: a single column

template <class Body>
void sail(shoal::EntityManager& entities, shoal::PagePool& pool) {
    shoal::Manager<Body> bodies(entities, pool);
    shoal::Entity boats[100];
    if (!entities.create(boats) || !bodies.add(boats)) return;

    auto moving = shoal::query<shoal::Write<&Body::position>, shoal::Read<&Body::velocity>>(bodies);
    moving.for_each([](auto&& position, shoal::Vec3 velocity) { position += velocity * 2.0f; });

    const shoal::Vec3 p = bodies.template get<&Body::position>(bodies.instance(boats[42]));
    std::printf("%s: %zu columns, boat 42 at %g %g %g\n", bodies.core().schema().name().c_str(),
                bodies.core().schema().columns().size(), p.x, p.y, p.z);
}

int main() {
    shoal::EntityManager entities;
    shoal::PagePool pool;
    sail<Apart>(entities, pool);
    sail<Split>(entities, pool);
    sail<Whole>(entities, pool);
}
