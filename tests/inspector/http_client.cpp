#include "inspector/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>

namespace inspector_test {

Connection::Connection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{5, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
    ::close(socket_);
    socket_ = -1;
}

Connection::~Connection() {
    if (socket_ >= 0) ::close(socket_);
}

bool Connection::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool Connection::fill() {
    char bytes[65536];
    const ssize_t length = ::recv(socket_, bytes, sizeof bytes, 0);
    if (length <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(length));
    return true;
}

Reply Connection::read_reply() {
    std::size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
        if (!fill()) return {};
    Reply reply;
    reply.headers = buffer_.substr(0, end + 2);
    reply.status = std::atoi(reply.headers.c_str() + std::string_view("HTTP/1.1 ").size());
    buffer_.erase(0, end + 4);
    const std::size_t at = reply.headers.find("Content-Length: ");
    const std::size_t length =
        at == std::string::npos
            ? 0
            : std::strtoull(reply.headers.c_str() + at + std::string_view("Content-Length: ").size(), nullptr, 10);
    while (buffer_.size() < length && fill()) {
    }
    reply.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return reply;
}

std::string Connection::read_frame() {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(buffer_[i]); };
    const auto need = [&](std::size_t size) {
        while (buffer_.size() < size)
            if (!fill()) return false;
        return true;
    };
    if (!need(2)) return {};
    std::size_t length = byte(1) & 127, head = 2;
    const std::size_t num_bytes = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (num_bytes != 0) {
        if (!need(2 + num_bytes)) return {};
        length = 0;
        for (std::size_t i = 0; i < num_bytes; ++i) length = length << 8 | byte(2 + i);
        head += num_bytes;
    }
    if (!need(head + length)) return {};
    std::string text = buffer_.substr(head, length);
    buffer_.erase(0, head + length);
    return text;
}

bool Connection::send_frame(std::string_view text) {
    std::string frame = "\x81";
    frame += static_cast<char>(0x80 | (text.size() < 126 ? text.size() : 126));
    if (text.size() >= 126) frame += static_cast<char>(text.size() >> 8), frame += static_cast<char>(text.size() & 255);
    frame += std::string(4, '\0');  // a mask that changes nothing
    frame += text;
    return send(frame);
}

std::string request_text(std::string_view method, std::string_view target, std::uint16_t port, std::string_view body,
                         std::string_view headers) {
    std::string text = std::string(method) + ' ' + std::string(target) + " HTTP/1.1\r\n";
    if (headers.find("Host:") == std::string_view::npos) text += "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
    text += headers;
    if (method == "POST" && headers.find("Content-Type:") == std::string_view::npos)
        text += "Content-Type: application/json\r\n";
    if (method == "POST" && headers.find("Content-Length:") == std::string_view::npos)
        text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return text + "\r\n" + std::string(body);
}

}  // namespace inspector_test
