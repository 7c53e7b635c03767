#pragma once
// A snapshot: the state of a world, or of a part of one, at one moment. Saves, kept frames and rewinding use it.
//
//     part                              element    elements    blocks, each in memory of its own
//     "entities/generations"            1 byte     1,000,001   [ a ][ b ][ c ] ...
//     "body/rows/field/position"        12 bytes   20,000      [ d ][ e ] ...         4,096 elements each
//
// A part is an array of plain values with a path. Whoever has state writes it to parts and reads it from them, part by
// part:
//
//     void Clock::save(SnapshotWriter& to) const { to.value("ticks", ticks_); }
//     Status Clock::load(SnapshotReader& from) { return from.value("ticks", ticks_); }
//
// A Snapshot may share blocks with the one that was written before it: those of columns that have not been written
// since, as their marks say, and those of other parts that are equal. Where a few elements of a block have been
// written, it has pieces of 8 elements that lie over the earlier block. So the second state of two takes memory for
// what differs.
//
//     first state     [ a a a a a a a a ]
//     second state          [b]     [b]       two pieces over the first block
//
// What is read may come from a file that somebody made to do harm. The reader checks sizes; whoever reads checks
// values.
// Thread: one at a time for all states that share blocks.

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

/// The elements of a part that are kept together.
inline constexpr std::uint32_t kElementsPerSnapshotBlock = 4096;
/// The elements of a block that are marked as written together, and copied together.
inline constexpr std::uint32_t kElementsPerSnapshotMark = 8;

/// Larger ones are refused when they are written or read.
inline constexpr std::uint32_t kMaxSnapshotElementBytes = 1u << 20;
inline constexpr std::size_t kMaxSnapshotPathBytes = 4096;

/// What a state of so many bytes, in a file or in memory, may grow to while it is loaded if nobody says otherwise.
SHOAL_API std::uint64_t max_snapshot_bytes(std::uint64_t num_bytes);

/// One array of a state. An element that is large has fewer of its kind in a block: see elements_per_block.
struct SnapshotPart {
    std::string_view path;  ///< such as "body/rows/field/position". Lifetime: that of the state
    std::uint32_t element_bytes = 0;
    std::uint32_t elements_per_block = 0;
    std::uint64_t num_elements = 0;
    std::size_t first_block = 0;

    std::uint64_t num_bytes() const { return num_elements * element_bytes; }
    SHOAL_API std::size_t num_blocks() const;
};

/// Bytes of each element that say nothing, such as those between the members of a struct: they are saved as zeros.
struct SnapshotGap {
    std::uint32_t begin = 0, num_bytes = 0;
};

/// Which elements of a block of a column may differ from those of another: a bit for kElementsPerSnapshotMark of them.
struct SnapshotMarks {
    static constexpr std::size_t kCount = kElementsPerSnapshotBlock / kElementsPerSnapshotMark;
    std::uint64_t words[kCount / 64] = {};

    bool has(std::size_t mark) const { return test_bit(words, mark); }
    SHOAL_API bool is_empty() const;
    /// Counts the marks before one.
    SHOAL_API std::size_t count_before(std::size_t mark) const;
    std::size_t count() const { return count_before(kCount); }
    void add_all() { set_bits(words, 0, kCount, true); }
    void add(const SnapshotMarks& other) {
        for (std::size_t i = 0; i < kCount / 64; ++i) words[i] |= other.words[i];
    }
    /// Adds marks from `first` on: those for which there is a 1, not a 0. Requires: `first` and the number of them are
    /// multiples of 8.
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
    /// Returns the number of the part with this path, or num_parts(). A part that an older program has written is found
    /// by the path that it has now, and one of today by its older path.
    SHOAL_API std::size_t find(std::string_view path) const;
    /// Returns the path that older programs gave a part, or the beginning of one; empty: the same.
    SHOAL_API static std::string older_path(std::string_view path);
    /// The bytes of one block of a part. Those of a block that lies in pieces are put together in `room`.
    SHOAL_API std::span<const std::byte> block(const SnapshotPart& part, std::size_t number,
                                               Array<std::byte>& room) const;
    /// Returns which elements of a block may differ from those of a block of another state: none if both share it, and
    /// all if they have nothing in common.
    SHOAL_API SnapshotMarks difference(const SnapshotPart& part, std::size_t number, const Snapshot& other,
                                       const SnapshotPart& other_part, std::size_t other_number) const;
    /// Returns the bytes of a block.
    SHOAL_API std::size_t block_bytes(const SnapshotPart& part, std::size_t number) const;
    /// Copies the marked elements of a block of a column to where they lie in the block. Requires: `to` has room for
    /// the block.
    SHOAL_API void copy_marked(const SnapshotPart& part, std::size_t number, const SnapshotMarks& marks,
                               std::byte* to) const;
    /// Copies elements of a part. Requires: they exist; `to` has room for them.
    SHOAL_API void copy(const SnapshotPart& part, std::uint64_t first, std::uint64_t count, void* to) const;
    /// The same for some of its bytes.
    SHOAL_API void copy_bytes(const SnapshotPart& part, std::uint64_t begin, std::uint64_t count, void* to) const;

