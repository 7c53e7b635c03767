// Measures the cost of including shoal: the CPU time to compile a small program, against an empty one. The small programs
// declare a component, make entities and run a pass, as in the README: over a manager, or over a database.

#include "workloads.h"

#include "shoal/base/file.h"

#include <cstdlib>

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

/// Compiles a file and returns the CPU time spent. Units: ns.
double compile_ns(const std::string& source, const std::string& flags) {
    const std::string command = std::string(SHOAL_COMPILER) + " -std=c++20 " + flags +
                                " -I" SHOAL_SOURCE_DIR "/include -c " + source + " -o " + source + ".o";
    const double before = children_seconds();
    if (std::system(command.c_str()) != 0) fail("cannot compile: " + command);
    return (children_seconds() - before) * 1e9;
}

/// Measures a program and an empty one in turn.
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

}  // namespace

void measure_build_time(Bench& bench) {
    for (const SmallProgram& program : kSmallPrograms)
        for (const char* flags : {"-O0", "-O2"}) measure_program(bench, program, flags);
}

}  // namespace shoal_bench
