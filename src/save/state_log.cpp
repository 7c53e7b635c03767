#include "save/state_log.h"

#include "save/state_file.h"
#include "shoal/base/detail/folder.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity.h"
#include "shoal/save/save.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace shoal {
namespace {

constexpr const char* kLogOwner = "state log";
constexpr char kLogMagic[8] = {'s', 'h', 'o', 'a', 'l', 'l', 'o', 'g'};
constexpr std::uint32_t kLogVersion = 2, kRecordMagic = 0x64726372;  // "rcrd"
constexpr int kLogLevel = -3;                                        // favours speed over size, as in saves
constexpr std::size_t kLogPieceBytes = std::size_t(16) << 10;
constexpr std::uint32_t kNoPart = ~0u;

constexpr std::uint32_t kNoBlock = ~0u;
constexpr std::size_t kMostEqualBytes = 8;  // gaps up to this size are joined; a new run would take as much space

/// Begins a part in the body. If the part is new, its path follows. The blocks come last.
struct PartChange {
    std::uint64_t num_elements;
    std::uint32_t before;  // index of the part in the previous state, or kNoPart
    std::uint32_t path_bytes, element_bytes, elements_per_block;
};
static_assert(sizeof(PartChange) == 24);
/// Begins a block. Its runs follow, and then their bytes. A block with the number kNoBlock and no runs ends the part.
struct BlockChange {
    std::uint32_t number, num_runs;
};
/// A run of bytes in a block. The bytes differ from the previous state.
struct ByteRange {
    std::uint32_t begin, num_bytes;
    std::uint32_t end() const { return begin + num_bytes; }
};

Status too_large(std::uint64_t max_bytes) {
    return Status::error(
        concat("its state is larger than ", max_bytes, " bytes; if you trust its source, set LoadOptions::max_bytes"));
}
Status damaged_record(std::string_view what) { return Status::error(concat("the record is not whole: ", what)); }

/// Compresses its input, and appends the result to an array.
class Packer {
public:
    explicit Packer(Array<std::byte>& to) : to_(to), context_(ZSTD_createCCtx()) {
        failed_ = context_ == nullptr ||
                  ZSTD_isError(ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kLogLevel)) != 0;
    }
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;
    ~Packer() { ZSTD_freeCCtx(context_); }

    void put(const void* data, std::size_t num_bytes) {
        num_bytes_ += num_bytes;
        pack({data, num_bytes, 0}, ZSTD_e_continue);
    }
    /// Ends the stream. Returns whether all input was compressed.
    bool end() {
        pack({nullptr, 0, 0}, ZSTD_e_end);
        return !failed_;
    }
    std::uint64_t num_bytes() const { return num_bytes_; }

private:
    void pack(ZSTD_inBuffer in, ZSTD_EndDirective directive) {
        for (std::size_t left = 1; !failed_ && left != 0;) {
            ZSTD_outBuffer out{piece_, sizeof piece_, 0};
            left = ZSTD_compressStream2(context_, &out, &in, directive);
            to_.insert(to_.end(), piece_, piece_ + out.pos);
            failed_ = ZSTD_isError(left) != 0;
            if (directive == ZSTD_e_continue) left = in.size - in.pos;
        }
    }

    Array<std::byte>& to_;
    ZSTD_CCtx* context_;
    std::uint64_t num_bytes_ = 0;
    bool failed_ = false;
    std::byte piece_[kLogPieceBytes];
};

/// Finds the bytes in which the blocks of a part differ from the previous state.
class BlockDifference {
public:
    BlockDifference(const Snapshot& state, const SnapshotPart& part, const Snapshot* before, const SnapshotPart& known)
        : state_(state), before_(before), part_(part), known_(known) {}

    /// Compares a block. Returns whether it has changes.
    bool find(std::size_t number) {
        runs_.clear();
        const bool has_then = before_ != nullptr && number < known_.num_blocks();
        SnapshotMarks marks;
        if (has_then) {
            marks = state_.difference(part_, number, *before_, known_, number);
            if (marks.is_empty()) return false;
        }
        if (has_then && marks.count() != SnapshotMarks::kCount) {
            find_marked(number, marks);
            return !runs_.empty();
        }
        now_ = state_.block(part_, number, now_room_);
        then_ = has_then ? before_->block(known_, number, then_room_) : std::span<const std::byte>();
        const std::size_t both = std::min(now_.size(), then_.size());
        if (both != 0 && std::memcmp(now_.data(), then_.data(), both) != 0) find_in(0, both);
        if (now_.size() > both) add(both, now_.size(), true);
        return !runs_.empty();
    }

