// Two sets of ids: open questions, and questions that were settled without the client's answer. An
// answer to a settled question comes late and belongs to no kernel.
#include "server/kernel_questions.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"

namespace quire::server {

void KernelQuestions::add(const rpc::MessageHead& head) {
    if (!head.cancels.empty()) open_.erase(head.cancels);
    if (!head.id.empty() && head.id != "null") open_.insert(head.id);
}

void KernelQuestions::remove(const rpc::MessageHead& head) {
    if (!head.method.empty()) return;
    open_.erase(head.id);
    settled_.erase(head.id);
}

std::vector<std::string> KernelQuestions::cancel() {
    std::vector<std::string> notices;
    for (const std::string& id : std::exchange(open_, {})) {
        // The id is JSON text already.
        notices.push_back(cat(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)",
                              R"({"requestId":)", id, R"(,"reason":"the kernel was lost"}})"));
        settled_.insert(id);
    }
    return notices;
}

std::vector<std::string> KernelQuestions::decline() {
    std::vector<std::string> answers;
    for (const std::string& id : std::exchange(open_, {})) {
        answers.push_back(cat(R"({"jsonrpc":"2.0","id":)", id,
                              R"(,"error":{"code":-32603,"message":"the client is gone"}})"));
        settled_.insert(id);
    }
    return answers;
}

bool KernelQuestions::are_late(const std::vector<rpc::MessageHead>& heads) const {
    return !heads.empty() &&
           std::all_of(heads.begin(), heads.end(), [&](const rpc::MessageHead& head) {
               return head.method.empty() && settled_.contains(head.id);
           });
}

}  // namespace quire::server
