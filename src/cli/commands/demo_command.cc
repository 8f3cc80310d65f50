// quire demo: two agents and an editor change the same files at once, and every edit is checked.
//
// Each edit carries a mark of its own, and its author remembers which were acknowledged. The checks
// look from outside, as any client can: every mark is there once, the histories name the right
// authors, and an undo of one agent's edits leaves all others' in place.
//
//     open -> play for some seconds -> settle -> check marks and histories
//          -> undo all edits of one agent -> settle -> check again
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <poll.h>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/commands/command_list.h"
#include "cli/commands/demo_cast.h"
#include "cli/commands/demo_workspace.h"
#include "cli/commands/mcp_child.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"

namespace quire::cli {
namespace {

using show::Agent;
using show::Marks;
using show::Place;

constexpr std::string_view kPerson = "you";

struct DemoOptions {
    std::string copied;  // The directory to copy; "" for a small one made for the demo.
    double seconds = 5;
    bool keep = false;
};

// An author, and the marks that the places must hold of theirs.
struct Author {
    std::string name;
    std::string shown;
    const Marks& marks;
};

// The clients are processes of this program over pipes, as a real agent's are, so the demo also
// tests the server, the socket and MCP. A failed check is printed and counted; only errors of the
// machinery end it.
class Demo {
public:
    Demo(const DemoOptions& options, show::Setting setting)
        : options_(options), setting_(std::move(setting)) {}

    Result<int> run();

private:
    Result<void> open();
    Result<void> play();
    Result<void> settle();
    Result<void> check(std::string_view when, const std::vector<Author>& there,
                       const std::vector<Author>& gone);
    Result<void> check_history();
    Result<std::size_t> undo_all_of(Agent& agent);
    Result<std::string> text_of(const Place& place);
    void show_progress(std::int64_t left_ms);
    void show_table(const std::vector<Author>& authors);
    // Prints a failed check, and counts it for the exit code.
    void fail_check(const std::string& what) {
        ++failed_checks_;
        complain(cat(coloured("failed: ", Colour::red), what));
    }

