// A line is collected until its newline or until the bound; from there on its bytes go through an
// IdScan and are dropped. The scan is a state machine over single bytes: it knows how deep it is,
// whether it is in a string, and whether it is in the key or the value of an outermost member, and
// keeps only that member's text. Strings that are not kept are skipped with memchr. It begins when a
// line is long, before it is too long: the bytes of one read are scanned at once, never all of them,
// because others wait meanwhile.
#include "rpc/line_splitter.h"

#include <algorithm>

#include "json/json.h"

namespace quire::rpc {

namespace {

// Keys and ids are kept up to this length; one byte more marks a cut one.
constexpr std::size_t kLongestId = 4096;
// From this length on a line is scanned as it arrives.
constexpr std::size_t kLongLine = std::size_t{1} << 20;
constexpr std::size_t kMostReserved = std::size_t{16} << 20;

}  // namespace

void IdScan::feed(std::string_view bytes) {
    std::size_t quote = 0;  // The first one from `at` on, once it was looked for.
    for (std::size_t at = 0; at < bytes.size() && !over_; ++at) {
        if (in_string_ && !escaped_ && !keeps()) {
            if (quote < at) quote = std::min(bytes.find('"', at), bytes.size());
            at += std::min(bytes.substr(at, quote - at).find('\\'), quote - at);
            if (at == bytes.size()) return;
        }
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
    if (keeps() && kept_.size() <= kLongestId) kept_ += byte;
}

void IdScan::end_key() {
    is_id_ = kept_ == "\"id\"";
    in_value_ = true;
    kept_.clear();
}

// A key or a value that was cut is no JSON any more, so it gives no id rather than a wrong one.
void IdScan::end_member() {
    if (is_id_) {
        const Result<Value> value = json::parse(kept_, {.depth = 2, .bytes = kLongestId});
        id_ = value ? json::write(*value) : std::string();
    }
    in_value_ = is_id_ = false;
    kept_.clear();
}

void LineSplitter::take(std::string_view part) {
    if (is_skipping_) return scan_->feed(part);
    if (held_.size() <= bound_ && part.size() <= bound_ - held_.size()) {
        // Growing by doubling would hold a long line up to three times.
        if (held_.size() + part.size() >= kLongLine) held_.reserve(std::min(bound_, kMostReserved));
        held_.append(part);
        if (held_.size() >= kLongLine) scan_held();
        return;
    }
    scan_held();
    scan_->feed(part);
    is_skipping_ = true;
    std::string().swap(held_);  // An assignment would keep its memory.
    scanned_ = 0;
}

void LineSplitter::scan_held() {
    if (!scan_) scan_.emplace();
    scan_->feed(std::string_view(held_).substr(scanned_));
    scanned_ = held_.size();
}

}  // namespace quire::rpc
