# SPDX-License-Identifier: Apache-2.0
"""Reports of kvroof: reads result files and published points, and nothing else of the project."""
