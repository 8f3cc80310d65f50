// Two calls of memory under the actor source:disk: one makes the Log where it is missing, one
// appends an entry for each event. Memory's gate keeps everybody else from writing it. The Log
// keeps a bounded number of entries, because a build may change thousands of files.
#include "cli/compose/disk_log.h"

#include <utility>

#include "base/concat.h"

namespace quire::cli {
namespace {

constexpr std::int64_t kShownEntries = 50;
constexpr std::int64_t kKeptEntries = 1000;

kernel::Caller source_disk() {
    return {{policy::ActorKind::source, "disk"}, 0, {}};
}

Value text_field(std::string_view name, std::string_view description, bool required) {
    return Map{{"name", name},
               {"description", description},
               {"field_type", "Text"},
               {"required", required}};
}

kernel::MemoryCreate new_log(const std::string& label) {
    kernel::MemoryCreate what;
    what.label = label;
    what.description = "Changes of files on the disk, newest first";
    what.permission = policy::Permission::read_only;
    what.schema = Map{
        {"Log",
         Map{{"display_limit", kShownEntries},
             {"entry_schema",
              Map{{"timestamp", true},
                  {"agent_id", true},
                  {"fields",
                   List{text_field("change", "Created, Modified, Deleted or Renamed", true),
                        text_field("path", "The file", true),
                        text_field("from", "Its path before, if it was renamed", false),
                        text_field("block_id", "Its block", false)}}}},
             {"retain", Map{{"max_entries", kKeptEntries}}}}}};
    return what;
}

}  // namespace

void DiskLog::set_label(const std::string& label) {
    const bool is_same = label_.with(
        [&](std::string& held) { return std::exchange(held, label) == label; });
    if (label.empty() || is_same) return;
    memory_.create(source_disk(), new_log(label),
                   [&log = log_, label](const Result<kernel::MemoryVersion>& made) {
                       // A kernel that ran before has made it.
                       if (made || made.error().reason() == "label_exists") return;
                       log.write(LogLevel::warning, cat("[files] notify = \"", label,
                                                        "\": ", made.error().message()));
                   });
}

void DiskLog::take(const kernel::FileEvent& event) {
    const std::string label = label_.with([](const std::string& held) { return held; });
    // A file that is no block has no history to point at, and a change by another actor than the
    // disk has an author who is known.
    if (label.empty() || event.block_id.empty() || event.actor != source_disk().actor.str()) return;
    Map entry{{"change", name_of(event.change_type)}, {"path", event.path}};
    if (!event.from.empty()) entry.append("from", event.from);
    entry.append("block_id", event.block_id);
    memory_.write(source_disk(), label, kernel::AppendContent{"", std::move(entry)},
                  [](const Result<kernel::MemoryWritten>&) {});
}

}  // namespace quire::cli
