#pragma once
// Thread: the flag's.

namespace shoal {

/// Sets a flag while it exists; an exception resets it too.
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
