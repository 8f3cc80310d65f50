// House: every object of a running kernel, built and taken down in order. The only place that knows
// them all.
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"

namespace quire::cli {

struct HouseOptions {
    std::string workspace = ".";
    std::string version;
    int linger_ms = 5000;  // How long after its last client has left it ends by itself; -1: never.
};

class House {
public:
    // Reads quire.toml (and warns of what in it has no effect), opens the store and the kernel, and
    // listens on .quire/kernel.sock. Call LocalServer::block_end_signals() first. Errors:
    // invalid_argument "invalid_config"; those of the store (unavailable "workspace_locked"), of
    // the kernel and of the socket.
    static Result<std::unique_ptr<House>> open(const HouseOptions& options, LogSink& log);
    House(const House&) = delete;
    House& operator=(const House&) = delete;
    // Makes what was accepted durable before it goes.
    ~House();

    // Serves until it is told to end (SIGINT, SIGTERM) or its clients have left.
    void run();
    const std::string& socket() const;  // Its path.

private:
    struct Body;
    explicit House(std::unique_ptr<Body> body);
    std::unique_ptr<Body> body_;
};

}  // namespace quire::cli
