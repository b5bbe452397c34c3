# SPDX-License-Identifier: Apache-2.0
# Three helpers, so that a folder's CMakeLists.txt reads as a list of its parts.

# kvroof_add_library(NAME SOURCES a.cc ... [DEPS ...]): a static library kvroof_NAME.
function(kvroof_add_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(kvroof_${name} STATIC ${arg_SOURCES})
  target_link_libraries(kvroof_${name} PUBLIC kvroof_flags ${arg_DEPS})
endfunction()

add_custom_target(kvroof_unit_tests)
add_custom_target(kvroof_tsan_tests)

# kvroof_add_test(NAME SOURCES a_test.cc ... [DEPS ...] [LABELS ...]): a GoogleTest binary NAME_test.
# Label `tsan`: part of the ThreadSanitizer run. `foreign-threads`: links a library whose own
# threads (oneDNN's OpenMP) the sanitizers can't follow. `foreign-memory`: links one that keeps memory
# until the end, as those do too: leaks are not looked for.
# `once` (set by other folders): not C++ of ours, so the sanitizers leave it out.
function(kvroof_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name}_test ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE kvroof_flags ${arg_DEPS} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 600)
  add_dependencies(kvroof_unit_tests ${name}_test)
  if("foreign-threads" IN_LIST arg_LABELS OR "foreign-memory" IN_LIST arg_LABELS)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
  endif()
  if("tsan" IN_LIST arg_LABELS)
    add_dependencies(kvroof_tsan_tests ${name}_test)
  endif()
endfunction()

# kvroof_add_bench(NAME SOURCES a_bench.cc ... [DEPS ...]): a Google Benchmark binary NAME_bench.
function(kvroof_add_bench name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name}_bench ${arg_SOURCES})
  target_link_libraries(${name}_bench PRIVATE kvroof_flags ${arg_DEPS} benchmark::benchmark)
endfunction()
