#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Builds and runs the test of the device families, which speaks TAP.
exec make -s -C "$(dirname "$0")" run
