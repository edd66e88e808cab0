#include "transport/threads/thread_transport.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::transport {
namespace {

using namespace std::chrono_literals;
using Ranks = std::vector<std::unique_ptr<Transport>>;

constexpr auto kLong = 60s;  // never passes in a test that is right

// Calls work(rank, its transport) on a thread a rank, and rethrows what the lowest of them threw.
template <class Work>
void run_ranks(Ranks& ranks, const Work& work) {
  std::vector<std::exception_ptr> errors(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        work(static_cast<int>(rank), *ranks[rank]);
      } catch (...) {
        errors[rank] = std::current_exception();
        ranks[rank]->abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

Op send(int to, std::span<const float> numbers) { return transport::send(to, std::as_bytes(numbers)); }
Op receive(int from, std::span<float> numbers) {
  return transport::receive(from, std::as_writable_bytes(numbers));
}

Ticket start(Transport& transport, const std::vector<Op>& ops) { return transport.start(ops); }

template <class Call>
void expect_error(Fault fault, std::string_view part, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "expected an error about: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault);
    EXPECT_THAT(error.what(), testing::HasSubstr(std::string(part)));
  }
}

class ThreadTransport : public testing::TestWithParam<bool> {
 protected:
  static Ranks make(int ranks) {
    ThreadHub hub(ranks);
    Ranks members;
    for (int rank = 0; rank < ranks; ++rank) members.push_back(hub.join(rank, {.spin = GetParam()}));
    return members;
  }
};
INSTANTIATE_TEST_SUITE_P(Spin, ThreadTransport, testing::Bool(),
                         [](const auto& spin) { return spin.param ? "Spinning" : "Sleeping"; });

TEST_P(ThreadTransport, MessagesOfAPairMatchInPostingOrder) {
  Ranks ranks = make(3);
  const std::array<float, 3> one{1, 2, 3}, two{4, 5, 6};
  std::array<float, 1> a{}, other{};
  std::array<float, 2> b{};
  std::array<float, 3> c{};
  start(*ranks[1], {send(0, std::span(one).first(1)), send(0, std::span(one).last(2))});
  start(*ranks[2], {send(0, std::span(two).last(1))});
  start(*ranks[1], {send(0, two)});
  const Ticket first = start(*ranks[0], {receive(1, a), receive(2, other), receive(1, b)});
  const Ticket second = start(*ranks[0], {receive(1, c)});
  EXPECT_TRUE(ranks[0]->wait(second, kLong));
  EXPECT_TRUE(ranks[0]->wait(first, kLong)) << "tickets may be waited for in any order";
  EXPECT_THAT(a, testing::ElementsAre(1));
  EXPECT_THAT(other, testing::ElementsAre(6));
  EXPECT_THAT(b, testing::ElementsAre(2, 3));
  EXPECT_THAT(c, testing::ElementsAre(4, 5, 6));
}

// Numbers that name their sender, receiver, round and place.
float number(int from, int to, int round, std::size_t i) {
  return static_cast<float>(((from * 16 + to) * 64 + round) * 64) + static_cast<float>(i);
}
std::size_t size_of(int from, int to, int round) {
  return 1 + static_cast<std::size_t>(from * 5 + to * 3 + round) % 40;
}

// One round from every rank to every rank, with delays wherever one could be late.
class Gossip {
 public:
  Gossip(int rank, int ranks, Transport& transport)
      : rank_(rank), ranks_(ranks), transport_(transport), random_(static_cast<unsigned>(rank)) {}

  void run(int round) {
    std::vector<std::vector<float>> out(static_cast<std::size_t>(ranks_)), in = out;
    std::vector<Op> ops;
    for (int peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      std::vector<float>& sent = out[static_cast<std::size_t>(peer)];
      sent.resize(size_of(rank_, peer, round));
      for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = number(rank_, peer, round, i);
      in[static_cast<std::size_t>(peer)].resize(size_of(peer, rank_, round));
      ops.push_back(send(peer, sent));
      ops.push_back(receive(peer, in[static_cast<std::size_t>(peer)]));
    }
    std::ranges::shuffle(ops, random_);
    const std::size_t cut = random_() % (ops.size() + 1);
    delay();
    std::vector<Ticket> tickets{transport_.start(std::span(ops).first(cut))};
    delay();
    tickets.push_back(transport_.start(std::span(ops).subspan(cut)));
    delay();
    for (const Ticket ticket : tickets) ASSERT_TRUE(transport_.wait(ticket, kLong));
    for (int peer = 0; peer < ranks_; ++peer) {
      const std::vector<float>& got = in[static_cast<std::size_t>(peer)];
      for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], number(peer, rank_, round, i));
    }
  }

