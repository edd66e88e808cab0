#include "cpu/workspace.h"

#include <algorithm>

#include "base/error.h"

namespace lockstep::cpu {

WorkspacePool::WorkspacePool(int workspaces, std::shared_ptr<const Cores> cores)
    : cores_(std::move(cores)), workspaces_(static_cast<std::size_t>(workspaces)) {}

void WorkspacePool::reserve(std::size_t bytes) {
  const Lock lock(mutex_);
  bytes = std::max<std::size_t>(bytes, 1);  // so that there is something to take
  if (bytes_ >= bytes) return;
  check(bytes_ == 0 || free_.size() == workspaces_.size(), "a workspace grows while it is taken");
  bytes_ = bytes;
  free_.clear();
  for (AlignedBuffer<std::byte>& workspace : workspaces_) {
    workspace = AlignedBuffer<std::byte>(bytes);
    free_.push_back(static_cast<int>(free_.size()));
  }
}

int WorkspacePool::take() {
  const int place = wait_for_place();
  if (cores_) cores_->try_to_bind(place);
  return place;
}

int WorkspacePool::wait_for_place() {
  Lock lock(mutex_);
  if (!free_.empty()) {
    const int place = free_.back();
    free_.pop_back();
    return place;
  }
  const auto self = std::make_shared<Waiter>();
  queue_.push_back(self);
  waiting_ = static_cast<int>(queue_.size());
  // Whoever has one gives it back after a few packs; a thread that never does is stuck, which is for the one
  // who watches the devices to say.
  constexpr std::chrono::seconds kLook{1};
  while (self->place < 0) self->called.wait_for(lock, kLook);
  return self->place;
}

void WorkspacePool::put_back(int place) {
  if (cores_) cores_->unbind();  // or it could not come to another core that is free
  std::shared_ptr<Waiter> next;
  {
    const Lock lock(mutex_);
    if (queue_.empty()) {
      free_.push_back(place);
      return;
    }
    next = std::move(queue_.front());
    queue_.pop_front();
    waiting_ = static_cast<int>(queue_.size());
    next->place = place;
  }
  next->called.notify_all();  // without the lock, which is the first thing it wants
}

std::byte* WorkspacePool::memory_of(int place) {
  const Lock lock(mutex_);
  return workspaces_[static_cast<std::size_t>(place)].data();
}

void WorkspacePool::Lease::give_way() {
  if (pool_.waiting_ == 0) return;
  pool_.put_back(place_);
  place_ = pool_.take();
}

}  // namespace lockstep::cpu
