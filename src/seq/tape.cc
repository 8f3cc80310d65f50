// Reels begin small and double (kFirstRoom, then a share of what is there), so a document with a
// line of text does not hold 64 KiB; only a reel at full size is final, and only then may ropes
// show it. Offsets are split into a part number and a place in the part: parts_ maps each part to
// its address, which makes read() two array accesses.

#include "seq/tape.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/check.h"

namespace quire::seq {

namespace {

// The size of a first reel, and the growth of later ones as a share of the text so far. Beyond the
// size of a full reel each new one is full from the start, and can be shown.
constexpr std::size_t kFirstRoom = 32;
constexpr std::size_t kShare = 4;

}  // namespace

Reel* Reel::make(std::size_t capacity) {
    void* at = ::operator new(sizeof(Reel) + capacity);
    return new (at) Reel(static_cast<char*>(at) + sizeof(Reel), capacity);
}

void Reel::release() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    this->~Reel();
    ::operator delete(this);
}

// A reel that two tapes have is not written any more, and counts as shown: then showing it changes
// nothing in it.
Tape::Tape(const Tape& other)
    : parts_(other.parts_),
      begin_(other.begin_),
      used_(other.used_),
      room_(other.room_),
      part_bits_(other.part_bits_),
      is_final_(other.is_final_) {
    if (other.reel_ != nullptr) {
        reel_ = Reel::make(room_);
        std::memcpy(reel_->text(), other.reel_->text(), used_);
    }
    const Reel* before = nullptr;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        Part& part = parts_[i];
        if (part.reel == other.reel_) {
            part = {reel_, reel_->text() + ((i - (begin_ >> part_bits_)) << part_bits_)};
        } else if (part.reel != before) {
            part.reel->retain();
            part.reel->show(part.reel->capacity());
            before = part.reel;
        }
    }
}

Tape::Tape(Tape&& other) noexcept
    : parts_(std::move(other.parts_)),
      reel_(std::exchange(other.reel_, nullptr)),
      begin_(other.begin_),
      used_(std::exchange(other.used_, 0)),
      room_(std::exchange(other.room_, 0)),
      part_bits_(other.part_bits_),
      is_final_(other.is_final_) {
    other.parts_.clear();
}

Tape& Tape::operator=(Tape&& other) noexcept {
    std::swap(parts_, other.parts_);
    std::swap(reel_, other.reel_);
    std::swap(begin_, other.begin_);
    std::swap(used_, other.used_);
    std::swap(room_, other.room_);
    std::swap(part_bits_, other.part_bits_);
    std::swap(is_final_, other.is_final_);
    return *this;
}

Tape::~Tape() {
    drop(0);
}

bool Tape::fits(std::size_t bytes) const {
    const std::size_t parts = parts_.size() + reel_size() / part_size() + 1;
    return bytes < (std::size_t{1} << 32) - std::min(parts << part_bits_, std::size_t{1} << 32);
}

// Opens a new reel if the present one cannot take the piece.
Tape::Offset Tape::write(std::string_view utf8) {
    const Offset next = begin_ + used_;
    if (utf8.size() <= part_size() && may_lengthen(next, utf8.size())) {
        lengthen(utf8);
        return next;
    }
    CHECK(!utf8.empty() && fits(utf8.size()));
    if (utf8.size() > part_size()) {
        // The offsets behind the open reel stay its own.
        if (reel_ != nullptr) add(reel_, (begin_ >> part_bits_) + reel_size() / part_size());
        const auto at = static_cast<Offset>(parts_.size() << part_bits_);
        Reel* reel = Reel::make(utf8.size());
        std::memcpy(reel->text(), utf8.data(), utf8.size());
        add(reel, parts_.size() + (utf8.size() + part_size() - 1) / part_size());
        return at;
    }
    const std::size_t known = parts_.size() << part_bits_;
    const std::size_t room =
        known < reel_size() ? std::max({kFirstRoom, utf8.size(), known / kShare}) : reel_size();
    reel_ = Reel::make(room);
    is_final_ = false;
    begin_ = static_cast<Offset>(known);
    used_ = 0;
    room_ = static_cast<std::uint32_t>(room);
    add(reel_, parts_.size() + (room + part_size() - 1) / part_size());
    lengthen(utf8);
    return begin_;
}

// Grows the open reel by so many bytes, if it may become that large.
bool Tape::grow(std::size_t bytes) {
    if (bytes > reel_size() - used_) return false;
    move_to(std::min(reel_size(), std::max(std::size_t{room_} * 2, used_ + bytes)));
    return true;
}

void Tape::fit() {
    if (reel_ == nullptr || used_ == 0 || room_ == reel_size() || reel_->shown() > 0) return;
    if (room_ > used_) move_to(used_);
    is_final_ = true;
}

// Moves the open reel to one of that size. Ropes that show it go on with the one before.
void Tape::move_to(std::size_t room) {
    Reel* moved = Reel::make(room);
    std::memcpy(moved->text(), reel_->text(), used_);
    const std::size_t first = begin_ >> part_bits_;
    for (std::size_t i = first; i < parts_.size() && parts_[i].reel == reel_; ++i)
        parts_[i] = {moved, moved->text() + ((i - first) << part_bits_)};
    reel_->release();
    reel_ = moved;
    room_ = static_cast<std::uint32_t>(room);
    is_final_ = false;
    add(reel_, first + (room + part_size() - 1) / part_size());
}

// Maps the parts up to `end` to the reel.
void Tape::add(Reel* reel, std::size_t end) {
    std::size_t first = parts_.size();
    while (first > 0 && parts_[first - 1].reel == reel) --first;
    for (std::size_t i = parts_.size(); i < end; ++i)
        parts_.push_back({reel, reel->text() + ((i - first) << part_bits_)});
}

void Tape::drop(std::size_t parts) {
    while (parts_.size() > parts) {
        Reel* reel = parts_.back().reel;
        parts_.pop_back();
        if (parts_.empty() || parts_.back().reel != reel) reel->release();
    }
}

// Drops the parts written since the mark; shown bytes keep their reels alive.
void Tape::rewind(const Mark& mark) {
    if (!mark.is_open) {
        drop(mark.parts);
        reel_ = nullptr;
        begin_ = used_ = room_ = 0;
        is_final_ = false;
        return;
    }
    // The reel may have grown, and another may have been begun since.
    reel_ = parts_[mark.begin >> part_bits_].reel;
    begin_ = mark.begin;
    used_ = mark.used;
    is_final_ = false;
    room_ = static_cast<std::uint32_t>(reel_->capacity());
    drop(std::max(mark.parts,
                  (begin_ >> part_bits_) + (std::size_t{room_} + part_size() - 1) / part_size()));
    // Shown bytes are never overwritten.
    if (reel_->shown() > used_) room_ = used_;
}

void Tape::check_invariants() const {
    std::size_t first = 0;
    bool found = reel_ == nullptr;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (parts_[i].reel != parts_[first].reel) first = i;
        const Reel* reel = parts_[i].reel;
        CHECK(parts_[i].text == reel->text() + ((i - first) << part_bits_));
        CHECK(reel->shown() <= reel->capacity());
        found = found || (reel == reel_ && first == begin_ >> part_bits_);
    }
    CHECK(found);
    CHECK(reel_ == nullptr || (used_ <= room_ && room_ <= reel_->capacity()));
    CHECK(reel_ == nullptr || reel_->capacity() <= reel_size());
}

}  // namespace quire::seq
