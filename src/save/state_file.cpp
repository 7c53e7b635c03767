#include "save/state_file.h"

#include "shoal/base/detail/large_pages.h"
#include "shoal/base/detail/page_memory.h"
#include "shoal/base/text.h"
#include "shoal/job/row_ranges.h"
#include "shoal/save/save.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace shoal {
namespace {

constexpr char kMagic[8] = {'s', 'h', 'o', 'a', 'l', 's', 'a', 'v'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPieceBytes = std::size_t(1) << 20;
constexpr std::size_t kPiecesPerRound = 64;
constexpr int kLevel = -3;  // favours speed over size

struct FileHeader {
    char magic[8];
    std::uint32_t version, byte_order;
    std::uint64_t file_bytes;
    std::uint64_t raw_bytes;  // size of the elements of all parts
    std::uint64_t num_parts;
    std::uint64_t table_bytes;  // size of the table of parts
    std::uint64_t num_pieces;
    std::uint64_t checksum;  // XXH3-64 of all following bytes
};
static_assert(sizeof(FileHeader) == 64);

/// Begins the entry of a part. Its path follows, zero-padded to a multiple of 8 bytes.
struct PartHeader {
    std::uint64_t num_elements;
    std::uint32_t element_bytes, path_bytes;
};

std::size_t num_pieces_of(std::uint64_t raw_bytes) {
    return static_cast<std::size_t>(raw_bytes / kPieceBytes + (raw_bytes % kPieceBytes != 0));
}

std::size_t largest_piece(std::uint64_t raw_bytes) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, raw_bytes));
}

/// The elements of all parts as one array of bytes.
class RawBytes {
public:
    explicit RawBytes(const Snapshot& state) : state_(state) {
        for (std::size_t i = 0; i < state.num_parts(); ++i) {
            begins_.push_back(size_);
            size_ += state.part(i).num_bytes();
        }
    }
    std::uint64_t size() const { return size_; }
    void copy(std::uint64_t begin, std::size_t num_bytes, std::byte* to) const {
        auto part =
            static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), begin) - begins_.begin()) - 1;
        for (; num_bytes != 0; ++part) {
            const SnapshotPart at = state_.part(part);
            const std::uint64_t first = begin - begins_[part];
            const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(num_bytes, at.num_bytes() - first));
            state_.copy_bytes(at, first, some, to);
            to += some, begin += some, num_bytes -= some;
        }
    }

private:
    const Snapshot& state_;
    Array<std::uint64_t> begins_{Owner("snapshot")};
    std::uint64_t size_ = 0;
};

template <class T>
void append_bytes(Array<std::byte>& bytes, const T* data, std::size_t count) {
    const auto* first = reinterpret_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + count * sizeof(T));
}

/// Calls function(pieces) for groups of pieces, on the workers.
template <class Function>
void for_pieces(Executor& executor, std::size_t num_pieces, Function&& function) {
    constexpr std::uint32_t kPiecesAtOnce = 8;
    if (num_pieces == 0) return;
    for_rows(executor, cut_rows(static_cast<std::uint32_t>(num_pieces), 1, kPiecesAtOnce),
             [&](RowRange some, std::uint32_t) { function(some); });
}

Status damaged(std::string_view what) {
    return Status::error(concat("the file is not a complete save: ", what, "; take another copy of it"));
}

