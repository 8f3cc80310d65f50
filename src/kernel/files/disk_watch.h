// DiskWatch: watches the workspace's directory on a thread of its own, and hands what changes to the
// documents and to those who have subscribed to changes of files.
//
// It begins with a walk over the directory, during which its state is `starting`, and takes in what
// changed in loaded files while no kernel ran.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/function.h"
#include "fs/tree_watch.h"
#include "kernel/core/caller.h"
#include "kernel/files/disk_intake.h"

namespace quire::kernel {

class FileGate;
class Kernel;

// The settings of watching, from quire.toml.
struct WatchSettings {
    bool is_on = true;
    std::int64_t settle_ms = 100;
    fs::IgnoreNames ignore = {".gitignore", ".loroignore"};
};

// The status in words: "watching", "polling of a, b every 1000 ms", "off", "detached: …".
std::string watch_words(const fs::TreeStatus& status);

// The events of one pull, and the subscription that they are of.
using FileEvents = FileHub::Pulled;

// Kernel, gate, clock and random numbers outlive it. Any thread, except that start() and stop() are
// called once each, in this order, and stop() before the kernel closes.
class DiskWatch {
public:
    DiskWatch(Kernel& kernel, FileGate& gate, std::string directory, const WatchSettings& settings);
    DiskWatch(const DiskWatch&) = delete;
    DiskWatch& operator=(const DiskWatch&) = delete;
    ~DiskWatch();  // Calls stop().
    void start();
    void stop();
    // Other settings, which hold at once.
    void set(const WatchSettings& settings);

    fs::TreeStatus status() const;
    // Replies once every change that was made on the disk before this call is in the documents and
    // published; before start() at once. Costs a look at every file of the tree. Errors: unavailable
    // "kernel_ending".
    void sync(Reply<void> reply);

    // The files and links of the directory as they are now, sorted by path, without a walk over it. None
    // where it is not watched, or not well enough (fs::TreeWatch::list()).
    void files(Reply<std::optional<std::vector<fs::Entry>>> reply);

    // Called with each batch of events of a subscription, and its id, as they come. Any thread.
    using Push = std::function<void(const std::string& id, const FileHub::Events& events)>;
    // The events of a subscription of this caller; where there are none it waits for some, at most
    // `wait_ms`. Without an id it opens one, over all files that the caller may see. It ends with
    // the caller's session, or, for a caller without `notify`, some minutes after its last use.
    // `push` may be null. Errors: those of FileHub.
    void events(const Caller& by, std::optional<std::string> subscription_id, std::int64_t wait_ms,
                Push push, Reply<FileEvents> reply);

    // From now on told(event) is called for every event, one after the other, until stop().
    void follow(std::function<void(const FileEvent&)> told);

private:
    struct Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
