#include "shoal/state/snapshot.h"

#include "shoal/base/detail/page_memory.h"
#include "shoal/base/detail/string_table.h"
#include "shoal/base/text.h"
#include "state/old_paths.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace shoal {
namespace {

constexpr const char* kSnapshotOwner = "snapshot";
constexpr std::size_t kBytesPerBlock = std::size_t(16) << 10;   // in parts that are not columns
constexpr std::size_t kFirstSlabBytes = std::size_t(64) << 10;  // malloc maps larger blocks separately
constexpr std::size_t kMaxSlabBytes = 8 * kLargePageBytes;
constexpr std::size_t kStepBytes = 1024;  // the sizes of blocks kept for reuse are multiples of this
constexpr std::size_t kMaxSteps = 256;    // longer blocks are allocated one by one
static_assert(kMaxSteps * kStepBytes <= kMaxSlabBytes);
constexpr std::size_t kWithoutMemory = 0, kHeadersAtOnce = 128;
constexpr std::size_t kFetchDistance = 16;  // headers are prefetched this many blocks ahead
constexpr std::uint32_t kMostLayers = 16;   // the maximum number of layers of pieces over one block
constexpr std::size_t kMaxLayeredBytes = std::size_t(1) << 30;
constexpr std::size_t kBytesAtOnce = std::size_t(64) << 10;  // per step of a loop; a step takes a few microseconds
constexpr std::size_t kPlanBytes = 128;                      // the weight of a block in a loop that only looks at marks

std::uint64_t hash_path(std::string_view path) { return hash_text(path); }

/// Returns the number of elements per block in a part that is not a column.
std::uint32_t per_block_of(std::uint32_t element_bytes) {
    return static_cast<std::uint32_t>(std::max<std::size_t>(kBytesPerBlock / element_bytes, 1));
}

}  // namespace

/// Bytes that several states may share: a whole block, or packed pieces over another block. The headers are in one
/// array, separate from the bytes of the blocks, because each state visits all headers.
struct alignas(64) SnapshotBlock {
    std::byte* memory;
    SnapshotBlock* under;     // the block below the pieces; nullptr: the block is whole
    std::size_t num_bytes;    // in `memory`
    std::size_t whole_bytes;  // the size of the block: pieces and the block below together
    std::uint32_t num_users;
    std::uint32_t piece_bytes;
    std::uint16_t num_layers;   // the number of layers of pieces, one on top of another
    bool is_lent;               // the bytes belong to another owner
    std::uint32_t layer_bytes;  // the bytes of all layers
    SnapshotMarks marks;        // the pieces that exist; used only for blocks that are read or changed

    std::byte* data() { return memory; }
    const std::byte* data() const { return memory; }
};
static_assert(offsetof(SnapshotBlock, marks) <= 64 && sizeof(SnapshotBlock) == 128);

namespace {

/// Calls visit(begin, num_bytes) for each run of marked pieces in a block.
template <class Visit>
void for_each_run(const SnapshotMarks& marks, std::size_t piece_bytes, std::size_t whole_bytes, Visit&& visit) {
    for (std::size_t word = 0; word < std::size(marks.words); ++word) {
        std::uint64_t rest = marks.words[word];
        for (std::size_t first = word * 64; rest != 0;) {
            const std::uint32_t skipped = lowest_bit(rest);
            rest >>= skipped, first += skipped;
            const std::uint32_t length = ~rest == 0 ? 64 : lowest_bit(~rest);
            const std::size_t begin = first * piece_bytes;
            visit(begin, std::min(length * piece_bytes, whole_bytes - begin));
            rest = length == 64 ? 0 : rest >> length;
            first += length;
        }
    }
}

/// Copies some bytes of a block.
void copy_block(const SnapshotBlock& block, std::size_t begin, std::size_t count, std::byte* to) {
    const SnapshotBlock* layers[kMostLayers];
    std::size_t num_layers = 0;
    const SnapshotBlock* whole = &block;
    for (; whole->under != nullptr; whole = whole->under) layers[num_layers++] = whole;
    std::memcpy(to, whole->data() + begin, count);
    while (num_layers != 0) {
        const SnapshotBlock& layer = *layers[--num_layers];
        const std::byte* from = layer.data();
        for_each_run(layer.marks, layer.piece_bytes, layer.whole_bytes, [&](std::size_t first, std::size_t bytes) {
            const std::size_t a = std::max(first, begin), b = std::min(first + bytes, begin + count);
            if (a < b) std::memcpy(to + (a - begin), from + (a - first), b - a);
            from += bytes;
        });
    }
}

/// Copies the marked pieces of a block to their positions in `to`.
void copy_pieces(const SnapshotBlock& block, const SnapshotMarks& marks, std::size_t piece_bytes, std::byte* to) {
    for (std::size_t word = 0; word < std::size(marks.words); ++word)
        for_each_bit(marks.words[word], word * 64, [&](std::size_t piece) {
            const SnapshotBlock* at = &block;
            while (at->under != nullptr && !at->marks.has(piece)) at = at->under;
            const std::size_t place = at->under == nullptr ? piece : at->marks.count_before(piece);
            const std::size_t begin = piece * piece_bytes;
            std::memcpy(to + begin, at->data() + place * piece_bytes, std::min(piece_bytes, block.whole_bytes - begin));
        });
}

/// Packs the marked pieces of the whole block at `data` into `to`.
void pack_pieces(const SnapshotMarks& marks, std::size_t piece_bytes, std::size_t whole_bytes, const std::byte* data,
                 std::byte* to) {
    for_each_run(marks, piece_bytes, whole_bytes, [&](std::size_t begin, std::size_t bytes) {
        std::memcpy(to, data + begin, bytes);
        to += bytes;
    });
}

/// Adds to `marks` the pieces in which `block` may differ from `base`. Returns whether `base` is below `block`.
bool add_layers(const SnapshotBlock& block, const SnapshotBlock& base, SnapshotMarks& marks) {
    const SnapshotBlock* at = &block;
    for (; at != &base; at = at->under) {
        if (at->under == nullptr) return false;
        marks.add(at->marks);
    }
    return true;
}

/// Prefetches the header of a block.
void fetch(std::span<SnapshotBlock* const> blocks, std::size_t number) {
    if (number < blocks.size()) __builtin_prefetch(blocks[number], 1);
}

void clear_gaps(std::byte* data, std::size_t num_bytes, std::span<const SnapshotGap> gaps, std::size_t element_bytes) {
    if (gaps.empty()) return;
    for (std::size_t element = 0; element < num_bytes; element += element_bytes)
        for (const SnapshotGap& gap : gaps) std::memset(data + element + gap.begin, 0, gap.num_bytes);
}

/// Calls function(begin, end) for ranges of blocks that together cover 0 to `count` - 1. `num_bytes` is the size of all
/// blocks; if it is small, makes only one call.
template <class Function>
void for_blocks(const SnapshotLoop& loop, std::size_t count, std::size_t num_bytes, Function&& function) {
    if (count == 0) return;
    if (loop.run == nullptr || num_bytes < 2 * kBytesAtOnce) return function(std::size_t(0), count);
    const auto some = [](void* job, std::size_t begin, std::size_t end) {
        (*static_cast<std::remove_reference_t<Function>*>(job))(begin, end);
    };
    loop.run(loop.context, count, std::max<std::size_t>(kBytesAtOnce * count / num_bytes, 1), some, &function);
}

}  // namespace

