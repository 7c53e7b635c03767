#pragma once
// A snapshot is the state of a world, or of part of a world, at one moment. Saves, kept frames and rewinding use
// snapshots.
//
//     part                              element    elements    blocks, each in its own memory
//     "entities/generations"            1 byte     1,000,001   [ a ][ b ][ c ] ...
//     "body/rows/field/position"        12 bytes   20,000      [ d ][ e ] ...         4,096 elements each
//
// A part is an array of plain values with a path. An object writes its state as parts, one after the other, and later
// reads the state from these parts:
//
//     void Clock::save(SnapshotWriter& to) const { to.value("ticks", ticks_); }
//     Status Clock::load(SnapshotReader& from) { return from.value("ticks", ticks_); }
//
// A Snapshot may share blocks with the previous snapshot. In a column, it shares the blocks whose marks show that they
// have not been written since then. In other parts, it shares the blocks whose bytes are equal. If only a few elements
// of a block were written, the new block consists of pieces of 8 elements over the earlier block. So a second state
// needs memory only for its differences from the first.
//
//     first state     [ a a a a a a a a ]
//     second state          [b]     [b]       two pieces over the first block
//
// The data may come from a malicious file. The reader checks sizes; the code that calls the reader checks values.
// Thread: one thread at a time for all states that share blocks.

#include "shoal/base/detail/bits.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/status.h"

#include <span>
#include <string>
#include <type_traits>

namespace shoal {

class SnapshotBlocks;
class SnapshotColumns;
struct SnapshotBlock;
class TextLease;

/// The number of elements in a block of a column.
inline constexpr std::uint32_t kElementsPerSnapshotBlock = 4096;
/// The number of elements in a block that share one mark and are copied together.
inline constexpr std::uint32_t kElementsPerSnapshotMark = 8;

/// Larger elements are rejected when they are written or read.
inline constexpr std::uint32_t kMaxSnapshotElementBytes = 1u << 20;
inline constexpr std::size_t kMaxSnapshotPathBytes = 4096;

/// The default limit on the memory that may be used to load a state. `num_bytes` is the size of the state in a file or
/// in memory.
SHOAL_API std::uint64_t max_snapshot_bytes(std::uint64_t num_bytes);

/// One array of a state. Blocks of large elements have fewer elements: see elements_per_block.
struct SnapshotPart {
    std::string_view path;  ///< such as "body/rows/field/position"; Lifetime: the state
    std::uint32_t element_bytes = 0;
    std::uint32_t elements_per_block = 0;
    std::uint64_t num_elements = 0;
    std::size_t first_block = 0;

    std::uint64_t num_bytes() const { return num_elements * element_bytes; }
    SHOAL_API std::size_t num_blocks() const;
};

/// The bytes in each element that hold no value, such as the padding between the members of a struct. They are saved as
/// zeros.
struct SnapshotGap {
    std::uint32_t begin = 0, num_bytes = 0;
};

/// The elements of a block that may differ from the elements of another block: a bit for each group of
/// kElementsPerSnapshotMark elements.
struct SnapshotMarks {
    static constexpr std::size_t kCount = kElementsPerSnapshotBlock / kElementsPerSnapshotMark;
    std::uint64_t words[kCount / 64] = {};

    bool has(std::size_t mark) const { return test_bit(words, mark); }
    SHOAL_API bool is_empty() const;
    /// Counts the marks before mark number `mark`.
    SHOAL_API std::size_t count_before(std::size_t mark) const;
    std::size_t count() const { return count_before(kCount); }
    void add_all() { set_bits(words, 0, kCount, true); }
    void add(const SnapshotMarks& other) {
        for (std::size_t i = 0; i < kCount / 64; ++i) words[i] |= other.words[i];
    }
    /// Adds a mark for each byte that is 1 rather than 0, starting at mark number `first`. Requires: `first` and the
    /// number of bytes are multiples of 8.
    SHOAL_API void add(std::size_t first, std::span<const std::uint8_t> is_marked);
};

class Snapshot {
public:
    SHOAL_API Snapshot();
    SHOAL_API ~Snapshot();
    SHOAL_API Snapshot(Snapshot&& other) noexcept;
    SHOAL_API Snapshot& operator=(Snapshot&& other) noexcept;

