#pragma once
// Exchanges bytes between the ranks of an MPI program. All traffic of a cluster goes through this class, which counts
// it.
//
//     exchange()        to and from any ranks; a receiver does not know its senders beforehand: a sparse exchange of
//                       non-blocking sends and a non-blocking barrier
//     exchange_with()   one message to and from each of some ranks that do the same
//     gather()          from each rank to all
//
// All calls are collective: exchange_with() and exchange_columns_with() among peers, the other calls among all ranks.
// Source: Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange", 2010.
// Thread: one thread at a time.

#include "cluster/message.h"

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
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

/// The first number of a rank that differs from the same number of rank 0.
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
    /// Whether several threads may make calls, one at a time.
    bool takes_threads() const { return takes_threads_; }

    /// Sends messages, at most one to each rank, and returns the received messages, ordered by rank. A message to this
    /// rank is returned too.
    std::vector<RankMessage> exchange(std::vector<RankMessage> messages);
    /// Exchanges a message with each of `peers`. Shape: messages: one for each peer, ascending.
    std::vector<RankMessage> exchange_with(std::span<const std::uint32_t> peers, std::vector<RankMessage> messages);
    /// These calls also send the pieces of memory that each message describes. pieces_of(message) returns the
    /// destinations of the sender's pieces, with the same count, order and sizes. They are filled when the call
    /// returns. Until then, the sent pieces must not change. Use exchange_columns() for a few large pieces, because it
    /// sends each large piece as a separate message. It calls work() while the other ranks look for destinations.
    /// Shape: `sent` is indexed by message.
    template <class PiecesOf, class Work>
    void exchange_columns(std::vector<RankMessage> messages, std::span<const std::vector<ColumnPiece>> sent,
                          PiecesOf&& pieces_of, Work&& work) {
        Columns columns(*this, kLargePiece);
        for (std::size_t i = 0; i < sent.size(); ++i) columns.send(messages[i].rank, sent[i]);
        columns.receive_all(exchange(std::move(messages)), pieces_of);
        work();
        columns.wait();
    }
    template <class PiecesOf>
    void exchange_columns_with(std::span<const std::uint32_t> peers, std::vector<RankMessage> messages,
                               std::span<const std::vector<ColumnPiece>> sent, PiecesOf&& pieces_of) {
        Columns columns(*this, kMostBytes);
        for (std::size_t i = 0; i < sent.size(); ++i) columns.send(messages[i].rank, sent[i]);
        columns.receive_all(exchange_with(peers, std::move(messages)), pieces_of);
        columns.wait();
    }
    /// Returns the value of `mine` on each rank. Shape: indexed by rank. A total of more than 2 GiB ends all ranks.
    std::vector<Bytes> gather(const Bytes& mine);
    /// Compares the numbers of all ranks with those of rank 0. All ranks return the first difference of the first rank
    /// that differs.
    std::optional<RankDifference> find_difference(std::span<const std::uint64_t> mine);
    std::uint64_t sum(std::uint64_t mine);
    /// Adds the arrays of all ranks, element by element. A sum of doubles does not depend on the order if all but one
    /// are 0.
    void sum(std::span<double> values);
    void sum(std::span<std::uint64_t> values);
    bool all(bool mine);

    const Traffic& traffic() const { return traffic_; }
    /// Ends all ranks, with a message that contains `why` and this rank.
    [[noreturn]] void abort(std::string_view why) const;

private:
    static constexpr std::size_t kMostBytes = 0x7FFFFFFF;  // limit for one message, because MPI counts with int
    // MPI copies a single piece directly from process to process, but copies a list of pieces through buffers.
    static constexpr std::size_t kLargePiece = 64 << 10;

    /// Pieces that are being sent and received.
    class Columns {
    public:
        /// Pieces of `large` bytes or more are sent as separate messages.
        Columns(Ranks& ranks, std::size_t large) : ranks_(ranks), large_(large) {}
        Columns(const Columns&) = delete;
        Columns& operator=(const Columns&) = delete;
        ~Columns();
        void send(std::uint32_t rank, std::span<const ColumnPiece> pieces);
        void receive(std::uint32_t rank, std::span<const ColumnPiece> pieces);
        template <class PiecesOf>
        void receive_all(const std::vector<RankMessage>& came, PiecesOf&& pieces_of) {
            for (const RankMessage& message : came) receive(message.rank, pieces_of(message));
        }
        void wait();

    private:
        /// Calls start(begin, count, datatype) for each message: one for each large piece, and one for all small
        /// pieces.
        template <class Start>
        void start_each(std::span<const ColumnPiece> pieces, Start&& start);
        MPI_Datatype type_of(std::span<const ColumnPiece> pieces);

        Ranks& ranks_;
        std::size_t large_;
        std::vector<MPI_Request> requests_;
        std::vector<MPI_Datatype> types_;
    };

    Bytes receive(const MPI_Status& status, MPI_Message& message);

    MPI_Comm comm_;
    std::uint32_t rank_ = 0, size_ = 1;
    bool takes_threads_ = false;
    std::uint32_t round_ = 0;  // number of sparse exchanges: separates the messages of consecutive exchanges
    Traffic traffic_;
};

}  // namespace shoal::cluster
