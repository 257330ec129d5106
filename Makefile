# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Targets: all (default), demo, check, bench [BENCH=core], fuzz, stress, install, clean.
# Variables: CC, SAN=address,undefined, DESTDIR, PREFIX, V=1.

PREFIX ?= /usr/local
B ?= build
Q := $(if $(V),,@)

WARN := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wno-unused-parameter
INC := -Iinclude -Iport/user -Iport -I. -Iengine
OPT ?= -O2 -g
DEFS := -D_GNU_SOURCE
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
ALL_CFLAGS = -std=gnu11 $(OPT) $(WARN) $(INC) $(DEFS) $(SANFLAGS) -fvisibility=hidden -MMD -MP $(CFLAGS)
LIBS := -lZydis -llzma

# The hit half: freestanding, general registers only, position independent.
HIT_CFLAGS = -std=gnu11 -O2 -g $(WARN) $(INC) -ffreestanding -nostdlib -mgeneral-regs-only \
	-fPIE -fvisibility=hidden -fno-stack-protector -fno-asynchronous-unwind-tables \
	-fcf-protection=none -fno-builtin -mno-red-zone -Wframe-larger-than=192 -MMD -MP

CONTROL_SRC := $(wildcard lib/*.c engine/insn/*.c engine/insn/x86/*.c engine/control/*.c \
	port/user/*.c sym/*.c proc/*.c lang/*.c tracer/*.c) engine/vm/verify.c
VM_SRC := $(filter-out engine/vm/verify.c,$(wildcard engine/vm/*.c))
HIT_SRC := $(wildcard engine/hit/*.c engine/arch/x86/*.c engine/arch/x86/*.S agent/*.c) $(VM_SRC)
CLI_SRC := $(wildcard cli/*.c)

CONTROL_OBJ := $(CONTROL_SRC:%.c=$(B)/%.o) $(B)/agent/image.o
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
HIT_OBJ := $(patsubst %.S,$(B)/hit/%.o,$(patsubst %.c,$(B)/hit/%.o,$(HIT_SRC)))

all: $(B)/dprobes

# The agent: linked once, carried as data.
$(B)/agent/agent.elf: $(HIT_OBJ) agent/agent.ld
	@mkdir -p $(@D)
	$(Q)$(CC) -nostdlib -static -Wl,-T,agent/agent.ld -Wl,--build-id=none -Wl,-z,noexecstack \
		-Wl,--fatal-warnings -o $@ $(HIT_OBJ)

$(B)/agent/image.c: $(B)/agent/agent.elf tools/embed-agent
	$(Q)objcopy -O binary -j .text $< $(B)/agent/agent.bin
	$(Q)tools/embed-agent $< $(B)/agent/agent.bin > $@.tmp && mv $@.tmp $@

$(B)/agent/image.o: $(B)/agent/image.c
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/dprobes: $(CLI_OBJ) $(B)/libcore.a
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(CLI_OBJ) $(B)/libcore.a $(LIBS)

$(B)/libcore.a: $(CONTROL_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $(CONTROL_OBJ)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/hit/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(HIT_CFLAGS) -c -o $@ $<

$(B)/hit/%.o: %.S
	@mkdir -p $(@D)
	$(Q)$(CC) $(HIT_CFLAGS) -c -o $@ $<

# Tests. A unit test links the core; tests/unit/fixtures/X_*.c go into test_X.
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
VICTIM := $(patsubst tests/victims/%.c,$(B)/tests/victims/%,$(wildcard tests/victims/*.c)) \
	$(patsubst tests/victims/%.cc,$(B)/tests/victims/%,$(wildcard tests/victims/*.cc))
TOOL := $(patsubst tests/tools/%.c,$(B)/tests/tools/%,$(filter-out tests/tools/steps.c,$(wildcard tests/tools/*.c)))
SCENARIO := $(filter-out tests/scenario/lib.sh,$(wildcard tests/scenario/*.sh))

.SECONDEXPANSION:
$(B)/tests/unit/test_control $(B)/tests/unit/test_jump: $(B)/tests/unit/test_%: tests/unit/test_%.c $(B)/libcore.a $(wildcard port/fake/*.c)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -o $@ $< $(wildcard port/fake/*.c) $(B)/libcore.a $(LIBS) -lcmocka

# The machine, built as any program, so that the sanitizers see it.
$(B)/tests/unit/test_vm $(B)/tests/unit/test_expr: $(B)/tests/unit/test_%: tests/unit/test_%.c $(VM_SRC) $(B)/libcore.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -o $@ $< $(VM_SRC) $(B)/libcore.a $(LIBS) -lcmocka

$(B)/tests/unit/test_%: tests/unit/test_%.c $(B)/libcore.a $$(wildcard tests/unit/fixtures/$$*_*.c)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -o $@ $< $(wildcard tests/unit/fixtures/$*_*.c) $(B)/libcore.a $(LIBS) -lcmocka

$(B)/tests/tools/%: tests/tools/%.c $(B)/libcore.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(B)/libcore.a $(LIBS)

# The tool, ended at a chosen step of its protocols.
$(B)/tests/dprobes-steps: tests/tools/steps.c $(CLI_OBJ) $(B)/libcore.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(CLI_OBJ) $(B)/libcore.a $(LIBS)

$(B)/tests/victims/%: tests/victims/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -pthread -fexceptions $(WARN) -D_GNU_SOURCE -o $@ $< -lm

$(B)/tests/victims/%: tests/victims/%.cc
	@mkdir -p $(@D)
	$(Q)$(CXX) -O2 -g -pthread -o $@ $<

$(B)/tests/layers: tools/check-layers
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nif tools/check-layers $$(find cli tracer lang lib sym proc agent port engine include -name "*.[ch]"); then echo "ok 1 - every room includes what it may"; else echo "not ok 1 - every room includes what it may"; fi\necho 1..1\n' > $@
	@chmod +x $@

$(B)/tests/hit-half: tools/check-hit $(B)/agent/agent.elf
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec tools/check-hit $(B)/agent/agent.elf $(HIT_OBJ)\n' > $@
	@chmod +x $@

tests: all $(UNIT) $(VICTIM) $(TOOL) $(B)/tests/dprobes-steps $(B)/tests/layers $(B)/tests/hit-half

check: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)tests/run $(B)/tests/layers $(B)/tests/hit-half $(UNIT) $(SCENARIO)

check-unit: deps
	$(Q)$(MAKE) --no-print-directory $(UNIT)
	$(Q)tests/run $(UNIT)

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)DPROBES=$(B)/dprobes examples/demo.sh

# Long forms of what check does briefly.
stress: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)CYCLES=1000 TIMES=1000000 TOGGLES=200000 ROUNDS=1000 TEST_TIMEOUT=3600 tests/run \
		$(addprefix tests/scenario/,attach-cycles.sh harsh.sh jump.sh storm.sh blocked.sh)

FUZZ_SECONDS ?= 600
FUZZ := $(patsubst fuzz/%.c,$(B)/fuzz/%,$(wildcard fuzz/fuzz_*.c))
$(B)/fuzz/%: fuzz/%.c $(CONTROL_SRC)
	@mkdir -p $(@D)
	$(Q)clang -std=gnu11 -g -O1 $(INC) -Itests/unit $(DEFS) -fsanitize=fuzzer,address,undefined -o $@ $< \
		$(wildcard port/user/*.c) lib/diag.c engine/insn/x86/relocate.c engine/vm/verify.c $(VM_SRC) \
		$(wildcard sym/*.c lang/*.c) $(LIBS)

fuzz: DEPS_EXTRA = clang libclang-rt-14-dev
fuzz: deps
	$(Q)$(MAKE) --no-print-directory $(FUZZ)
	$(Q)for f in $(FUZZ); do mkdir -p $$f.corpus; $$f -max_total_time=$(FUZZ_SECONDS) $$f.corpus || exit 1; done

# Costs, ours and the peers', interleaved in one run. A peer's debugger puts its
# jumps near low addresses only, so the twins are no PIE.
$(B)/bench/victim: bench/victim.c bench/victim.h
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -pthread $(WARN) -I. -D_GNU_SOURCE -o $@ $<

$(B)/bench/twins: bench/twins.c bench/twins.h
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(WARN) -I. -D_GNU_SOURCE -fno-pie -no-pie -o $@ $<

$(B)/bench/twins-lttng: bench/twins_lttng.c bench/twins_lttng.h bench/twins.h
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(WARN) -I. -D_GNU_SOURCE -o $@ $< -llttng-ust -ldl

BENCH_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out bench/victim.c bench/twins%.c,$(wildcard bench/*.c)))
$(B)/bench/bench: $(BENCH_OBJ) $(B)/libcore.a
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(BENCH_OBJ) $(B)/libcore.a $(LIBS)

BENCH_PEERS := $(B)/bench/twins \
	$(if $(wildcard /usr/include/lttng/tracepoint.h /usr/include/*/lttng/tracepoint.h),$(B)/bench/twins-lttng)
