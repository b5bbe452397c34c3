# SPDX-License-Identifier: Apache-2.0
# Build options, and the two interface targets that every kvroof target links: warnings, sanitizers.
option(KVROOF_WERROR "Treat warnings as errors" OFF)
set(KVROOF_SANITIZE "" CACHE STRING "Comma-separated sanitizers: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# -O2: what is hot says so itself (kernels are compiled with -O3 an instruction set).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# For the sanitizers: line tables, and half the time to compile.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")

add_library(kvroof_flags INTERFACE)
target_compile_options(kvroof_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion)
# gcc 12's -Wrestrict misfires on "literal" + std::string (GCC bug 105651).
target_compile_options(kvroof_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(KVROOF_WERROR)
  target_compile_options(kvroof_flags INTERFACE -Werror)
endif()
if(KVROOF_SANITIZE)
  target_compile_options(kvroof_flags INTERFACE -fsanitize=${KVROOF_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(kvroof_flags INTERFACE -fsanitize=${KVROOF_SANITIZE})
endif()
target_include_directories(kvroof_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
