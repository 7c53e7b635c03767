#pragma once
// The live inspector of `shoal run --inspect`, `shoal replay --inspect` and `shoal inspect`. A tool that was built
// without the inspector reports an error.

#include "arguments.h"
#include "shoal/base/status.h"
#include "shoal/source/detail/origins.h"
#include "shoal/world/world.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace shoal_tool {

inline constexpr Flag kInspectFlag{
    .name = "inspect",
    .value = "[PORT]",
    .help =
        "show the world in a browser while it runs, at the pace of the clock, until it is interrupted; after --frames "
        "frames it stays as it is (default: a port that is free)",
    .takes = Takes::kPort};
inline constexpr Flag kPortFlag{.name = "port",
                                .value = "PORT",
                                .help = "where the page is served (default: 0, one that is free)",
                                .takes = Takes::kText};
inline constexpr Flag kAddressFlag{
    .name = "inspect-address",
    .value = "ADDRESS",
    .help = "of this machine, where the inspector is reached; others than 127.0.0.1 need --inspect-token",
    .takes = Takes::kText};
inline constexpr Flag kTokenFlag{.name = "inspect-token",
                                 .value = "TOKEN",
                                 .help = "8 to 128 letters and digits, without which requests are refused",
                                 .takes = Takes::kText};
inline constexpr Flag kReadOnlyFlag{.name = "inspect-only",
                                    .help = "the inspector may pause the world, and changes nothing else"};

/// The options for inspecting a run.
struct InspectionTask {
    std::optional<std::uint64_t> port;  ///< empty: no inspector
    std::string address = "127.0.0.1", token, name;
    bool begins_paused = false, allows_edits = true;
    /// Implements inspect::ServerHost::origins(). Empty if there is no level or the level is a blob.
    std::function<std::vector<shoal::LayerOrigin>(std::uint64_t guid)> origins;
};

/// Reads the flags. Errors: the port is invalid.
shoal::Status read_inspection(const Arguments& arguments, InspectionTask& task);

/// The server that shows a world in a browser, if the flags request it.
class Inspection {
public:
    Inspection();
    ~Inspection();
    Inspection(const Inspection&) = delete;
    Inspection& operator=(const Inspection&) = delete;

    /// Starts the server and prints its address.
    /// Errors: the address cannot be used; the tool was built without the inspector.
    shoal::Status start(shoal::World& world, const InspectionTask& task, Console& console);
    bool is_on() const { return served_ != nullptr; }
    /// Answers requests for `seconds`, or until the user interrupts the tool. Requires: is_on().
    void answer(double seconds);
    /// Answers requests until the next frame is due, which is `seconds` after the last frame, or later if the page
    /// slows the run down. Waits at most `most_seconds`. Returns whether the frame is due. Requires: is_on().
    bool wait_for_frame(double seconds, double most_seconds);
    /// Answers requests until the user interrupts the tool.
    void answer_on();

private:
    struct Served;
    std::unique_ptr<Served> served_;
};

}  // namespace shoal_tool