    void put(Packer& to, std::size_t number) {
        const BlockChange change{static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(runs_.size())};
        to.put(&change, sizeof change);
        to.put(runs_.data(), runs_.size() * sizeof(ByteRange));
        bytes_.clear();
        for (const ByteRange& run : runs_) {
            bytes_.insert(bytes_.end(), now_.begin() + run.begin, now_.begin() + run.end());
            std::byte* const out = bytes_.data() + bytes_.size() - run.num_bytes;
            const std::size_t both =
                run.begin < then_.size() ? std::min<std::size_t>(then_.size() - run.begin, run.num_bytes) : 0;
            for (std::size_t i = 0; i < both; ++i) out[i] ^= then_[run.begin + i];
        }
        to.put(bytes_.data(), bytes_.size());
    }

private:
    /// Unmarked elements are equal in both states, so only marked elements are compared.
    void find_marked(std::size_t number, const SnapshotMarks& marks) {
        const std::size_t piece_bytes = std::size_t(part_.element_bytes) * kElementsPerSnapshotMark;
        const auto num_bytes = static_cast<std::size_t>(state_.block_bytes(part_, number));
        now_room_.resize(num_bytes), then_room_.resize(num_bytes);
        state_.copy_marked(part_, number, marks, now_room_.data());
        before_->copy_marked(known_, number, marks, then_room_.data());
        now_ = now_room_, then_ = then_room_;
        for (std::size_t word = 0; word < std::size(marks.words); ++word)
            for_each_bit(marks.words[word], word * 64, [&](std::size_t piece) {
                find_in(piece * piece_bytes, std::min((piece + 1) * piece_bytes, num_bytes));
            });
    }

    void find_in(std::size_t begin, std::size_t end) {
        const std::size_t first = begin;
        while (begin < end) {
            const std::size_t count = std::min(sizeof(std::uint64_t), end - begin);
            std::uint64_t now = 0, then = 0;
            std::memcpy(&now, now_.data() + begin, count);
            std::memcpy(&then, then_.data() + begin, count);
            if (now != then) add(begin, begin + count, !runs_.empty() && runs_.back().begin >= first);
            begin += count;
        }
    }

    /// Adds a run, or extends the last run. `may_join` is whether the bytes between the runs can be part of a run.
    void add(std::size_t begin, std::size_t end, bool may_join) {
        if (!runs_.empty() && begin - runs_.back().end() <= (may_join ? kMostEqualBytes : 0))
            runs_.back().num_bytes = static_cast<std::uint32_t>(end) - runs_.back().begin;
        else
            runs_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)});
    }

    const Snapshot& state_;
    const Snapshot* before_;
    const SnapshotPart &part_, &known_;
    std::span<const std::byte> now_, then_;
    Array<ByteRange> runs_{Owner(kLogOwner)};
    Array<std::byte> now_room_{Owner(kLogOwner)}, then_room_{Owner(kLogOwner)}, bytes_{Owner(kLogOwner)};
};

void put_part(Packer& to, const Snapshot& state, const SnapshotPart& part, const Snapshot* before) {
    PartChange change{part.num_elements, kNoPart, 0, part.element_bytes, part.elements_per_block};
    SnapshotPart known;
    if (const std::size_t number = before == nullptr ? 0 : before->find(part.path);
        before != nullptr && number != before->num_parts()) {
        known = before->part(number);
        // Blocks of different sizes are not compared.
        if (known.element_bytes == part.element_bytes && known.elements_per_block == part.elements_per_block)
            change.before = static_cast<std::uint32_t>(number);
    }
    if (change.before == kNoPart) before = nullptr, change.path_bytes = static_cast<std::uint32_t>(part.path.size());
    to.put(&change, sizeof change);
    to.put(part.path.data(), change.path_bytes);
    BlockDifference difference(state, part, before, known);
    for (std::size_t i = 0; i < part.num_blocks(); ++i)
        if (difference.find(i)) difference.put(to, i);
    const BlockChange end{kNoBlock, 0};
    to.put(&end, sizeof end);
}

}  // namespace

