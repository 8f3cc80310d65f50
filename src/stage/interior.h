// Interior: what a staged command finds around it, and how a process gets there.
//
// The process begins in namespaces of its own (user, mounts, processes, network, IPC, host name).
// There every file system is read-only; the workspace is an overlay, whose changes go to a directory
// of ours; /tmp, the home and the places of other programs' sockets are empty and private; /proc and
// /dev are its own. It has no capability, gains none, and a system call filter and Landlock stand
// behind the mounts as second locks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/call_filter.h"
#include "process/land_rules.h"
#include "stage/confinement.h"

namespace quire::stage {

// The limits that the system keeps for each process.
struct ProcessLimits {
    std::uint64_t processes = 512;
    std::uint64_t memory_bytes = std::uint64_t{4} << 30;
    std::uint64_t file_bytes = std::uint64_t{10} << 30;
};

// All paths are absolute, without links.
struct InteriorPlan {
    std::string workspace;
    std::string upper;  // The overlay keeps what changes there; on a disk that may be written.
    std::string work;   // Empty, and on the same disk.
    // The layers of a generation over the workspace, newest first: the directory that has them, which lies
    // in the workspace's .quire, and their short names. May be none.
    std::string layers_in = {};
    std::vector<std::string> layers = {};
    std::string cwd;   // In the workspace.
    std::string home;  // "" where there is none.
    // Directories below the home that are shown, read-only, where they are there.
    std::vector<std::string> shown = {};
    bool network = false;
    ProcessLimits limits = {};
};

// The error unavailable "no_stage".
Failure no_stage(std::string_view why, Map details = {});

// The step in words, for people.
const char* step_name(std::int32_t step);

class Interior final : public Confinement {
public:
    int namespaces() const override;

    // Errors: unavailable "no_stage" if the filter or a path cannot be prepared.
    static Result<Interior> make(InteriorPlan plan);

    // For the first process of the namespaces, alone in its address space: makes system calls only.
    // After it the process is confined, in the directory of the plan. {0, 0} if all went well.
    Refusal enter() override;

private:
    // An empty file system over a directory, which hides what is there.
    struct Mask {
        std::string path;
        bool writable = false;
        std::vector<std::string> parents = {};  // Made where another mask hides them.
        int mount = -1;
    };
    // A directory or device that stays visible where a mask would hide it.
    struct Shown {
        std::string path;
        std::vector<std::string> parents;  // Made where they are missing.
        int mount = -1;
    };

    // The steps of enter(). Each returns 0 or an errno, and makes system calls only;
    // wrap_live_tree() returns a descriptor.
    Interior(InteriorPlan plan, process::LandRules rules, process::CallFilter filter);
    int map_ids() const;
    int wrap_live_tree(int live);
    int mount_overlay();
    int hold_shown();
    int clone_empty() const;
    int mask();
    int make_devices();
    int show();
    int mount_proc();
    int seal() const;
    int limit() const;
    int bring_up_loopback() const;
    int allow_writes() const;
    int drop_rights() const;

    InteriorPlan plan_;
    process::LandRules rules_;
    process::CallFilter filter_;
    std::string uid_map_;
    std::string gid_map_;
    std::string tmpfs_size_;
    // The layers as the overlay takes them, as seen from layers_in; "" without layers.
    std::string lower_;
    std::string wrapped_at_;  // A mask's directory, in which the live tree is wrapped before.
    std::string pid_max_;
    std::string kernel_dir_;  // The workspace's .quire.
    std::vector<Mask> masks_;
    std::vector<Shown> shown_;
    std::vector<Shown> devices_;
    Shown overlay_;
    int empty_ = -1;
    int proc_ = -1;
};

}  // namespace quire::stage