/// Adds the blocks of columns to a state. All columns are added together, because a single column may be too small for
/// several threads. One loop plans each block. Then memory is allocated for all new blocks, and a second loop fills
/// them.
class SnapshotColumns {
public:
    struct Column {
        const std::byte* data;
        std::uint32_t element_bytes;
        std::size_t num_bytes;
        std::span<SnapshotBlock* const> known;  // an earlier state's blocks of the column
        WrittenSince written;                   // what was written since that state; empty if unknown
        std::uint64_t since;
        bool is_lent;  // the state refers to the column's bytes
    };

    /// Adds the blocks of a column to a state; they exist after finish(). Requires: no columns are being added to
    /// another state.
    void add(Snapshot& to, const Column& column, std::span<const SnapshotGap> gaps);
    void finish(const SnapshotLoop& loop);

private:
    struct Added {
        Column column;
        std::size_t first_gap, num_gaps;
        std::size_t first_block;  // the number of the column's first block in the state
        std::size_t first_plan, num_plans;
    };
    enum class Made { kShared, kLent, kCopied, kOfPieces };
    /// How a block is made. All members except `made` are only for blocks of pieces: see SnapshotBlock.
    struct Plan {
        Made made;
        std::uint32_t num_layers, layer_bytes;
        std::size_t num_bytes;  // the number of new bytes
        SnapshotMarks marks;
    };
    struct New {
        const Added* added;
        const Plan* plan;
        std::size_t number;  // the block's number in the column
        std::byte* to;       // the block's memory, kept here because another processor may have written the header
    };

    std::size_t whole_bytes(const Column& column, std::size_t number) const {
        const std::size_t begin = begin_of(column, number);
        return std::min(column.num_bytes - begin, std::size_t(column.element_bytes) * kElementsPerSnapshotBlock);
    }
    static std::size_t begin_of(const Column& column, std::size_t number) {
        return number * column.element_bytes * kElementsPerSnapshotBlock;
    }
    std::span<const SnapshotGap> gaps_of(const Added& added) const {
        return std::span(gaps_).subspan(added.first_gap, added.num_gaps);
    }
    void make_plans(const SnapshotLoop& loop);
    void make_plan(const Added& added, std::size_t number, Array<std::byte>& room, Plan& plan) const;
    void plan_written(const Column& column, std::size_t number, SnapshotBlock& known, Plan& plan) const;
    void take_blocks();
    void fill_blocks(const SnapshotLoop& loop);

    Snapshot* to_ = nullptr;
    Array<Added> added_{Owner(kSnapshotOwner)};
    Array<SnapshotGap> gaps_{Owner(kSnapshotOwner)};  // of all columns
    Array<Plan> plans_{Owner(kSnapshotOwner)};        // of all columns
    Array<New> new_{Owner(kSnapshotOwner)};
};

/// The memory of states that share blocks. The last of these states destroys it.
class SnapshotBlocks {
public:
    static SnapshotBlocks& make() { return *make_owned<SnapshotBlocks>(kSnapshotOwner); }
    void use() { ++num_states_; }
    void leave() {
        if (--num_states_ != 0) return;
        for (const Slab& slab : slabs_) release(slab);
        destroy_owned(kSnapshotOwner, this);
    }
    /// The object and its memory are kept between states, because getting new pages in each frame might cost more than
    /// copying.
    SnapshotColumns& columns() { return columns_; }