/// Reads and checks the header. Errors: the same as for read_state(). Sets `is_damaged` to false if another program can
/// read the file.
Status read_header(FileHeader& header, std::span<const std::byte> bytes, bool& is_damaged) {
    if (bytes.empty() || std::memcmp(bytes.data(), kMagic, std::min(bytes.size(), sizeof kMagic)) != 0)
        return Status::error("the file is not a save of a world: it does not begin with \"shoalsav\"");
    if (bytes.size() < sizeof header)
        return damaged(
            concat("it is cut short: it has ", bytes.size(), " bytes, and its header alone has ", sizeof header));
    std::memcpy(&header, bytes.data(), sizeof header);
    if (Status status = check_byte_order("save", header.byte_order, is_damaged); !status)
        return Status::error(concat(status.message(), is_damaged ? "; take another copy of it"
                                                                 : "; make it there again as a blob, with "
                                                                   "save_zones()"));
    is_damaged = header.version == kVersion;
    if (!is_damaged)
        return Status::error(concat("the save has version ", header.version,
                                    " of the format, and this program reads version ", kVersion,
                                    "; load it with the program that made it"));
    if (header.file_bytes > bytes.size())
        return damaged(concat("it is cut short: it has ", bytes.size(), " bytes, and had ", header.file_bytes));
    if (header.file_bytes < bytes.size())
        return damaged(concat("it has ", bytes.size(), " bytes, and had ", header.file_bytes));
    if (hash_bytes(bytes.data() + sizeof header, bytes.size() - sizeof header) != header.checksum)
        return damaged("its checksum is wrong");
    const std::uint64_t body_bytes = bytes.size() - sizeof header;
    if (header.num_pieces != num_pieces_of(header.raw_bytes) || header.table_bytes % 8 != 0 ||
        header.num_pieces > body_bytes / sizeof(std::uint32_t) ||
        header.table_bytes > body_bytes - header.num_pieces * sizeof(std::uint32_t))
        return damaged("the sizes in its header do not fit");
    return {};
}

}  // namespace

bool is_lack_of_memory(std::size_t error) { return ZSTD_getErrorCode(error) == ZSTD_error_memory_allocation; }

Status check_byte_order(std::string_view what, std::uint32_t written, bool& is_damaged) {
    if (written == kByteOrderOfStates) return {};
    constexpr std::uint32_t kOther = 0x04030201;
    is_damaged = written != kOther;
    if (is_damaged) return Status::error(concat("the header of the ", what, " is damaged: it has no byte order"));
    constexpr bool kIsLittle = std::endian::native == std::endian::little;
    return Status::error(concat("the ", what, " has the byte order ", kIsLittle ? "big" : "little",
                                "-endian, and this program has ", kIsLittle ? "little" : "big", "-endian"));
}

namespace {

/// Compresses pieces of a state, each into its own part of `room`. Returns false if memory has run out.
bool compress_pieces(const RawBytes& raw, std::size_t first, std::span<std::uint32_t> sizes, std::span<std::byte> room,
                     Executor& executor) {
    const std::size_t place_bytes = room.size() / sizes.size();
    std::atomic<bool> failed{false};
    for_pieces(executor, sizes.size(), [&](RowRange some) {
        Array<std::byte> whole(largest_piece(raw.size()), std::byte(0), "snapshot");
        ZSTD_CCtx* const context = ZSTD_createCCtx();
        for (std::uint32_t i = some.begin; i < some.end; ++i) {
            const std::uint64_t begin = (first + i) * kPieceBytes;
            const auto num_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, raw.size() - begin));
            raw.copy(begin, num_bytes, whole.data());
            const std::size_t size = context == nullptr
                                         ? std::size_t(0)
                                         : ZSTD_compressCCtx(context, room.data() + i * place_bytes, place_bytes,
                                                             whole.data(), num_bytes, kLevel);
            if (size == 0 || ZSTD_isError(size)) failed.store(true, std::memory_order_relaxed);
            sizes[i] = static_cast<std::uint32_t>(size);
        }
        ZSTD_freeCCtx(context);
    });
    return !failed.load();
}

}  // namespace

