#pragma once
// Python as a language of guests (shoal/plugin/detail/guest.h): a world has one, the program itself.
//
//     PythonHost       calls functions of Python, and keeps what they raise until the world has settled
//     PythonChannel    a channel of events, with the dtype of its arrays
//
// Thread: the one that has the interpreter's lock.

#include "world.h"

namespace shoal_python {

struct PythonChannel final : GuestChannel {
    PythonChannel(Guest& of, std::string_view named, detail::EventLog& of_world, const py::dtype& of_events)
        : GuestChannel(of, named, of_world), dtype(of_events) {}
    void destroy() override { delete this; }

    const py::dtype dtype;
};

/// A channel as Python has it.
struct PythonEvents {
    void write(const py::object& events) const;
    py::array read(bool last) const;

    std::shared_ptr<WorldState> world;
    std::string name;
};

/// The pass that this thread runs, which channels ask for what it declares.
class PassScope {
public:
    explicit PassScope(const GuestPass& pass);
    ~PassScope();
    PassScope(const PassScope&) = delete;

private:
    const GuestPass* before_;
};

}  // namespace shoal_python
