// Study: a kernel with memory on a table, for the tests of its calls.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "json/json.h"
#include "kernel/core/desk_test.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/oversight/overseer.h"

namespace quire::kernel {

using policy::Permission;

inline constexpr std::string_view kText = R"("Text")";
// Status is its source's; the rest is the agent's.
inline constexpr std::string_view kBuild = R"({"Composite": {"sections": [
    {"name": "diagnostics", "read_only": true,
     "schema": {"Map": {"fields": [{"name": "errors", "field_type": "Counter"}]}}},
    {"name": "notes", "schema": "Text"}]}})";
inline constexpr std::string_view kStatus = R"({"Map": {"fields": [
    {"name": "status", "field_type": "Text", "required": true},
    {"name": "origin", "field_type": "Text", "read_only": true},
    {"name": "visits", "field_type": "Counter"},
    {"name": "tags", "field_type": "List"}]}})";

// A kernel with memory on a table.
class Study {
public:
    explicit Study(std::vector<memory::Feed*> feeds = {}) : feeds_(std::move(feeds)) {
        calls_ = std::make_unique<MemoryCalls>(*desk.kernel, feeds_);
    }
    void restart() {
        calls_.reset();
        desk.restart();
        calls_ = std::make_unique<MemoryCalls>(*desk.kernel, feeds_);
    }

    void crash() {
        calls_.reset();
        desk.crash();
        calls_ = std::make_unique<MemoryCalls>(*desk.kernel, feeds_);
    }

    static Caller as(std::string_view actor) {
        return {policy::Actor::parse(actor).value(), 0, {}};
    }
    Result<MemoryVersion> create(const std::string& label, std::string_view schema = kStatus,
                                 Permission permission = Permission::read_write,
                                 const std::string& by = "agent:ada",
                                 MemoryType type = MemoryType::working) {
        MemoryCreate what;
        what.type = type;
        what.label = label;
        what.schema = json::parse(schema).value();
        what.permission = permission;
        return desk.ask<MemoryVersion>(
            [&](auto reply) { calls_->create(as(by), what, std::move(reply)); });
    }
    Result<MemoryWritten> write(const std::string& label, const MemoryWrite& what,
                                const std::string& by = "agent:ada") {
        return desk.ask<MemoryWritten>(
            [&](auto reply) { calls_->write(as(by), label, what, std::move(reply)); });
    }
    Result<MemoryWritten> set(const std::string& label, const std::string& field, Value value,
                              const std::string& by = "agent:ada") {
        return write(label, SetField{{"", field}, std::move(value)}, by);
    }
    Result<MemoryView> view(const std::string& label, const std::string& by = "agent:ada",
                            std::optional<std::string> section = {}) {
        return desk.ask<MemoryView>(
            [&](auto reply) { calls_->view(as(by), label, {section}, std::move(reply)); });
    }
    // The content of the block, or the reason why it cannot be read.
    std::string value(const std::string& label) {
        const auto seen = view(label, "system:test");
        return seen ? json::write(seen->value) : seen.error().reason();
    }
    std::uint64_t version(const std::string& label) {
        return view(label, "system:test")->row.block.version;
    }
    Result<MemoryVersion> erase(const std::string& label, const std::string& by = "agent:ada") {
        return desk.ask<MemoryVersion>(
            [&](auto reply) { calls_->erase(as(by), label, std::move(reply)); });
    }
    Result<MemoryUndone> undo(const std::string& label, const std::string& by = "agent:ada",
                              bool redo = false) {
        return desk.ask<MemoryUndone>(
            [&](auto reply) { calls_->undo(as(by), label, redo, std::move(reply)); });
    }
    Result<MemoryVersion> share(const std::string& label, const std::string& with,
                                std::optional<Permission> permission,
                                const std::string& by = "agent:ada") {
        return desk.ask<MemoryVersion>([&](auto reply) {
            calls_->share(as(by), label, policy::Actor::parse(with).value(), permission,
                          std::move(reply));
        });
    }
    std::string labels(const std::string& by = "agent:ada") {
        const auto list = desk.ask<MemoryList>(
            [&](auto reply) { calls_->list(as(by), MemoryListQuery{}, std::move(reply)); });
        std::string out;
        for (const MemoryRow& row : list->blocks) cat_to(out, row.block.label), cat_to(out, " ");
        for (const std::string& label : list->unreadable) cat_to(out, "?"), cat_to(out, label);
        return out;
    }

    Result<MemoryDiff> diff(const std::string& label, std::optional<std::string> from = {},
                            std::optional<std::string> to = {},
                            const std::string& by = "agent:ada") {
        return desk.ask<MemoryDiff>(
            [&](auto reply) { calls_->diff(as(by), label, from, to, std::move(reply)); });
    }
    Result<MemoryVersion> rollback(const std::string& label, const std::string& version_id,
                                   const std::string& by = "agent:ada") {
        return desk.ask<MemoryVersion>(
            [&](auto reply) { calls_->rollback(as(by), label, version_id, std::move(reply)); });
    }
    Result<MemoryMoved> archive(const std::string& label, std::optional<std::string> under = {},
                                const std::string& by = "agent:ada") {
        return desk.ask<MemoryMoved>(
            [&](auto reply) { calls_->archive(as(by), label, under, std::move(reply)); });
    }
    Result<MemoryVersion> load(const std::string& archival, std::optional<std::string> label = {},
                               const std::string& by = "agent:ada") {
        return desk.ask<MemoryVersion>(
            [&](auto reply) { calls_->load(as(by), archival, label, std::move(reply)); });
    }
    Result<MemoryMoved> swap(const std::string& label, const std::string& archival,
                             const std::string& by = "agent:ada") {
        return desk.ask<MemoryMoved>(
            [&](auto reply) { calls_->swap(as(by), label, archival, std::move(reply)); });
    }
    // Labels, best first.
    std::string search(const std::string& query, const std::string& by = "agent:ada",
                       std::vector<MemoryType> types = {}, std::size_t limit = 20) {
        const auto found = desk.ask<MemoryFound>([&](auto reply) {
            calls_->search(as(by), {query, std::move(types), limit}, std::move(reply));
        });
        if (!found) return found.error().reason();
        std::string out;
        for (const auto& hit : found->hits)
            cat_to(out, cat(out.empty() ? "" : " ", hit.row.block.label));
        return out;
    }
    Result<MemoryConverted> convert(const std::string& label, std::string_view schema,
                                    std::string_view mapping = "{}", bool dry_run = false,
                                    const std::string& by = "agent:ada", bool accept_loss = false) {
        const MemoryConvert what{json::parse(schema).value(), json::parse(mapping)->as_map(),
                                 dry_run, accept_loss};
        return desk.ask<MemoryConverted>(
            [&](auto reply) { calls_->convert(as(by), label, what, std::move(reply)); });
    }
    MemoryCalls& calls() { return *calls_; }

    Desk desk;

private:
    const std::vector<memory::Feed*> feeds_;
    std::unique_ptr<MemoryCalls> calls_;
};

template <class T>
std::string reason(const Result<T>& result) {
    return result ? "fine" : result.error().reason();
}

}  // namespace quire::kernel
