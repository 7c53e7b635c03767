// Says whether this project rounds each multiplication and each addition, as shoal's libraries do. shoal's targets ask for
// it; otherwise g++ would use instructions that do both at once where it is told that the processor has them.

#include <shoal/base/math.h>

#include <cstdio>

int main(int argc, char**) {
    const float x = 1 + static_cast<float>(argc) * 0x1p-12f;  // 1 + 2^-12
    // The square is 1 + 2^-11 + 2^-24. The last part is rounded away, unless the sum is taken of what is not rounded yet.
    const float difference = dot(shoal::Vec2{x, x}, shoal::Vec2{x, -x});
    std::puts(difference == 0 ? "rounds each operation" : "fuses operations");
    return difference == 0 ? 0 : 1;
}