    const DemoOptions& options_;
    show::Setting setting_;
    SystemClock clock_;
    SystemRng rng_;
    std::vector<Place> places_;
    std::optional<McpChild> person_;  // Loads, saves and reads; edits nothing.
    std::optional<Agent> ada_;
    std::optional<Agent> bo_;
    std::optional<show::Editor> editor_;
    std::size_t failed_checks_ = 0;
    std::int64_t next_progress_ms_ = 0;
};

Result<void> Demo::open() {
    const std::string& root = setting_.directory.path();
    const auto client = [&](std::string_view actor) -> Result<McpChild> {
        McpChild child = TRY(McpChild::start({.workspace = root, .actor = std::string(actor)}));
        TRY(child.initialize());
        return child;
    };
    person_.emplace(TRY(client(cat("human:", kPerson))));
    for (const std::string& path : setting_.files) {
        const Value loaded = TRY(person_->call("file", Map{{"operation", "load"}, {"path", path}}));
        const std::string text = TRY(read_file(cat(root, "/", path)));
        places_.push_back({path, loaded.get("block_id")->as_string(), path,
                           static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'))});
    }
    const Value made = TRY(person_->call(
        "block_create",
        Map{{"conversation", "demo"}, {"role", "user"}, {"kind", "text"}, {"content", ""}}));
    places_.push_back({"conversation", made.get("block_id")->as_string(), "", 0});

    ada_.emplace("ada", TRY(client("agent:ada")), places_, rng_.next());
    bo_.emplace("bo", TRY(client("agent:bo")), places_, rng_.next());
    editor_.emplace(std::string(kPerson), root, places_, rng_.next());
    return {};
}

// On a terminal the line is drawn over itself, and elsewhere printed less often.
void Demo::show_progress(std::int64_t left_ms) {
    constexpr std::int64_t kEveryMs = 200;
    const std::int64_t now = clock_.steady_ms();
    if (now < next_progress_ms_) return;
    next_progress_ms_ = now + (is_terminal() ? kEveryMs : 5 * kEveryMs);
    print(cat(is_terminal() ? "\r" : "", "  ada ", plural(ada_->edits(), "edit"), "   bo ",
              plural(bo_->edits(), "edit"), "   you ", plural(editor_->edits(), "edit"), "   ",
              (left_ms + 999) / 1000, " s left", is_terminal() ? "  " : "\n"));
}

// One thread serves the three. It waits for answers for a few milliseconds, so that no edit is
// late.
Result<void> Demo::play() {
    const std::int64_t end =
        clock_.steady_ms() + static_cast<std::int64_t>(options_.seconds * 1000);
    for (std::int64_t now = clock_.steady_ms(); now < end; now = clock_.steady_ms()) {
        TRY(ada_->play(now));
        TRY(bo_->play(now));
        TRY(editor_->play(now));
        show_progress(end - now);
        std::array<pollfd, 2> answers = {
            {{.fd = ada_->client().output_fd(), .events = POLLIN, .revents = 0},
             {.fd = bo_->client().output_fd(), .events = POLLIN, .revents = 0}}};
        constexpr int kTickMs = 4;
        ::poll(answers.data(), answers.size(), kTickMs);
    }
    if (is_terminal()) print("\r\x1b[K");
    TRY(ada_->finish());
    return bo_->finish();
}

// Loads what the editor wrote last and saves the agents' edits, so that blocks and disk agree. A
// save is refused while the disk has something newer, and the agents' last saves may still be on
// their way; loading takes it in, so a few attempts are enough.
Result<void> Demo::settle() {
    constexpr int kAttempts = 5;
    for (const Place& place : places_) {
        if (place.path.empty()) continue;
        Result<Value> saved = Value();
        for (int attempt = 0; attempt < kAttempts; ++attempt) {
            TRY(person_->call("file", Map{{"operation", "load"}, {"path", place.path}}));
            saved = person_->call("file", Map{{"operation", "save"}, {"path", place.path}});
            if (saved) break;
        }
        if (!saved) return Failure(std::move(saved).error());
    }
    return {};
}

Result<std::string> Demo::text_of(const Place& place) {
    const std::string uri = cat("block://", place.block_id);
    const Value read = TRY(person_->request("resources/read", Map{{"uri", uri}}));
    return read.get("contents")->as_list().front().get("text")->as_string();
}

// Each mark that was acknowledged must be there once; none may be there that was not. An edit that
// was refused after all would be found by the second rule.
Result<void> Demo::check(std::string_view when, const std::vector<Author>& there,
                         const std::vector<Author>& gone) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const Place& place = places_[i];
        const std::string text = TRY(text_of(place));
        show::Found found = show::find_marks(text);
        for (const Author& author : there) {
            for (const std::int64_t mark : author.marks[i]) {
                const int times = found[author.name][mark];
                found[author.name].erase(mark);
                if (times != 1) {
                    fail_check(cat(when, ", ", author.name, "#", mark, " stands ", times,
                                   " times in ", place.name));
                }
            }
        }
        for (const Author& author : gone) {
            if (!found[author.name].empty()) {
                fail_check(cat(when, ", ", plural(found[author.name].size(), "edit"), " of ",
                               author.shown, " left in ", place.name));
                found.erase(author.name);
            }
        }
        for (const auto& [name, marks] : found) {
            for (const auto& [mark, times] : marks) {
                fail_check(cat(when, ", ", name, "#", mark, " is in ", place.name,
                               " but was never acknowledged"));
            }
        }
        if (place.path.empty()) continue;
        if (TRY(read_file(cat(setting_.directory.path(), "/", place.path))) != text) {
            fail_check(cat(when, ", ", place.name, " differs between the disk and the workspace"));
        }
    }
    return {};
}

// Each file's history has one version of an agent for each of its edits.
Result<void> Demo::check_history() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        if (places_[i].path.empty()) continue;
        std::map<std::string, std::size_t> versions;
        std::string cursor;
        do {
            Map arguments{{"block_id", places_[i].block_id}, {"limit", 100}};
            if (!cursor.empty()) arguments.set("cursor", cursor);
            const Value page = TRY(person_->call("block_history", std::move(arguments)));
            for (const Value& entry : page.get("versions")->as_list()) {
                ++versions[entry.get("actor")->as_string()];
            }
            const Value* next = page.get("next_cursor");
            cursor = next != nullptr && next->is_string() ? next->as_string() : "";
        } while (!cursor.empty());
        for (const auto* agent : {&*ada_, &*bo_}) {
            if (versions[agent->actor()] != agent->acknowledged()[i].size()) {
                fail_check(cat("the history of ", places_[i].name, " has ",
                               plural(versions[agent->actor()], "version"), " of ", agent->actor(),
                               ", which made ", agent->acknowledged()[i].size()));
            }
        }
    }
    return {};
}

