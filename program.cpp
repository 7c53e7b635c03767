// clang-format off
// seed 60685: stage.referrers<&Hunts::who>(pond, p[3]) gives "another p[3]", not "another p[2] p[3]"
#include "programs/stage.h"

using namespace programs;

int main() {
    Stage stage;
    [[maybe_unused]] World &sea = stage.sea, &lake = stage.lake, &pond = stage.pond;
    [[maybe_unused]] auto &e = stage.e, &p = stage.p;
    expect(pond.save(stage.saved), "ok");
    expect(pond.entities().create(std::span(&p[2], 8)), "ok");
    expect(pond.load(stage.saved), "ok");
    pond.commands().call(pond.commands().create(Hunts{p[4]}), NameAs{&p[2]});
    pond.settle();
    expect(stage.copy(pond, p[2], &p[3]), "ok");
    expect(stage.copy(pond, p[2], &p[3]), "ok");
    pond.settle();
    expect(stage.referrers<&Hunts::who>(pond, p[3]), "another p[2] p[3]");
    return num_unexpected == 0 ? 0 : 1;
}
