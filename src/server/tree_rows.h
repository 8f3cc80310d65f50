// Adopted trees as rows of the commands' protocol: what `quire views`, `land` and `refresh` print with
// --json, and read to print it for people.
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
    std::string base;
    std::string theirs;  // The tree's.
    std::string shared;  // The workspace's.
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

// A file that is left out.
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

struct TreeRow {
    std::string tree;
    std::string actor;
    std::string adopted;
    std::string synced = {};  // "" for never.
    std::int64_t base_age_s = 0;
    bool missing = false;
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

// The outcome for one tree.
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

// Somebody else's change of a file.
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

ClaimRows rows_of(const std::vector<kernel::Claim>& all);
TreeRow row_of(const kernel::TreeReport& report);
SyncedRows rows_of(const std::vector<kernel::Synced>& all);

}  // namespace quire::server
