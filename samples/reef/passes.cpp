// The order of a frame. Passes that touch the same fields run in the order of adding, the others side by side:
//
//     sort  flock  hunt  graze  digest  bloom  swim  cross  births  carry  attach  |  settle
//
// What hunt, graze, digest, bloom, cross and births ask for (entities that come, go, move, gain and lose components)
// happens when the frame settles.

#include "sea.h"

namespace reef {

void add_passes(Sea& sea) {
    add_looking_around(sea);
    add_hunting(sea);
    add_eating(sea);
    add_swimming(sea);
    add_births(sea);
    add_carrying(sea);
}

}  // namespace reef
