// The log of states: what is read is what was written, whatever has changed, and as much of a file as is whole is read.

#include "save/state_log.h"

#include "shoal/base/file.h"
#include "shoal/base/random.h"

#include "support/testing.h"

#include <sys/resource.h>
#include <zstd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

namespace state_log_test {

using namespace shoal;
using namespace shoal_test;

struct NaivePart {
    std::uint32_t element_bytes = 1;
    bool is_column = false;
    std::vector<std::byte> bytes;
    friend bool operator==(const NaivePart& a, const NaivePart& b) {
        return a.element_bytes == b.element_bytes && a.bytes == b.bytes;
    }
};
using Naive = std::map<std::string, NaivePart>;

/// No block of a column has a stamp that says that it is the same, so equal ones are found by their bytes.
SnapshotMarks always_new(const void*, std::uint32_t, std::uint32_t, std::uint64_t) {
    SnapshotMarks marks;
    marks.add_all();
    return marks;
}

/// Marks the elements that differ from those of an earlier state.
struct Marker {
    const NaivePart &now, &then;
    static SnapshotMarks differing(const void* context, std::uint32_t, std::uint32_t block, std::uint64_t) {
        const auto& [now, then] = *static_cast<const Marker*>(context);
        SnapshotMarks marks;
        const std::size_t bytes = std::size_t(now.element_bytes) * kElementsPerSnapshotMark;
        for (std::size_t mark = 0; mark < SnapshotMarks::kCount; ++mark) {
            const std::size_t begin = (block * SnapshotMarks::kCount + mark) * bytes;
            for (std::size_t i = begin; i < begin + bytes && i < now.bytes.size(); ++i)
                if (i >= then.bytes.size() || now.bytes[i] != then.bytes[i]) set_bit(marks.words, mark, true);
        }
        return marks;
    }
};

/// `naive_before`: what `before` has, by which columns are marked as those of tables are.
Snapshot state_of(const Naive& parts, const Snapshot* before, const Naive* naive_before = nullptr) {
    Snapshot state;
    SnapshotWriter to(state, before);
    for (const auto& [path, part] : parts) {
        const std::uint64_t count = part.bytes.size() / part.element_bytes;
        const bool is_known = naive_before != nullptr && naive_before->count(path) != 0;
        const Marker marker{part, is_known ? naive_before->at(path) : part};
        if (part.is_column && is_known)
            to.column(path, part.bytes.data(), part.element_bytes, count, {Marker::differing, &marker}, 1);
        else if (part.is_column)
            to.column(path, part.bytes.data(), part.element_bytes, count, {always_new}, 1);
        else
            to.elements(path, part.bytes.data(), part.element_bytes, count);
    }
    return state;
}

Naive naive_of(const Snapshot& state) {
    Naive parts;
    for (std::size_t i = 0; i < state.num_parts(); ++i) {
        const SnapshotPart part = state.part(i);
        NaivePart& to = parts[std::string(part.path)];
        to.element_bytes = part.element_bytes;
        to.bytes.resize(static_cast<std::size_t>(part.num_bytes()));
        state.copy(part, 0, part.num_elements, to.bytes.data());
    }
    return parts;
}

void change(Naive& parts, Random& random) {
    const std::string path = "part/" + std::to_string(random.below(6));
    NaivePart& part = parts[path];
    const std::uint32_t dice = random.below(8);
    if (dice == 0) {
        parts.erase(path);
    } else if (dice == 1 || part.bytes.empty()) {
        part.element_bytes = 1 + random.below(12);
        part.is_column = random.below(2) == 0;
        part.bytes.assign(part.element_bytes * random.below(5000), std::byte(random.below(256)));
    } else if (dice == 2) {
        part.bytes.resize(part.element_bytes * random.below(5000), std::byte(random.below(3)));
    } else {
        for (std::uint32_t i = 0; i < dice; ++i)
            part.bytes[random.below(std::uint32_t(part.bytes.size()))] = std::byte(random.below(256));
    }
}

std::string temporary_path(const std::string& name) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("shoal_state_log_test_" + std::to_string(getpid()) + name)).string();
    std::filesystem::remove(path);
    return path;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// A log of states that differ at random, and what a naive copy of each has.