// Each call takes back one step of this agent's own, however many edits of others came after it.
Result<std::size_t> Demo::undo_all_of(Agent& agent) {
    std::size_t undone = 0;
    for (const Place& place : places_) {
        for (;;) {
            const auto result =
                agent.client().call("block_undo", Map{{"block_id", place.block_id}});
            if (!result && result.error().reason() == "nothing_to_undo") break;
            if (!result) return Failure(result.error());
            ++undone;
        }
    }
    return undone;
}

void Demo::show_table(const std::vector<Author>& authors) {
    constexpr std::size_t kName = 18;
    constexpr std::size_t kCount = 14;
    std::string head = padded("  who", kName + 2);
    for (const Place& place : places_)
        head += padded(place.name, std::max(kCount, place.name.size() + 2));
    std::string out = cat(coloured(head + "edits", Colour::grey), "\n");
    for (const Author& author : authors) {
        std::size_t sum = 0;
        std::string row = cat("  ", coloured(padded(author.shown, kName), Colour::cyan));
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const std::size_t count = author.marks[i].size();
            row +=
                padded(count > 0 ? cat(count) : "-", std::max(kCount, places_[i].name.size() + 2));
            sum += count;
        }
        out += cat(row, sum, "\n");
    }
    print(out);
}

Result<int> Demo::run() {
    TRY(open());
    print(cat("Two agents over MCP and a person's editor, all in ", setting_.files[0], ", ",
              setting_.files[1], " and one conversation.\n"));
    TRY(play());
    TRY(settle());

    const Author ada = {"ada", "agent:ada", ada_->acknowledged()};
    const Author bo = {"bo", "agent:bo", bo_->acknowledged()};
    const Author you = {std::string(kPerson), "you, on the disk", editor_->written()};
    TRY(check("after the edits", {ada, bo, you}, {}));
    TRY(check_history());
    for (const auto* agent : {&*ada_, &*bo_}) {
        if (agent->edits() == 0) fail_check(cat(agent->actor(), " made no edit at all"));
        if (!agent->refusals().empty()) {
            fail_check(cat(plural(agent->refusals().size(), "edit"), " of ", agent->actor(),
                           " refused: ", agent->refusals().front()));
        }
    }
    if (editor_->edits() == 0) fail_check("the editor wrote nothing");
    show_table({ada, bo, you});
    if (failed_checks_ == 0) {
        print(cat(coloured("  Every edit is there, each edit once", Colour::green),
                  ", in the workspace and in the files on the disk.\n"));
    }

    print(cat("\nUndoing all edits of bo, and nothing else ...\n"));
    const std::size_t undone = TRY(undo_all_of(*bo_));
    TRY(settle());
    const std::size_t before = failed_checks_;
    TRY(check("after the undo", {ada, you}, {bo}));
    if (failed_checks_ == before) {
        print(cat("  ", coloured("bo's work is gone", Colour::green), " (", plural(undone, "undo"),
                  "); ", plural(ada_->edits(), "edit"), " of ada and ", editor_->edits(),
                  " of yours are unchanged.\n"));
    }

    return failed_checks_ == 0 ? kDone : kRefused;
}

Result<int> run_demo(const Globals& globals, const DemoOptions& options) {
    // The environment may name one for the other commands.
    const bool named_here = globals.workspace_named && std::getenv("QUIRE_WORKSPACE") == nullptr;
    if (named_here) {
        complain(
            "the demo works in a directory of its own; --copy DIR has it work on a copy of DIR");
        return kUsage;
    }
    show::Setting setting = TRY(show::make_setting(options.copied));
    const std::string path = setting.directory.path();
    if (options.keep) setting.directory.keep();
    Result<int> code = Demo(options, std::move(setting)).run();
    if (options.keep) print(cat("The workspace is in ", path, ".\n"));
    return code;
}

void add_demo_options(CLI::App& app, DemoOptions& options) {
    app.add_option("--copy", options.copied,
                   "Work on a copy of this directory instead of a small one made for the demo")
        ->type_name("DIR");
    app.add_option("--seconds", options.seconds, "How long the three edit")
        ->check(CLI::Range(0.2, 600.0))
        ->capture_default_str();
    app.add_flag("--keep", options.keep, "Keep the workspace, and print where it is");
}

}  // namespace

Command demo_command() {
    return {.name = "demo",
            .about =
                "Watch two agents and an editor change the same files at once, without losing "
                "an edit",
            .example = "quire demo --seconds 5",
            .action = action_with(add_demo_options, run_demo),
            .touches = Touches::nothing};
}

}  // namespace quire::cli
