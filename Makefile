# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Targets: all (default), demo, check [T=PATTERN], check-long, check-matrix, check-san, check-tsan, check-victims, check-kernel, check-kernel-long, check-kernel-n, check-kernel-lockdep, check-kernel-gdb, check-kernel-6.12, bench-kernel, check-watch [T=PATTERN], mutants [FILE=…], bench [BENCH=core|NAME], fuzz, stress, install, uninstall, deb, clean.
# Variables: CC, SAN=address,undefined, DESTDIR, PREFIX, LIBDIR, V=1.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
B ?= build
Q := $(if $(V),,@)

WARN := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wno-unused-parameter
INC := -Iinclude -Iport/user -Iport -I. -Iengine
OPT ?= -O2 -g
DEFS := -D_GNU_SOURCE
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
ALL_CFLAGS = -std=gnu11 $(OPT) $(WARN) $(INC) $(DEFS) $(SANFLAGS) -fPIC -fvisibility=hidden -MMD -MP $(CFLAGS)
LIBS := -lZydis

# gcc clears and copies even a few words by string instructions, which begin slowly.
SHORT := unrolled_loop:256:noalign,rep_8byte:-1:noalign
SHORT_CFLAGS := $(shell $(CC) -mmemset-strategy=$(SHORT) -fsyntax-only -x c /dev/null 2>/dev/null && \
	echo -mmemset-strategy=$(SHORT) -mmemcpy-strategy=$(SHORT))
# The hit half: freestanding, general registers only, position independent. The limit of frames is for gcc: clang puts more into one.
HIT_CFLAGS = -std=gnu11 -O2 -g $(WARN) $(INC) -DDP_AGENT -ffreestanding -nostdlib -mgeneral-regs-only \
	-fPIE -fvisibility=hidden -fno-stack-protector -fasynchronous-unwind-tables \
	-fcf-protection=none -fno-builtin -mno-red-zone -Wframe-larger-than=192 -MMD -MP $(SHORT_CFLAGS) $(filter -W%,$(CFLAGS)) \
	$(if $(findstring clang,$(CC)),-Wno-error=frame-larger-than)

