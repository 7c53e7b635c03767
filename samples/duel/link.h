#pragma once
// Simulates a bad network in front of a socket. Datagrams are randomly lost, delayed, reordered or duplicated. A seed
// determines the random numbers.
//
//     send() -> [ lost? ] -> held until it is due -> flush() -> socket
//
// Time is counted in frames of the sending peer, so delays are the same with and without a clock.
// Thread: as for the peer.

#include "socket.h"

#include <shoal/base/random.h>

#include <vector>

namespace duel {

struct LinkOptions {
    double loss = 0.1;        ///< fraction of datagrams that are lost
    std::uint32_t delay = 4;  ///< delay of every datagram. Units: frames
    double reorder = 0.2;     ///< fraction of datagrams that are delayed by 1 to 4 more frames and overtaken
    double duplicate = 0.05;  ///< fraction of datagrams that are sent twice
};

struct LinkCounts {
    std::uint64_t num_sent = 0, num_lost = 0, num_reordered = 0, num_duplicated = 0, num_bytes = 0;
};

class Link {
public:
    Link(Socket& socket, const LinkOptions& options, std::uint64_t seed)
        : socket_(socket), options_(options), random_(seed) {}

    /// Sends a datagram at frame `now`, or drops it.
    void send(std::vector<std::byte> bytes, std::uint16_t to_port, std::uint64_t now);
    /// Passes the datagrams that are due at frame `now` to the socket. Errors: as for Socket::send().
    shoal::Status flush(std::uint64_t now);
    const LinkCounts& counts() const { return counts_; }

private:
    struct Held {
        std::uint64_t due;
        std::uint16_t to_port;
        std::vector<std::byte> bytes;
    };
    bool happens(double share) { return static_cast<double>(random_.unit()) < share; }
    void hold(const std::vector<std::byte>& bytes, std::uint16_t to_port, std::uint64_t now);

    Socket& socket_;
    LinkOptions options_;
    shoal::Random random_;
    std::vector<Held> held_;
    LinkCounts counts_;
};

}  // namespace duel
