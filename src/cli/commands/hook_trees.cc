// All of it are requests to the kernel, and words about the answers for a model. An answer that
// fails or makes no sense gives no words: the agent's turn goes on in any case. Only making and
// removing a work tree report their errors, because the agent waits for the tree.
#include "cli/commands/hook_trees.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/tree_text.h"
#include "cli/commands/whole_file.h"
#include "json/codec.h"
#include "server/tree_rows.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

// Claude Code's own place for work trees.
constexpr const char* kWorktrees = ".claude/worktrees";

struct Lines {
    std::size_t begin = 0;
    std::size_t end = 0;
};

std::size_t line_at(std::string_view text, std::size_t at) {
    return static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

// The lines of the file that the event's tool replaces; none where the event does not say. The
// first occurrence is what the tool replaces; it refuses an ambiguous text itself.
std::vector<Lines> edited_lines(const HookPath& change, const std::string& file) {
    std::vector<Lines> out;
    const Result<std::string> text = read_file(file);
    if (!text) return out;
    if (change.content) out.push_back({0, line_at(*text, text->size()) + 1});
    for (const HookPath::Replacement& each : change.replacements) {
        const std::size_t at = each.before.empty() ? std::string::npos : text->find(each.before);
        if (at == std::string::npos) continue;
        out.push_back({line_at(*text, at), line_at(*text, at + each.before.size()) + 1});
    }
    return out;
}

// Ranges are half-open and count lines from 0.
bool overlaps(const server::ClaimRow& claim, const std::vector<Lines>& edited) {
    return std::ranges::any_of(claim.lines, [&](const std::vector<std::size_t>& lines) {
        return lines.size() == 2 && std::ranges::any_of(edited, [&](const Lines& own) {
                   // An empty range is a place between two lines.
                   return lines[0] < std::max(own.end, own.begin + 1) &&
                          own.begin < std::max(lines[1], lines[0] + 1);
               });
    });
}

std::string lines_words(const server::ClaimRow& claim) {
    constexpr std::size_t kShown = 3;
    std::string out;
    for (std::size_t i = 0; i < std::min(claim.lines.size(), kShown); ++i) {
        const std::size_t first = claim.lines[i].at(0) + 1;
        const std::size_t last = std::max(claim.lines[i].at(1), first);
        cat_to(out, cat(i == 0 ? "" : ", ", first, last > first ? cat("-", last) : std::string()));
    }
    if (claim.lines.size() > kShown) out += " and more";
    return out.empty() ? out : cat(claim.lines.size() == 1 ? "line " : "lines ", out, " of ");
}

std::string claim_text(const server::ClaimRow& claim, bool is_here) {
    const std::string where =
        claim.tree.empty() ? std::string("the workspace") : text::escape_hidden(claim.tree);
    return cat(claim.actor.empty() ? std::string("somebody") : claim.actor, " changed ",
               is_here ? "these lines of " : lines_words(claim), text::escape_hidden(claim.path),
               " in ", where, " ", age_words(claim.seconds), " ago");
}

// The answer of the kernel to a land or a refresh of one tree.
std::optional<server::SyncedRow> synced(const Globals& globals, std::string_view method,
                                        Map params) {
    const Result<Value> answer = request_once(globals, method, std::move(params));
    if (!answer) return std::nullopt;
    auto rows = json::read<server::SyncedRows>(*answer);
    if (!rows || rows->trees.empty()) return std::nullopt;
    return std::move(rows->trees.front());
}

// A model has to know what to do, so the text names the command and when a conflict ends.
std::string conflicts_text(const server::SyncedRow& row) {
    std::string out;
    for (const server::TreeConflictRow& each : row.conflicts) {
        if (!out.empty()) out += "; ";
        cat_to(out, cat(text::escape_hidden(each.path),
                        each.kind == quire::files::ConflictKind::lines ? cat(":", each.start + 1)
                                                                       : std::string()));
    }
    if (out.empty()) return out;
    return cat("In conflict with the workspace: ", out,
               ". `quire views --json` shows both sides; the conflict ends where this tree has the "
               "workspace's text, or the workspace this tree's.");
}

std::string paths_text(const std::vector<server::SyncedFileRow>& files) {
    constexpr std::size_t kShown = 5;
    std::string out;
    for (std::size_t i = 0; i < std::min(files.size(), kShown); ++i)
        cat_to(out, cat(i == 0 ? "" : ", ", text::escape_hidden(files[i].path)));
    if (files.size() > kShown) cat_to(out, cat(" and ", files.size() - kShown, " more"));
    return out;
}

void add_sentence(std::string& text, const std::string& sentence) {
    if (sentence.empty()) return;
    cat_to(text, cat(text.empty() ? "" : " ", sentence));
}

std::string refreshed_text(const server::SyncedRow& row) {
    std::string out;
    if (!row.files.empty()) {
        out = cat("Others' landed work was brought into this tree: ", paths_text(row.files),
                  ". Read these files again before you change them.");
    }
    add_sentence(out, conflicts_text(row));
    return out;
}

// The person reads this at the end of a turn, so it says what happened in one sentence.
std::string landed_text(const server::SyncedRow& row) {
    using kernel::SyncOutcome;
    std::string out;
    if (!row.files.empty()) out = cat("quire landed ", paths_text(row.files), ".");
    if (row.outcome == SyncOutcome::asked) {
        out =
            cat("quire waits for a person before it lands this turn's changes: quire approvals "
                "approve ",
                row.approval_id);
    } else if (row.outcome == SyncOutcome::refused && row.error) {
        const Value* const message = row.error->get("message");
        out = cat("quire did not land this turn's changes: ",
                  message != nullptr && message->is_string() ? message->as_string() : "refused");
    } else if (row.outcome == SyncOutcome::busy) {
        out = "quire will land this turn's changes later: files are being written.";
    }
    add_sentence(out, conflicts_text(row));
    return out;
}

}  // namespace

