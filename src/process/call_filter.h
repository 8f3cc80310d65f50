// CallFilter: a seccomp filter, which refuses system calls.
//
// Making it allocates; enter() only makes system calls, and may be called between fork and exec.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <linux/filter.h>
#include <seccomp.h>

#include "base/result.h"

namespace quire::process {

class CallFilter {
public:
    // For the child between fork and exec. From now on the filter holds for this thread and all that
    // it starts. Needs no_new_privs. Returns 0 or an errno.
    int enter() const;
    // The filter's code, for a program that takes it.
    const std::vector<sock_filter>& code() const { return code_; }

private:
    friend class CallFilterMaker;
    explicit CallFilter(std::vector<sock_filter> code) : code_(std::move(code)) {}
    std::vector<sock_filter> code_;
};

// Collects what is refused; all else is allowed. Calls of another architecture, and x32 calls on
// x86-64, fail with EPERM.
class CallFilterMaker {
public:
    CallFilterMaker();
    // Refuses a call, always or for some arguments. Calls that this machine does not have are
    // skipped.
    void refuse(int call, int error, const std::vector<scmp_arg_cmp>& when = {});
    // Refuses, with EPERM, what changes a file's owner, permissions or attributes, which Landlock does
    // not cover. Its times may be changed.
    void refuse_metadata();
    // Errors: unavailable "no_confinement" if something could not be made.
    Result<CallFilter> make();

private:
    std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter_;
    bool made_;
};

}  // namespace quire::process
