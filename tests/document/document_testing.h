#pragma once
// Reads texts in one line of code.

#include "shoal/base/text.h"
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"
#include "support/random_tree.h"

#include <string>
#include <string_view>

namespace shoal_test {

/// A text, the document read from it, and its diagnostics.
struct Reading {
    shoal::Diagnostics diagnostics;
    shoal::Result<shoal::Document> document;

    using Reader = decltype(&shoal::read_sjson);

    explicit Reading(std::string text, Reader reader = &shoal::read_sjson, const shoal::ReadOptions& options = {})
        : document(reader(diagnostics.add_file("test.sjson", std::move(text)), diagnostics, options)) {}

    explicit operator bool() const { return document.ok(); }
    shoal::Node root() const { return document->root(); }
    std::string messages() const { return diagnostics.format(); }
    /// Returns the first message without position and source line; empty if there is none.
    std::string first_message() const { return diagnostics.entries().empty() ? "" : diagnostics.entries()[0].message; }
};

inline Reading read_as_json(std::string text, const shoal::ReadOptions& options = {}) {
    return Reading(std::move(text), &shoal::read_json, options);
}

}  // namespace shoal_test
