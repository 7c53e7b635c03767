#pragma once
// A process that can be killed, and what it cost.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace shoal_test {

/// Started at once, with both output streams in one file. Killed, if it still runs, and waited for at the end.
class ChildProcess {
public:
    ChildProcess(const std::vector<std::string>& words, const std::string& output) {
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        id_ = ::fork();
        if (id_ != 0) return;
        const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        for (const int number : {SIGINT, SIGTERM}) ::signal(number, SIG_DFL);  // whatever the tests run under
        const int nothing = ::open("/dev/null", O_RDONLY);
        ::dup2(nothing, STDIN_FILENO);
        ::dup2(file, STDOUT_FILENO);
        ::dup2(file, STDERR_FILENO);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ~ChildProcess() {
        kill();
        wait();
    }

    bool runs() {
        if (!ended_) ended_ = ::wait4(id_, &status_, WNOHANG, &usage_) == id_;
        return !ended_;
    }
    void kill(int number = SIGKILL) {
        if (!ended_) ::kill(id_, number);
    }
    /// Returns the exit code, or -1 after a signal.
    int wait() {
        if (!ended_) ended_ = ::wait4(id_, &status_, 0, &usage_) == id_;
        return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
    }
    /// The signal that ended it, or 0. Requires: wait() has returned.
    int end_signal() const { return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }
    /// The most memory it held. Requires: wait() has returned.
    long most_kilobytes() const { return usage_.ru_maxrss; }

private:
    pid_t id_ = -1;
    bool ended_ = false;
    int status_ = 0;
    rusage usage_{};
};

}  // namespace shoal_test
