#pragma once
// The inspector's answers to requests. Each path has one function that answers it; answers.cpp lists them all.
// Thread: the same as for the world, except for answer_without_world().

#include "inspector/http.h"
#include "inspector/session.h"
#include "shoal/document/detail/document.h"
#include "shoal/document/diagnostics.h"

#include <optional>
#include <string_view>

namespace shoal::inspect {

/// Answers requests that do not need the world: those for the page's files or the description of the interface, and
/// those with an error in the address. Returns nothing if the world is needed. `page_folder` is the folder from which
/// the page's files are read; if it is empty, the files in the library are used. Thread: any.
std::optional<Response> answer_without_world(const Request& request, std::string_view page_folder);
/// Requires: answer_without_world() has returned nothing.
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

// --- shared helpers --------------------------------------------------------------------------------------------------

/// The JSON body of a request. Errors: the body is not valid JSON or is not an object. On error, `refusal` is the
/// response to send.
struct RequestBody {
    explicit RequestBody(const Request& request);
    Diagnostics diagnostics;
    std::optional<Document> document;
    std::optional<Response> refusal;

    Node find(std::string_view key) const { return document->root().find(key); }
    /// Returns an empty string if the member is missing or is not a string.
    std::string_view text(std::string_view key) const;
    /// Returns nothing if the member is missing, is not an integer, or is negative.
    std::optional<std::uint64_t> number(std::string_view key) const;
};

/// Reads a text query and collects the entities that it selects, without duplicates. Errors: the text is not a valid
/// query, or the query is not read-only.
struct Selection {
    std::vector<Entity> entities;
    std::optional<Response> refusal;
};
Selection select(Session& session, const std::string& query);

inline double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }
/// Adds `used`, `committed` and `reserved`. Units: bytes.
void write_use(const MemoryUse& use, DocumentBuilder& builder);

/// Returns a parameter as an integer of at most `most`, or `otherwise` if it is missing.
std::uint64_t number_parameter(const Request& request, const char* name, std::uint64_t otherwise, std::uint64_t most);

}  // namespace shoal::inspect
