// The operation `events` of the tool `file`: changes of files on the disk, as they come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/fields.h"
#include "kernel/files/disk_watch.h"
#include "tools/operation_tool.h"

namespace quire::json {

// A change of a file on the disk. `from` is the path before, of a file that was renamed; `block_id`
// is left out for a file that is not loaded; `actor` is source:disk, or who saved or deleted the
// file through the kernel.
template <>
struct FieldsOf<kernel::FileEvent> {
    static Fields<kernel::FileEvent> fields() {
        using kernel::FileEvent;
        return Fields<FileEvent>()
            .required("path", &FileEvent::path)
            .required("change_type", &FileEvent::change_type)
            .optional("from", &FileEvent::from)
            .optional("block_id", &FileEvent::block_id)
            .required("actor", &FileEvent::actor);
    }
};

}  // namespace quire::json

namespace quire::tools {

// The events since the last call, the oldest first. `lagged`: earlier ones were dropped, and files
// may have changed unnoticed. The same struct is the params of notifications/quire/files, which are
// never lagged.
struct FileEventsShown {
    std::string subscription_id;
    std::vector<kernel::FileEvent> events;
    bool lagged = false;
    static Fields<FileEventsShown> fields() {
        return Fields<FileEventsShown>()
            .required("subscription_id", &FileEventsShown::subscription_id)
            .kept()
            .required("events", &FileEventsShown::events)
            .kept()
            .required("lagged", &FileEventsShown::lagged);
    }
};

// Answers the events of a subscription since the last call, and waits for some where there are
// none, at most five minutes. Without an id it opens a subscription first. While that is open, the
// caller's client gets the same as notifications/quire/files.
void show_file_events(kernel::DiskWatch& watch, OperationCall call,
                      std::optional<std::string> subscription_id,
                      std::optional<std::int64_t> wait_ms);

}  // namespace quire::tools
