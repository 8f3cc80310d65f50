// EventSet: the descriptors that the LocalServer waits on, in one epoll set, for two threads. One
// thread may wait while the other changes the set: epoll allows it, and a change takes effect for a
// wait that is under way. Each thread has a place of its own for what it found, so neither
// overwrites what the other still handles.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>

#include <sys/epoll.h>

#include "base/check.h"
#include "base/fd.h"

namespace quire::server {

class EventSet {
public:
    EventSet() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) { CHECK(epoll_); }

    // From now on events of `fd` are found, with its `id` as their data. The data is an id and no
    // pointer, because an event may be found when its client is gone already. A closed descriptor
    // leaves the set by itself.
    void add(int fd, std::uint32_t events, std::uint64_t id) {
        control(EPOLL_CTL_ADD, fd, events, id);
    }
    // Changes the events that are waited for. With EPOLLONESHOT among them one event is found, and
    // none further until the next arm().
    void arm(int fd, std::uint32_t events, std::uint64_t id) {
        control(EPOLL_CTL_MOD, fd, events, id);
    }
    void remove(int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

    // Waits for events, at most `ms` (-1: without limit), and keeps them as the finding of
    // `thread`, 0 or 1. A signal ends the wait with nothing found.
    void wait(int thread, int ms) {
        Round& round = rounds_[static_cast<std::size_t>(thread)];
        round.count = ::epoll_wait(epoll_.get(), round.events.data(),
                                   static_cast<int>(round.events.size()), ms);
        CHECK(round.count >= 0 || errno == EINTR);
    }
    // The finding of the thread's last wait(). Valid until its next one.
    std::span<const epoll_event> found(int thread) const {
        const Round& round = rounds_[static_cast<std::size_t>(thread)];
        return std::span(round.events)
            .first(static_cast<std::size_t>(round.count < 0 ? 0 : round.count));
    }

private:
    // More events than fit are found by the next wait.
    struct Round {
        int count = 0;
        std::array<epoll_event, 64> events = {};
    };

    void control(int what, int fd, std::uint32_t events, std::uint64_t id) {
        epoll_event event = {};
        event.events = events;
        event.data.u64 = id;
        CHECK(::epoll_ctl(epoll_.get(), what, fd, &event) == 0);
    }

    Fd epoll_;
    std::array<Round, 2> rounds_;
};

}  // namespace quire::server
