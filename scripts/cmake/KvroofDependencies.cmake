# SPDX-License-Identifier: Apache-2.0
# Libraries from the distribution; scripts/install-packages.sh installs them on Debian.
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(OpenMP REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(numa REQUIRED IMPORTED_TARGET numa)
pkg_check_modules(uring REQUIRED IMPORTED_TARGET liburing)

# Debian's dnnl-config.cmake asks for OpenCL headers, which CPU use never needs: find it directly.
find_library(KVROOF_DNNL_LIBRARY dnnl REQUIRED)
find_path(KVROOF_DNNL_INCLUDE_DIR dnnl.hpp REQUIRED)
add_library(kvroof_dnnl INTERFACE)
target_link_libraries(kvroof_dnnl INTERFACE ${KVROOF_DNNL_LIBRARY})
target_include_directories(kvroof_dnnl SYSTEM INTERFACE ${KVROOF_DNNL_INCLUDE_DIR})