    bool empty() const { return parts_.empty(); }
    std::size_t num_parts() const { return parts_.size(); }
    SHOAL_API SnapshotPart part(std::size_t number) const;
    /// Returns the number of the part with this path, or num_parts(). If a part had a different path in older programs,
    /// either path finds it.
    SHOAL_API std::size_t find(std::string_view path) const;
    /// Returns the path, or the beginning of a path, that a part had in older programs; empty if the path is the same.
    SHOAL_API static std::string older_path(std::string_view path);
    /// Returns the bytes of one block of a part. If the block consists of pieces, they are assembled in `room`.
    SHOAL_API std::span<const std::byte> block(const SnapshotPart& part, std::size_t number,
                                               Array<std::byte>& room) const;
    /// Returns the elements of a block that may differ from the block of another state: none if both states share the
    /// block, and all if the blocks are unrelated.
    SHOAL_API SnapshotMarks difference(const SnapshotPart& part, std::size_t number, const Snapshot& other,
                                       const SnapshotPart& other_part, std::size_t other_number) const;
    /// Returns the size of a block in bytes.
    SHOAL_API std::size_t block_bytes(const SnapshotPart& part, std::size_t number) const;
    /// Copies the marked elements of a column's block to their positions in `to`. Requires: `to` has room for the
    /// block.
    SHOAL_API void copy_marked(const SnapshotPart& part, std::size_t number, const SnapshotMarks& marks,
                               std::byte* to) const;
    /// Copies elements of a part. Requires: the elements exist, and `to` has room for them.
    SHOAL_API void copy(const SnapshotPart& part, std::uint64_t first, std::uint64_t count, void* to) const;
    /// Like copy(), but counts bytes instead of elements.
    SHOAL_API void copy_bytes(const SnapshotPart& part, std::uint64_t begin, std::uint64_t count, void* to) const;

    /// The total size of the elements in all parts.
    std::uint64_t num_bytes() const { return num_bytes_; }
    /// The size of the blocks and pieces that the state does not share with the previous state.
    std::uint64_t num_own_bytes() const { return num_own_bytes_; }
    /// The limit on the memory that may be used to load an untrusted state: see LoadOptions. By default,
    /// max_snapshot_bytes(num_bytes()).
    std::uint64_t max_bytes() const { return max_bytes_ != 0 ? max_bytes_ : max_snapshot_bytes(num_bytes_); }
    void set_max_bytes(std::uint64_t max_bytes) { max_bytes_ = max_bytes; }
    /// Makes a string table keep the strings of its current ids until the state is cleared or destroyed.
    SHOAL_API void take_lease(TextLease& lease);
    /// Removes all parts. If other states share blocks with this one, the memory is kept for those states.
    SHOAL_API void clear();

private:
    friend class SnapshotWriter;
    friend class SnapshotColumns;
    friend class SnapshotFiller;
    friend class SnapshotReader;
    std::size_t find_as_written(std::string_view path) const;
    void add_part(std::string_view path, std::uint32_t element_bytes, std::uint32_t elements_per_block,
                  std::uint64_t num_elements, std::size_t first_block, std::uint64_t source);
    SnapshotBlock& take_block(std::size_t num_bytes);
    SnapshotBlock& add_block(std::size_t num_bytes);
    void share_block(SnapshotBlock& block);
    struct Part {
        std::size_t path_begin, path_bytes;
        std::uint32_t element_bytes, elements_per_block;
        std::uint64_t num_elements;
        std::size_t first_block;
        std::uint64_t source;  // the `source` with which the part was written, or 0
    };

