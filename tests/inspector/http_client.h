#pragma once
// What tests ask a server of this machine: bytes over a socket, and what comes back.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace inspector_test {

struct Reply {
    int status = 0;  ///< 0: the connection ended without one
    std::string headers, body;
};

/// A connection to a port of 127.0.0.1. Thread: one at a time.
class Connection {
public:
    explicit Connection(std::uint16_t port);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    bool is_open() const { return socket_ >= 0; }
    /// Sends bytes as they are. Returns whether all were taken.
    bool send(std::string_view bytes);
    /// Reads what a server sends until it is a whole reply, the connection ends, or 5 seconds have passed.
    Reply read_reply();
    /// Reads the next frame of a WebSocket; empty: there is none.
    std::string read_frame();
    /// Sends a text as a frame of a WebSocket.
    bool send_frame(std::string_view text);

private:
    bool fill();
    int socket_ = -1;
    std::string buffer_;
};

/// A request as a browser's page would send it. `headers`: further lines, each with its end.
std::string request_text(std::string_view method, std::string_view target, std::uint16_t port,
                         std::string_view body = {}, std::string_view headers = {});

}  // namespace inspector_test
