// Event channels: what is read, when, and in which order, for any number of workers.

#include "shoal/command/events.h"
#include "shoal/job/row_ranges.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/world.h"

#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using namespace shoal;
using shoal_test::LeakCheck;

/// A stone, which knows its row.
struct Stone {
    std::uint32_t row = 0;
};
SHOAL_COMPONENT(Stone, row)

struct Heat {
    float degrees = 0;
};
SHOAL_COMPONENT((Heat, singleton), degrees)

/// Who wrote it, and what.
struct Note {
    std::uint32_t writer = 0, row = 0, number = 0;
    friend bool operator==(const Note&, const Note&) = default;
};

using Notes = std::vector<Note>;
Notes copy_of(std::span<const Note> notes) { return {notes.begin(), notes.end()}; }

constexpr std::uint32_t kManyRows = 20'000;  // several chunks

/// A world with stones. Its passes write notes.
struct Quarry {
    explicit Quarry(Executor& executor, std::uint32_t num_rows = kManyRows) : world(entities, {.executor = &executor}) {
        std::vector<Entity> ids(num_rows);
        std::vector<Stone> values(num_rows);
        for (std::uint32_t i = 0; i < num_rows; ++i) values[i].row = i;
        EXPECT_TRUE(entities.create(ids).ok() && stones.add(ids, std::span<const Stone>(values)).ok());
    }
    auto rows() { return query<Read<&Stone::row>>(stones); }
    /// Adds a pass that writes a note for every row.
    void add_writer(std::uint32_t writer) {
        world.schedule().add("write " + std::to_string(writer), rows(), {writes(notes)},
                             [this, writer](std::uint32_t row) { notes.write({writer, row, 0}); });
    }
    void add_reader(Notes& out) {
        world.schedule().add("read " + std::to_string(world.schedule().num_passes()), {reads(notes)},
                             [this, &out](PassContext&) { out = copy_of(notes.read()); });
    }

    EntityManager entities;
    World world;
    Manager<Stone>& stones = world.manager<Stone>();
    Events<Note>& notes = world.events<Note>();
};

/// The notes of writers that write one for each row.
Notes notes_of(std::initializer_list<std::uint32_t> writers, std::uint32_t num_rows = kManyRows) {
    Notes notes;
    for (const std::uint32_t writer : writers)
        for (std::uint32_t row = 0; row < num_rows; ++row) notes.push_back({writer, row, 0});
    return notes;
}

TEST(Events, a_pass_reads_what_the_passes_before_it_wrote_in_this_frame) {
    const LeakCheck leaks;
    SerialExecutor executor;
    Quarry quarry(executor, 10);
    Notes first, second, third;
    quarry.add_reader(first);
    quarry.add_writer(1);
    quarry.add_reader(second);
    quarry.add_writer(2);
    quarry.add_reader(third);
    for (int frame = 0; frame < 3; ++frame) {
        quarry.world.step(0);
        EXPECT_EQ(first, Notes());
        EXPECT_EQ(second, notes_of({1}, 10));
        EXPECT_EQ(third, notes_of({1, 2}, 10));
    }
}

TEST(Events, events_of_a_frame_can_be_read_until_the_next_one_ends) {
    SerialExecutor executor;
    Quarry quarry(executor, 0);
    Notes last;
    quarry.world.schedule().add("early", {reads(quarry.notes)},
                                [&](PassContext&) { last = copy_of(quarry.notes.read_last()); });
    quarry.world.schedule().add("late", {writes(quarry.notes)}, [&](PassContext& context) {
        quarry.notes.write({7, std::uint32_t(context.frame), 0});
    });
    quarry.world.step(0);
    EXPECT_EQ(last, Notes());
    EXPECT_EQ(copy_of(quarry.notes.read_last()), (Notes{{7, 0, 0}})) << "after the step, it is the frame before";
    EXPECT_EQ(copy_of(quarry.notes.read()), Notes());
    quarry.world.settle();
    EXPECT_EQ(copy_of(quarry.notes.read_last()), (Notes{{7, 0, 0}})) << "settling ends no frame";
    quarry.world.step(0);
    EXPECT_EQ(last, (Notes{{7, 0, 0}}));
    EXPECT_EQ(copy_of(quarry.notes.read_last()), (Notes{{7, 1, 0}}));
}

TEST(Events, a_channel_that_was_asked_for_with_another_size_ends_with_its_users) {
    EntityManager entities;
    World world(entities);
    const auto bites = world.events().named("bites", 8);
    ASSERT_TRUE(bites.ok());
    EXPECT_EQ(world.events().named("bites", 4).status().message(),
              "the events of channel \"bites\" have 8 bytes, not 4; give one of the two another name");
    world.events().end(**bites);
    EXPECT_TRUE(world.events().named("bites", 4).ok()) << "the refusal has made no user";
}

TEST(Events, a_named_channel_ends_with_the_last_of_its_users) {
    EntityManager entities;
    World world(entities);
    detail::EventLog* const bites = *world.events().named("bites", 8);
    ASSERT_EQ(*world.events().named("bites", 8), bites);
    world.events().end(*bites);
    EXPECT_FALSE(world.events().named("bites", 4).ok()) << "one of two users still has it";
    world.events().end(*bites);
    EXPECT_TRUE(world.events().named("bites", 4).ok()) << "it has ended";
}

