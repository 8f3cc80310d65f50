#include "server/line_splitter.h"

namespace quire::server {

void LineSplitter::take(std::string_view part) {
    if (skipping_) return;
    if (part.size() > bound_ - held_.size()) {
        skipping_ = true;
        held_ = {};
        return;
    }
    held_.append(part);
}

}  // namespace quire::server
