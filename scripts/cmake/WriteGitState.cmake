# SPDX-License-Identifier: Apache-2.0
# Run at build time with SOURCE_DIR and OUTPUT: writes the checked-out commit as a header.
cmake_minimum_required(VERSION 3.25)
set(commit unknown)
set(dirty false)
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE_DIR} rev-parse HEAD
                  OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${head})
    execute_process(COMMAND ${git} -C ${SOURCE_DIR} status --porcelain --untracked-files=no
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(NOT "${changes}" STREQUAL "")
      set(dirty true)
    endif()
  endif()
endif()
set(text "// SPDX-License-Identifier: Apache-2.0
// Written by scripts/cmake/WriteGitState.cmake at every build.
#pragma once
#define KVROOF_GIT_COMMIT \"${commit}\"
#define KVROOF_GIT_DIRTY ${dirty}
")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${text}")