 private:
  void delay() {
    if (random_() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
  }

  const int rank_, ranks_;
  Transport& transport_;
  std::mt19937 random_;
};

TEST_P(ThreadTransport, ManyRanksAtAnyPace) {
  for (const int count : {2, 3, 7}) {
    Ranks ranks = make(count);
    run_ranks(ranks, [&](int rank, Transport& transport) {
      Gossip gossip(rank, count, transport);
      for (int round = 0; round < 60; ++round) gossip.run(round);
    });
  }
}

TEST_P(ThreadTransport, ZeroLooksWithoutWaiting) {
  Ranks ranks = make(2);
  std::array<float, 2> in{};
  const std::array<float, 2> out{7, 8};
  const Ticket ticket = start(*ranks[0], {receive(1, in)});
  EXPECT_FALSE(ranks[0]->wait(ticket, 0ns));
  EXPECT_FALSE(ranks[0]->wait(ticket, 0ns));
  start(*ranks[1], {send(0, out)});
  EXPECT_TRUE(ranks[0]->wait(ticket, 0ns));
  EXPECT_EQ(in, out);
}

TEST_P(ThreadTransport, NothingToDoIsDone) {
  Ranks ranks = make(1);
  EXPECT_TRUE(ranks[0]->wait(start(*ranks[0], {}), 0ns));
}

TEST_P(ThreadTransport, ATimeoutLeavesTheTicketOpen) {
  Ranks ranks = make(2);
  std::array<float, 1> in{};
  const std::array<float, 1> out{5};
  const Ticket ticket = start(*ranks[0], {receive(1, in)});
  EXPECT_FALSE(ranks[0]->wait(ticket, 1ms));
  EXPECT_FALSE(ranks[0]->wait(ticket, 1ms));
  start(*ranks[1], {send(0, out)});
  EXPECT_TRUE(ranks[0]->wait(ticket, kLong));
  EXPECT_EQ(in, out);
}

void wait_until_missing(const Transport& transport, const std::vector<int>& expected) {
  while (transport.missing() != expected) std::this_thread::sleep_for(100us);
}

TEST_P(ThreadTransport, SaysWhoIsMissingWhileItWaits) {
  Ranks ranks = make(4);
  std::array<float, 1> a{}, b{}, c{};
  const std::array<float, 1> out{1};
  EXPECT_TRUE(ranks[0]->missing().empty());
  std::thread waiter([&] {
    const Ticket ticket = start(*ranks[0], {receive(1, a), receive(2, b), receive(3, c)});
    EXPECT_TRUE(ranks[0]->wait(ticket, kLong));
  });
  wait_until_missing(*ranks[0], {1, 2, 3});
  start(*ranks[2], {send(0, out)});
  wait_until_missing(*ranks[0], {1, 3});
  start(*ranks[1], {send(0, out)});
  start(*ranks[3], {send(0, out)});
  waiter.join();
  EXPECT_TRUE(ranks[0]->missing().empty());
}

// A rank needs two messages and can go on with either.
TEST_P(ThreadTransport, TheFirstOfSeveralTicketsEndsTheWait) {
  for (const bool second_comes : {false, true}) {
    Ranks ranks = make(3);
    std::array<float, 1> a{}, b{}, c{};
    const std::array<float, 1> out{1};
    std::array<Ticket, 2> tickets{};
    std::thread waiter([&] {
      tickets = {start(*ranks[0], {receive(1, a), receive(2, b)}), start(*ranks[0], {receive(2, c)})};
      const std::optional<Ticket> done = ranks[0]->wait_for_any(tickets, kLong);
      EXPECT_EQ(done, tickets[second_comes ? 1 : 0]);
    });
    wait_until_missing(*ranks[0], {1, 2});
    start(*ranks[2], {send(0, out)});
    wait_until_missing(*ranks[0], {1, 2});  // the second ticket needs the second message of rank 2
    start(*ranks[second_comes ? 2 : 1], {send(0, out)});
    waiter.join();
    start(*ranks[second_comes ? 1 : 2], {send(0, out)});
    EXPECT_TRUE(ranks[0]->wait(tickets[second_comes ? 0 : 1], kLong)) << "the other ticket stays open";
  }
}

// The ticket of a send is done when its receiver has copied, though its rank waits for a message as well.
TEST_P(ThreadTransport, ASendEndsTheWaitForSeveralTickets) {
  Ranks ranks = make(3);
  std::array<float, 1> in{}, never{};
  const std::array<float, 1> out{1};
  std::thread waiter([&] {
    const std::array tickets{start(*ranks[0], {receive(2, never)}), start(*ranks[0], {send(1, out)})};
    EXPECT_EQ(ranks[0]->wait_for_any(tickets, kLong), tickets[1]);
  });
  wait_until_missing(*ranks[0], {2});
  EXPECT_TRUE(ranks[1]->wait(start(*ranks[1], {receive(0, in)}), kLong));
  waiter.join();
}

TEST_P(ThreadTransport, AbortWakesSleepersAndStays) {
  Ranks ranks = make(4);
  const std::array<float, 1> out{1};
  std::vector<std::thread> waiters;
  for (const std::size_t rank : {0U, 1U}) {
    waiters.emplace_back([&, rank] {
      std::array<float, 1> in{};
      const Ticket ticket = start(*ranks[rank], {receive(3, in)});
      expect_error(Fault::device, "aborted", [&] { ranks[rank]->wait(ticket, kLong); });
    });
  }
  const Ticket sent = start(*ranks[2], {send(3, out)});
  waiters.emplace_back([&] { expect_error(Fault::device, "aborted", [&] { ranks[2]->wait(sent, kLong); }); });
  wait_until_missing(*ranks[0], {3});
  wait_until_missing(*ranks[1], {3});
  ranks[3]->abort();
  for (std::thread& waiter : waiters) waiter.join();
  for (const auto& rank : ranks) expect_error(Fault::device, "aborted", [&] { start(*rank, {}); });
}

TEST_P(ThreadTransport, AbortMakesWaitsForWhatIsThereThrowToo) {
  Ranks ranks = make(2);
  std::array<float, 1> in{};
  const std::array<float, 1> out{1};
  start(*ranks[1], {send(0, out)});
  const Ticket ticket = start(*ranks[0], {receive(1, in)});
  ranks[0]->abort();
  expect_error(Fault::device, "aborted", [&] { ranks[0]->wait(ticket, 0ns); });
}

TEST_P(ThreadTransport, ASendIsDoneOnlyWhenTheReceiverHasCopied) {
  Ranks ranks = make(2);
  std::array<float, 2> out{1, 2}, in{};
  const Ticket sent = start(*ranks[0], {send(1, out)});
  EXPECT_FALSE(ranks[0]->wait(sent, 0ns));
  EXPECT_FALSE(ranks[0]->wait(sent, 1ms));
  start(*ranks[1], {receive(0, in)});
  EXPECT_TRUE(ranks[0]->wait(sent, kLong));
  out = {3, 4};
  EXPECT_THAT(in, testing::ElementsAre(1, 2));
}

// The sender may write its memory as soon as wait() says so: with a receiver that copies at the same time,
// a thread sanitizer sees whether that is true.
TEST_P(ThreadTransport, MemoryIsTheSendersAgainAfterTheWait) {
  Ranks ranks = make(2);
  constexpr int kRounds = 300;
  run_ranks(ranks, [&](int rank, Transport& transport) {
    std::vector<float> numbers(200);
    for (int round = 0; round < kRounds; ++round) {
      const auto value = static_cast<float>(round);
      if (rank == 0) std::ranges::fill(numbers, value);
      const Op op = rank == 0 ? send(1, numbers) : receive(0, numbers);
      ASSERT_TRUE(transport.wait(start(transport, {op}), kLong));
      ASSERT_EQ(numbers, std::vector<float>(numbers.size(), value));
    }
  });
}

TEST_P(ThreadTransport, WrongSizesAreADefect) {
  Ranks ranks = make(2);
  const std::array<float, 3> out{1, 2, 3};
  std::array<float, 2> in{};
  start(*ranks[0], {send(1, out)});
  expect_error(Fault::ours, "rank 0 sent 12 bytes where rank 1 expects 8",
               [&] { start(*ranks[1], {receive(0, in)}); });
  EXPECT_THAT(in, testing::ElementsAre(0, 0));
}

TEST_P(ThreadTransport, RanksThatDoNotExistAndTicketsThatAreDoneAreADefect) {
  Ranks ranks = make(2);
  std::array<float, 1> in{};
  for (const int peer : {-1, 0, 2})
    expect_error(Fault::ours, "no peer", [&] { start(*ranks[0], {receive(peer, in)}); });
  const Ticket ticket = start(*ranks[1], {});
  EXPECT_TRUE(ranks[1]->wait(ticket, 0ns));
  expect_error(Fault::ours, "which is done", [&] { ranks[1]->wait(ticket, 0ns); });
}

}  // namespace
}  // namespace lockstep::transport
