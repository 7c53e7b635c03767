#pragma once
// Writes the parts of a report, such as panels, tables and bars. Names from a world are escaped by xml_text().

#include "inspect/xml_text.h"
#include "shoal/base/text.h"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// Limits on rows and on the lengths of strings, which keep a report small.
inline constexpr std::size_t kMostHtmlRows = 150, kMostHtmlBytes = 160;

inline std::string html_text(std::string_view text) { return xml_text(text, kMostHtmlBytes); }

class HtmlWriter {
public:
    template <class... Arguments>
    void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(html_), format, std::forward<Arguments>(arguments)...);
    }
    /// Adds text that is already HTML.
    void put_html(std::string_view html) { html_ += html; }
    /// Adds an SVG file as a part of the page.
    void put_svg(std::string_view file) { html_ += file.substr(file.find("<svg")); }

    void begin_panel(std::string_view title) { put("<section class=\"panel\"><h3>{}</h3>\n", html_text(title)); }
    void end_panel() { put_html("</section>\n"); }
    void hint(std::string_view text) { put("<p class=\"hint\">{}</p>\n", html_text(text)); }

    std::string take() { return std::move(html_); }

private:
    std::string html_;
};

/// A cell of a table. If it is a number, it is right-aligned, and has a bar behind it unless `share` is negative.
struct HtmlCell {
    std::string text;
    bool is_number = false;
    double share = -1;         ///< relative to the longest bar, 0 to 1
    std::string_view color{};  ///< the colour of a mark before the text
    bool is_off = false;
};

struct HtmlColumn {
    std::string_view title;
    bool is_number = false;
};

/// Adds rows under a header, up to a limit.
class HtmlTable {
public:
    HtmlTable(HtmlWriter& writer, std::vector<HtmlColumn> columns);
    void add_row(const std::vector<HtmlCell>& cells);
    /// Ends the table, with a note of the number of rows that were left out.
    void end();

private:
    HtmlWriter& writer_;
    std::size_t num_rows_ = 0;
};

/// Returns `part` relative to `most`, for a bar; 0 if `most` is 0.
inline double share_of(std::size_t part, std::size_t most) {
    return most == 0 ? 0 : static_cast<double>(part) / static_cast<double>(most);
}

inline HtmlCell number_cell(std::string text, double share = -1) { return {std::move(text), true, share}; }

}  // namespace shoal
