#pragma once
// The live inspector shows a running world in a browser, and answers requests from programs.
//
//     inspect::Server server(world, {.port = 0});
//     if (!server.status()) return server.status();
//     show(server.url());  // http://127.0.0.1:8080/
//     while (is_running) world.step(1.0f / 60);
//
//     browser --HTTP--> server's threads --request--> [ waits ] --between two frames--> world's thread, which answers
//                                                        pause: the world's thread waits here until the pause ends
//
// The server is a service of the world. At the end of a frame, it answers the requests that arrived during the frame.
// Programs may send the same requests as the page. docs/formats/inspector.md lists them, and GET /api/openapi.json
// describes them to tools. By default, the page is served on 127.0.0.1. To use a different address, set a token, which
// every request must then have. Requests from other pages in the browser are refused. Entity fields can be edited
// through their stores, as with World::set(), unless `allow_edits` is false.
//
// Cost: one clock read per frame and 4 bytes of memory per spawned entity. While the page is open, each path that it
// watches also takes at most one percent of the time. Thread: the same as for the world. A world has at most one server
// at a time. The server may be destroyed before or after the world.

#include "shoal/react/service.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {
class World;
struct LayerOrigin;
}  // namespace shoal

namespace shoal::inspect {

/// Callbacks from a server to the program.
class ServerHost {
public:
    /// Called about ten times a second while the world is paused. If it returns true, the pause ends, and the world is
    /// not paused again.
    virtual bool is_stopped() { return false; }
    /// Returns the source layers that set an entity's values (see source/detail/origins.h), given its resource and its
    /// GUID path. Empty if they are unknown. Called between frames, when an entity with a source is shown.
    SHOAL_API virtual std::vector<LayerOrigin> origins(std::string_view resource, std::uint64_t guid);

protected:
    ~ServerHost() = default;
};

struct ServerOptions {
    std::uint16_t port = 0;             ///< 0: any free port
    std::string address = "127.0.0.1";  ///< an address of this machine; requires a token unless it is 127.0.0.1
    std::string token{};                ///< if not empty, every request must have it
    std::string name = "world";         ///< the name of the world on the page
    bool allow_edits = true;            ///< allows editing fields and passes, and going back; pausing is always allowed
    std::uint32_t keep_frames = 0;      ///< number of frames kept for going back; 0: none until the page asks for some
    bool begin_paused = false;          ///< pauses at the end of the first frame
    ServerHost* host = nullptr;         ///< Lifetime: as long as the server
    std::string page_folder{};          ///< for development; the folder from which the page's files are read
};

class Server final : public WorldService {
public:
    /// Starts to listen. Requires: the world has no other server, and no pass is running.
    SHOAL_API explicit Server(World& world, const ServerOptions& options = {});
    /// Stops answering, and refuses waiting requests.
    SHOAL_API ~Server() override;

    /// Errors: the address cannot be used, or needs a token. On error, nothing is served.
    SHOAL_API const Status& status() const;
    /// The address of the page, with the token if there is one. Empty if nothing is served.
    SHOAL_API const std::string& url() const;

    /// Answers waiting requests, for programs that do not step continuously. Answers once, or for `seconds` if that is
    /// not 0, and then continues while the world is paused. Returns early if ServerHost::is_stopped() returns true.
    /// Requires: the world is at rest.
    SHOAL_API void answer(double seconds = 0);
    /// Waits until the next frame is due, and answers requests while it waits. For programs that step in real time. A
    /// frame is due `seconds` after the last due time, or later if the page slows the world down. Time spent in a pause
    /// is not made up for. Waits for at most `most_seconds`. Returns whether the frame is due. Requires: the world is
    /// at rest.
    SHOAL_API bool wait_for_frame(double seconds, double most_seconds = 3600);

private:
    class Body;

    std::string describe() const override;
    void before_commands(const SettleContext& context) override;
    void after_frame() override;
    void spawned(const Blob& blob, const Spawned& spawned, const SpawnOptions& options) override;
    void before_detach(Store& store) override;
    void fields_changed() override;
    void world_ends() override;

    Body* const body_;
};

}  // namespace shoal::inspect