    SnapshotBlock& take(std::size_t num_bytes) {
        const std::size_t steps = steps_of(num_bytes);
        SnapshotBlock& block = steps > kMaxSteps      ? make_long(num_bytes)
                               : free_[steps].empty() ? make(steps)
                                                      : free_[steps].take();
        begin_use(block, num_bytes);
        return block;
    }
    /// Returns a block whose bytes belong to another owner.
    SnapshotBlock& lend(std::byte* memory, std::size_t num_bytes) {
        SnapshotBlock& block = take_header();
        begin_use(block, num_bytes);
        block.memory = memory;
        block.is_lent = true;
        return block;
    }
    /// Releases one use of each block. The array is reused for the blocks below them. Works layer by layer, so that
    /// some headers are prefetched while others are released. Code that followed each chain downwards would wait for
    /// every header.
    void give_back(std::span<SnapshotBlock*> blocks) {
        while (!blocks.empty()) {
            std::size_t num_under = 0;
            for (std::size_t i = 0; i < blocks.size(); ++i) {
                fetch(blocks, i + kFetchDistance);
                if (--blocks[i]->num_users != 0) continue;
                SnapshotBlock* const under = blocks[i]->under;
                release(*blocks[i]);
                if (under != nullptr) blocks[num_under++] = under;
            }
            blocks = blocks.first(num_under);
        }
    }

private:
    /// Unused blocks of one length. They are in an array, not in a linked list, so that the next blocks are known and
    /// can be prefetched.
    class FreeBlocks {
    public:
        bool empty() const { return blocks_.empty(); }
        /// Makes room for blocks that will be given back, so that giving them back needs no memory.
        void expect(std::size_t count) {
            num_expected_ += count;
            if (num_expected_ > blocks_.capacity()) blocks_.reserve(std::max(num_expected_, 2 * blocks_.capacity()));
        }
        void give(SnapshotBlock& block) { blocks_.push_back(&block); }
        SnapshotBlock& take() {
            SnapshotBlock& block = *blocks_.back();
            blocks_.pop_back();
            if (blocks_.size() > kFetchDistance) fetch(blocks_, blocks_.size() - kFetchDistance);
            return block;
        }

    private:
        Array<SnapshotBlock*> blocks_{Owner(kSnapshotOwner)};
        std::size_t num_expected_ = 0;
    };
    struct Slab {
        std::byte* data;
        std::size_t num_bytes;
        bool in_pages;
    };

    static void begin_use(SnapshotBlock& block, std::size_t num_bytes) {
        block.num_bytes = block.whole_bytes = num_bytes;
        block.under = nullptr;
        block.num_users = 1;
        block.num_layers = 0, block.layer_bytes = 0;
        block.is_lent = false;
    }
    void release(SnapshotBlock& block) {
        const std::size_t steps = steps_of(block.num_bytes);
        const bool is_long = steps > kMaxSteps;
        if (is_long && !block.is_lent) release_memory(block.memory, block.num_bytes, kSnapshotOwner);
        free_[is_long || block.is_lent ? kWithoutMemory : steps].give(block);
    }
    static std::size_t steps_of(std::size_t num_bytes) {
        return std::max<std::size_t>((num_bytes + kStepBytes - 1) / kStepBytes, 1);
    }
    /// Returns a block without bytes.
    SnapshotBlock& take_header() {
        FreeBlocks& free = free_[kWithoutMemory];
        if (free.empty()) {
            free.expect(kHeadersAtOnce);
            std::byte* const headers = cut(kHeadersAtOnce * sizeof(SnapshotBlock));
            for (std::size_t i = kHeadersAtOnce; i-- > 0;)
                free.give(*::new (static_cast<void*>(headers + i * sizeof(SnapshotBlock))) SnapshotBlock());
        }
        return free.take();
    }
    SnapshotBlock& make(std::size_t steps) {
        free_[steps].expect(1);
        SnapshotBlock& block = take_header();
        block.memory = cut(steps * kStepBytes);
        return block;
    }
    SnapshotBlock& make_long(std::size_t num_bytes) {
        SnapshotBlock& block = take_header();
        block.memory = static_cast<std::byte*>(allocate_memory(num_bytes, kSnapshotOwner));
        return block;
    }
    /// Returns memory with the alignment of a block. Requires: num_bytes is a multiple of the alignment.
    std::byte* cut(std::size_t num_bytes) {
        if (slabs_.empty() || used_ + num_bytes > slabs_.back().num_bytes) {
            const std::size_t next_bytes = slabs_.empty() ? kFirstSlabBytes : slabs_.back().num_bytes * 2;
            slabs_.push_back(make_slab(std::max(next_bytes, num_bytes)));
            used_ = 0;
        }
        std::byte* const data = slabs_.back().data;
        const std::size_t skipped = reinterpret_cast<std::uintptr_t>(data) % alignof(SnapshotBlock);
        std::byte* const memory = data + (alignof(SnapshotBlock) - skipped) % alignof(SnapshotBlock) + used_;
        used_ += num_bytes;
        return memory;
    }

    /// Large slabs use large pages, because filling 4 KiB pages for the first time takes three times as long as the
    /// copy.
    static Slab make_slab(std::size_t num_bytes) {
        num_bytes = std::min(num_bytes, kMaxSlabBytes);
        if (num_bytes >= kLargePageBytes)
            if (Result<PageRange> range = reserve_pages(num_bytes, kLargePageBytes)) {
                prefer_large_pages(range->data, num_bytes);
                return {range->data, num_bytes, true};
            }
        auto* const memory =
            static_cast<std::byte*>(allocate_memory(num_bytes + alignof(SnapshotBlock), kSnapshotOwner));
        return {memory, num_bytes, false};
    }
    static void release(const Slab& slab) {
        if (slab.in_pages) return release_pages({slab.data, slab.num_bytes});
        release_memory(slab.data, slab.num_bytes + alignof(SnapshotBlock), kSnapshotOwner);
    }

    std::uint32_t num_states_ = 0;
    Array<Slab> slabs_{Owner(kSnapshotOwner)};
    std::size_t used_ = 0;            // how many bytes of the last slab are in use
    FreeBlocks free_[kMaxSteps + 1];  // by size in steps; at kWithoutMemory, blocks that are only headers
    SnapshotColumns columns_;
};

std::uint64_t max_snapshot_bytes(std::uint64_t num_bytes) {
    constexpr std::uint64_t kLeast = std::uint64_t(1) << 30, kTimes = 64;
    return num_bytes <= kLeast / kTimes ? kLeast : num_bytes * kTimes;
}

