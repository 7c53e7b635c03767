#pragma once
// A stream is a WebSocket that repeatedly sends a page the data that the page watches.
//
//     {"watch": ["/api/world", "/api/passes"], "rate": 4}       from the client; again to change it
//     {"path": "/api/world", "status": 200, "body": {...}}      to the client, for each path, at that rate
//
// Each stream queries the world on its own thread, so a slow client only delays its own stream.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

struct mg_connection;

namespace shoal::inspect {

class Listener;

class Stream {
public:
    Stream(mg_connection* connection, Listener& listener);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    /// Handles a message from the client. Returns false if the message is invalid; the stream then ends.
    bool read(std::string_view message);

private:
    void run();
    bool tell(const std::string& path);

    mg_connection* connection_;
    Listener& listener_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> watched_;
    double rate_ = 4;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace shoal::inspect
