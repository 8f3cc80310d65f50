// The file is mapped and stays so: signatures are most of it, and the system may drop their pages. It is
// replaced as a whole, by a rename, and never changed in place. A hash over all that follows the header
// is checked once, when it is mapped.
//
//   Header   magic, number of bytes behind it, their hash
//   Record   proof 5 × i64, bytes of the name u32, words of the signature u32, is_text u64
//            the name, filled up to whole words; the signature
//   Record   …                               up to the end
//
// Everything is in this machine's byte order, and aligned to words, so a signature is used where it
// lies. Names are found by a sorted vector of their hashes: 16 bytes an entry, and one record read
// for a match.
#include "kernel/files/search_index.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "base/write_all.h"
#include "fs/hash.h"

namespace quire::kernel {
namespace {

constexpr std::uint64_t kMagic = 0x3130'5849'4552'4951U;  // "QIREIX01", as this machine has it.

struct Header {
    std::uint64_t magic = kMagic;
    std::uint64_t bytes = 0;  // Behind the header.
    fs::Hash hash;            // Covers these.
    friend bool operator==(const Header&, const Header&) = default;
};
// Before each name, which is filled up with zeros to whole words, and its signature.
struct Record {
    TextProof proof;
    std::uint32_t name_bytes;
    std::uint32_t signature_words;
    std::uint64_t is_text;
};
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
constexpr std::size_t kWord = sizeof(std::uint64_t);

constexpr std::size_t whole_words(std::size_t bytes) {
    return (bytes + kWord - 1) / kWord * kWord;
}

template <class T>
void put_bytes(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::optional<TextProof> proof_of(const fs::Stamp& stamp) {
    // A file that was written a moment ago may change again within the same tick of its clock.
    if (!stamp.settled) return std::nullopt;
    return TextProof{static_cast<std::int64_t>(stamp.device), static_cast<std::int64_t>(stamp.inode),
                     static_cast<std::int64_t>(stamp.size), stamp.modified_ns, stamp.changed_ns};
}

TextProof proof_of(const store::DocumentMark& mark) {
    return {mark.blocks, mark.versions, 0, 0, 0};
}

class SearchIndex::Mapping {
public:
    // A record, and where the next one begins.
    struct Read {
        std::string_view name;
        Entry entry;
        std::size_t next = 0;
    };

    // Returns null if there is no file behind the descriptor that a header fits into.
    static std::unique_ptr<Mapping> of(const Fd& fd) {
        struct stat status = {};
        if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
        const auto size = static_cast<std::size_t>(status.st_size);
        if (size < sizeof(Header)) return nullptr;
        void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
        if (at == MAP_FAILED) return nullptr;
        return std::unique_ptr<Mapping>(new Mapping(static_cast<char*>(at), size));
    }
    Header right_header() const { return {kMagic, body().size(), fs::Hash::of(body())}; }
    bool is_whole() const {
        Header header;
        std::memcpy(&header, at_, sizeof header);
        return header == right_header();
    }
    // The record at an offset in the body; none at its end. Sizes are checked although the hash is
    // right: the program that wrote it may have been another.
    std::optional<Read> read(std::size_t offset) const {
        std::string_view rest = body().substr(offset);
        if (rest.size() < sizeof(Record)) return std::nullopt;
        Record record;
        std::memcpy(&record, rest.data(), sizeof record);
        rest.remove_prefix(sizeof record);
        const std::size_t name_bytes = whole_words(record.name_bytes);
        const std::size_t signature_bytes = std::size_t{record.signature_words} * kWord;
        if (name_bytes > rest.size() || signature_bytes > rest.size() - name_bytes)
            return std::nullopt;
        const auto* const words = reinterpret_cast<const std::uint64_t*>(rest.data() + name_bytes);
        return Read{rest.substr(0, record.name_bytes),
                    {record.proof, record.is_text != 0, {words, record.signature_words}},
                    offset + sizeof record + name_bytes + signature_bytes};
    }
    // Gives the memory of its pages back; they are read again when they are wanted.
    void let_go() const { ::madvise(at_, size_, MADV_DONTNEED); }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { ::munmap(at_, size_); }

private:
    Mapping(char* at, std::size_t size) : at_(at), size_(size) {}
    std::string_view body() const { return {at_ + sizeof(Header), size_ - sizeof(Header)}; }
    char* at_;
    std::size_t size_;
};

SearchIndex::SearchIndex(std::size_t most_bytes) : most_bytes_(most_bytes) {}
SearchIndex::~SearchIndex() = default;

std::optional<std::size_t> SearchIndex::find_saved(const std::string& name) const {
    // The hash is never stored, so it may be another one in the next process. Names with one hash
    // are told apart by the records.
    const std::size_t hash = std::hash<std::string>()(name);
    auto at = std::ranges::lower_bound(saved_, hash, {}, &Saved::name_hash);
    for (; at != saved_.end() && at->name_hash == hash; ++at) {
        if (at->offset != kForgotten && mapping_->read(at->offset)->name == name)
            return static_cast<std::size_t>(at - saved_.begin());
    }
    return std::nullopt;
}

std::optional<SearchIndex::Entry> SearchIndex::find(const std::string& name) const {
    if (const auto at = fresh_.find(name); at != fresh_.end()) return at->second.entry();
    const std::optional<std::size_t> at = find_saved(name);
    if (!at) return std::nullopt;
    return mapping_->read(saved_[*at].offset)->entry;
}

std::optional<SearchIndex::Entry> SearchIndex::find(const std::string& name,
                                                    const TextProof& proof) const {
    std::optional<Entry> entry = find(name);
    if (entry && entry->proof != proof) entry.reset();
    return entry;
}

void SearchIndex::forget(const std::string& name) {
    const std::optional<Entry> entry = find(name);
    if (!entry) return;
    bytes_ -= entry->signature.size_bytes();
    if (fresh_.erase(name) > 0) return;
    saved_[*find_saved(name)].offset = kForgotten;
    ++forgotten_;
}

void SearchIndex::put(const std::string& name, const TextProof& proof, bool is_text,
                      std::vector<std::uint64_t> signature) {
    ++changes_;
    forget(name);
    const std::size_t bytes = signature.size() * kWord;
    // Nothing is thrown out for it: what is not in the index is read by each search.
    if (bytes_ + bytes > most_bytes_) {
        is_full_ = true;
        return;
    }
    bytes_ += bytes;
    fresh_[name] = {proof, is_text, std::move(signature)};
}

void SearchIndex::keep(Function<bool(const std::string& name)> is_wanted) {
    is_full_ = false;
    changes_ += std::erase_if(fresh_, [&](const auto& each) {
        if (is_wanted(each.first)) return false;
        bytes_ -= each.second.signature.size() * kWord;
        return true;
    });
    // The walk below reads every record, so it begins without those that do not count.
    std::erase_if(saved_, [](const Saved& each) { return each.offset == kForgotten; });
    forgotten_ = 0;
    changes_ += std::erase_if(saved_, [&](const Saved& each) {
        const Mapping::Read read = *mapping_->read(each.offset);
        if (is_wanted(std::string(read.name))) return false;
        bytes_ -= read.entry.signature.size_bytes();
        return true;
    });
    if (mapping_ != nullptr) mapping_->let_go();
}

void SearchIndex::load(const std::string& file) {
    auto mapping = Mapping::of(Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)));
    if (mapping != nullptr && !mapping->is_whole()) mapping = nullptr;
    take(std::move(mapping));
}

void SearchIndex::take(std::unique_ptr<Mapping> mapping) {
    fresh_.clear();
    saved_.clear();
    bytes_ = changes_ = forgotten_ = 0;
    is_full_ = false;
    mapping_ = std::move(mapping);
    if (mapping_ == nullptr) return;
    std::size_t offset = 0;
    while (const std::optional<Mapping::Read> read = mapping_->read(offset)) {
        saved_.push_back({std::hash<std::string_view>()(read->name), offset});
        bytes_ += read->entry.signature.size_bytes();
        offset = read->next;
    }
    std::ranges::sort(saved_, {}, &Saved::name_hash);
    mapping_->let_go();
}

// The header comes last, when what it covers is written and can be read through the mapping.
Result<void> SearchIndex::save(const std::string& file) {
    const std::string draft = cat(file, ".new");
    ::unlink(draft.c_str());
    const Fd fd(::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    std::unique_ptr<Mapping> written;
    if (fd && write_records(fd.get())) written = Mapping::of(fd);
    if (written != nullptr) {
        const Header header = written->right_header();
        if (::pwrite(fd.get(), &header, sizeof header, 0) == sizeof header &&
            ::rename(draft.c_str(), file.c_str()) == 0) {
            take(std::move(written));
            return {};
        }
    }
    const int error = errno;
    ::unlink(draft.c_str());
    return fail(Errc::unavailable, "file_not_writable",
                cat("the search index ", file, " cannot be written: ", std::strerror(error)),
                {{"file", file}});
}

bool SearchIndex::write_records(int fd) const {
    std::string out(sizeof(Header), '\0');
    const auto write = [&](std::string_view name, const Entry& entry) {
        const text::Signature signature = entry.signature;
        put_bytes(out,
                  Record{entry.proof, static_cast<std::uint32_t>(name.size()),
                         static_cast<std::uint32_t>(signature.size()), entry.is_text ? 1U : 0U});
        out.append(name).append(whole_words(name.size()) - name.size(), '\0');
        out.append(reinterpret_cast<const char*>(signature.data()), signature.size_bytes());
        if (out.size() < kWriteBytes) return true;
        const bool is_written = write_all(fd, out).has_value();
        out.clear();
        return is_written;
    };
    for (const auto& [name, fresh] : fresh_) {
        if (!write(name, fresh.entry())) return false;
    }
    for (const Saved& saved : saved_) {
        if (saved.offset == kForgotten) continue;
        const Mapping::Read read = *mapping_->read(saved.offset);
        if (!write(read.name, read.entry)) return false;
    }
    return write_all(fd, out).has_value();
}

}  // namespace quire::kernel
