#pragma once
// A JSON document that is written to a string while it is being built.
//
//     JsonText json;
//     json.builder.begin_mapping();
//     json.text("name", name);
//     json.builder.end();
//     return json.finish();

#include "shoal/base/detail/utf8.h"
#include "shoal/document/document_builder.h"

#include <string>
#include <string_view>

namespace shoal::inspect {

struct JsonText {
    DocumentBuilder builder{TextFormat::kJson, append, this};

    JsonText() = default;
    JsonText(const JsonText&) = delete;
    JsonText& operator=(const JsonText&) = delete;

    /// Adds any string; bytes that are not UTF-8 become visible escapes.
    void text(std::string_view value) {
        if (find_invalid_byte(value) == std::string_view::npos) return builder.string(value);
        std::string visible;
        append_visible(visible, value);
        builder.string(visible);
    }
    void text(std::string_view key, std::string_view value) {
        builder.key(key);
        text(value);
    }
    /// Requires: every list and mapping has been closed.
    std::string finish() {
        builder.finish();
        return std::move(written_);
    }

private:
    static void append(void* context, std::string_view piece) { static_cast<JsonText*>(context)->written_ += piece; }
    std::string written_;
};

}  // namespace shoal::inspect
