// Messages that a client has not asked for, on its connection.
#pragma once

#include <memory>

#include "kernel/core/caller.h"
#include "rpc/connection.h"

namespace quire::server {

// Sends notifications over the connection. The session that holds it ends them: subscriptions hold
// it weakly, and the connection drops what is sent after its end. Any thread.
std::shared_ptr<const kernel::Notify> notify_over(std::shared_ptr<rpc::Connection> connection);

}  // namespace quire::server