TEST(Events, a_channel_of_a_type_and_a_named_one_of_its_name_are_saved_apart_in_whatever_order_they_are_made) {
    EntityManager entities;
    World saved(entities), loaded(entities);
    const auto named = [](World& world) {
        return *world.events().named(detail::event_name<Note>(), sizeof(std::uint32_t));
    };
    saved.events<Note>().write({1, 2, 3});
    const std::uint32_t number = 7;
    named(saved)->append(std::as_bytes(std::span(&number, 1)));
    Snapshot state;
    SnapshotWriter to(state);
    saved.events().save(to);
    detail::EventLog* const log = named(loaded);
    Events<Note>& notes = loaded.events<Note>();
    SnapshotReader from(state);
    ASSERT_TRUE(loaded.events().load(from).ok());
    EXPECT_EQ(copy_of(notes.read()), (Notes{{1, 2, 3}}));
    ASSERT_EQ(log->read().size(), sizeof number);
    EXPECT_EQ(std::memcmp(log->read().data(), &number, sizeof number), 0);
}

TEST(Events, events_from_outside_of_passes_come_first) {
    SerialExecutor executor;
    Quarry quarry(executor, 3);
    Notes all;
    quarry.add_writer(1);
    quarry.add_reader(all);
    quarry.notes.write({9, 0, 0});
    quarry.rows().for_each([&](std::uint32_t row) { quarry.notes.write({8, row, 0}); });
    EXPECT_EQ(quarry.notes.read().size(), 4u) << "they can be read at once";
    quarry.notes.write({9, 1, 0});
    quarry.world.step(0);
    EXPECT_EQ(all, (Notes{{9, 0, 0}, {8, 0, 0}, {8, 1, 0}, {8, 2, 0}, {9, 1, 0}, {1, 0, 0}, {1, 1, 0}, {1, 2, 0}}));
}

TEST(Events, loops_outside_of_passes_write_in_the_order_of_chunks) {
    ThreadedExecutor executor(3);
    Quarry quarry(executor);
    Events<Note> notes;
    notes.write({5, 0, 0});
    quarry.rows().for_each(executor, [&](std::uint32_t row) { notes.write({1, row, 0}); });
    notes.write({5, 1, 0});
    quarry.rows().for_each(executor, [&](std::uint32_t row) { notes.write({2, row, 0}); });
    Notes expected{{5, 0, 0}};
    for (const Note& note : notes_of({1})) expected.push_back(note);
    expected.push_back({5, 1, 0});
    for (const Note& note : notes_of({2})) expected.push_back(note);
    EXPECT_EQ(copy_of(notes.read()), expected);
}

TEST(Events, the_order_is_that_of_one_thread_for_1_2_3_and_8_workers) {
    for (const std::uint32_t num_workers : {1u, 2u, 3u, 8u}) {
        SCOPED_TRACE(num_workers);
        ThreadedExecutor executor(num_workers);
        Quarry quarry(executor);
        Notes all;
        quarry.add_writer(1);
        quarry.world.schedule().add("loops", {writes(quarry.notes), reads(quarry.stones)}, [&](PassContext& context) {
            const auto write = [&](std::uint32_t writer) {
                return [&, writer](std::uint32_t row) { quarry.notes.write({writer, row, 0}); };
            };
            quarry.notes.write({100, 0, 0});
            quarry.rows().for_each(context.executor, write(2));
            quarry.notes.write({100, 1, 0});
            for_rows(context.executor, cut_rows(kManyRows, 64, 64), [&](RowRange rows, std::uint32_t) {
                for (std::uint32_t row = rows.begin; row < rows.end; ++row) write(3)(row);
            });
            quarry.rows().for_each(write(4));
        });
        quarry.add_reader(all);
        Notes expected = notes_of({1});
        const auto append = [&](const Notes& more) { expected.insert(expected.end(), more.begin(), more.end()); };
        append({{100, 0, 0}}), append(notes_of({2})), append({{100, 1, 0}}), append(notes_of({3, 4}));
        for (int frame = 0; frame < 3; ++frame) {
            quarry.world.step(0);
            EXPECT_EQ(all, expected);
        }
    }
}

TEST(Events, what_a_pass_writes_while_its_loop_runs_comes_after_the_loop) {
    ThreadedExecutor executor(2);
    Quarry quarry(executor);
    Notes all, expected{{100, 0, 0}};
    quarry.world.schedule().add("start", {writes(quarry.notes), reads(quarry.stones)}, [&](PassContext& context) {
        const auto write = [&](std::uint32_t row) { quarry.notes.write({1, row, 0}); };
        const auto rows = quarry.rows();
        quarry.notes.write({100, 0, 0});
        auto run = rows.start(context.executor, write);
        quarry.notes.write({100, 1, 0});
        run.wait();
    });
    quarry.add_reader(all);
    for (const Note& note : notes_of({1})) expected.push_back(note);
    expected.push_back({100, 1, 0});
    quarry.world.step(0);
    EXPECT_TRUE(all == expected);
}

