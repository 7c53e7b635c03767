#pragma once
// Memory that ends the program when it is read, to show what a call does not look at.

#include "shoal/base/detail/page_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include <sys/mman.h>

namespace shoal_test {

/// As long as it exists, the next access to the memory that was added ends the program.
class UnreadablePages {
public:
    UnreadablePages() = default;
    ~UnreadablePages() {
        for (const auto& [begin, num_bytes] : pages_) ::mprotect(begin, num_bytes, PROT_READ | PROT_WRITE);
    }
    UnreadablePages(const UnreadablePages&) = delete;
    UnreadablePages& operator=(const UnreadablePages&) = delete;

    /// Adds the pages that lie in [data, data + num_bytes) as a whole.
    void add(const void* data, std::size_t num_bytes) {
        const auto address = reinterpret_cast<std::uintptr_t>(data);
        const std::uintptr_t begin = shoal::round_up(address, shoal::kPageBytes);
        const std::uintptr_t end = (address + num_bytes) / shoal::kPageBytes * shoal::kPageBytes;
        if (begin >= end) return;
        pages_.emplace_back(reinterpret_cast<void*>(begin), end - begin);
        num_bytes_ += end - begin;
        ASSERT_EQ(::mprotect(pages_.back().first, end - begin, PROT_NONE), 0);
    }
    /// Adds the columns of the first rows of a table, without owners and links.
    template <class Table>
    void add_columns(const Table& table, std::uint32_t num_rows) {
        for (std::uint32_t c = 0; c < table.schema().columns().size(); ++c)
            add(table.column(c), std::size_t(num_rows) * table.schema().columns()[c].element_bytes);
    }
    std::size_t num_bytes() const { return num_bytes_; }

private:
    std::vector<std::pair<void*, std::size_t>> pages_;
    std::size_t num_bytes_ = 0;
};

}  // namespace shoal_test
