// Measures the CPU time to compile programs that use shoal.
//
//     small programs     one that declares a component, makes entities and runs a pass, as in README, over a manager
//                        or over a database; against an empty program
//     world_pass         one more pass over a world, from the difference of a program with 30 of them, each over other
//                        component types, and one with none; against one more loop over plain arrays

#include "workloads.h"

#include "shoal/base/file.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace shoal_bench {
namespace {

constexpr std::size_t kNumRounds = 15, kNumQuickRounds = 3;

struct SmallProgram {
    const char* name;
    const char* source;
};

constexpr SmallProgram kSmallPrograms[] = {{"small_file", R"(
#include <shoal/query/query.h>
struct Body { float mass = 1; shoal::Vec3 position{}, velocity{}; };
SHOAL_COMPONENT(Body, mass, position, velocity)
int main() {
    shoal::EntityManager entities;
    shoal::PagePool pool;
    shoal::Manager<Body> bodies(entities, pool);
    shoal::Entity stones[100];
    if (!entities.create(stones) || !bodies.add(stones)) return 1;
    shoal::query<shoal::Write<&Body::position>, shoal::Read<&Body::velocity>>(bodies).for_each(
        [](auto&& p, shoal::Vec3 v) { p += v; });
}
)"},
                                           {"small_database", R"(
#include <shoal/database/database.h>
#include <shoal/query/query.h>
#include <shoal/query/typed_database.h>
#include <vector>
struct Body { float mass = 1; shoal::Vec3 position{}, velocity{}; };
SHOAL_COMPONENT(Body, mass, position, velocity)
int main() {
    shoal::EntityManager entities;
    shoal::PagePool pool;
    shoal::Database database(entities, pool);
    shoal::Entity stones[100];
    if (!entities.create(stones)) return 1;
    shoal::query<shoal::Write<&Body::position>, shoal::Read<&Body::velocity>>(database).for_each(
        [](auto&& p, shoal::Vec3 v) { p += v; });
}
)"}};

double children_seconds() {
    rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Compiles a file and returns the CPU time of the compiler. Units: ns.
double compile_ns(const std::string& source, const std::string& flags) {
    const std::string command = std::string(SHOAL_COMPILER) + " -std=c++20 " + flags +
                                " -I" SHOAL_SOURCE_DIR "/include -c " + source + " -o " + source + ".o";
    const double before = children_seconds();
    if (std::system(command.c_str()) != 0) fail("cannot compile: " + command);
    return (children_seconds() - before) * 1e9;
}

/// Compiles a program and an empty one alternately.
void measure_program(Bench& bench, const SmallProgram& program, const std::string& flags) {
    const std::string name = std::string("build/") + program.name + "_" + flags.substr(1);
    if (!bench.wants(name)) return;
    const char* folder = std::getenv("TMPDIR");
    const std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/shoal_build_time_";
    need_ok(shoal::write_file(path + "small.cpp", std::string_view(program.source)));
    need_ok(shoal::write_file(path + "empty.cpp", std::string_view("int main() {}\n")));
    std::vector<double> shoal_ns, reference_ns, ratios;
    for (std::size_t round = 0; round < (bench.quick() ? kNumQuickRounds : kNumRounds); ++round) {
        const bool shoal_first = round % 2 == 0;
        const double first = compile_ns(path + (shoal_first ? "small.cpp" : "empty.cpp"), flags);
        const double second = compile_ns(path + (shoal_first ? "empty.cpp" : "small.cpp"), flags);
        shoal_ns.push_back(shoal_first ? first : second);
        reference_ns.push_back(shoal_first ? second : first);
        ratios.push_back(shoal_ns.back() / reference_ns.back());
    }
    bench.add(summarize({name, 1}, shoal_ns, reference_ns, ratios));
    for (const char* file : {"small.cpp", "small.cpp.o", "empty.cpp", "empty.cpp.o"})
        std::remove((path + file).c_str());
}

constexpr std::size_t kNumPasses = 30;

/// Returns a program with passes that each write a field of one component type and read a field of another.
std::string program_of_passes(std::size_t num_passes) {
    std::string types = "#include <shoal/shoal.h>\n";
    std::string passes = "void add_passes(shoal::World& world) {\n    using namespace shoal;\n";
    for (std::size_t i = 0; i < kNumPasses; ++i) {
        const std::string number = std::to_string(i), next = std::to_string((i + 1) % kNumPasses);
        types += "struct Body" + number + " { float mass = 1; shoal::Vec3 position{}, velocity{}; };\n";
        types += "SHOAL_COMPONENT(Body" + number + ", mass, position, velocity)\n";
        if (i < num_passes)
            passes += "    world.schedule().add(\"pass " + number + "\", world.query<Write<&Body" + number +
                      "::velocity>, Read<&Body" + next +
                      "::mass>>(), [](const PassContext& frame, auto&& v, float mass) { v.z -= mass * frame.dt; });\n";
    }
    return types + passes + "}\n";
}
/// Returns a program that does the same with plain loops.
std::string program_of_loops(std::size_t num_loops) {
    std::string program = "#include <cstddef>\nstruct Vec3 { float x, y, z; };\n";
    for (std::size_t i = 0; i < num_loops; ++i)
        program += "void pass_" + std::to_string(i) +
                   "(Vec3* v, const float* mass, std::size_t n, float dt) {\n"
                   "    for (std::size_t i = 0; i < n; ++i) v[i].z -= mass[i] * dt;\n}\n";
    return program;
}

/// Measures the compile time of one more pass.
void measure_passes(Bench& bench) {
    if (!bench.wants("build/world_pass_O2")) return;
    const char* folder = std::getenv("TMPDIR");
    const std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/shoal_build_time_";
    need_ok(shoal::write_file(path + "passes.cpp", program_of_passes(kNumPasses)));
    need_ok(shoal::write_file(path + "none.cpp", program_of_passes(0)));
    need_ok(shoal::write_file(path + "loops.cpp", program_of_loops(kNumPasses)));
    need_ok(shoal::write_file(path + "no_loops.cpp", program_of_loops(0)));
    const auto cost_ns = [&](const char* with, const char* without) {
        const double more = compile_ns(path + with, "-O2") - compile_ns(path + without, "-O2");
        return std::max(more, 1e6);  // smaller differences cannot be measured
    };
    std::vector<double> shoal_ns, reference_ns, ratios;
    for (std::size_t round = 0; round < (bench.quick() ? kNumQuickRounds : kNumRounds / 3); ++round) {
        shoal_ns.push_back(cost_ns("passes.cpp", "none.cpp"));
        reference_ns.push_back(cost_ns("loops.cpp", "no_loops.cpp"));
        ratios.push_back(shoal_ns.back() / reference_ns.back());
    }
    bench.add(summarize({"build/world_pass_O2", kNumPasses}, shoal_ns, reference_ns, ratios));
    for (const char* file : {"passes.cpp", "none.cpp", "loops.cpp", "no_loops.cpp"}) {
        std::remove((path + file).c_str());
        std::remove((path + file + ".o").c_str());
    }
}

}  // namespace

void measure_build_time(Bench& bench) {
    for (const SmallProgram& program : kSmallPrograms)
        for (const char* flags : {"-O0", "-O2"}) measure_program(bench, program, flags);
    measure_passes(bench);
}

}  // namespace shoal_bench