std::uint64_t checksum_of(const StateLogHeader& header) {
    return hash_bytes(&header, offsetof(StateLogHeader, checksum));
}

std::uint64_t checksum_of(const StateRecordHeader& header, const std::byte* packed, std::uint64_t base) {
    return hash_bytes(packed, static_cast<std::size_t>(header.packed_bytes),
                      hash_bytes(&header, offsetof(StateRecordHeader, checksum), base));
}

// --- writing -----------------------------------------------------------------------------------------------------

namespace {

StateLogHeader make_header(std::uint64_t base) {
    StateLogHeader header{{}, kLogVersion, kByteOrderOfStates, sizeof(Entity), 0, base, 0};
    std::memcpy(header.magic, kLogMagic, sizeof kLogMagic);
    header.checksum = checksum_of(header);
    return header;
}

}  // namespace

Result<StateLogWriter> StateLogWriter::create(const std::string& path, std::uint64_t base) {
    Result<AppendFile> file = AppendFile::create(path);
    if (!file) return file.status();
    const StateLogHeader header = make_header(base);
    if (Status status = file->append(std::as_bytes(std::span(&header, 1))); !status) {
        static_cast<void>(remove_file(path));  // report only the first error
        return status;
    }
    StateLogWriter made;
    made.file_ = std::move(*file);
    made.base_ = base;
    return made;
}

Result<StateLogWriter> StateLogWriter::replace(const std::string& path, std::uint64_t base, const Snapshot& state,
                                               std::uint64_t frame) {
    const StateLogHeader header = make_header(base);
    StateLogWriter made;
    made.base_ = base;
    const std::span<const std::byte> bytes = std::as_bytes(std::span(&header, 1));
    made.bytes_.assign(bytes.begin(), bytes.end());
    if (Status status = made.put_record(state, nullptr, frame, {}); !status)
        return Status::error(concat("cannot write \"", path, "\": ", status.message()));
    Result<AppendFile> file = AppendFile::replace(path, made.bytes_);
    if (!file) return file.status();
    made.file_ = std::move(*file);
    made.num_records_ = 1;
    return made;
}

Status StateLogWriter::append(const Snapshot& state, const Snapshot* before, std::uint64_t frame,
                              std::span<const std::byte> extra) {
    bytes_.clear();
    if (Status status = put_record(state, before, frame, extra); !status)
        return Status::error(concat("cannot append to \"", file_.path(), "\": ", status.message()));
    if (Status status = file_.append(bytes_); !status) return status;
    ++num_records_;
    return {};
}

/// Appends a record to bytes_.
Status StateLogWriter::put_record(const Snapshot& state, const Snapshot* before, std::uint64_t frame,
                                  std::span<const std::byte> extra) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + sizeof(StateRecordHeader));
    Packer body(bytes_);
    body.put(extra.data(), extra.size());
    for (std::size_t i = 0; i < state.num_parts(); ++i) put_part(body, state, state.part(i), before);
    if (!body.end()) return Status::error("no memory to compress it");
    StateRecordHeader header{kRecordMagic,
                             static_cast<std::uint32_t>(state.num_parts()),
                             num_records_,
                             bytes_.size() - begin - sizeof(StateRecordHeader),
                             body.num_bytes(),
                             extra.size(),
                             frame,
                             0};
    header.checksum = checksum_of(header, bytes_.data() + begin + sizeof header, base_);
    std::memcpy(bytes_.data() + begin, &header, sizeof header);
    return {};
}

// --- reading -----------------------------------------------------------------------------------------------------

/// A record, decompressed and validated.
struct StateLogReader::Record {
    struct ByteRange {
        std::uint64_t begin;
        std::span<const std::byte> bytes;
    };
    struct Change {
        PartChange part;
        std::string_view path;
        std::size_t first_run, num_runs;
    };
    StateRecordHeader header{};
    Array<std::byte> body{Owner(kLogOwner)};
    Array<Change> changes{Owner(kLogOwner)};
    Array<ByteRange> runs{Owner(kLogOwner)};
    bool is_too_large = false, has_no_memory = false;
};

