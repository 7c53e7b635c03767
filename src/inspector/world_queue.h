#pragma once
// Queues requests until the world is at rest. The server's threads ask, and the world's thread answers.
//
//     server's thread      ask(what) -----------------> waits ...... gets the response, or is refused after 2 s
//     world's thread       [ frame ] serve() [ frame ] serve() ...
//
// Thread: ask() and close() may be called on any thread, and other functions only on the world's thread.

#include "inspector/http.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace shoal::inspect {

class WorldQueue {
public:
    /// Runs `answer` on the world's thread. Returns its result, or a refusal if the world takes too long.
    Response ask(const std::function<Response()>& answer);
    /// Refuses the waiting requests and all later ones.
    void close();

    /// Answers the waiting requests.
    void serve();
    /// Waits for a request, for at most `seconds`.
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
