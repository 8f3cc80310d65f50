// StateDirectory: a workspace's state directory, .quire/: its socket and its locks, by which the
// processes of a workspace find each other. A value with one descriptor: it goes on meaning the
// directory that was opened, also after a rename of the workspace. One thread.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace quire::server {

class StateDirectory {
public:
    // WORKSPACE/.quire, made with mode 0700 where there is none. Errors: unavailable
    // "workspace_not_writable"; denied "foreign_workspace" when it belongs to another user.
    static Result<StateDirectory> open(const std::string& workspace);

    // The directory `path`, which exists, as the state of a workspace whose own cannot be written.
    // Errors: those of open().
    static Result<StateDirectory> at(const std::string& workspace, const std::string& path);

    const std::string& workspace() const { return workspace_; }  // Absolute.
    const std::string& path() const { return path_; }
    // For messages, and for files that are opened by path.
    std::string file(const char* name) const { return path_ + "/" + name; }

    // Listens on kernel.sock, mode 0600, and replaces a socket that a dead kernel left. Requires
    // that the caller holds the workspace's store: only then is it certain that no other kernel
    // listens.
    Result<Fd> listen() const;
    // Removes the socket's name. Clients that are connected keep their connections.
    void remove_socket() const;
    // Returns true if the socket is gone from this directory, which still is where it was.
    bool lacks_socket() const;
    // A descriptor that is readable when something was removed from the directory; may be none.
    Fd watch_socket() const;
    // A connection to the kernel. Errors: unavailable "no_kernel" when none listens, with the `pid`
    // of a process that holds the workspace all the same: it is about to end, or its socket is gone.
    Result<Fd> connect() const;
    // The error for such a process, where it stays.
    Failure unreachable() const;

    // Waits until no other process starts a kernel here, but at most `timeout_ms`; the claim ends
    // with the descriptor. Errors: unavailable "busy".
    Result<Fd> claim_start(int timeout_ms) const;

private:
    // The process that holds the lock of the store (store/lock_file.h); 0 for none.
    int holder() const;

    StateDirectory(std::string workspace, std::string path, Fd directory)
        : workspace_(std::move(workspace)),
          path_(std::move(path)),
          directory_(std::move(directory)) {}

    std::string workspace_;
    std::string path_;
    Fd directory_;
};

}  // namespace quire::server