struct Logged {
    Logged(const std::string& name, std::uint64_t seed, int num_states, std::uint64_t base = 0,
           const Naive* first = nullptr) {
        const std::string path = temporary_path(name);
        Result<StateLogWriter> log = StateLogWriter::create(path, base);
        EXPECT_TRUE(log.ok()) << log.message();
        Random random(seed);
        Snapshot state;
        if (first != nullptr) state = state_of(*first, nullptr);
        Naive parts = first == nullptr ? Naive() : *first;
        for (int i = 0; i < num_states; ++i) {
            for (std::uint32_t k = random.below(4); k-- > 0;) change(parts, random);
            Snapshot now = state_of(parts, &state, states.empty() ? first : &states.back());
            const std::string extra = "extra " + std::to_string(i);
            const Status status = log->append(now, i == 0 && first == nullptr ? nullptr : &state,
                                              100 + std::uint64_t(i), bytes_of(extra));
            EXPECT_TRUE(status.ok()) << status.message();
            ends.push_back(log->num_bytes());
            states.push_back(parts);
            state = std::move(now);
        }
        EXPECT_TRUE(log->flush().ok());
        text = *read_file(path);
        std::filesystem::remove(path);
    }
    std::vector<Naive> states;
    std::vector<std::uint64_t> ends;
    std::string text;
};

TEST(StateLog, what_is_read_is_what_a_naive_copy_has_in_every_frame) {
    SCOPED_TRACE(seed_text());
    const LeakCheck leaks;
    for (std::uint64_t round = 0; round < 4; ++round) {
        const Logged logged("random", seed() + round, 60);
        Result<StateLogReader> log = StateLogReader::open(bytes_of(logged.text));
        ASSERT_TRUE(log.ok()) << log.message();
        Snapshot before;
        for (std::size_t i = 0; i < logged.states.size(); ++i) {
            ASSERT_TRUE(log->next()) << log->problem().message();
            Snapshot state = log->state(&before);
            ASSERT_EQ(naive_of(state), logged.states[i]) << "record " << i;
            EXPECT_EQ(log->frame(), 100 + i);
            const std::string extra = "extra " + std::to_string(i);
            EXPECT_EQ(std::string(reinterpret_cast<const char*>(log->extra().data()), log->extra().size()), extra);
            before = std::move(state);
        }
        EXPECT_FALSE(log->next());
        EXPECT_TRUE(log->is_at_end());
        EXPECT_TRUE(log->problem().ok());
    }
}

/// Writes states to a log, each beside the one before, and reads them.
void expect_read_as_written(const std::string& name, const std::vector<Naive>& states) {
    const std::string path = temporary_path(name);
    Result<StateLogWriter> writer = StateLogWriter::create(path);
    ASSERT_TRUE(writer.ok()) << writer.message();
    Snapshot before;
    for (std::size_t i = 0; i < states.size(); ++i) {
        Snapshot now = state_of(states[i], &before, i == 0 ? nullptr : &states[i - 1]);
        ASSERT_TRUE(writer->append(now, i == 0 ? nullptr : &before, i).ok());
        before = std::move(now);
    }
    const std::string text = *read_file(path);
    std::filesystem::remove(path);
    Result<StateLogReader> log = StateLogReader::open(bytes_of(text));
    ASSERT_TRUE(log.ok()) << log.message();
    for (std::size_t i = 0; i < states.size(); ++i) {
        ASSERT_TRUE(log->next()) << log->problem().message();
        EXPECT_EQ(naive_of(log->state()), states[i]) << "record " << i;
    }
}

