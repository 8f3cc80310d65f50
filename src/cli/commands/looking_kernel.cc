// A whole kernel process in this one: it copies the store into a scratch directory, opens it there,
// and listens in that directory on a thread of its own. The command then talks to it as to any
// other kernel.
#include "cli/commands/looking_kernel.h"

#include <cerrno>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "base/concat.h"
#include "base/log.h"
#include "cli/commands/scratch.h"
#include "cli/commands/terminal.h"
#include "cli/compose/compose.h"
#include "server/local_socket.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

// The command's own standard error has room for damage, and not for a log.
class DamageLog final : public LogSink {
public:
    void write(LogLevel level, std::string_view line) override {
        if (level == LogLevel::error) complain(text::escape_hidden(line));
    }
};

}  // namespace

struct LookingKernel::Body {
    explicit Body(ScratchDirectory directory) : copy(std::move(directory)) {}
    DamageLog log;
    ScratchDirectory copy;
    std::unique_ptr<KernelProcess> process;  // Ends before its directory goes.
};

bool is_read_only(const std::string& workspace) {
    const std::string state = cat(workspace, "/.quire");
    const std::string database = state + "/quire.db";
    return ::access(database.c_str(), F_OK) == 0 &&
           (::access(state.c_str(), W_OK) != 0 || ::access(database.c_str(), W_OK) != 0);
}

bool is_without_state(const std::string& workspace) {
    return ::access(cat(workspace, "/.quire").c_str(), F_OK) != 0 && errno == ENOENT;
}

Result<std::unique_ptr<LookingKernel>> LookingKernel::start(const Globals& globals) {
    auto body = std::make_unique<Body>(TRY(ScratchDirectory::make("quire-look-")));
    // Before any thread exists: threads inherit the mask, and the server takes these signals
    // itself.
    server::LocalServer::block_end_signals();
    body->process = TRY(KernelProcess::open({.workspace = globals.workspace,
                                             .version = globals.version,
                                             .linger_ms = -1,
                                             .copy_in = body->copy.path()},
                                            body->log));
    body->process->start();
    return std::unique_ptr<LookingKernel>(new LookingKernel(std::move(body)));
}

LookingKernel::LookingKernel(std::unique_ptr<Body> body) : body_(std::move(body)) {}
LookingKernel::~LookingKernel() = default;

const std::string& LookingKernel::state() const {
    return body_->copy.path();
}

}  // namespace quire::cli