# Of the processor's files those that hits run; the others are for control.
ARCH_HIT_SRC := $(addprefix arch/x86/,offsets.c simulate.c)
# Of programs, too.
VM_CONTROL_SRC := engine/vm/verify.c engine/vm/decode.c
ENGINE_SRC := $(wildcard engine/insn/*.c engine/site/*.c engine/plan/*.c engine/text/*.c engine/hook/*.c engine/vm/native/*.c arch/x86/native/*.c) \
	$(filter-out $(ARCH_HIT_SRC),$(wildcard arch/x86/*.c))
CONTROL_SRC := $(ENGINE_SRC) $(wildcard port/user/*.c sym/*/*.c proc/*/*.c lang/*.c lang/*/*.c resolve/*.c tracer/*.c tracer/*/*.c) $(VM_CONTROL_SRC) lib/diag.c lib/escape.c
VM_SRC := $(filter-out $(VM_CONTROL_SRC),$(wildcard engine/vm/*.c))
# A process has no stubs for calls that programs follow: port/port.h
HIT_SRC := $(filter-out engine/instance/stubbed.c,$(wildcard engine/hit/*.c engine/instance/*.c engine/ring/*.c port/user/signals/*.c \
	arch/x86/*.S agent/*.c)) $(ARCH_HIT_SRC) $(VM_SRC)
CLI_SRC := $(wildcard cli/*.c)
LIB_SRC := $(filter-out lib/diag.c lib/escape.c,$(wildcard lib/*.c))

CONTROL_OBJ := $(CONTROL_SRC:%.c=$(B)/%.o) $(B)/agent/image.o
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
LIB_OBJ = $(LIB_SRC:%.c=$(B)/%.o) $(B)/lib/x86/stubs.o $(B)/lib/helper/image.o $(COMPAT_OBJ)
HIT_OBJ := $(patsubst %.S,$(B)/hit/%.o,$(patsubst %.c,$(B)/hit/%.o,$(HIT_SRC)))

# What probe modules call. All but what loads them runs in handlers: general
# registers only, and no call of libc, not even one that the compiler thinks of.
# The readers of ELF files and unwind tables are those of the control half, built so.
COMPAT_SRC := $(wildcard lib/compat/*.c)
READER_SRC := sym/unwind/cursor.c sym/unwind/eh.c sym/unwind/cfi.c sym/unwind/expr.c sym/elf/headers.c
READER_OBJ := $(READER_SRC:%.c=$(B)/free/%.o)
COMPAT_FREE := $(filter-out %/module.o %/check.o %/exports.o,$(COMPAT_SRC:%.c=$(B)/%.o))
COMPAT_OBJ := $(COMPAT_SRC:%.c=$(B)/%.o) $(READER_OBJ)
COMPAT_INC := -Iinclude/compat
COMPAT_CFLAGS := -ffreestanding -fasynchronous-unwind-tables -mgeneral-regs-only -fno-stack-protector -fcf-protection=none \
	$(if $(SAN),,-Wframe-larger-than=2048)
COMPAT_NAMES := $(foreach f,memcpy memmove memset memcmp,--redefine-sym $(f)=dp_compat_$(f))

all: $(B)/dprobes $(B)/libdprobes.so.1 $(B)/libdprobes.a modules

# The agent: linked once, carried as data.
$(B)/agent/agent.elf: $(HIT_OBJ) agent/agent.ld
	@mkdir -p $(@D)
	$(Q)$(CC) -nostdlib -static -Wl,-T,agent/agent.ld -Wl,--build-id=none -Wl,-z,noexecstack \
		-Wl,--fatal-warnings -o $@ $(HIT_OBJ)

$(B)/agent/image.c: $(B)/agent/agent.elf tools/embed-agent
	$(Q)objcopy -O binary -j .text $< $(B)/agent/agent.bin
	$(Q)objcopy -O binary -j .eh_frame $< $(B)/agent/frames.bin
	$(Q)tools/embed-agent $< $(B)/agent/agent.bin $(B)/agent/frames.bin > $@.tmp && mv $@.tmp $@

$(B)/agent/image.o: $(B)/agent/image.c
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/dprobes: $(CLI_OBJ) $(B)/libcore.a
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(CLI_OBJ) $(B)/libcore.a $(LIBS) -liberty

# The library, and the program that it carries to prepare its process.
$(B)/lib/helper/helper: $(B)/lib/helper/main.o $(B)/libcore.a
	$(Q)$(CC) $(ALL_CFLAGS) -s -o $@ $^ $(LIBS)

$(B)/lib/helper/image.o: lib/helper/image.S $(B)/lib/helper/helper
	$(Q)$(CC) -fPIC -DDP_HELPER_FILE='"$(B)/lib/helper/helper"' -c -o $@ $<

$(B)/lib/x86/%.o: lib/x86/%.S
	@mkdir -p $(@D)
	$(Q)$(CC) -fPIC $(INC) -c -o $@ $<

# It runs in threads that no libc knows.
$(B)/lib/register_child.o: private ALL_CFLAGS += -mgeneral-regs-only -fno-stack-protector -fno-sanitize=all

# liblzma, which the command loads when it needs it, is there from the start: a program that
# probes itself is not to see it come and go.
$(B)/libdprobes.so.1: $(LIB_OBJ) $(B)/libcore.a lib/dprobes.map
	$(Q)$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libdprobes.so.1 -Wl,--version-script,lib/dprobes.map \
		-Wl,-z,defs -Wl,-z,nodelete -o $@ $(LIB_OBJ) $(B)/libcore.a $(LIBS) -Wl,--no-as-needed -llzma
	$(Q)ln -sf libdprobes.so.1 $(B)/libdprobes.so

$(B)/libdprobes.a: $(LIB_OBJ) $(B)/libcore.a
	$(Q)rm -f $@ && printf 'create $@\naddlib $(B)/libcore.a\n%s\nsave\nend\n' \
		"$$(for o in $(LIB_OBJ); do echo addmod $$o; done)" | ar -M

$(B)/libcore.a: $(CONTROL_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $(CONTROL_OBJ)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Where the tables of prototypes are when the tool is not beside them.
$(B)/sym/prototypes/search.o $(B)/fuzz/obj/sym/prototypes/search.o: DEFS += -DDP_PREFIX='"$(PREFIX)"'

$(COMPAT_FREE): $(B)/lib/compat/%.o: lib/compat/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(COMPAT_INC) $(COMPAT_CFLAGS) -c -o $@ $<
	$(Q)objcopy $(COMPAT_NAMES) $@

$(READER_OBJ): $(B)/free/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(COMPAT_CFLAGS) -c -o $@ $<
	$(Q)objcopy $(COMPAT_NAMES) $@

$(B)/lib/compat/%.o: lib/compat/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(COMPAT_INC) -fvisibility=default -c -o $@ $<

# The one command that makes a module, as it is before there is an installation.
MODULE_CFLAGS := -Iinclude/compat -Iinclude -fvisibility=hidden -D__KERNEL__ -DMODULE
EXAMPLE_MODULE := $(patsubst examples/modules/%.c,$(B)/examples/modules/%.so,$(wildcard examples/modules/*.c))
$(B)/examples/modules/%.so: examples/modules/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -fPIC -O2 -Wall $(MODULE_CFLAGS) -MMD -MP -MF $(@:.so=.d) -o $@ $<

$(B)/tests/modules/%.so: tests/modules/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -fPIC -O2 -Wall $(MODULE_CFLAGS) -MMD -MP -MF $(@:.so=.d) -o $@ $<
modules: $(EXAMPLE_MODULE)

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
TORTURE_NAMES := $(patsubst tests/victims/torture/%,%,$(basename $(wildcard tests/victims/torture/*.c tests/victims/torture/*.cc)))
TORTURE := $(foreach o,O0 O2 low,$(TORTURE_NAMES:%=$(B)/tests/victims/torture/%-$o))
TOOL := $(patsubst tests/tools/%.c,$(B)/tests/tools/%,$(filter-out tests/tools/kill_points.c tests/tools/follow-all.c,$(wildcard tests/tools/*.c)))
SELF := $(patsubst tests/self/%.c,$(B)/tests/self/%,$(wildcard tests/self/*.c)) \
	$(patsubst tests/self/%.cc,$(B)/tests/self/%,$(wildcard tests/self/*.cc)) \
	$(addprefix $(B)/tests/self/,overlap-low jumps-low)
SCENARIO := $(filter-out tests/scenario/lib%.sh,$(wildcard tests/scenario/*.sh))

.SECONDEXPANSION:
$(B)/tests/unit/test_adopt $(B)/tests/unit/test_move $(B)/tests/unit/test_control $(B)/tests/unit/test_enable $(B)/tests/unit/test_exchange $(B)/tests/unit/test_fork $(B)/tests/unit/test_gone $(B)/tests/unit/test_group $(B)/tests/unit/test_inside $(B)/tests/unit/test_instances $(B)/tests/unit/test_jump $(B)/tests/unit/test_jump_group $(B)/tests/unit/test_jump_text $(B)/tests/unit/test_late $(B)/tests/unit/test_live $(B)/tests/unit/test_native_plan $(B)/tests/unit/test_stream: $(B)/tests/unit/test_%: tests/unit/test_%.c $(B)/libcore.a $(wildcard port/fake/*.c)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -o $@ $< $(wildcard port/fake/*.c) $(B)/libcore.a $(LIBS) -lcmocka

# The machine, built as any program, so that the sanitizers see it; what it writes may be bounded.
$(B)/tests/unit/test_vm $(B)/tests/unit/test_vm_ops $(B)/tests/unit/test_vectors $(B)/tests/unit/test_expr $(B)/tests/unit/test_values $(B)/tests/unit/test_printers $(B)/tests/unit/test_native: $(B)/tests/unit/test_%: tests/unit/test_%.c $(VM_SRC) $(B)/libcore.a
	@mkdir -p $(@D)
	$(Q)$(CC) -Itests/unit/bounded $(ALL_CFLAGS) -Itests/unit -o $@ $< $(VM_SRC) $(B)/libcore.a $(LIBS) -lcmocka

# Walks of stacks, built as any program, too.
WALK_SRC := engine/hit/backtrace.c engine/hit/generated.c engine/hit/known.c
$(B)/tests/unit/test_backtrace $(B)/tests/unit/test_generated: $(B)/tests/unit/%: tests/unit/%.c tests/unit/backtrace_world.h $(WALK_SRC) $(B)/libcore.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -o $@ $< $(WALK_SRC) $(B)/libcore.a $(LIBS) -lcmocka

# The whole hit half on a world in memory (port/fake/hit), built as for the agent otherwise.
FAKE_OBJ := $(patsubst %.S,$(B)/fake/%.o,$(patsubst %.c,$(B)/fake/%.o,$(HIT_SRC) engine/instance/stubbed.c))
FAKE_WORLD := $(patsubst %.c,$(B)/fake/%.o,$(wildcard port/fake/hit/*.c))
FAKE_DEFS := -DDP_AGENT -DDP_PORT_FAKE
$(FAKE_WORLD): $(B)/fake/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(FAKE_DEFS) -c -o $@ $<

$(B)/fake/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(HIT_CFLAGS) -DDP_PORT_FAKE -c -o $@ $<

$(B)/fake/%.o: %.S
	@mkdir -p $(@D)
	$(Q)$(CC) $(HIT_CFLAGS) -DDP_PORT_FAKE -c -o $@ $<

FAKE_UNIT := $(patsubst %,$(B)/tests/unit/test_%,action upcall call counted_calls completes dispatch fault instance intercept landing leave left log marks mask retprobe stack stubbed stubs trap exit_instance exit_unwind vm_child wait wait_beside)
$(FAKE_UNIT): $(B)/tests/unit/test_%: tests/unit/test_%.c $(FAKE_OBJ) $(FAKE_WORLD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(FAKE_DEFS) -o $@ $< $(FAKE_OBJ) $(FAKE_WORLD) $(FAKE_MORE) -lcmocka
# It encodes detours.
$(B)/tests/unit/test_counted_calls: FAKE_MORE := $(B)/libcore.a -lZydis
$(B)/tests/unit/test_counted_calls: $(B)/libcore.a

# The library's own objects.
LIB_UNIT := $(patsubst %,$(B)/tests/unit/test_%,enter follow foreign frames guest guest_program handler helper hook_order hook_run injected kretprobe library module serve service settle uprobe uretprobe)
$(LIB_UNIT): $(B)/tests/unit/test_%: tests/unit/test_%.c $(LIB_OBJ) $(B)/libcore.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(LIB_OBJ) $(B)/libcore.a $(LIBS) -lcmocka

# It loads modules, which find what they call in it.
TEST_MODULE := $(patsubst tests/modules/%.c,$(B)/tests/modules/%.so,$(wildcard tests/modules/*.c))
$(B)/tests/unit/test_compat $(B)/tests/unit/test_compat_format $(B)/tests/unit/test_compat_memory $(B)/tests/unit/test_compat_module $(B)/tests/unit/test_compat_text $(B)/tests/unit/test_modules $(B)/tests/unit/test_traces: $(B)/tests/unit/%: tests/unit/%.c tests/unit/compat_oracle.c $(COMPAT_OBJ) $(B)/libcore.a $(TEST_MODULE) $(EXAMPLE_MODULE)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(COMPAT_INC) -DDP_MODULES='"$(B)/tests/modules/"' -fvisibility=default -rdynamic \
		-o $@ $< tests/unit/compat_oracle.c $(COMPAT_OBJ) $(B)/libcore.a -lcmocka

$(B)/tests/unit/test_%: tests/unit/test_%.c $(B)/libcore.a $$(wildcard tests/unit/fixtures/$$*_*.c)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -o $@ $< $(wildcard tests/unit/fixtures/$*_*.c) $(B)/libcore.a $(LIBS) -lcmocka

# With the command's readers of names.
$(B)/tests/unit/test_demangle: $(B)/cli/demangle.o
$(B)/tests/unit/test_demangle: private LIBS += $(B)/cli/demangle.o -liberty
$(B)/tests/unit/test_lang_memory: LIBS += $(patsubst %,-Xlinker --wrap=%,malloc calloc realloc reallocarray strdup strndup free)
# Not for the helper, which is linked for these, too.
$(B)/tests/unit/test_foreign: private LIBS += $(patsubst %,-Xlinker --wrap=dp_%,child_run attach_other_begin attach_other_end process_target engine_disturbed engine_cede engine_sites process_attach_other process_detach process_engine live_upcalls serve_begin serve_end process_hold_asking process_poll clients_lose process_abandon process_filter_installed live_switch_off live_remove live_forget)
$(B)/tests/unit/test_helper: private LIBS += -Xlinker --wrap=dp_text_read -Xlinker --wrap=prctl
# It is V8 and an unwinder, which are looked up.
$(B)/tests/unit/test_frames: private LIBS += $(patsubst %,-Xlinker --export-dynamic-symbol=%,_ZN2v82V832SetReturnAddressLocationResolverEPFmmE _Unwind_*)
$(B)/tests/unit/test_injected: private LIBS += $(patsubst %,-Xlinker --wrap=dp_%,attach_other_map attach_other_protect engine_arena live_own) -Xlinker --wrap=free
$(B)/tests/unit/test_kretprobe: private LIBS += $(patsubst %,-Xlinker --wrap=dp_%,self_begin self_end probes_register)
$(B)/tests/unit/test_serve: private LIBS += $(patsubst %,-Xlinker --wrap=dp_%,attach_other_pidfd attach_other_base process_mem process_thread process_installs_filter foreign_look foreign_cede foreign_put foreign_filter_install client_put)
$(B)/tests/unit/test_service: private LIBS += -Xlinker --wrap=dp_compat_refs
$(B)/tests/unit/test_settle: private LIBS += -Xlinker --wrap=dp_helper_run
$(B)/tests/unit/test_uprobe: private LIBS += $(patsubst %,-Xlinker --wrap=dp_%,foreign_get foreign_add foreign_remove foreign_retire foreign_tidy tracked_gone)
$(B)/tests/unit/test_uretprobe: private LIBS += $(patsubst %,-Xlinker --wrap=dp_%,uprobes_add_tracked tracked_any uprobes_drop)
# Libraries that a unit test loads: tests/unit/fixtures/so/X_*.c, for test_X.
$(B)/tests/unit/lib%.so: tests/unit/fixtures/so/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARN) -fPIC -shared -Wl,-soname,lib$*.so -o $@ $<
$(B)/tests/unit/test_symbol: | $(B)/tests/unit/libsymbol_one.so $(B)/tests/unit/libsymbol_two.so

$(B)/tests/tools/%: tests/tools/%.c $(B)/libcore.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(B)/libcore.a $(LIBS)

$(B)/tests/tools/facility $(B)/tests/tools/upcount $(B)/tests/tools/upreload: $(B)/tests/tools/%: tests/tools/%.c $(B)/libdprobes.so.1
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(WARN) -Iinclude -D_GNU_SOURCE -o $@ $< -L$(B) -l:libdprobes.so.1 -Wl,-rpath,'$$ORIGIN/../..'

# A copy with the set-user-ID bit is to find the library, too.
$(B)/tests/tools/secure: tests/tools/secure.c $(B)/libdprobes.so.1
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(WARN) -Iinclude -D_GNU_SOURCE -o $@ $< -L$(B) -l:libdprobes.so.1 -Wl,-rpath,'$(abspath $(B))'

# The tool, ended at a chosen step of its protocols.
$(B)/tests/dprobes-kill-points: tests/tools/kill_points.c $(CLI_OBJ) $(B)/libcore.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(CLI_OBJ) $(B)/libcore.a $(LIBS) -liberty

$(B)/tests/victims/%: tests/victims/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -pthread -fexceptions $(WARN) -D_GNU_SOURCE $(VICTIM_FLAGS) -o $@ $< -lm

$(B)/tests/victims/%: tests/victims/%.cc
	@mkdir -p $(@D)
	$(Q)$(CXX) -O2 -g -pthread -Iinclude -MMD -MP -o $@ $<

# The same programs of other kinds: linked statically, and with another libc, which
# does not have the kernel's headers.
KINDS := static static-pie musl musl-static
KIND_NAMES := blocked busy calls faults forker remains sandbox
KIND := $(foreach k,$(KINDS),$(KIND_NAMES:%=$(B)/tests/victims/$k/%))
KIND_static := $(CC) -static
KIND_static-pie := $(CC) -static-pie -fPIE
KIND_musl := musl-gcc -idirafter /usr/include -idirafter /usr/include/$(shell $(CC) -print-multiarch)
KIND_musl-static := $(KIND_musl) -static

# At a low address, where breakpoints in jumps are other ones (engine/plan/island.c).
LOW_NAMES := blocked busy calls dense forker intercepted millions own-trap returns sleepers storm thrower transparent vforks
LOW := $(LOW_NAMES:%=$(B)/tests/victims/low/%)
LOW_FLAGS := -no-pie -fno-pie
$(B)/tests/victims/low/%: tests/victims/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -pthread -fexceptions $(LOW_FLAGS) $(WARN) -D_GNU_SOURCE -o $@ $< -lm

$(B)/tests/victims/low/%: tests/victims/%.cc
	@mkdir -p $(@D)
	$(Q)$(CXX) -O2 -g -pthread $(LOW_FLAGS) -o $@ $<

$(B)/tests/victims/dense $(B)/tests/victims/low/dense: tests/victims/dense.h
$(B)/tests/victims/limits $(B)/tests/self/limits: tests/victims/limited.h

# And one without any.
$(B)/tests/victims/bare/bare: tests/victims/bare/bare.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -static -nostdlib -ffreestanding -fno-stack-protector $(WARN) -o $@ $<

# The kernel maps it below the stack, and nothing below it.
$(B)/tests/victims/bare/pie: tests/victims/bare/bare.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -static-pie -fPIE -nostdlib -ffreestanding -fno-stack-protector $(WARN) -o $@ $<

define kind
$$(B)/tests/victims/$(1)/%: tests/victims/%.c
	@mkdir -p $$(@D)
	$$(Q)$$(KIND_$(1)) -O2 -g -pthread -fexceptions $$(WARN) -D_GNU_SOURCE -o $$@ $$< -lm
endef
$(foreach k,$(KINDS),$(eval $(call kind,$k)))

# One for each way out of a function, plainly compiled and optimised. They go
# through their exported names to say who called them.
TORTURE_FLAGS := -g -pthread -Wall -Wextra -Wno-unused-parameter -D_GNU_SOURCE -rdynamic
$(B)/tests/victims/torture/backtraces-%: TORTURE_LIBS := -lgcc_s -lunwind
define torture
$$(B)/tests/victims/torture/%-$(1): tests/victims/torture/%.c tests/victims/torture/torture.h
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $(2) -fexceptions -Wno-infinite-recursion $$(TORTURE_FLAGS) -o $$@ $$< $$(TORTURE_LIBS)

$$(B)/tests/victims/torture/%-$(1): tests/victims/torture/%.cc tests/victims/torture/torture.h
	@mkdir -p $$(@D)
	$$(Q)$$(CXX) $(2) -Wno-infinite-recursion -Wno-terminate $$(TORTURE_FLAGS) -o $$@ $$<
endef
$(foreach o,O0 O2,$(eval $(call torture,$o,-$o)))
$(eval $(call torture,low,-O2 $(LOW_FLAGS)))

# Preloaded into a program, it follows all that the program calls.
$(B)/tests/follow-all.so: tests/tools/follow-all.c $(B)/libdprobes.so.1
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(WARN) -Iinclude $(DEFS) -fPIC -fvisibility=hidden -shared -o $@ $< \
		-L$(B) -l:libdprobes.so.1 '-Wl,-rpath,$$ORIGIN/..'

# Programs that probe themselves; libraries that they load: tests/self/so/*.c.
SELF_FLAGS = -O2 -g -pthread $(WARN) -Iinclude -I. -D_GNU_SOURCE $(SANFLAGS)
SELF_LIBS = -L$(B) -l:libdprobes.so.1 '-Wl,-rpath,$$ORIGIN/../..' -lZydis -lm -ldl
$(B)/tests/self/%: tests/self/%.c $(B)/libdprobes.so.1 $(wildcard tests/self/*.h) tests/victims/storm.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_FLAGS) -o $@ $< $(SELF_LIBS)

$(B)/tests/self/%: tests/self/%.cc $(B)/libdprobes.so.1 tests/self/tap.h
	@mkdir -p $(@D)
	$(Q)$(CXX) $(filter-out -Wmissing-prototypes -Wstrict-prototypes,$(SELF_FLAGS)) -o $@ $< $(SELF_LIBS)

# At a low address
$(B)/tests/self/%-low: tests/self/%.c $(B)/libdprobes.so.1 $(wildcard tests/self/*.h) tests/victims/storm.c tests/victims/dense.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_FLAGS) $(LOW_FLAGS) -o $@ $< $(SELF_LIBS)

$(B)/tests/self/lib%.so: tests/self/so/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARN) -Iinclude -fPIC -shared -Wl,-soname,lib$*.so -o $@ $<

# They write to what is shared by its layout.
$(B)/tests/self/uprobes-evil: SELF_FLAGS += -Iport/user -Iport -Iengine
$(B)/tests/victims/hostile: VICTIM_FLAGS += -I. -Iport/user -Iport -Iengine

# With hooks of its own
$(B)/tests/self/libhooks.so: tests/self/so/hooks.c tests/self/hooks.h $(wildcard include/dprobes/*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARN) -Iinclude -I. -fPIC -shared -Wl,-soname,libhooks.so -o $@ $<
$(B)/tests/self/hooks: | $(B)/tests/self/libhooks.so
$(B)/tests/self/hooks: private SELF_LIBS += -rdynamic

$(B)/tests/self/processes $(B)/tests/self/gone: | $(B)/tests/self/libself_one.so $(B)/tests/self/libself_two.so

$(B)/tests/layers: tools/check-layers $(B)/dprobes $(B)/libdprobes.so.1
	@mkdir -p $(@D)
	@nm -A $(CONTROL_OBJ) $(CLI_OBJ) $(LIB_OBJ) >$(B)/tests/control.nm
	@nm -A $(HIT_OBJ) >$(B)/tests/hit.nm
	@printf '%s\n' '#!/bin/sh' 'for half in control hit; do' \
		'files=$$(find cli tracer lang lib resolve sym proc agent port kmod engine arch include examples/modules -name "*.[ch]")' \
		'tools/check-layers $$files $(B)/tests/$$half.nm >&2 || exec echo "not ok 1 - every room includes and uses what it may"' \
		done 'echo "ok 1 - every room includes and uses what it may"' 'echo 1..1' >$@
	@chmod +x $@

# Of what nm has said for the layers.
$(B)/tests/circles: tools/check-circles $(B)/tests/layers
	@printf '%s\n' '#!/bin/sh' 'for half in control hit; do' \
		'tools/check-circles $(B)/tests/$$half.nm >&2 || exec echo "not ok 1 - files can be read without more than four others"' \
		done 'echo "ok 1 - files can be read without more than four others"' 'echo 1..1' >$@
	@chmod +x $@

$(B)/tests/hit-half: tools/check-hit $(B)/agent/agent.elf
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec tools/check-hit $(B)/agent/agent.elf $(HIT_OBJ)\n' > $@
	@chmod +x $@

$(B)/tests/bare: tools/check-bare
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec tools/check-bare $(CC)\n' > $@
	@chmod +x $@

$(B)/tests/format: tools/check-format
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec tools/check-format\n' > $@
	@chmod +x $@

# The Kprobes manual, row by row, in every way of arming.
CONFORM := $(patsubst tests/conform/%.c,$(B)/tests/conform/%,$(wildcard tests/conform/test_*.c)) \
	$(B)/tests/conform/test_cxx
CONFORM_PARTS := $(addprefix $(B)/tests/conform/,conform.o victims.o victims-asm.o twins.o)
CONFORM_CFLAGS = -std=gnu11 -O2 -g $(WARN) $(DEFS) $(SANFLAGS) -Iinclude -pthread -MMD -MP $(CFLAGS)
CONFORM_LIBS = -L$(B) -Wl,-rpath,'$$ORIGIN/../..' -l:libdprobes.so.1 -lm
.SECONDARY: $(CONFORM_PARTS)
CONFORM_RUNS := $(addprefix $(B)/tests/conform/run-,trap-1 trap-8 interior-1 interior-8 quiesce-1 quiesce-8 \
	interior-1-toggled interior-8-toggled) $(addprefix $(B)/tests/conform/about-,coverage examples exports kernel)

$(B)/tests/conform/%.o: tests/conform/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CONFORM_CFLAGS) -c -o $@ $<

$(B)/tests/conform/%-asm.o: tests/conform/%.S
	@mkdir -p $(@D)
	$(Q)$(CC) $(CONFORM_CFLAGS) -c -o $@ $<

$(B)/tests/conform/libconform-%.so: tests/conform/%.c $(B)/libdprobes.so.1
	@mkdir -p $(@D)
	$(Q)$(CC) $(CONFORM_CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@ $< \
		$(if $(filter module,$*),$(CONFORM_LIBS))

$(B)/tests/conform/test_cxx: tests/conform/test_cxx.cc $(B)/libdprobes.so.1
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++11 -O2 -g -Wall -Wextra -Wno-unused-parameter $(SANFLAGS) -Iinclude -MMD -MP -o $@ $< $(CONFORM_LIBS)

$(B)/tests/conform/test_%: tests/conform/test_%.c $(CONFORM_PARTS) $(B)/libdprobes.so.1
	@mkdir -p $(@D)
	$(Q)$(CC) $(CONFORM_CFLAGS) -o $@ $< $(CONFORM_PARTS) $(CONFORM_LIBS)

# run-MODE-THREADS[-toggled]: all of them so
$(B)/tests/conform/run-%: tests/conform/run
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec tests/conform/run $(B)/tests/conform %s\n' '$(subst -, ,$*)' > $@
	@chmod +x $@

# What is not about arming: examples of the manual pages, rows, names.
$(B)/tests/conform/about-kernel: tests/kernel/coverage
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec tests/kernel/coverage\n' > $@
	@chmod +x $@

$(B)/tests/conform/about-%: tests/conform/%
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nCC="%s" exec tests/conform/%s $(B)\n' '$(CC)' '$*' > $@
	@chmod +x $@

conform: $(CONFORM) $(B)/tests/conform/libconform-plugin.so $(B)/tests/conform/libconform-module.so $(CONFORM_RUNS)

$(B)/tests/compat-free: tools/check-compat $(COMPAT_FREE) $(READER_OBJ)
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec tools/check-compat $(COMPAT_OBJ)\n' > $@
	@chmod +x $@

# What is true of the tree as it stands.
GATES := $(addprefix $(B)/tests/,layers circles hit-half bare format compat-free)

tests: all conform $(UNIT) $(SELF) $(VICTIM) $(KIND) $(LOW) $(B)/tests/victims/bare/bare $(B)/tests/victims/bare/pie $(TORTURE) $(TOOL) $(B)/tests/follow-all.so $(B)/tests/dprobes-kill-points $(GATES)

# What tests/plan says of each test; one that it does not name is run by check, by itself.
TESTS := $(UNIT) $(GATES) $(SELF) $(SCENARIO) $(CONFORM_RUNS)
planned = $(foreach n,$(shell sed -n 's/^$(1) *//p' tests/plan),$(filter tests/$n $(B)/tests/$n,$(TESTS)))
LONG := $(call planned,long)
TOGETHER := $(call planned,together)
in_order = $(filter $(1),$(TOGETHER)) -- $(filter-out $(TOGETHER),$(1))

# T=PATTERN: those of both whose path has it in it.
check: DEPS_EXTRA = gcc-aarch64-linux-gnu clang-format-14 dwz debuginfod
check: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)T='$(T)' tests/run $(call in_order,$(if $(T),$(TESTS),$(filter-out $(LONG),$(TESTS))))

check-long: DEPS_EXTRA = dwz debuginfod
check-long: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)T='$(T)' tests/run $(call in_order,$(LONG))

