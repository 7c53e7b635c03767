#pragma once
// Prints a document while it is built, so that it takes a constant amount of memory, however long it is. What is printed is
// what write_sjson() and write_json() return for the same document.
//
//     DocumentPrinter printer(TextFormat::kJson, sink);  // sink.write(text) gets one piece after the other
//     printer.builder().begin_mapping();
//     printer.builder().number("mass", 2.5);
//     printer.builder().end();
//     printer.finish();
//
// Thread: one thread at a time per printer.

#include "shoal/document/document_builder.h"

namespace shoal {

enum class TextFormat : std::uint8_t { kSjson, kJson };

/// Takes a text piece by piece.
class TextSink {
public:
    /// Lifetime: `text` lives until the call returns.
    virtual void write(std::string_view text) = 0;

protected:
    ~TextSink() = default;
};

class DocumentPrinter {
public:
    /// Lifetime: `sink` outlives the printer.
    SHOAL_API DocumentPrinter(TextFormat format, TextSink& sink);
    SHOAL_API ~DocumentPrinter();
    DocumentPrinter(const DocumentPrinter&) = delete;
    DocumentPrinter& operator=(const DocumentPrinter&) = delete;

    /// What builds the document. It keeps nothing, so its finish() must not be called, and nobody finds a key that a
    /// mapping has twice.
    DocumentBuilder& builder() { return builder_; }

    /// Gives the sink the rest. Requires: the root is complete.
    SHOAL_API void finish();

private:
    TextStream* stream_;
    DocumentBuilder builder_;
};

}  // namespace shoal
