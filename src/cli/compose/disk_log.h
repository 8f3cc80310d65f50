// DiskLog: writes an entry for each change on the disk that was taken into a document, in the Log
// that `[files] notify` names.
//
// The Log belongs to source:disk, so every agent may read it and none may write it. It is made where
// it is missing, and keeps its newest thousand entries.
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "kernel/files/disk_intake.h"
#include "kernel/memory/memory_calls.h"
#include "sched/guarded.h"

namespace quire::cli {

// Any thread. Memory and log outlive it and the calls that it began.
class DiskLog {
public:
    DiskLog(kernel::MemoryCalls& memory, LogSink& log) : memory_(memory), log_(log) {}

    // The Log's label from now on; "" for none.
    void set_label(const std::string& label);
    // Returns at once; the entry is written later, and a failure is dropped: the change itself is
    // in the document's history. Events of other actors than the disk are left out.
    void take(const kernel::FileEvent& event);

private:
    kernel::MemoryCalls& memory_;
    LogSink& log_;
    sched::Guarded<std::string> label_;
};

}  // namespace quire::cli
