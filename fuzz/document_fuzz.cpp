// The readers: whatever the bytes are, they give a document or a diagnostic, and what was read is written and read
// back as the same tree.
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"

#include <cstdlib>
#include <string_view>

using namespace shoal;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

template <class Read, class Write>
void read_and_write_back(std::string_view text, Read read, Write write) {
    Diagnostics diagnostics;
    const Result<Document> document = read(diagnostics.refer_file("input", text), diagnostics);
    require(document.ok() == (diagnostics.num_errors() == 0));
    static_cast<void>(diagnostics.format());
    if (!document) return;
    const std::string written = write(document->root());
    Diagnostics again;
    const Result<Document> reread = read(again.refer_file("written", written), again);
    require(reread.ok() && equal(document->root(), reread->root()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    read_and_write_back(
        text, [](std::uint32_t file, Diagnostics& diagnostics) { return read_sjson(file, diagnostics); },
        [](Node node) { return write_sjson(node); });
    read_and_write_back(
        text, [](std::uint32_t file, Diagnostics& diagnostics) { return read_json(file, diagnostics); },
        [](Node node) { return write_json(node); });
    return 0;
}
