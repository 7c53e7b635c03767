#pragma once
// HTTP and WebSocket connections, using civetweb. Requests are checked here and then passed to a Listener, on the
// server's threads.
//
//     request --> Host, Origin, token, method, size --> Listener::answer() --> response
//                 refused: pages of other sites, forged host names, bodies that are too large
//
// Thread: the structural thread; Listener is called from threads of the server.

#include "shoal/base/status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace shoal::inspect {

inline constexpr std::size_t kMostBodyBytes = 64 * 1024;
inline constexpr std::size_t kMostStreams = 8;
inline constexpr std::size_t kMostWatched = 16;
inline constexpr double kMostRate = 10;  // messages per second for each path of a stream

struct Request {
    bool is_post = false;
    std::string path;   ///< "/api/world"
    std::string query;  ///< the text after the `?`, unchanged
    std::string body;

    /// Returns a parameter of the query; empty if it is missing.
    std::string parameter(const char* name) const;
};

struct Response {
    int status = 200;
    std::string type = "application/json";
    std::string body;
};

/// Returns a response with an error message and a position in the text of the request. If `line` is 0, there is no
/// position.
Response refuse(int status, std::string_view message, std::uint32_t line = 0, std::uint32_t column = 0);

/// Answers requests.
class Listener {
public:
    virtual Response answer(const Request& request) = 0;

protected:
    ~Listener() = default;
};

struct HttpOptions {
    std::string address;
    std::uint16_t port = 0;
    std::string token;
};

class HttpServer {
public:
    /// Starts to listen. Errors: the address cannot be used. Lifetime: `listener` outlives the server.
    static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, Listener& listener);
    /// Closes all connections. Requires: the listener continues to answer requests until this returns.
    ~HttpServer();
    std::uint16_t port() const;

private:
    struct Body;
    HttpServer();
    std::unique_ptr<Body> body_;
};

}  // namespace shoal::inspect
