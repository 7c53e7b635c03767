#include "inspector/answers.h"

#include "inspector/json_text.h"
#include "inspector/page_files.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/document/json.h"
#include "shoal/query/text_query.h"

#include <algorithm>
#include <charconv>

namespace shoal::inspect {
namespace {

struct Route {
    std::string_view path;
    bool is_post;
    bool edits;  ///< refused unless ServerOptions::allow_edits is set
    Response (*answer)(Session&, const Request&);
};

constexpr Route kRoutes[] = {
    {"/api/world", false, false, show_world},
    {"/api/control", true, false, control},
    {"/api/passes", false, false, show_passes},
    {"/api/timeline", false, false, show_timeline},
    {"/api/enable", true, true, enable_pass},
    {"/api/memory", false, false, show_memory},
    {"/api/zones", false, false, show_zones},
    {"/api/components", false, false, show_components},
    {"/api/entities", false, false, list_entities},
    {"/api/entity", false, false, show_entity},
    {"/api/set", true, true, set_field},
    {"/api/undo", true, true, undo},
    {"/api/redo", true, true, redo},
    {"/api/journal", false, false, show_journal},
    {"/api/frames", false, false, show_frames},
    {"/api/frames", true, true, keep_frames},
    {"/api/rewind", true, true, rewind},
    {"/api/compare", false, false, compare_frames},
    {"/api/points", false, false, show_points},
    {"/api/sql", true, false, ask_sql},
    {"/api/tables", false, false, list_tables},
    {"/metrics", false, false, show_metrics},
};

// An answer that took a time t to compute is reused for 100 t, so that watching costs the world little time.
constexpr std::int64_t kKeptFor = 100;
constexpr std::int64_t kLongestKeptNs = 5'000'000'000;  // less than kWatchedNs, after which the session stops recording
constexpr std::size_t kMostKeptAnswers = 32;

const Route* find_route(std::string_view path, bool is_post) {
    for (const Route& route : kRoutes)
        if (route.path == path && route.is_post == is_post) return &route;
    return nullptr;
}

std::string_view type_of(std::string_view path) {
    if (path.ends_with(".html") || path == "/") return "text/html; charset=utf-8";
    if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
    if (path.ends_with(".css")) return "text/css; charset=utf-8";
    if (path.ends_with(".svg")) return "image/svg+xml";
    return "application/json";
}

/// Reads a file of the page from a folder. Only files that the library also contains are read.
std::optional<Response> find_file(std::string_view path, std::string_view folder) {
    const std::string_view wanted = path == "/" ? "/index.html" : path == "/api/openapi.json" ? "/openapi.json" : path;
    for (const PageFile& file : page_files()) {
        if (file.path != wanted) continue;
        Response response{200, std::string(type_of(wanted)), std::string(file.content)};
        if (folder.empty() || wanted.starts_with("/lib/")) return response;
        if (Result<std::string> text = read_file(concat(folder, wanted)); text) response.body = *std::move(text);
        return response;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Response> answer_without_world(const Request& request, std::string_view page_folder) {
    if (find_route(request.path, request.is_post) != nullptr) return std::nullopt;
    if (find_route(request.path, !request.is_post) != nullptr)
        return refuse(405,
                      concat(request.path, request.is_post ? " is asked for with GET" : " is asked for with POST"));
    if (std::optional<Response> file = find_file(request.path, page_folder); file && !request.is_post) return file;
    return refuse(404, concat("there is no ", request.path, " here; GET /api/openapi.json says what there is"));
}

Response answer_of_world(Session& session, const Request& request) {
    const Route& route = *find_route(request.path, request.is_post);
    if (route.edits && !session.options.allow_edits)
        return refuse(403, "the program that is looked at does not allow changes; ServerOptions::allow_edits does");
    if (request.is_post) {
        session.kept_answers.clear();
        return route.answer(session, request);
    }
    const std::string key = concat(request.path, '?', request.query);
    const std::int64_t begin_ns = monotonic_ns();
    if (const auto kept = session.kept_answers.find(key);
        kept != session.kept_answers.end() && begin_ns < kept->second.until_ns)
        return kept->second.response;
    if (session.kept_answers.size() >= kMostKeptAnswers) session.kept_answers.clear();
    Response response = route.answer(session, request);
    const std::int64_t end_ns = monotonic_ns();
    session.kept_answers[key] = {response, end_ns + std::min((end_ns - begin_ns) * kKeptFor, kLongestKeptNs)};
    return response;
}

RequestBody::RequestBody(const Request& request) {
    Result<Document> read =
        read_json(diagnostics.add_file("request", request.body.empty() ? "{}" : request.body), diagnostics);
    if (read && read->root().is_mapping()) {
        document = std::move(*read);
        return;
    }
    if (read) {
        refusal = refuse(400, "the body is not a JSON object");
        return;
    }
    const Diagnostic& first = diagnostics.entries()[0];
    const SourceLocation at = diagnostics.locate(first.position);
    refusal = refuse(400, concat("the body is not JSON: ", first.message), at.line, at.column);
}

std::string_view RequestBody::text(std::string_view key) const {
    const Node found = find(key);
    return found && found.is_string() ? found.as_string() : std::string_view();
}

std::optional<std::uint64_t> RequestBody::number(std::string_view key) const {
    const Node found = find(key);
    if (!found || !found.is_number()) return std::nullopt;
    const std::uint64_t* const number = found.as_uint64();
    return number == nullptr ? std::nullopt : std::optional(*number);
}

Selection select(Session& session, const std::string& query) {
    Selection selected;
    Diagnostics diagnostics;
    const Result<TextQuery> read =
        TextQuery::make(session.world.directory(), diagnostics.add_file("query", query), diagnostics);
    if (!read) {
        const auto& errors = diagnostics.entries();
        if (errors.empty()) {
            selected.refusal = refuse(400, read.status().message());
            return selected;
        }
        const SourceLocation at = diagnostics.locate(errors[0].position);
        const std::string hint = errors[0].hint.empty() ? std::string() : concat("; ", errors[0].hint);
        selected.refusal = refuse(400, concat(errors[0].message, hint), at.line, at.column);
        return selected;
    }
    if (std::ranges::any_of(read->components(), [](const TextComponent& one) { return one.is_written; })) {
        selected.refusal = refuse(400, "a query that only looks has no `&`");
        return selected;
    }
    read->for_each_batch([&](const TextBatch& batch) {
        selected.entities.insert(selected.entities.end(), batch.entities().begin(), batch.entities().end());
    });
    std::ranges::sort(selected.entities, {}, &Entity::id);  // an entity with several values is visited several times
    const auto repeated = std::ranges::unique(selected.entities);
    selected.entities.erase(repeated.begin(), repeated.end());
    return selected;
}

void write_use(const MemoryUse& use, DocumentBuilder& builder) {
    builder.unsigned_integer("used", use.used_bytes);
    builder.unsigned_integer("committed", use.committed_bytes);
    builder.unsigned_integer("reserved", use.reserved_bytes);
}

std::uint64_t number_parameter(const Request& request, const char* name, std::uint64_t otherwise, std::uint64_t most) {
    const std::string text = request.parameter(name);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) return otherwise;
    return std::min(number, most);
}

}  // namespace shoal::inspect
