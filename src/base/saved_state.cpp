#include "shoal/base/saved_state.h"

#include "shoal/base/page_memory.h"
#include "shoal/base/text.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

constexpr const char* kStateOwner = "saved state";
constexpr std::size_t kBytesPerBlock = std::size_t(16) << 10;  // of parts that are no columns
constexpr std::size_t kFirstSlabBytes = std::size_t(128) << 10;
constexpr std::size_t kMaxSlabBytes = 8 * kLargePageBytes;
constexpr std::size_t kStepBytes = 1024;  // blocks that are kept for others are whole steps long
constexpr std::size_t kMaxSteps = 64;     // longer blocks are allocated one by one

std::uint64_t hash_path(std::string_view path) { return hash_text(path); }

}  // namespace

/// Bytes that several states may have in common.
struct alignas(64) StateBlock {
    StateBlock* next_free;
    std::size_t num_bytes;
    std::uint32_t num_users;

    std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* data() const { return reinterpret_cast<const std::byte*>(this + 1); }
};

/// The memory of states that share blocks. The last of them destroys it.
class StateBlocks {
public:
    static StateBlocks& make() { return *::new (allocate_memory(sizeof(StateBlocks), kStateOwner)) StateBlocks(); }
    void use() { ++num_states_; }
    void leave() {
        if (--num_states_ != 0) return;
        for (const Slab& slab : slabs_) release(slab);
        this->~StateBlocks();
        release_memory(this, sizeof(StateBlocks), kStateOwner);
    }

    StateBlock& take(std::size_t num_bytes) {
        const std::size_t steps = (num_bytes + kStepBytes - 1) / kStepBytes;
        StateBlock* block = nullptr;
        if (steps > kMaxSteps) {
            block = header_in(static_cast<std::byte*>(allocate_memory(long_bytes(num_bytes), kStateOwner)));
        } else if (free_[steps] != nullptr) {
            block = free_[steps];
            free_[steps] = block->next_free;
        } else {
            block = cut(sizeof(StateBlock) + steps * kStepBytes);
        }
        block->num_bytes = num_bytes;
        block->num_users = 1;
        return *block;
    }
    void give_back(StateBlock& block) {
        if (--block.num_users != 0) return;
        const std::size_t steps = (block.num_bytes + kStepBytes - 1) / kStepBytes;
        if (steps > kMaxSteps) return release_memory(block.next_free, long_bytes(block.num_bytes), kStateOwner);
        block.next_free = std::exchange(free_[steps], &block);
    }

private:
    struct Slab {
        std::byte* data;
        std::size_t num_bytes;
        bool in_pages;
    };

    static std::size_t long_bytes(std::size_t num_bytes) { return num_bytes + 2 * sizeof(StateBlock); }
    /// The first place in `memory` that is aligned for a block. A long block remembers where its memory begins.
    static StateBlock* header_in(std::byte* memory) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory);
        std::byte* const aligned = memory + (alignof(StateBlock) - address % alignof(StateBlock)) % alignof(StateBlock);
        auto* const block = ::new (static_cast<void*>(aligned)) StateBlock();
        block->next_free = reinterpret_cast<StateBlock*>(memory);
        return block;
    }
    StateBlock* cut(std::size_t num_bytes) {
        if (slabs_.empty() || used_ + num_bytes > slabs_.back().num_bytes) {
            slabs_.push_back(make_slab(slabs_.empty() ? kFirstSlabBytes : slabs_.back().num_bytes * 2));
            used_ = 0;
        }
        StateBlock* const block = header_in(slabs_.back().data + used_);
        used_ += num_bytes;
        return block;
    }
    /// Large slabs lie in large pages: filling pages of 4 KiB for the first time takes three times as long as the copy.
    static Slab make_slab(std::size_t num_bytes) {
        num_bytes = std::min(num_bytes, kMaxSlabBytes);
        if (num_bytes >= kLargePageBytes)
            if (Result<PageRange> range = reserve_pages(num_bytes, kLargePageBytes)) {
                prefer_large_pages(range->data, num_bytes);
                return {range->data, num_bytes, true};
            }
        auto* const memory = static_cast<std::byte*>(allocate_memory(num_bytes + alignof(StateBlock), kStateOwner));
        return {memory, num_bytes, false};
    }
    static void release(const Slab& slab) {
        if (slab.in_pages) return release_pages({slab.data, slab.num_bytes});
        release_memory(slab.data, slab.num_bytes + alignof(StateBlock), kStateOwner);
    }

    std::uint32_t num_states_ = 0;
    Array<Slab> slabs_{Owner(kStateOwner)};
    std::size_t used_ = 0;  // of the last slab
    StateBlock* free_[kMaxSteps + 1] = {};
};