# Some of both once more, in other ways than the default.
check-matrix: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)T='$(T)' tests/matrix

list-tests:
	@printf 'check %s\n' $(call in_order,$(filter-out $(LONG),$(TESTS)))
	@printf 'check-long %s\n' $(call in_order,$(LONG))

# The tool with the sanitizers on what other processes, files and programs tell it. What it
# puts into them is as ever.
SAN_SCENARIO := $(patsubst %,tests/scenario/%.sh,cli trace follow plugin blocked doctor errors hostile insmod insmod-live \
	knobs language lifecycle neighbours orders random-programs returns run sandbox secure sleepers terminal tool-death watchpoints)
check-san: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)$(MAKE) --no-print-directory B=$(B)-san SAN=address,undefined $(B)-san/dprobes
	$(Q)[ -e $(B)-san/libdprobes.so.1 ] || ln -s ../$(B)/libdprobes.so.1 $(B)-san/
	$(Q)T='$(T)' ASAN_OPTIONS=detect_leaks=0:abort_on_error=0:verify_asan_link_order=0 DPROBES=$(B)-san/dprobes tests/run $(call in_order,$(SAN_SCENARIO))

# The control half of the library with the thread sanitizer: what comes and goes in several
# threads at once, hooks, and what serves the handlers of uprobes. tests/tsan.supp says what is beyond it.
TSAN_TESTS := $(addprefix $(B)-tsan/tests/,self/uprobes self/uprobes-life self/uprobes-returns self/own self/probed-hooks self/handled-hooks)
check-tsan: deps
	$(Q)$(MAKE) --no-print-directory B=$(B)-tsan SAN=thread CFLAGS='$(CFLAGS) -Wno-tsan' conform $(TSAN_TESTS) \
		$(B)-tsan/tests/victims/uprobed $(B)-tsan/tests/conform/run-interior-8
	$(Q)T='$(T)' TSAN_OPTIONS=suppressions=$(CURDIR)/tests/tsan.supp:die_after_fork=0 \
		CONFORM_TESTS='test_threads test_register test_knobs test_api test_blacklist' \
		tests/run $(B)-tsan/tests/conform/run-interior-8 $(TSAN_TESTS)