TEST(Events, chunks_that_run_loops_keep_the_order_of_one_thread) {
    Notes expected;
    for (std::uint32_t outer = 0; outer < 40; ++outer) {
        if (outer % 3 != 1) expected.push_back({1, outer, 0});
        if (outer % 3 == 0) continue;
        for (std::uint32_t loop = 2; loop < 4; ++loop)
            for (std::uint32_t inner = 0; inner < 20; ++inner) expected.push_back({loop, outer, inner});
        expected.push_back({4, outer, 0});
    }
    SerialExecutor serial;
    ThreadedExecutor threads(3);
    for (Executor* executor : {static_cast<Executor*>(&serial), static_cast<Executor*>(&threads)}) {
        Quarry quarry(*executor, 0);
        Notes all;
        quarry.world.schedule().add("nested", {writes(quarry.notes)}, [&](PassContext& context) {
            for_rows(context.executor, cut_rows(40, 1, 1), [&](RowRange outer, std::uint32_t) {
                if (outer.begin % 3 != 1) quarry.notes.write({1, outer.begin, 0});
                if (outer.begin % 3 == 0) return;
                for (std::uint32_t loop = 2; loop < 4; ++loop)
                    for_rows(context.executor, cut_rows(20, 1, 1), [&](RowRange inner, std::uint32_t) {
                        quarry.notes.write({loop, outer.begin, inner.begin});
                    });
                quarry.notes.write({4, outer.begin, 0});
            });
        });
        quarry.add_reader(all);
        for (int frame = 0; frame < 4; ++frame) {  // from the third on, the first chunks write in place
            quarry.world.step(0);
            EXPECT_EQ(all, expected) << frame;
        }
    }
}

TEST(Events, a_pass_may_read_what_its_own_loops_have_written) {
    ThreadedExecutor executor(2);
    Quarry quarry(executor);
    std::vector<Notes> seen;
    quarry.world.schedule().add("alone", {writes(quarry.notes), reads(quarry.stones)}, [&](PassContext& context) {
        for (std::uint32_t writer = 1; writer < 3; ++writer) {
            quarry.rows().for_each(context.executor, [&](std::uint32_t row) { quarry.notes.write({writer, row, 0}); });
            seen.push_back(copy_of(quarry.notes.read()));
        }
    });
    quarry.world.step(0);
    EXPECT_EQ(seen[0], notes_of({1}));
    EXPECT_EQ(seen[1], notes_of({1, 2}));
}

