#include "transport/threads/thread_transport.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <map>

#include "base/error.h"
#include "base/mutex.h"
#include "base/spin.h"

namespace lockstep::transport {
namespace {

struct Mailbox;

// The ops of one start() that are not done yet.
struct Progress {
  std::atomic<int> left{0};
};

// A send, as its receiver sees it.
struct Note {
  std::span<const std::byte> bytes;
  bool direct = false;
  std::shared_ptr<Progress> sender_progress;
  Mailbox* sender = nullptr;
};

// What a rank finds when it looks. Notes of a peer are numbered from 0 in the order they were left.
struct Mailbox {
  mutable Mutex mutex;
  Condition bell;
  std::vector<std::deque<Note>> notes GUARDED_BY(mutex);  // by sender, not copied yet
  std::vector<std::uint64_t> arrived GUARDED_BY(mutex);   // by sender, ever
  // By ticket that is waited for, by sender: the rank sleeps until as many have arrived for one of them.
  std::vector<std::vector<std::uint64_t>> needed GUARDED_BY(mutex);
  bool asleep GUARDED_BY(mutex) = false;
  std::atomic<std::uint64_t> changes{0};  // grows with every note: cheap to look at

  bool has_what_it_needs() const REQUIRES(mutex) {
    return std::ranges::any_of(needed, [this](const auto& of_ticket) REQUIRES(mutex) {
      return std::ranges::equal(arrived, of_ticket, std::greater_equal());
    });
  }
  // Is the newest note of this sender the last one that a ticket needed?
  bool completes_a_ticket(std::size_t sender) const REQUIRES(mutex) {
    return std::ranges::any_of(needed, [this, sender](const auto& of_ticket) REQUIRES(mutex) {
      return arrived[sender] == of_ticket[sender] &&
             std::ranges::equal(arrived, of_ticket, std::greater_equal());
    });
  }
  // For what is no note. A thread that sleeps until notes arrive need not wake for it.
  void tell_that_sends_are_done() {
    ++changes;
    bool wakes = false;
    {
      const Lock lock(mutex);
      wakes = asleep && has_what_it_needs();
    }
    if (wakes) bell.notify_all();
  }
  void ring() {
    ++changes;
    const Lock lock(mutex);
    bell.notify_all();
  }
};

}  // namespace

struct ThreadHub::Boxes {
  explicit Boxes(int ranks) : boxes(static_cast<std::size_t>(ranks)) {
    for (Mailbox& box : boxes) {
      const Lock lock(box.mutex);
      box.notes.resize(boxes.size());
      box.arrived.resize(boxes.size(), 0);
    }
  }
  std::vector<Mailbox> boxes;  // by rank
  std::atomic<bool> aborted{false};
};

class ThreadHub::Member final : public Transport {
 public:
  Member(std::shared_ptr<Boxes> hub, int rank, RankOptions options)
      : hub_(std::move(hub)),
        rank_(static_cast<std::size_t>(rank)),
        spin_(options.spin),
        copy_(std::move(options.copy)),
        box_(hub_->boxes[rank_]),
        waiting_(hub_->boxes.size()),
        posted_(hub_->boxes.size(), 0) {}

  Ticket start(std::span<const Op> ops) override {
    throw_if_aborted();
    const Ticket ticket = next_ticket_++;
    Started& started = started_[ticket];
    started.progress->left = static_cast<int>(ops.size());
    for (const Op& op : ops) {
      const auto peer = static_cast<std::size_t>(op.peer);
      check(peer < waiting_.size() && peer != rank_, "rank {} has no peer {}", rank_, op.peer);
      if (op.in.empty()) {
        leave_note(peer, {op.out, op.direct, started.progress, &box_});
      } else {
        waiting_[peer].push_back({op.in, op.direct, started.progress});
        started.needed.emplace_back(peer, ++posted_[peer]);
      }
    }
    copy_what_is_here();
    return ticket;
  }

  std::optional<Ticket> wait_for_any(std::span<const Ticket> tickets,
                                     std::chrono::nanoseconds timeout) override {
    std::optional<Ticket> first;
    const auto done = [&] {
      throw_if_aborted();
      first = one_that_is_done(tickets);
      if (!first && box_.changes != seen_) {
        copy_what_is_here();
        first = one_that_is_done(tickets);
      }
      return first.has_value();
    };
    if (!done() && timeout.count() > 0 && !(spin_ && spin_until(done)))
      sleep_until_done(tickets, timeout, done);
    if (first) started_.erase(*first);
    return first;
  }

  void abort() override {
    hub_->aborted = true;
    for (Mailbox& box : hub_->boxes) box.ring();
  }

  std::vector<int> missing() const override {
    std::vector<int> ranks;
    const Lock lock(box_.mutex);
    for (std::size_t peer = 0; box_.asleep && peer < box_.arrived.size(); ++peer) {
      if (std::ranges::any_of(box_.needed, [&](const auto& of_ticket) REQUIRES(box_.mutex) {
            return box_.arrived[peer] < of_ticket[peer];
          }))
        ranks.push_back(static_cast<int>(peer));
    }
    return ranks;
  }