    /// What the elements of all parts take.
    std::uint64_t num_bytes() const { return num_bytes_; }
    /// What those blocks and pieces take that the state does not share with the one before it.
    std::uint64_t num_own_bytes() const { return num_own_bytes_; }
    /// What it may take in memory if it is not trusted: see LoadOptions. Not set: max_snapshot_bytes() of its bytes.
    std::uint64_t max_bytes() const { return max_bytes_ != 0 ? max_bytes_ : max_snapshot_bytes(num_bytes_); }
    void set_max_bytes(std::uint64_t max_bytes) { max_bytes_ = max_bytes; }
    /// Lets a string table keep the texts of the ids that it has now, until the state is cleared or destroyed.
    SHOAL_API void take_lease(TextLease& lease);
    /// Removes all parts. Memory is kept for other states that share blocks, as long as there is one.
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
        std::uint64_t source;  // what was given for it, or 0
    };

    SnapshotBlocks* pool_;
    TextLease* lease_ = nullptr;
    Array<char> paths_{Owner("snapshot")};
    Array<Part> parts_{Owner("snapshot")};
    Array<SnapshotBlock*> blocks_{Owner("snapshot")};
    HashMap<std::uint64_t, std::uint32_t> part_by_path_{Owner("snapshot")};  // by the hash of the path
    std::uint64_t num_bytes_ = 0, num_own_bytes_ = 0, max_bytes_ = 0;
    std::uint64_t number_ = 0;  // of the states before it, each of which shares with the one before
};

/// The path of what is written or read now, from outside in.
class SnapshotPath {
public:
    /// While it lives, names are within `name`; empty: as before.
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

/// Runs loops over the blocks of large columns, on several threads perhaps. What is written or read does not depend on
/// it.
struct SnapshotLoop {
    /// Calls some(job, begin, end) for ranges of about `at_once` that together are 0 to `count`, in any order, and
    /// returns when all calls have returned.
    void (*run)(void* context, std::size_t count, std::size_t at_once,
                void (*some)(void* job, std::size_t begin, std::size_t end), void* job) = nullptr;
    void* context = nullptr;
};

/// Tells which elements of a block of a column were written at the stamp `since` or later, or may have been.
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
    /// Appends parts to `to`. `before` is an earlier state of the same, or nullptr, written at the stamp `since`: what
    /// columns have from before that stamp is shared.
    SHOAL_API explicit SnapshotWriter(Snapshot& to, const Snapshot* before = nullptr, std::uint64_t since = 0);
    SnapshotWriter(const SnapshotWriter&) = delete;
    SnapshotWriter& operator=(const SnapshotWriter&) = delete;
    SHOAL_API ~SnapshotWriter();

    [[nodiscard]] SnapshotPath::Scope in(std::string_view name) { return {path_, name}; }

    /// Lets the state refer to columns that are written from now on, where it would copy them.
    /// Lifetime: that of the bytes of these columns. Requires: there is no state before it.
    SHOAL_API void borrow_columns();
    /// Compares and copies the blocks of large columns in a loop. Lifetime: that of the writer.
    void use_loop(const SnapshotLoop& loop) { loop_ = loop; }
    /// Compares and copies the columns that are written from now on by finish_columns(), in one loop.
    /// Lifetime: that of their bytes and of what tells when they were written. Nobody changes them until then, or reads
    /// the state.
    void gather_columns() { gathers_columns_ = true; }
    SHOAL_API void finish_columns();
    /// Asks those who write to refuse values that a load from a file would refuse: the state is for another run of the
    /// program.
    void check_values() { checks_values_ = true; }
    bool checks_values() const { return checks_values_; }
    /// Writes a part of plain elements. `source` is for share(); 0: none.
    SHOAL_API void elements(std::string_view name, const void* data, std::uint32_t element_bytes,
                            std::uint64_t num_elements, std::uint64_t source = 0);
    /// Writes a part as the state before has it, if that was written with the same `source`. Returns whether it was:
    /// then nobody needs to have the bytes.
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
    SHOAL_API void copy(std::string_view name, const Snapshot& from, const SnapshotPart& part);  ///< of another
    /// The same for a column. `source` names the array and its history: marks tell nothing of blocks from another one,
    /// which are compared.
    SHOAL_API void column(std::string_view name, const void* data, std::uint32_t element_bytes,
                          std::uint64_t num_elements, const WrittenSince& written, std::uint64_t source,
                          std::span<const SnapshotGap> gaps = {});
    /// Whether a block of the column that was written last may have elements that the state before does not have there.
    SHOAL_API bool may_be_new(std::uint32_t block, const WrittenSince& written) const;

