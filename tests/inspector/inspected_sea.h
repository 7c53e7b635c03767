#pragma once
// A world with something of all that a world can keep, and an inspector that tests ask while the world waits or steps.

#include "inspector/http_client.h"
#include "shoal/inspector/server.h"
#include "shoal/source/detail/origins.h"
#include "support/json.h"
#include "support/whole_world.h"

#include <atomic>
#include <string>
#include <thread>

namespace inspector_test {

struct Inspected final : shoal::inspect::ServerHost {
    explicit Inspected(shoal::inspect::ServerOptions options = {}) : server(sea.world, told(options)) {
        is_done = true;
        sea.run(20);
    }

    std::uint16_t port() const {
        const std::string& url = server.url();
        return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    }
    /// Sends a request, and answers until the reply has come.
    Reply ask(const std::string& text) {
        Reply reply;
        is_done = false;
        std::thread client([&] {
            Connection connection(port());
            connection.send(text);
            reply = connection.read_reply();
            is_done = true;
        });
        while (!is_done) server.answer(0.001);
        client.join();
        return reply;
    }
    Reply get(const std::string& target, std::string_view headers = {}) {
        return ask(request_text("GET", target, port(), {}, headers));
    }
    Reply post(const std::string& target, const std::string& body, std::string_view headers = {}) {
        return ask(request_text("POST", target, port(), body, headers));
    }
    nlohmann::json json(const std::string& target) { return nlohmann::json::parse(get(target).body); }
    nlohmann::json send(const std::string& target, const nlohmann::json& body) {
        return nlohmann::json::parse(post(target, body.dump()).body);
    }

    /// The same options; a pause does not hold up a test whose request was answered.
    const shoal::inspect::ServerOptions& told(shoal::inspect::ServerOptions& options) {
        options.host = this;
        return options;
    }
    bool is_stopped() override { return is_done; }
    std::vector<shoal::LayerOrigin> origins(std::string_view, std::uint64_t guid) override {
        asked_guids.push_back(guid);
        return {{"egg", "nest.sjson", 3, true, {"weight"}}, {"egg", "level.sjson", 3, false, {"weight"}}};
    }

    std::vector<std::uint64_t> asked_guids;

    std::atomic<bool> is_done{false};
    shoal_test::Sea sea;
    shoal::inspect::Server server;
};

}  // namespace inspector_test
