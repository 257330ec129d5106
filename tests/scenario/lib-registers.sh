# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# lib-registers: sourced behind lib.sh by what tests watchpoints in both ways, by perf events and by ptrace(2).
by_registers() { [ "${DPROBES_WATCH:-}" = registers ]; }
