// Damaged blobs, given to the tool: exit 1 and an error that names the file, or a clean run where the damage is
// harmless; never a crash, never much memory. tests/resource/damage_test.cpp does the same inside one process, for
// every byte.

#include "safety/child_process.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/resource/blob.h"
#include "support/testing.h"
#include "tool/tool_process.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

namespace {

using namespace shoal;
using shoal_test::ChildProcess;

constexpr std::size_t kHashedFrom = offsetof(BlobHeader, checksum) + sizeof(BlobHeader::checksum);
constexpr long kMostKilobytes = 1'000'000;  // sanitizers take most of it; a trusted count of 2^32 would take far more

template <class T>
void put(std::string& bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

template <class T>
T get(const std::string& bytes, std::size_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

/// Makes the size and the checksum right, so that what is behind them is looked at.
void sign(std::string& bytes) {
    put<std::uint64_t>(bytes, offsetof(BlobHeader, total_bytes), bytes.size());
    put<std::uint64_t>(bytes, offsetof(BlobHeader, checksum),
                       hash_bytes(bytes.data() + kHashedFrom, bytes.size() - kHashedFrom));
}

class SafetyBlobs : public shoal_test::ToolTest {
protected:
    void SetUp() override {
        ToolTest::SetUp();
        write("reef.schema.sjson", R"(components = { crab = { many = true fields = {
            kind = { type = enum values = [red green] } friend = entity label = { type = fixed_string capacity = 8 }
            path = { type = blob_array of = vec3 } shell = resource_id awake = bool place = { type = vec3 split = true }
        } } })");
        write("reef.sjson", R"(entities = {
            anna = { name = "anna" components = { point_mass = { mass = 2 } crab = { kind = "green" path = [[1 2 3]] } }
                children = { egg = { components = { debug_name = "egg" crab = { friend = "parent" label = "e" } }
                    children = { shell = { components = { food = { type = "tag" tag = "food" } } } } } } }
            bert = { components = { point_mass = {} crab = { friend = "anna" shell = "reef/shell" awake = true } } } })");
        const shoal_test::ToolResult compiled =
            run({"compile", path("reef.sjson"), "--schema", path("reef.schema.sjson"), "-o", path("reef.blob"),
                 "--offset-tables"});
        ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
        bytes_ = read(path("reef.blob"));
    }

    /// Gives the bytes to `dump` and `run`. Returns what was printed when both refused them with one and the same
    /// error, nothing when both took them.
    std::string give(const std::string& bytes, const std::string& what) const {
        std::ofstream(path("damaged.blob"), std::ios::binary) << bytes;
        int codes[2];
        std::string said[2];
        const std::vector<std::string> verbs[] = {
            {SHOAL_TOOL, "dump", path("damaged.blob")},
            {SHOAL_TOOL, "run", path("damaged.blob"), "--frames", "2", "--repeat", "2", "--workers", "1"}};
        for (int i = 0; i < 2; ++i) {
            ChildProcess child(verbs[i], path("said"));
            codes[i] = child.wait();
            said[i] = read(path("said"));
            EXPECT_LT(child.most_kilobytes(), kMostKilobytes) << what;
            if (codes[i] == 0) continue;
            EXPECT_EQ(codes[i], 1) << what << ": " << said[i];
            EXPECT_TRUE(said[i].starts_with("error: ")) << what << ": " << said[i];
            EXPECT_LT(said[i].size(), 2'000u) << what << ": " << said[i];
            EXPECT_TRUE(is_utf8(said[i])) << what;
        }
        EXPECT_EQ(codes[0], codes[1]) << what << ":\n" << said[0] << said[1];
        return codes[0] == 0 ? std::string() : said[0];
    }

    void expect_refused(const std::string& bytes, std::string_view problem, const std::string& what) const {
        const std::string said = give(bytes, what);
        EXPECT_TRUE(said.starts_with("error: cannot load \"" + path("damaged.blob") + "\": ") &&
                    said.find(problem) != said.npos)
            << what << ": " << said;
        EXPECT_NE(said.find("; "), std::string::npos) << what << " does not say what to do: " << said;
    }

    std::vector<BlobSection> sections() const {
        std::vector<BlobSection> result(get<std::uint32_t>(bytes_, offsetof(BlobHeader, num_sections)));
        std::memcpy(result.data(), bytes_.data() + sizeof(BlobHeader), result.size() * sizeof(BlobSection));
        return result;
    }

    std::string bytes_;
};

