#pragma once
// What the inspector answers to requests. Each path has a function, in the file of its subject; answers.cpp lists all.
// Thread: that of the world, but for answer_without_world().

#include "inspector/http.h"
#include "inspector/session.h"
#include "shoal/document/diagnostics.h"
#include "shoal/document/document.h"

#include <optional>
#include <string_view>

namespace shoal::inspect {

/// Files of the page, and what is known without looking at the world: errors of the address, the description of the
/// interface. Nothing: the world is to be asked. `page_folder`: where the page's files are read from; empty: those that
/// the library has. Thread: any.
std::optional<Response> answer_without_world(const Request& request, std::string_view page_folder);
/// Requires: answer_without_world() has none.
Response answer_of_world(Session& session, const Request& request);

// --- the subjects ----------------------------------------------------------------------------------------------------

Response show_world(Session& session, const Request& request);
Response show_metrics(Session& session, const Request& request);
Response control(Session& session, const Request& request);

Response show_passes(Session& session, const Request& request);
Response show_timeline(Session& session, const Request& request);
Response enable_pass(Session& session, const Request& request);

Response show_memory(Session& session, const Request& request);
Response show_zones(Session& session, const Request& request);
Response show_components(Session& session, const Request& request);

Response list_entities(Session& session, const Request& request);
Response show_entity(Session& session, const Request& request);
Response set_field(Session& session, const Request& request);
Response undo(Session& session, const Request& request);
Response redo(Session& session, const Request& request);

Response show_journal(Session& session, const Request& request);
Response show_frames(Session& session, const Request& request);
Response keep_frames(Session& session, const Request& request);
Response rewind(Session& session, const Request& request);
Response compare_frames(Session& session, const Request& request);

Response ask_sql(Session& session, const Request& request);
Response list_tables(Session& session, const Request& request);

Response show_points(Session& session, const Request& request);

// --- what they share -------------------------------------------------------------------------------------------------

/// The JSON of a request. Errors: `refusal` says where it is not JSON, or that it is not an object.
struct RequestBody {
    explicit RequestBody(const Request& request);
    Diagnostics diagnostics;
    std::optional<Document> document;
    std::optional<Response> refusal;

    Node find(std::string_view key) const { return document->root().find(key); }
    /// Empty: it is missing, or not a text.
    std::string_view text(std::string_view key) const;
    /// Nothing: it is missing, or not a whole number from 0 on.
    std::optional<std::uint64_t> number(std::string_view key) const;
};

/// Reads a text query and collects the entities that it selects, each once. Errors: the text is not a query, or it writes.
struct Selection {
    std::vector<Entity> entities;
    std::optional<Response> refusal;
};
Selection select(Session& session, const std::string& query);

inline double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }
/// Adds `used`, `committed` and `reserved`. Units: bytes.
void write_use(const MemoryUse& use, DocumentBuilder& builder);

/// Returns a parameter as a whole number, `otherwise` if there is none, at most `most`.
std::uint64_t number_parameter(const Request& request, const char* name, std::uint64_t otherwise, std::uint64_t most);

}  // namespace shoal::inspect
