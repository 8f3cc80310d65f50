// OpenTransaction: what the next commit of a document will store, and who is told of the outcome.
//
// A call adds the update bytes of its commit, the versions of blocks, units of history and changes of
// the document's own record. Some of these only save work later; they wait for a commit that an
// answer waits for. take() ends the transaction and begins the next one.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function.h"
#include "store/store.h"

namespace quire::kernel {

struct RecordState;

// Touched on the document's strand only.
class OpenTransaction {
public:
    using OnStored = std::vector<Function<void(Result<void>&)>>;

    // `fresh`: the store does not know the document yet; its record goes with the first commit.
    OpenTransaction(store::DocumentRecord record, bool fresh)
        : record_(std::move(record)), fresh_(fresh) {}

    // The document's record, as it will be stored.
    const store::DocumentRecord& record() const { return record_; }
    // Returns true if the store knows the document.
    bool is_stored() const { return !fresh_; }
    // Returns true if the transaction changes something that an answer must wait for.
    bool is_due() const { return due_; }
    store::Batch& batch() { return batch_; }
    const store::Batch& batch() const { return batch_; }

    void add(store::UpdateRecord update);
    void add(store::BlockRecord block);
    void add(store::UnitRecord unit);
    // Adds a record of another table.
    void keep(store::RecordKey key, std::string_view body);
    void set_header(Bytes header);
    // Sets a header that only saves work. It is stored with the next commit, whenever that comes.
    void note_header(Bytes header);
    // Changes the document's record. The caller changes the catalog.
    void rename(std::string name);
    // Sets the record as a whole, in one row.
    void set_record(RecordState record);
    // A deleted document's block is found only where deleted ones are.
    void set_deleted(bool deleted);
    // Calls `then` on the strand when this transaction is stored or refused, before its call is
    // answered. `then` may replace the store's error.
    void on_stored(Function<void(Result<void>&)> then) { on_stored_.push_back(std::move(then)); }

    // Returns the batch, and begins the next transaction. With `with_record` the record of a document
    // that the store does not know goes with it.
    store::Batch take(bool with_record);
    OnStored take_on_stored() { return std::exchange(on_stored_, {}); }
    bool has_listeners() const { return !on_stored_.empty(); }
    // Throws the changes away. The record stays as it is.
    void reset();
    // Sets the record back after the store refused its changes: to the `stored` one, or to that of an
    // empty document if the store has none.
    void revert_record(const store::DocumentRecord* stored);
    void note_stored() { fresh_ = false; }

private:
    void put_record();

    store::DocumentRecord record_;
    bool fresh_;
    store::Batch batch_;
    bool due_ = false;
    OnStored on_stored_;
};

}  // namespace quire::kernel