    SnapshotBlocks* pool_;
    TextLease* lease_ = nullptr;
    Array<char> paths_{Owner("snapshot")};
    Array<Part> parts_{Owner("snapshot")};
    Array<SnapshotBlock*> blocks_{Owner("snapshot")};
    HashMap<std::uint64_t, std::uint32_t> part_by_path_{Owner("snapshot")};  // by the hash of the path
    std::uint64_t num_bytes_ = 0, num_own_bytes_ = 0, max_bytes_ = 0;
    std::uint64_t number_ = 0;  // how many states preceded this one in its chain of states that share blocks
};

/// The path of the part that is being written or read, outermost name first.
class SnapshotPath {
public:
    /// While the scope exists, names are relative to `name`. An empty `name` changes nothing.
    class Scope {
    public:
        Scope(SnapshotPath& path, std::string_view name) : path_(path), num_bytes_(path.text_.size()) {
            if (!name.empty()) path.text_.append(name).push_back('/');
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        ~Scope() { path_.text_.resize(num_bytes_); }

    private:
        SnapshotPath& path_;
        std::size_t num_bytes_;
    };

    const std::string& text() const { return text_; }
    SHOAL_API std::string_view with(std::string_view name);

private:
    std::string text_, with_;
};

/// Runs loops over the blocks of large columns, possibly on several threads. The data that is written or read does not
/// depend on how the loops are run.
struct SnapshotLoop {
    /// Calls some(job, begin, end), in any order, for ranges of about `at_once` blocks that together cover the blocks 0
    /// to `count` - 1. Returns when all calls have returned.
    void (*run)(void* context, std::size_t count, std::size_t at_once,
                void (*some)(void* job, std::size_t begin, std::size_t end), void* job) = nullptr;
    void* context = nullptr;
};

/// Finds the elements of a column's block that were written, or may have been written, at the stamp `since` or later.
struct WrittenSince {
    SnapshotMarks (*find)(const void* context, std::uint32_t column, std::uint32_t block,
                          std::uint64_t since) = nullptr;
    const void* context = nullptr;
    std::uint32_t column = 0;

    explicit operator bool() const { return find != nullptr; }
    SnapshotMarks operator()(std::uint32_t block, std::uint64_t since) const {
        return find(context, column, block, since);
    }
};

class SnapshotWriter {
public:
    /// Appends parts to `to`. `before` is an earlier state of the same object, written at the stamp `since`, or
    /// nullptr. The blocks of columns that have not changed since then are shared.
    SHOAL_API explicit SnapshotWriter(Snapshot& to, const Snapshot* before = nullptr, std::uint64_t since = 0);
    SnapshotWriter(const SnapshotWriter&) = delete;
    SnapshotWriter& operator=(const SnapshotWriter&) = delete;
    SHOAL_API ~SnapshotWriter();

    [[nodiscard]] SnapshotPath::Scope in(std::string_view name) { return {path_, name}; }