TEST(StateLog, a_part_that_was_longer_once_has_what_it_has_now) {
    std::vector<Naive> states(3);
    states[0]["part"] = {1, false, std::vector<std::byte>(3000, std::byte(7))};
    states[1]["part"] = {1, false, std::vector<std::byte>(10, std::byte(7))};
    states[2]["part"] = {1, false, std::vector<std::byte>(3000, std::byte(5))};
    expect_read_as_written("longer", states);
}

TEST(StateLog, the_few_bytes_between_marked_elements_stay_what_they_were) {
    std::vector<Naive> states(2);
    states[0]["part"] = {1, true, std::vector<std::byte>(2 * kElementsPerSnapshotBlock, std::byte(7))};
    states[1] = states[0];
    std::vector<std::byte>& bytes = states[1]["part"].bytes;
    std::fill_n(bytes.begin(), 4 * kElementsPerSnapshotMark,
                std::byte(5));  // of which those in the next block have the places
    for (const std::uint32_t mark : {0u, 2u})
        std::fill_n(bytes.begin() + kElementsPerSnapshotBlock + mark * kElementsPerSnapshotMark,
                    kElementsPerSnapshotMark, std::byte(9));
    expect_read_as_written("between", states);
}

TEST(StateLog, a_log_goes_on_from_the_state_that_it_is_told_and_from_no_other) {
    Naive first;
    first["part/0"] = {4, true, std::vector<std::byte>(9000, std::byte(7))};
    first["kept"] = {1, false, std::vector<std::byte>(33, std::byte(1))};
    const Logged logged("base", 5, 10, 77, &first);
    const Snapshot base = state_of(first, nullptr);
    Result<StateLogReader> log = StateLogReader::open(bytes_of(logged.text), 77, &base);
    ASSERT_TRUE(log.ok()) << log.message();
    while (log->next()) EXPECT_EQ(naive_of(log->state()), logged.states[log->num_records() - 1]);
    EXPECT_EQ(log->num_records(), 10u);
    EXPECT_EQ(StateLogReader::open(bytes_of(logged.text), 78, &base).message(),
              "the log does not begin with this state");
}

TEST(StateLog, records_of_another_log_and_from_another_place_are_not_taken) {
    Naive first;
    first["kept"] = {1, false, std::vector<std::byte>(33, std::byte(1))};
    const Logged logged("place", 5, 6, 77, &first), other("place", 5, 6, 78, &first);
    ASSERT_EQ(logged.ends, other.ends);
    const Snapshot base = state_of(first, nullptr);
    const auto problem_of = [&](const std::string& text) {
        Result<StateLogReader> log = StateLogReader::open(bytes_of(text), 77, &base);
        EXPECT_TRUE(log.ok()) << log.message();
        while (log->next()) EXPECT_EQ(naive_of(log->state()), logged.states[log->num_records() - 1]);
        EXPECT_EQ(log->num_records(), 3u);
        return std::string(log->problem().message());
    };
    const std::string at = "record 3 at byte " + std::to_string(logged.ends[2]) + ": the record is not whole: ";
    EXPECT_EQ(problem_of(logged.text.substr(0, logged.ends[2]) + other.text.substr(other.ends[2])),
              at + "its checksum is wrong");
    EXPECT_EQ(problem_of(logged.text.substr(0, logged.ends[2]) + logged.text.substr(logged.ends[3])),
              at + "it belongs to another place")
        << "one is missing";
    EXPECT_EQ(problem_of(logged.text.substr(0, logged.ends[2]) + logged.text.substr(logged.ends[0])),
              at + "it belongs to another place")
        << "one comes again";
}

