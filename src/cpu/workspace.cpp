#include "cpu/workspace.h"

#include <algorithm>

#include "base/error.h"

namespace lockstep::cpu {

WorkspacePool::WorkspacePool(int workspaces, std::shared_ptr<const Cores> cores)
    : cores_(std::move(cores)), workspaces_(static_cast<std::size_t>(workspaces)) {}

void WorkspacePool::reserve(std::size_t bytes) {
  const Lock lock(mutex_);
  if (reserved_ && bytes_ >= bytes) return;
  check(!reserved_ || free_.size() == workspaces_.size(), "a workspace grows while it is taken");
  reserved_ = true;
  bytes_ = bytes;
  free_.clear();
  for (AlignedBuffer<std::byte>& workspace : workspaces_) {
    workspace = AlignedBuffer<std::byte>(bytes);
    free_.push_back(static_cast<int>(free_.size()));
  }
}

std::size_t WorkspacePool::bytes() {
  const Lock lock(mutex_);
  return bytes_;
}

int WorkspacePool::take() {
  const int workspace = wait_for_workspace();
  if (cores_) cores_->try_to_bind(workspace);
  return workspace;
}

int WorkspacePool::wait_for_workspace() {
  Lock lock(mutex_);
  if (!free_.empty()) {
    const int workspace = free_.back();
    free_.pop_back();
    return workspace;
  }
  const auto self = std::make_shared<Waiter>();
  queue_.push_back(self);
  waiting_ = static_cast<int>(queue_.size());
  // A thread gives its workspace back after a few packs. If a thread never does, it is stuck, and the watch
  // over the devices reports it.
  constexpr std::chrono::seconds kLook{1};
  while (self->workspace < 0) self->called.wait_for(lock, kLook);
  return self->workspace;
}

void WorkspacePool::put_back(int workspace) {
  if (cores_) cores_->unbind();  // else the thread could not move to another core that is free
  std::shared_ptr<Waiter> next;
  {
    const Lock lock(mutex_);
    if (queue_.empty()) {
      free_.push_back(workspace);
      return;
    }
    next = std::move(queue_.front());
    queue_.pop_front();
    waiting_ = static_cast<int>(queue_.size());
    next->workspace = workspace;
  }
  next->called.notify_all();  // without the lock, which the woken thread takes first
}

std::byte* WorkspacePool::memory_of(int workspace) {
  const Lock lock(mutex_);
  return workspaces_[static_cast<std::size_t>(workspace)].data();
}

void WorkspacePool::Lease::give_way() {
  if (pool_.waiting_ == 0) return;
  pool_.put_back(workspace_);
  workspace_ = pool_.take();
}

}  // namespace lockstep::cpu
