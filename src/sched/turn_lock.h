// TurnLock: a mutex with a patient side. A patient caller waits until no urgent caller is waiting,
// so a thread that takes the lock again and again for its own work lets short calls of others in
// between. An endless stream of urgent callers would starve the patient ones: urgent is for calls
// that somebody waits for.
#pragma once

#include <condition_variable>
#include <mutex>

namespace quire::sched {

// Take it through Urgent or Patient, which release it at the end of their lives.
class TurnLock {
public:
    // Holds the lock for a short call.
    class Urgent {
    public:
        explicit Urgent(TurnLock& lock) : lock_(lock) { lock_.take_urgent(); }
        ~Urgent() { lock_.release(); }
        Urgent(const Urgent&) = delete;
        Urgent& operator=(const Urgent&) = delete;

    private:
        TurnLock& lock_;
    };

    // Holds the lock for background work; gives way to urgent callers.
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
