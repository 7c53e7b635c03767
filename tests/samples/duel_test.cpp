// The duel: both worlds stay equal whatever the network does, a difference is named, and what is no datagram does no harm.

#include "inspect/xml_check.h"
#include "match.h"
#include "picture.h"
#include "support/testing.h"

#include <shoal/base/string_id.h>
#include <shoal/base/text.h>
#include <shoal/save/state_difference.h>
#include <shoal/save/state_hash.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace {

using namespace duel;
using shoal::Random;
using shoal::Result;
using shoal::Status;

MatchOptions small_match(std::uint64_t seed = 1) {
    MatchOptions options;
    options.arena.num_ships = 600;
    options.arena.seed = seed;
    options.num_frames = 150;
    options.fast = true;
    return options;
}

/// Returns the hash of a world that is played with all inputs at hand. Those of the second side count from a frame on.
std::uint64_t hash_without_network(const MatchOptions& options, std::uint64_t second_from = 0) {
    Arena arena(options.arena);
    EXPECT_TRUE(arena.spawn().ok());
    for (std::uint64_t frame = 0; frame < options.num_frames; ++frame)
        arena.step({scripted_input(options.arena.seed, 0, frame),
                    frame < second_from ? Input() : scripted_input(options.arena.seed, 1, frame)});
    return state_hash(arena.world);
}

void expect_equal_worlds(Match& match, std::uint64_t hash) {
    const Status status = match.run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(match.check_equal().ok()) << match.check_equal().message();
    for (const std::size_t side : {0u, 1u}) {
        EXPECT_EQ(state_hash(match.peer(side).arena().world), hash) << "peer " << side;
        EXPECT_EQ(match.peer(side).arena().world.frame(), match.options().num_frames);
        EXPECT_LE(match.peer(side).counts().deepest, kMaxAhead);
        EXPECT_EQ(match.peer(side).counts().num_refused, 0u) << match.peer(side).counts().refused;
    }
}

// --- matches -------------------------------------------------------------------------------------------------------

TEST(Duel, both_worlds_end_as_one_without_a_network_does_whatever_is_lost_late_overtaken_or_doubled) {
    const LinkOptions networks[] = {{.loss = 0, .delay = 0, .reorder = 0, .duplicate = 0},
                                    {},
                                    {.loss = 0, .delay = 8, .reorder = 0, .duplicate = 0},
                                    {.loss = 0.6, .delay = 1, .reorder = 1, .duplicate = 1},
                                    {.loss = 0.8, .delay = 8, .reorder = 0.5, .duplicate = 0.5}};
    std::uint64_t num_rollbacks = 0, deepest = 0;
    for (const LinkOptions& network : networks) {
        SCOPED_TRACE(shoal::concat("loss ", network.loss, ", delay ", network.delay));
        MatchOptions options = small_match(num_rollbacks + 1);
        options.link = network;
        Match match(options);
        ASSERT_TRUE(match.begin().ok());
        expect_equal_worlds(match, hash_without_network(options));
        num_rollbacks += match.peer(0).counts().num_rollbacks;
        deepest = std::max(deepest, match.peer(1).counts().deepest);
    }
    EXPECT_GT(num_rollbacks, 20u);
    EXPECT_EQ(deepest, kMaxAhead) << "nobody went back as far as may be";
}

TEST(Duel, ships_and_shots_come_and_go_while_frames_are_played_again) {
    MatchOptions options = small_match();
    options.arena.num_ships = 4000;
    options.num_frames = 220;
    Match match(options);
    ASSERT_TRUE(match.begin().ok());
    expect_equal_worlds(match, hash_without_network(options));
    const shoal::SettleCounts& settled = match.peer(0).arena().world.settle_statistics().total;
    EXPECT_GT(settled.num_created, 100u);
    EXPECT_GT(settled.num_destroyed, 100u);
    EXPECT_GT(match.peer(0).counts().num_replayed, 30u);
    EXPECT_EQ(match.peer(0).counts().num_steps, options.num_frames + match.peer(0).counts().num_replayed);
}