# Single-line changes that the tests do not notice: 150 of the rooms below, drawn by SEED, or all
# of FILE, a file or a folder. MUTANTS=N: so many; T=PATTERN: only those tests have to notice.
MUTANT_ROOMS := engine port/user lang lib
MUTANT_TESTS = $(if $(T),$(TESTS),$(UNIT) $(CONFORM) $(SELF) $(filter-out $(LONG),$(SCENARIO)))
mutants: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)$(MAKE) --no-print-directory B=$(B)-san SAN=address,undefined units
	$(Q)tools/mutants -b $(B) -a $(B)-san -n $(or $(MUTANTS),$(if $(FILE),0,150)) -s $(or $(SEED),1) $(T:%=-t %) $(if $(V),-v) \
		$(or $(FILE),$(MUTANT_ROOMS)) -- $(MUTANT_TESTS)

units: $(UNIT)

# What scripts run that carries a change.
mutated: $(B)/dprobes $(B)/libdprobes.so.1 $(TOOL) $(B)/tests/dprobes-kill-points

# Programs that check does without, and what it skips where they are not.
check-victims: DEPS_OPTIONAL = nodejs libpython3.11-testsuite redis-server postgresql golang-go musl-tools libglib2.0-tests liblua5.4-dev
check-victims: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)tools/sqlite-suite $(B)/suites/sqlite || echo "not built: sqlite3's tests" >&2
	$(Q)WHOLE=1 CYCLES=$${CYCLES:-25} tests/run $(addprefix tests/scenario/,programs.sh return-victims.sh attach-go.sh soak.sh suites.sh)

