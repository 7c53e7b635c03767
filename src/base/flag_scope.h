#pragma once
// Thread: as for the flag.

namespace shoal {

/// Sets a flag while this object exists. The flag is also reset if an exception is thrown.
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