std::string claims_text(CommandClient& client, const Globals& globals, const HookEvent& event,
                        const std::string& tree, const std::vector<std::string>& paths) {
    std::error_code none;
    if (paths.empty() || !std::filesystem::exists(globals.workspace + "/.quire/views/bases", none))
        return {};
    const Result<Value> answer =
        client.request("claims", {{"tree", tree}, {"paths", List(paths.begin(), paths.end())}});
    if (!answer) return {};
    const auto rows = json::read<server::ClaimRows>(*answer);
    if (!rows) return {};
    std::string here, elsewhere;
    for (const server::ClaimRow& claim : rows->claims) {
        std::vector<Lines> edited;
        for (const HookPath& each : event.paths) {
            // The claim's path counts from the tree's root, the event's from the agent's directory.
            const std::string path =
                each.path.starts_with('/') ? each.path : cat(event.cwd, "/", each.path);
            if (path.ends_with(cat("/", claim.path))) edited = edited_lines(each, path);
        }
        const bool is_here = overlaps(claim, edited);
        std::string& out = is_here ? here : elsewhere;
        cat_to(out, cat(out.empty() ? "" : "; ", claim_text(claim, is_here)));
    }
    std::string out = here;
    if (!elsewhere.empty()) cat_to(out, cat(out.empty() ? "" : "; ", elsewhere));
    return out.empty() ? out : out + ".";
}

// A refresh informs the model before it works, a land informs the person after it.
HookAnswer answer_turn(const Globals& globals, const HookEvent& event, const std::string& tree,
                       LandWhen when) {
    HookAnswer out;
    if (when == LandWhen::manual) return out;
    Map params{{"directory", tree}, {"around", ""}};
    if (event.moment == HookMoment::turn_begins) {
        if (const auto row = synced(globals, "refresh", std::move(params)))
            out.context = refreshed_text(*row);
        return out;
    }
    if (when == LandWhen::ask) params.set("asks", true);
    if (const auto row = synced(globals, "land", std::move(params))) out.notice = landed_text(*row);
    return out;
}

Result<std::string> make_worktree(const Globals& globals, const HookEvent& event) {
    const std::string& name = event.worktree;
    if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos) {
        return invalid("invalid_arguments",
                       cat("'", text::escape_hidden(name), "' is no name for a work tree"));
    }
    const std::string directory = cat(globals.workspace, "/", kWorktrees, "/", name);
    const Value made = TRY(
        request_once(globals, "make_tree", {{"directory", directory}, {"actor", globals.actor}}));
    const auto row = json::read<server::TreeRow>(made);
    if (!row) return fail(Errc::corrupt, "corrupt", "the kernel's answer makes no sense");
    return row->tree;
}

// A land that fails is no reason to stop here: the kernel refuses to remove a tree with changes
// that are not landed.
Result<void> remove_worktree(const Globals& globals, const HookEvent& event, LandWhen when) {
    if (when == LandWhen::turn)
        static_cast<void>(synced(globals, "land", {{"directory", event.worktree}, {"around", ""}}));
    TRY(request_once(globals, "remove_tree", {{"directory", event.worktree}}));
    return {};
}

}  // namespace quire::cli
