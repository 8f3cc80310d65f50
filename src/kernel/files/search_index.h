// SearchIndex: the signatures of texts (text/signature.h), each with a proof that tells if it is still
// that of its text. A file keeps it for the next process (docs/formats/search-index.md), and for this
// one: what is saved is read from there, and takes 16 bytes of memory an entry.
//
// It only ever saves work: what it does not know is looked into, and a file that is damaged in any way
// counts as none. One thread. An entry speaks of one text at one time. Whoever searches has the
// proof of the text as it is now, from the file's stamp or the document's mark, and an entry with
// another proof is none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "fs/file_system.h"
#include "store/store_records.h"
#include "text/signature.h"

namespace quire::kernel {

// Numbers that change with a text: those of a file's stamp, or of a document's mark.
using TextProof = std::array<std::int64_t, 5>;
// Returns none for a stamp that a later change may leave as it is.
std::optional<TextProof> proof_of(const fs::Stamp& stamp);
TextProof proof_of(const store::DocumentMark& mark);

class SearchIndex {
public:
    struct Entry {
        TextProof proof = {};
        bool is_text = true;  // False for a file that cannot be read as text.
        text::Signature signature = {};
    };

    // Signatures take at most so many bytes: those of some 4 GB of text. What comes later is not kept.
    static constexpr std::size_t kMostBytes = std::size_t{512} << 20;
    explicit SearchIndex(std::size_t most_bytes = kMostBytes);
    SearchIndex(const SearchIndex&) = delete;
    SearchIndex& operator=(const SearchIndex&) = delete;
    ~SearchIndex();

    // The entry of that name, and the same if it has this proof; else none. Its signature holds until
    // the next call that is not const. O(log entries).
    std::optional<Entry> find(const std::string& name) const;
    std::optional<Entry> find(const std::string& name, const TextProof& proof) const;
    // Replaces the entry of that name. Beyond `most_bytes` the old one goes and the new one is not
    // kept. O(log entries).
    void put(const std::string& name, const TextProof& proof, bool is_text,
             std::vector<std::uint64_t> signature);
    // Forgets the entries whose names are not wanted any more. Also clears is_full(). Reads the
    // name of every entry: O(entries).
    void keep(Function<bool(const std::string& name)> is_wanted);
    std::size_t size() const { return fresh_.size() + saved_.size() - forgotten_; }
    std::size_t signature_bytes() const { return bytes_; }
    bool is_full() const { return is_full_; }  // Something was not kept.
    // Counts put() and what keep() forgot, since the last load() or save().
    std::size_t changes() const { return changes_; }

    // Replaces all entries by those of the file; by none if it is missing or damaged. O(file).
    void load(const std::string& file);
    // Writes the file anew, and reads the signatures from there. Mode 0600. Errors: unavailable
    // "file_not_writable" {file}.
    Result<void> save(const std::string& file);

private:
    class Mapping;
    struct Fresh {
        TextProof proof = {};
        bool is_text = true;
        std::vector<std::uint64_t> signature;

        Entry entry() const { return {proof, is_text, signature}; }
    };
    // An entry in the mapping, by its name.
    struct Saved {
        std::size_t name_hash = 0;
        std::size_t offset = 0;  // kForgotten, if it does not count any more.
    };
    static constexpr std::size_t kForgotten = SIZE_MAX;
    std::optional<std::size_t> find_saved(const std::string& name) const;  // Its place in saved_.
    void forget(const std::string& name);
    // The entries from now on are those of the file that is mapped; none for null.
    void take(std::unique_ptr<Mapping> mapping);
    // Leaves room for the header, which save() writes last.
    bool write_records(int fd) const;

    const std::size_t most_bytes_;
    std::unordered_map<std::string, Fresh> fresh_;  // They were put since the last load or save.
    std::vector<Saved> saved_;                      // Sorted by hash. No name is in both.
    std::size_t forgotten_ = 0;                     // They are in saved_, and do not count.
    std::size_t bytes_ = 0;
    bool is_full_ = false;
    std::unique_ptr<Mapping> mapping_;
    std::size_t changes_ = 0;
};

}  // namespace quire::kernel
