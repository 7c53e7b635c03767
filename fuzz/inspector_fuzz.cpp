// Requests to the inspector: any path, parameters and body leave a world that is whole, and get an answer that is JSON, or one
// of the other kinds that there are. An input is several requests:
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    shoal_test::Sea sea;
    sea.run(1);
    inspect::Session session(sea.world, {.keep_frames = 4});
    std::string_view text(reinterpret_cast<const char*>(data), size);
    while (!text.empty()) {
        const inspect::Request request = read_request(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(text.size(), text.find('\n')) + (text.find('\n') == text.npos ? 0 : 1));
        std::optional<inspect::Response> response = inspect::answer_without_world(request, {});
        check(response ? *response : inspect::answer_of_world(session, request));
        if (request.path == "/api/control") {
            session.note_frame();
            sea.run(1);
        }
    }
    if (const Status status = sea.validate(); !status) fail("the world is damaged", status.message());
    return 0;
}
