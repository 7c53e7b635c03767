#pragma once
// The ranks of an MPI program, and the few ways in which they exchange bytes. Everything that a cluster sends goes
// through here, and is counted.
//
//     exchange()        to and from any ranks; who receives does not know from whom: a sparse exchange of non-blocking
//                       sends and a non-blocking barrier
//     exchange_with()   one message to and from each of some ranks that do the same
//     gather()          what each rank has, to all
//
// All calls are collective, but for send_columns(), which is between two ranks.
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
    std::uint32_t rank = 0;  ///< to which it goes, or from which it comes
    Bytes bytes;
};

/// Memory that is sent or filled as it is.
struct ColumnPiece {
    std::byte* begin = nullptr;
    std::size_t num_bytes = 0;
};

struct Traffic {
    std::uint64_t num_messages = 0;
    std::int64_t wait_ns = 0;
};

/// Where a rank has another number than rank 0.
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

    /// Sends messages, at most one to each rank, and returns those that came, by ranks. What goes to this rank comes
    /// back.
    std::vector<RankMessage> exchange(std::vector<RankMessage> messages);
    /// The same with ranks that all send one to each other. Shape: messages: one for each of `peers`, ascending.
    std::vector<RankMessage> exchange_with(std::span<const std::uint32_t> peers, std::vector<RankMessage> messages);
    /// Sends a message to each peer and the pieces of memory that it is about, and returns what came.
    /// pieces_of(message) says where the pieces of a peer go, which have as many bytes as that has sent; they are there
    /// when it returns.
    template <class PiecesOf>
    void exchange_columns(std::span<const std::uint32_t> peers, std::vector<RankMessage> messages,
                          std::span<const std::vector<ColumnPiece>> sent, PiecesOf&& pieces_of) {
        Columns columns(*this);
        for (std::size_t i = 0; i < peers.size(); ++i) columns.send(peers[i], sent[i]);
        for (const RankMessage& came : exchange_with(peers, std::move(messages)))
            columns.receive(came.rank, pieces_of(came));
        columns.wait();
    }
    /// Returns what each rank has given. Shape: by rank. More than 2 GiB end all ranks.
    std::vector<Bytes> gather(const Bytes& mine);
    /// Compares numbers with those of rank 0. Returns the first difference of the first rank that has one, on all
    /// ranks.
    std::optional<RankDifference> find_difference(std::span<const std::uint64_t> mine);
    std::uint64_t sum(std::uint64_t mine);
    /// Adds arrays of all ranks, element by element, of which one rank at most has something else than 0.
    void sum(std::span<double> values);
    void sum(std::span<std::uint64_t> values);
    bool all(bool mine);

    const Traffic& traffic() const { return traffic_; }
    /// Ends all ranks. The message says what happened on this one.
    [[noreturn]] void abort(std::string_view why) const;

private:
    /// Pieces of memory that are under way.
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
    std::uint32_t round_ = 0;  // of sparse exchanges, so that the messages of two are not mixed up
    Traffic traffic_;
};

}  // namespace shoal::cluster