// --- marks -------------------------------------------------------------------------------------------------------

std::size_t SnapshotPart::num_blocks() const {
    return static_cast<std::size_t>((num_elements + elements_per_block - 1) / elements_per_block);
}

bool SnapshotMarks::is_empty() const {
    return std::ranges::all_of(words, [](std::uint64_t word) { return word == 0; });
}

std::size_t SnapshotMarks::count_before(std::size_t mark) const {
    std::size_t count = 0;
    for (std::size_t word = 0; word < mark / 64; ++word) count += count_bits(words[word]);
    return mark % 64 == 0 ? count : count + count_bits(words[mark / 64] << (64 - mark % 64));
}

void SnapshotMarks::add(std::size_t first, std::span<const std::uint8_t> is_marked) {
    // Packs the lowest bits of 8 bytes into the highest byte. The first byte becomes its lowest bit.
    constexpr bool kIsLittle = std::endian::native == std::endian::little;
    constexpr std::uint64_t kGather = kIsLittle ? 0x0102040810204080 : 0x8040201008040201;
    for (std::size_t i = 0; i < is_marked.size(); i += 8) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, is_marked.data() + i, sizeof bytes);
        words[(first + i) / 64] |= (bytes * kGather >> 56) << (first + i) % 64;
    }
}

// --- states ------------------------------------------------------------------------------------------------------

Snapshot::Snapshot() : pool_(&SnapshotBlocks::make()) { pool_->use(); }

Snapshot::~Snapshot() {
    clear();
    pool_->leave();
}

Snapshot::Snapshot(Snapshot&& other) noexcept : Snapshot() { *this = std::move(other); }

Snapshot& Snapshot::operator=(Snapshot&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(lease_, other.lease_);
    std::swap(paths_, other.paths_);
    std::swap(parts_, other.parts_);
    std::swap(blocks_, other.blocks_);
    std::swap(part_by_path_, other.part_by_path_);
    std::swap(num_bytes_, other.num_bytes_);
    std::swap(num_own_bytes_, other.num_own_bytes_);
    std::swap(max_bytes_, other.max_bytes_);
    std::swap(number_, other.number_);
    return *this;
}

void Snapshot::clear() {
    pool_->give_back(blocks_);
    paths_.clear(), parts_.clear(), blocks_.clear(), part_by_path_.clear();
    num_bytes_ = num_own_bytes_ = max_bytes_ = 0;
    if (lease_ != nullptr) give_back_lease(*std::exchange(lease_, nullptr));
}

void Snapshot::take_lease(TextLease& lease) {
    shoal::take_lease(lease);
    if (lease_ != nullptr) give_back_lease(*lease_);
    lease_ = &lease;
}

SnapshotPart Snapshot::part(std::size_t number) const {
    SHOAL_ASSERT(number < parts_.size(), "the state has no such part");
    const Part& part = parts_[number];
    return {{paths_.data() + part.path_begin, part.path_bytes},
            part.element_bytes,
            part.elements_per_block,
            part.num_elements,
            part.first_block};
}

std::size_t Snapshot::find(std::string_view path) const {
    const std::size_t number = find_as_written(path);
    if (number != num_parts()) return number;
    for (const OldWord& word : kOldWords)
        for (const auto& [asked, written] : {std::pair(word.now, word.then), std::pair(word.then, word.now)})
            if (path.starts_with(asked)) return find_as_written(concat(written, path.substr(asked.size())));
    return number;
}

std::string Snapshot::older_path(std::string_view path) {
    for (const OldWord& word : kOldWords)
        if (path.starts_with(word.now)) return concat(word.then, path.substr(word.now.size()));
    return {};
}

std::size_t Snapshot::find_as_written(std::string_view path) const {
    const std::uint32_t* const number =
        part_by_path_.find_if(hash_path(path), [&](std::uint32_t candidate) { return part(candidate).path == path; });
    return number == nullptr ? num_parts() : *number;
}

void Snapshot::add_part(std::string_view path, std::uint32_t element_bytes, std::uint32_t elements_per_block,
                        std::uint64_t num_elements, std::size_t first_block, std::uint64_t source) {
    const Part part{paths_.size(), path.size(), element_bytes, elements_per_block, num_elements, first_block, source};
    paths_.insert(paths_.end(), path.begin(), path.end());
    part_by_path_.add(hash_path(path), static_cast<std::uint32_t>(parts_.size()));
    parts_.push_back(part);
    num_bytes_ += num_elements * element_bytes;
}

/// Returns a block of arbitrary bytes for this state.
SnapshotBlock& Snapshot::take_block(std::size_t num_bytes) {
    num_own_bytes_ += num_bytes;
    return pool_->take(num_bytes);
}

/// Adds a block of arbitrary bytes.
SnapshotBlock& Snapshot::add_block(std::size_t num_bytes) {
    SnapshotBlock& block = take_block(num_bytes);
    blocks_.push_back(&block);
    return block;
}

void Snapshot::share_block(SnapshotBlock& block) {
    ++block.num_users;
    blocks_.push_back(&block);
}

std::span<const std::byte> Snapshot::block(const SnapshotPart& part, std::size_t number, Array<std::byte>& room) const {
    SHOAL_ASSERT(number < part.num_blocks(), "the part has no such block");
    const SnapshotBlock& block = *blocks_[part.first_block + number];
    if (block.under == nullptr) return {block.data(), block.num_bytes};
    room.resize(block.whole_bytes);
    copy_block(block, 0, block.whole_bytes, room.data());
    return room;
}