TEST(Duel, a_match_on_two_threads_by_the_clock_ends_in_the_same_state) {
    MatchOptions options = small_match(3);
    options.num_frames = 40;
    options.fast = false;
    Match match(options);
    ASSERT_TRUE(match.begin().ok());
    expect_equal_worlds(match, hash_without_network(options));
}

TEST(Duel, a_peer_that_joins_late_has_the_same_world_and_its_inputs_count_from_the_frame_that_was_agreed) {
    for (const double loss : {0.0, 0.5}) {
        SCOPED_TRACE(loss);
        MatchOptions options = small_match(7);
        options.num_frames = 250;
        options.join_frame = 40;
        options.link.loss = loss;
        Match match(options);
        ASSERT_TRUE(match.begin().ok());
        const Status status = match.run();
        ASSERT_TRUE(status.ok()) << status.message();
        const PeerCounts& joined = match.peer(1).counts();
        EXPECT_GE(joined.snapshot_frame, options.join_frame);
        EXPECT_GT(joined.joins_at, joined.snapshot_frame) << "the world stood still while the snapshot was sent";
        EXPECT_LT(joined.joins_at, options.num_frames);
        EXPECT_EQ(match.peer(0).counts().joins_at, joined.joins_at);
        expect_equal_worlds(match, hash_without_network(options, joined.joins_at));
    }
}

TEST(Duel, a_world_that_was_changed_is_found_and_the_frame_the_field_and_the_entity_are_named) {
    for (const std::uint64_t join_frame : {0, 30}) {
        MatchOptions options = small_match();
        options.join_frame = join_frame;
        options.arena.sabotage_frame = 90;
        Match match(options);
        ASSERT_TRUE(match.begin().ok());
        const std::string message(match.run().message());
        EXPECT_EQ(message.find("the worlds differ since frame 90: ship.reload of entity 301:1 is "), 0u) << message;
        EXPECT_NE(message.find(" in the world of the first peer and 6"), std::string::npos) << message;
        EXPECT_EQ(match.peer(0).arena().world.frame(), 90u) << "both are taken back to where they differ";
        EXPECT_EQ(match.peer(1).arena().world.frame(), 90u);
        EXPECT_FALSE(match.check_equal().ok());
    }
}

TEST(Duel, a_difference_says_both_values_and_how_many_others_there_are) {
    Arena mine({.num_ships = 20}), theirs({.num_ships = 20});
    ASSERT_TRUE(mine.spawn().ok() && theirs.spawn().ok());
    EXPECT_EQ(find_difference(mine.world, theirs.world).text("here", "there"), "");
    const shoal::Entity ship = mine.ships.entity(shoal::Instance{4});
    mine.ships.set<&Ship::reload>(shoal::Instance{4}, 0.25f);
    theirs.ships.set<&Ship::reload>(shoal::Instance{4}, 8.0f);
    theirs.ships.set<&Ship::reload>(shoal::Instance{9}, 9.0f);
    const shoal::StateDifference difference = find_difference(mine.world, theirs.world);
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference.component, "ship");
    EXPECT_EQ(difference.field, "reload");
    EXPECT_EQ(difference.entity, ship);
    EXPECT_EQ(difference.num_others, 1u);
    EXPECT_EQ(difference.text("here", "there"),
              "ship.reload of entity 5:1 is 0.25 here and 8.0 there; 1 other value differs too");
    const shoal::Entity lost[] = {ship};
    ASSERT_EQ(theirs.entities.destroy(lost), 1u);
    theirs.world.settle();
    EXPECT_NE(find_difference(mine.world, theirs.world).text("here", "there"), "");
}

TEST(Duel, a_match_without_any_datagram_ends_and_says_so) {
    MatchOptions options = small_match();
    options.arena.num_ships = 10;
    options.link.loss = 1;
    Match match(options);
    ASSERT_TRUE(match.begin().ok());
    const std::string message(match.run().message());
    EXPECT_NE(message.find("in vain, at frame 8; 0 datagrams have come"), std::string::npos) << message;
}

