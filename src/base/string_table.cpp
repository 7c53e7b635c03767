#include "shoal/base/detail/string_table.h"

#include "base/text_lease.h"
#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"

#include <cstring>
#include <mutex>
#include <string>

namespace shoal {
namespace {

constexpr const char* kOwner = "string table";
constexpr std::uint32_t kForGood = 0xFFFFFFFF;

/// Returns the beginning of a string. Bytes that are not valid UTF-8 are escaped, as in \xFF.
std::string escaped(std::string_view text) {
    constexpr std::size_t kMostBytes = 64;
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i >= kMostBytes) return result + "...";
        std::size_t count = 1;
        while (count < 4 && !is_utf8(text.substr(i, count))) ++count;
        if (is_utf8(text.substr(i, count))) {
            result += text.substr(i, count);
            i += count - 1;
            continue;
        }
        const auto byte = static_cast<unsigned char>(text[i]);
        result += concat("\\x", "0123456789ABCDEF"[byte / 16], "0123456789ABCDEF"[byte % 16]);
    }
    return result;
}

}  // namespace

struct StringTable::Content {
    struct Text {
        StringId id;
        std::string_view text;
        std::uint32_t unused_since;  // the number of a lease, 0 (may be in use) or kForGood (never removed)
    };

    HashMap<StringId, std::uint32_t> numbers{Owner(kOwner)};
    Array<Text> texts{Owner(kOwner)};       // in the order in which they were added
    Array<TextLease*> past{Owner(kOwner)};  // leases that states may still hold, oldest first
    TextLease* lease = &TextLease::make(1);
    std::uint64_t version = 0;
    bool has_noted = false;  // atomic, so that settling without new strings takes no lock
    std::mutex mutex;        // guards the next two members
    Array<std::string> noted{Owner(kOwner)};
    HashMap<StringId, std::uint32_t> noted_numbers{Owner(kOwner)};
    // The numbers of strings that were interned until unused:
    std::size_t num_passing = 0;  // probably in use
    std::size_t num_unused = 0;   // unused, but kept for saved states
    std::size_t num_left = 0;     // num_passing after the last collect()

    const Text* find(StringId id) const {
        const std::uint32_t* const number = numbers.find(id);
        return number == nullptr ? nullptr : &texts[*number];
    }
    Result<const Text*> find(StringId id, std::string_view text) const;
    void keep(Text& text, bool for_good);
    void add(StringId id, std::string_view text, bool for_good);
    void remove();
};

StringTable::StringTable() : content_(make_owned<Content>(kOwner)) {}

StringTable::~StringTable() {
    for (const Content::Text& text : content_->texts)
        release_memory(const_cast<char*>(text.text.data()), text.text.size(), kOwner);
    for (TextLease* lease : content_->past) lease->give_back();
    content_->lease->give_back();
    destroy_owned(kOwner, content_);
}

Status StringTable::check(std::string_view text) {
    if (is_utf8(text)) return {};
    return Status::error(concat("the text \"", escaped(text), "\" is not valid UTF-8; convert it to UTF-8 first"));
}

/// Returns the table's entry for a string, or nullptr. Errors: a different string has the same hash, or the string is
/// not UTF-8.
Result<const StringTable::Content::Text*> StringTable::Content::find(StringId id, std::string_view text) const {
    const Text* const kept = find(id);
    if (kept != nullptr && kept->text == text) return kept;
    if (kept == nullptr) {
        if (Status status = check(text); !status) return status;
        return kept;
    }
    return Status::error(
        concat("the texts \"", kept->text, "\" and \"", text, "\" have the same hash; rename one of them"));
}

Result<StringId> StringTable::intern(std::string_view text, bool for_good) {
    const StringId id(text);
    if (text.empty()) return id;
    const Result<const Content::Text*> kept = content_->find(id, text);
    if (!kept) return kept.status();
    if (*kept == nullptr)
        content_->add(id, text, for_good);
    else
        content_->keep(const_cast<Content::Text&>(**kept), for_good);
    return id;
}

/// A string that is in the table but was found unused is noted too. Otherwise it might be removed before a collection
/// finds its id in the row that is being written.
Status StringTable::note(std::string_view text) {
    const StringId id(text);
    if (text.empty()) return {};
    const Result<const Content::Text*> kept = content_->find(id, text);
    if (!kept) return kept.status();
    if (*kept != nullptr && ((*kept)->unused_since == 0 || (*kept)->unused_since == kForGood)) return {};
    const std::lock_guard lock(content_->mutex);
    const auto [number, is_new] =
        content_->noted_numbers.insert(id, static_cast<std::uint32_t>(content_->noted.size()));
    if (is_new || content_->noted[*number] != text) content_->noted.emplace_back(text);
    __atomic_store_n(&content_->has_noted, true, __ATOMIC_RELAXED);
    return {};
}

