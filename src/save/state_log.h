#pragma once
// A file of states that only grows: each record has what differs from the state before it. docs/formats/save.md has the
// format.
//
//     +--------+----------+----------+----------+- - -
//     | header | record 0 | record 1 | record 2 |       a kill leaves a last record that is cut: reading ends before it
//     +--------+----------+----------+----------+- - -
//
// What two states share is known to be the same without a look at its bytes: whole blocks of a part, and the elements of a block that
// are not marked as written. Of the others, the bytes that differ are written, compressed: so a record costs what has changed.
// Thread: one at a time for each writer and reader. A writer may work beside the thread that makes and destroys states,
// as long as that thread keeps the two that it writes.

#include "save/state_file.h"
#include "shoal/base/append_file.h"
#include "shoal/state/snapshot.h"

namespace shoal {

/// Begins a log.
struct StateLogHeader {
    char magic[8];
    std::uint32_t version, byte_order;
    std::uint32_t id_bytes, zero;
    std::uint64_t base;
    std::uint64_t checksum;
};
static_assert(sizeof(StateLogHeader) == 40);
/// Begins a record. Its body follows, as a Zstandard frame.
struct StateRecordHeader {
    std::uint32_t magic, num_parts;
    std::uint64_t number;        // from 0
    std::uint64_t packed_bytes;  // of the frame
    std::uint64_t body_bytes;
    std::uint64_t extra_bytes;  // with which the body begins
    std::uint64_t frame;
    std::uint64_t checksum;
};
static_assert(sizeof(StateRecordHeader) == 56);

/// XXH3-64 of what stands before the checksum.
std::uint64_t checksum_of(const StateLogHeader& header);
/// XXH3-64 of the frame that follows, with that of what stands before the checksum, and of the base, as seed.
std::uint64_t checksum_of(const StateRecordHeader& header, const std::byte* packed, std::uint64_t base);

class StateLogWriter {
public:
    /// Makes the file. `base` names what the first record begins from, and the reader has to name the same; 0: nothing.
    /// Errors: as of AppendFile.
    static Result<StateLogWriter> create(const std::string& path, std::uint64_t base = 0);

    /// Makes a log of one record, which append() with the same arguments would write, in place of an older file. Errors: as of
    /// AppendFile::replace().
    static Result<StateLogWriter> replace(const std::string& path, std::uint64_t base, const Snapshot& state,
                                          std::uint64_t frame);

    /// Appends what makes `state` of `before`, which is the state of the record before, or what the log begins from; for
    /// nothing, nullptr. `extra` are bytes of the caller's. Errors: the disk is full, ...: no part of the record counts.
    Status append(const Snapshot& state, const Snapshot* before, std::uint64_t frame,
                  std::span<const std::byte> extra = {});
    /// Waits until all records are on the disk.
    Status flush() { return file_.flush(); }

    std::uint64_t num_bytes() const { return file_.num_bytes(); }
    std::uint64_t num_records() const { return num_records_; }

private:
    Status put_record(const Snapshot& state, const Snapshot* before, std::uint64_t frame,
                      std::span<const std::byte> extra);

    AppendFile file_;
    std::uint64_t base_ = 0, num_records_ = 0;
    Array<std::byte> bytes_{Owner("state log")};  // of the record, and of a header before it; kept for its memory
};

class StateLogReader {
public:
    /// `bytes` are those of the file; they outlive the reader. `base` and `first` are what create() was told, and the state of
    /// that name. No state may take more than `max_bytes` in memory (0: max_snapshot_bytes()). Errors: they are no log,
    /// or of another version, byte order, width of ids or base; the message says which. `is_damaged` is told whether no
    /// other program can read them from this base either.
    static Result<StateLogReader> open(std::span<const std::byte> bytes, std::uint64_t base = 0,
                                       const Snapshot* first = nullptr, std::uint64_t max_bytes = 0,
                                       bool* is_damaged = nullptr);

    /// Goes on to the next record. Returns whether there is one that is whole; if not, all stays as it is.
    bool next();
    /// Whether the file ends with the record that was read last; if not, next() has failed, because of what problem() says.
    bool is_at_end() const { return at_ == bytes_.size(); }
    const Status& problem() const { return problem_; }
    /// Whether that is the size of the state.
    bool is_too_large() const { return is_too_large_; }
    /// Whether that says nothing against the record: its state is too large, or there is no memory to read it.
    bool may_be_whole() const { return is_too_large_ || has_no_memory_; }

    std::uint64_t num_records() const { return num_records_; }
    /// Where the record that was read last ends.
    std::uint64_t num_bytes_read() const { return at_; }
    /// Of the record that was read last.
    std::uint64_t frame() const { return frame_; }
    std::span<const std::byte> extra() const { return extra_; }
    /// Makes its state. Cost: copies all elements. The next state shares the blocks that are equal if `before` is given.
    /// `below`: only the parts whose paths begin with this and a slash; empty: all.
    Snapshot state(const Snapshot* before = nullptr, std::string_view below = {}) const;

private:
    struct Part {
        std::string path;
        std::uint32_t element_bytes = 0;
        std::uint64_t num_elements = 0;
        Array<std::byte> bytes{Owner("state log")};
    };
    struct Record;
    friend class RecordParser;

    Status read_record(std::size_t& record_bytes, Record& record) const;
    void apply(Record& record);

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    std::uint64_t base_ = 0, max_bytes_ = 0, num_records_ = 0, frame_ = 0;
    Array<Part> parts_{Owner("state log")};
    Array<std::byte> extra_{Owner("state log")};
    Status problem_;
    bool is_too_large_ = false, has_no_memory_ = false;
};

}  // namespace shoal
