#pragma once
// The sections of a report. Each one is implemented in the file for its subject.

#include "inspect/html_writer.h"
#include "shoal/inspect/detail/timeline.h"
#include "shoal/inspect/report.h"
#include "shoal/world/detail/schedule_graph.h"

namespace shoal {

/// `timeline` has no workers if no frame was traced.
void write_passes_section(const WorldReport& report, const ScheduleGraph& graph, const Timeline& timeline,
                          HtmlWriter& html);
void write_memory_section(const WorldReport& report, HtmlWriter& html);
void write_zones_section(const World& world, HtmlWriter& html);
/// The number of entities with each set of component types.
void write_entities_section(const World& world, HtmlWriter& html);
/// The tables of all services that have one.
void write_services_section(const World& world, HtmlWriter& html);
/// Where the entities are.
void write_places_section(const World& world, HtmlWriter& html);

}  // namespace shoal