void StringTable::take_noted() {
    if (__atomic_load_n(&content_->has_noted, __ATOMIC_RELAXED)) intern_noted();
}

void StringTable::intern_noted() {
    Array<std::string> noted{Owner(kOwner)};
    {
        const std::lock_guard lock(content_->mutex);
        __atomic_store_n(&content_->has_noted, false, __ATOMIC_RELAXED);
        noted.swap(content_->noted);
        content_->noted_numbers.clear();
    }
    for (const std::string& text : noted)
        if (const Result<StringId> kept = intern_until_unused(text); !kept) log(LogLevel::kWarning, kept.message());
}

/// Allocates each string separately, so that it does not move when others are removed.
void StringTable::Content::add(StringId id, std::string_view text, bool for_good) {
    auto* const data = static_cast<char*>(allocate_memory(text.size(), kOwner));
    std::memcpy(data, text.data(), text.size());
    numbers.add(id, static_cast<std::uint32_t>(texts.size()));
    texts.push_back({id, {data, text.size()}, for_good ? kForGood : 0});
    num_passing += !for_good;
    ++version;
}

/// Records that an existing string was interned again.
void StringTable::Content::keep(Text& text, bool for_good) {
    if (text.unused_since == kForGood || (text.unused_since == 0 && !for_good)) return;
    --(text.unused_since == 0 ? num_passing : num_unused);
    num_passing += !for_good;
    text.unused_since = for_good ? kForGood : 0;
}

std::string_view StringTable::text(StringId id) const {
    const Content::Text* const kept = content_->find(id);
    return kept == nullptr ? std::string_view() : kept->text;
}

std::size_t StringTable::size() const { return content_->texts.size(); }
std::uint64_t StringTable::version() const { return content_->version; }
TextLease& StringTable::lease() const { return *content_->lease; }

void StringTable::for_each(void (*visit)(void* to, StringId id, std::string_view text), void* to) const {
    for (const Content::Text& text : content_->texts) visit(to, text.id, text.text);
}

// --- collecting --------------------------------------------------------------------------------------------------

bool StringTable::is_due(std::size_t allowance) const {
    return content_->num_passing > 2 * content_->num_left + allowance;
}

void StringTable::mark(StringId id, BitSet& used) const {
    if (const std::uint32_t* const number = content_->numbers.find(id)) used.set(*number);
}

void StringTable::mark_lasting(BitSet& used) const {
    for (std::size_t i = 0; i < size(); ++i)
        if (content_->texts[i].unused_since == kForGood) used.set(i);
}

void StringTable::collect(const BitSet& used) {
    Content& all = *content_;
    all.num_passing = all.num_unused = 0;
    for (std::size_t i = 0; i < all.texts.size(); ++i) {
        std::uint32_t& unused_since = all.texts[i].unused_since;
        if (unused_since == kForGood) continue;
        if (used.test(i))
            unused_since = 0;
        else if (unused_since == 0)
            unused_since = all.lease->number();
        ++(unused_since == 0 ? all.num_passing : all.num_unused);
    }
    all.num_left = all.num_passing;
    // States that are saved from now on do not need the unused strings.
    all.past.push_back(all.lease);
    all.lease = &TextLease::make(all.lease->number() + 1);
    all.remove();
}

void StringTable::remove_unused() {
    if (content_->num_unused != 0 && !content_->past.front()->is_taken()) content_->remove();
}

/// Removes the strings that became unused before the start of the oldest lease that a state still holds.
void StringTable::Content::remove() {
    erase_if(past, [](TextLease* one) {
        if (one->is_taken()) return false;
        one->give_back();
        return true;
    });
    const std::uint32_t oldest = past.empty() ? lease->number() : past.front()->number();
    const std::size_t num_removed = erase_if(texts, [&](const Text& text) {
        if (text.unused_since == 0 || text.unused_since >= oldest) return false;  // kForGood is the largest number
        release_memory(const_cast<char*>(text.text.data()), text.text.size(), kOwner);
        return true;
    });
    if (num_removed == 0) return;
    num_unused -= num_removed;
    ++version;
    numbers = HashMap<StringId, std::uint32_t>(Owner(kOwner));
    numbers.reserve(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) numbers.add(texts[i].id, static_cast<std::uint32_t>(i));
    texts = Array<Text>(texts.begin(), texts.end(), Owner(kOwner));  // shrinks the array to fit
}

void StringTable::use_all() {
    if (content_->num_unused == 0) return;
    for (Content::Text& text : content_->texts)
        if (text.unused_since != kForGood && text.unused_since != 0) content_->keep(text, false);
}

void take_lease(TextLease& lease) { lease.take(); }
void give_back_lease(TextLease& lease) { lease.give_back(); }

}  // namespace shoal
