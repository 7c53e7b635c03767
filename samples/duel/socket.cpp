#include "socket.h"

#include <shoal/base/text.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace duel {

using namespace shoal;

namespace {

Status error(std::string_view what) {
    return Status::error(concat("a UDP socket on 127.0.0.1: ", what, ": ", std::strerror(errno)));
}

sockaddr_in address_of(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

/// Returns whether an error is temporary. For example, there is nothing to receive, or an earlier datagram had no
/// receiver.
bool is_passing(int number) {
    return number == EAGAIN || number == EWOULDBLOCK || number == ECONNREFUSED || number == ENOBUFS || number == EINTR;
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : file_(std::exchange(other.file_, -1)), port_(other.port_) {}

Socket& Socket::operator=(Socket&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(port_, other.port_);
    return *this;
}

Socket::~Socket() {
    if (file_ >= 0) ::close(file_);
}

Result<Socket> Socket::open() {
    Socket made;
    made.file_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made.file_ < 0) return error("cannot be made");
    // Datagrams that arrive during a replay are buffered. If the system provides a smaller buffer, more of them are
    // lost.
    const int room = 4 << 20;
    ::setsockopt(made.file_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    sockaddr_in address = address_of(0);
    if (::bind(made.file_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return error("gets no port");
    socklen_t num_bytes = sizeof address;
    if (::getsockname(made.file_, reinterpret_cast<sockaddr*>(&address), &num_bytes) != 0) return error("has no port");
    made.port_ = ntohs(address.sin_port);
    return made;
}

Status Socket::send(std::span<const std::byte> bytes, std::uint16_t to_port) {
    const sockaddr_in address = address_of(to_port);
    const ssize_t sent =
        ::sendto(file_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    return sent >= 0 || is_passing(errno) ? Status() : error("cannot send");
}

Result<std::ptrdiff_t> Socket::receive(std::span<std::byte> to, std::uint16_t& from_port) {
    while (true) {
        sockaddr_in address{};
        socklen_t num_bytes = sizeof address;
        const ssize_t count =
            ::recvfrom(file_, to.data(), to.size(), 0, reinterpret_cast<sockaddr*>(&address), &num_bytes);
        from_port = ntohs(address.sin_port);
        if (count >= 0) return static_cast<std::ptrdiff_t>(count);
        if (errno == EAGAIN || errno == EWOULDBLOCK) return std::ptrdiff_t(-1);
        if (!is_passing(errno)) return error("cannot receive");
    }
}

}  // namespace duel