// --- states ------------------------------------------------------------------------------------------------------

SavedState::SavedState() : pool_(&StateBlocks::make()) { pool_->use(); }

SavedState::~SavedState() {
    clear();
    pool_->leave();
}

SavedState::SavedState(SavedState&& other) noexcept : SavedState() { *this = std::move(other); }

SavedState& SavedState::operator=(SavedState&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(paths_, other.paths_);
    std::swap(parts_, other.parts_);
    std::swap(blocks_, other.blocks_);
    std::swap(part_by_path_, other.part_by_path_);
    std::swap(num_bytes_, other.num_bytes_);
    std::swap(num_own_bytes_, other.num_own_bytes_);
    return *this;
}

void SavedState::clear() {
    for (StateBlock* block : blocks_) pool_->give_back(*block);
    paths_.clear(), parts_.clear(), blocks_.clear(), part_by_path_.clear();
    num_bytes_ = num_own_bytes_ = 0;
}

StatePart SavedState::part(std::size_t number) const {
    SHOAL_ASSERT(number < parts_.size(), "the state has no such part");
    const Part& part = parts_[number];
    return {{paths_.data() + part.path_begin, part.path_bytes},
            part.element_bytes,
            part.elements_per_block,
            part.num_elements,
            part.first_block};
}

std::size_t SavedState::find(std::string_view path) const {
    const std::uint32_t* const number =
        part_by_path_.find_if(hash_path(path), [&](std::uint32_t candidate) { return part(candidate).path == path; });
    return number == nullptr ? num_parts() : *number;
}

std::span<const std::byte> SavedState::block(const StatePart& part, std::size_t number) const {
    SHOAL_ASSERT(number < part.num_blocks(), "the part has no such block");
    const StateBlock& block = *blocks_[part.first_block + number];
    return {block.data(), block.num_bytes};
}

void SavedState::copy(const StatePart& part, std::uint64_t first, std::uint64_t count, void* to) const {
    SHOAL_ASSERT(first <= part.num_elements && count <= part.num_elements - first, "the part has no such elements");
    auto* out = static_cast<std::byte*>(to);
    while (count != 0) {
        const std::uint64_t skipped = first % part.elements_per_block;
        const std::uint64_t some = std::min<std::uint64_t>(count, part.elements_per_block - skipped);
        const auto bytes = static_cast<std::size_t>(some * part.element_bytes);
        std::memcpy(out,
                    block(part, static_cast<std::size_t>(first / part.elements_per_block)).data() +
                        skipped * part.element_bytes,
                    bytes);
        out += bytes, first += some, count -= some;
    }
}

std::string_view StatePath::with(std::string_view name) {
    with_.assign(text_).append(name);
    return with_;
}

// --- writing -----------------------------------------------------------------------------------------------------

StateWriter::StateWriter(SavedState& to, const SavedState* before, std::uint64_t since)
    : to_(to), before_(before), since_(since) {
    if (before == nullptr || before->pool_ == to.pool_) return;
    SHOAL_ASSERT(to.empty(), "a state shares blocks with another from its first part on");
    to.pool_->leave();
    to.pool_ = before->pool_;
    to.pool_->use();
}