    /// From now on, column() does not copy the column, and the state refers to the column's bytes.
    /// Lifetime: the columns' bytes outlive the state. Requires: there is no earlier state.
    SHOAL_API void borrow_columns();
    /// From now on, compares and copies the blocks of large columns with `loop`. Lifetime: the context of `loop`
    /// outlives the writer.
    void use_loop(const SnapshotLoop& loop) { loop_ = loop; }
    /// From now on, column() only collects columns. finish_columns() then compares and copies them in one loop.
    /// Lifetime: until that call, the bytes of the columns and their WrittenSince stay valid and unchanged, and the
    /// state is not read.
    void gather_columns() { gathers_columns_ = true; }
    SHOAL_API void finish_columns();
    /// From now on, objects refuse to save values that loading from a file would reject. For a state that another run
    /// of the program will load.
    void check_values() { checks_values_ = true; }
    bool checks_values() const { return checks_values_; }
    /// Writes a part of plain elements. `source` is for share(), or 0.
    SHOAL_API void elements(std::string_view name, const void* data, std::uint32_t element_bytes,
                            std::uint64_t num_elements, std::uint64_t source = 0);
    /// If the earlier state has this part with the same `source`, shares the part and returns true. The caller then
    /// does not have to write it.
    SHOAL_API bool share(std::string_view name, std::uint64_t source);
    /// Writes the values of an Array, a vector or a span.
    template <class Values>
    void array(std::string_view name, const Values& values) {
        using T = std::remove_cvref_t<decltype(*values.data())>;
        static_assert(std::is_trivially_copyable_v<T>, "only values that are bytes are saved");
        elements(name, values.data(), sizeof(T), values.size());
    }
    template <class T>
    void value(std::string_view name, const T& value) {
        array(name, std::span<const T>(&value, 1));
    }
    void text(std::string_view name, std::string_view text) { elements(name, text.data(), 1, text.size()); }
    SHOAL_API void copy(std::string_view name, const Snapshot& from, const SnapshotPart& part);  ///< copies a part of
                                                                                                 ///< another state
    /// Writes a part that is a column. `source` identifies the array and its history. If an earlier block has a
    /// different source, the marks are ignored, and the blocks are compared.
    SHOAL_API void column(std::string_view name, const void* data, std::uint32_t element_bytes,
                          std::uint64_t num_elements, const WrittenSince& written, std::uint64_t source,
                          std::span<const SnapshotGap> gaps = {});
    /// Whether, in the column written last, a block may have elements that differ from the earlier state.
    SHOAL_API bool may_be_new(std::uint32_t block, const WrittenSince& written) const;

    /// Reports that something cannot be saved. `why` is a message that names it and says what to do. Only the first
    /// report is kept.
    SHOAL_API void refuse(std::string_view why);
    /// Errors: something was refused. The message gives the path of the part.
    const Status& status() const { return status_; }

private:
    SnapshotPart begin_part(std::string_view name, std::uint32_t element_bytes, std::uint32_t elements_per_block,
                            std::uint64_t num_elements, std::uint64_t source);

    Snapshot& to_;
    const Snapshot* before_;
    std::uint64_t since_;
    bool same_source_ = false;     // whether the written part has the same source in before_
    std::uint64_t num_known_ = 0;  // number of blocks in before_
    bool borrows_ = false, checks_values_ = false, gathers_columns_ = false;
    SnapshotLoop loop_;
    SnapshotPath path_;
    Status status_;
};

/// Fills a state with the bytes of all parts, which may arrive in any order. Positions are byte offsets into the
/// concatenation of all parts.
/// Thread: one thread at a time, except for put().
class SnapshotFiller {
public:
    /// Requires: `to` is empty.
    explicit SnapshotFiller(Snapshot& to) : to_(to) {}

    /// Adds a part after the others. Requires: no part has this path.
    SHOAL_API void add_part(std::string_view path, std::uint32_t element_bytes, std::uint64_t num_elements);
    /// Makes room for the first `end` bytes. Allocates memory only for these bytes, not for the sizes that parts
    /// declare.
    SHOAL_API void reserve(std::uint64_t end);
    /// Stores bytes, beginning at position `begin`. Requires: there is room.
    /// Thread: any; several threads may store different bytes at the same time.
    SHOAL_API void put(std::uint64_t begin, std::span<const std::byte> bytes);

private:
    Snapshot& to_;
    std::size_t part_ = 0;                            // the part to which the next block belongs
    Array<std::uint64_t> begins_{Owner("snapshot")};  // where the existing blocks begin
    std::uint64_t end_ = 0;                           // where the last block ends
};

class SnapshotReader {
public:
    /// `from` outlives the reader. `is_trusted` means that this program wrote `from`, and that nothing has changed it
    /// since. `present` is nullptr, or a state of the object that was written just before this load. column() skips the
    /// blocks that `present` shares with `from`.
    explicit SnapshotReader(const Snapshot& from, bool is_trusted = true, const Snapshot* present = nullptr)
        : from_(from), present_(present), is_trusted_(is_trusted) {}
    SnapshotReader(const SnapshotReader&) = delete;
    SnapshotReader& operator=(const SnapshotReader&) = delete;