SnapshotMarks Snapshot::difference(const SnapshotPart& part, std::size_t number, const Snapshot& other,
                                   const SnapshotPart& other_part, std::size_t other_number) const {
    SHOAL_ASSERT(number < part.num_blocks() && other_number < other_part.num_blocks(), "the part has no such block");
    const SnapshotBlock& block = *blocks_[part.first_block + number];
    SnapshotMarks marks;
    if (!add_layers(block, *other.blocks_[other_part.first_block + other_number], marks)) marks.add_all();
    return marks;
}

std::size_t Snapshot::block_bytes(const SnapshotPart& part, std::size_t number) const {
    SHOAL_ASSERT(number < part.num_blocks(), "the part has no such block");
    return blocks_[part.first_block + number]->whole_bytes;
}

void Snapshot::copy_marked(const SnapshotPart& part, std::size_t number, const SnapshotMarks& marks,
                           std::byte* to) const {
    SHOAL_ASSERT(number < part.num_blocks() && part.elements_per_block == kElementsPerSnapshotBlock,
                 "it is no block of a column");
    copy_pieces(*blocks_[part.first_block + number], marks, std::size_t(part.element_bytes) * kElementsPerSnapshotMark,
                to);
}

void Snapshot::copy(const SnapshotPart& part, std::uint64_t first, std::uint64_t count, void* to) const {
    SHOAL_ASSERT(first <= part.num_elements && count <= part.num_elements - first, "the part has no such elements");
    copy_bytes(part, first * part.element_bytes, count * part.element_bytes, to);
}

void Snapshot::copy_bytes(const SnapshotPart& part, std::uint64_t begin, std::uint64_t count, void* to) const {
    SHOAL_ASSERT(begin <= part.num_bytes() && count <= part.num_bytes() - begin, "the part has no such bytes");
    const std::uint64_t block_bytes = std::uint64_t(part.element_bytes) * part.elements_per_block;
    auto* out = static_cast<std::byte*>(to);
    while (count != 0) {
        const SnapshotBlock& block = *blocks_[part.first_block + static_cast<std::size_t>(begin / block_bytes)];
        const auto skipped = static_cast<std::size_t>(begin % block_bytes);
        const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(count, block.whole_bytes - skipped));
        copy_block(block, skipped, some, out);
        out += some, begin += some, count -= some;
    }
}

std::string_view SnapshotPath::with(std::string_view name) {
    with_.assign(text_).append(name);
    return with_;
}

// --- columns -----------------------------------------------------------------------------------------------------

namespace {

/// Whether the bytes of a block equal the bytes at `data`, except in gaps. `room` is used for blocks that cannot be
/// compared in place.
bool is_equal(const SnapshotBlock& block, const std::byte* data, std::span<const SnapshotGap> gaps,
              std::size_t element_bytes, Array<std::byte>& room) {
    if (block.under == nullptr && gaps.empty()) return std::memcmp(block.data(), data, block.num_bytes) == 0;
    room.resize(2 * block.whole_bytes);
    std::byte* const before = room.data();
    std::byte* const now = before + block.whole_bytes;
    copy_block(block, 0, block.whole_bytes, before);
    std::memcpy(now, data, block.whole_bytes);
    clear_gaps(now, block.whole_bytes, gaps, element_bytes);
    return std::memcmp(before, now, block.whole_bytes) == 0;
}

}  // namespace

void SnapshotColumns::add(Snapshot& to, const Column& column, std::span<const SnapshotGap> gaps) {
    SHOAL_ASSERT(added_.empty() || to_ == &to, "columns of two states that share blocks are written at the same time");
    to_ = &to;
    const std::size_t block_bytes = std::size_t(column.element_bytes) * kElementsPerSnapshotBlock;
    const std::size_t num_blocks = (column.num_bytes + block_bytes - 1) / block_bytes;
    added_.push_back({column, gaps_.size(), gaps.size(), to_->blocks_.size(), plans_.size(), num_blocks});
    gaps_.insert(gaps_.end(), gaps.begin(), gaps.end());
    to_->blocks_.resize(to_->blocks_.size() + num_blocks);
    plans_.resize(plans_.size() + num_blocks);
}

void SnapshotColumns::finish(const SnapshotLoop& loop) {
    make_plans(loop);
    take_blocks();
    fill_blocks(loop);
    added_.clear(), gaps_.clear(), plans_.clear(), new_.clear();
}

/// No other state is being written, and each block is visited once, so threads need no atomics to count a block's
/// users.
void SnapshotColumns::make_plans(const SnapshotLoop& loop) {
    std::size_t num_bytes = 0;
    for (const Added& added : added_)
        num_bytes += added.column.written ? added.num_plans * kPlanBytes : added.column.num_bytes;
    for_blocks(loop, plans_.size(), num_bytes, [&](std::size_t begin, std::size_t end) {
        Array<std::byte> room{Owner(kSnapshotOwner)};
        auto added = std::ranges::upper_bound(added_, begin, {}, &Added::first_plan) - 1;
        for (std::size_t i = begin; i < end; ++i) {
            while (i - added->first_plan >= added->num_plans) ++added;
            const std::size_t number = i - added->first_plan;
            fetch(added->column.known, number + kFetchDistance);
            make_plan(*added, number, room, plans_[i]);
            if (plans_[i].made != Made::kShared && plans_[i].made != Made::kOfPieces) continue;
            SnapshotBlock& known = *added->column.known[number];
            ++known.num_users;
            to_->blocks_[added->first_block + number] = &known;  // for kOfPieces, the block below the pieces
        }
    });
}