TEST_F(SafetyBlobs, what_is_damaged_below_is_whole) { EXPECT_EQ(give(bytes_, "whole"), ""); }

TEST_F(SafetyBlobs, cut_at_every_section_boundary_is_an_error) {
    ASSERT_GT(sections().size(), 8u);
    for (const BlobSection& section : sections())
        for (const std::uint64_t length : {section.offset, section.offset + section.num_bytes - 1}) {
            const std::string cut = bytes_.substr(0, length), what = concat("cut at ", length);
            expect_refused(cut, "it was truncated, or something was appended", what);
            std::string consistent = cut;  // a header that agrees with the cut
            sign(consistent);
            EXPECT_NE(give(consistent, what), "") << what;
        }
}

TEST_F(SafetyBlobs, of_another_version_byte_order_or_checksum_say_so) {
    std::string version = bytes_;
    put<std::uint32_t>(version, offsetof(BlobHeader, format_version), 77);
    sign(version);
    expect_refused(version, "format version 77, this program reads version", "version");

    std::string order = bytes_;
    put<std::uint32_t>(order, offsetof(BlobHeader, endianness), 0x12345678);
    sign(order);
    expect_refused(order, "the mark of the byte order", "byte order");

    std::string swapped = bytes_;  // the mark alone: all else is in the order of this machine
    put<std::uint32_t>(swapped, offsetof(BlobHeader, endianness), kBlobSwappedEndianness);
    expect_refused(swapped, "", "byte order");

    std::string flipped = bytes_;
    flipped.back() = static_cast<char>(flipped.back() ^ 1);
    expect_refused(flipped, "the checksum", "checksum");
}

TEST_F(SafetyBlobs, with_parents_in_a_cycle_are_refused) {
    const std::vector<BlobSection> all = sections();
    const auto parents = std::find_if(all.begin(), all.end(), [](const BlobSection& section) {
        return section.kind == static_cast<std::uint32_t>(BlobSectionKind::kParents);
    });
    ASSERT_NE(parents, all.end());
    std::string cycle = bytes_;  // anna is the child of her egg
    put<std::uint32_t>(cycle, parents->offset, 1);
    sign(cycle);
    expect_refused(cycle, "entity 0 has the parent 1, which does not come before", "cycle");
}

TEST_F(SafetyBlobs, random_damage_is_refused_or_harmless) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    constexpr std::uint64_t kExtremes[] = {0, 1, 0x7FFFFFFF, 0xFFFFFFFF, std::uint64_t(1) << 63, ~std::uint64_t(0)};
    int num_refused = 0;
    const auto rounds = static_cast<int>(shoal_test::scaled_operations(200));
    for (int round = 0; round < rounds; ++round) {
        std::string damaged = bytes_;
        const auto room = static_cast<std::uint32_t>(bytes_.size() - kHashedFrom - sizeof(std::uint64_t));
        const std::size_t at = kHashedFrom + random.below(room) / 4 * 4;
        if (round % 2 == 0)
            damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
        else
            put(damaged, at, kExtremes[random.below(std::size(kExtremes))]);
        sign(damaged);
        num_refused += !give(damaged, concat("round ", round)).empty();
    }
    EXPECT_GT(num_refused, 0);
    EXPECT_LT(num_refused, rounds) << "some of it is in values and padding";
}

}  // namespace