    bool is_trusted() const { return is_trusted_; }
    /// From now on, copies the blocks of large columns with `loop`. Lifetime: the context of `loop` outlives the
    /// reader.
    void use_loop(const SnapshotLoop& loop) { loop_ = loop; }
    /// From now on, column() only collects columns. finish_columns() then copies them in one loop; until it returns,
    /// their destinations must not be read.
    SHOAL_API void gather_columns();
    SHOAL_API void finish_columns();
    [[nodiscard]] SnapshotPath::Scope in(std::string_view name) { return {path_, name}; }

    /// Whether a part exists.
    SHOAL_API bool has(std::string_view name);
    /// Returns the number of elements in a part. Errors: the part does not exist, or its elements have a different
    /// size.
    SHOAL_API Result<std::uint64_t> count(std::string_view name, std::uint32_t element_bytes);
    /// Copies all elements of a part. Errors: as for count(); the number of elements differs.
    SHOAL_API Status elements(std::string_view name, void* to, std::uint32_t element_bytes, std::uint64_t num_elements);
    /// Reads a part into an array. Allocates memory only after it has checked the count.
    SHOAL_API Status bytes(std::string_view name, Array<std::byte>& to, std::uint32_t element_bytes,
                           std::uint64_t num_elements);
    /// Reserves a share of max_bytes() for data that is built from a part. Errors: the state would take more than
    /// Snapshot::max_bytes().
    SHOAL_API Status take_memory(std::string_view name, std::uint64_t num_bytes);
    /// Returns how many bytes are left for take_memory().
    SHOAL_API std::uint64_t left_memory() const;
    /// Like elements(), but for a part that SnapshotWriter::column() wrote. If the present state was written from
    /// `source`, the blocks that both states share are not copied, because they are already in place. Requires:
    /// `source` is 0, or it identifies the array `to`, which still has its bytes.
    SHOAL_API Status column(std::string_view name, void* to, std::uint32_t element_bytes, std::uint64_t num_elements,
                            std::uint64_t source);
    template <class T>
    Status value(std::string_view name, T& to) {
        static_assert(std::is_trivially_copyable_v<T>, "only values that are bytes are saved");
        return elements(name, static_cast<void*>(&to), sizeof(T), 1);
    }
    template <class T>
    Status array(std::string_view name, Array<T>& to) {
        static_assert(std::is_trivially_copyable_v<T>, "only values that are bytes are saved");
        const Result<std::uint64_t> count = this->count(name, sizeof(T));
        if (!count) return count.status();
        to.resize(static_cast<std::size_t>(*count));
        return elements(name, static_cast<void*>(to.data()), sizeof(T), *count);
    }
    SHOAL_API Result<std::string> text(std::string_view name);  ///< Errors: as for array(); the text is not UTF-8

    /// Returns an error about the data that is read; `what` describes the problem.
    SHOAL_API Status error(std::string_view name, std::string_view what);

private:
    struct Column {
        SnapshotPart part;
        std::size_t first_present, num_present;  // blocks in the present state, if it was written from `to`
        std::byte* to;
        std::size_t first_block;  // its number among the blocks of all columns
    };
    Status check(std::string_view name, std::uint32_t element_bytes, std::uint64_t num_elements);
    void copy_block_of(const Column& column, std::size_t number) const;

    const Snapshot& from_;
    const Snapshot* present_;
    bool is_trusted_, gathers_columns_ = false;
    Array<Column> columns_{Owner("snapshot")};  // the columns to copy
    SnapshotLoop loop_;
    std::uint64_t taken_bytes_ = 0;  // the bytes that take_memory() has reserved
    SnapshotPath path_;
};

}  // namespace shoal