Result<Array<std::byte>> write_state(const Snapshot& state, Executor& executor) {
    const RawBytes raw(state);
    const std::size_t num_pieces = num_pieces_of(raw.size()),
                      most_bytes = ZSTD_compressBound(largest_piece(raw.size()));
    FileHeader header{{}, kVersion, kByteOrderOfStates, 0, raw.size(), state.num_parts(), 0, num_pieces, 0};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    std::size_t least_bytes = sizeof header;
    for (std::size_t i = 0; i < state.num_parts(); ++i)
        least_bytes += round_up(sizeof(PartHeader) + state.part(i).path.size(), 8);
    Array<std::byte> bytes(sizeof header, std::byte(0), "snapshot");
    // The unused part of the reservation takes address space, but no memory.
    bytes.reserve(least_bytes + num_pieces * (sizeof(std::uint32_t) + most_bytes));
    prefer_large_pages_inside(bytes.data(), bytes.capacity());
    for (std::size_t i = 0; i < state.num_parts(); ++i) {
        const SnapshotPart part = state.part(i);
        const PartHeader head{part.num_elements, part.element_bytes, static_cast<std::uint32_t>(part.path.size())};
        append_bytes(bytes, &head, 1);
        append_bytes(bytes, part.path.data(), part.path.size());
        bytes.resize(round_up(bytes.size(), 8));
    }
    header.table_bytes = bytes.size() - sizeof header;
    const std::size_t sizes_begin = bytes.size();
    bytes.resize(sizes_begin + num_pieces * sizeof(std::uint32_t));
    Array<std::uint32_t> sizes(std::min(num_pieces, kPiecesPerRound), 0, "snapshot");
    Array<std::byte> room("snapshot");
    room.reserve(sizes.size() * most_bytes);
    prefer_large_pages_inside(room.data(), room.capacity());
    room.resize(sizes.size() * most_bytes);
    for (std::size_t first = 0; first < num_pieces; first += sizes.size()) {
        const std::size_t count = std::min(sizes.size(), num_pieces - first);
        if (!compress_pieces(raw, first, std::span(sizes).first(count), std::span(room).first(count * most_bytes),
                             executor))
            return Status::error("there is no memory to compress the save");
        std::memcpy(bytes.data() + sizes_begin + first * sizeof(std::uint32_t), sizes.data(),
                    count * sizeof(std::uint32_t));
        for (std::size_t i = 0; i < count; ++i) append_bytes(bytes, room.data() + i * most_bytes, sizes[i]);
    }
    header.file_bytes = bytes.size();
    header.checksum = hash_bytes(bytes.data() + sizeof header, bytes.size() - sizeof header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

std::uint64_t unpacked_bytes(std::span<const std::byte> bytes) {
    FileHeader header{};
    if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
    return header.raw_bytes;
}

namespace {

/// Reads the table of parts.
Status read_parts(std::span<const std::byte> table, const FileHeader& header, Snapshot& state, SnapshotFiller& to) {
    std::uint64_t used = 0;
    for (std::uint64_t i = 0; i < header.num_parts; ++i) {
        PartHeader part{};
        if (table.size() < sizeof part) return damaged("its table of parts is cut short");
        std::memcpy(&part, table.data(), sizeof part);
        const std::size_t entry_bytes = round_up(sizeof part + part.path_bytes, 8);
        if (part.path_bytes == 0 || part.path_bytes > kMaxSnapshotPathBytes || entry_bytes > table.size())
            return damaged(concat("part ", i, " has no path"));
        const std::string_view path(reinterpret_cast<const char*>(table.data()) + sizeof part, part.path_bytes);
        if (!is_utf8(path)) return damaged(concat("the path of part ", i, " is not valid UTF-8"));
        if (part.element_bytes == 0 || part.element_bytes > kMaxSnapshotElementBytes ||
            part.num_elements > (header.raw_bytes - used) / part.element_bytes)
            return damaged(concat("part \"", path, "\" reaches beyond the end"));
        if (state.find(path) != state.num_parts()) return damaged(concat("part \"", path, "\" is there twice"));
        to.add_part(path, part.element_bytes, part.num_elements);
        used += part.num_elements * part.element_bytes;
        table = table.subspan(entry_bytes);
    }
    if (used != header.raw_bytes || !table.empty()) return damaged("its parts do not fill it");
    return {};
}

enum class Unpacked : std::uint8_t { kAll, kDamaged, kNoMemory };

/// Decompresses pieces. Piece i is in the bytes from `begins[i]` to `begins[i + 1]`.
Unpacked unpack_pieces(std::span<const std::byte> bytes, std::span<const std::uint64_t> begins, std::uint64_t raw_bytes,
                       RowRange pieces, SnapshotFiller& to) {
    Array<std::byte> raw(largest_piece(raw_bytes), std::byte(0), "snapshot");  // stays in the cache
    ZSTD_DCtx* const context = ZSTD_createDCtx();
    Unpacked result = context == nullptr ? Unpacked::kNoMemory : Unpacked::kAll;
    for (std::uint32_t i = pieces.begin; i < pieces.end && result == Unpacked::kAll; ++i) {
        const std::uint64_t begin = std::uint64_t(i) * kPieceBytes;
        const auto num_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, raw_bytes - begin));
        const std::size_t size = ZSTD_decompressDCtx(context, raw.data(), num_bytes, bytes.data() + begins[i],
                                                     static_cast<std::size_t>(begins[i + 1] - begins[i]));
        if (size == num_bytes)
            to.put(begin, {raw.data(), num_bytes});
        else
            result = is_lack_of_memory(size) ? Unpacked::kNoMemory : Unpacked::kDamaged;
    }
    ZSTD_freeDCtx(context);
    return result;
}

}  // namespace

