// Streams, events and several devices: what the order allows, and what a forgotten event does.
#include <cstring>
#include <thread>

#include "test/card.h"
#include "test/fixture.h"

namespace standin_test {
namespace {

constexpr unsigned kNonBlocking = 1;

CUstream new_stream() {
  CUstream stream = nullptr;
  expect_success(cuStreamCreate(&stream, kNonBlocking), "cuStreamCreate");
  return stream;
}

CUevent new_event() {
  CUevent event = nullptr;
  expect_success(cuEventCreate(&event, 0), "cuEventCreate");
  return event;
}

const std::string kIncrement =
    ptx_of("ld.global.u32 %r1, [%out]; add.u32 %r1, %r1, 1; st.global.u32 [%out], %r1;");
const std::string kDouble =
    ptx_of("ld.global.u32 %r1, [%out]; add.u32 %r1, %r1, %r1; st.global.u32 [%out], %r1;");

// ((3 + 1) * 2) + 1 over two streams, with or without the events that order it.
unsigned two_streams(int seed, bool with_events) {
  configure("devices=1,seed=" + std::to_string(seed));
  use_device(0);
  const CUfunction increment = kernel(kIncrement, "k");
  const CUfunction twice = kernel(kDouble, "k");
  const CUdeviceptr value = upload(std::vector<unsigned>{3});
  const CUstream a = new_stream();
  const CUstream b = new_stream();
  const CUevent first = new_event();
  const CUevent second = new_event();
  expect_success(launch(increment, {1, 1, 0, a}, value), "launch");
  expect_success(cuEventRecord(first, a), "record");
  if (with_events) expect_success(cuStreamWaitEvent(b, first, 0), "wait");
  expect_success(launch(twice, {1, 1, 0, b}, value), "launch");
  expect_success(cuEventRecord(second, b), "record");
  if (with_events) expect_success(cuStreamWaitEvent(a, second, 0), "wait");
  expect_success(launch(increment, {1, 1, 0, a}, value), "launch");
  expect_success(cuStreamSynchronize(a), "synchronize");
  expect_success(cuCtxSynchronize(), "synchronize");
  return download<unsigned>(value, 1)[0];
}

TEST(Streams, EventsOrderThem) {
  for (int seed = 1; seed <= 20; ++seed) EXPECT_EQ(two_streams(seed, true), 9u) << "seed " << seed;
}

TEST(Streams, AForgottenEventShows) {
  int wrong = 0;
  for (int seed = 1; seed <= 20; ++seed) wrong += two_streams(seed, false) != 9 ? 1 : 0;
  EXPECT_GE(wrong, 5);
}

TEST(Streams, NothingRunsBeforeSomebodyWaits) {
  configure("devices=1");
  use_device(0);
  const CUdeviceptr value = upload(std::vector<unsigned>{3});
  void* pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost_v2(&pinned, 4), 0);
  const CUstream stream = new_stream();
  unsigned number = 50;
  std::memcpy(pinned, &number, 4);
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(value, pinned, 4, stream), 0);
  number = 60;  // too early: the copy has not run
  std::memcpy(pinned, &number, 4);
  ASSERT_EQ(launch(kernel(kIncrement, "k"), {1, 1, 0, stream}, value), 0);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(pinned, value, 4, stream), 0);
  std::memcpy(&number, pinned, 4);
  EXPECT_EQ(number, 60u);
  ASSERT_EQ(cuStreamSynchronize(stream), 0);
  std::memcpy(&number, pinned, 4);
  EXPECT_EQ(number, 61u);
  EXPECT_EQ(cuMemcpyDtoHAsync_v2(static_cast<char*>(pinned) + 2, value, 4, stream), 1);
  EXPECT_EQ(cuMemFreeHost(pinned), 0);
  EXPECT_EQ(cuMemFreeHost(pinned), 1);
}

TEST(Streams, PollingEnds) {
  configure("devices=1");
  use_device(0);
  const CUdeviceptr value = upload(std::vector<unsigned>{0});
  const CUfunction increment = kernel(kIncrement, "k");
  const CUstream stream = new_stream();
  const CUevent begin = new_event();
  const CUevent end = new_event();
  EXPECT_EQ(cuEventQuery(end), 0) << "an event that was never recorded is done";
  ASSERT_EQ(cuEventRecord(begin, stream), 0);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(launch(increment, {1, 1, 0, stream}, value), 0);
  ASSERT_EQ(cuEventRecord(end, stream), 0);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime_v2(&milliseconds, begin, end), 600);
  int polls = 0;
  while (cuEventQuery(end) == 600) ++polls;
  EXPECT_EQ(cuEventQuery(end), 0);
  EXPECT_GE(polls, 1);
  EXPECT_EQ(cuStreamQuery(stream), 0);
  EXPECT_EQ(cuEventElapsedTime_v2(&milliseconds, begin, end), 0);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(download<unsigned>(value, 1)[0], 10u);
  EXPECT_EQ(cuStreamDestroy_v2(stream), 0);
  EXPECT_EQ(cuStreamSynchronize(stream), 400);
  EXPECT_EQ(cuEventDestroy_v2(end), 0);
  EXPECT_EQ(cuEventQuery(end), 400);
}

