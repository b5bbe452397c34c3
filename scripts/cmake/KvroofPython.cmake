# SPDX-License-Identifier: Apache-2.0
# kvroof_find_python(VARIABLE MODULE): the first interpreter that imports MODULE, in the order in
# which `kvroof report` looks for one; empty where none does.
find_package(Python3 COMPONENTS Interpreter)
function(kvroof_find_python variable module)
  set(${variable} "" PARENT_SCOPE)
  foreach(candidate ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/.venv/bin/python python3 /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import ${module}" RESULT_VARIABLE failed
                    OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
      set(${variable} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# kvroof_add_python_test(NAME MODULE PACKAGE WORKING_DIRECTORY dir COMMAND arguments...): arguments to
# an interpreter that imports MODULE; a test that skips, and names PACKAGE, where there is none.
function(kvroof_add_python_test name module package)
  cmake_parse_arguments(arg "" "WORKING_DIRECTORY" "COMMAND" ${ARGN})
  kvroof_find_python(python ${module})
  if(python)
    add_test(NAME ${name} COMMAND ${python} ${arg_COMMAND} WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
  else()
    add_test(NAME ${name}
             COMMAND ${CMAKE_COMMAND} -E echo "SKIP: no Python here imports ${module}; install ${package}")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS once SKIP_REGULAR_EXPRESSION "^SKIP:"
                       ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endfunction()
