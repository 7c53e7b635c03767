#include "inspect/html_writer.h"

#include "shoal/inspect/text_table.h"

#include <algorithm>

namespace shoal {

HtmlTable::HtmlTable(HtmlWriter& writer, std::vector<HtmlColumn> columns) : writer_(writer) {
    writer.put_html("<div class=\"scroll\"><table><thead><tr>");
    for (const HtmlColumn& column : columns)
        writer.put("<th{}>{}</th>", column.is_number ? " class=\"number\"" : "", html_text(column.title));
    writer.put_html("</tr></thead><tbody>\n");
}

void HtmlTable::add_row(const std::vector<HtmlCell>& cells) {
    if (++num_rows_ > kMostHtmlRows) return;
    writer_.put_html("<tr>");
    for (const HtmlCell& cell : cells) {
        writer_.put("<td{}>", cell.is_number ? " class=\"number\"" : cell.is_off ? " class=\"off\"" : "");
        if (!cell.color.empty()) writer_.put("<i class=\"dot\" style=\"background:{}\"></i>", cell.color);
        if (cell.share >= 0)
            writer_.put("<span class=\"bar\"><i style=\"width:{:.1f}%\"></i><b>{}</b></span>",
                        100 * std::min(1.0, cell.share), html_text(cell.text));
        else
            writer_.put_html(html_text(cell.text));
        writer_.put_html("</td>");
    }
    writer_.put_html("</tr>\n");
}

void HtmlTable::end() {
    writer_.put_html("</tbody></table></div>\n");
    if (num_rows_ > kMostHtmlRows) writer_.hint(concat("and ", count_text(num_rows_ - kMostHtmlRows), " more"));
}

}  // namespace shoal