TEST(Streams, TheDefaultStreamIsOrderedWithBlockingOnes) {
  for (int seed = 1; seed <= 10; ++seed) {
    configure("devices=1,seed=" + std::to_string(seed));
    use_device(0);
    const CUdeviceptr value = upload(std::vector<unsigned>{3});
    CUstream blocking = nullptr;
    ASSERT_EQ(cuStreamCreate(&blocking, 0), 0);
    ASSERT_EQ(launch(kernel(kIncrement, "k"), {1, 1, 0, blocking}, value), 0);
    ASSERT_EQ(launch(kernel(kDouble, "k"), {1, 1}, value), 0);
    ASSERT_EQ(launch(kernel(kIncrement, "k"), {1, 1, 0, blocking}, value), 0);
    ASSERT_EQ(cuCtxSynchronize(), 0);
    EXPECT_EQ(download<unsigned>(value, 1)[0], 9u);
  }
}

// 32 lanes of so much local memory are more than a std::vector holds: the task throws std::length_error.
TEST(Devices, AnyExceptionOfATaskFailsItsDevice) {
  configure("devices=2");
  use_device(0);
  const CUdeviceptr value = upload(std::vector<unsigned>{3});
  const CUfunction greedy = kernel(ptx_of(".local .align 16 .b8 l[0x400000000000000];"), "k");
  const CUstream stream = new_stream();
  ASSERT_EQ(launch(greedy, {1, 1, 0, stream}, value), 0);
  EXPECT_EQ(cuStreamSynchronize(stream), 999);
  EXPECT_STRNE(standin_last_error(), "");
  EXPECT_EQ(cuCtxSynchronize(), 999);
  use_device(1);
  const CUdeviceptr there = upload(std::vector<unsigned>{3});
  EXPECT_EQ(launch_and_wait(kernel(kIncrement, "k"), {1, 1}, there), 0) << standin_last_error();
}

// Each thread adds one on its device and hands the number to the next device.
TEST(Devices, HandOverByEvents) {
  configure("devices=4,seed=3");
  constexpr int kDevices = 4;
  CUcontext contexts[kDevices];
  CUdeviceptr values[kDevices];
  CUfunction increments[kDevices];
  CUstream streams[kDevices];
  CUevent events[kDevices];
  for (int i = 0; i < kDevices; ++i) {
    contexts[i] = use_device(i);
    values[i] = upload(std::vector<unsigned>{0});
    increments[i] = kernel(kIncrement, "k");
    streams[i] = new_stream();
    events[i] = new_event();
  }
  constexpr int kRounds = 25;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kDevices; ++i) {
      const int from = (i + kDevices - 1) % kDevices;
      ASSERT_EQ(cuCtxSetCurrent(contexts[i]), 0);
      ASSERT_EQ(cuStreamWaitEvent(streams[i], events[from], 0), 0);
      ASSERT_EQ(cuMemcpyPeerAsync(values[i], contexts[i], values[from], contexts[from], 4, streams[i]), 0);
      ASSERT_EQ(launch(increments[i], {1, 1, 0, streams[i]}, values[i]), 0);
      ASSERT_EQ(cuEventRecord(events[i], streams[i]), 0);
    }
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kDevices; ++i) {
    threads.emplace_back([&, i] {
      cuCtxSetCurrent(contexts[i]);
      EXPECT_EQ(cuStreamSynchronize(streams[i]), 0) << standin_last_error();
    });
  }
  for (std::thread& thread : threads) thread.join();
  use_device(kDevices - 1);
  EXPECT_EQ(download<unsigned>(values[kDevices - 1], 1)[0], static_cast<unsigned>(kRounds * kDevices));
}

