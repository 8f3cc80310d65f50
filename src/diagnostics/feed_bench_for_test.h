// Bench: a source over a project, on a scheduler that moves when told, for the tests of the source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/concat.h"
#include "diagnostics/diagnostics_feed.h"
#include "diagnostics/project_for_test.h"
#include "json/json.h"
#include "sched/manual_for_test.h"

namespace quire::diagnostics {

class LateClock final : public Clock {
public:
    std::int64_t wall_ms() const override { return system_.wall_ms() + later_ms; }
    std::int64_t steady_ms() const override { return system_.steady_ms(); }
    std::int64_t later_ms = 0;

private:
    SystemClock system_;
};

// A source over a project, on a scheduler that moves when told.
class Bench {
public:
    explicit Bench(std::int64_t timeout_ms = 60'000, std::int64_t progress_ms = 60'000)
        : source({.root = project.path(),
                  .compile_commands = "compile_commands.json",
                  .tool = project.tool(),
                  .scratch = project.path() + "/.scratch",
                  .writable = {project.path()},
                  .timeout_ms = timeout_ms,
                  .jobs = 2,
                  .look_ms = 1000,
                  .progress_ms = progress_ms},
                 workers, clock) {
        source.start([this] { ++told; });
    }
    static Value config(std::string_view text = "{}") { return json::parse(text).value(); }
    void attend(std::string_view text = "{}") {
        source.attend(config(text));
        workers.run_all();
    }
    void run(std::string_view text = "{}") {
        source.run(config(text));
        workers.run_all();
    }
    Value fed(std::string_view text = "{}") {
        return *source.feed(config(text)).get("diagnostics");
    }
    std::string status(std::string_view text = "{}") {
        return fed(text).get("status")->as_string();
    }
    // "src/a.cc:1 bad; …"; "-" where it says nothing of findings.
    std::string findings(std::string_view text = "{}") {
        const Value all = fed(text);
        if (all.get("findings") == nullptr) return "-";
        std::string out;
        for (const Value& each : all.get("findings")->as_list()) {
            out += cat(out.empty() ? "" : "; ", each.get("path")->as_string(), ":",
                       each.get("line")->as_int(), " ", each.get("message")->as_string());
        }
        return out;
    }
    std::string judged(std::string_view text) {
        const memory::ConfigAnswer answer = source.judge(config(text));
        switch (answer.kind) {
            case memory::ConfigAnswer::Kind::applied:
                return "applied";
            case memory::ConfigAnswer::Kind::pending:
                return "pending";
            case memory::ConfigAnswer::Kind::rejected:
                return cat("rejected ", answer.field);
        }
        return "";
    }

    Project project;
    sched::ManualScheduler workers;
    LateClock clock;
    int told = 0;
    DiagnosticsFeed source;
};

}  // namespace quire::diagnostics
