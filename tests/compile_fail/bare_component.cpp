// expected: a term says what is done with a component: Read<&T::field> or Write<&T::field>, Read<all_fields<T>>
#include "components.h"

void use(Manager<Body>& bodies, Manager<Sail>& sails) {
    query<Body, Sail>(bodies, sails).for_each([](Vec3) {});
}
