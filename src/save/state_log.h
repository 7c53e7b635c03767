#pragma once
// An append-only file of states: each record has the differences from the previous state. docs/formats/save.md
// describes the format.
//
//     +--------+----------+----------+----------+- - -
//     | header | record 0 | record 1 | record 2 |       a kill leaves a last record that is cut: reading ends before it
//     +--------+----------+----------+----------+- - -
//
// Data that two states share is not compared. Two states share whole blocks of a part, and in other blocks, the
// elements that are not marked as written. Other data is compared, and the bytes that differ are compressed and
// written, so the cost of a record depends only on the changes.
// Thread: each writer and reader is used by one thread at a time. A writer may run in parallel with the thread that
// makes and destroys states, if that thread does not destroy the two states that the writer is using.

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
    std::uint64_t extra_bytes;  // size of the caller's bytes at the start of the body
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
    /// Creates the file. `base` identifies the state that the first record is based on, or is 0 if there is none. The
    /// reader must pass the same value.
    /// Errors: the same as for AppendFile::create().
    static Result<StateLogWriter> create(const std::string& path, std::uint64_t base = 0);

    /// Creates a log with one record, which is the record that append() would write. Replaces an older file. Errors:
    /// the same as for AppendFile::replace().
    static Result<StateLogWriter> replace(const std::string& path, std::uint64_t base, const Snapshot& state,
                                          std::uint64_t frame);

    /// Appends a record with the changes from `before` to `state`. `before` is the state of the previous record or the
    /// base of the log, or nullptr if there is none. `extra` holds the caller's bytes. Errors: the file cannot be
    /// written, for example because the disk is full. Readers ignore a partial record.
    Status append(const Snapshot& state, const Snapshot* before, std::uint64_t frame,
                  std::span<const std::byte> extra = {});
    /// Waits until all records are on disk.
    Status flush() { return file_.flush(); }

    std::uint64_t num_bytes() const { return file_.num_bytes(); }
    std::uint64_t num_records() const { return num_records_; }

private:
    Status put_record(const Snapshot& state, const Snapshot* before, std::uint64_t frame,
                      std::span<const std::byte> extra);

    AppendFile file_;
    std::uint64_t base_ = 0, num_records_ = 0;
    Array<std::byte> bytes_{Owner("state log")};  // a header and the record; a member so that its memory is reused
};

class StateLogReader {
public:
    /// `bytes` is the whole file and must outlive the reader. `base` is the value that was passed to create(), and
    /// `first` is the state that it identifies. No state may take more than `max_bytes` in memory. If `max_bytes` is 0,
    /// max_snapshot_bytes() is the limit. Errors: the bytes are not a log, are damaged, or have a different version,
    /// byte order, id width or base. The message describes the problem. `is_damaged` is set to false if a different
    /// program could read the bytes with this base, and otherwise to true.
    static Result<StateLogReader> open(std::span<const std::byte> bytes, std::uint64_t base = 0,
                                       const Snapshot* first = nullptr, std::uint64_t max_bytes = 0,
                                       bool* is_damaged = nullptr);

    /// Moves to the next record. Returns false, and changes nothing, if there is no complete record.
    bool next();
    /// Whether the file ends after the last record that was read. If next() has returned false before the end of the
    /// file, problem() gives the reason.
    bool is_at_end() const { return at_ == bytes_.size(); }
    const Status& problem() const { return problem_; }
    /// Whether next() has failed because the state is too large.
    bool is_too_large() const { return is_too_large_; }
    /// Whether next() has failed because the state is too large or memory has run out. The record may then be complete.
    bool may_be_whole() const { return is_too_large_ || has_no_memory_; }

    std::uint64_t num_records() const { return num_records_; }
    /// The end of the last record that was read.
    std::uint64_t num_bytes_read() const { return at_; }
    /// Data of the last record that was read.
    std::uint64_t frame() const { return frame_; }
    std::span<const std::byte> extra() const { return extra_; }
    /// Returns the state of the last record. If `before` is given, the new state shares equal blocks with it. If
    /// `below` is not empty, returns only the parts whose paths begin with `below` and a slash. Cost: copies all
    /// elements.
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
