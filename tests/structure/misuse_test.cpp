// Mistakes that people make do not compile, and what g++ says of them is short and tells what to do.

#include "source_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace structure {
namespace {

constexpr const char* kDeclarations = R"(
#include <shoal/world/world.h>
using namespace shoal;
struct Body { float mass = 1; Vec3 position{}; int hidden = 0; };
SHOAL_COMPONENT(Body, mass, (position, split), (hidden, ignored))
struct Sail { float area = 0; };
SHOAL_COMPONENT(Sail, area)
struct Bare { float x = 0; };
void use(Manager<Body>& bodies, Manager<Sail>& sails, World& world, Instance i) {
    static_cast<void>(bodies), static_cast<void>(sails), static_cast<void>(world), static_cast<void>(i);
)";

/// What the compiler says of `statement`; empty when it compiles.
std::string complaint(const std::string& name, const std::string& statement) {
    const Path file = Path(SHOAL_STRUCTURE_WORK_DIR) / (name + ".cpp");
    std::ofstream(file) << kDeclarations << statement << "\n}\n";
    const std::string command = std::string("'") + SHOAL_CXX_COMPILER +
                                "' -std=c++20 -Wall -Wextra -Werror -fmax-errors=1 -fsyntax-only -I '" +
                                (project_root() / "include").string() + "' '" + file.string() + "' 2>&1";
    std::string output;
    FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return output;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output.push_back(static_cast<char>(c));
    pclose(pipe);
    return output;
}

struct Mistake {
    const char* name;
    const char* statement;
    const char* told;
    std::ptrdiff_t most_lines;
};

TEST(Misuse, what_is_right_compiles) {
    EXPECT_EQ(complaint("right",
                        "bodies.set<&Body::mass>(i, 3); query<Write<&Body::position>>(bodies).for_each("
                        "[](auto&& p) { p += Vec3{1, 1, 1}; }); world.manager<Body>();"),
              "");
}

/// Counts the lines of a message, without those that only say which header includes which.
int count_lines(const std::string& said) {
    std::istringstream stream(said);
    int count = 0;
    for (std::string line; std::getline(stream, line);)
        count += !line.starts_with("In file included from ") && !trim(line).starts_with("from ");
    return count;
}

TEST(Misuse, a_mistake_is_a_short_error_that_says_what_to_do) {
    const char* const kOther = "the field belongs to another component";
    const char* const kUndeclared = "the component is not declared; write SHOAL_COMPONENT";
    const char* const kArguments = "the function takes one argument per field";
    const Mistake mistakes[] = {
        {"foreign_column", "bodies.column<&Sail::area>();", kOther, 12},
        {"foreign_set", "bodies.set<&Sail::area>(i, 1);", kOther, 12},
        {"undeclared", "world.manager<Bare>();", kUndeclared, 12},
        {"hidden_field", "bodies.column<&Body::hidden>();", "the member is not among the fields", 14},
        {"few_arguments", "query<Write<&Body::mass>, Read<&Body::position>>(bodies).for_each([](auto&&) {});",
         kArguments, 12},
        {"plain_reference", "query<Write<&Body::position>>(bodies).for_each([](Vec3& p) { p.x = 1; });", kArguments,
         12},
        {"foreign_read", "query<Read<&Sail::area>>(bodies).for_each([](float) {});",
         "the manager of a component is missing", 12},
        {"no_such_field", "} struct Oar { int a; }; SHOAL_COMPONENT(Oar, b) void more() {", "is not a member of", 20},
    };
    for (const Mistake& mistake : mistakes) {
        const std::string said = complaint(mistake.name, mistake.statement);
        EXPECT_NE(said.find(mistake.told), std::string::npos) << mistake.statement << '\n' << said;
        EXPECT_LE(count_lines(said), mistake.most_lines) << mistake.statement << '\n' << said;
    }
}

}  // namespace
}  // namespace structure
