#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# All of watch-programs.sh without perf events: debug registers that the tool sets by ptrace(2).
export DPROBES_WATCH=registers
. tests/scenario/watch-programs.sh
