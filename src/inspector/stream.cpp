#include "inspector/stream.h"

#include "inspector/http.h"
#include "inspector/json_text.h"
#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "shoal/document/json.h"

#include <civetweb.h>

#include <algorithm>
#include <chrono>

namespace shoal::inspect {

Stream::Stream(mg_connection* connection, Listener& listener)
    : connection_(connection), listener_(listener), thread_([this] { run(); }) {}

Stream::~Stream() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

bool Stream::read(std::string_view message) {
    if (message.size() > kMostBodyBytes) return false;
    Diagnostics diagnostics;
    const Result<Document> asked = read_json(diagnostics.add_file("message", std::string(message)), diagnostics);
    if (!asked || !asked->root().is_mapping()) return false;
    const Node watch = asked->root().find("watch"), rate = asked->root().find("rate");
    if (!watch || !watch.is_list() || watch.size() > kMostWatched || (rate && !rate.is_number())) return false;
    std::vector<std::string> paths;
    for (const Node path : watch) {
        if (!path.is_string() || !path.as_string().starts_with("/api/")) return false;
        paths.emplace_back(path.as_string());
    }
    const std::lock_guard lock(mutex_);
    watched_ = std::move(paths);
    rate_ = rate ? std::clamp(rate.as_double(), 0.1, kMostRate) : 4;
    changed_.notify_all();
    return true;
}

void Stream::run() {
    std::unique_lock lock(mutex_);
    while (!ends_) {
        const std::vector<std::string> watched = watched_;
        const auto pause = std::chrono::duration<double>(watched.empty() ? 3600.0 : 1 / rate_);
        lock.unlock();
        for (const std::string& path : watched)
            if (!tell(path)) break;
        lock.lock();
        if (!ends_ && watched == watched_) changed_.wait_for(lock, pause);
    }
}

bool Stream::tell(const std::string& path) {
    {
        const std::lock_guard lock(mutex_);
        if (ends_) return false;
    }
    Request request;
    const std::size_t mark = path.find('?');
    request.path = path.substr(0, mark);
    if (mark != std::string::npos) request.query = path.substr(mark + 1);
    const Response response = listener_.answer(request);
    if (response.type != "application/json") return true;
    JsonText head;
    head.text(path);
    const std::string message =
        concat("{\"path\": ", head.finish(), ", \"status\": ", response.status, ", \"body\": ", response.body, '}');
    return mg_websocket_write(connection_, MG_WEBSOCKET_OPCODE_TEXT, message.data(), message.size()) > 0;
}

}  // namespace shoal::inspect
