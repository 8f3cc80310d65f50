// A client that keeps what it is sent, and a service without a kernel.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mcp/service.h"
#include "rpc/connection.h"

namespace quire::mcp {

class RecordingConnection final : public rpc::Connection {
public:
    bool send(std::string line) override {
        lines_.push_back(std::move(line));
        return true;
    }
    void hold_input(bool held) override { held_ = held; }
    void close() override {}

    // The lines that were sent since the last call.
    std::vector<std::string> take() { return std::exchange(lines_, {}); }
    bool held() const { return held_; }

private:
    std::vector<std::string> lines_;
    bool held_ = false;
};

// Calls that have not been answered, and what is listed; shared with the test, because the session owns the service.
struct Pending {
    std::vector<std::pair<std::stop_token, Reply<tools::ToolResult>>> calls;
    std::size_t hidden = 0;  // So many of the last tools are not listed.
    bool changing = false;   // The tools may change from call to call.
    std::map<std::string, Service::ResourceTold> followed;  // Resources by their URIs.
    std::function<void()> before_unfollow;  // Called once, before a resource is unfollowed.
    // Called once, when a resource is to be followed, with what follows it.
    std::function<void(Function<void()> go_on)> before_follow;

    void release(const std::string& text) {
        for (auto& [cancelled, reply] : std::exchange(calls, {})) {
            reply(tools::ToolResult{tools::ToolAnswer{Map{{"text", text}}, text}});
        }
    }
};

// "echo" gives back its text, "refuse" refuses, "wait" is answered by Pending. One resource,
// block://b1.
class FakeService final : public Service {
public:
    explicit FakeService(std::shared_ptr<Pending> pending) : pending_(std::move(pending)) {
        const Value input =
            Map{{"type", "object"}, {"properties", Map{{"text", Map{{"type", "string"}}}}}};
        const Value output = Map{{"type", "object"},
                                 {"properties", Map{{"text", Map{{"type", "string"}}}}},
                                 {"required", List{"text"}}};
        tools_.push_back(
            {"echo", "Echo", "Gives back the text.", input, output, {.read_only = true}});
        tools_.push_back({"refuse", "Refuse", "Refuses.", input, output, {.idempotent = true}});
        tools_.push_back({"wait", "Wait", "Waits.", input, output, {.destructive = true}});
    }

    tools::ToolList tools() const override {
        auto shown = std::make_shared<std::vector<tools::ToolInfo>>(tools_);
        shown->resize(shown->size() - pending_->hidden);
        return shown;
    }

    bool has_changing_tools() const override { return pending_->changing; }

    void call(std::string name, Value arguments, std::stop_token cancelled,
              Reply<tools::ToolResult> reply) override {
        if (name == "wait") {
            pending_->calls.emplace_back(std::move(cancelled), std::move(reply));
        } else if (name == "echo") {
            const Value* text = arguments.get("text");
            const std::string said = text != nullptr ? text->as_string() : "";
            reply(tools::ToolResult{tools::ToolAnswer{Map{{"text", said}}, said}});
        } else if (name == "refuse") {
            reply(tools::ToolResult{tools::ToolAnswer{
                Map{{"error", Map{{"code", "conflict"}}}}, "Nothing was changed.", {}, true}});
        } else {
            reply(fail(Errc::not_found, "unknown_tool",
                       "there is no tool '" + name + "'; there are: echo, refuse, wait"));
        }
    }

    std::vector<ResourceTemplate> resource_templates() const override {
        return {{"block://{block_id}", "block", "A block's text."}};
    }
    void list_resources(std::string cursor, std::stop_token, Reply<ResourcePage> reply) override {
        if (cursor.empty()) {
            return reply(
                ResourcePage{{{"block://b1", "b1", "first line", "text/plain", 4}}, "next"});
        }
        if (cursor == "next") return reply(ResourcePage{});
        reply(invalid("invalid_argument", "'" + cursor + "' is not a cursor that this list gave"));
    }
    void read_resource(std::string uri, std::stop_token, Reply<ResourceText> reply) override {
        if (uri == "block://b1") return reply(ResourceText{uri, "text/plain", "text"});
        reply(fail(Errc::not_found, "invalid_reference", "there is no resource " + uri));
    }

    void follow_resource(std::string uri, std::stop_token, ResourceTold told,
                         Reply<void> reply) override {
        if (uri != "block://b1" && uri != "block://b2")
            return reply(fail(Errc::not_found, "invalid_reference", "there is no resource " + uri));
        Function<void()> go_on = [pending = pending_, uri, told = std::move(told),
                                  reply = std::move(reply)]() mutable {
            pending->followed.emplace(uri, std::move(told));
            reply({});
        };
        const auto before = std::exchange(pending_->before_follow, nullptr);
        before ? before(std::move(go_on)) : go_on();
    }
    void unfollow_resource(const std::string& uri) override {
        if (const auto before = std::exchange(pending_->before_unfollow, nullptr)) before();
        pending_->followed.erase(uri);
    }

private:
    std::shared_ptr<Pending> pending_;
    std::vector<tools::ToolInfo> tools_;
};

}  // namespace quire::mcp
