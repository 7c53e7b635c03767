#include "datagram.h"

#include <shoal/base/assert.h>
#include <shoal/base/string_id.h>
#include <shoal/base/text.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace duel {

using namespace shoal;

namespace {

constexpr char kMagic[4] = {'d', 'u', 'e', 'l'};
constexpr std::size_t kHashBytes = 8, kLeastBytes = 14 + kHashBytes;

class Writer {
public:
    template <class T>
    void number(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            bytes.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
    template <class T>
    void numbers(const std::vector<T>& values) {
        number(static_cast<std::uint16_t>(values.size()));
        for (const T value : values) number(value);
    }

    std::vector<std::byte> bytes;
};

/// After a read past the end, all numbers are 0 and ok() is false.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    void number(T& value) {
        std::uint64_t read = 0;
        if (bytes_.size() < sizeof(T)) ok_ = false;
        for (std::size_t i = 0; ok_ && i < sizeof(T); ++i) read |= std::to_integer<std::uint64_t>(bytes_[i]) << (8 * i);
        if (ok_) bytes_ = bytes_.subspan(sizeof(T));
        value = static_cast<T>(read);
    }
    /// Returns the length of a list whose elements have this size, or 0 if the list is incomplete or too long.
    std::size_t length(std::size_t element_bytes, std::size_t most) {
        std::uint16_t length = 0;
        number(length);
        ok_ = ok_ && length <= most && length * element_bytes <= bytes_.size();
        return ok_ ? length : 0;
    }
    template <class T>
    void numbers(std::vector<T>& values, std::size_t most) {
        values.resize(length(sizeof(T), most));
        for (T& value : values) number(value);
    }
    bool ok() const { return ok_; }
    bool is_at_end() const { return ok_ && bytes_.empty(); }

private:
    std::span<const std::byte> bytes_;
    bool ok_ = true;
};

void write(Writer& to, const InputsDatagram& body) {
    SHOAL_ASSERT(body.inputs.size() <= kMaxInputs && body.hashes.size() <= kMaxHashes,
                 "a datagram has no room for more");
    for (const std::uint32_t number :
         {body.joins_at, body.first_input, body.num_known_inputs, body.first_hash, body.num_known_hashes})
        to.number(number);
    to.number(static_cast<std::uint16_t>(body.inputs.size()));
    for (const Input& input : body.inputs) {
        to.number(static_cast<std::uint8_t>(input.x));
        to.number(static_cast<std::uint8_t>(input.y));
        to.number(input.buttons);
    }
    to.numbers(body.hashes);
}

const char* read(Reader& from, InputsDatagram& body) {
    for (std::uint32_t* number :
         {&body.joins_at, &body.first_input, &body.num_known_inputs, &body.first_hash, &body.num_known_hashes})
        from.number(*number);
    body.inputs.resize(from.length(3, kMaxInputs));
    bool is_known = true;
    for (Input& input : body.inputs) {
        std::uint8_t x = 0, y = 0;
        from.number(x), from.number(y), from.number(input.buttons);
        input.x = static_cast<std::int8_t>(x), input.y = static_cast<std::int8_t>(y);
        is_known = is_known && (input.buttons & ~kAllButtons) == 0;
    }
    from.numbers(body.hashes, kMaxHashes);
    return is_known ? nullptr : "an input has buttons that there are not";
}

void write(Writer& to, const WantDatagram& body) {
    SHOAL_ASSERT(body.mask.empty() || body.mask.size() == kNumMaskBytes, "a mask has all its bytes, or none");
    to.number(body.num_chunks);
    to.number(body.first_missing);
    to.numbers(body.mask);
}