    /// Notes that something cannot be saved; `why` says what, and what to do. The first note counts.
    SHOAL_API void refuse(std::string_view why);
    /// Errors: what was refused, with its path.
    const Status& status() const { return status_; }

private:
    SnapshotPart begin_part(std::string_view name, std::uint32_t element_bytes, std::uint32_t elements_per_block,
                            std::uint64_t num_elements, std::uint64_t source);

    Snapshot& to_;
    const Snapshot* before_;
    std::uint64_t since_;
    bool same_source_ = false;     // the part that is written, and that of before_
    std::uint64_t num_known_ = 0;  // blocks that the latter has
    bool borrows_ = false, checks_values_ = false, gathers_columns_ = false;
    SnapshotLoop loop_;
    SnapshotPath path_;
    Status status_;
};

/// Fills a state with the bytes of all parts, one part behind the other, which come in any order.
/// Thread: one at a time, but for put().
class SnapshotFiller {
public:
    /// Requires: `to` is empty.
    explicit SnapshotFiller(Snapshot& to) : to_(to) {}

    /// Adds a part after the others. Requires: no part has this path.
    SHOAL_API void add_part(std::string_view path, std::uint32_t element_bytes, std::uint64_t num_elements);
    /// Makes room for the bytes of the first `end`. So much memory is taken, and not what parts say that they have.
    SHOAL_API void reserve(std::uint64_t end);
    /// Puts bytes from `begin` on where they belong. Requires: there is room.
    /// Thread: any, beside others that put other bytes.
    SHOAL_API void put(std::uint64_t begin, std::span<const std::byte> bytes);

private:
    Snapshot& to_;
    std::size_t part_ = 0;                            // of the next block
    Array<std::uint64_t> begins_{Owner("snapshot")};  // of the blocks that there are
    std::uint64_t end_ = 0;                           // of the last of them
};

class SnapshotReader {
public:
    /// `from` outlives the reader. `is_trusted`: this program has written it, and nobody has changed it since.
    /// `present`, or nullptr: what is read over was written to it just now, beside `from`, so that column() finds what
    /// both share.
    explicit SnapshotReader(const Snapshot& from, bool is_trusted = true, const Snapshot* present = nullptr)
        : from_(from), present_(present), is_trusted_(is_trusted) {}
    SnapshotReader(const SnapshotReader&) = delete;
    SnapshotReader& operator=(const SnapshotReader&) = delete;

    bool is_trusted() const { return is_trusted_; }
    /// Copies the blocks of large columns in a loop. Lifetime: that of the reader.
    void use_loop(const SnapshotLoop& loop) { loop_ = loop; }
    /// Copies the columns that are read from now on by finish_columns(), in one loop. Nobody looks at what they are
    /// copied to before.
    SHOAL_API void gather_columns();
    SHOAL_API void finish_columns();
    [[nodiscard]] SnapshotPath::Scope in(std::string_view name) { return {path_, name}; }

    /// Whether there is such a part.
    SHOAL_API bool has(std::string_view name);
    /// Returns how many elements a part has. Errors: there is none, or its elements have another size.
    SHOAL_API Result<std::uint64_t> count(std::string_view name, std::uint32_t element_bytes);
    /// Copies all elements of a part. Errors: as count(); it has another number of elements.
    SHOAL_API Status elements(std::string_view name, void* to, std::uint32_t element_bytes, std::uint64_t num_elements);
    /// The same to an array, which takes memory only if the part has so many.
    SHOAL_API Status bytes(std::string_view name, Array<std::byte>& to, std::uint32_t element_bytes,
                           std::uint64_t num_elements);
    /// Notes that what is made of a part takes memory beside the state. Errors: more than Snapshot::max_bytes() leaves.
    SHOAL_API Status take_memory(std::string_view name, std::uint64_t num_bytes);
    /// Returns how much is left for take_memory().
    SHOAL_API std::uint64_t left_memory() const;
    /// The same as elements() for what SnapshotWriter::column() has written. Blocks that are in place already are not
    /// copied: those that the present state shares, if it was written from `source`. Requires: `to` is where `source`
    /// was, and holds its bytes still; 0: it is elsewhere.
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
    SHOAL_API Result<std::string> text(std::string_view name);  ///< errors: also what is not UTF-8

    /// An error about what is read: `what` says what is wrong with it.
    SHOAL_API Status error(std::string_view name, std::string_view what);

private:
    struct Column {
        SnapshotPart part;
        std::size_t first_present, num_present;  // blocks of the present state, if it was written from here
        std::byte* to;
        std::size_t first_block;  // of all columns together
    };
    Status check(std::string_view name, std::uint32_t element_bytes, std::uint64_t num_elements);
    void copy_block_of(const Column& column, std::size_t number) const;

    const Snapshot& from_;
    const Snapshot* present_;
    bool is_trusted_, gathers_columns_ = false;
    Array<Column> columns_{Owner("snapshot")};  // that are to be copied
    SnapshotLoop loop_;
    std::uint64_t taken_bytes_ = 0;  // beside the state
    SnapshotPath path_;
};

}  // namespace shoal
