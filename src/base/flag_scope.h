#pragma once
// Thread: the thread that owns the flag.

namespace shoal {

/// Sets a flag while this object exists. The destructor resets it, even after an exception.
class FlagScope {
public:
    explicit FlagScope(bool& flag) : flag_(flag) { flag_ = true; }
    FlagScope(const FlagScope&) = delete;
    FlagScope& operator=(const FlagScope&) = delete;
    ~FlagScope() { flag_ = false; }

private:
    bool& flag_;
};

}  // namespace shoal
