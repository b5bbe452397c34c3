// SPDX-License-Identifier: Apache-2.0
// Our declarations of the driver's API against the vendor's header, where that is installed.
// Nothing is called: it compiles, or it does not.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "backends/cuda/entry_points.h"

namespace kvroof::cuda {
namespace {

// Registers alike: as many parameters, each as wide and of the same sort.
template <class A, class B>
constexpr bool kAlike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> ==
                                  std::is_pointer_v<B>&& std::is_floating_point_v<A> ==
                                  std::is_floating_point_v<B>;

template <class Ours, class Theirs>
struct SameShape : std::false_type {};

template <class... Ours, class... Theirs>
requires(sizeof...(Ours) ==
         sizeof...(Theirs)) struct SameShape<int (*)(Ours...), CUresult(CUDAAPI*)(Theirs...)>
    : std::bool_constant<(kAlike<Ours, Theirs> && ...)> {
};

#define KVROOF_SAME(member, function) \
  static_assert(SameShape<decltype(EntryPoints::member), decltype(&function)>::value)
KVROOF_SAME(init, cuInit);
KVROOF_SAME(driver_version, cuDriverGetVersion);
KVROOF_SAME(device_count, cuDeviceGetCount);
KVROOF_SAME(device, cuDeviceGet);
KVROOF_SAME(device_name, cuDeviceGetName);
KVROOF_SAME(bus_id, cuDeviceGetPCIBusId);
KVROOF_SAME(retain_context, cuDevicePrimaryCtxRetain);
KVROOF_SAME(release_context, cuDevicePrimaryCtxRelease);
KVROOF_SAME(set_context, cuCtxSetCurrent);
KVROOF_SAME(priority_range, cuCtxGetStreamPriorityRange);
KVROOF_SAME(memory_info, cuMemGetInfo);
KVROOF_SAME(allocate, cuMemAlloc);
KVROOF_SAME(free, cuMemFree);
KVROOF_SAME(register_host, cuMemHostRegister);
KVROOF_SAME(unregister_host, cuMemHostUnregister);
KVROOF_SAME(create_stream, cuStreamCreateWithPriority);
KVROOF_SAME(destroy_stream, cuStreamDestroy);
KVROOF_SAME(synchronize_stream, cuStreamSynchronize);
KVROOF_SAME(wait_event, cuStreamWaitEvent);
KVROOF_SAME(create_event, cuEventCreate);
KVROOF_SAME(destroy_event, cuEventDestroy);
KVROOF_SAME(record_event, cuEventRecord);
KVROOF_SAME(query_event, cuEventQuery);
KVROOF_SAME(elapsed, cuEventElapsedTime);
KVROOF_SAME(copy_in, cuMemcpyHtoDAsync);
KVROOF_SAME(copy_out, cuMemcpyDtoHAsync);
KVROOF_SAME(copy_within, cuMemcpyDtoDAsync);
KVROOF_SAME(set_bytes, cuMemsetD8Async);
KVROOF_SAME(host_function, cuLaunchHostFunc);
KVROOF_SAME(error_name, cuGetErrorName);
KVROOF_SAME(error_text, cuGetErrorString);
KVROOF_SAME(find, cuGetProcAddress);
#undef KVROOF_SAME
static_assert(SameShape<decltype(EntryPoints::copy_batch), PFN_cuMemcpyBatchAsync_v12080>::value);

static_assert(sizeof(CopyAttributes) == sizeof(CUmemcpyAttributes));
static_assert(offsetof(CopyAttributes, source_order) ==
              offsetof(CUmemcpyAttributes, srcAccessOrder));
static_assert(offsetof(CopyAttributes, source) == offsetof(CUmemcpyAttributes, srcLocHint));
static_assert(offsetof(CopyAttributes, destination) == offsetof(CUmemcpyAttributes, dstLocHint));
static_assert(offsetof(CopyAttributes, flags) == offsetof(CUmemcpyAttributes, flags));

TEST(CudaAbi, NumbersAreTheVendors) {
  EXPECT_EQ(kSourceInStreamOrder, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
  EXPECT_EQ(kNonBlockingStream, CU_STREAM_NON_BLOCKING);
  EXPECT_EQ(kPortableRegistration, CU_MEMHOSTREGISTER_PORTABLE);
  EXPECT_EQ(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(kDeinitialized, CUDA_ERROR_DEINITIALIZED);
  EXPECT_EQ(kNoDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_EQ(kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
  EXPECT_EQ(kNotReady, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(kNotSupported, CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace kvroof::cuda
