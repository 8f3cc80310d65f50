#include "rpc/line_splitter.h"

namespace quire::rpc {

void LineSplitter::take(std::string_view part) {
    if (skipped_) return skipped_->feed(part);
    if (part.size() > bound_ - held_.size()) {
        skipped_.emplace();
        skipped_->feed(std::exchange(held_, {}));
        return skipped_->feed(part);
    }
    held_.append(part);
}

}  // namespace quire::rpc
