#include "shoal/inspect/html_report.h"

#include "inspect/html_sections.h"
#include "inspect/html_style.h"
#include "shoal/inspect/detail/service_rows.h"
#include "shoal/inspect/text_table.h"
#include "shoal/world/world.h"

namespace shoal {
namespace {

std::vector<std::pair<std::string, std::string>> facts_of(const WorldReport& report, const HtmlReportOptions& options) {
    std::vector<std::pair<std::string, std::string>> facts = {
        {"Entities", count_text(report.num_entities)},
        {"Frame", count_text(report.frame)},
        {"Component types", count_text(report.components.size())},
        {"Memory", bytes_text(report.total_memory().committed_bytes)}};
    facts.insert(facts.end(), options.facts.begin(), options.facts.end());
    return facts;
}

void write_head(const WorldReport& report, const HtmlReportOptions& options, HtmlWriter& html) {
    const std::string title = options.title.empty() ? "A world" : html_text(options.title);
    html.put(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>",
        title);
    html.put_html(kHtmlStyle);
    html.put("</style>\n</head>\n<body>\n<header><div><h1>{}</h1>\n<dl class=\"facts\">\n", title);
    for (const auto& [name, text] : facts_of(report, options))
        html.put("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(name), html_text(text));
    html.put_html("</dl></div></header>\n<main>\n");
}

}  // namespace

void write_services_section(const World& world, HtmlWriter& html) {
    world.services().for_each([&](const WorldService& service) {
        const std::vector<std::vector<std::string>> all = service_rows(service);
        if (all.empty()) return;
        html.begin_panel(service.name());
        html.hint(service.describe());
        std::vector<HtmlColumn> columns;
        for (const std::string& column : all.front()) columns.push_back({column, !columns.empty()});
        HtmlTable rows(html, std::move(columns));
        for (std::size_t row = 1; row < all.size(); ++row) {
            std::vector<HtmlCell> cells;
            for (const std::string& text : all[row]) cells.push_back({text, !cells.empty()});
            rows.add_row(cells);
        }
        rows.end();
        html.end_panel();
    });
}

Result<std::string> html_report(World& world, const HtmlReportOptions& options) {
    const Result<ScheduleGraph> graph = world.schedule().graph();
    if (!graph) return graph.status();
    const WorldReport found = options.report == nullptr ? report_world(world) : WorldReport();
    const WorldReport& report = options.report == nullptr ? found : *options.report;
    HtmlWriter html;
    write_head(report, options, html);
    write_passes_section(report, *graph, options.trace == nullptr ? Timeline() : last_frame(*options.trace, *graph),
                         html);
    write_memory_section(report, html);
    write_zones_section(world, html);
    write_entities_section(world, html);
    write_services_section(world, html);
    write_places_section(world, html);
    html.put_html("</main>\n</body>\n</html>\n");
    return html.take();
}

}  // namespace shoal
