// A batch may have several rows of the document's record; the last one is the newest, and the store
// keeps that. What sets `due_` is waited for by the call's answer. A header that only saves work
// does not set it, and goes with the next batch that is due.
#include "kernel/core/open_transaction.h"

#include <utility>

#include "kernel/core/unit.h"

namespace quire::kernel {

void OpenTransaction::add(store::UpdateRecord update) {
    batch_.updates.push_back(std::move(update));
    due_ = true;
}

void OpenTransaction::add(store::BlockRecord block) {
    batch_.blocks.push_back(std::move(block));
    due_ = true;
}

void OpenTransaction::add(store::UnitRecord unit) {
    batch_.units.push_back(std::move(unit));
    due_ = true;
}

void OpenTransaction::keep(store::RecordKey key, std::string_view body) {
    batch_.keep(std::move(key), body);
    due_ = true;
}

void OpenTransaction::put_record() {
    batch_.documents.push_back(record_);
    due_ = true;
}

void OpenTransaction::set_header(Bytes header) {
    record_.header = std::move(header);
    put_record();
}

void OpenTransaction::note_header(Bytes header) {
    record_.header = std::move(header);
    batch_.documents.push_back(record_);
}

void OpenTransaction::rename(std::string name) {
    record_.name = std::move(name);
    put_record();
}

void OpenTransaction::set_record(RecordState record) {
    record_.name = std::move(record.name);
    record_.deleted = record.deleted;
    record_.header = std::move(record.header);
    put_record();
}

void OpenTransaction::set_deleted(bool deleted) {
    record_.deleted = deleted;
    put_record();
}

store::Batch OpenTransaction::take(bool with_record) {
    // The store has to know a document before anything that belongs to it.
    if (fresh_ && with_record) batch_.documents.insert(batch_.documents.begin(), record_);
    due_ = false;
    return std::exchange(batch_, {});
}

void OpenTransaction::reset() {
    batch_ = {};
    due_ = false;
    on_stored_.clear();
}

void OpenTransaction::revert_record(const store::DocumentRecord* stored) {
    // A document that was never stored keeps the name under which it was asked for.
    record_.header.clear();
    record_.deleted = false;
    if (stored == nullptr) return;
    std::string owner = std::move(record_.owner);
    record_ = *stored;
    record_.owner = std::move(owner);  // The store may not have taken it yet.
}

}  // namespace quire::kernel
