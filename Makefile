# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Targets: all (default), demo, check, bench, fuzz, stress, install, clean.
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
LIBS := -lZydis -lelf -ldw -llzma

# The hit half: freestanding, general registers only, position independent.
HIT_CFLAGS = -std=gnu11 -O2 -g $(WARN) $(INC) -ffreestanding -nostdlib -mgeneral-regs-only \
	-fPIE -fvisibility=hidden -fno-stack-protector -fno-asynchronous-unwind-tables \
	-fcf-protection=none -fno-builtin -mno-red-zone -Wframe-larger-than=192 -MMD -MP

CONTROL_SRC := $(wildcard lib/*.c engine/insn/*.c engine/insn/x86/*.c engine/control/*.c \
	port/user/*.c sym/*.c proc/*.c tracer/*.c)
HIT_SRC := $(wildcard engine/hit/*.c engine/arch/x86/*.c engine/arch/x86/*.S agent/*.c)
CLI_SRC := $(wildcard cli/*.c)

CONTROL_OBJ := $(CONTROL_SRC:%.c=$(B)/%.o) $(B)/agent/image.o
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
HIT_OBJ := $(patsubst %.S,$(B)/hit/%.o,$(patsubst %.c,$(B)/hit/%.o,$(HIT_SRC)))

all: $(B)/dprobes

# The agent: linked once, carried as data.
$(B)/agent/agent.elf: $(HIT_OBJ) agent/agent.ld
	@mkdir -p $(@D)
	$(Q)$(CC) -nostdlib -static -no-pie -Wl,-T,agent/agent.ld -Wl,--build-id=none -Wl,-z,noexecstack \
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