namespace {

/// Decompresses a frame. Memory use depends on the actual content, not on the size in a header.
Status unpack(std::span<const std::byte> packed, std::uint64_t num_bytes, Array<std::byte>& to, bool& has_no_memory) {
    ZSTD_DCtx* const context = ZSTD_createDCtx();
    std::byte piece[kLogPieceBytes];
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    std::size_t left = context == nullptr ? 0 : 1;
    while (left != 0 && !ZSTD_isError(left) && to.size() <= num_bytes) {
        const std::size_t in_before = in.pos;
        ZSTD_outBuffer out{piece, sizeof piece, 0};
        left = ZSTD_decompressStream(context, &out, &in);
        to.insert(to.end(), piece, piece + out.pos);
        if (out.pos == 0 && in.pos == in_before) break;  // the input is cut short
    }
    ZSTD_freeDCtx(context);
    has_no_memory = context == nullptr || is_lack_of_memory(left);
    if (has_no_memory) return Status::error("there is no memory to decompress it; free some, and read it again");
    if (left != 0 || in.pos != in.size || to.size() != num_bytes) return damaged_record("it cannot be decompressed");
    return {};
}

}  // namespace

/// Finds the parts and blocks in the body of a record. The record may be forged.
class RecordParser {
public:
    RecordParser(const StateLogReader& log, StateLogReader::Record& record)
        : log_(log), record_(record), rest_(record.body), taken_(log.parts_.size(), 0, kLogOwner) {}

    Status parse() {
        rest_ = rest_.subspan(static_cast<std::size_t>(record_.header.extra_bytes));
        std::vector<std::string_view> paths;
        for (std::uint32_t i = 0; i < record_.header.num_parts; ++i) {
            if (Status status = parse_part(); !status) return status;
            paths.push_back(record_.changes.back().path);
        }
        std::sort(paths.begin(), paths.end());
        if (std::adjacent_find(paths.begin(), paths.end()) != paths.end())
            return damaged_record("a part is there twice");
        return rest_.empty() ? Status() : damaged_record("its parts do not fill it");
    }

private:
    /// Removes bytes from the front. Returns false if fewer are left.
    bool take(std::size_t num_bytes, std::span<const std::byte>& bytes) {
        if (num_bytes > rest_.size()) return false;
        bytes = rest_.first(num_bytes);
        rest_ = rest_.subspan(num_bytes);
        return true;
    }

    Status parse_part() {
        std::span<const std::byte> bytes;
        StateLogReader::Record::Change change{{}, {}, record_.runs.size(), 0};
        PartChange& part = change.part;
        if (!take(sizeof part, bytes)) return damaged_record("its table of parts is cut short");
        std::memcpy(&part, bytes.data(), sizeof part);
        if (part.before == kNoPart) {
            if (part.path_bytes == 0 || part.path_bytes > kMaxSnapshotPathBytes || !take(part.path_bytes, bytes))
                return damaged_record("a part has no path");
            change.path = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
            if (!is_utf8(change.path)) return damaged_record("the path of a part is not valid UTF-8");
        } else {
            if (part.before >= taken_.size() || taken_[part.before]++ != 0 || part.path_bytes != 0)
                return damaged_record("a part refers to one that the state before does not have");
            change.path = log_.parts_[part.before].path;
            if (part.element_bytes != log_.parts_[part.before].element_bytes)
                return damaged_record("a part has elements of another size than before");
        }
        if (part.element_bytes == 0 || part.element_bytes > kMaxSnapshotElementBytes || part.elements_per_block == 0)
            return damaged_record(concat("part \"", change.path, "\" has an invalid element size"));
        record_.is_too_large = part.num_elements > (log_.max_bytes_ - num_bytes_) / part.element_bytes;
        if (record_.is_too_large) return too_large(log_.max_bytes_);
        num_bytes_ += part.num_elements * part.element_bytes;
        Status status = parse_blocks(change);
        change.num_runs = record_.runs.size() - change.first_run;
        record_.changes.push_back(change);
        return status;
    }

