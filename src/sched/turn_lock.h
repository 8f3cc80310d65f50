// TurnLock: a mutex with a patient side. Who takes it patiently waits until no urgent caller is
// waiting, so a thread that takes it again and again for its own work lets short calls of others in
// between. Urgent callers that never cease would starve the patient: for calls that somebody waits
// for.
#pragma once

#include <condition_variable>
#include <mutex>

namespace quire::sched {

class TurnLock {
public:
    class Urgent {
    public:
        explicit Urgent(TurnLock& lock) : lock_(lock) { lock_.take_urgent(); }
        ~Urgent() { lock_.release(); }
        Urgent(const Urgent&) = delete;
        Urgent& operator=(const Urgent&) = delete;

    private:
        TurnLock& lock_;
    };

    class Patient {
    public:
        explicit Patient(TurnLock& lock) : lock_(lock) { lock_.take_patient(); }
        ~Patient() { lock_.release(); }
        Patient(const Patient&) = delete;
        Patient& operator=(const Patient&) = delete;

    private:
        TurnLock& lock_;
    };

private:
    void take_urgent();
    void take_patient();
    void release();

    std::mutex mutex_;
    std::condition_variable changed_;
    int urgent_waiting_ = 0;
    bool held_ = false;
};

}  // namespace quire::sched