TEST(StateLog, a_log_that_is_cut_anywhere_gives_the_states_before_the_cut) {
    const Logged logged("cut", 11, 5);
    ASSERT_LT(logged.text.size(), 200'000u);
    const std::size_t header_bytes = 40, step = logged.text.size() / 3000 + 1;
    for (std::size_t size = 0; size < logged.text.size(); size += size < 400 ? 1 : step) {
        const std::string cut = logged.text.substr(0, size);
        Result<StateLogReader> log = StateLogReader::open(bytes_of(cut));
        ASSERT_EQ(log.ok(), size >= header_bytes) << size;
        if (!log) continue;
        std::size_t whole = 0;
        while (whole < logged.ends.size() && logged.ends[whole] <= size) ++whole;
        for (std::size_t i = 0; i < whole; ++i) ASSERT_TRUE(log->next()) << size;
        ASSERT_FALSE(log->next()) << size;
        const bool at_a_record = size == header_bytes || (whole > 0 && logged.ends[whole - 1] == size);
        ASSERT_EQ(log->is_at_end(), at_a_record) << size;
        ASSERT_EQ(log->problem().ok(), at_a_record) << size;
        ASSERT_EQ(log->num_records(), whole);
        if (whole == 0) continue;
        ASSERT_EQ(naive_of(log->state()), logged.states[whole - 1]) << size;
    }
}

TEST(StateLog, a_flipped_bit_is_found_and_the_records_before_it_are_read) {
    const Logged logged("flip", 12, 4);
    Random random(seed());
    SCOPED_TRACE(seed_text());
    for (int i = 0; i < 2000; ++i) {
        std::string text = logged.text;
        const std::size_t at = i < 400 ? std::size_t(i) % text.size() : random.below(std::uint32_t(text.size()));
        text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
        Result<StateLogReader> log = StateLogReader::open(bytes_of(text));
        ASSERT_EQ(log.ok(), at >= 40) << at;
        if (!log) continue;
        while (log->next()) {
        }
        std::size_t whole = 0;
        while (logged.ends[whole] <= at) ++whole;
        ASSERT_EQ(log->num_records(), whole) << at;
        ASSERT_FALSE(log->problem().ok());
        if (whole == 0) continue;
        ASSERT_EQ(naive_of(log->state()), logged.states[whole - 1]);
    }
}

TEST(StateLog, a_state_that_is_larger_than_it_may_be_is_refused) {
    for (const std::size_t num_bytes : {100'000, 5'000'000}) {
        Naive large;
        large["zeros"] = {1, false, std::vector<std::byte>(num_bytes)};
        const Logged logged("large", 1, 1, 0, &large);
        const Snapshot base = state_of(large, nullptr);
        Result<StateLogReader> log = StateLogReader::open(bytes_of(logged.text), 0, &base, 1000);
        ASSERT_TRUE(log.ok());
        EXPECT_FALSE(log->next());
        EXPECT_TRUE(log->is_too_large()) << num_bytes;
        EXPECT_NE(log->problem().message().find("larger than 1000 bytes"), std::string_view::npos)
            << log->problem().message();
    }
    Naive large;
    large["zeros"] = {1, false, std::vector<std::byte>(5'000'000)};
    const std::string path = temporary_path("too_large");
    Result<StateLogWriter> log = StateLogWriter::create(path);
    ASSERT_TRUE(log->append(state_of(large, nullptr), nullptr, 1).ok());
    const std::string text = *read_file(path);
    std::filesystem::remove(path);
    Result<StateLogReader> whole = StateLogReader::open(bytes_of(text), 0, nullptr, 1000);
    EXPECT_FALSE(whole->next());
    EXPECT_TRUE(whole->is_too_large()) << "a record of which the header says so: " << whole->problem().message();
}

/// A log of one state whose record has another body, with checksums that are right.
std::string with_body(std::string log, const std::function<void(std::vector<std::byte>&)>& change) {
    constexpr std::size_t kBegin = sizeof(StateLogHeader);
    StateRecordHeader header{};
    std::memcpy(&header, log.data() + kBegin, sizeof header);
    std::vector<std::byte> body(static_cast<std::size_t>(header.body_bytes));
    EXPECT_EQ(ZSTD_decompress(body.data(), body.size(), log.data() + kBegin + sizeof header,
                              static_cast<std::size_t>(header.packed_bytes)),
              body.size());
    change(body);
    std::vector<std::byte> packed(ZSTD_compressBound(body.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), body.data(), body.size(), 1));
    header.body_bytes = body.size(), header.packed_bytes = packed.size();
    header.checksum = checksum_of(header, packed.data(), 0);
    log.resize(kBegin);
    log.append(reinterpret_cast<const char*>(&header), sizeof header);
    return log.append(reinterpret_cast<const char*>(packed.data()), packed.size());
}

TEST(StateLog, a_record_whose_parts_do_not_fit_is_refused_and_says_which) {
    Naive parts;
    parts["part"] = {1, false, std::vector<std::byte>(100, std::byte(7))};
    const std::string path = temporary_path("body");
    Result<StateLogWriter> writer = StateLogWriter::create(path);
    ASSERT_TRUE(writer->append(state_of(parts, nullptr), nullptr, 1).ok());
    const std::string sound = *read_file(path);
    std::filesystem::remove(path);
    // What the record says of the part, its path, number and runs of block 0, where the run begins, its bytes, those of the run, the end.
    constexpr std::size_t kBlock = 24 + 4, kRun = kBlock + 8, kBytes = kRun + 8, kEnd = kBytes + 100;
    const auto problem_of = [&](const std::function<void(std::vector<std::byte>&)>& change) {
        const std::string text = with_body(sound, change);
        Result<StateLogReader> log = StateLogReader::open(bytes_of(text));
        EXPECT_TRUE(log.ok() && !log->next());
        std::string problem(log->problem().message());
        const std::string_view begin = "record 0 at byte 40: the record is not whole: ";
        EXPECT_TRUE(problem.starts_with(begin)) << problem;
        return problem.substr(std::min(problem.size(), begin.size()));
    };
    const auto with = [&](std::size_t at, std::uint32_t value) {
        return problem_of([&](std::vector<std::byte>& body) {
            ASSERT_EQ(body.size(), kEnd + 8);
            std::memcpy(body.data() + at, &value, sizeof value);
        });
    };
    EXPECT_EQ(with(0, 101), "block 0 of part \"part\" does not fit") << "the run does not reach its end";
    EXPECT_EQ(with(0, 99), "block 0 of part \"part\" does not fit");
    EXPECT_EQ(with(kBlock, 1), "part \"part\" has no block 1");
    EXPECT_EQ(with(kBlock, ~0u), "part \"part\" has no block 4294967295") << "an end has no runs";
    EXPECT_EQ(with(kBlock + 4, 0), "block 0 of part \"part\" does not fit");
    EXPECT_EQ(with(kBlock + 4, 1000), "block 0 of part \"part\" does not fit");
    EXPECT_EQ(with(kRun, 1), "block 0 of part \"part\" does not fit") << "nothing is before it";
    EXPECT_EQ(with(kRun, ~0u), "block 0 of part \"part\" does not fit");
    EXPECT_EQ(with(kRun + 4, 99), "block 0 of part \"part\" does not fit");
    EXPECT_EQ(with(kRun + 4, 0), "block 0 of part \"part\" does not fit");
    EXPECT_EQ(with(kRun + 4, ~0u), "block 0 of part \"part\" does not fit");
    EXPECT_EQ(with(kEnd, 0), "part \"part\" has no block 0") << "it is there twice";
    EXPECT_EQ(problem_of([&](std::vector<std::byte>& body) { body.resize(kEnd); }),
              "the blocks of part \"part\" are cut short");
    EXPECT_EQ(problem_of([&](std::vector<std::byte>& body) { body.erase(body.begin() + kBlock, body.begin() + kEnd); }),
              "part \"part\" is not filled");
    EXPECT_EQ(problem_of([&](std::vector<std::byte>& body) { body.push_back(std::byte(0)); }),
              "its parts do not fill it");
    EXPECT_EQ(problem_of([&](std::vector<std::byte>& body) {
                  const std::uint32_t runs[] = {0, 100, 50, 10};  // of which the second begins in the first
                  body[kBlock + 4] = std::byte(2);
                  body.insert(body.begin() + kRun, 8 + 10, std::byte(0));
                  std::memcpy(body.data() + kRun, runs, sizeof runs);
              }),
              "block 0 of part \"part\" does not fit");
}

TEST(StateLog, a_record_that_does_not_fit_the_state_before_is_refused_and_says_why) {
    Naive parts;
    for (const char* path : {"part/a", "part/b", "partial/c"})
        parts[path] = {1, false, std::vector<std::byte>(100, std::byte(7))};
    const Snapshot base = state_of(parts, nullptr);
    const std::string path = temporary_path("before");
    Result<StateLogWriter> writer = StateLogWriter::create(path);
    ASSERT_TRUE(writer->append(base, &base, 1).ok());
    const std::string sound = *read_file(path);
    std::filesystem::remove(path);
    // Of each part: what the record says of it, and the end of its blocks.
    constexpr std::size_t kPart = 24 + 8, kBefore = 8, kPathBytes = 12, kElementBytes = 16, kPerBlock = 20;
    const auto problem_of = [&](const std::function<void(std::vector<std::byte>&)>& change) {
        const std::string text = with_body(sound, change);
        Result<StateLogReader> log = StateLogReader::open(bytes_of(text), 0, &base);
        EXPECT_TRUE(log.ok());
        EXPECT_EQ(naive_of(log->state()), parts) << "what it begins with";
        if (log->next()) return std::string();
        const std::string problem(log->problem().message());
        EXPECT_EQ(naive_of(log->state()), parts) << "and what it has still";
        return problem.substr(problem.find("whole: ") + 7);
    };
    const auto put = [](std::vector<std::byte>& body, std::size_t at, std::uint32_t value) {
        std::memcpy(body.data() + at, &value, sizeof value);
    };
    const auto with = [&](std::size_t at, std::uint32_t value) {
        return problem_of([&](std::vector<std::byte>& body) {
            ASSERT_EQ(body.size(), 3 * kPart);
            put(body, at, value);
        });
    };
    const std::string none = "a part refers to one that the state before does not have";
    EXPECT_EQ(problem_of([](std::vector<std::byte>&) {}), "");
    EXPECT_EQ(with(kPart + kBefore, 0), none) << "twice";
    EXPECT_EQ(with(2 * kPart + kBefore, 3), none);
    EXPECT_EQ(with(kPathBytes, 1), none) << "or with a path of its own";
    EXPECT_EQ(with(kElementBytes, 2), "a part has elements of another size than before");
    /// Makes the first part longer, in blocks of 10, and adds a block with one run that reaches its end.
    const auto with_block = [&](std::uint32_t size, std::uint32_t number, std::uint32_t begin) {
        return problem_of([&](std::vector<std::byte>& body) {
            put(body, 0, size), put(body, kPerBlock, 10);
            const std::uint32_t words[] = {number, 1, begin, 10 - begin};
            body.insert(body.begin() + 24, sizeof words + 10 - begin, std::byte(1));
            std::memcpy(body.data() + 24, words, sizeof words);
        });
    };
    EXPECT_EQ(with_block(110, 10, 0), "");
    EXPECT_EQ(with_block(110, 10, 5), "block 10 of part \"part/a\" does not fit") << "five bytes are nowhere";
    EXPECT_EQ(with_block(130, 12, 0), "part \"part/a\" has no block 12") << "two blocks before it are nowhere";
    EXPECT_EQ(with_block(130, 10, 0), "part \"part/a\" is not filled");
    Result<StateLogReader> log = StateLogReader::open(bytes_of(sound), 0, &base);
    Naive below = parts;
    below.erase("partial/c");
    EXPECT_EQ(naive_of(log->state(nullptr, "part")), below) << "not what only begins so";
}

TEST(StateLog, a_small_change_takes_little_of_the_file) {
    Naive parts;
    Random random(3);
    NaivePart& noise = parts["noise"];
    noise = {4, true, std::vector<std::byte>(4'000'000)};
    for (std::byte& byte : noise.bytes) byte = std::byte(random.below(256));
    const std::string path = temporary_path("small");
    Result<StateLogWriter> log = StateLogWriter::create(path);
    const Snapshot first = state_of(parts, nullptr);
    ASSERT_TRUE(log->append(first, nullptr, 1).ok());
    const std::uint64_t whole_bytes = log->num_bytes();
    for (std::size_t i = 0; i < noise.bytes.size(); i += 40'000) noise.bytes[i] ^= std::byte(1);
    const Snapshot second = state_of(parts, &first);
    ASSERT_TRUE(log->append(second, &first, 2).ok());
    EXPECT_LT(log->num_bytes() - whole_bytes, whole_bytes / 100);  // a hundred blocks of random numbers differ
    std::filesystem::remove(path);
}

TEST(StateLog, a_full_disk_cuts_a_record_off_and_the_log_goes_on_when_there_is_room) {
    const std::string path = temporary_path("full");
    Naive parts;
    Random random(4);
    parts["noise"] = {1, false, std::vector<std::byte>(50'000)};
    const Snapshot none = state_of(parts, nullptr);
    for (std::byte& byte : parts["noise"].bytes) byte = std::byte(random.below(256));
    const Snapshot noise = state_of(parts, nullptr);
    Result<StateLogWriter> log = StateLogWriter::create(path);
    ASSERT_TRUE(log->append(none, nullptr, 1).ok());
    const std::uint64_t num_bytes = log->num_bytes();

    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlimit small = limit;
    small.rlim_cur = 20'000;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Status status = log->append(noise, &none, 2);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    std::signal(SIGXFSZ, handler);

    EXPECT_EQ(status.message(), "cannot append to \"" + path + "\": cannot write: File too large");
    EXPECT_EQ(log->num_bytes(), num_bytes);
    EXPECT_EQ(std::filesystem::file_size(path), num_bytes);
    ASSERT_TRUE(log->append(noise, &none, 3).ok());
    const std::string text = *read_file(path);
    Result<StateLogReader> read = StateLogReader::open(bytes_of(text));
    ASSERT_TRUE(read.ok());
    ASSERT_TRUE(read->next() && read->next()) << read->problem().message();
    EXPECT_EQ(read->frame(), 3u);
    EXPECT_EQ(naive_of(read->state()), parts);
    std::filesystem::remove(path);
}

TEST(StateLog, what_is_no_log_or_of_another_program_is_refused_with_the_reason) {
    const Logged logged("refused", 2, 1);
    const auto message_with = [&](std::size_t at, char value) {
        std::string text = logged.text;
        text[at] = value;
        return std::string(StateLogReader::open(bytes_of(text)).message());
    };
    EXPECT_EQ(message_with(0, 'x'),
              "the file is not a log of states: it does not begin with \"shoallog\" and a header");
    EXPECT_EQ(message_with(8, 1),
              "the log has version 1 of the format, and this program reads 2; read it with the program that made it");
    EXPECT_EQ(message_with(12, 1), "the header of the log is damaged: it has no byte order");
    std::string swapped = logged.text;
    std::reverse(swapped.begin() + 12, swapped.begin() + 16);
    EXPECT_EQ(StateLogReader::open(bytes_of(swapped)).message(),
              "the log has the byte order big-endian, and this program has little-endian");
    EXPECT_EQ(message_with(16, 16), "the header of the log is damaged");
    const std::string path = temporary_path("there");
    ASSERT_TRUE(StateLogWriter::create(path).ok());
    EXPECT_EQ(StateLogWriter::create(path).message(), "cannot make \"" + path + "\": cannot create: File exists");
    std::filesystem::remove(path);
}

}  // namespace state_log_test