# What has to be tried in a kernel: Debian's newest of its release, in QEMU, with two CPUs, of which each guest takes the time
# of one, two thirds of the time. So there is a guest more than CPUs: one has the parts of the engine, one those of the command and
# of files, and one the others. Another program ends the kernel, one kernel is preempted anywhere, and one begins with a single CPU.
ENGINE_PARTS := port,facts,probes,programs,native,kprobes,quick,conform,exits,jprobes,nmi,watchpoints,orphans,sample,theirs,rewritten,examples,gone,many,returns
TOOL_PARTS := user,user-returns,user-files,tool,stacks,tables,run
GUESTS := kernel kernel-engine kernel-tool kernel-preempt kernel-second kernel-dump
$(B)/tests/kernel: BOOT := BOOT_ENV="except=$(ENGINE_PARTS),$(TOOL_PARTS)"
$(B)/tests/kernel-engine: BOOT := BOOT_ENV="only=$(ENGINE_PARTS)"
$(B)/tests/kernel-tool: BOOT := BOOT_ENV="only=$(TOOL_PARTS)"
$(B)/tests/kernel-preempt: BOOT := BOOT_ENV="only=preempted preempt=full"
$(B)/tests/kernel-second: BOOT := BOOT_ENV="only=second maxcpus=1"
$(B)/tests/kernel-dump: BOOT := BOOT_ENV=only=dump BOOT_PANICS="dprobes: a program has asked for a dump (exit 2) at __x64_sys_getsid"
$(GUESTS:%=$(B)/tests/%): Makefile
	@mkdir -p $(@D)
	@printf '#!/bin/sh\n%s exec tests/kernel/boot $(B)/kernel $(B)/kernel.image\n' '$(BOOT)' > $@
	@chmod +x $@

