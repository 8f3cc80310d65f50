// Walk: visits documents one after another, each on its strand.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernel/core/core.h"

namespace quire::kernel {

// Returns true for what a rule refuses, or lets a person decide.
inline bool is_refusal(const Error& error) {
    return error.code() == Errc::denied || error.code() == Errc::escalation_required;
}

// Visits `documents` in order: visit(document) runs on each one's strand and returns whether to
// continue. What it saw is durable before the next document is visited. Then done() is called, or
// done(error) if a document could not be read. The walk skips documents that are gone and those
// that `by` may not see; one hidden document must not end the walk. A walk holds no document but
// the one it visits, so what it gathers is no snapshot of the whole: a document may change after
// its turn. It keeps itself alive until it is done. Call next() once, to begin.
class Walk : public std::enable_shared_from_this<Walk> {
public:
    // How the walk treats a document that cannot be read.
    enum Unreadable { ending, passing_over };
    // visit() is called once for each document, with nothing under way in it (Core::look_once()).
    struct Round {
        Function<bool(LiveDocument&)> visit;
        Reply<void> done;
        Access access = Access::read;
        Unreadable unreadable = ending;
        // Called for a damaged document, which is then passed over. Without it `unreadable`
        // decides.
        Function<void(store::DocumentKey)> damaged = {};
    };

    Walk(std::shared_ptr<Core> core, Caller by, std::vector<store::DocumentKey> documents,
         Round round)
        : core_(std::move(core)),
          by_(std::move(by)),
          documents_(std::move(documents)),
          round_(std::move(round)) {
        by_.call = nullptr;  // Nobody is asked about what is passed over.
    }

    void next() {
        std::shared_ptr<LiveDocument> document;
        while (document == nullptr && next_ < documents_.size())
            document = core_->catalog().find(documents_[next_++]);
        if (document == nullptr) return round_.done({});
        core_->look_once<bool>(
            by_, ThisDocument{std::move(document)}, round_.access,
            [self = shared_from_this()](Result<bool> more) {
                const bool damaged = !more && more.error().code() == Errc::corrupt;
                if (damaged && self->round_.damaged)
                    self->round_.damaged(self->documents_[self->next_ - 1]);
                const bool passed_over =
                    !more && (is_refusal(more.error()) ||
                              (damaged &&
                               (self->round_.unreadable == passing_over || self->round_.damaged)));
                if (!more && !passed_over)
                    return self->round_.done(Failure(std::move(more).error()));
                if (more && !*more) return self->round_.done({});
                self->next();
            },
            [self = shared_from_this()](LiveDocument& live, const Caller&) -> Result<bool> {
                return self->round_.visit(live);
            });
    }

private:
    std::shared_ptr<Core> core_;
    Caller by_;
    std::vector<store::DocumentKey> documents_;
    std::size_t next_ = 0;
    Round round_;
};

}  // namespace quire::kernel
