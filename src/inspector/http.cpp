#include "inspector/http.h"

#include "inspector/json_text.h"
#include "inspector/page_files.h"
#include "inspector/stream.h"
#include "shoal/base/text.h"

#include <civetweb.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

namespace shoal::inspect {
namespace {

// The page, its scripts and its styles may be loaded only from this server.
constexpr std::string_view kFixedHeaders =
    "Cache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'\r\n";

std::string_view text_or_empty(const char* text) { return text == nullptr ? std::string_view() : text; }

std::string_view status_text(int status) {
    switch (status) {
        case 200:
            return "OK";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 413:
            return "Content Too Large";
        case 415:
            return "Unsupported Media Type";
        case 503:
            return "Service Unavailable";
        default:
            return "Internal Server Error";
    }
}

void send(mg_connection* connection, const Response& response, bool has_body, std::string_view further_headers) {
    const std::string head =
        concat("HTTP/1.1 ", response.status, ' ', status_text(response.status), "\r\nContent-Type: ", response.type,
               "\r\nContent-Length: ", response.body.size(), "\r\n", kFixedHeaders, further_headers, "\r\n");
    if (mg_write(connection, head.data(), head.size()) <= 0 || !has_body || response.body.empty()) return;
    mg_write(connection, response.body.data(), response.body.size());
}

/// Compares strings of the same length in constant time.
bool is_same_secret(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
    return difference == 0;
}

std::string variable(std::string_view encoded, const char* name) {
    std::string value(encoded.size() + 1, '\0');
    const int length = mg_get_var(encoded.data(), encoded.size(), name, value.data(), value.size());
    value.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    return value;
}

}  // namespace

std::string Request::parameter(const char* name) const { return variable(query, name); }

Response refuse(int status, std::string_view message, std::uint32_t line, std::uint32_t column) {
    JsonText json;
    json.builder.begin_mapping();
    json.builder.begin_mapping("error");
    json.text("message", message);
    if (line != 0) {
        json.builder.unsigned_integer("line", line);
        json.builder.unsigned_integer("column", column);
    }
    json.builder.end();
    json.builder.end();
    return {status, "application/json", json.finish()};
}

struct HttpServer::Body {
    HttpOptions options;
    Listener* listener = nullptr;
    mg_context* context = nullptr;
    std::atomic<std::uint16_t> port{0};  // set when the server listens
    std::mutex mutex;                    // guards the members below
    std::map<const mg_connection*, std::unique_ptr<Stream>> streams;

    /// Whether the Host header is an address of this server. The check prevents DNS rebinding. If a token is required,
    /// any host is accepted.
    bool is_host_known(const mg_connection* connection) const {
        const std::string_view host = text_or_empty(mg_get_header(connection, "Host"));
        for (const std::string_view name : {"localhost", "127.0.0.1", "[::1]"})
            if (host == concat(name, ':', port.load()) || (port == 80 && host == name)) return true;
        return !options.token.empty();
    }
    /// Whether the request comes from this server's page, or names no origin.
    static bool is_from_here(const mg_connection* connection) {
        const std::string_view origin = text_or_empty(mg_get_header(connection, "Origin"));
        const std::string_view host = text_or_empty(mg_get_header(connection, "Host"));
        const std::string_view site = text_or_empty(mg_get_header(connection, "Sec-Fetch-Site"));
        if (site == "cross-site" || site == "same-site") return false;
        return origin.empty() || origin == concat("http://", host);
    }
    /// Browsers share cookies between a host's ports, so the name contains the port.
    std::string cookie_name() const { return concat("shoal_token_", port.load()); }
    bool has_token(const mg_connection* connection, std::string_view query) const {
        if (options.token.empty()) return true;
        constexpr std::string_view kBearer = "Bearer ";
        const std::string_view given = text_or_empty(mg_get_header(connection, "Authorization"));
        if (given.starts_with(kBearer) && is_same_secret(given.substr(kBearer.size()), options.token)) return true;
        if (is_same_secret(variable(query, "token"), options.token)) return true;
        char cookie[256];
        const char* const cookies = mg_get_header(connection, "Cookie");
        const int length =
            cookies == nullptr ? -1 : mg_get_cookie(cookies, cookie_name().c_str(), cookie, sizeof cookie);
        return length > 0 && is_same_secret({cookie, static_cast<std::size_t>(length)}, options.token);
    }