check-kernel: DEPS_EXTRA = qemu-system-x86 cpio
check-kernel: deps $(GUESTS:%=$(B)/tests/%)
	$(Q)$(MAKE) --no-print-directory -s $(B)/dprobes
	$(Q)tools/kernel-tree $(B)/kernel
	$(Q)tests/kernel/image $(B)/kernel $(B)/kernel.image
	$(Q)TESTS_WIDTH=$${TESTS_WIDTH:-$$(($$(nproc) + 1))} TEST_TIMEOUT=$${TEST_TIMEOUT:-1200} tests/run $(GUESTS:%=$(B)/tests/%) --

# The same in other kernels: in one that has no probes of its own and in one that looks for mistakes, which
# are built once, some minutes each; and in Debian's newer one.
KERNELS := kernel-n kernel-lockdep kernel-6.12
$(KERNELS:%=$(B)/tests/%): tests/kernel/boot
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec tests/kernel/boot $(B)/$(@F)\n' > $@
	@chmod +x $@

$(KERNELS:%=check-%): DEPS_EXTRA = qemu-system-x86 cpio flex bison bc libelf-dev
$(KERNELS:%=check-%): check-%: deps $(B)/tests/%
	$(Q)$(MAKE) --no-print-directory -s $(B)/dprobes
	$(Q)$(if $(filter kernel-6.12,$*),tools/kernel-tree $(B)/$* 6.12-cloud-amd64,\
		tools/kernel-own $(B)/$* tests/kernel/config/common tests/kernel/config/$(*:kernel-%=%))
	$(Q)BOOT_TIMEOUT=$${BOOT_TIMEOUT:-3000} TEST_TIMEOUT=$${TEST_TIMEOUT:-3600} tests/run $(B)/tests/$* --

# Programs call the debugger of the kernel that looks for mistakes, and gdb is there.
$(B)/tests/kernel-gdb: Makefile
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec tests/kernel/debugger $(B)/kernel-lockdep\n' > $@
	@chmod +x $@

check-kernel-gdb: DEPS_EXTRA = qemu-system-x86 cpio flex bison bc libelf-dev
check-kernel-gdb: DEPS_OPTIONAL = gdb
check-kernel-gdb: deps $(B)/tests/kernel-gdb
	$(Q)$(MAKE) --no-print-directory -s $(B)/dprobes
	$(Q)tools/kernel-own $(B)/kernel-lockdep tests/kernel/config/common tests/kernel/config/lockdep
	$(Q)TEST_TIMEOUT=$${TEST_TIMEOUT:-600} tests/run $(B)/tests/kernel-gdb --

# What takes long: campaigns, each in a boot of its own. BOOT_ENV makes them shorter: tests/kernel/long_init.h
# Counts are compared while stress-ng is at work, too.
comma := ,
CAMPAIGNS := differ all all-returns insns cycles fire hostile preempted
$(CAMPAIGNS:%=$(B)/tests/kernel-%): $(B)/tests/kernel-%: Makefile
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nBOOT_ENV="%s $${BOOT_ENV-}" exec tests/kernel/boot $(B)/kernel $(B)/kernel.image\n' \
		'only=$(if $(filter preempted,$*),preempted$(comma)kprobes$(comma)quick preempt=full,$*)$(if $(filter differ,$*), stress=1 seconds=120)' > $@
	@chmod +x $@