    /// Parses the blocks, which are in ascending order. A block that the previous state does not have must be complete.
    Status parse_blocks(const StateLogReader::Record::Change& change) {
        const PartChange& part = change.part;
        const std::uint64_t size = part.num_elements * part.element_bytes;
        const std::uint64_t block_bytes = std::uint64_t(part.element_bytes) * part.elements_per_block;
        std::uint64_t filled = part.before == kNoPart ? 0 : log_.parts_[part.before].bytes.size();
        for (std::uint64_t next = 0;;) {
            std::span<const std::byte> bytes;
            BlockChange block{};
            if (!take(sizeof block, bytes))
                return damaged_record(concat("the blocks of part \"", change.path, "\" are cut short"));
            std::memcpy(&block, bytes.data(), sizeof block);
            if (block.number == kNoBlock && block.num_runs == 0) break;
            if (block.number < next || block.number >= (size + block_bytes - 1) / block_bytes ||
                block.number * block_bytes > filled)
                return damaged_record(concat("part \"", change.path, "\" has no block ", block.number));
            const std::uint64_t begin = block.number * block_bytes, end = std::min(begin + block_bytes, size);
            if (!parse_runs(block.num_runs, begin, end, filled))
                return damaged_record(concat("block ", block.number, " of part \"", change.path, "\" does not fit"));
            next = std::uint64_t(block.number) + 1;
        }
        return filled >= size ? Status() : damaged_record(concat("part \"", change.path, "\" is not filled"));
    }

    /// Parses runs, which are in ascending order. If the part grows, the last run must reach the end of the block.
    /// Returns whether they are valid.
    bool parse_runs(std::uint32_t num_runs, std::uint64_t block_begin, std::uint64_t block_end, std::uint64_t& filled) {
        std::span<const std::byte> runs;
        if (num_runs == 0 || num_runs > rest_.size() / sizeof(ByteRange) || !take(num_runs * sizeof(ByteRange), runs))
            return false;
        std::uint64_t next = block_begin;
        for (std::uint32_t i = 0; i < num_runs; ++i) {
            ByteRange run{};
            std::memcpy(&run, runs.data() + i * sizeof run, sizeof run);
            const std::uint64_t begin = block_begin + run.begin;
            std::span<const std::byte> bytes;
            if (begin < next || begin > filled || run.num_bytes == 0 ||
                run.num_bytes > block_end - std::min(begin, block_end) || !take(run.num_bytes, bytes))
                return false;
            record_.runs.push_back({begin, bytes});
            next = begin + run.num_bytes;
            if (next > filled && next != block_end) return false;
            filled = std::max(filled, next);
        }
        return true;
    }

    const StateLogReader& log_;
    StateLogReader::Record& record_;
    std::span<const std::byte> rest_;
    Array<std::uint8_t> taken_;  // how often each part of the previous state is used
    std::uint64_t num_bytes_ = 0;
};

Result<StateLogReader> StateLogReader::open(std::span<const std::byte> bytes, std::uint64_t base, const Snapshot* first,
                                            std::uint64_t max_bytes, bool* is_damaged) {
    bool unasked = true;
    bool& may_be_damaged = is_damaged == nullptr ? unasked : *is_damaged;
    may_be_damaged = true;
    StateLogHeader header{};
    if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kLogMagic, sizeof kLogMagic) != 0)
        return Status::error("the file is not a log of states: it does not begin with \"shoallog\" and a header");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (Status status = check_byte_order("log", header.byte_order, may_be_damaged); !status) return status;
    may_be_damaged = header.version == kLogVersion;
    if (!may_be_damaged)
        return Status::error(concat("the log has version ", header.version, " of the format, and this program reads ",
                                    kLogVersion, "; read it with the program that made it"));
    if (header.checksum != checksum_of(header)) return Status::error("the header of the log is damaged");
    may_be_damaged = header.id_bytes == sizeof(Entity);
    if (!may_be_damaged)
        return Status::error(concat("the log has ids of ", header.id_bytes, " bytes, and this program has ",
                                    sizeof(Entity), "; read it with the program that made it"));
    if (header.base != base) return Status::error("the log does not begin with this state");
    StateLogReader made;
    made.bytes_ = bytes;
    made.at_ = sizeof header;
    made.base_ = base;
    made.max_bytes_ = max_bytes == 0 ? max_snapshot_bytes(bytes.size()) : max_bytes;
    for (std::size_t i = 0; first != nullptr && i < first->num_parts(); ++i) {
        const SnapshotPart from = first->part(i);
        Part& part = made.parts_.emplace_back();
        part.path = from.path;
        part.element_bytes = from.element_bytes;
        part.num_elements = from.num_elements;
        part.bytes.resize(static_cast<std::size_t>(from.num_bytes()));
        first->copy(from, 0, from.num_elements, part.bytes.data());
    }
    return made;
}

