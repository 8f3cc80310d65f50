// LiveSettings: quire.toml under a running kernel. It notices a change, reads the file, has a valid
// one applied, and says in the log and in its report what became of an invalid one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cli/settings/config.h"
#include "fs/file_watch.h"
#include "server/settings_watch.h"

namespace quire::cli {

// The server calls it serially, on whichever of its threads is awake (server/settings_watch.h).
class LiveSettings final : public server::SettingsWatch {
public:
    // Makes other settings hold, all or nothing. Returns what an operator should know of them.
    // Errors: what is wrong in them; nothing has changed then.
    using Apply = std::function<Result<std::vector<std::string>>(const Settings& settings)>;

    // Starts to watch, and reads the file of `workspace` for the first time. Errors: those of
    // load_config(). `log` outlives it.
    static Result<std::unique_ptr<LiveSettings>> open(std::string workspace, LogSink& log);

    // The settings that the kernel is started with.
    const Settings& started() const { return started_; }
    // From now on changes are applied. `warnings` are about the settings at the start.
    void follow(std::vector<std::string> warnings, Apply apply);

    int fd() const override { return watch_.fd(); }
    void take_events() override { watch_.take_events(); }
    bool look() override;
    Map report() const override;

private:
    LiveSettings(std::string workspace, LogSink& log)
        : workspace_(std::move(workspace)), log_(log), watch_(workspace_, "quire.toml") {}

    Result<std::optional<std::string>> settled_text() const;
    Result<Settings> read(std::optional<std::string>& text) const;
    // Returns true if the text is another, and valid.
    bool take(Result<Settings> settings, bool is_there);
    void refuse(Error why);

    const std::string workspace_;
    LogSink& log_;
    fs::FileWatch watch_;
    Settings started_;
    Apply apply_;
    std::optional<std::string> text_;  // The text last read; none where there was no file.
    bool is_there_ = false;
    std::optional<Error> wrong_;  // In the file as it is now: the settings before still hold.
    std::vector<std::string> warnings_;
    std::vector<std::string> pending_;  // Sections that wait for a new kernel.
};

}  // namespace quire::cli
