#include "shoal/document/document_printer.h"

#include "document/text_stream.h"

namespace shoal {

DocumentPrinter::DocumentPrinter(TextFormat format, TextSink& sink)
    : stream_(new TextStream(format == TextFormat::kJson ? kJsonStyle : kSjsonStyle, &sink)), builder_(stream_) {}

DocumentPrinter::~DocumentPrinter() { delete stream_; }

void DocumentPrinter::finish() {
    SHOAL_ASSERT(stream_->has_root() && stream_->depth() == 0, "a document needs one root, which must be closed");
    stream_->finish();
}

}  // namespace shoal