TEST(Duel, the_picture_shows_both_worlds_and_they_look_the_same) {
    Match match(small_match());
    ASSERT_TRUE(match.begin().ok());
    ASSERT_TRUE(match.run().ok());
    const Arena &left = match.peer(0).arena(), &right = match.peer(1).arena();
    const Picture all = draw(left, right), some = draw(left, right, 100);
    EXPECT_EQ(shoal_test::XmlCheck::problem(all.svg), "");
    EXPECT_EQ(all.num_strokes, left.ships.num_rows() + right.ships.num_rows());
    EXPECT_LE(some.num_strokes, 200u);
    const auto world = [&](std::size_t number) {
        std::size_t begin = 0;
        for (std::size_t i = 0; i <= number; ++i) begin = all.svg.find("<g transform=\"scale(.1)\">", begin) + 1;
        return all.svg.substr(begin, all.svg.find("</g>", begin) - begin);
    };
    EXPECT_GT(world(0).size(), 1000u);
    EXPECT_EQ(world(0), world(1));
    std::string hash;
    shoal::append_hex(hash, state_hash(left.world));
    EXPECT_NE(all.svg.find(hash), all.svg.rfind(hash)) << "the hash stands below each";
}

// --- the network ---------------------------------------------------------------------------------------------------

TEST(DuelLink, what_is_sent_is_late_by_the_delay_and_lost_and_doubled_as_often_as_asked_for) {
    Socket from = std::move(*Socket::open()), to = std::move(*Socket::open());
    const auto next = [&](bool is_waited_for) {
        std::byte bytes[8];
        std::uint16_t port = 0;
        std::ptrdiff_t count = -1;
        do count = *to.receive(bytes, port);
        while (count < 0 && is_waited_for);
        EXPECT_TRUE(count < 0 || port == from.port());
        return count;
    };
    Link link(from, {.loss = 0, .delay = 3, .reorder = 0, .duplicate = 1}, 1);
    link.send({std::byte(1), std::byte(2)}, to.port(), 10);
    ASSERT_TRUE(link.flush(12).ok());
    EXPECT_EQ(next(false), -1);
    ASSERT_TRUE(link.flush(13).ok());
    EXPECT_EQ(next(true), 2);
    EXPECT_EQ(next(true), 2);
    ASSERT_TRUE(link.flush(14).ok());
    EXPECT_EQ(next(false), -1) << "it was sent once more";

    Link lossy(from, {.loss = 0.25, .delay = 0, .reorder = 0, .duplicate = 0}, shoal_test::seed());
    for (int i = 0; i < 4000; ++i) lossy.send({std::byte(0)}, to.port(), 0);
    EXPECT_NEAR(double(lossy.counts().num_lost), 1000, 200) << shoal_test::seed_text();
    EXPECT_EQ(lossy.counts().num_sent, 4000u);
}

TEST(DuelSnapshot, arrives_whole_through_a_network_that_loses_half_of_it) {
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    for (const std::size_t num_bytes : {std::size_t(1), kChunkBytes, kChunkBytes + 1, 900 * kChunkBytes + 77}) {
        std::vector<std::uint8_t> bytes(num_bytes);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
        SnapshotSender sender(12, bytes);
        SnapshotReceiver receiver;
        std::uint64_t now = 0;
        for (; !sender.has_arrived() && now < 5000; ++now) {
            for (const ChunkDatagram& chunk : sender.chunks(now)) {
                const bool is_taken = random.below(2) == 0 || receiver.take(chunk).ok();
                EXPECT_TRUE(is_taken);
            }
            if (random.below(2) == 0) sender.note(receiver.want());
        }
        ASSERT_TRUE(receiver.is_complete()) << "after " << now << " frames";
        EXPECT_EQ(receiver.frame(), 12u);
        ASSERT_TRUE(receiver.bytes());
        EXPECT_TRUE(std::ranges::equal(*receiver.bytes(), std::as_bytes(std::span(bytes))));
    }
}