check-kernel-long: DEPS_EXTRA = qemu-system-x86 cpio stress-ng
check-kernel-long: deps $(CAMPAIGNS:%=$(B)/tests/kernel-%)
	$(Q)$(MAKE) --no-print-directory -s $(B)/dprobes
	$(Q)tools/kernel-tree $(B)/kernel
	$(Q)tests/kernel/image $(B)/kernel $(B)/kernel.image
	$(Q)BOOT_TIMEOUT=$${BOOT_TIMEOUT:-3000} TEST_TIMEOUT=$${TEST_TIMEOUT:-3600} tests/run $(CAMPAIGNS:%=$(B)/tests/kernel-%) --

# What hits of a kernel's probes cost, beside its own: ratios alone mean something, for the guest's processor is QEMU.
bench-kernel: DEPS_EXTRA = qemu-system-x86 cpio
bench-kernel: deps
	$(Q)$(MAKE) --no-print-directory -s $(B)/dprobes
	$(Q)tools/kernel-tree $(B)/kernel
	$(Q)BOOT_ENV=only=figures tests/kernel/boot $(B)/kernel | awk '/^not ok|did not come/ { print > "/dev/stderr"; bad = 1 } \
		sub(/^# {/, "{") { print; n++ } END { exit bad || !n }'

# Watchpoints, which a virtual machine may not have: then in a kernel under QEMU, a tenth as fast.
WATCH_TESTS := $(addprefix $(B)/tests/self/,watches watch-debugger) $(sort $(wildcard tests/scenario/watch*.sh))
check-watch: DEPS_EXTRA = qemu-system-x86 cpio
check-watch: DEPS_OPTIONAL = gdb
check-watch: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)if $(B)/dprobes doctor | grep -q '^ok *watchpoints:'; then \
		T='$(T)' tests/run $(WATCH_TESTS); \
	else \
		tools/kernel-tree $(B)/guest amd64 && GUEST_KERNEL=$(B)/guest GUEST_TIMEOUT=$${GUEST_TIMEOUT:-14400} \
			tools/in-guest env T='$(T)' TEST_TIMEOUT=$${TEST_TIMEOUT:-3600} tests/run $(WATCH_TESTS); \
	fi

check-unit: deps
	$(Q)$(MAKE) --no-print-directory $(UNIT)
	$(Q)tests/run $(UNIT) --

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)DPROBES=$(B)/dprobes examples/demo.sh

# Long forms of what check does briefly. Ten million images go through the verifier, with the sanitizers.
STRESSED := $(addprefix $(B)-san/tests/unit/,test_vm test_native)
stress: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)$(MAKE) --no-print-directory B=$(B)-san SAN=address,undefined $(STRESSED)
	$(Q)VM_ROUNDS=3400000 NATIVE_PROGRAMS=1000000 HOOK_ROUNDS=1000000 HOOK_OPS=1000000 CYCLES=1000 TIMES=1000000 TOGGLES=200000 ROUNDS=1000 ENTRIES=10000000 KILLS=500 REPLACING=120 VALUES_RANDOM=30 TEST_TIMEOUT=7200 tests/run \
		$(addprefix tests/scenario/,accounts.sh attach-cycles.sh harsh.sh jump.sh storm.sh blocked.sh soak.sh killer.sh reloaded.sh gdb-values.sh random-programs.sh) \
		$(STRESSED) $(B)/tests/unit/test_hook_order $(SELF)

FUZZ_SECONDS ?= 600
FUZZ := $(patsubst fuzz/%.c,$(B)/fuzz/%,$(wildcard fuzz/fuzz_*.c))
FUZZ_SRC := $(ENGINE_SRC) $(VM_CONTROL_SRC) $(wildcard port/user/*.c) lib/diag.c lib/escape.c proc/seccomp/filter.c \
	$(VM_SRC) $(wildcard sym/*/*.c lang/*.c lang/*/*.c) resolve/spec.c resolve/listline.c tracer/expr.c tracer/values/abi.c tracer/values/aggregate.c tracer/values/bind.c tracer/values/code.c tracer/values/emit.c tracer/values/inject.c tracer/values/name.c tracer/values/place.c tracer/values/printers.c tracer/values/real.c tracer/values/return.c tracer/values/text.c tracer/values/typed.c
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(B)/fuzz/obj/%.o)
$(B)/fuzz/obj/engine/vm/data.o $(B)/fuzz/obj/engine/vm/io.o: private INC := -Itests/unit/bounded $(INC)
.SECONDARY: $(FUZZ_OBJ) $(FUZZ:$(B)/fuzz/%=$(B)/fuzz/obj/fuzz/%.o)
$(B)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(Q)clang -std=gnu11 -g -O1 $(INC) -Itests/unit $(DEFS) -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -MMD -MP -c -o $@ $<

$(B)/fuzz/%: $(B)/fuzz/obj/fuzz/%.o $(FUZZ_OBJ)
	$(Q)clang -fsanitize=fuzzer,address,undefined -o $@ $^ $(LIBS)

$(B)/fuzz/fuzz_backtrace: $(WALK_SRC:%.c=$(B)/fuzz/obj/%.o)

KEPT_SRC := $(patsubst %,tracer/%.c,kept kept_print histogram walked stacks screen output json items values/show values/whole)
$(B)/fuzz/fuzz_kept: $(KEPT_SRC:%.c=$(B)/fuzz/obj/%.o)

# Debug information is read in the fuzzer itself.
$(B)/fuzz/fuzz_types: private LIBS += -Wl,--wrap=dp_reader_read

