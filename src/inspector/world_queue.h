#pragma once
// Where requests wait until the world is at rest. Threads of the server ask, the world's thread answers.
//
//     server's thread      ask(what) -----------------> waits ...... gets the response, or is refused after 2 s
//     world's thread       [ frame ] serve() [ frame ] serve() ...
//
// Thread: ask() and close() from any thread; the rest from that of the world.

#include "inspector/http.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace shoal::inspect {

class WorldQueue {
public:
    /// Has `answer` called on the world's thread. Returns what it returns, or a refusal if the world does not come by.
    Response ask(const std::function<Response()>& answer);
    /// Refuses what waits, and all that is asked from now on.
    void close();

    /// Answers what waits now.
    void serve();
    /// Waits until something is asked, at most so long. Units: seconds.
    void wait(double seconds);

private:
    struct Waiting {
        const std::function<Response()>* answer;
        Response response;
        bool is_taken = false, is_done = false;
    };

    std::mutex mutex_;
    std::condition_variable asked_, answered_;
    std::vector<Waiting*> waiting_;
    bool is_closed_ = false;
};

}  // namespace shoal::inspect