Status StateLogReader::read_record(std::size_t& record_bytes, Record& record) const {
    const std::span<const std::byte> rest = bytes_.subspan(at_);
    StateRecordHeader& header = record.header;
    if (rest.size() < sizeof header) return damaged_record("its header is cut short");
    std::memcpy(&header, rest.data(), sizeof header);
    if (header.magic != kRecordMagic) return damaged_record("it does not begin as one");
    if (header.packed_bytes > rest.size() - sizeof header) return damaged_record("it is cut short");
    if (header.checksum != checksum_of(header, rest.data() + sizeof header, base_))
        return damaged_record("its checksum is wrong");
    if (header.number != num_records_) return damaged_record("it belongs to another place");
    // The changes to a state take at most as much space as the state itself plus the headers of the changes.
    constexpr std::uint64_t kPlaceBytes = std::uint64_t(1) << 20;
    if (header.extra_bytes > header.body_bytes || header.extra_bytes > max_bytes_)
        return damaged_record("the sizes in its header do not fit");
    const std::uint64_t half_bytes = (header.body_bytes - header.extra_bytes) / 2;
    record.is_too_large = half_bytes > kPlaceBytes && half_bytes - kPlaceBytes > max_bytes_;
    if (record.is_too_large) return too_large(max_bytes_);
    record_bytes = sizeof header + static_cast<std::size_t>(header.packed_bytes);
    Status status = unpack(rest.subspan(sizeof header, static_cast<std::size_t>(header.packed_bytes)),
                           header.body_bytes, record.body, record.has_no_memory);
    return status ? RecordParser(*this, record).parse() : status;
}

void StateLogReader::apply(Record& record) {
    Array<Part> parts{Owner(kLogOwner)};
    parts.reserve(record.changes.size());
    for (std::size_t i = 0; i < record.changes.size(); ++i) {
        const Record::Change& change = record.changes[i];
        Part part;
        if (change.part.before == kNoPart)
            part.path = change.path;
        else
            part = std::move(parts_[change.part.before]);
        part.element_bytes = change.part.element_bytes;
        part.num_elements = change.part.num_elements;
        part.bytes.resize(static_cast<std::size_t>(part.num_elements * part.element_bytes));
        for (std::size_t r = 0; r < change.num_runs; ++r) {
            const Record::ByteRange& run = record.runs[change.first_run + r];
            std::byte* const to = part.bytes.data() + run.begin;
            for (std::size_t k = 0; k < run.bytes.size(); ++k) to[k] ^= run.bytes[k];
        }
        parts.push_back(std::move(part));
    }
    parts_ = std::move(parts);
    frame_ = record.header.frame;
    extra_.assign(record.body.begin(), record.body.begin() + static_cast<std::ptrdiff_t>(record.header.extra_bytes));
}

bool StateLogReader::next() {
    if (is_at_end() || !problem_) return false;
    Record record;
    std::size_t record_bytes = 0;
    if (Status status = read_record(record_bytes, record); !status) {
        problem_ = Status::error(concat("record ", num_records_, " at byte ", at_, ": ", status.message()));
        is_too_large_ = record.is_too_large;
        has_no_memory_ = record.has_no_memory;
        return false;
    }
    apply(record);
    at_ += record_bytes;
    ++num_records_;
    return true;
}

Snapshot StateLogReader::state(const Snapshot* before, std::string_view below) const {
    Snapshot state;
    state.set_max_bytes(max_bytes_);
    SnapshotWriter to(state, before);
    for (const Part& part : parts_) {
        const bool is_below = part.path.starts_with(below) && part.path.substr(below.size()).starts_with('/');
        if (below.empty() || is_below) to.elements(part.path, part.bytes.data(), part.element_bytes, part.num_elements);
    }
    return state;
}

}  // namespace shoal
