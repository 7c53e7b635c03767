// Says whether this project rounds each multiplication and each addition, as shoal's libraries do. shoal's targets ask for
// it; otherwise g++ would use instructions that do both at once where it is told that the processor has them.

#include <shoal/base/math.h>

#include <cstdio>

int main() {
    // The square is 1 + 2^-11 + 2^-24. The last part is rounded away, unless the sum is taken of what is not rounded yet.
    // Each number is read by itself, or the compiler would see that both products are one.
    volatile float number = 1 + 0x1p-12f;
    const shoal::Vec2 a = {number, number}, b = {number, -number};
    const bool rounds = dot(a, b) == 0;
    std::puts(rounds ? "rounds each operation" : "fuses operations");
    return rounds ? 0 : 1;
}
