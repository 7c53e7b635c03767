// What the guide shows of rollback: a world that guesses inputs, goes back when they come, and ends as one that knew them.

#include "shoal/base/random.h"
#include "shoal/save/frames.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/manager.h"
#include "shoal/world/world.h"

#include "support/testing.h"

#include <vector>

namespace rollback_test {

using namespace shoal;

struct Ball {
    float place = 0, speed = 0;
};
SHOAL_COMPONENT(Ball, place, speed)

struct Input {
    int push = 0;
    friend bool operator==(const Input&, const Input&) = default;
};

/// Balls that are pushed; hard pushes bring a new one, and end the oldest.
struct Game {
    Game() {
        world.schedule().add("roll", query<Write<&Ball::place>, Write<&Ball::speed>>(balls),
                             [this](auto&& place, auto&& speed) {
                                 speed = speed * 0.9f + static_cast<float>(input.push);
                                 place += speed;
                             });
        world.schedule().add("exchange", {reads(balls)}, [this](PassContext&) {
            if (input.push > 2) world.commands().create(Ball{.place = world.random().unit()});
            if (input.push > 3 && balls.num_rows() != 0) world.commands().destroy(balls.entities()[0]);
        });
    }

    EntityManager entities;
    World world{entities};
    Manager<Ball>& balls = world.manager<Ball>();
    Input input;  // of the frame that is played
};

// [rollback]
struct Player {
    Game& game;
    Frames& frames;
    std::vector<Input> known;   // by frame, as far as they have come
    std::vector<Input> played;  // by frame: what it was played with

    Input guess(std::uint64_t frame) const {
        if (frame < known.size()) return known[frame];
        return known.empty() ? Input() : known.back();
    }
    void play() {
        played.resize(game.world.frame());
        played.push_back(guess(game.world.frame()));
        game.input = played.back();
        game.world.step(1.0f / 60);
    }
    Status play_again() {  // after inputs have come
        const std::uint64_t now = game.world.frame();
        std::uint64_t first = 0;
        while (first < now && played[first] == guess(first)) ++first;
        if (first == now) return {};
        if (Status status = frames.rewind(first); !status) return status;
        while (game.world.frame() < now) play();
        return {};
    }
};
// [rollback]

/// What a player does who lets another one in.
Status let_join(const World& world, World& joined) {
    // [join]
    Array<std::byte> bytes{Owner("snapshot")};
    if (Status status = save(world, bytes); !status) return status;   // in pieces, to the one who joins
    if (Status status = load(joined, bytes); !status) return status;  // there: checked, whoever has sent it
    // [join]
    return {};
}

TEST(Rollback, a_world_that_learns_inputs_late_ends_as_one_that_knew_them_and_so_does_one_that_joins) {
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    constexpr std::uint64_t kNumFrames = 120, kMostLate = 8;
    std::vector<Input> inputs(kNumFrames);
    for (Input& input : inputs) input.push = static_cast<int>(random.below(5));
    Game in_time, late, joined;
    Frames frames(late.world, kMostLate + 1);
    Player player{late, frames, {}, {}};
    for (std::uint64_t frame = 0; frame < kNumFrames; ++frame) {
        in_time.input = inputs[frame];
        in_time.world.step(1.0f / 60);
        const std::uint64_t num_known = std::max<std::uint64_t>(
            player.known.size(), frame - std::min<std::uint64_t>(frame, random.below(kMostLate + 1)));
        player.known.assign(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(num_known));
        const Status status = player.play_again();
        ASSERT_TRUE(status.ok()) << status.message();
        player.play();
    }
    player.known = inputs;
    ASSERT_TRUE(player.play_again().ok());
    EXPECT_EQ(state_hash(late.world), state_hash(in_time.world));
    EXPECT_EQ(late.world.frame(), kNumFrames);
    ASSERT_TRUE(let_join(late.world, joined.world).ok());
    for (Game* game : {&in_time, &joined}) game->input = {4}, game->world.step(1.0f / 60);
    EXPECT_EQ(state_hash(joined.world), state_hash(in_time.world));
}

TEST(Rollback, a_world_goes_back_and_forth_among_its_frames_until_it_steps) {
    Game game;
    game.input.push = 4;
    Frames frames(game.world, 8);
    std::vector<std::uint64_t> hashes = {state_hash(game.world)};  // by frame
    for (int i = 0; i < 6; ++i) {
        game.world.step(1.0f / 60);
        hashes.push_back(state_hash(game.world));
    }
    for (const std::uint64_t frame : {2u, 5u, 0u, 6u, 3u}) {
        ASSERT_TRUE(frames.rewind(frame, LaterFrames::kUntilStep).ok());
        EXPECT_EQ(game.world.frame(), frame);
        EXPECT_EQ(state_hash(game.world), hashes[frame]);
        EXPECT_EQ(frames.statistics().last, 6u);
    }
    game.world.step(1.0f / 60);
    EXPECT_EQ(state_hash(game.world), hashes[4]);
    EXPECT_EQ(frames.statistics().last, 4u) << "the later ones are those of another course of events";
    EXPECT_FALSE(frames.rewind(5).ok());
    ASSERT_TRUE(frames.rewind(1).ok());
    EXPECT_EQ(frames.statistics().last, 1u);
    EXPECT_EQ(state_hash(game.world), hashes[1]);
    ASSERT_FALSE(load(game.world, Snapshot(), false).ok());
    EXPECT_EQ(frames.statistics().num_frames, 2u) << "a load that is refused leaves the frames";
    Snapshot state;
    ASSERT_TRUE(save(game.world, state).ok() && load(game.world, state).ok());
    EXPECT_EQ(frames.statistics().num_frames, 1u) << "and one that is not begins anew";
    EXPECT_EQ(frames.statistics().first, 1u);
}

}  // namespace rollback_test