StatePart StateWriter::begin_part(std::string_view name, std::uint32_t element_bytes, std::uint32_t elements_per_block,
                                  std::uint64_t num_elements, std::uint64_t source) {
    const std::string_view path = path_.with(name);
    if (status_ && to_.find(path) != to_.num_parts())
        status_ = Status::error(concat("two parts of the state are called \"", path, '"'));
    const SavedState::Part part{to_.paths_.size(), path.size(),        element_bytes, elements_per_block,
                                num_elements,      to_.blocks_.size(), source};
    to_.paths_.insert(to_.paths_.end(), path.begin(), path.end());
    to_.part_by_path_.add(hash_path(path), static_cast<std::uint32_t>(to_.parts_.size()));
    to_.parts_.push_back(part);
    to_.num_bytes_ += num_elements * element_bytes;
    same_source_ = false;
    if (before_ == nullptr) return {};
    const std::size_t known = before_->find(path);
    if (known == before_->num_parts()) return {};
    const StatePart earlier = before_->part(known);
    same_source_ = source != 0 && before_->parts_[known].source == source;
    return earlier.element_bytes == element_bytes && earlier.elements_per_block == elements_per_block ? earlier
                                                                                                      : StatePart();
}

StateBlock& StateWriter::add_block(const std::byte* data, std::size_t num_bytes) {
    StateBlock& block = to_.pool_->take(num_bytes);
    std::memcpy(block.data(), data, num_bytes);
    to_.blocks_.push_back(&block);
    to_.num_own_bytes_ += num_bytes;
    return block;
}

void StateWriter::drop_last_block() {
    to_.num_own_bytes_ -= to_.blocks_.back()->num_bytes;
    to_.pool_->give_back(*to_.blocks_.back());
    to_.blocks_.pop_back();
}

void StateWriter::share_block(StateBlock& block) {
    ++block.num_users;
    to_.blocks_.push_back(&block);
}

void StateWriter::elements(std::string_view name, const void* data, std::uint32_t element_bytes,
                           std::uint64_t num_elements) {
    const auto per_block = static_cast<std::uint32_t>(std::max<std::size_t>(kBytesPerBlock / element_bytes, 1));
    const StatePart earlier = begin_part(name, element_bytes, per_block, num_elements, 0);
    const auto* from = static_cast<const std::byte*>(data);
    for (std::uint64_t first = 0, b = 0; first < num_elements; first += per_block, ++b) {
        const auto bytes =
            static_cast<std::size_t>(std::min<std::uint64_t>(num_elements - first, per_block) * element_bytes);
        StateBlock* const known = earlier.path.empty() || b >= earlier.num_blocks()
                                      ? nullptr
                                      : before_->blocks_[earlier.first_block + static_cast<std::size_t>(b)];
        if (known != nullptr && known->num_bytes == bytes && std::memcmp(known->data(), from, bytes) == 0)
            share_block(*known);
        else
            add_block(from, bytes);
        from += bytes;
    }
}

