#pragma once
// What reports write into a mapping.

#include "shoal/base/page_memory.h"
#include "shoal/document/document_builder.h"

#include <string_view>

namespace shoal {

/// Members of the mapping that is being built.
class Members {
public:
    explicit Members(DocumentBuilder& builder) : builder_(builder) {}

    void count(std::string_view key, std::uint64_t number) {
        builder_.key(key);
        builder_.unsigned_integer(number);
    }
    void number(std::string_view key, double number) {
        builder_.key(key);
        builder_.number(number);
    }
    void text(std::string_view key, std::string_view text) {
        builder_.key(key);
        builder_.string(text);
    }
    void memory(const MemoryUse& memory) {
        count("used_bytes", memory.used_bytes);
        count("committed_bytes", memory.committed_bytes);
        count("reserved_bytes", memory.reserved_bytes);
    }
    void memory(std::string_view key, const MemoryUse& use) {
        builder_.key(key);
        builder_.begin_mapping();
        memory(use);
        builder_.end();
    }

private:
    DocumentBuilder& builder_;
};

}  // namespace shoal
