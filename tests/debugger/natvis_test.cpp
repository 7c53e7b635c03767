// The natvis file: well-formed, and about types and members that there are.

#include "inspect/xml_check.h"
#include "shoal/base/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

namespace {

/// The names in all public headers, comments left out.
std::set<std::string> names_in_headers() {
    std::set<std::string> names;
    const std::regex comment("//[^\n]*"), name("[A-Za-z_][A-Za-z0-9_]*");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SHOAL_INCLUDE)) {
        if (entry.path().extension() != ".h") continue;
        const std::string text = std::regex_replace(*shoal::read_file(entry.path().string()), comment, "");
        for (std::sregex_iterator found(text.begin(), text.end(), name), end; found != end; ++found)
            names.insert(found->str());
    }
    return names;
}

std::string natvis() {
    return std::regex_replace(*shoal::read_file(SHOAL_DEBUGGER_TOOLS "/shoal.natvis"), std::regex("<!--[^]*?-->"), "");
}

TEST(Natvis, is_well_formed) { EXPECT_EQ(shoal_test::XmlCheck::problem(natvis()), ""); }

TEST(Natvis, names_types_and_members_that_there_are) {
    const std::set<std::string> known = names_in_headers();
    const std::string text = std::regex_replace(natvis(), std::regex("&[a-z]+;"), " ");
    // Members end in _, but for those of open structs: `id`, `hash` and `data` stand in braces.
    const std::regex member("\\b([a-z][a-z0-9_]*_)\\b|shoal::([A-Z][A-Za-z0-9]*)|\\{([a-z]+)\\b");
    std::size_t num_found = 0;
    for (std::sregex_iterator found(text.begin(), text.end(), member), end; found != end; ++found) {
        for (std::size_t group = 1; group <= 3; ++group)
            if ((*found)[group].matched) {
                EXPECT_TRUE(known.contains((*found)[group])) << (*found)[group];
                ++num_found;
            }
    }
    EXPECT_GT(num_found, 30u);
}

}  // namespace