void SnapshotColumns::make_plan(const Added& added, std::size_t number, Array<std::byte>& room, Plan& plan) const {
    const Column& column = added.column;
    plan.num_bytes = whole_bytes(column, number);
    plan.made = column.is_lent ? Made::kLent : Made::kCopied;
    if (number >= column.known.size() || column.known[number]->whole_bytes != plan.num_bytes) return;
    SnapshotBlock& known = *column.known[number];
    if (column.written) return plan_written(column, number, known, plan);
    const std::byte* const data = column.data + begin_of(column, number);
    if (is_equal(known, data, gaps_of(added), column.element_bytes, room)) plan.made = Made::kShared;
}

/// Plans a block that consists of the marked pieces over an earlier block. If there would be too many layers to read,
/// plans a whole block. In each state, a few blocks are made whole again, which spreads the cost.
void SnapshotColumns::plan_written(const Column& column, std::size_t number, SnapshotBlock& known, Plan& plan) const {
    SnapshotMarks marks = column.written(static_cast<std::uint32_t>(number), column.since);
    plan.made = Made::kShared;
    if (marks.is_empty()) return;
    const std::size_t piece_bytes = std::size_t(column.element_bytes) * kElementsPerSnapshotMark;
    set_bits(marks.words, (plan.num_bytes + piece_bytes - 1) / piece_bytes, SnapshotMarks::kCount, false);
    if (marks.is_empty()) return;
    plan.made = Made::kCopied;
    const std::size_t most_bytes = marks.count() * piece_bytes;
    if (most_bytes > plan.num_bytes / 2 || known.layer_bytes + most_bytes > 2 * plan.num_bytes) return;
    if (known.num_layers == kMostLayers || plan.num_bytes > kMaxLayeredBytes) return;
    if (known.num_layers != 0 && (to_->number_ + number) % kMostLayers == 0) return;
    std::size_t num_bytes = 0;
    for_each_run(marks, piece_bytes, plan.num_bytes, [&](std::size_t, std::size_t bytes) { num_bytes += bytes; });
    const std::uint32_t layer_bytes = known.layer_bytes + static_cast<std::uint32_t>(num_bytes);
    plan = {Made::kOfPieces, known.num_layers + 1u, layer_bytes, num_bytes, marks};
}

void SnapshotColumns::take_blocks() {
    for (const Added& added : added_)
        for (std::size_t number = 0; number < added.num_plans; ++number) {
            const Plan& plan = plans_[added.first_plan + number];
            SnapshotBlock*& place = to_->blocks_[added.first_block + number];
            if (plan.made == Made::kShared) continue;
            if (plan.made == Made::kLent) {
                std::byte* const data = const_cast<std::byte*>(added.column.data) + begin_of(added.column, number);
                place = &to_->pool_->lend(data, plan.num_bytes);
                continue;
            }
            SnapshotBlock& block = to_->take_block(plan.num_bytes);
            if (plan.made == Made::kOfPieces) {
                block.under = place;
                block.whole_bytes = whole_bytes(added.column, number);
                block.piece_bytes = added.column.element_bytes * kElementsPerSnapshotMark;
                block.num_layers = static_cast<std::uint16_t>(plan.num_layers);
                block.layer_bytes = plan.layer_bytes;
                block.marks = plan.marks;
            }
            place = &block;
            new_.push_back({&added, &plan, number, block.data()});
        }
}

void SnapshotColumns::fill_blocks(const SnapshotLoop& loop) {
    std::size_t num_bytes = 0;
    for (const New& one : new_) num_bytes += one.plan->num_bytes;
    for_blocks(loop, new_.size(), num_bytes, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto& [added, plan, number, to] = new_[i];
            const Column& column = added->column;
            const std::byte* const from = column.data + begin_of(column, number);
            if (plan->made == Made::kOfPieces)
                pack_pieces(plan->marks, std::size_t(column.element_bytes) * kElementsPerSnapshotMark,
                            whole_bytes(column, number), from, to);
            else
                std::memcpy(to, from, plan->num_bytes);
            clear_gaps(to, plan->num_bytes, gaps_of(*added), column.element_bytes);
        }
    });
}

// --- writing -----------------------------------------------------------------------------------------------------

SnapshotWriter::SnapshotWriter(Snapshot& to, const Snapshot* before, std::uint64_t since)
    : to_(to), before_(before), since_(since) {
    if (before == nullptr) return;
    to.number_ = before->number_ + 1;
    if (before->pool_ == to.pool_) return;
    SHOAL_ASSERT(to.empty(), "a state shares blocks with another from its first part on");
    to.pool_->leave();
    to.pool_ = before->pool_;
    to.pool_->use();
}

SnapshotWriter::~SnapshotWriter() {
    SHOAL_ASSERT(!gathers_columns_, "columns were gathered and never copied; call finish_columns()");
}

void SnapshotWriter::finish_columns() {
    gathers_columns_ = false;
    to_.pool_->columns().finish(loop_);
}

SnapshotPart SnapshotWriter::begin_part(std::string_view name, std::uint32_t element_bytes,
                                        std::uint32_t elements_per_block, std::uint64_t num_elements,
                                        std::uint64_t source) {
    const std::string_view path = path_.with(name);
    if (status_ && to_.find(path) != to_.num_parts())
        status_ = Status::error(concat("two parts of the state are called \"", path, '"'));
    if (element_bytes > kMaxSnapshotElementBytes)
        refuse(concat("\"", path, "\" has values of ", element_bytes, " bytes, and a save has values of up to ",
                      kMaxSnapshotElementBytes, "; keep what is larger beside the world"));
    if (path.size() > kMaxSnapshotPathBytes || !is_utf8(path))
        refuse("a name in it, such as that of a pass, is not UTF-8 or longer than 4,000 bytes; give it another one");
    to_.add_part(path, element_bytes, elements_per_block, num_elements, to_.blocks_.size(), source);
    same_source_ = false;
    if (before_ == nullptr) return {};
    const std::size_t known = before_->find(path);
    if (known == before_->num_parts()) return {};
    const SnapshotPart earlier = before_->part(known);
    same_source_ = source != 0 && before_->parts_[known].source == source;
    return earlier.element_bytes == element_bytes && earlier.elements_per_block == elements_per_block ? earlier
                                                                                                      : SnapshotPart();
}

