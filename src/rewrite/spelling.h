#pragma once
// How scalars and keys are written: as in the text that they are from where that is possible, otherwise in the simplest way.
// Thread: one thread at a time.

#include "shoal/document/diagnostics.h"
#include "shoal/rewrite/source_text.h"

#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// Where a scalar of YAML stands: inside brackets, or on lines of its own, where texts of several lines may follow.
struct YamlContext {
    bool is_flow = true;
    std::size_t indent = 0;  ///< of the lines of a text
    std::size_t step = 0;    ///< how much that is more than the list or mapping around has
};

class Speller {
public:
    Speller(SourceFormat format, const Diagnostics& diagnostics, bool bare_texts)
        : format_(format), diagnostics_(diagnostics), bare_texts_(bare_texts) {}

    void append_key(std::string& out, Node child) const;
    void append_scalar(std::string& out, Node node, const YamlContext& place = {}) const;

    /// The text from a place on; empty: it is from no text.
    std::string_view text_from(SourcePosition position) const;
    /// The same past the anchor and the tag that YAML may have there.
    std::string_view text_of_value(SourcePosition position) const;
    SourceFormat format_of(SourcePosition position) const;
    /// Returns the anchor of a value of YAML, or nothing.
    std::string_view anchor_of(SourcePosition position) const;
    /// Returns the tag of a value of YAML, or nothing.
    std::string_view tag_of(SourcePosition position) const;

private:
    void append_number(std::string& out, Node node) const;
    bool append_as_written(std::string& out, std::string_view text, SourcePosition position, bool is_flow,
                           bool is_key) const;
    void append_text(std::string& out, Node node, const YamlContext& place) const;
    bool append_folded(std::string& out, Node node, const YamlContext& place) const;

    SourceFormat format_;
    const Diagnostics& diagnostics_;
    bool bare_texts_;
};

/// Appends what a text means in YAML, in the simplest way that stands on one line.
void append_yaml_text(std::string& out, std::string_view text, bool is_flow, bool is_key);

}  // namespace shoal