fuzz: DEPS_EXTRA = clang libclang-rt-14-dev
fuzz: deps
	$(Q)$(MAKE) --no-print-directory $(FUZZ)
	$(Q)for f in $(FUZZ); do mkdir -p $$f.corpus; \
		[ ! -e fuzz/$${f##*/}.seeds ] || sh fuzz/$${f##*/}.seeds $$f.corpus || exit 1; $$f -max_total_time=$(FUZZ_SECONDS) \
		$$(cat fuzz/$${f##*/}.args 2>/dev/null) $$f.corpus || exit 1; done

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

$(B)/bench/self/throw.o: bench/self/throw.cc bench/self/throw.h
	@mkdir -p $(@D)
	$(Q)$(CXX) -O2 -g -I. -c -o $@ $<

$(B)/bench/self/self: bench/self/main.c bench/self/placed.c bench/self/placed.h bench/self/placed.S bench/self/many.S $(B)/bench/self/throw.o $(B)/libdprobes.so.1
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(WARN) -Iinclude -I. -D_GNU_SOURCE -o $@ bench/self/main.c bench/self/placed.c bench/self/placed.S bench/self/many.S \
		$(B)/bench/self/throw.o -L$(B) -ldprobes -lstdc++ -Wl,-rpath,'$$ORIGIN/../..'

$(B)/bench/self/uprobes: bench/self/uprobes.c bench/self/many.S $(B)/libdprobes.so.1
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(WARN) -Iinclude -D_GNU_SOURCE -o $@ bench/self/uprobes.c bench/self/many.S \
		-L$(B) -ldprobes -Wl,-rpath,'$$ORIGIN/../..'

LTTNG_LIBS = $(if $(wildcard /usr/include/lttng/tracepoint.h /usr/include/*/lttng/tracepoint.h),-llttng-ust -ldl)
$(B)/bench/self/hooks: bench/self/hooks.c $(wildcard include/dprobes/*.h) $(B)/libdprobes.so.1
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(WARN) -Iinclude -I. -D_GNU_SOURCE -o $@ bench/self/hooks.c -L$(B) -ldprobes \
		$(LTTNG_LIBS) -Wl,-rpath,'$$ORIGIN/../..'

BENCH_PEERS := $(B)/bench/twins \
	$(if $(wildcard /usr/include/lttng/tracepoint.h /usr/include/*/lttng/tracepoint.h),$(B)/bench/twins-lttng)
bench-peers: $(BENCH_PEERS)

# BENCH: core, only what is ours; NAME, one bench of another process, of ours or of a peer
BENCH_OURS = $(and $(BENCH),$(if $(filter uprobe% uretprobe gdb% uftrace lttng%,$(BENCH)),,ours))
bench: DEPS_OPTIONAL = $(if $(BENCH_OURS),,gdb gdbserver uftrace lttng-tools liblttng-ust-dev)
bench: deps
	$(Q)$(MAKE) -s --no-print-directory $(B)/bench/victim $(B)/bench/bench $(B)/bench/self/self $(B)/bench/self/uprobes $(B)/bench/self/hooks
	$(Q)$(if $(BENCH_OURS),,$(MAKE) -sk --no-print-directory bench-peers || true)
	$(Q)$(B)/bench/bench $(BENCH) $(B)/bench/victim
	$(Q)$(if $(filter-out core,$(BENCH)),,$(B)/bench/self/self && $(B)/bench/self/uprobes && $(B)/bench/self/hooks)

# The headers that modules and programs are built with, and how pkg-config says it.
TO := $(DESTDIR)$(PREFIX)
TO_LIB := $(DESTDIR)$(LIBDIR)
PROTOTYPES := share/dprobes/prototypes
install-headers:
	cd include/compat && find . -type f -name '*.h' -exec \
		install -D -m 644 {} $(abspath $(TO))/include/dprobes/compat/{} \;
	install -d $(TO)/include/dprobes $(TO_LIB)/pkgconfig
	install -m 644 include/dprobes/*.h $(TO)/include/dprobes
	install -D -t $(TO)/include/dprobes/kernel -m 644 include/dprobes/kernel/*.h
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|' lib/compat/dprobes-module.pc.in > $(TO_LIB)/pkgconfig/dprobes-module.pc
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|' lib/dprobes.pc.in > $(TO_LIB)/pkgconfig/dprobes.pc

install: all install-headers
	install -D -m 755 $(B)/dprobes $(TO)/bin/dprobes
	install -D -m 755 $(B)/libdprobes.so.1 $(TO_LIB)/libdprobes.so.1
	ln -sf libdprobes.so.1 $(TO_LIB)/libdprobes.so
	install -m 644 $(B)/libdprobes.a $(TO_LIB)/libdprobes.a
	install -d $(TO)/$(PROTOTYPES)
	install -m 644 $(wildcard $(PROTOTYPES)/*.conf) $(TO)/$(PROTOTYPES)
	for s in 1 3 4 5 7; do for p in man/*.$$s; do \
		install -D -m 644 $$p $(TO)/share/man/man$$s/$${p#man/} || exit 1; done; done
	install -D -m 644 contrib/completion/dprobes.bash $(TO)/share/bash-completion/completions/dprobes
	install -D -m 644 contrib/completion/_dprobes $(TO)/share/zsh/site-functions/_dprobes
	install -D -m 644 contrib/completion/dprobes.fish $(TO)/share/fish/vendor_completions.d/dprobes.fish

# What install puts there, and nothing else of what is there.
uninstall:
	rm -f $(addprefix $(TO_LIB)/,libdprobes.so.1 libdprobes.so libdprobes.a pkgconfig/dprobes-module.pc pkgconfig/dprobes.pc)
	rm -f $(addprefix $(TO)/,bin/dprobes share/bash-completion/completions/dprobes \
		share/zsh/site-functions/_dprobes share/fish/vendor_completions.d/dprobes.fish \
		$(wildcard $(PROTOTYPES)/*.conf) $(foreach p,$(wildcard man/*.[13457]),share/man/man$(subst .,,$(suffix $p))/$(notdir $p)))
	rm -rf $(TO)/include/dprobes
	[ ! -d $(TO)/$(PROTOTYPES) ] || (cd $(TO) && rmdir -p --ignore-fail-on-non-empty $(PROTOTYPES))

# Debian's packages, in build/deb: the command, the library, its headers, and the module for DKMS.
deb: DEPS_EXTRA = debhelper dh-dkms dpkg-dev fakeroot
deb: deps
	$(Q)rm -rf $(B)/deb && mkdir -p $(B)/deb/tree
	$(Q)git ls-files -z | xargs -0 cp --parents -t $(B)/deb/tree
	$(Q)cd $(B)/deb/tree && env -u MAKEFLAGS -u MFLAGS dpkg-buildpackage -us -uc -b -j$$(nproc)
	$(Q)ls $(B)/deb/*.deb

# What a build and its tests need from Debian; nothing when it is there already.
# A target may ask for more (DEPS_EXTRA), or for what it can do without (DEPS_OPTIONAL).
DEPS := gcc g++ make binutils libc6-dev libzydis-dev liblzma-dev libiberty-dev libdw-dev libbpf1 libcmocka-dev libunwind-dev systemtap-sdt-dev \
	git pkg-config python3 sqlite3 xz-utils procps util-linux musl-tools tmux
deps:
	$(Q)tools/install-deps $(DEPS) $(DEPS_EXTRA)
	$(Q)$(if $(DEPS_OPTIONAL),tools/install-deps --optional $(DEPS_OPTIONAL))

clean:
	rm -rf $(B)

# But not those of kernels, which have directories of such names, too.
-include $(shell find $(B) \( -path '$(B)/kernel*' -o -path '$(B)/kmod*' -o -path '$(B)/linux-source' \) -prune -o -type f -name '*.d' -print 2>/dev/null)

.PHONY: all modules install-headers bench bench-peers conform tests units check check-unit check-long check-matrix check-victims check-kernel check-kernel-long $(KERNELS:%=check-%) check-kernel-gdb bench-kernel check-watch check-san check-tsan list-tests mutants mutated deps clean demo install uninstall deb fuzz stress
