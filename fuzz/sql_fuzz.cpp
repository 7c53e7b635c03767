// Fuzzes SQL queries. Any text produces an answer or an error. Only a successful UPDATE changes the world.
#include "shoal/components/ownership.h"
#include "shoal/components/tag.h"
#include "shoal/database/database.h"
#include "shoal/save/state_hash.h"
#include "shoal/sql/sql.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

using namespace shoal;

enum class Mood : std::uint8_t { kCalm, kAngry };
SHOAL_ENUM(Mood, (kCalm, "calm"), (kAngry, "angry"))

struct Fish {
    float mass = 1;
    Vec3 position{};
    Mood mood{};
    Entity prey{};
    FixedString<8> label{};
    std::array<std::uint16_t, 3> ages{};
};
SHOAL_COMPONENT((Fish, name("fish")), (mass, range(0, 100)), (position, split), mood, prey, label, ages)

struct Wound {
    std::int32_t depth = 0;
};
SHOAL_COMPONENT((Wound, name("wound"), many), depth)

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

struct Sea {
    Sea() {
        Entity fish[12];
        require(entities.create(fish).ok());
        require(world.ownership().own(fish[0], fish[1]).ok());
        for (std::size_t i = 0; i < std::size(fish); ++i) {
            require(world.database().insert(fish[i], Zone(i % 3), Fish{.mass = float(i), .prey = fish[i / 2]}).ok());
            require(i % 2 == 0 || world.manager<Wound>().add(fish[i], Wound{std::int32_t(i)}).ok());
        }
        require(world.transforms().add(fish).ok());
        world.manager<Tag>();
    }
    EntityManager entities;
    World world{entities};
    sql::Connection connection{world};
};

void ask(Sea& sea, std::string_view text, bool updates) {
    const std::uint64_t before = state_hash(sea.world);
    const Result<sql::Answer> answer = sea.connection.ask(
        text, {.max_rows = 300, .max_bytes = 1 << 20, .max_seconds = 5, .max_steps = 30'000, .allow_updates = updates});
    const bool may_change = updates && answer && answer->num_updated() != 0;
    require(may_change || state_hash(sea.world) == before);
    for (std::size_t row = 0; answer && row < answer->num_rows(); ++row)
        for (std::size_t column = 0; column < answer->num_columns(); ++column)
            static_cast<void>(answer->at(row, column).to_text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Sea* sea = nullptr;  // recreated regularly, because updates persist
    static int num_asked = 0;
    if (sea == nullptr || ++num_asked % 1000 == 0) {
        delete sea;
        sea = new Sea;
    }
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    ask(*sea, text, false);
    ask(*sea, text, true);
    return 0;
}