    /// Returns 200, or the status of a refusal; `message` then gives the reason.
    int check(const mg_connection* connection, std::string_view query, const char** message) const {
        if (!is_host_known(connection)) {
            *message = "this server answers requests to 127.0.0.1 and localhost only";
            return 403;
        }
        if (!is_from_here(connection)) {
            *message = "the request comes from a page of another site";
            return 403;
        }
        if (!has_token(connection, query)) {
            *message = "the token is missing or wrong; open the address that the program has printed";
            return 401;
        }
        return 200;
    }

    Response respond(mg_connection* connection, const mg_request_info& info) const {
        Request request;
        request.path = text_or_empty(info.local_uri);
        request.query = text_or_empty(info.query_string);
        const char* message = nullptr;
        if (const int status = check(connection, request.query, &message); status != 200)
            return refuse(status, message);
        const std::string_view method = info.request_method;
        request.is_post = method == "POST";
        if (!request.is_post && method != "GET" && method != "HEAD")
            return refuse(405, concat("the method is ", method, "; GET and POST are known"));
        if (request.is_post) {
            if (!text_or_empty(mg_get_header(connection, "Content-Type")).starts_with("application/json"))
                return refuse(415, "the body of a POST is JSON; send Content-Type: application/json");
            if (info.content_length > static_cast<long long>(kMostBodyBytes))
                return refuse(413,
                              concat("the body has ", info.content_length, " bytes; ", kMostBodyBytes, " at most"));
            if (!read_body(connection, request.body))
                return refuse(413, concat("the body has more than ", kMostBodyBytes, " bytes, or ends early"));
        }
        return listener->answer(request);
    }

    static bool read_body(mg_connection* connection, std::string& body) {
        char buffer[4096];
        for (int length; (length = mg_read(connection, buffer, sizeof buffer)) > 0;) {
            if (body.size() + static_cast<std::size_t>(length) > kMostBodyBytes) return false;
            body.append(buffer, static_cast<std::size_t>(length));
        }
        const long long told = mg_get_request_info(connection)->content_length;
        return told < 0 || static_cast<std::size_t>(told) == body.size();
    }

    int respond_to(mg_connection* connection) const {
        const mg_request_info& info = *mg_get_request_info(connection);
        const Response response = respond(connection, info);
        std::string further;
        // The page is opened with the token in its address, and sends the cookie with all later requests.
        if (!options.token.empty() && response.status == 200 && text_or_empty(info.local_uri) == "/")
            further =
                concat("Set-Cookie: ", cookie_name(), '=', options.token, "; Path=/; HttpOnly; SameSite=Strict\r\n");
        if (response.status == 405) further = "Allow: GET, HEAD, POST\r\n";
        // If the connection stayed open, the unread part of the body would be parsed as the next request.
        if (response.status >= 400) further += "Connection: close\r\n", mg_disable_connection_keep_alive(connection);
        send(connection, response, std::string_view(info.request_method) != "HEAD", further);
        return response.status;
    }

    // --- streams: civetweb calls these -----------------------------------------------------------------------------

