#pragma once
// The live inspector: shows a world while it runs, in a browser, and answers programs that ask.
//
//     inspect::Server server(world, {.port = 0});
//     if (!server.status()) return server.status();
//     show(server.url());  // http://127.0.0.1:8080/
//     while (is_running) world.step(1.0f / 60);
//
//     browser --HTTP--> server's threads --request--> [ waits ] --between two frames--> world's thread, which answers
//                                                        pause: the world's thread stays here until it is to go on
//
// The server is a service of the world: when a frame has ended, it answers what was asked while it ran. Programs may ask
// what the page asks: docs/formats/inspector.md has each call, and GET /api/openapi.json describes them to tools.
// It is served on 127.0.0.1. Another address needs a token, which each request must have.
// Requests of other pages that the browser has open are refused. What may be edited are fields of entities, by their
// stores, as World::set() does; `allow_edits` switches it off.
//
// Cost: a look at the clock in each frame, and 4 bytes for each entity that is spawned; with the page open, at most one
// percent of the time for each thing that it watches.
// Thread: that of the world. A world has one server at a time; it may end before the world or after it.

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

/// What a server asks the program.
class ServerHost {
public:
    /// Asked while the world is paused, some ten times a second: true ends the pause for good.
    virtual bool is_stopped() { return false; }
    /// Says which texts the values of an entity come from (see source/origins.h), by the name of its resource and its GUID
    /// path; empty: it is not known. Called while the world waits, when an entity with a source is shown.
    SHOAL_API virtual std::vector<LayerOrigin> origins(std::string_view resource, std::uint64_t guid);

protected:
    ~ServerHost() = default;
};

struct ServerOptions {
    std::uint16_t port = 0;             ///< 0: one that is free
    std::string address = "127.0.0.1";  ///< of the machine's addresses; a token is needed for others
    std::string token{};                ///< not empty: requests need it
    std::string name = "world";         ///< what the page calls the world
    bool allow_edits = true;            ///< of fields and passes, and going back in time; pauses always are
    std::uint32_t keep_frames = 0;      ///< frames to go back to; 0: until the page asks for some
    bool begin_paused = false;          ///< the first frame ends in a pause
    ServerHost* host = nullptr;         ///< Lifetime: that of the server
    std::string page_folder{};          ///< the page's files are read from here, for those who work on it
};

class Server final : public WorldService {
public:
    /// Begins to listen. Requires: the world has no other server; no passes run.
    SHOAL_API explicit Server(World& world, const ServerOptions& options = {});
    /// Answers nothing from now on; what waits is refused.
    SHOAL_API ~Server() override;

    /// Errors: the address cannot be used, or needs a token; nothing is served then.
    SHOAL_API const Status& status() const;
    /// Where the page is, with the token if there is one. Empty if nothing is served.
    SHOAL_API const std::string& url() const;

    /// Answers what waits, for programs that do not step all the time: until `seconds` have passed, or at once if 0, and as
    /// long as the world is paused. Ends earlier when ServerHost::is_stopped() says so. Requires: the world is at rest.
    SHOAL_API void answer(double seconds = 0);
    /// Waits until the next frame is due, `seconds` after the last one that was, or longer if the page slows the world down;
    /// answers what is asked until then. Time that a pause has taken is not caught up with. Waits at most `most_seconds`.
    /// Returns whether the frame is due. For programs that step at the pace of the clock. Requires: as answer().
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
