#pragma once
// Writes amounts of memory to reports.

#include "shoal/base/detail/page_memory.h"
#include "shoal/document/document_builder.h"

namespace shoal {

inline void write_memory(const MemoryUse& use, DocumentBuilder& builder) {
    builder.unsigned_integer("used_bytes", use.used_bytes);
    builder.unsigned_integer("committed_bytes", use.committed_bytes);
    builder.unsigned_integer("reserved_bytes", use.reserved_bytes);
}

inline void write_memory(std::string_view key, const MemoryUse& use, DocumentBuilder& builder) {
    builder.begin_mapping(key);
    write_memory(use, builder);
    builder.end();
}

}  // namespace shoal
