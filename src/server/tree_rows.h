// Adopted trees as rows of the commands' protocol: what `quire views`, `land` and `refresh` print with
// --json, and read to print it for people.
//
// Each struct describes its members once, in fields(): the kernel's side encodes a row by them, the
// command decodes it by them, and a member that is optional there is left out when it has its
// default. Times are RFC 3339 in UTC, ages are seconds, and line numbers count from 0. A `tree` is
// the absolute path of the adopted directory, a `path` is relative to it and to the workspace
// alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "files/conflict.h"
#include "json/fields.h"
#include "kernel/views/sync_words.h"
#include "policy/permission.h"

namespace quire::kernel {
struct Claim;
struct Synced;
struct TreeReport;
}  // namespace quire::kernel

namespace quire::server {

// A place that both sides changed; each keeps its own.
struct TreeConflictRow {
    std::string tree;
    std::string path;
    files::ConflictKind kind = files::ConflictKind::lines;
    std::size_t start = 0;  // The line of the workspace's file, from 0.
    // The texts: what both sides had when they last agreed, and what each has made of it since.
    std::string base;
    std::string theirs;  // The tree's.
    std::string shared;  // The workspace's.
    // When the conflict was met.
    std::string since;
    static json::Fields<TreeConflictRow> fields() {
        return json::Fields<TreeConflictRow>()
            .required("tree", &TreeConflictRow::tree)
            .required("path", &TreeConflictRow::path)
            .required("kind", &TreeConflictRow::kind)
            .required("start", &TreeConflictRow::start)
            .required("base", &TreeConflictRow::base)
            .required("theirs", &TreeConflictRow::theirs)
            .required("shared", &TreeConflictRow::shared)
            .required("since", &TreeConflictRow::since);
    }
};

// A file that could not be taken now, and that was left as it is. `busy` says that it is being
// written: the next attempt may take it.
struct TreeLeftRow {
    std::string path;
    std::string why;
    bool busy = false;
    static json::Fields<TreeLeftRow> fields() {
        return json::Fields<TreeLeftRow>()
            .required("path", &TreeLeftRow::path)
            .required("why", &TreeLeftRow::why)
            .optional("busy", &TreeLeftRow::busy);
    }
};

// How an adopted tree stands to the workspace. `actor` is the one to whom changes from the tree are
// attributed.
struct TreeRow {
    std::string tree;
    std::string actor;
    std::string adopted;
    std::string synced = {};  // "" for never.
    // The time since both sides last agreed: since the last land or refresh, or since the adoption.
    std::int64_t base_age_s = 0;
    // The directory is gone. The lists below are then empty, but for the conflicts that are known.
    bool missing = false;
    // The files that a land would bring into the workspace, and those that a refresh would bring
    // here.
    std::vector<std::string> to_land = {};
    std::vector<std::string> to_refresh = {};
    std::vector<TreeConflictRow> conflicts = {};
    std::vector<TreeLeftRow> left = {};
    static json::Fields<TreeRow> fields() {
        return json::Fields<TreeRow>()
            .required("tree", &TreeRow::tree)
            .required("actor", &TreeRow::actor)
            .required("adopted", &TreeRow::adopted)
            .optional("synced", &TreeRow::synced)
            .required("base_age_s", &TreeRow::base_age_s)
            .optional("missing", &TreeRow::missing)
            .required("to_land", &TreeRow::to_land)
            .required("to_refresh", &TreeRow::to_refresh)
            .required("conflicts", &TreeRow::conflicts)
            .optional("left", &TreeRow::left);
    }
};
struct TreeRows {
    std::vector<TreeRow> trees;
    static json::Fields<TreeRows> fields() {
        return json::Fields<TreeRows>().required("trees", &TreeRows::trees);
    }
};

// A file that was changed: in the workspace by a land, in the tree by a refresh. `change_type` is
// "created", "modified", "deleted", "mode" or "link". A file without a document has no `block_id`,
// and then `version` means nothing.
struct SyncedFileRow {
    std::string path;
    std::string change_type;
    std::string block_id = {};
    std::uint64_t version = 0;
    static json::Fields<SyncedFileRow> fields() {
        return json::Fields<SyncedFileRow>()
            .required("path", &SyncedFileRow::path)
            .required("change_type", &SyncedFileRow::change_type)
            .optional("block_id", &SyncedFileRow::block_id)
            .optional("version", &SyncedFileRow::version);
    }
};

// A change that the rules forbid. `permission` is the one that the path has for the tree's actor.
struct ViolationRow {
    std::string path;
    policy::Operation operation = policy::Operation::overwrite;
    std::string permission;
    std::string reason;
    static json::Fields<ViolationRow> fields() {
        return json::Fields<ViolationRow>()
            .required("path", &ViolationRow::path)
            .required("operation", &ViolationRow::operation)
            .required("permission", &ViolationRow::permission)
            .required("reason", &ViolationRow::reason);
    }
};

// The outcome for one tree. Files have changed for `done` and for `conflict` only; the other
// outcomes changed nothing, and `violations`, `approval_ids` or `error` say why.
struct SyncedRow {
    std::string tree;
    std::string actor;
    kernel::SyncOutcome outcome = kernel::SyncOutcome::done;
    std::vector<SyncedFileRow> files = {};
    std::vector<TreeConflictRow> conflicts = {};
    std::vector<TreeLeftRow> left = {};
    std::vector<ViolationRow> violations = {};
    std::string approval_id = {};  // The first, where several are asked for.
    std::vector<std::string> approval_ids = {};
    // Others' work that would be taken away, where a person is asked about that.
    std::size_t deleted_files = 0;
    std::size_t deleted_lines = 0;
    // Sentences for people, about changes that were made in another way or left out.
    std::vector<std::string> notes = {};
    std::optional<Value> error = {};  // {code, reason, message, details}
    static json::Fields<SyncedRow> fields() {
        return json::Fields<SyncedRow>()
            .required("tree", &SyncedRow::tree)
            .required("actor", &SyncedRow::actor)
            .required("outcome", &SyncedRow::outcome)
            .required("files", &SyncedRow::files)
            .required("conflicts", &SyncedRow::conflicts)
            .optional("left", &SyncedRow::left)
            .optional("violations", &SyncedRow::violations)
            .optional("approval_id", &SyncedRow::approval_id)
            .optional("approval_ids", &SyncedRow::approval_ids)
            .optional("deleted_files", &SyncedRow::deleted_files)
            .optional("deleted_lines", &SyncedRow::deleted_lines)
            .optional("notes", &SyncedRow::notes)
            .optional("error", &SyncedRow::error);
    }
};
// The answer to a land or a refresh. A tree that was not named and had nothing to do is left out.
struct SyncedRows {
    std::vector<SyncedRow> trees;
    // Those of all trees, for a program that asks about one.
    std::vector<TreeConflictRow> conflicts = {};
    std::string approval_id = {};
    std::size_t deleted_files = 0;
    std::size_t deleted_lines = 0;
    static json::Fields<SyncedRows> fields() {
        return json::Fields<SyncedRows>()
            .required("trees", &SyncedRows::trees)
            .required("conflicts", &SyncedRows::conflicts)
            .optional("approval_id", &SyncedRows::approval_id)
            .optional("deleted_files", &SyncedRows::deleted_files)
            .optional("deleted_lines", &SyncedRows::deleted_lines);
    }
};

// Somebody else's change of a file, which may meet one's own: another tree has changed it and not
// landed it, or the workspace has and the asking tree has not refreshed.
struct ClaimRow {
    std::string path;
    std::string tree = {};   // "" for the workspace.
    std::string actor = {};  // "" where nobody knows it.
    // Pairs [start, end): lines of the asking tree's file, from 0.
    std::vector<std::vector<std::size_t>> lines = {};
    std::int64_t seconds = 0;  // The age of the change.
    static json::Fields<ClaimRow> fields() {
        return json::Fields<ClaimRow>()
            .required("path", &ClaimRow::path)
            .optional("tree", &ClaimRow::tree)
            .optional("actor", &ClaimRow::actor)
            .required("lines", &ClaimRow::lines)
            .required("seconds", &ClaimRow::seconds);
    }
};
struct ClaimRows {
    std::vector<ClaimRow> claims;
    static json::Fields<ClaimRows> fields() {
        return json::Fields<ClaimRows>().required("claims", &ClaimRows::claims);
    }
};

// O(rows) each, and pure.
ClaimRows rows_of(const std::vector<kernel::Claim>& all);
TreeRow row_of(const kernel::TreeReport& report);
SyncedRows rows_of(const std::vector<kernel::Synced>& all);

}  // namespace quire::server
