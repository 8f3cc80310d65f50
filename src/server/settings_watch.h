// SettingsWatch: how a server learns that the workspace's settings have changed.
#pragma once

#include "base/value.h"

namespace quire::server {

// The server calls it serially: before it hands a line to a session, and when `fd` is readable.
class SettingsWatch {
public:
    virtual ~SettingsWatch() = default;
    // A descriptor that is readable when the settings may have changed.
    virtual int fd() const = 0;
    // Takes what made it readable.
    virtual void take_events() = 0;
    // Looks if they have changed, and takes a change in. Returns true after one: what sessions
    // publish may differ then. Called for every line, so it must be cheap when nothing changed.
    virtual bool look() = 0;
    // For `quire status`: {file, found, error?, line?, needs_new_kernel: [section], warnings}.
    virtual Map report() const = 0;
};

}  // namespace quire::server
