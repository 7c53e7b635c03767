#include "inspection.h"

#if REEF_HAS_INSPECTOR
#include <shoal/inspector/server.h>
#endif

#include <csignal>
#include <cstdio>
#include <optional>

namespace reef {

using namespace shoal;

namespace {

volatile std::sig_atomic_t was_interrupted = 0;

}  // namespace

void end_when_interrupted() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { was_interrupted = 1; });
}

bool is_interrupted() { return was_interrupted != 0; }

#if REEF_HAS_INSPECTOR
struct Inspection::Host final : inspect::ServerHost {
    bool is_stopped() override { return is_interrupted(); }
    std::optional<inspect::Server> server;
};

Status Inspection::open(Sea& sea, const Run& run) {
    if (!run.options.inspect) return {};
    host_ = std::make_unique<Host>();
    const inspect::Server& server = host_->server.emplace(
        sea.world,
        inspect::ServerOptions{
            .port = *run.options.inspect, .name = "reef", .allow_edits = sea.share == nullptr, .host = host_.get()});
    if (server.status()) std::fprintf(stderr, "inspect at %s\n", server.url().c_str());
    return server.status();
}

bool Inspection::is_open() const { return host_ != nullptr; }
void Inspection::wait_for_frame() { host_->server->wait_for_frame(double(kFrameSeconds)); }
#else
struct Inspection::Host {};

Status Inspection::open(Sea&, const Run& run) {
    if (!run.options.inspect) return {};
    return Status::error(
        "shoal was built without the inspector; install libcivetweb-dev and the libraries for its page");
}

bool Inspection::is_open() const { return false; }
void Inspection::wait_for_frame() {}
#endif

Inspection::Inspection() = default;
Inspection::~Inspection() = default;

}  // namespace reef
