#include "shoal/inspector/server.h"

#include "inspector/answers.h"
#include "inspector/bandwidth.h"
#include "inspector/http.h"
#include "inspector/session.h"
#include "inspector/world_queue.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "shoal/source/detail/origins.h"

#include <algorithm>
#include <charconv>

namespace shoal::inspect {
namespace {

constexpr double kLongestWait = 0.1;  // seconds; a paused world checks at least this often whether to stop

/// Whether a string is an IPv4 address or `localhost`.
bool is_ipv4(std::string_view text) {
    if (text == "localhost") return true;
    int num_parts = 0;
    while (++num_parts <= 4) {
        unsigned part = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part);
        if (error != std::errc() || part > 255) return false;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (num_parts == 4) return text.empty();
        if (!text.starts_with('.')) return false;
        text.remove_prefix(1);
    }
    return false;
}

Status check(const ServerOptions& options) {
    if (!is_ipv4(options.address))
        return Status::error(concat("the inspector cannot listen on ", quoted(options.address),
                                    "; give localhost or an IPv4 address of this machine, such as 127.0.0.1"));
    const bool is_local = options.address == "localhost" || options.address.starts_with("127.");
    if (!is_local && options.token.empty())
        return Status::error(concat("others reach the inspector at ", options.address,
                                    ", so it needs a token that they must know; give it one, or use 127.0.0.1"));
    constexpr std::size_t kLeastToken = 8, kMostToken = 128;
    if (!options.token.empty() && (options.token.size() < kLeastToken || options.token.size() > kMostToken))
        return Status::error(concat("the token of the inspector has ", options.token.size(),
                                    " characters; give it one of ", kLeastToken, " to ", kMostToken));
    const auto is_fine = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    if (!std::ranges::all_of(options.token, is_fine))
        return Status::error(
            "the token of the inspector has other characters than letters and digits; give it another");
    return {};
}

}  // namespace

class Server::Body final : public Listener {
public:
    Body(World& world, const ServerOptions& options) : session(std::in_place, world, options) {
        status = check(options);
        if (!status) return;
        Result<std::unique_ptr<HttpServer>> started = HttpServer::start(
            {options.address == "localhost" ? "127.0.0.1" : options.address, options.port, options.token}, *this);
        status = started.status();
        if (!started) return;
        http = std::move(*started);
        url = concat("http://", options.address, ':', http->port(), '/',
                     options.token.empty() ? "" : concat("?token=", options.token));
    }
    ~Body() { end(); }

    /// Closes the connections, and refuses waiting requests.
    void end() {
        queue.close();
        http.reset();
    }

    Response answer(const Request& request) override {
        if (std::optional<Response> fixed = answer_without_world(request, page_folder())) return *std::move(fixed);
        if (request.path == "/api/world") measure_bandwidth();
        return queue.ask([&] { return answer_of_world(*session, request); });
    }
    std::string_view page_folder() const { return session->options.page_folder; }

    /// Answers waiting requests, and keeps answering while the world is paused or slowed down.
    void finish_frame(World& world) {
        session->note_frame();
        queue.serve();
        Control& control = session->control;
        if (control.num_steps != 0) --control.num_steps;
        if (control.run_to && world.frame() >= *control.run_to) control.run_to.reset(), control.is_paused = true;
        const std::int64_t begin_ns = monotonic_ns();
        answer_until([&] { return begin_ns + times(session->frame_ns, 1 / control.speed - 1); });
    }
    /// Answers requests until the next frame is due, but for at most `most_seconds`. Returns whether the frame is due.
    bool wait_for_frame(double seconds, double most_seconds) {
        const std::int64_t frame_ns = times(1'000'000'000, seconds),
                           most_ns = monotonic_ns() + times(1'000'000'000, most_seconds);
        if (paced_ns == 0) paced_ns = monotonic_ns();
        const auto due_ns = [&] { return paced_ns + times(frame_ns, 1 / session->control.speed); };
        answer_until([&] { return std::min(due_ns(), most_ns); });
        const std::int64_t now = monotonic_ns();
        if (now < due_ns() && !is_over()) return false;
        // Time lost in a pause or a long frame is not made up for.
        paced_ns = now - due_ns() > frame_ns ? now : due_ns();
        return true;
    }
    /// Answers requests until end_ns(), or longer if the world is paused.
    template <class End>
    void answer_until(End&& end_ns) {
        if (waits_for_more()) session->kept_answers.clear();  // kept answers are from earlier frames
        queue.serve();
        while (!is_over() && (waits_for_more() || monotonic_ns() < end_ns())) {
            const double left = waits_for_more() ? kLongestWait : static_cast<double>(end_ns() - monotonic_ns()) * 1e-9;
            queue.wait(std::clamp(left, 0.0, kLongestWait));
            queue.serve();
        }
        session->pause_ended();
    }
    static std::int64_t times(std::int64_t ns, double factor) {
        constexpr double kMost = 1e18;
        return static_cast<std::int64_t>(std::clamp(static_cast<double>(ns) * factor, 0.0, kMost));
    }
    bool waits_for_more() const { return session->control.is_paused && session->control.num_steps == 0; }
    bool is_over() const { return session->options.host != nullptr && session->options.host->is_stopped(); }

    std::optional<Session> session;  // empty after the world has been destroyed
    WorldQueue queue;
    std::unique_ptr<HttpServer> http;
    Status status;
    std::string url;
    std::int64_t paced_ns = 0;  // the last due time, for wait_for_frame(); 0: none yet
};

std::vector<LayerOrigin> ServerHost::origins(std::string_view, std::uint64_t) { return {}; }

Server::Server(World& world, const ServerOptions& options)
    : WorldService("inspector", ServiceStage::kInspector), body_(new Body(world, options)) {
    SHOAL_ASSERT(world.services().find(ServiceStage::kInspector) == nullptr, "the world has another inspector");
    world.services().add(*this);
}

Server::~Server() {
    if (body_->session) body_->session->world.services().remove(*this);
    delete body_;
}

const Status& Server::status() const { return body_->status; }
const std::string& Server::url() const { return body_->url; }

void Server::answer(double seconds) {
    SHOAL_ASSERT(body_->session.has_value(), "the world of the inspector has ended");
    SHOAL_ASSERT(body_->session->world.services().is_at_rest(), "requests are answered between steps");
    const std::int64_t end_ns = monotonic_ns() + Body::times(1'000'000'000, seconds);
    body_->answer_until([&] { return end_ns; });
}

bool Server::wait_for_frame(double seconds, double most_seconds) {
    SHOAL_ASSERT(body_->session.has_value(), "the world of the inspector has ended");
    SHOAL_ASSERT(body_->session->world.services().is_at_rest(), "requests are answered between steps");
    return body_->wait_for_frame(seconds, most_seconds);
}

std::string Server::describe() const { return body_->status ? body_->url : std::string(body_->status.message()); }

void Server::before_commands(const SettleContext&) { body_->session->note_commands(); }

void Server::after_frame() {
    if (body_->http != nullptr) body_->finish_frame(body_->session->world);
}

void Server::spawned(const Blob& blob, const Spawned& spawned, const SpawnOptions&) {
    body_->session->note_spawn(blob, spawned);
}

void Server::before_detach(Store&) { body_->session->forget_edits(); }
void Server::fields_changed() { body_->session->forget_edits(); }

void Server::world_ends() {
    body_->end();
    body_->session.reset();
}

}  // namespace shoal::inspect
