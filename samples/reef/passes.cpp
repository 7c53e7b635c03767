// The passes of a frame. Passes that conflict run in the order in which they were added; other passes may run side by
// side:
//
//     sort  flock  hunt  graze  digest  bloom  swim  cross  births  carry  attach  |  settle
//
// hunt, graze, digest, bloom, cross and births request structural changes, which are made when the world settles.

#include "sea.h"

namespace reef {

Status add_passes(Sea& sea) {
    add_looking_around(sea);
    add_hunting(sea);
    add_eating(sea);
    if (Status status = add_swimming(sea); !status) return status;
    add_births(sea);
    add_carrying(sea);
    return {};
}

}  // namespace reef
