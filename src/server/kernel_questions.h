// KernelQuestions: what a kernel has asked the client of a relay and not been answered, so that
// nothing is left on the client's screen when the kernel is lost, and no kernel waits for a client
// that is gone.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "rpc/message_scan.h"

namespace quire::server {

class KernelQuestions {
public:
    // A request or notification of the kernel, relayed to the client.
    void asked(const rpc::MessageHead& head);
    // A message of the client, relayed to the kernel; what is no answer changes nothing.
    void answered(const rpc::MessageHead& head);

    // The kernel is lost: a notification for each question, by which the client takes it back.
    std::vector<std::string> take_back();
    // The client is gone: an answer to each question, an error.
    std::vector<std::string> decline();
    // Whether the messages of one line are answers to such questions and nothing else. No other
    // kernel wants them.
    bool are_late(const std::vector<rpc::MessageHead>& heads) const;

private:
    std::set<std::string> open_;
    std::set<std::string> settled_;  // Taken back or declined, until an answer has been relayed.
};

}  // namespace quire::server
