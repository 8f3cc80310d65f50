// A record of the file: a magic number, the hash of the bytes, how many they are and how many are
// stored, each in eight bytes, and then those that are stored. Where compressing does not pay the two
// numbers are equal.
//
// The index lives in memory alone: opening walks the headers and seeks over the bytes. The walk
// stops at the first header that is not whole, or whose bytes would reach behind the end of the
// file, and the rest is cut off: it is the tail of an add() that a crash tore. The bytes themselves
// are checked only by get(), against their hash, so opening stays cheap and damage in the middle
// costs the one text that it hit.
#include "views/base_texts.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <lz4.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/concat.h"
#include "base/durable.h"
#include "base/write_all.h"

namespace quire::views {
namespace {

constexpr std::uint64_t kRecord = 0x3130455341425251;  // "QRBASE01".
constexpr std::size_t kHeader = 40;
// LZ4 counts in int.
constexpr std::size_t kMostToCompress = std::size_t{1} << 30;

// Returns the bytes as they are to be stored. Bytes that LZ4 does not make shorter stay plain, so
// `stored == size` in a record says that there is nothing to decompress.
std::string compressed(std::string_view bytes) {
    if (bytes.size() > kMostToCompress) return std::string(bytes);
    std::string out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes.size()))),
                    '\0');
    const int size = LZ4_compress_default(bytes.data(), out.data(), static_cast<int>(bytes.size()),
                                          static_cast<int>(out.size()));
    if (size <= 0 || static_cast<std::size_t>(size) >= bytes.size()) return std::string(bytes);
    out.resize(static_cast<std::size_t>(size));
    return out;
}

bool read_at(int fd, std::uint64_t at, char* into, std::size_t size) {
    while (size > 0) {
        const ssize_t got = ::pread(fd, into, size, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        into += got;
        at += static_cast<std::uint64_t>(got);
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

}  // namespace

Failure BaseTexts::failed(const char* what) const {
    return fail(Errc::unavailable, "io_error", cat(what, " ", file_, ": ", std::strerror(errno)),
                {{"path", file_}});
}

Result<BaseTexts> BaseTexts::open(const std::string& file) {
    BaseTexts out(file, Fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)));
    if (!out.fd_) return out.failed("cannot open");
    TRY(out.read_index());
    return out;
}

// Reads one header a record, and no bytes.
Result<void> BaseTexts::read_index() {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) return failed("cannot look at");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    std::array<char, kHeader> header{};
    while (size - end_ >= kHeader && read_at(fd_.get(), end_, header.data(), header.size())) {
        ByteReader in(as_bytes({header.data(), header.size()}));
        const bool is_record = in.u64_le("magic") == kRecord;
        fs::Hash hash;
        hash.high = in.u64_le("hash");
        hash.low = in.u64_le("hash");
        Place place{end_ + kHeader, 0, in.u64_le("size")};
        place.stored = in.u64_le("size");
        if (!is_record || place.stored > size - place.at) break;
        places_[hash] = place;
        end_ = place.at + place.stored;
    }
    if (end_ < size && ::ftruncate(fd_.get(), static_cast<off_t>(end_)) != 0)
        return failed("cannot cut");
    return ::lseek(fd_.get(), static_cast<off_t>(end_), SEEK_SET) < 0 ? failed("cannot seek in")
                                                                      : Result<void>();
}

// Header and bytes go out in one write, and the index learns of the record only when all of it is
// in the file. A write that fails half-way is cut off again, for the next record would stand behind
// a torn one and be lost with it at the next open.
Result<void> BaseTexts::add(const fs::Hash& hash, std::string_view bytes) {
    if (has(hash)) return {};
    const std::string stored = compressed(bytes);
    ByteWriter header;
    for (const std::uint64_t number :
         {kRecord, hash.high, hash.low, static_cast<std::uint64_t>(bytes.size()),
          static_cast<std::uint64_t>(stored.size())})
        header.u64_le(number);
    const Bytes head = std::move(header).take();
    const Result<void> written = write_all(fd_.get(), cat(as_text(head), stored));
    if (!written) {
        const Failure why = failed("cannot write");
        // The part that was written is cut off.
        static_cast<void>(::ftruncate(fd_.get(), static_cast<off_t>(end_)));
        static_cast<void>(::lseek(fd_.get(), static_cast<off_t>(end_), SEEK_SET));
        return why;
    }
    places_[hash] = {end_ + kHeader, stored.size(), bytes.size()};
    end_ += kHeader + stored.size();
    return {};
}

Result<std::string> BaseTexts::get(const fs::Hash& hash) const {
    const auto found = places_.find(hash);
    if (found == places_.end()) {
        return fail(Errc::not_found, "base_unknown",
                    "the bytes that two trees had in common are not known any more");
    }
    const Place& place = found->second;
    std::string stored(place.stored, '\0');
    if (!read_at(fd_.get(), place.at, stored.data(), stored.size())) return failed("cannot read");
    std::string out = std::move(stored);
    if (place.stored != place.size) {
        // The size comes from the file: damage must not make us ask for more memory than
        // compressed() could have needed.
        if (place.size > kMostToCompress) return corrupt(cat(file_, " is damaged"));
        std::string whole(place.size, '\0');
        const int size = LZ4_decompress_safe(out.data(), whole.data(), static_cast<int>(out.size()),
                                             static_cast<int>(whole.size()));
        if (size < 0 || static_cast<std::size_t>(size) != whole.size())
            return corrupt(cat(file_, " is damaged"));
        out = std::move(whole);
    }
    if (fs::Hash::of(out) != hash) return corrupt(cat(file_, " is damaged"));
    return out;
}

// The file's own name is synced once: it may be new, or be that of another file since keep().
Result<void> BaseTexts::sync() {
    if (::fdatasync(fd_.get()) != 0) return failed("cannot sync");
    if (!is_named_) TRY(sync_name(file_));
    is_named_ = true;
    return {};
}

// Copies what stays into a new file and renames it over the old one. A crash before the rename
// leaves the old file whole and a draft that the next keep() removes. A text that cannot be read
// stops it, and the old file stays. Since less than half of the file stays, it copies fewer bytes
// than it frees.
Result<void> BaseTexts::keep(const Hashes& wanted) {
    std::uint64_t kept = 0;
    for (const auto& [hash, place] : places_)
        if (wanted.contains(hash)) kept += kHeader + place.stored;
    if (2 * kept >= end_) return {};
    const std::string draft = file_ + ".new";
    ::unlink(draft.c_str());
    BaseTexts made = TRY(open(draft));
    for (const auto& [hash, place] : places_) {
        if (!wanted.contains(hash)) continue;
        const std::string bytes = TRY(get(hash));
        TRY(made.add(hash, bytes));
    }
    made.is_named_ = true;  // Its name as a draft need not last.
    TRY(made.sync());
    if (::rename(draft.c_str(), file_.c_str()) != 0) return failed("cannot replace");
    made.file_ = file_;
    made.is_named_ = false;
    *this = std::move(made);
    return {};
}

}  // namespace quire::views
