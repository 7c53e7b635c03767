// Fuzzes requests to the inspector. Any request leaves the world valid, and an answer of type JSON can be parsed. An
// input is a list of requests:
//
//     GET /api/entities?query=fin
//     POST /api/set {"entity": "3:1", "field": "fin.drag", "value": 2}

#include "inspector/answers.h"
#include "shoal/document/diagnostics.h"
#include "shoal/document/json.h"
#include "support/whole_world.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

using namespace shoal;

namespace {

[[noreturn]] void fail(std::string_view what, std::string_view text) {
    std::fprintf(stderr, "%.*s: %.*s\n", int(what.size()), what.data(), int(text.size()), text.data());
    std::abort();
}

inspect::Request read_request(std::string_view line) {
    inspect::Request request;
    request.is_post = line.starts_with("POST ");
    line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
    const std::string_view target = line.substr(0, line.find(' '));
    request.path = target.substr(0, target.find('?'));
    if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
    if (target.size() < line.size()) request.body = line.substr(target.size() + 1);
    return request;
}

void check(const inspect::Response& response) {
    if (response.status == 500) fail("an error of the inspector itself", response.body);
    if (response.type != "application/json") return;
    Diagnostics diagnostics;
    if (!read_json(diagnostics.add_file("response", response.body), diagnostics)) fail("no JSON", response.body);
}

/// A world with some of each feature of entities. It is created for each input, so it is small.
struct Pond {
    Pond() {
        using namespace shoal_test;
        Database& sea = world.database();
        world.manager<Fin>();
        world.manager<Scar>();
        std::vector<Entity> ids(24);
        if (!entities.create(ids)) std::abort();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (i % 2 == 0) require(world.manager<Fin>().add(ids[i], Fin{.drag = float(i)}));
            if (i % 3 == 0) require(sea.insert(ids[i], Spot{}, Plankton{.cells = i}));
            if (i % 5 == 0) require(world.manager<Scar>().add(ids[i], Scar{}));
            world.commands().name(ids[i], i % 4 == 0 ? "pike" : "carp");
            if (i % 7 == 0) world.commands().tag(ids[i], "big");
        }
        world.schedule().add("swim", world.query<Write<&Fin::velocity>>(), [](auto&& v) { v.x += 1; });
        world.schedule().add("spawn", {reads(world.manager<Fin>())}, [this](PassContext&) {
            world.commands().create(Fin{});
            world.commands().destroy(world.manager<Fin>().entities()[0]);
        });
        world.step(0.1f);
    }
    template <class S>
    static void require(const S& status) {
        if (!status) fail("the pond was not made", std::string(status.message()));
    }

    EntityManager entities;
    World world{entities};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Pond pond;
    inspect::Session session(pond.world, {.keep_frames = 4});
    std::string_view text(reinterpret_cast<const char*>(data), size);
    while (!text.empty()) {
        const inspect::Request request = read_request(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(text.size(), text.find('\n')) + (text.find('\n') == text.npos ? 0 : 1));
        std::optional<inspect::Response> response = inspect::answer_without_world(request, {});
        check(response ? *response : inspect::answer_of_world(session, request));
        if (request.path == "/api/control") {
            session.note_frame();
            pond.world.step(0.1f);
        }
    }
    if (const Status status = pond.world.database().validate(); !status) fail("the world is damaged", status.message());
    return 0;
}