TEST(DuelSnapshot, chunks_of_another_one_are_refused_and_a_wrong_whole_is_told) {
    const std::vector<std::uint8_t> bytes(3 * kChunkBytes, 7);
    SnapshotSender sender(12, bytes);
    std::vector<ChunkDatagram> chunks = sender.chunks(0);
    ASSERT_EQ(chunks.size(), 3u);
    EXPECT_TRUE(sender.chunks(1).empty()) << "they may be on their way";
    SnapshotReceiver receiver;
    ASSERT_TRUE(receiver.take(chunks[0]).ok());
    ChunkDatagram of_frame = chunks[1], of_hash = chunks[1], of_size = chunks[1];
    of_frame.frame = 13, of_hash.hash ^= 1, of_size.num_bytes -= 1;
    for (const ChunkDatagram& other : {of_frame, of_hash, of_size}) EXPECT_FALSE(receiver.take(other).ok());
    chunks[2].bytes[5] ^= 1;
    ASSERT_TRUE(receiver.take(chunks[1]).ok() && receiver.take(chunks[2]).ok());
    ASSERT_TRUE(receiver.is_complete());
    EXPECT_EQ(receiver.bytes().message(), "the snapshot is damaged: its hash is not the one that its sender said");
}

// --- datagrams -----------------------------------------------------------------------------------------------------

constexpr std::uint64_t kKey = 0x1234567890ABCDEF;