void StateWriter::column(std::string_view name, const void* data, std::uint32_t element_bytes,
                         std::uint64_t num_elements,
                         std::uint64_t (*stamp_of)(const void* context, std::uint32_t block), const void* context,
                         std::uint64_t source, std::span<const StateGap> gaps) {
    const StatePart earlier = begin_part(name, element_bytes, kElementsPerStateBlock, num_elements, source);
    const auto* from = static_cast<const std::byte*>(data);
    std::uint32_t b = 0;
    for (std::uint64_t first = 0; first < num_elements; first += kElementsPerStateBlock, ++b) {
        const auto bytes = static_cast<std::size_t>(
            std::min<std::uint64_t>(num_elements - first, kElementsPerStateBlock) * element_bytes);
        StateBlock* const known =
            earlier.path.empty() || b >= earlier.num_blocks() ? nullptr : before_->blocks_[earlier.first_block + b];
        from += bytes;
        const bool may_share = known != nullptr && known->num_bytes == bytes;
        if (may_share && same_source_ && stamp_of(context, b) < since_) {
            share_block(*known);
            continue;
        }
        const bool is_compared = may_share && !same_source_;
        if (is_compared && gaps.empty() && std::memcmp(known->data(), from - bytes, bytes) == 0) {
            share_block(*known);
            continue;
        }
        StateBlock& copied = add_block(from - bytes, bytes);
        if (gaps.empty()) continue;
        for (std::size_t element = 0; element < bytes; element += element_bytes)
            for (const StateGap& gap : gaps) std::memset(copied.data() + element + gap.begin, 0, gap.num_bytes);
        if (!is_compared || std::memcmp(known->data(), copied.data(), bytes) != 0) continue;
        drop_last_block();
        share_block(*known);
    }
}

void StateWriter::refuse(std::string_view why) {
    if (status_) status_ = Status::error(concat("it cannot be saved: ", why));
}

// --- reading -----------------------------------------------------------------------------------------------------

bool StateReader::has(std::string_view name) { return from_.find(path_.with(name)) != from_.num_parts(); }

Status StateReader::error(std::string_view name, std::string_view what) {
    return Status::error(concat("the saved state, part \"", path_.with(name), "\": ", what));
}

Result<std::uint64_t> StateReader::count(std::string_view name, std::uint32_t element_bytes) {
    const std::size_t number = from_.find(path_.with(name));
    if (number == from_.num_parts()) return error(name, "it is missing");
    const StatePart part = from_.part(number);
    if (part.element_bytes == element_bytes) return part.num_elements;
    return error(name, concat("its elements have ", part.element_bytes, " bytes, not ", element_bytes));
}

Status StateReader::elements(std::string_view name, void* to, std::uint32_t element_bytes, std::uint64_t num_elements) {
    const Result<std::uint64_t> count = this->count(name, element_bytes);
    if (!count) return count.status();
    if (*count != num_elements) return error(name, concat("it has ", *count, " elements, not ", num_elements));
    from_.copy(from_.part(from_.find(path_.with(name))), 0, num_elements, to);
    return {};
}

Status StateReader::column(std::string_view name, void* to, std::uint32_t element_bytes, std::uint64_t num_elements,
                           std::uint64_t source) {
    const std::size_t number = present_ == nullptr || source == 0 ? 0 : present_->find(path_.with(name));
    const bool is_in_place = present_ != nullptr && source != 0 && number < present_->num_parts() &&
                             present_->parts_[number].source == source;
    if (!is_in_place) return elements(name, to, element_bytes, num_elements);
    const Result<std::uint64_t> count = this->count(name, element_bytes);
    if (!count) return count.status();
    if (*count != num_elements) return error(name, concat("it has ", *count, " elements, not ", num_elements));
    const StatePart part = from_.part(from_.find(path_.with(name))), present = present_->part(number);
    const bool is_alike =
        present.element_bytes == part.element_bytes && present.elements_per_block == part.elements_per_block;
    auto* out = static_cast<std::byte*>(to);
    for (std::size_t b = 0; b < part.num_blocks(); ++b) {
        const StateBlock* const block = from_.blocks_[part.first_block + b];
        const bool is_there =
            is_alike && b < present.num_blocks() && present_->blocks_[present.first_block + b] == block;
        if (!is_there) std::memcpy(out, block->data(), block->num_bytes);
        out += block->num_bytes;
    }
    return {};
}

Result<std::string> StateReader::text(std::string_view name) {
    const Result<std::uint64_t> count = this->count(name, 1);
    if (!count) return count.status();
    std::string text(static_cast<std::size_t>(*count), '\0');
    if (Status status = elements(name, text.data(), 1, *count); !status) return status;
    if (!is_utf8(text)) return error(name, "it is no text");
    return text;
}

}  // namespace shoal