const char* read(Reader& from, WantDatagram& body) {
    from.number(body.num_chunks);
    from.number(body.first_missing);
    from.numbers(body.mask, kNumMaskBytes);
    if (body.num_chunks > num_chunks_of(kMaxSnapshotBytes)) return "it speaks of more chunks than a snapshot may have";
    if (body.first_missing > body.num_chunks) return "it misses a chunk behind the last";
    return body.mask.empty() || body.mask.size() == kNumMaskBytes ? nullptr : "its mask has another length";
}

void write(Writer& to, const ChunkDatagram& body) {
    SHOAL_ASSERT(body.bytes.size() <= kChunkBytes, "a chunk has at most kChunkBytes");
    to.number(body.frame);
    to.number(body.num_bytes);
    to.number(body.hash);
    to.number(body.index);
    to.numbers(body.bytes);
}

const char* read(Reader& from, ChunkDatagram& body) {
    from.number(body.frame);
    from.number(body.num_bytes);
    from.number(body.hash);
    from.number(body.index);
    from.numbers(body.bytes, kChunkBytes);
    if (body.num_bytes == 0 || body.num_bytes > kMaxSnapshotBytes) return "no snapshot has that many bytes";
    if (body.index >= num_chunks_of(body.num_bytes)) return "it is a chunk behind the last";
    const std::size_t begin = body.index * kChunkBytes;
    return body.bytes.size() == std::min(kChunkBytes, body.num_bytes - begin) ? nullptr
                                                                              : "its chunk has another length";
}

template <class Body>
Status read_body(Reader& from, Datagram& datagram) {
    Body body;
    const char* const wrong = read(from, body);
    if (!from.ok()) return Status::error("it ends within its fields, or a list is too long");
    if (wrong != nullptr) return Status::error(wrong);
    if (!from.is_at_end()) return Status::error("there are bytes behind its fields");
    datagram.body = std::move(body);
    return {};
}

Status read_kind(std::uint8_t kind, Reader& from, Datagram& datagram) {
    if (kind == 0) return read_body<InputsDatagram>(from, datagram);
    if (kind == 1) return read_body<WantDatagram>(from, datagram);
    if (kind == 2) return read_body<ChunkDatagram>(from, datagram);
    return Status::error(concat("there is no kind ", int(kind)));
}

}  // namespace

std::vector<std::byte> write_datagram(const Datagram& datagram, std::uint64_t key) {
    Writer to;
    for (const char letter : kMagic) to.number(static_cast<std::uint8_t>(letter));
    to.number(key);
    to.number(static_cast<std::uint8_t>(datagram.body.index()));
    to.number(datagram.side);
    std::visit([&](const auto& body) { write(to, body); }, datagram.body);
    to.number(hash_bytes(to.bytes.data(), to.bytes.size()));
    SHOAL_ASSERT(to.bytes.size() <= kMaxDatagramBytes, "a datagram is longer than the network carries");
    return std::move(to.bytes);
}

Result<Datagram> read_datagram(std::span<const std::byte> bytes, std::uint64_t key) {
    if (bytes.size() < kLeastBytes || bytes.size() > kMaxDatagramBytes)
        return Status::error(
            concat("a datagram has ", kLeastBytes, " to ", kMaxDatagramBytes, " bytes, not ", bytes.size()));
    if (std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) return Status::error("it does not begin with `duel`");
    const auto said = bytes.first(bytes.size() - kHashBytes);
    std::uint64_t hash = 0, read_key = 0;
    Reader(bytes.last(kHashBytes)).number(hash);
    if (hash != hash_bytes(said.data(), said.size())) return Status::error("it is damaged: its hash is another");
    Reader from(said.subspan(sizeof kMagic));
    Datagram datagram;
    std::uint8_t kind = 0;
    from.number(read_key), from.number(kind), from.number(datagram.side);
    if (read_key != key) return Status::error("it is of another match; both peers need the same options");
    if (datagram.side > 1) return Status::error(concat("there is no side ", int(datagram.side)));
    if (Status status = read_kind(kind, from, datagram); !status) return status;
    return datagram;
}

}  // namespace duel