TEST(Devices, ThreadsUseThemAtTheSameTime) {
  configure("devices=3,seed=5");
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([i] {
      use_device(i);
      const CUfunction increment = kernel(kIncrement, "k");
      const CUdeviceptr value = upload(std::vector<unsigned>{static_cast<unsigned>(i)});
      const CUstream stream = new_stream();
      for (int j = 0; j < 200; ++j) EXPECT_EQ(launch(increment, {1, 1, 0, stream}, value), 0);
      EXPECT_EQ(cuStreamSynchronize(stream), 0);
      EXPECT_EQ(download<unsigned>(value, 1)[0], static_cast<unsigned>(i) + 200);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Devices, OneIsLostAndTheOthersLiveOn) {
  configure("devices=2,lose=1@3");
  use_device(0);
  const CUdeviceptr here = upload(std::vector<unsigned>{0});
  const CUfunction increment_here = kernel(kIncrement, "k");
  const CUstream stream_here = new_stream();
  const CUcontext lost = use_device(1);
  const CUdeviceptr value = upload(std::vector<unsigned>{0});
  const CUfunction increment = kernel(kIncrement, "k");
  EXPECT_EQ(launch_and_wait(increment, {1, 1}, value), 0);
  EXPECT_EQ(launch_and_wait(increment, {1, 1}, value), 0);
  EXPECT_EQ(launch(increment, {1, 1}, value), 719);
  EXPECT_NE(std::string(standin_last_error()).find("device 1 was lost at launch 3"), std::string::npos);
  CUdeviceptr more = 0;
  EXPECT_EQ(cuMemAlloc_v2(&more, 4), 46);
  EXPECT_EQ(cuCtxSynchronize(), 46);
  EXPECT_EQ(launch(increment, {1, 1}, value), 46);
  unsigned number = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&number, value, 4), 46);
  EXPECT_EQ(cuMemFree_v2(value), 46);
  CUcontext again = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&again, 1), 46);

  const CUcontext context = use_device(0);
  EXPECT_EQ(cuMemcpyPeerAsync(here, context, value, lost, 4, stream_here), 46);
  EXPECT_EQ(launch_and_wait(increment_here, {1, 1}, here), 0);
  EXPECT_EQ(download<unsigned>(here, 1)[0], 1u);
}

TEST(Devices, WithoutPeerAccess) {
  configure("devices=2,peer=0");
  int can = -1;
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), 0);
  EXPECT_EQ(can, 0);
  const CUcontext other = use_device(1);
  const CUdeviceptr there = upload(std::vector<unsigned>{8});
  const CUcontext context = use_device(0);
  const CUdeviceptr here = upload(std::vector<unsigned>{0});
  EXPECT_EQ(cuCtxEnablePeerAccess(other, 0), 217);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(here, there, 4, nullptr), 700);
  EXPECT_EQ(cuMemcpyPeerAsync(here, context, there, other, 4, nullptr), 0);  // by way of the host
  EXPECT_EQ(download<unsigned>(here, 1)[0], 8u);
}

TEST(Devices, MemoryEnds) {
  configure("devices=1,memory=1048576");
  use_device(0);
  size_t free = 0;
  size_t total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&free, &total), 0);
  EXPECT_EQ(total, 1048576u);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, 2000000), 2);
  for (int i = 0; i < 1000; ++i) {  // places come back
    ASSERT_EQ(cuMemAlloc_v2(&address, 300000), 0) << standin_last_error();
    ASSERT_EQ(cuMemFree_v2(address), 0);
  }
  size_t after = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&after, &total), 0);
  EXPECT_EQ(after, free);
}

TEST(Devices, AreDescribed) {
  configure("devices=3,capability=89");
  int value = 0;
  EXPECT_EQ(cuDeviceGetCount(&value), 0);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(cuDeviceGetAttribute(&value, 75, 2), 0);
  EXPECT_EQ(value, 8);
  EXPECT_EQ(cuDeviceGetAttribute(&value, 76, 2), 0);
  EXPECT_EQ(value, 9);
  EXPECT_EQ(cuDeviceGetAttribute(&value, 1, 3), 101);
  char name[64];
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, 2), 0);
  EXPECT_STREQ(name, "CUDA stand-in");
  void* function = nullptr;
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, nullptr), 0);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &function, 12000, 0, nullptr), 0);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuInit));
  EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &function, 12000, 0, nullptr), 500);
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(700, &text), 0);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(standin_configure("devices=x"), 1);
  EXPECT_EQ(standin_configure("nonsense=1"), 1);
}

TEST(Devices, LaunchesAreChecked) {
  configure("devices=2");
  use_device(0);
  const CUdeviceptr value = upload(std::vector<unsigned>{0});
  const CUfunction increment = kernel(kIncrement, "k");
  EXPECT_EQ(launch(increment, {1, 2048}, value), 1);
  EXPECT_EQ(launch(increment, {0, 1}, value), 1);
  EXPECT_EQ(launch(increment, {1, 1, 60000}, value), 1);
  EXPECT_EQ(cuFuncSetAttribute(increment, 8, 60000), 0);
  EXPECT_EQ(launch_and_wait(increment, {1, 1, 60000}, value), 0);
  EXPECT_EQ(launch(kernel(fixture("add.ptx"), "add"), {1, 512}, value, value, value, 0), 1)
      << "more than .maxntid";
  use_device(1);
  EXPECT_EQ(launch(increment, {1, 1}, value), 400) << "a kernel of another device";
  cuCtxSetCurrent(nullptr);
  EXPECT_EQ(launch(increment, {1, 1}, value), 201);
}

}  // namespace
}  // namespace standin_test
