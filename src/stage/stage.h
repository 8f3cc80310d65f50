// Stage: a place where one command runs on the files of a workspace without changing them.
//
// The command sees the workspace at its own path, as it is on the disk or as a generation has it
// (generations.h), and may change all of it; what it changes is kept apart in a directory of ours and read
// by changes_in(). It sees the rest of
// the system read-only, without other users' files, sockets and processes, and has no network unless
// it is given one. When the command ends, everything that it started is ended. Works without
// privileges (Linux 5.13 with unprivileged user namespaces).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "stage/changes.h"
#include "stage/copied_tree.h"
#include "stage/generation.h"
#include "stage/stage_run.h"
#include "stage/tier.h"

namespace quire::process {
struct Following;
struct Pipe;
}  // namespace quire::process
namespace quire::stage {

struct CommandPipes;

// A command for bash.
struct StagedCommand {
    std::string command;
    std::string cwd;  // Absolute, without links, in the workspace.
    std::string input = {};
    bool network = false;
    StageLimits limits = {};
    // Standard error goes to the stream of standard output, which keeps their order.
    bool one_stream = false;
};

// The environment of a command, NAME=value: little of ours.
std::vector<std::string> environment();

class Stage {
public:
    // `workspace`: absolute, without links; it has a directory .quire. `hidden`: paths of the
    // workspace that the command shall not see. `generation`: the files that it sees; null for those that
    // are on the disk while it runs. Errors: unavailable "no_stage".
    static Result<Stage> make(const std::string& workspace, const std::vector<std::string>& hidden,
                              std::shared_ptr<const Generation> generation = nullptr);
    // A stage of a lower tier, on a copy of the workspace (copied_tree.h) of at most so many bytes. Errors:
    // unavailable "no_stage" where this system does not have the tier; those of CopiedTree::make().
    static Result<Stage> make_copy(const std::string& workspace,
                                   const std::vector<std::string>& hidden, Tier tier,
                                   std::uint64_t most_bytes);
    // The reason why this system has not the tier, one on a copy; "" if it has.
    static std::string refusal_of(const std::string& workspace, Tier tier);
    Stage(Stage&& other) noexcept;
    Stage& operator=(Stage&&) = delete;
    // Removes what the command changed.
    ~Stage();

    // Blocks until the command and all that it started have ended. Once. `following` may be null:
    // it gets the output, of which nothing is kept. Of its signals only SIGTERM and SIGINT arrive, and when they end the command, what is left of it is
    // killed after two seconds. Errors: unavailable "no_stage" {step, errno} if this system cannot do it.
    Result<StageOutcome> run(const StagedCommand& what, Clock& clock, const std::stop_token& stop,
                             process::Following* following = nullptr);

    // Moves the directory out of the way, for a stage that is destroyed later and in the background: the
    // disk that it takes does not count any more.
    void set_aside();

    Tier tier() const { return tier_; }
    const std::string& workspace() const { return workspace_; }
    // Our own directory; and the one in it with the changes.
    const std::string& directory() const { return directory_; }
    std::string upper() const { return directory_ + "/upper"; }
    bool has_generation() const { return generation_ != nullptr; }
    // The difference that the command made (changes_in()). `hidden` as for make().
    Result<std::vector<StagedChange>> changes(const std::vector<std::string>& hidden,
                                              const StageOutcome& outcome) const;
    // The bytes of a file as the command saw it, for a change that is_based. Errors: those of
    // lower_bytes().
    Result<std::string> base_bytes(const std::string& path, std::size_t limit) const;

    // Removes the stages that a kernel which was killed has left in the workspace, but for those whose
    // directories are `kept`.
    static void sweep(const std::string& workspace, const std::set<std::string>& kept = {});

private:
    // The command and its confinement, for the tier.
    struct Setting;
    // These three are the steps of run(), in this order.
    Result<Setting> setting_of(const StagedCommand& what) const;
    static Result<int> start(const StagedCommand& what, Setting& setting, CommandPipes& pipes);
    Result<std::int64_t> await_program(int first, const process::Pipe& report) const;
    Stage(std::string workspace, std::string directory,
          std::shared_ptr<const Generation> generation);
    std::string workspace_;
    std::string directory_;  // "" once it was moved from.
    // The first process of the stage, which has reported its end and is waited for by the destructor; -1
    // for none.
    int ending_ = -1;
    std::shared_ptr<const Generation> generation_;
    Tier tier_ = Tier::staged;
    std::optional<CopiedTree> copy_;  // None in the tier `staged`.
};

}  // namespace quire::stage
