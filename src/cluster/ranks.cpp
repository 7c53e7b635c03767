#include "cluster/ranks.h"

#include "shoal/base/clock.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace shoal::cluster {
namespace {

constexpr int kFirstSparseTag = 1, kPeerTag = 3, kColumnTag = 4;

/// Adds its lifetime to Traffic::wait_ns.
class Waiting {
public:
    explicit Waiting(Traffic& traffic) : traffic_(traffic), begin_ns_(monotonic_ns()) {}
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { traffic_.wait_ns += monotonic_ns() - begin_ns_; }

private:
    Traffic& traffic_;
    std::int64_t begin_ns_;
};

}  // namespace

Ranks::Ranks(MPI_Comm comm) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);  // the handler of `comm` may be different
    int rank = 0, size = 1, level = MPI_THREAD_SINGLE;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    MPI_Query_thread(&level);
    rank_ = static_cast<std::uint32_t>(rank), size_ = static_cast<std::uint32_t>(size);
    takes_threads_ = level >= MPI_THREAD_SERIALIZED;
}

Ranks::~Ranks() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over == 0) MPI_Comm_free(&comm_);
}

void Ranks::abort(std::string_view why) const {
    std::fprintf(stderr, "error: rank %u of %u: %.*s\n", rank_, size_, static_cast<int>(why.size()), why.data());
    std::fflush(stderr);
    MPI_Abort(comm_, 1);
    std::abort();
}

Bytes Ranks::receive(const MPI_Status& status, MPI_Message& message) {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    Bytes bytes(static_cast<std::size_t>(count));
    MPI_Mrecv(bytes.data(), count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    return bytes;
}

std::vector<RankMessage> Ranks::exchange(std::vector<RankMessage> messages) {
    const Waiting waiting(traffic_);
    std::vector<RankMessage> came;
    std::vector<MPI_Request> requests;
    const int tag = kFirstSparseTag + static_cast<int>(round_++ % 2);
    for (RankMessage& message : messages) {
        if (message.rank == rank_) {
            came.push_back(std::move(message));
            continue;
        }
        if (message.bytes.size() > kMostBytes) abort("entities of more than 2 GiB change hands at once");
        MPI_Issend(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE,
                   static_cast<int>(message.rank), tag, comm_, &requests.emplace_back());
        ++traffic_.num_messages;
    }
    MPI_Request barrier = MPI_REQUEST_NULL;
    for (bool is_at_barrier = false; size_ > 1;) {
        int is_there = 0;
        MPI_Message found = MPI_MESSAGE_NULL;
        MPI_Status status;
        MPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &is_there, &found, &status);
        if (is_there != 0) came.push_back({static_cast<std::uint32_t>(status.MPI_SOURCE), receive(status, found)});
        int is_done = 0;
        if (is_at_barrier) {
            MPI_Test(&barrier, &is_done, MPI_STATUS_IGNORE);
            if (is_done != 0) break;
        } else {
            MPI_Testall(static_cast<int>(requests.size()), requests.data(), &is_done, MPI_STATUSES_IGNORE);
            if (is_done != 0) MPI_Ibarrier(comm_, &barrier), is_at_barrier = true;
        }
    }
    std::ranges::sort(came, {}, &RankMessage::rank);
    return came;
}

std::vector<RankMessage> Ranks::exchange_with(std::span<const std::uint32_t> peers, std::vector<RankMessage> messages) {
    const Waiting waiting(traffic_);
    std::vector<MPI_Request> requests;
    for (const RankMessage& message : messages) {
        if (message.bytes.size() > kMostBytes) abort("a halo of more than 2 GiB changes at once");
        MPI_Isend(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE,
                  static_cast<int>(message.rank), kPeerTag, comm_, &requests.emplace_back());
        ++traffic_.num_messages;
    }
    std::vector<RankMessage> came;
    for (const std::uint32_t peer : peers) {
        MPI_Message found = MPI_MESSAGE_NULL;
        MPI_Status status;
        MPI_Mprobe(static_cast<int>(peer), kPeerTag, comm_, &found, &status);
        came.push_back({peer, receive(status, found)});
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return came;
}

std::vector<Bytes> Ranks::gather(const Bytes& mine) {
    const Waiting waiting(traffic_);
    std::vector<int> sizes(size_), places(size_);
    const int size = static_cast<int>(std::min(mine.size(), kMostBytes));
    MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm_);
    std::size_t total = 0;
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
        places[rank] = static_cast<int>(total);
        total += static_cast<std::size_t>(sizes[rank]);
        if (total >= kMostBytes) abort("all ranks together tell each other more than 2 GiB at once");
    }
    Bytes all(total);
    MPI_Allgatherv(mine.data(), size, MPI_BYTE, all.data(), sizes.data(), places.data(), MPI_BYTE, comm_);
    traffic_.num_messages += size_ > 1 ? 2 : 0;
    std::vector<Bytes> result;
    for (std::uint32_t rank = 0; rank < size_; ++rank)
        result.emplace_back(all.begin() + places[rank], all.begin() + places[rank] + sizes[rank]);
    return result;
}