 private:
  struct Started {
    std::shared_ptr<Progress> progress = std::make_shared<Progress>();
    std::vector<std::pair<std::size_t, std::uint64_t>> needed;  // peer, and how many of its notes
  };
  struct Wanted {
    std::span<std::byte> to;
    bool direct;
    std::shared_ptr<Progress> progress;
  };
  struct Match {
    std::size_t peer;
    Note note;
    Wanted wanted;
  };

  const Started& started(Ticket ticket) const {
    const auto found = started_.find(ticket);
    check(found != started_.end(), "rank {} waits for ticket {}, which is done", rank_, ticket);
    return found->second;
  }

  std::optional<Ticket> one_that_is_done(std::span<const Ticket> tickets) const {
    const auto found =
        std::ranges::find_if(tickets, [this](Ticket ticket) { return started(ticket).progress->left == 0; });
    return found == tickets.end() ? std::nullopt : std::optional(*found);
  }

  void throw_if_aborted() const {
    if (hub_->aborted) throw Error(Fault::device, "the exchange was aborted");
  }

  void leave_note(std::size_t peer, Note note) {
    Mailbox& box = hub_->boxes[peer];
    bool wakes = false;
    {
      const Lock lock(box.mutex);
      box.notes[rank_].push_back(std::move(note));
      ++box.arrived[rank_];
      ++box.changes;
      wakes = box.asleep && box.completes_a_ticket(rank_);
    }
    if (wakes) box.bell.notify_all();  // without the lock, which is the first thing the sleeper wants
  }

  void copy_what_is_here() {
    for (const auto& [peer, note, wanted] : take_notes()) {
      check(note.bytes.size() == wanted.to.size(), "rank {} sent {} bytes where rank {} expects {}", peer,
            note.bytes.size(), rank_, wanted.to.size());
      check(note.direct == wanted.direct, "ranks {} and {} disagree about where bytes lie", peer, rank_);
      if (note.direct) {
        copy_(note.bytes, wanted.to);
      } else {
        std::memcpy(wanted.to.data(), note.bytes.data(), note.bytes.size());
      }
      --wanted.progress->left;
      if (--note.sender_progress->left == 0) note.sender->tell_that_sends_are_done();
    }
  }

  // The notes that a rank wants, with the op that wants them.
  std::vector<Match> take_notes() {
    std::vector<Match> matches;
    const Lock lock(box_.mutex);
    seen_ = box_.changes;
    for (std::size_t peer = 0; peer < waiting_.size(); ++peer) {
      std::deque<Note>& notes = box_.notes[peer];
      std::deque<Wanted>& wanted = waiting_[peer];
      for (; !wanted.empty() && !notes.empty(); wanted.pop_front(), notes.pop_front()) {
        matches.push_back({peer, std::move(notes.front()), std::move(wanted.front())});
      }
    }
    return matches;
  }

  template <class Done>
  bool spin_until(const Done& done) const {
    return lockstep::spin_until([&] { return (box_.changes != seen_ || hub_->aborted) && done(); });
  }

  // The last note that a ticket needs rings or, where all of its notes are copied, the last of its sends.
  template <class Done>
  void sleep_until_done(std::span<const Ticket> tickets, std::chrono::nanoseconds timeout, const Done& done) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (!done()) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() <= 0) return;
      Lock lock(box_.mutex);
      say_what_is_needed(tickets);
      box_.asleep = true;
      const bool copied = box_.changes == seen_;
      if (!hub_->aborted && !one_that_is_done(tickets) && (copied || !box_.has_what_it_needs()))
        box_.bell.wait_for(lock, left);
      box_.asleep = false;
    }
  }

  void say_what_is_needed(std::span<const Ticket> tickets) REQUIRES(box_.mutex) {
    box_.needed.resize(tickets.size());
    for (std::size_t i = 0; i < tickets.size(); ++i) {
      std::vector<std::uint64_t>& needed = box_.needed[i];
      needed.assign(waiting_.size(), 0);
      for (const auto& [peer, count] : started(tickets[i]).needed)
        needed[peer] = std::max(needed[peer], count);
    }
  }

  const std::shared_ptr<Boxes> hub_;
  const std::size_t rank_;
  const bool spin_;
  const DirectCopy copy_;
  Mailbox& box_;
  std::vector<std::deque<Wanted>> waiting_;  // by sender, in posting order
  std::vector<std::uint64_t> posted_;        // by sender: receives, ever
  std::map<Ticket, Started> started_;
  Ticket next_ticket_ = 1;
  std::uint64_t seen_ = 0;
};

ThreadHub::ThreadHub(int ranks) : boxes_(std::make_shared<Boxes>(ranks)) {}
ThreadHub::~ThreadHub() = default;

std::unique_ptr<Transport> ThreadHub::join(int rank, RankOptions options) {
  return std::make_unique<Member>(boxes_, rank, std::move(options));
}

}  // namespace lockstep::transport
