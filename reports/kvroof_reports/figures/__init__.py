# SPDX-License-Identifier: Apache-2.0
"""One figure, one file: each takes typed rows and returns a matplotlib Figure."""
