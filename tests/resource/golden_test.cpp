// Every format version ever released keeps its bytes here, and must load as it did.
// SHOAL_WRITE_GOLDEN=1 writes the file of the present version; only a new version number may do so.

#include "resource/samples.h"
#include "shoal/base/file.h"
#include "shoal/resource/detail/dump.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace resource_test {
namespace {

const std::string kFolder = SHOAL_SOURCE_DIR "/tests/resource/golden/";

std::string to_hex(std::span<const std::byte> bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        text += "0123456789abcdef"[std::to_integer<int>(bytes[i] >> 4)];
        text += "0123456789abcdef"[std::to_integer<int>(bytes[i] & std::byte(15))];
        if (i % 32 == 31) text += '\n';
    }
    return text;
}

std::vector<std::byte> from_hex(std::string_view text) {
    const auto digit = [](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
    std::vector<std::byte> bytes;
    int high = -1;
    for (const char c : text) {
        if (c == '\n') continue;
        if (high >= 0) bytes.push_back(static_cast<std::byte>(high * 16 + digit(c)));
        high = high >= 0 ? -1 : digit(c);
    }
    return bytes;
}

struct Golden : ::testing::Test {
    void SetUp() override {
        if (sizeof(Entity) != 4) GTEST_SKIP() << "the golden blobs have 32-bit ids";
        if (std::getenv("SHOAL_WRITE_GOLDEN") == nullptr) return;
        ASSERT_TRUE(write_file(kFolder + "version_1.hex", to_hex(sample_bytes({.offset_tables = true}))));
        ASSERT_TRUE(
            write_file(kFolder + "version_1.sjson", dump_text(*Blob::load(sample_bytes({.offset_tables = true})))));
    }
};

TEST_F(Golden, version_1_is_written_byte_for_byte) {
    const Result<std::string> golden = read_file(kFolder + "version_1.hex");
    ASSERT_TRUE(golden) << golden.message();
    EXPECT_EQ(to_hex(sample_bytes({.offset_tables = true})), *golden);
}

TEST_F(Golden, version_1_reads_as_it_always_did) {
    const Result<std::string> golden = read_file(kFolder + "version_1.hex");
    ASSERT_TRUE(golden) << golden.message();
    const Result<Blob> blob = Blob::load(from_hex(*golden));
    ASSERT_TRUE(blob) << blob.message();
    const Result<std::string> dump = read_file(kFolder + "version_1.sjson");
    ASSERT_TRUE(dump) << dump.message();
    EXPECT_EQ(dump_text(*blob), *dump);
}

}  // namespace
}  // namespace resource_test