    static int connect_stream(const mg_connection* connection, void* data) {
        auto& body = *static_cast<Body*>(data);
        const mg_request_info& info = *mg_get_request_info(connection);
        const char* message = nullptr;
        if (body.check(connection, text_or_empty(info.query_string), &message) != 200) return 1;
        const std::lock_guard lock(body.mutex);
        return body.streams.size() >= kMostStreams ? 1 : 0;
    }
    static void open_stream(mg_connection* connection, void* data) {
        auto& body = *static_cast<Body*>(data);
        const std::lock_guard lock(body.mutex);
        body.streams[connection] = std::make_unique<Stream>(connection, *body.listener);
    }
    static int read_stream(mg_connection* connection, int bits, char* text, std::size_t length, void* data) {
        auto& body = *static_cast<Body*>(data);
        constexpr int kOpcode = 15, kText = MG_WEBSOCKET_OPCODE_TEXT, kClose = MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE;
        if ((bits & kOpcode) == kClose) return 0;
        if ((bits & kOpcode) != kText) return 1;  // civetweb answers pings
        const std::lock_guard lock(body.mutex);
        const auto at = body.streams.find(connection);
        return at == body.streams.end() || !at->second->read({text, length}) ? 0 : 1;
    }
    static void close_stream(const mg_connection* connection, void* data) {
        auto& body = *static_cast<Body*>(data);
        std::unique_ptr<Stream> closed;  // joins the stream's thread without holding the lock
        {
            const std::lock_guard lock(body.mutex);
            const auto at = body.streams.find(connection);
            if (at == body.streams.end()) return;
            closed = std::move(at->second);
            body.streams.erase(at);
        }
    }
};

HttpServer::HttpServer() : body_(std::make_unique<Body>()) {}

HttpServer::~HttpServer() {
    if (body_->context != nullptr) {
        // civetweb only checks whether to stop every 2 seconds and when a client connects.
        std::atomic<bool> has_stopped{false};
        std::thread visitor([&] {
            while (!has_stopped) {
                char error[64];
                const std::string& address = body_->options.address;
                const char* const here = address == "0.0.0.0" ? "127.0.0.1" : address.c_str();
                mg_connection* const visit = mg_connect_client(here, body_->port, 0, error, sizeof error);
                if (visit != nullptr) mg_close_connection(visit);
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        });
        mg_stop(body_->context);
        has_stopped = true;
        visitor.join();
    }
    mg_exit_library();
}

std::uint16_t HttpServer::port() const { return body_->port; }

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options, Listener& listener) {
    mg_init_library(MG_FEATURES_DEFAULT);
    std::unique_ptr<HttpServer> server(new HttpServer);
    Body& body = *server->body_;
    body.options = options;
    body.listener = &listener;
    const std::string ports = concat(options.address, ':', options.port);
    const char* settings[] = {"listening_ports",
                              ports.c_str(),
                              "num_threads",
                              "24",
                              "request_timeout_ms",
                              "5000",
                              "keep_alive_timeout_ms",
                              "2000",
                              "enable_keep_alive",
                              "yes",
                              "websocket_timeout_ms",
                              "3600000",
                              "max_request_size",
                              "16384",
                              "linger_timeout_ms",
                              "1000",  // so that unread data is not lost when the connection closes
                              "listen_backlog",
                              "512",
                              nullptr};
    mg_callbacks callbacks{};
    callbacks.begin_request = [](mg_connection* connection) {
        const mg_request_info& info = *mg_get_request_info(connection);
        if (text_or_empty(info.local_uri) == "/api/stream" && mg_get_header(connection, "Upgrade") != nullptr) return 0;
        return static_cast<const Body*>(info.user_data)->respond_to(connection);
    };
    callbacks.log_message = [](const mg_connection*, const char*) { return 1; };  // client errors are not logged
    mg_init_data start{&callbacks, &body, settings};
    body.context = mg_start2(&start, nullptr);
    if (body.context == nullptr)
        return Status::error(concat("the inspector cannot listen on ", ports,
                                    ": the address is not one of this machine, or the port is in use; give another "
                                    "address, or another port (0: one that is free)"));
    mg_server_port bound[4] = {};
    if (mg_get_server_ports(body.context, 4, bound) > 0) body.port = static_cast<std::uint16_t>(bound[0].port);
    mg_set_websocket_handler(body.context, "/api/stream", Body::connect_stream, Body::open_stream, Body::read_stream,
                             Body::close_stream, &body);
    return server;
}

}  // namespace shoal::inspect