void SnapshotWriter::borrow_columns() {
    SHOAL_ASSERT(before_ == nullptr, "a state that borrows columns shares blocks with another");
    borrows_ = true;
}

void SnapshotWriter::elements(std::string_view name, const void* data, std::uint32_t element_bytes,
                              std::uint64_t num_elements, std::uint64_t source) {
    const std::uint32_t per_block = per_block_of(element_bytes);
    const SnapshotPart earlier = begin_part(name, element_bytes, per_block, num_elements, source);
    const auto* from = static_cast<const std::byte*>(data);
    Array<std::byte> room{Owner(kSnapshotOwner)};
    for (std::uint64_t first = 0, b = 0; first < num_elements; first += per_block, ++b) {
        const auto bytes =
            static_cast<std::size_t>(std::min<std::uint64_t>(num_elements - first, per_block) * element_bytes);
        SnapshotBlock* const known = earlier.path.empty() || b >= earlier.num_blocks()
                                         ? nullptr
                                         : before_->blocks_[earlier.first_block + static_cast<std::size_t>(b)];
        if (known != nullptr && known->whole_bytes == bytes && is_equal(*known, from, {}, element_bytes, room))
            to_.share_block(*known);
        else
            std::memcpy(to_.add_block(bytes).data(), from, bytes);
        from += bytes;
    }
}

bool SnapshotWriter::share(std::string_view name, std::uint64_t source) {
    if (before_ == nullptr || source == 0) return false;
    const std::size_t known = before_->find(path_.with(name));
    if (known == before_->num_parts() || before_->parts_[known].source != source) return false;
    const SnapshotPart earlier = before_->part(known);
    begin_part(name, earlier.element_bytes, earlier.elements_per_block, earlier.num_elements, source);
    for (std::size_t b = 0; b < earlier.num_blocks(); ++b) to_.share_block(*before_->blocks_[earlier.first_block + b]);
    return true;
}

void SnapshotWriter::copy(std::string_view name, const Snapshot& from, const SnapshotPart& part) {
    Array<std::byte> bytes(static_cast<std::size_t>(part.num_bytes()), std::byte(0), Owner("snapshot"));
    from.copy(part, 0, part.num_elements, bytes.data());
    elements(name, bytes.data(), part.element_bytes, part.num_elements);
}

void SnapshotWriter::column(std::string_view name, const void* data, std::uint32_t element_bytes,
                            std::uint64_t num_elements, const WrittenSince& written, std::uint64_t source,
                            std::span<const SnapshotGap> gaps) {
    const SnapshotPart earlier = begin_part(name, element_bytes, kElementsPerSnapshotBlock, num_elements, source);
    num_known_ = earlier.path.empty() ? 0 : earlier.num_blocks();
    SnapshotColumns::Column column{static_cast<const std::byte*>(data), element_bytes, 0, {}, {}, since_, false};
    column.num_bytes = static_cast<std::size_t>(num_elements * element_bytes);
    column.is_lent = borrows_ && gaps.empty();
    if (num_known_ != 0) column.known = std::span(before_->blocks_).subspan(earlier.first_block, num_known_);
    if (same_source_) column.written = written;
    to_.pool_->columns().add(to_, column, gaps);
    if (!gathers_columns_) finish_columns();
}

bool SnapshotWriter::may_be_new(std::uint32_t block, const WrittenSince& written) const {
    return !same_source_ || block >= num_known_ || !written(block, since_).is_empty();
}

void SnapshotWriter::refuse(std::string_view why) {
    if (status_) status_ = Status::error(concat("it cannot be saved: ", why));
}

// --- filling -----------------------------------------------------------------------------------------------------

void SnapshotFiller::add_part(std::string_view path, std::uint32_t element_bytes, std::uint64_t num_elements) {
    SHOAL_ASSERT(part_ == 0 && begins_.empty(), "parts are added before there is room for their bytes");
    const SnapshotPart last = to_.num_parts() == 0 ? SnapshotPart() : to_.part(to_.num_parts() - 1);
    const std::size_t first_block = to_.num_parts() == 0 ? 0 : last.first_block + last.num_blocks();
    to_.add_part(path, element_bytes, per_block_of(element_bytes), num_elements, first_block, 0);
}

void SnapshotFiller::reserve(std::uint64_t end) {
    SHOAL_ASSERT(end <= to_.num_bytes(), "the parts have fewer bytes");
    while (end_ < end) {
        const SnapshotPart part = to_.part(part_);
        const std::size_t number = to_.blocks_.size() - part.first_block;
        if (number == part.num_blocks()) {
            ++part_;
            continue;
        }
        const std::uint64_t block_bytes = std::uint64_t(part.element_bytes) * part.elements_per_block;
        const std::uint64_t num_bytes = std::min(block_bytes, part.num_bytes() - number * block_bytes);
        begins_.push_back(end_);
        to_.add_block(static_cast<std::size_t>(num_bytes));
        end_ += num_bytes;
    }
}

void SnapshotFiller::put(std::uint64_t begin, std::span<const std::byte> bytes) {
    SHOAL_ASSERT(begin <= end_ && bytes.size() <= end_ - begin, "there is no room for the bytes");
    auto block = static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), begin) - begins_.begin());
    while (!bytes.empty()) {
        SnapshotBlock& to = *to_.blocks_[block - 1];
        const auto skipped = static_cast<std::size_t>(begin - begins_[block - 1]);
        const std::size_t count = std::min(bytes.size(), to.num_bytes - skipped);
        std::memcpy(to.data() + skipped, bytes.data(), count);
        bytes = bytes.subspan(count);
        begin += count, ++block;
    }
}

