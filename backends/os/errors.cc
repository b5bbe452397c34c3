// SPDX-License-Identifier: Apache-2.0
#include "backends/os/errors.h"

#include <cerrno>
#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace kvroof::os {
namespace {

Code code_of(int error) {
  switch (error) {
    case ENOMEM:
    case EAGAIN:
      return Code::no_memory;
    case EINVAL:
      return Code::invalid;
    case ENOSYS:
    case EOPNOTSUPP:
      return Code::unsupported;
    default:
      return Code::failed;
  }
}

}  // namespace

Status from_errno(int error, std::string_view doing) {
  return {code_of(error), std::string(doing) + ": " + std::generic_category().message(error)};
}

Status from_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {Code::no_memory, "out of host memory"};
  } catch (const std::system_error& error) {
    return from_errno(error.code().value(), "a system call");
  } catch (const std::exception& error) {
    return {Code::failed, error.what()};
  } catch (...) {
    return {Code::failed, "an exception of an unknown type"};
  }
}

}  // namespace kvroof::os
