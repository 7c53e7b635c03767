#pragma once
// Serves the web page that shows the sea while it is running, and handles the signals that end an unlimited run.
//
//     Inspection inspection;
//     if (Status open = inspection.open(sea, run); !open) return open;
//     while (!is_interrupted()) sea.step(), inspection.wait_for_frame();
//
// Thread: the structural thread of the world.

#include "report.h"

#include <memory>

namespace reef {

/// Makes SIGINT and SIGTERM end the run instead of the process.
void end_when_interrupted();
bool is_interrupted();

class Inspection {
public:
    Inspection();
    ~Inspection();

    /// If the page was requested, serves it. A divided sea cannot be edited, because only one machine would make the
    /// edits. Errors: this build has no inspector; the port cannot be used.
    shoal::Status open(Sea& sea, const Run& run);
    bool is_open() const;
    /// Waits until the next frame is due. While the page pauses the sea, no frame is due. Requires: is_open().
    void wait_for_frame();

private:
    struct Host;
    std::unique_ptr<Host> host_;
};

}  // namespace reef
