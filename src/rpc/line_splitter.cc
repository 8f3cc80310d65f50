// A line is collected until its newline or until the bound; from there on its bytes go through an
// IdScan and are dropped. The scan is a state machine over single bytes: it knows how deep it is,
// whether it is in a string, and whether it is in the key or the value of an outermost member, and
// keeps only that member's text. It runs once over each byte of a line that is too long.
#include "rpc/line_splitter.h"

#include "json/json.h"

namespace quire::rpc {

namespace {

// Keys and ids are kept up to this length; one byte more marks a cut one.
constexpr std::size_t kLongestId = 4096;

}  // namespace

void IdScan::feed(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size() && !over_; ++at) {
        if (in_string_) {
            take_in_string(bytes[at]);
        } else {
            take(bytes[at]);
        }
    }
}

void IdScan::take_in_string(char byte) {
    keep(byte);
    if (escaped_) {
        escaped_ = false;
    } else if (byte == '\\') {
        escaped_ = true;
    } else if (byte == '"') {
        in_string_ = false;
    }
}

void IdScan::take(char byte) {
    if (byte == ' ' || byte == '\t' || byte == '\r') return;
    if (!begun_) {
        begun_ = true;
        over_ = byte != '{';
        depth_ = 1;
        return;
    }
    if (byte == '}' || byte == ']') {
        if (depth_ == 1) end_member();
        over_ = --depth_ == 0;
    } else if (depth_ == 1 && byte == ',') {
        return end_member();
    } else if (depth_ == 1 && byte == ':' && !in_value_) {
        return end_key();
    } else if (byte == '{' || byte == '[') {
        ++depth_;
    } else if (byte == '"') {
        in_string_ = true;
    }
    keep(byte);
}

void IdScan::keep(char byte) {
    const bool wanted = in_value_ ? is_id_ : depth_ == 1;
    if (wanted && kept_.size() <= kLongestId) kept_ += byte;
}

void IdScan::end_key() {
    is_id_ = kept_ == "\"id\"";
    in_value_ = true;
    kept_.clear();
}

void IdScan::end_member() {
    if (is_id_) {
        const Result<Value> value = json::parse(kept_, {.depth = 2, .bytes = kLongestId});
        id_ = value ? json::write(*value) : std::string();
    }
    in_value_ = is_id_ = false;
    kept_.clear();
}

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
