#pragma once
// A UDP socket on the loopback interface. Only socket.cpp uses the network functions of the operating system.
// Thread: one thread at a time for each socket.

#include <shoal/base/status.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace duel {

class Socket {
public:
    Socket() = default;
    Socket(Socket&& other) noexcept;
    Socket& operator=(Socket&& other) noexcept;
    ~Socket();

    /// Opens a socket on a free port of 127.0.0.1. Errors: no port or socket is available. The message says why.
    static shoal::Result<Socket> open();

    std::uint16_t port() const { return port_; }
    /// Sends a datagram to a port of this machine. The datagram may be lost, because the system does not report
    /// delivery, and a temporary failure to send is not an error. Errors: the socket cannot be used.
    shoal::Status send(std::span<const std::byte> bytes, std::uint16_t to_port);
    /// Receives the next datagram, truncated to the size of `to`. Does not wait. Returns the datagram's size, or -1 if
    /// there is none. Sets `from_port` to the sender's port. Errors: the socket cannot be used.
    shoal::Result<std::ptrdiff_t> receive(std::span<std::byte> to, std::uint16_t& from_port);

private:
    int file_ = -1;
    std::uint16_t port_ = 0;
};

}  // namespace duel
