#pragma once
// A file of states that is only appended to: each record has the differences from the previous state.
// docs/formats/save.md has the format.
//
//     +--------+----------+----------+----------+- - -
//     | header | record 0 | record 1 | record 2 |       a kill leaves a last record that is cut: reading ends before it
//     +--------+----------+----------+----------+- - -
//
// Data that two states share is known to be equal without reading it: whole blocks of a part, and elements of a block
// that are not marked as written. The rest is compared, and the bytes that differ are compressed and written, so the
// cost of a record depends only on the changes.
// Thread: each writer and reader is used by one thread at a time. A writer may run in parallel with the thread that
// makes and destroys states, as long as that thread keeps the two states being written.

#include "save/state_file.h"
#include "shoal/base/detail/append_file.h"
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
/// Begins a record. Its body follows as a Zstandard frame.
struct StateRecordHeader {
    std::uint32_t magic, num_parts;
    std::uint64_t number;        // counted from 0
    std::uint64_t packed_bytes;  // size of the frame
    std::uint64_t body_bytes;
    std::uint64_t extra_bytes;  // the caller's bytes, at the start of the body
    std::uint64_t frame;
    std::uint64_t checksum;
};
static_assert(sizeof(StateRecordHeader) == 56);

/// XXH3-64 of the fields before the checksum.
std::uint64_t checksum_of(const StateLogHeader& header);
/// XXH3-64 of the frame that follows; its seed is a hash of the fields before the checksum and of the base.
std::uint64_t checksum_of(const StateRecordHeader& header, const std::byte* packed, std::uint64_t base);

class StateLogWriter {
public:
    /// Creates the file. `base` identifies the state that the first record changes, and the reader must pass the same
    /// value; 0: none.
    /// Errors: the same as AppendFile.
    static Result<StateLogWriter> create(const std::string& path, std::uint64_t base = 0);

    /// Creates a log of one record, as append() would with the same arguments, in place of an older file. Errors: the
    /// same as AppendFile::replace().
    static Result<StateLogWriter> replace(const std::string& path, std::uint64_t base, const Snapshot& state,
                                          std::uint64_t frame);

    /// Appends the changes that turn `before`, the state of the previous record or the base of the log, into `state`;
    /// nullptr: there is no previous state. `extra`: the caller's bytes. Errors: the disk is full, and others; no part
    /// of the record counts then.
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
    Array<std::byte> bytes_{Owner("state log")};  // the record, with a header before it; a member to reuse its memory
};

class StateLogReader {
public:
    /// `bytes` are the whole file, and outlive the reader. `base` is the value that create() was given, and `first` the
    /// state that it identifies. No state may take more than `max_bytes` in memory (0: max_snapshot_bytes()). Errors:
    /// the bytes are not a log, or have another version, byte order, width of ids or base; the message says which.
    /// `is_damaged` is set to whether other programs cannot read the bytes from this base either.
    static Result<StateLogReader> open(std::span<const std::byte> bytes, std::uint64_t base = 0,
                                       const Snapshot* first = nullptr, std::uint64_t max_bytes = 0,
                                       bool* is_damaged = nullptr);

    /// Moves to the next record. Returns false, and changes nothing, if there is no complete record.
    bool next();
    /// Whether the file ends after the last record read. If not, next() has failed; problem() says why.
    bool is_at_end() const { return at_ == bytes_.size(); }
    const Status& problem() const { return problem_; }
    /// Whether the problem is the size of the state.
    bool is_too_large() const { return is_too_large_; }
    /// Whether the record may be complete, but was not read: its state is too large, or memory ran out.
    bool may_be_whole() const { return is_too_large_ || has_no_memory_; }

    std::uint64_t num_records() const { return num_records_; }
    /// Where the last record read ends.
    std::uint64_t num_bytes_read() const { return at_; }
    /// Of the last record read.
    std::uint64_t frame() const { return frame_; }
    std::span<const std::byte> extra() const { return extra_; }
    /// Makes the state of the last record. Cost: copies all elements. If `before` is given, the new state shares equal
    /// blocks with it. `below`: only the parts whose paths begin with this text and a slash; empty: all parts.
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