Datagram random_datagram(Random& random) {
    const auto number = [&] { return static_cast<std::uint32_t>(random.next()); };
    Datagram out{.side = static_cast<std::uint8_t>(random.below(2)), .body = {}};
    const std::uint32_t kind = random.below(3);
    if (kind == 0) {
        InputsDatagram body;
        body.joins_at = number(), body.first_input = number(), body.num_known_inputs = number();
        body.first_hash = number(), body.num_known_hashes = number();
        body.inputs.resize(random.below(kMaxInputs + 1));
        for (Input& input : body.inputs)
            input = {static_cast<std::int8_t>(number()), static_cast<std::int8_t>(number()),
                     static_cast<std::uint8_t>(random.below(4))};
        body.hashes.resize(random.below(kMaxHashes + 1));
        for (std::uint64_t& hash : body.hashes) hash = random.next();
        out.body = body;
    } else if (kind == 1) {
        WantDatagram body;
        body.num_chunks = random.below(60'000);
        body.first_missing = random.below(body.num_chunks + 1);
        body.mask.resize(random.below(2) * kNumMaskBytes, 0xA5);
        out.body = body;
    } else {
        ChunkDatagram body;
        body.frame = number(), body.hash = random.next();
        body.num_bytes = 1 + random.below(kMaxSnapshotBytes);
        body.index = random.below(num_chunks_of(body.num_bytes));
        body.bytes.resize(std::min(kChunkBytes, body.num_bytes - body.index * kChunkBytes), std::uint8_t(number()));
        out.body = body;
    }
    return out;
}

/// Makes the hash at the end right for what is before it.
void seal(std::vector<std::byte>& bytes) {
    const std::uint64_t hash = shoal::hash_bytes(bytes.data(), bytes.size() - 8);
    for (std::size_t i = 0; i < 8; ++i) bytes[bytes.size() - 8 + i] = static_cast<std::byte>(hash >> (8 * i));
}

TEST(DuelDatagram, what_is_written_is_read_back_and_what_is_cut_or_damaged_is_refused) {
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    for (std::int64_t round = 0; round < shoal_test::scaled_operations(400); ++round) {
        const Datagram datagram = random_datagram(random);
        std::vector<std::byte> bytes = write_datagram(datagram, kKey);
        const Result<Datagram> read = read_datagram(bytes, kKey);
        ASSERT_TRUE(read) << read.message();
        ASSERT_EQ(*read, datagram);
        EXPECT_FALSE(read_datagram(bytes, kKey + 1));
        EXPECT_FALSE(read_datagram(std::span(bytes).first(random.below(std::uint32_t(bytes.size()))), kKey));
        const std::uint32_t bit = random.below(std::uint32_t(bytes.size() * 8));
        bytes[bit / 8] ^= std::byte(1 << (bit % 8));
        EXPECT_FALSE(read_datagram(bytes, kKey)) << "bit " << bit;
    }
}

TEST(DuelDatagram, bytes_with_a_right_hash_are_refused_or_are_what_would_be_written) {
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    std::uint64_t num_read = 0, num_refused = 0;
    for (std::int64_t round = 0; round < shoal_test::scaled_operations(20'000); ++round) {
        std::vector<std::byte> bytes = write_datagram(random_datagram(random), kKey);
        // Cut or lengthened, with other numbers in its fields, but as if an honest sender had sealed it.
        bytes.resize(std::clamp<std::size_t>(bytes.size() + random.below(9) - 4, 22, kMaxDatagramBytes));
        for (std::uint32_t i = random.below(4); i > 0; --i)
            bytes[12 + random.below(std::min<std::uint32_t>(40, std::uint32_t(bytes.size()) - 20))] =
                static_cast<std::byte>(random.next());
        seal(bytes);
        const std::vector<std::byte> exact(bytes);  // without room behind it, for the address sanitizer
        const Result<Datagram> read = read_datagram(exact, kKey);
        ++(read ? num_read : num_refused);
        EXPECT_EQ(read.ok(), read.message().empty());
        if (read) {
            EXPECT_EQ(write_datagram(*read, kKey), bytes);
        }
    }
    EXPECT_GT(num_read, 0u);
    EXPECT_GT(num_refused, 0u);
}

TEST(DuelDatagram, each_rule_that_is_broken_is_told) {
    const auto message_of = [](Datagram datagram, std::size_t at, std::uint8_t value) {
        std::vector<std::byte> bytes = write_datagram(datagram, kKey);
        if (at < bytes.size()) bytes[at] = std::byte(value);
        seal(bytes);
        return std::string(read_datagram(bytes, kKey).message());
    };
    InputsDatagram inputs;
    inputs.inputs = {Input{1, 2, 3}};
    EXPECT_EQ(message_of({0, inputs}, 38, 8), "an input has buttons that there are not");
    EXPECT_EQ(message_of({0, inputs}, 34, 200), "it ends within its fields, or a list is too long");
    EXPECT_EQ(message_of({0, inputs}, 34, 0), "it ends within its fields, or a list is too long");
    EXPECT_EQ(message_of({0, inputs}, 0, 'x'), "it does not begin with `duel`");
    EXPECT_EQ(message_of({0, inputs}, 12, 3), "there is no kind 3");
    EXPECT_EQ(message_of({0, inputs}, 13, 2), "there is no side 2");
    EXPECT_EQ(message_of({0, WantDatagram{3, 3, {}}}, 18, 4), "it misses a chunk behind the last");
    EXPECT_EQ(message_of({0, WantDatagram{3, 3, {}}}, 17, 9), "it speaks of more chunks than a snapshot may have");
    EXPECT_EQ(message_of({0, ChunkDatagram{1, 5, 0, 0, {1, 2, 3, 4, 5}}}, 30, 1), "it is a chunk behind the last");
    EXPECT_EQ(message_of({0, ChunkDatagram{1, 5, 0, 0, {1, 2, 3, 4, 5}}}, 18, 6), "its chunk has another length");
    EXPECT_EQ(message_of({0, ChunkDatagram{1, 5, 0, 0, {1, 2, 3, 4, 5}}}, 21, 255), "no snapshot has that many bytes");
    EXPECT_EQ(read_datagram({}, kKey).message(), "a datagram has 22 to 1200 bytes, not 0");
}

// --- what strangers send -------------------------------------------------------------------------------------------

/// Two peers whose sockets get all that a stranger thinks of.
TEST(DuelPeer, datagrams_of_a_stranger_are_refused_and_the_match_goes_on) {
    MatchOptions options = small_match(5);
    options.arena.num_ships = 200;
    Match match(options);
    ASSERT_TRUE(match.begin().ok());
    Socket stranger = std::move(*Socket::open());
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    for (int i = 0; i < 50; ++i)
        for (const std::size_t side : {0u, 1u}) {
            Datagram datagram = random_datagram(random);
            std::vector<std::byte> bytes = write_datagram(datagram, match.peer(side).key());
            if (i % 2 == 0) bytes.resize(random.below(2000));
            ASSERT_TRUE(stranger.send(bytes, match.socket(side).port()).ok());
        }
    const Status status = match.run();
    ASSERT_TRUE(status.ok()) << status.message();
    for (const std::size_t side : {0u, 1u}) {
        EXPECT_EQ(state_hash(match.peer(side).arena().world), hash_without_network(options));
        EXPECT_GT(match.peer(side).counts().num_refused, 0u);
        EXPECT_EQ(match.peer(side).counts().refused, "it came from another port than that of the other side");
    }
}

/// The same with the key of the match, and from the right port: what cannot be true is left alone.
TEST(DuelPeer, datagrams_that_cannot_be_true_change_nothing) {
    Match match(small_match());
    ASSERT_TRUE(match.begin().ok());
    Peer& peer = match.peer(0);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(peer.tick().ok());
    const std::uint64_t progress = peer.progress(), hash = state_hash(peer.arena().world);
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    for (std::int64_t round = 0; round < shoal_test::scaled_operations(2000); ++round) {
        Datagram datagram = random_datagram(random);
        datagram.side = 1;
        if (auto* body = std::get_if<InputsDatagram>(&datagram.body)) {
            // It leaves a gap behind what is known, and knows what was never sent.
            body->first_input |= 1u << 20, body->first_hash |= 1u << 20;
            body->num_known_inputs |= 1u << 20, body->num_known_hashes |= 1u << 20;
        }
        EXPECT_TRUE(peer.take(write_datagram(datagram, peer.key())));
        datagram.side = 0;
        EXPECT_FALSE(peer.take(write_datagram(datagram, peer.key()))) << "nobody speaks to himself";
    }
    EXPECT_EQ(peer.progress(), progress);
    ASSERT_TRUE(peer.tick().ok());
    EXPECT_EQ(peer.arena().world.frame(), 6u);
    EXPECT_NE(state_hash(peer.arena().world), hash);
    EXPECT_EQ(peer.counts().num_rollbacks, 0u);
}

TEST(DuelPeer, more_inputs_and_hashes_than_the_match_has_frames_are_not_kept) {
    Match match(small_match());
    ASSERT_TRUE(match.begin().ok());
    Peer& peer = match.peer(0);
    InputsDatagram body;
    body.inputs.resize(kMaxInputs);
    body.hashes.resize(kMaxHashes);
    for (std::uint32_t i = 0; i < 8; ++i) {
        body.first_input = i * 40, body.first_hash = i * 30;
        EXPECT_TRUE(peer.take(write_datagram({1, body}, peer.key())));
    }
    // 150 inputs, hashes of frames 0 to 150; what is compared next is still frame 1, and nothing of ours is known.
    EXPECT_EQ(peer.progress(), 0u + 150 + 151 + 1 + 0 + 1);
}

TEST(DuelPeer, a_snapshot_that_is_no_world_is_refused_and_the_peer_says_so) {
    MatchOptions options = small_match();
    options.join_frame = 5;
    Match match(options);
    ASSERT_TRUE(match.begin().ok());
    Peer& peer = match.peer(1);
    SnapshotSender sender(6, std::vector<std::uint8_t>(2 * kChunkBytes, 0x5A));
    for (const ChunkDatagram& chunk : sender.chunks(0)) EXPECT_TRUE(peer.take(write_datagram({0, chunk}, peer.key())));
    const std::string message(peer.tick().message());
    EXPECT_EQ(message.find("the snapshot of the other side: "), 0u) << message;
    EXPECT_EQ(peer.arena().ships.num_rows(), 0u);
}

}  // namespace