bench-peers: $(BENCH_PEERS)

bench: DEPS_OPTIONAL = $(if $(filter core,$(BENCH)),,gdb gdbserver uftrace lttng-tools liblttng-ust-dev)
bench: deps
	$(Q)$(MAKE) -s --no-print-directory $(B)/bench/victim $(B)/bench/bench
	$(Q)$(if $(filter core,$(BENCH)),,$(MAKE) -sk --no-print-directory bench-peers || true)
	$(Q)$(B)/bench/bench $(BENCH) $(B)/bench/victim

install: all
	install -D -m 755 $(B)/dprobes $(DESTDIR)$(PREFIX)/bin/dprobes
	install -D -m 644 man/dprobes.1 $(DESTDIR)$(PREFIX)/share/man/man1/dprobes.1
	install -D -m 644 man/dprobes.lang.7 $(DESTDIR)$(PREFIX)/share/man/man7/dprobes.lang.7
	install -D -m 644 tools/completion/dprobes.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/dprobes

# What a build and its tests need from Debian; nothing when it is there already.
# A target may ask for more (DEPS_EXTRA), or for what it can do without (DEPS_OPTIONAL).
DEPS := gcc g++ make binutils libc6-dev libzydis-dev liblzma-dev libcmocka-dev \
	git python3 sqlite3 xz-utils procps util-linux
deps:
	$(Q)tools/install-deps $(DEPS) $(DEPS_EXTRA)
	$(Q)$(if $(DEPS_OPTIONAL),tools/install-deps --optional $(DEPS_OPTIONAL))

clean:
	rm -rf $(B)

-include $(shell find $(B) -name '*.d' 2>/dev/null)

.PHONY: all bench bench-peers tests check check-unit deps clean demo install fuzz stress
