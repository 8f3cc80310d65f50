#include "server/notifying.h"

#include <string_view>
#include <utility>

#include "json/json.h"
#include "rpc/jsonrpc.h"

namespace quire::server {

std::shared_ptr<const kernel::Notify> notify_over(std::shared_ptr<rpc::Connection> connection) {
    return std::make_shared<const kernel::Notify>(
        [connection = std::move(connection)](std::string_view method, Map params) {
            connection->send(json::write(rpc::notification(method, std::move(params))));
        });
}

}  // namespace quire::server