TEST(Events, a_span_that_was_read_stays_when_more_is_written) {
    Events<Note> notes;
    notes.write({1, 0, 0});
    const std::span<const Note> before = notes.read();
    for (std::uint32_t i = 0; i < 100'000; ++i) notes.write({2, i, 0});
    EXPECT_EQ(notes.read().size(), 100'001u);
    EXPECT_EQ(copy_of(before), (Notes{{1, 0, 0}}));
    notes.end_frame();
    EXPECT_EQ(copy_of(before), (Notes{{1, 0, 0}})) << "until the end of the next frame";
    EXPECT_EQ(notes.read_last().size(), 100'001u);
    notes.end_frame();
    EXPECT_TRUE(notes.read_last().empty());
}

TEST(Events, channels_belong_to_a_world_and_a_type) {
    EntityManager entities;
    World sea(entities), land(entities);
    EXPECT_EQ(&sea.events<Note>(), &sea.events<Note>());
    EXPECT_NE(&sea.events<Note>(), &land.events<Note>());
    EXPECT_NE(static_cast<void*>(&sea.events<Note>()), static_cast<void*>(&sea.events<int>()));
    sea.events<Note>().write({1, 2, 3});
    EXPECT_TRUE(land.events<Note>().read().empty());
    EXPECT_EQ(sea.events<Note>().read().size(), 1u);
}

TEST(Events, a_function_writes_to_many_channels_in_turn) {
    constexpr std::uint32_t kNumChannels = 11;  // more than have a cursor
    ThreadedExecutor executor(2);
    Quarry quarry(executor);
    Events<std::uint32_t> channels[kNumChannels];
    quarry.world.schedule().add("scatter", [&](PassContext& context) {
        quarry.rows().for_each(context.executor,
                               [&](std::uint32_t row) { channels[row * 7 % kNumChannels].write(row); });
    });
    quarry.world.step(0);
    std::vector<std::uint32_t> expected[kNumChannels];
    for (std::uint32_t row = 0; row < kManyRows; ++row) expected[row * 7 % kNumChannels].push_back(row);
    for (std::uint32_t i = 0; i < kNumChannels; ++i)
        EXPECT_TRUE(std::ranges::equal(channels[i].read(), expected[i])) << i;
}

TEST(Events, spans_and_single_events_are_appended_alike) {
    ThreadedExecutor executor(2);
    Quarry quarry(executor);
    Notes all, expected;
    const auto notes_of_row = [](std::uint32_t row) {
        Notes notes(row % 100 == 0 ? 3000 : row % 4);
        for (std::uint32_t i = 0; i < notes.size(); ++i) notes[i] = {1, row, i};
        return notes;
    };
    quarry.world.schedule().add("spans", quarry.rows(), {writes(quarry.notes)}, [&](std::uint32_t row) {
        quarry.notes.write(notes_of_row(row));
        quarry.notes.write({2, row, 0});
    });
    quarry.add_reader(all);
    quarry.world.step(0);
    for (std::uint32_t row = 0; row < kManyRows; ++row) {
        for (const Note& note : notes_of_row(row)) expected.push_back(note);
        expected.push_back({2, row, 0});
    }
    EXPECT_TRUE(all == expected);
}

TEST(Events, the_function_of_a_loop_on_one_thread_reads_a_large_last_frame_while_it_writes) {
    ThreadedExecutor executor(2);
    Quarry quarry(executor);
    std::uint32_t frame = 0;
    std::size_t num_read = 0;
    quarry.world.schedule().add("write", {writes(quarry.notes), reads(quarry.stones)}, [&](PassContext& context) {
        const auto rows = quarry.rows();
        for (std::uint32_t i = 0; i < 4 && frame == 6; ++i)  // more than usual, from many chunks
            rows.grain(64).for_each(context.executor, [&](std::uint32_t row) { quarry.notes.write({2, row, i}); });
        if (frame < 7) static_cast<void>(quarry.notes.read_last());  // so that there is a usual size
        rows.for_each([&](std::uint32_t row) {
            quarry.notes.write({1, row, 0});
            if (frame == 7 && row == 50) num_read = quarry.notes.read_last().size();
        });
    });
    for (; frame < 8; ++frame) quarry.world.step(0);
    EXPECT_EQ(num_read, 5 * kManyRows);
    EXPECT_EQ(copy_of(quarry.notes.read_last()), notes_of({1}));
}

/// The notes of a pass that writes one for every row, and in every hundredth ten more as a span.
Notes notes_with_spans(std::uint32_t writer) {
    Notes notes;
    for (std::uint32_t row = 0; row < kManyRows; ++row) {
        notes.push_back({writer, row, 0});
        for (std::uint32_t i = 1; i <= 10 && row % 100 == 0; ++i) notes.push_back({writer, row, i});
    }
    return notes;
}
void write_with_spans(EventWriter<Note>& to, std::uint32_t writer, std::uint32_t row) {
    to.write({writer, row, 0});
    Note ten[10];
    for (std::uint32_t i = 0; i < 10; ++i) ten[i] = {writer, row, i + 1};
    if (row % 100 == 0) to.write(ten);
}

TEST(Events, a_writer_writes_what_the_channel_itself_would_in_the_same_order) {
    for (const std::uint32_t num_workers : {1u, 3u}) {
        SCOPED_TRACE(num_workers);
        const LeakCheck leaks;
        ThreadedExecutor executor(num_workers);
        Quarry quarry(executor);
        Events<std::uint32_t>& hundreds = quarry.world.events<std::uint32_t>();
        const auto rows = quarry.rows();
        Notes all, expected;
        quarry.world.schedule().add("rows", rows.writing(quarry.notes, hundreds),
                                    [](const PassContext&, EventWriter<Note>& to, EventWriter<std::uint32_t>& hundred,
                                       Entity, std::uint32_t row) {
                                        write_with_spans(to, 1, row);
                                        if (row % 100 == 0) hundred.write(row);
                                    });
        quarry.world.schedule().add("batches", {writes(quarry.notes)}, [&](PassContext& context) {
            rows.writing(quarry.notes).for_each_batch(context.executor, [](EventWriter<Note>& to, auto&& batch) {
                for (const std::uint32_t row : batch.template column<&Stone::row>()) write_with_spans(to, 2, row);
            });
            rows.writing(quarry.notes).for_each([](auto& to, std::uint32_t row) { write_with_spans(to, 3, row); });
            EventWriter<Note> to(quarry.notes);
            for (std::uint32_t row = 0; row < kManyRows; ++row) write_with_spans(to, 4, row);
        });
        quarry.add_writer(5);
        quarry.add_reader(all);
        for (const std::uint32_t writer : {1u, 2u, 3u, 4u})
            for (const Note& note : notes_with_spans(writer)) expected.push_back(note);
        for (const Note& note : notes_of({5})) expected.push_back(note);
        for (int frame = 0; frame < 3; ++frame) {
            quarry.world.step(0);
            ASSERT_TRUE(all == expected) << frame;
            ASSERT_EQ(hundreds.read_last().size(), kManyRows / 100);
            EXPECT_EQ(hundreds.read_last()[7], 700u);
        }
    }
}

TEST(Events, a_writer_goes_along_with_commands_and_singletons) {
    EntityManager entities;
    World world(entities);
    Entity ids[300];
    ASSERT_TRUE((world.database().create<Stone>(ids, world.database().first_zone()).ok()));
    world.singleton<Heat>().degrees = 30;
    Events<Note>& notes = world.events<Note>();
    const auto heated = world.query<Read<&Stone::row>, Singleton<Read<&Heat::degrees>>>();
    world.schedule().add("melt", heated.writing(notes),
                         [](EventWriter<Note>& to, Commands& commands, Entity stone, std::uint32_t, float degrees) {
                             to.write({stone.index(), std::uint32_t(degrees), 0});
                             if (stone.index() % 2 == 0) commands.destroy(stone);
                         });
    world.step(0);
    ASSERT_EQ(notes.read_last().size(), 300u);
    EXPECT_EQ(notes.read_last()[299], (Note{ids[299].index(), 30, 0}));
    EXPECT_EQ(world.database().num_rows(), 150u);
}

TEST(Events, chunks_of_a_frame_do_not_continue_those_of_the_frame_before) {
    constexpr std::uint32_t kRows = 64;
    for (std::uint32_t num_frames = 4; num_frames < 8; ++num_frames) {
        SerialExecutor executor;
        Quarry quarry(executor, kRows * 8);
        std::uint32_t frame = 0;
        quarry.world.schedule().add("write", quarry.rows().grain(kRows), {writes(quarry.notes)},
                                    [&](std::uint32_t row) {
                                        if (row / kRows == frame) quarry.notes.write({1, row, frame});
                                    });
        Notes expected;
        for (; frame < num_frames; ++frame) {
            quarry.notes.write({9, 0, frame});
            quarry.world.step(0);
            if (frame < 3) static_cast<void>(quarry.notes.read_last());  // so that there is a usual size
        }
        expected.push_back({9, 0, num_frames - 1});
        for (std::uint32_t i = 0; i < kRows; ++i) expected.push_back({1, (num_frames - 1) * kRows + i, num_frames - 1});
        EXPECT_EQ(copy_of(quarry.notes.read_last()), expected) << num_frames;
    }
}

TEST(Events, a_query_that_writes_events_declares_it) {
    SerialExecutor executor;
    Quarry quarry(executor, 1);
    const auto accesses = quarry.rows().writing(quarry.notes).accesses();
    ASSERT_EQ(accesses.size(), 2u);
    EXPECT_TRUE(conflict(accesses[1], reads(quarry.notes)));
    EXPECT_FALSE(conflict(accesses[0], reads(quarry.notes)));
}

TEST(Events, a_writer_outside_of_passes_writes_too) {
    Events<Note> notes;
    {
        EventWriter<Note> to(notes);
        for (std::uint32_t i = 0; i < 5000; ++i) to.write({1, i, 0});
    }
    notes.write({2, 0, 0});
    Notes expected = notes_of({1}, 5000);
    expected.push_back({2, 0, 0});
    EXPECT_EQ(copy_of(notes.read()), expected);
}

TEST(Events, a_loop_of_one_worker_writes_to_the_array_that_is_read) {
    SerialExecutor executor;
    Quarry quarry(executor);
    Notes all;
    all.reserve(kManyRows);
    quarry.add_writer(1);
    quarry.add_reader(all);
    const std::size_t before = bookkeeping_bytes();
    for (int frame = 0; frame < 200; ++frame) quarry.world.step(0);
    EXPECT_EQ(all, notes_of({1}));
    EXPECT_LT(bookkeeping_bytes() - before, kManyRows * sizeof(Note) * 5 / 2)
        << "the arrays of two frames, but no lists of chunks";
}

TEST(Events, what_is_written_when_the_usual_room_is_full_stays_behind_the_rest) {
    for (const std::uint32_t read_every : {1u, 3u}) {  // of the others, the next frame is the first to read them
        SCOPED_TRACE(read_every);
        SerialExecutor executor;
        Quarry quarry(executor, 0);
        std::uint32_t num_first = 0;
        quarry.world.schedule().add("write", {writes(quarry.notes)}, [&](PassContext&) {
            for (std::uint32_t i = 0; i < num_first; ++i) quarry.notes.write({1, i, 0});
            static_cast<void>(quarry.notes.read_last());  // may end the list of the pass
            for (std::uint32_t i = 0; i < 50; ++i) quarry.notes.write({2, i, 0});
        });
        for (std::uint32_t frame = 0; frame < 24; ++frame, num_first += num_first / 2) {
            if (frame % 12 == 0) num_first = 100;
            quarry.world.step(0);
            Notes expected = notes_of({1}, num_first);
            for (const Note& note : notes_of({2}, 50)) expected.push_back(note);
            if (frame % read_every == 0) {
                EXPECT_EQ(copy_of(quarry.notes.read_last()), expected) << frame;
            }
        }
    }
}

struct Large {
    std::uint64_t values[5000];
};
struct Empty {};

TEST(Events, events_of_any_size_come_back) {
    Events<Large> large;
    Events<Empty> empty;
    Events<std::uint8_t> bytes;
    std::vector<std::uint8_t> many(100'001);
    std::iota(many.begin(), many.end(), std::uint8_t(0));
    bytes.write(many);
    for (std::uint64_t i = 0; i < 10; ++i) large.write({{i, i + 1}}), empty.write(Empty());
    for (std::uint64_t i = 0; i < 10; ++i) {
        EXPECT_EQ(large.read()[i].values[0], i);
        EXPECT_EQ(large.read()[i].values[4999], 0u);
    }
    EXPECT_EQ(empty.read().size(), 10u);
    EXPECT_TRUE(std::ranges::equal(bytes.read(), many));
}

TEST(Events, frames_that_are_alike_allocate_nothing_and_quiet_ones_release_the_memory) {
    const LeakCheck leaks;
    SerialExecutor executor;
    Quarry quarry(executor);
    Notes all;
    all.reserve(2 * kManyRows);
    quarry.add_writer(1);
    quarry.add_reader(all);
    const std::size_t before = bookkeeping_bytes();
    for (int frame = 0; frame < 4; ++frame) quarry.world.step(0);
    const std::size_t held = bookkeeping_bytes();
    EXPECT_GT(held, before + kManyRows * sizeof(Note));
    static std::size_t num_allocated;
    num_allocated = 0;
    const MemoryHooks hooks =
        set_memory_hooks({[](void*, std::size_t bytes, const char* owner) {
                              num_allocated += std::string_view(owner) == "events";
                              return std::malloc(bytes);
                          },
                          [](void*, void* memory, std::size_t, const char*) { std::free(memory); }, nullptr});
    for (int frame = 0; frame < 10; ++frame) quarry.world.step(0);
    EXPECT_EQ(num_allocated, 0u);
    ASSERT_TRUE(quarry.world.schedule().remove("write 1").ok());
    for (int frame = 0; frame < 200; ++frame) quarry.world.step(0);
    set_memory_hooks(hooks);
    EXPECT_LT(bookkeeping_bytes(), before + 16'384);
}

// --- misuse ------------------------------------------------------------------------------------------------------

using EventsDeathTest = testing::Test;

TEST(EventsDeathTest, a_function_of_a_loop_that_reads_what_its_pass_writes_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const std::uint32_t num_rows : {2u, kManyRows}) {
        SerialExecutor executor;
        Quarry quarry(executor, num_rows);
        quarry.world.schedule().add("echo", quarry.rows(), {writes(quarry.notes)}, [&](std::uint32_t row) {
            if (quarry.notes.read().size() < 10) quarry.notes.write({1, row, 0});
        });
        EXPECT_DEATH(quarry.world.step(0), "a function of a loop read events that its own pass writes");
    }
}

TEST(EventsDeathTest, reading_while_a_loop_writes_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run = [] {
        ThreadedExecutor executor(2);
        Quarry quarry(executor);
        std::atomic<bool> has_written{false}, has_read{false};
        quarry.world.schedule().add("both", {writes(quarry.notes), reads(quarry.stones)}, [&](PassContext& context) {
            const auto write = [&](std::uint32_t row) {
                quarry.notes.write({1, row, 0});
                has_written = true;
                while (!has_read) std::this_thread::yield();
            };
            const auto rows = quarry.rows();
            const auto run = rows.start(context.executor, write);
            while (!has_written) std::this_thread::yield();
            static_cast<void>(quarry.notes.read());
        });
        quarry.world.step(0);
    };
    EXPECT_DEATH(run(), "events were read while another thread writes them");
}

TEST(EventsDeathTest, a_thread_that_runs_no_chunk_may_not_write_while_passes_run) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    SerialExecutor executor;
    Quarry quarry(executor, 0);
    quarry.world.schedule().add("stray", [&](PassContext&) {
        std::thread stray([&] { quarry.notes.write({1, 0, 0}); });
        stray.join();
    });
    EXPECT_DEATH(quarry.world.step(0), "a thread that runs neither a pass nor a chunk of one wrote events");
}

TEST(EventsDeathTest, a_pass_neither_makes_a_channel_of_its_world_nor_ends_a_frame) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    SerialExecutor executor;
    Quarry quarry(executor, 0);
    Events<Note> own;
    const auto in_a_pass = [&](auto function) {
        quarry.world.schedule().add("meddle", [&](PassContext&) { function(); });
        quarry.world.step(0);
    };
    EXPECT_DEATH(in_a_pass([&] { quarry.world.events<float>(); }), "a pass made an event channel of the world");
    EXPECT_DEATH(in_a_pass([&] { quarry.notes.end_frame(); }), "a frame of events was ended while passes run");
    EXPECT_DEATH(in_a_pass([&] { own.write(Note()), own.end_frame(); }),
                 "a frame of events was ended while passes run");
}

TEST(EventsDeathTest, writing_beside_a_writer_and_starting_a_loop_while_it_lives_end_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    SerialExecutor executor;
    Quarry quarry(executor);
    const auto in_a_pass = [&](auto function) {
        quarry.world.schedule().add("meddle", [&](PassContext& context) {
            EventWriter<Note> to(quarry.notes);
            to.write({1, 0, 0});
            function(context);
        });
        quarry.world.step(0);
    };
    EXPECT_DEATH(in_a_pass([&](PassContext&) { quarry.notes.write({2, 0, 0}); }),
                 "events were written beside an EventWriter of the same channel and thread");
    EXPECT_DEATH(in_a_pass([&](PassContext&) { EventWriter<Note>(quarry.notes).write({2, 0, 0}); }),
                 "events were written beside an EventWriter of the same channel and thread");
    EXPECT_DEATH(
        in_a_pass([&](PassContext& context) { quarry.rows().for_each(context.executor, [](std::uint32_t) {}); }),
        "an EventWriter lives while its pass starts a loop, reads or ends");
    EXPECT_DEATH(in_a_pass([&](PassContext&) { static_cast<void>(quarry.notes.read()); }),
                 "an EventWriter lives while its pass starts a loop, reads or ends");
}

#if SHOAL_CHECKED
TEST(EventsDeathTest, an_undeclared_write_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ThreadedExecutor executor(2);
    Quarry quarry(executor);
    quarry.world.schedule().add("sneaky", quarry.rows(), {reads(quarry.notes)},
                                [&](std::uint32_t row) { quarry.notes.write({1, row, 0}); });
    EXPECT_DEATH(quarry.world.step(0), "\"sneaky\" wrote events without having declared it; add writes");
}
#endif

// --- a model -----------------------------------------------------------------------------------------------------

constexpr std::uint32_t kNumChannels = 6, kNumPasses = 7, kNumRows = 5000;

/// What a pass does: a list of steps that depends on the seed, the frame and the pass only.
enum class Step : std::uint8_t { kWrite, kQuery, kWriter, kRows, kNested, kRead, kReadLast };
struct Plan {
    Step step;
    std::uint32_t channel, number;
};
/// Passes declare that they write two channels and read a third.
std::uint32_t read_channel(std::uint32_t pass) { return (pass + 3) % kNumChannels; }

std::vector<Plan> plan_of(std::uint32_t frame, std::uint32_t pass) {
    Random random(shoal_test::seed() + frame * 1000 + pass);
    random.next();
    std::vector<Plan> plans(random.below(6));
    for (Plan& plan : plans) {
        plan = {Step(random.below(7)), random.below(2) == 0 ? pass % kNumChannels : (pass * 5 + 2) % kNumChannels,
                random.below(1u << 20)};
        if (plan.step >= Step::kRead && random.below(2) == 0) plan.channel = read_channel(pass);
    }
    return plans;
}

/// Calls write(channel, note) for what a row of a loop writes: mostly nothing or one note, rarely a hundred.
template <class Write>
void write_row(std::uint32_t pass, const Plan& plan, std::uint32_t row, Write&& write) {
    Random random(plan.number * 7919u + row);
    const std::uint32_t roll = random.below(1000);
    const std::uint32_t num_notes = roll < 3 ? 100 : roll < 500 ? 1 : 0;
    for (std::uint32_t i = 0; i < num_notes; ++i) {
        const bool other = random.below(3) == 0;
        write(other ? pass % kNumChannels : plan.channel, Note{pass, row, plan.number + i});
    }
}

/// Whether a pass reads its channel before the loop of kNested, whose first chunks may go on in the same array then.
bool reads_before(const Plan& plan) { return plan.number % 2 == 0; }
/// What one of the 8 chunks of that loop does: it may write, run a loop, and write again.
bool writes_before(const Plan& plan, std::uint32_t chunk) { return (plan.number * 7919 >> (1 + chunk)) % 2 == 0; }
bool runs_loop(const Plan& plan, std::uint32_t chunk) { return (plan.number * 7919 >> (9 + chunk)) % 2 == 0; }
bool writes_after(const Plan& plan, std::uint32_t chunk) { return (plan.number * 7919 >> (17 + chunk)) % 2 == 0; }

/// The channels as arrays, written by one thread in the order of passes.
struct Model {
    Notes now[kNumChannels], last[kNumChannels];

    void run(std::uint32_t pass, const Plan& plan, std::vector<Notes>& read) {
        const auto write = [&](std::uint32_t channel, const Note& note) { now[channel].push_back(note); };
        const auto write_rows = [&](std::uint32_t num_rows, std::uint32_t first) {
            for (std::uint32_t row = 0; row < num_rows; ++row) write_row(pass, plan, first + row, write);
        };
        if (plan.step == Step::kWrite) write(plan.channel, {pass, 0, plan.number});
        if (plan.step == Step::kQuery || plan.step == Step::kWriter || plan.step == Step::kRows)
            write_rows(kNumRows, 0);
        if (plan.step == Step::kNested && reads_before(plan)) read.push_back(now[plan.channel]);
        for (std::uint32_t outer = 0; outer < 8 && plan.step == Step::kNested; ++outer) {
            if (writes_before(plan, outer)) write(plan.channel, {pass, outer, plan.number});
            if (runs_loop(plan, outer)) write_rows(300, outer * 1000);
            if (writes_after(plan, outer)) write(plan.channel, {pass, outer, plan.number + 1});
        }
        if (plan.step == Step::kRead) read.push_back(now[plan.channel]);
        if (plan.step == Step::kReadLast) read.push_back(last[plan.channel]);
    }
    void end_frame() {
        for (std::uint32_t i = 0; i < kNumChannels; ++i) last[i] = std::move(now[i]), now[i].clear();
    }
};

/// The same with channels and workers.
struct Channels {
    Events<Note> channels[kNumChannels];

    void run(Quarry& quarry, PassContext& context, std::uint32_t pass, const Plan& plan, std::vector<Notes>& read) {
        const auto write = [&](std::uint32_t channel, const Note& note) { channels[channel].write(note); };
        const auto write_rows = [&](RowRange rows, std::uint32_t first) {
            for (std::uint32_t row = rows.begin; row < rows.end; ++row) write_row(pass, plan, first + row, write);
        };
        if (plan.step == Step::kWrite) write(plan.channel, {pass, 0, plan.number});
        if (plan.step == Step::kQuery)
            quarry.rows().grain(plan.number % 9000 + 1).for_each(context.executor, [&](std::uint32_t row) {
                write_row(pass, plan, row, write);
            });
        if (plan.step == Step::kWriter)
            quarry.rows()
                .grain(plan.number % 9000 + 1)
                .writing(channels[plan.channel])
                .for_each(context.executor, [&](EventWriter<Note>& to, std::uint32_t row) {
                    write_row(pass, plan, row, [&](std::uint32_t channel, const Note& note) {
                        channel == plan.channel ? to.write(note) : channels[channel].write(note);
                    });
                });
        if (plan.step == Step::kRows)
            for_rows(context.executor, cut_rows(kNumRows, 64, 200),
                     [&](RowRange rows, std::uint32_t) { write_rows(rows, 0); });
        if (plan.step == Step::kNested && reads_before(plan)) read.push_back(copy_of(channels[plan.channel].read()));
        if (plan.step == Step::kNested)
            for_rows(context.executor, cut_rows(8, 1, 1), [&](RowRange outer, std::uint32_t) {
                if (writes_before(plan, outer.begin)) write(plan.channel, {pass, outer.begin, plan.number});
                if (runs_loop(plan, outer.begin))
                    for_rows(context.executor, cut_rows(300, 1, 100),
                             [&](RowRange rows, std::uint32_t) { write_rows(rows, outer.begin * 1000); });
                if (writes_after(plan, outer.begin)) write(plan.channel, {pass, outer.begin, plan.number + 1});
            });
        if (plan.step == Step::kRead) read.push_back(copy_of(channels[plan.channel].read()));
        if (plan.step == Step::kReadLast) read.push_back(copy_of(channels[plan.channel].read_last()));
    }
};

void agree_with_arrays(Executor& executor, std::uint32_t num_frames) {
    Quarry quarry(executor, kNumRows);
    Channels real;
    Model model;
    std::vector<Notes> read[kNumPasses];
    for (std::uint32_t pass = 0; pass < kNumPasses; ++pass) {
        const Access first = writes(real.channels[pass % kNumChannels]);
        const Access second = writes(real.channels[(pass * 5 + 2) % kNumChannels]);
        quarry.world.schedule().add(std::to_string(pass),
                                    {first, second, reads(real.channels[read_channel(pass)]), reads(quarry.stones)},
                                    [&, pass](PassContext& context) {
                                        read[pass].clear();
                                        for (const Plan& plan : plan_of(std::uint32_t(context.frame), pass))
                                            real.run(quarry, context, pass, plan, read[pass]);
                                    });
    }
    for (std::uint32_t frame = 0; frame < num_frames; ++frame) {
        SCOPED_TRACE(frame);
        Random outside(shoal_test::seed() + frame);
        for (std::uint32_t i = outside.below(10); i > 0; --i) {
            const std::uint32_t channel = outside.below(kNumChannels);
            real.channels[channel].write({99, frame, i});
            model.now[channel].push_back({99, frame, i});
        }
        quarry.world.step(0);
        for (std::uint32_t pass = 0; pass < kNumPasses; ++pass) {
            std::vector<Notes> expected;
            for (const Plan& plan : plan_of(frame, pass)) model.run(pass, plan, expected);
            ASSERT_EQ(read[pass], expected) << "pass " << pass;
        }
        for (Events<Note>& channel : real.channels) channel.end_frame();
        model.end_frame();
        for (std::uint32_t i = 0; i < kNumChannels && frame % 3 == 0; ++i)
            ASSERT_EQ(copy_of(real.channels[i].read_last()), model.last[i]) << "channel " << i;
    }
}

TEST(Events, random_passes_agree_with_arrays_for_1_2_3_and_8_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    const LeakCheck leaks;
    const auto num_frames = std::uint32_t(shoal_test::scaled_operations(200));
    for (const std::uint32_t num_workers : {1u, 2u, 3u, 8u}) {
        SCOPED_TRACE(num_workers);
        ThreadedExecutor threads(num_workers);
        agree_with_arrays(threads, num_frames);
    }
    shoal_test::ThreadPoolExecutor other(3);
    agree_with_arrays(other, num_frames / 4);
    SerialExecutor serial;
    agree_with_arrays(serial, num_frames / 4);
}

}  // namespace
