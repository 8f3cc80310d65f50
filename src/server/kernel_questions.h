// KernelQuestions: the kernel's requests that a relay's client has not answered yet. When the
// kernel is lost they are removed from the client's screen; when the client is gone the kernel gets
// an answer. One thread. Ids are JSON text, as rpc::MessageHead has them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "rpc/message_scan.h"

namespace quire::server {

class KernelQuestions {
public:
    // Takes note of a kernel's request or notification that is relayed to the client.
    void add(const rpc::MessageHead& head);
    // Takes note of a client's message that is relayed to the kernel. Only answers matter.
    void remove(const rpc::MessageHead& head);

    // For a lost kernel: a notification for each question that cancels it in the client.
    std::vector<std::string> cancel();
    // For a client that is gone: an answer to each question, an error.
    std::vector<std::string> decline();
    // Returns true if a line's messages are all answers to questions that were cancelled or
    // declined. No other kernel wants such a line.
    bool are_late(const std::vector<rpc::MessageHead>& heads) const;

private:
    std::set<std::string> open_;
    std::set<std::string> settled_;  // Cancelled or declined, until an answer has been relayed.
};

}  // namespace quire::server
