// Turns the values of kernel/views into rows. Times become words in UTC, ages become seconds. The
// rows of several trees are also summed up at the top, so that a program that asked about one tree
// finds what it needs without looking into `trees`. O(rows).

#include "server/tree_rows.h"

#include <utility>

#include "kernel/views/view_values.h"
#include "rpc/jsonrpc.h"
#include "text/utc_time.h"

namespace quire::server {
namespace {

std::vector<TreeConflictRow> conflict_rows(const std::string& tree,
                                           const std::vector<kernel::TreeConflict>& conflicts) {
    std::vector<TreeConflictRow> out;
    for (const kernel::TreeConflict& each : conflicts)
        out.push_back({tree, each.path, each.kind, each.start, each.base, each.tree, each.shared,
                       text::utc_time(each.since_ms)});
    return out;
}

std::vector<TreeLeftRow> left_rows(const std::vector<views::LeftOut>& left) {
    std::vector<TreeLeftRow> out;
    for (const views::LeftOut& each : left) out.push_back({each.path, each.why, each.is_busy});
    return out;
}

SyncedRow synced_row(const kernel::Synced& one) {
    SyncedRow row;
    row.tree = one.directory;
    row.actor = one.actor.str();
    row.outcome = one.outcome;
    for (const kernel::SyncedFile& each : one.files)
        row.files.push_back({each.path, each.change_type, each.block_id, each.version});
    row.conflicts = conflict_rows(one.directory, one.conflicts);
    row.left = left_rows(one.left);
    for (const kernel::GateObjection& each : one.violations)
        row.violations.push_back({each.path, each.operation, each.permission, each.reason});
    row.approval_ids = one.approval_ids;
    if (!one.approval_ids.empty()) row.approval_id = one.approval_ids.front();
    row.deleted_files = one.deleted_files;
    row.deleted_lines = one.deleted_lines;
    row.notes = one.notes;
    if (one.failure) row.error = rpc::error_value(*one.failure);
    return row;
}

}  // namespace

TreeRow row_of(const kernel::TreeReport& report) {
    TreeRow row;
    row.tree = report.directory;
    row.actor = report.actor.str();
    row.adopted = text::utc_time(report.adopted_ms);
    if (report.synced_ms != 0) row.synced = text::utc_time(report.synced_ms);
    row.base_age_s = report.base_age_ms / 1000;
    row.missing = report.is_missing;
    row.to_land = report.to_land;
    row.to_refresh = report.to_refresh;
    row.conflicts = conflict_rows(report.directory, report.conflicts);
    row.left = left_rows(report.left);
    return row;
}

ClaimRows rows_of(const std::vector<kernel::Claim>& all) {
    ClaimRows out;
    for (const kernel::Claim& each : all) {
        ClaimRow row{each.path, each.tree, each.actor, {}, each.age_ms / 1000};
        for (const text::LineRange& lines : each.lines)
            row.lines.push_back({lines.begin.n, lines.end.n});
        out.claims.push_back(std::move(row));
    }
    return out;
}

SyncedRows rows_of(const std::vector<kernel::Synced>& all) {
    SyncedRows out;
    for (const kernel::Synced& one : all) {
        SyncedRow row = synced_row(one);
        out.conflicts.insert(out.conflicts.end(), row.conflicts.begin(), row.conflicts.end());
        if (out.approval_id.empty()) out.approval_id = row.approval_id;
        out.deleted_files += row.deleted_files;
        out.deleted_lines += row.deleted_lines;
        out.trees.push_back(std::move(row));
    }
    return out;
}

}  // namespace quire::server