std::optional<RankDifference> Ranks::find_difference(std::span<const std::uint64_t> mine) {
    const std::span<const std::byte> bytes = std::as_bytes(mine);
    const Bytes of_first = gather(rank_ == 0 ? Bytes(bytes.begin(), bytes.end()) : Bytes())[0];
    std::vector<std::uint64_t> first(of_first.size() / sizeof(std::uint64_t));
    copy_bytes(first.data(), of_first.data(), of_first.size());
    const std::size_t index = static_cast<std::size_t>(std::ranges::mismatch(first, mine).in1 - first.begin());
    const bool is_same = index == first.size() && index == mine.size();
    const RankDifference found{is_same ? 0u : 1u, index, index < first.size() ? first[index] : 0,
                               index < mine.size() ? mine[index] : 0};
    Bytes told(sizeof found);
    copy_bytes(told.data(), &found, sizeof found);
    const std::vector<Bytes> all = gather(told);
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
        RankDifference other;
        copy_bytes(&other, all[rank].data(), sizeof other);
        if (other.rank != 0) return RankDifference{rank, other.index, other.first, other.other};
    }
    return std::nullopt;
}

std::uint64_t Ranks::sum(std::uint64_t mine) {
    sum(std::span(&mine, 1));
    return mine;
}

void Ranks::sum(std::span<double> values) {
    if (size_ == 1) return;
    const Waiting waiting(traffic_);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm_);
}

void Ranks::sum(std::span<std::uint64_t> values) {
    if (size_ == 1) return;
    const Waiting waiting(traffic_);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, MPI_SUM, comm_);
}

bool Ranks::all(bool mine) { return sum(mine ? 0u : 1u) == 0; }

MPI_Datatype Ranks::Columns::type_of(std::span<const ColumnPiece> pieces) {
    std::vector<int> sizes;
    std::vector<MPI_Aint> places;
    for (const ColumnPiece& piece : pieces) {
        MPI_Get_address(piece.begin, &places.emplace_back());
        sizes.push_back(static_cast<int>(piece.num_bytes));
    }
    MPI_Datatype& type = types_.emplace_back();
    MPI_Type_create_hindexed(static_cast<int>(sizes.size()), sizes.data(), places.data(), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

template <class Start>
void Ranks::Columns::start_each(std::span<const ColumnPiece> pieces, Start&& start) {
    std::vector<ColumnPiece> small;
    for (const ColumnPiece& piece : pieces) {
        if (piece.num_bytes < large_) {
            if (piece.num_bytes != 0) small.push_back(piece);
            continue;
        }
        for (std::size_t begin = 0; begin < piece.num_bytes; begin += kMostBytes)
            start(piece.begin + begin, static_cast<int>(std::min(kMostBytes, piece.num_bytes - begin)), MPI_BYTE);
    }
    if (!small.empty()) start(MPI_BOTTOM, 1, type_of(small));
}

void Ranks::Columns::send(std::uint32_t rank, std::span<const ColumnPiece> pieces) {
    start_each(pieces, [&](const void* begin, int count, MPI_Datatype type) {
        MPI_Isend(begin, count, type, static_cast<int>(rank), kColumnTag, ranks_.comm_, &requests_.emplace_back());
        ++ranks_.traffic_.num_messages;
    });
}

void Ranks::Columns::receive(std::uint32_t rank, std::span<const ColumnPiece> pieces) {
    start_each(pieces, [&](void* begin, int count, MPI_Datatype type) {
        MPI_Irecv(begin, count, type, static_cast<int>(rank), kColumnTag, ranks_.comm_, &requests_.emplace_back());
    });
}

void Ranks::Columns::wait() {
    const Waiting waiting(ranks_.traffic_);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
}

Ranks::Columns::~Columns() {
    for (MPI_Datatype& type : types_) MPI_Type_free(&type);
}

}  // namespace shoal::cluster
