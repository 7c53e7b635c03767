#include "signals.h"

#include "shoal/base/file.h"

#include <atomic>
#include <csignal>
#include <thread>

namespace shoal_tool {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> notes_first = false, is_interrupted = false;

bool is_ignored(int signal) {
    struct sigaction action;
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Runs on its own thread, which may take locks, unlike a signal handler.
void wait_and_end(sigset_t signals) {
    int signal = 0;
    do {
        while (::sigwait(&signals, &signal) != 0) {
        }
    } while (notes_first && !is_interrupted.exchange(true));
    shoal::remove_temporary_files();
    ::signal(signal, SIG_DFL);
    ::raise(signal);
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace

void end_cleanly_on_signals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : kSignals)
        if (!is_ignored(signal)) ::sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread(wait_and_end, signals).detach();
}

void note_first_signal() { notes_first = true; }

bool was_interrupted() { return is_interrupted; }

}  // namespace shoal_tool