// --- reading -----------------------------------------------------------------------------------------------------

bool SnapshotReader::has(std::string_view name) { return from_.find(path_.with(name)) != from_.num_parts(); }

Status SnapshotReader::error(std::string_view name, std::string_view what) {
    return Status::error(concat("the snapshot, part \"", path_.with(name), "\": ", what));
}

Result<std::uint64_t> SnapshotReader::count(std::string_view name, std::uint32_t element_bytes) {
    const std::size_t number = from_.find(path_.with(name));
    if (number == from_.num_parts()) return error(name, "it is missing");
    const SnapshotPart part = from_.part(number);
    if (part.element_bytes == element_bytes) return part.num_elements;
    return error(name, concat("its elements have ", part.element_bytes, " bytes, not ", element_bytes));
}

/// Errors: as for count(); the number of elements differs.
Status SnapshotReader::check(std::string_view name, std::uint32_t element_bytes, std::uint64_t num_elements) {
    const Result<std::uint64_t> count = this->count(name, element_bytes);
    if (!count) return count.status();
    return *count == num_elements ? Status() : error(name, concat("it has ", *count, " elements, not ", num_elements));
}

Status SnapshotReader::elements(std::string_view name, void* to, std::uint32_t element_bytes,
                                std::uint64_t num_elements) {
    if (Status status = check(name, element_bytes, num_elements); !status) return status;
    from_.copy(from_.part(from_.find(path_.with(name))), 0, num_elements, to);
    return {};
}

Status SnapshotReader::column(std::string_view name, void* to, std::uint32_t element_bytes, std::uint64_t num_elements,
                              std::uint64_t source) {
    if (Status status = check(name, element_bytes, num_elements); !status) return status;
    const SnapshotPart part = from_.part(from_.find(path_.with(name)));
    const std::size_t number = present_ == nullptr || source == 0 ? 0 : present_->find(path_.with(name));
    const bool is_in_place = present_ != nullptr && source != 0 && number < present_->num_parts() &&
                             present_->parts_[number].source == source;
    SnapshotPart present;
    if (is_in_place) present = present_->part(number);
    const bool is_alike =
        present.element_bytes == part.element_bytes && present.elements_per_block == part.elements_per_block;
    const std::size_t first_block =
        columns_.empty() ? 0 : columns_.back().first_block + columns_.back().part.num_blocks();
    columns_.push_back(
        {part, present.first_block, is_alike ? present.num_blocks() : 0, static_cast<std::byte*>(to), first_block});
    if (!gathers_columns_) finish_columns();
    return {};
}

void SnapshotReader::copy_block_of(const Column& column, std::size_t number) const {
    const SnapshotBlock& block = *from_.blocks_[column.part.first_block + number];
    const std::size_t element_bytes = column.part.element_bytes;
    std::byte* const to = column.to + number * element_bytes * column.part.elements_per_block;
    SnapshotMarks marks;
    if (number < column.num_present && add_layers(*present_->blocks_[column.first_present + number], block, marks))
        copy_pieces(block, marks, element_bytes * kElementsPerSnapshotMark, to);
    else
        copy_block(block, 0, block.whole_bytes, to);
}

void SnapshotReader::gather_columns() {
    gathers_columns_ = true;
    columns_.clear();
}

void SnapshotReader::finish_columns() {
    gathers_columns_ = false;
    if (columns_.empty()) return;
    std::uint64_t num_bytes = 0;
    for (const Column& column : columns_) num_bytes += column.part.num_bytes();
    const std::size_t num_blocks = columns_.back().first_block + columns_.back().part.num_blocks();
    for_blocks(loop_, num_blocks, static_cast<std::size_t>(num_bytes), [&](std::size_t begin, std::size_t end) {
        auto column = std::ranges::upper_bound(columns_, begin, {}, &Column::first_block) - 1;
        for (std::size_t b = begin; b < end; ++b) {
            while (b - column->first_block >= column->part.num_blocks()) ++column;
            copy_block_of(*column, b - column->first_block);
        }
    });
    columns_.clear();
}

Status SnapshotReader::bytes(std::string_view name, Array<std::byte>& to, std::uint32_t element_bytes,
                             std::uint64_t num_elements) {
    if (Status status = check(name, element_bytes, num_elements); !status) return status;
    to.resize(static_cast<std::size_t>(num_elements) * element_bytes);
    return elements(name, to.data(), element_bytes, num_elements);
}

std::uint64_t SnapshotReader::left_memory() const {
    const std::uint64_t most = from_.max_bytes(), held = from_.num_bytes() + taken_bytes_;
    return is_trusted_ ? ~std::uint64_t(0) : most - std::min(most, held);
}

Status SnapshotReader::take_memory(std::string_view name, std::uint64_t num_bytes) {
    const std::uint64_t most = from_.max_bytes(), held = from_.num_bytes() + taken_bytes_;
    if (is_trusted_) return {};
    if (held > most || num_bytes > left_memory())
        return error(name, concat("what is made of it takes ", num_bytes, " bytes, so the state takes ",
                                  held + num_bytes, " bytes in memory, and may take ", most,
                                  "; if you trust its source, set LoadOptions::max_bytes"));
    taken_bytes_ += num_bytes;
    return {};
}

Result<std::string> SnapshotReader::text(std::string_view name) {
    const Result<std::uint64_t> count = this->count(name, 1);
    if (!count) return count.status();
    std::string text(static_cast<std::size_t>(*count), '\0');
    if (Status status = elements(name, text.data(), 1, *count); !status) return status;
    if (!is_utf8(text)) return error(name, "it is no text");
    return text;
}

}  // namespace shoal
