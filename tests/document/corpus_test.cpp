// Reads files that other people wrote, if they are available.

#include "document_testing.h"
#include "shoal/base/file.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <filesystem>

using shoal_test::Reading;

TEST(Corpus, every_crown_file_is_read_and_written_back) {
    const std::filesystem::path folder = SHOAL_SOURCE_DIR "/../shared/corpora/crown";
    if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "skipped: " << folder << " is not here";
    std::size_t num_files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file() || entry.path().filename() == "LICENSE") continue;
        const auto text = shoal::read_file(entry.path().string());
        ASSERT_TRUE(text) << text.message();
        const Reading reading(*text);
        ASSERT_TRUE(reading) << entry.path() << "\n" << reading.messages();
        const Reading again(shoal::write_sjson(reading.root()));
        ASSERT_TRUE(again) << again.messages();
        EXPECT_TRUE(shoal::equal(again.root(), reading.root())) << entry.path();
        ++num_files;
    }
    EXPECT_GE(num_files, 20u);
}

TEST(Corpus, the_mover_level_has_its_325_entities) {
    const auto text = shoal::read_file(SHOAL_SOURCE_DIR "/../shared/corpora/crown/01-physics/levels/mover.level");
    if (!text) GTEST_SKIP() << "skipped: " << text.message();
    const Reading reading(*text);
    ASSERT_TRUE(reading) << reading.messages();
    EXPECT_EQ(reading.root().find("units").size(), 325u);
    EXPECT_EQ(reading.root().find("units")[0].find("_guid").as_string(), "00555854-bca8-410f-b2d3-17478cfa48fa");
}