Result<Snapshot> read_state(std::span<const std::byte> bytes, Executor& executor, std::uint64_t max_bytes,
                            bool* is_damaged) {
    FileHeader header{};
    bool unasked = true;
    bool& may_be_damaged = is_damaged == nullptr ? unasked : *is_damaged;
    may_be_damaged = true;
    if (Status status = read_header(header, bytes, may_be_damaged); !status) return status;

    const std::byte* const table = bytes.data() + sizeof header;
    Snapshot state;
    SnapshotFiller filler(state);
    if (Status status = read_parts({table, static_cast<std::size_t>(header.table_bytes)}, header, state, filler);
        !status)
        return status;
    // From here on, memory is allocated only for data that was checked.
    if (max_bytes == 0) max_bytes = max_snapshot_bytes(bytes.size());
    may_be_damaged = header.raw_bytes <= max_bytes;
    if (!may_be_damaged)
        return Status::error(concat("the save takes ", header.raw_bytes, " bytes in memory, and may take ", max_bytes,
                                    "; if you trust its source, set LoadOptions::max_bytes"));
    state.set_max_bytes(max_bytes);
    const std::byte* const sizes = table + header.table_bytes;
    const auto num_pieces = static_cast<std::size_t>(header.num_pieces);
    Array<std::uint64_t> begins(num_pieces + 1, 0, "snapshot");
    begins[0] = sizeof header + header.table_bytes + header.num_pieces * sizeof(std::uint32_t);
    for (std::size_t i = 0; i < num_pieces; ++i) {
        std::uint32_t size = 0;
        std::memcpy(&size, sizes + i * sizeof size, sizeof size);
        begins[i + 1] = begins[i] + size;
    }
    if (begins[num_pieces] != bytes.size()) return damaged("its pieces do not fill it");

    // Decompresses a few pieces at a time, so that a file with a forged size takes no memory for data that it does not
    // contain.
    for (std::size_t first = 0; first < num_pieces; first += kPiecesPerRound) {
        const std::size_t count = std::min(kPiecesPerRound, num_pieces - first);
        filler.reserve(std::min<std::uint64_t>((first + count) * kPieceBytes, header.raw_bytes));
        std::atomic<bool> failed{false}, has_no_memory{false};
        for_pieces(executor, count, [&](RowRange some) {
            const auto at = static_cast<std::uint32_t>(first);
            const Unpacked result =
                unpack_pieces(bytes, begins, header.raw_bytes, {at + some.begin, at + some.end}, filler);
            if (result == Unpacked::kDamaged) failed.store(true, std::memory_order_relaxed);
            if (result == Unpacked::kNoMemory) has_no_memory.store(true, std::memory_order_relaxed);
        });
        may_be_damaged = !has_no_memory.load();
        if (!may_be_damaged)
            return Status::error("there is no memory to decompress the save; free some, and read it again");
        if (failed.load()) return damaged("a piece of it cannot be decompressed");
    }
    return state;
}

Result<Snapshot> read_save(std::span<const std::byte> bytes, const LoadOptions& options) {
    SerialExecutor alone;
    return read_state(bytes, alone, options.max_bytes);
}

}  // namespace shoal
