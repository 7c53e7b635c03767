// Compares passes and look-ups in Lua with the same passes and look-ups in C++.
//
//     script/pass_loop     p[i] = p[i] + v[i] * dt for each row, checked accesses that LuaJIT compiles
//     script/bare_loop     the same over plain pointers, without checks or step counts (not for scripts): the bound
//     script/pass_column   p:add(v, dt), one call for all rows of a batch
//     script/alive         shoal.alive(e) of one entity after the other, against EntityManager::alive()

#include "reference.h"
#include "workloads.h"

#if defined(SHOAL_BENCH_HAS_SCRIPTS)

#include <lua.hpp>

#include "shoal/script/scripts.h"
#include "shoal/world/world.h"

#include <bit>
#include <vector>

namespace shoal_bench {

using namespace shoal;

struct Mote {
    float x = 0, speed = 0;
};
SHOAL_COMPONENT((Mote, name("mote")), x, speed)

namespace {

struct Motes {
    explicit Motes(std::size_t n)
        : world(entities), scripts(world, {.memory_bytes = std::size_t(1) << 30, .steps = 1'000'000'000}) {
        ids.resize(n);
        std::vector<Mote> motes(n);
        for (std::size_t i = 0; i < n; ++i) motes[i].speed = float(mix(i) % 4096) / 4096;
        need_ok(entities.create(ids));
        need(world.manager<Mote>().add(ids, std::span<const Mote>(motes)));
    }
    void run(std::string_view text) {
        need_ok(scripts.run(text, "bench"));
        if (!scripts.last_failure()) fail(std::string(scripts.last_failure().message()));
    }
    std::uint64_t checksum() {
        std::uint64_t sum = 0;
        const Manager<Mote>& motes = world.manager<Mote>();
        for (const Entity id : ids)
            sum = sum * 3 + std::bit_cast<std::uint32_t>(motes.get<&Mote::x>(motes.instance(id)));
        return sum;
    }

    EntityManager entities;
    World world;
    Scripts scripts;
    std::vector<Entity> ids;
};

void compare_passes(Bench& bench, const std::string& name, std::size_t n, double target, std::string_view body) {
    if (!bench.wants(name)) return;
    Motes lua(n), plain(n);
    lua.run(std::string("shoal.pass{name = 'move', query = '&mote', columns = {'mote.x', 'mote.speed'}, "
                        "run = function(frame, batch, p, v) local dt = frame.dt ") +
            std::string(body) + " end}");
    plain.world.schedule().add("move", query<Write<&Mote::x>, Read<&Mote::speed>>(plain.world.manager<Mote>()),
                               [](const PassContext& frame, auto&& x, float speed) { x += speed * frame.dt; });
    bench.compare({.name = name, .n = n, .target = target},
                  {.run = [&] { lua.world.step(0.5f); }, .checksum = [&] { return lua.checksum(); }},
                  {.run = [&] { plain.world.step(0.5f); }, .checksum = [&] { return plain.checksum(); }});
    if (lua.scripts.num_failures() != 0) fail(std::string(lua.scripts.last_failure().message()));
}

/// Uses LuaJIT directly, with the columns of a manager as pointers.
void compare_bare_loops(Bench& bench, std::size_t n) {
    if (!bench.wants("script/bare_loop")) return;
    Motes bare(n), plain(n);
    lua_State* const lua = luaL_newstate();
    luaL_openlibs(lua);
    if (luaL_dostring(lua,
                      "local ffi = require('ffi') "
                      "return function(p, v, n, dt) p, v = ffi.cast('float*', p), ffi.cast('float*', v) "
                      "for i = 0, n - 1 do p[i] = p[i] + v[i] * dt end end") != 0)
        fail(lua_tostring(lua, -1));
    const Table& table = bare.world.manager<Mote>().core().table();
    const auto run = [&] {
        lua_pushvalue(lua, 1);
        for (std::uint32_t c = 0; c < 2; ++c)
            lua_pushlightuserdata(lua, const_cast<std::byte*>(table.column(c)));  // NOLINT: the loop writes it
        lua_pushnumber(lua, static_cast<double>(n));
        lua_pushnumber(lua, 0.5);
        if (lua_pcall(lua, 4, 0, 0) != 0) fail(lua_tostring(lua, -1));
    };
    plain.world.schedule().add("move", query<Write<&Mote::x>, Read<&Mote::speed>>(plain.world.manager<Mote>()),
                               [](const PassContext& frame, auto&& x, float speed) { x += speed * frame.dt; });
    bench.compare({.name = "script/bare_loop", .n = n}, {.run = run, .checksum = [&] { return bare.checksum(); }},
                  {.run = [&] { plain.world.step(0.5f); }, .checksum = [&] { return plain.checksum(); }});
    lua_close(lua);
}

void compare_look_ups(Bench& bench, std::size_t n) {
    if (!bench.wants("script/alive")) return;
    Motes motes(n);
    motes.run(
        "list = shoal.find('mote') "
        "function count_living() local n, alive = 0, shoal.alive for i = 1, #list do if alive(list[i]) then n = n + 1 "
        "end end living = n end");
    std::uint64_t living = 0;
    bench.compare({.name = "script/alive", .n = n},
                  {.run = [&] { motes.run("count_living()"); },
                   .checksum =
                       [&] {
                           motes.run("assert(living == #list)");
                           return std::uint64_t(n);
                       }},
                  {.run =
                       [&] {
                           living = 0;
                           for (const Entity id : motes.ids) living += motes.entities.alive(id);
                       },
                   .checksum = [&] { return living; }});
}

}  // namespace

void measure_scripts(Bench& bench) {
    for (const std::size_t n : bench.sizes({10'000, 1'000'000})) {
        compare_passes(bench, "script/pass_loop", n, from_100k(n, 1.5),
                       "for i = 0, batch.count - 1 do p[i] = p[i] + v[i] * dt end");
        compare_bare_loops(bench, n);
        compare_passes(bench, "script/pass_column", n, from_100k(n, 1.5), "p:add(v, dt)");
        compare_look_ups(bench, n);
    }
}

}  // namespace shoal_bench

#else

namespace shoal_bench {
void measure_scripts(Bench&) {}
}  // namespace shoal_bench

#endif
