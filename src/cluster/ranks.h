#pragma once
// The ranks of an MPI program, and the few ways in which they exchange bytes. Everything that a cluster sends goes
// through here, and is counted.
//
//     exchange()        to and from any ranks; a receiver does not know its senders beforehand: a sparse exchange of
//                       non-blocking sends and a non-blocking barrier
//     exchange_with()   one message to and from each of some ranks that do the same
//     gather()          from each rank to all
//
// All calls are collective: exchange_with() and exchange_columns() among the peers, the others among all ranks.
// Source: Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange", 2010.
// Thread: one at a time.

#include "cluster/message.h"

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace shoal::cluster {

struct RankMessage {
    std::uint32_t rank = 0;  ///< the receiver or the sender
    Bytes bytes;
};

/// Memory that is sent or filled directly, without a copy.
struct ColumnPiece {
    std::byte* begin = nullptr;
    std::size_t num_bytes = 0;
};

struct Traffic {
    std::uint64_t num_messages = 0;
    std::int64_t wait_ns = 0;
};

/// Where a rank's number differs from rank 0's.
struct RankDifference {
    std::uint32_t rank;
    std::uint64_t index, first, other;
};

class Ranks {
public:
    explicit Ranks(MPI_Comm comm);
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    std::uint32_t rank() const { return rank_; }
    std::uint32_t size() const { return size_; }
    /// Whether calls may come from several threads, one at a time.
    bool takes_threads() const { return takes_threads_; }

    /// Sends messages, at most one to each rank, and returns the received ones, by rank. A message to this rank is
    /// returned too.
    std::vector<RankMessage> exchange(std::vector<RankMessage> messages);
    /// Exchanges one message with each of `peers`. Shape: messages: one for each of `peers`, ascending.
    std::vector<RankMessage> exchange_with(std::span<const std::uint32_t> peers, std::vector<RankMessage> messages);
    /// Sends a message to each peer, with the pieces of memory that it describes, and receives theirs.
    /// pieces_of(message) returns where a peer's pieces are stored; they have as many bytes as the peer sends, and are
    /// filled when this call returns.
    template <class PiecesOf>
    void exchange_columns(std::span<const std::uint32_t> peers, std::vector<RankMessage> messages,
                          std::span<const std::vector<ColumnPiece>> sent, PiecesOf&& pieces_of) {
        Columns columns(*this);
        for (std::size_t i = 0; i < peers.size(); ++i) columns.send(peers[i], sent[i]);
        for (const RankMessage& came : exchange_with(peers, std::move(messages)))
            columns.receive(came.rank, pieces_of(came));
        columns.wait();
    }
    /// Returns `mine` of each rank. Shape: by rank. More than 2 GiB in total end all ranks.
    std::vector<Bytes> gather(const Bytes& mine);
    /// Compares numbers with those of rank 0. All ranks return the first difference of the first rank that differs from
    /// rank 0.
    std::optional<RankDifference> find_difference(std::span<const std::uint64_t> mine);
    std::uint64_t sum(std::uint64_t mine);
    /// Adds the arrays of all ranks, element by element. A sum of doubles does not depend on the order if at most one
    /// is not 0.
    void sum(std::span<double> values);
    void sum(std::span<std::uint64_t> values);
    bool all(bool mine);

    const Traffic& traffic() const { return traffic_; }
    /// Ends all ranks. The message says what happened on this one.
    [[noreturn]] void abort(std::string_view why) const;

private:
    /// Pieces of memory that are being sent and received.
    class Columns {
    public:
        explicit Columns(Ranks& ranks) : ranks_(ranks) {}
        Columns(const Columns&) = delete;
        Columns& operator=(const Columns&) = delete;
        ~Columns();
        void send(std::uint32_t rank, std::span<const ColumnPiece> pieces);
        void receive(std::uint32_t rank, std::span<const ColumnPiece> pieces);
        void wait();

    private:
        MPI_Datatype type_of(std::span<const ColumnPiece> pieces);

        Ranks& ranks_;
        std::vector<MPI_Request> requests_;
        std::vector<MPI_Datatype> types_;
    };

    Bytes receive(const MPI_Status& status, MPI_Message& message);

    MPI_Comm comm_;
    std::uint32_t rank_ = 0, size_ = 1;
    bool takes_threads_ = false;
    std::uint32_t round_ = 0;  // of sparse exchanges: keeps the messages of two exchanges apart
    Traffic traffic_;
};

}  // namespace shoal::cluster
