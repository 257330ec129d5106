/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ops: the one table of probe program instructions.
 *
 * Verifier, interpreter, assembler and disassembler all read it. Codes are
 * those of DProbes 5.0, and ours:
 *
 *   0xa0 to 0xa2  1 if the next element is equal to the top, or less, without or with sign; else 0
 *   0xa3          of a float in the low 32 bits of the top the double that is the same number
 *   0xa4          does a string match a pattern? See enum dp_vm_like
 *   0xa5          what the hit tells: ticks that the call which returns has taken; of watched data the
 *                 value last seen
 *   0xa6          the thread's id
 *   0xa7          keep a hit in a table: its words are on the stack
 *   0xa8          so many words of a string, with zeros behind its end
 *   0xa9          the thread's name, two words
 *   0xaa          8 bytes of what was logged at the entry of the call that returns
 *   0xab          the number of the stack of the thread
 *   0xac          how often a key has come before, by a table in local variables
 *   0xad          end, and have the thread return from the function at whose entry it is
 *
 * Operands follow the code byte unaligned, little-endian.
 */
#ifndef DP_VM_OPS_H
#define DP_VM_OPS_H

/**
 * enum dp_operand - the operand behind the code byte
 * @DP_OPERAND_UL: a literal of the program's word, 8 bytes
 * @DP_OPERAND_REL: a signed jump distance of the program's word, from the byte behind it
 * @DP_OPERAND_REG: u16, number of a register (regs.h) that can be read
 * @DP_OPERAND_REGW: u16, number of a register that can be written
 * @DP_OPERAND_LV, @DP_OPERAND_GV: u16, index of a variable
 * @DP_OPERAND_AGG: u16, a table, and how many words it takes: see engine/layout/aggregate.h
 */
enum dp_operand {
	DP_OPERAND_NONE,
	DP_OPERAND_U8,
	DP_OPERAND_U16,
	DP_OPERAND_S16,
	DP_OPERAND_UL,
	DP_OPERAND_REL,
	DP_OPERAND_REG,
	DP_OPERAND_REGW,
	DP_OPERAND_LV,
	DP_OPERAND_GV,
	DP_OPERAND_AGG,
};

/**
 * enum dp_op_state - can a program use the instruction?
 * @DP_OP_READY: yes
 * @DP_OP_RAW: the machine runs it, the language does not offer it yet
 */
enum dp_op_state {
	DP_OP_READY,
	DP_OP_RAW,
};

/* Groups, for messages: "io: not there yet". */
#define DP_GROUP_FLOW "execution and sequencing"
#define DP_GROUP_LOG "logging"
#define DP_GROUP_LV "local variables"
#define DP_GROUP_GV "global variables"
#define DP_GROUP_MATH "arithmetic and logic"
#define DP_GROUP_STACK "stack"
#define DP_GROUP_REG "registers"
#define DP_GROUP_DATA "data"
#define DP_GROUP_VFY "address verification"
#define DP_GROUP_EX "exception handlers"
#define DP_GROUP_TRACE "stack traces"
#define DP_GROUP_HEAP "the byte heap"
#define DP_GROUP_IO "io ports"
#define DP_GROUP_CALL "calls of functions"

/*
 * DP_OPS(X): X(code, name, operand, pops, pushes, ends, state, group, text)
 *
 * @pops, @pushes: elements; DP_VARIES where a count on the stack or in the
 *                 operand decides
 * @ends: control never reaches the next instruction
 * @text: as written, "%" being the operand
 */
#define DP_VARIES (-1)

#define DP_OPS(X)                                                            \
	X(0x00, NOP, NONE, 0, 0, 0, READY, FLOW, "nop")                      \
	X(0x01, JMP, REL, 0, 0, 1, READY, FLOW, "jmp %")                     \
	X(0x02, JLT, REL, 1, 1, 0, READY, FLOW, "jlt %")                     \
	X(0x03, JLE, REL, 1, 1, 0, READY, FLOW, "jle %")                     \
	X(0x04, JGT, REL, 1, 1, 0, READY, FLOW, "jgt %")                     \
	X(0x05, JGE, REL, 1, 1, 0, READY, FLOW, "jge %")                     \
	X(0x06, JZ, REL, 1, 1, 0, READY, FLOW, "jz %")                       \
	X(0x07, JNZ, REL, 1, 1, 0, READY, FLOW, "jnz %")                     \
	X(0x08, LOOP, REL, 1, 1, 0, READY, FLOW, "loop %")                   \
	X(0x09, CALL, REL, 0, 0, 0, READY, FLOW, "call %")                   \
	X(0x0a, RET, NONE, 0, 0, 1, READY, FLOW, "ret")                      \
	X(0x0b, ABORT, NONE, 0, 0, 1, READY, FLOW, "abort")                  \
	X(0x0c, REMOVE, NONE, 0, 0, 1, READY, FLOW, "remove")                \
	X(0x0d, EXIT, NONE, 0, 0, 1, READY, FLOW, "exit")                    \
	X(0x0e, EXIT_N, U8, 0, 0, 1, READY, FLOW, "exit %")                  \
	X(0x0f, SUSPEND, NONE, 0, 0, 1, READY, FLOW, "suspend")              \
	X(0x10, RESUME, NONE, 1, 0, 0, READY, FLOW, "resume")                \
	X(0x11, SETMIN_I, U16, 0, 0, 0, READY, LOG, "setmin %")              \
	X(0x12, SETMIN, NONE, 1, 0, 0, READY, LOG, "setmin")                 \
	X(0x13, SETMAJ_I, U16, 0, 0, 0, READY, LOG, "setmaj %")              \
	X(0x14, SETMAJ, NONE, 1, 0, 0, READY, LOG, "setmaj")                 \
	X(0x15, LOG_STR, NONE, 2, 0, 0, READY, LOG, "log str")               \
	X(0x17, LOG_MRF, NONE, 2, 0, 0, READY, LOG, "log mrf")               \
	X(0x1b, LOG_I, U16, DP_VARIES, 0, 0, READY, LOG, "log %")            \
	X(0x1c, ALLOC_GV, NONE, 1, 1, 0, READY, GV, "alloc gv")              \
	X(0x1d, FREE_GV, NONE, 1, 0, 0, READY, GV, "free gv")                \
	X(0x1e, FREE_GV_I, U16, 0, 0, 0, READY, GV, "free gv,%")             \
	X(0x1f, PUSH_GV_I, GV, 0, 1, 0, READY, GV, "push gv,%")              \
	X(0x20, PUSH_GV, NONE, 1, 1, 0, READY, GV, "push gv")                \
	X(0x21, POP_GV_I, GV, 1, 0, 0, READY, GV, "pop gv,%")                \
	X(0x22, POP_GV, NONE, 2, 0, 0, READY, GV, "pop gv")                  \
	X(0x23, MOVE_GV_I, GV, 1, 1, 0, READY, GV, "move gv,%")              \
	X(0x24, MOVE_GV, NONE, 2, 1, 0, READY, GV, "move gv")                \
	X(0x25, INC_GV_I, GV, 0, 0, 0, READY, GV, "inc gv,%")                \
	X(0x26, INC_GV, NONE, 1, 0, 0, READY, GV, "inc gv")                  \
	X(0x27, DEC_GV_I, GV, 0, 0, 0, READY, GV, "dec gv,%")                \
	X(0x28, DEC_GV, NONE, 1, 0, 0, READY, GV, "dec gv")                  \
	X(0x29, PUSH_LV_I, LV, 0, 1, 0, READY, LV, "push lv,%")              \
	X(0x2a, PUSH_LV, NONE, 1, 1, 0, READY, LV, "push lv")                \
	X(0x2b, POP_LV_I, LV, 1, 0, 0, READY, LV, "pop lv,%")                \
	X(0x2c, POP_LV, NONE, 2, 0, 0, READY, LV, "pop lv")                  \
	X(0x2d, MOVE_LV_I, LV, 1, 1, 0, READY, LV, "move lv,%")              \
	X(0x2e, MOVE_LV, NONE, 2, 1, 0, READY, LV, "move lv")                \
	X(0x2f, INC_LV_I, LV, 0, 0, 0, READY, LV, "inc lv,%")                \
	X(0x30, INC_LV, NONE, 1, 0, 0, READY, LV, "inc lv")                  \
	X(0x31, DEC_LV_I, LV, 0, 0, 0, READY, LV, "dec lv,%")                \
	X(0x32, DEC_LV, NONE, 1, 0, 0, READY, LV, "dec lv")                  \
	X(0x33, ADD, NONE, 2, 1, 0, READY, MATH, "add")                      \
	X(0x34, SUB, NONE, 2, 1, 0, READY, MATH, "sub")                      \
	X(0x35, MUL, NONE, 2, 1, 0, READY, MATH, "mul")                      \
	X(0x36, NEG, NONE, 1, 1, 0, READY, MATH, "neg")                      \
	X(0x37, AND, NONE, 2, 1, 0, READY, MATH, "and")                      \
	X(0x38, OR, NONE, 2, 1, 0, READY, MATH, "or")                        \
	X(0x39, XOR, NONE, 2, 1, 0, READY, MATH, "xor")                      \
	X(0x3a, ROL_I, U8, 1, 1, 0, READY, MATH, "rol %")                    \
	X(0x3b, ROL, NONE, 2, 1, 0, READY, MATH, "rol")                      \
	X(0x3c, ROR_I, U8, 1, 1, 0, READY, MATH, "ror %")                    \
	X(0x3d, ROR, NONE, 2, 1, 0, READY, MATH, "ror")                      \
	X(0x3e, SHL_I, U8, 1, 1, 0, READY, MATH, "shl %")                    \
	X(0x3f, SHL, NONE, 2, 1, 0, READY, MATH, "shl")                      \
	X(0x40, SHR_I, U8, 1, 1, 0, READY, MATH, "shr %")                    \
	X(0x41, SHR, NONE, 2, 1, 0, READY, MATH, "shr")                      \
	X(0x42, XCHG, NONE, 2, 2, 0, READY, STACK, "xchg")                   \
	X(0x43, DUP_I, U8, 1, DP_VARIES, 0, READY, STACK, "dup %")           \
	X(0x44, DUP, NONE, 2, DP_VARIES, 0, READY, STACK, "dup")             \
	X(0x45, ROS, U8, DP_VARIES, 0, 0, READY, STACK, "ros %")             \
	X(0x46, PUSH_R, REG, 0, 1, 0, READY, REG, "push r,%")                \
	X(0x47, POP_R, REGW, 1, 0, 0, READY, REG, "pop r,%")                 \
	X(0x48, PUSH_U, REG, 0, 1, 0, READY, REG, "push u,%")                \
	X(0x49, POP_U, REGW, 1, 0, 0, READY, REG, "pop u,%")                 \
	X(0x4c, PUSH, UL, 0, 1, 0, READY, DATA, "push %")                    \
	X(0x4d, PUSH_MEM_U8, NONE, 1, 1, 0, READY, DATA, "push mem,u8")      \
	X(0x4e, PUSH_MEM_U16, NONE, 1, 1, 0, READY, DATA, "push mem,u16")    \
	X(0x4f, PUSH_MEM_U32, NONE, 1, 1, 0, READY, DATA, "push mem,u32")    \
	X(0x50, PUSH_MEM_U64, NONE, 1, 1, 0, READY, DATA, "push mem,u64")    \
	X(0x51, POP_MEM_U8, NONE, 2, 0, 0, READY, DATA, "pop mem,u8")        \
	X(0x52, POP_MEM_U16, NONE, 2, 0, 0, READY, DATA, "pop mem,u16")      \
	X(0x53, POP_MEM_U32, NONE, 2, 0, 0, READY, DATA, "pop mem,u32")      \
	X(0x54, POP_MEM_U64, NONE, 2, 0, 0, READY, DATA, "pop mem,u64")      \
	X(0x5d, PUSH_TASK, NONE, 0, 1, 0, READY, DATA, "push task")          \
	X(0x5e, PUSH_PID, NONE, 0, 1, 0, READY, DATA, "push pid")            \
	X(0x5f, PUSH_PROCID, NONE, 0, 1, 0, READY, DATA, "push procid")      \
	X(0x60, VFY_R, NONE, 1, 1, 0, READY, VFY, "vfy r")                   \
	X(0x61, VFY_RW, NONE, 1, 1, 0, READY, VFY, "vfy rw")                 \
	X(0x62, DIV, NONE, 2, 2, 0, READY, MATH, "div")                      \
	X(0x63, IDIV, NONE, 2, 2, 0, READY, MATH, "idiv")                    \
	X(0x64, PBL, NONE, 2, 1, 0, READY, MATH, "pbl")                      \
	X(0x65, PBR, NONE, 2, 1, 0, READY, MATH, "pbr")                      \
	X(0x66, PBL_I, U8, 1, 1, 0, READY, MATH, "pbl %")                    \
	X(0x67, PBR_I, U8, 1, 1, 0, READY, MATH, "pbr %")                    \
	X(0x68, PZL, NONE, 2, 1, 0, READY, MATH, "pzl")                      \
	X(0x69, PZR, NONE, 2, 1, 0, READY, MATH, "pzr")                      \
	X(0x6a, PZL_I, U8, 1, 1, 0, READY, MATH, "pzl %")                    \
	X(0x6b, PZR_I, U8, 1, 1, 0, READY, MATH, "pzr %")                    \
	X(0x6c, SX, REL, 0, 0, 0, READY, EX, "sx %")                         \
	X(0x6d, UX, NONE, 0, 0, 0, READY, EX, "ux")                          \
	X(0x6e, RX, NONE, 3, 3, 0, READY, EX, "rx")                          \
	X(0x6f, PUSH_X, NONE, 0, 3, 0, READY, EX, "push x")                  \
	X(0x70, PUSH_LP, NONE, 0, 1, 0, READY, LOG, "push lp")               \
	X(0x71, PUSH_PLP, NONE, 0, 1, 0, READY, LOG, "push plp")             \
	X(0x72, POP_LP, NONE, 1, 0, 0, READY, LOG, "pop lp")                 \
	X(0x73, LOG_ST, NONE, 0, 0, 0, READY, TRACE, "log st")               \
	X(0x74, PURGE_ST, NONE, 0, 0, 0, READY, TRACE, "purge st")           \
	X(0x75, TRACE_LV, NONE, 2, 0, 0, READY, TRACE, "trace lv")           \
	X(0x76, TRACE_GV, NONE, 2, 0, 0, READY, TRACE, "trace gv")           \
	X(0x77, TRACE_PV, NONE, 2, 0, 0, READY, TRACE, "trace pv")           \
	X(0x78, PUSH_SBP, NONE, 1, 1, 0, READY, STACK, "push sbp")           \
	X(0x79, POP_SBP, NONE, 2, 0, 0, READY, STACK, "pop sbp")             \
	X(0x7a, PUSH_TSP, NONE, 1, 1, 0, READY, STACK, "push tsp")           \
	X(0x7b, POP_TSP, NONE, 2, 0, 0, READY, STACK, "pop tsp")             \
	X(0x7c, PUSH_SBP_I, S16, 0, 1, 0, READY, STACK, "push sbp,%")        \
	X(0x7d, POP_SBP_I, S16, 1, 0, 0, READY, STACK, "pop sbp,%")          \
	X(0x7e, PUSH_TSP_I, S16, 0, 1, 0, READY, STACK, "push tsp,%")        \
	X(0x7f, POP_TSP_I, S16, 1, 0, 0, READY, STACK, "pop tsp,%")          \
	X(0x80, COPY_SBP_I, S16, 1, 1, 0, READY, STACK, "copy sbp,%")        \
	X(0x81, COPY_TSP_I, S16, 1, 1, 0, READY, STACK, "copy tsp,%")        \
	X(0x82, PUSH_STP, NONE, 0, 1, 0, READY, TRACE, "push stp")           \
	X(0x83, POP_STP, NONE, 1, 0, 0, READY, TRACE, "pop stp")             \
	X(0x84, SAVE_SBP, NONE, 0, 1, 0, READY, STACK, "save sbp")           \
	X(0x85, RESTORE_SBP, NONE, 1, 0, 0, READY, STACK, "restore sbp")     \
	X(0x86, SAVE_TSP, NONE, 0, 1, 0, READY, STACK, "save tsp")           \
	X(0x87, RESTORE_TSP, NONE, 1, 0, 0, READY, STACK, "restore tsp")     \
	X(0x88, COPY_SBP, NONE, 2, 1, 0, READY, STACK, "copy sbp")           \
	X(0x89, COPY_TSP, NONE, 2, 1, 0, READY, STACK, "copy tsp")           \
	X(0x8a, LOG, NONE, DP_VARIES, 0, 0, READY, LOG, "log")               \
	X(0x8b, LOG_LV, NONE, 2, 0, 0, READY, LOG, "log lv")                 \
	X(0x8c, LOG_GV, NONE, 2, 0, 0, READY, LOG, "log gv")                 \
	X(0x8d, CALL_KMOD, NONE, DP_VARIES, 1, 0, READY, CALL, "call_kmod")  \
	X(0x8e, MALLOC, NONE, 1, 1, 0, READY, HEAP, "malloc")                \
	X(0x8f, FREE, NONE, 1, 0, 0, READY, HEAP, "free")                    \
	X(0x90, PUSH_WID, NONE, 0, 1, 0, READY, DATA, "push wid")            \
	X(0x91, PUSHH_U8, U16, 2, DP_VARIES, 0, READY, HEAP, "pushh u8,%")   \
	X(0x92, PUSHH_U16, U16, 2, DP_VARIES, 0, READY, HEAP, "pushh u16,%") \
	X(0x93, PUSHH_U32, U16, 2, DP_VARIES, 0, READY, HEAP, "pushh u32,%") \
	X(0x94, PUSHH_U64, U16, 2, DP_VARIES, 0, READY, HEAP, "pushh u64,%") \
	X(0x95, POPH_U8, U16, DP_VARIES, 0, 0, READY, HEAP, "poph u8,%")     \
	X(0x96, POPH_U16, U16, DP_VARIES, 0, 0, READY, HEAP, "poph u16,%")   \
	X(0x97, POPH_U32, U16, DP_VARIES, 0, 0, READY, HEAP, "poph u32,%")   \
	X(0x98, POPH_U64, U16, DP_VARIES, 0, 0, READY, HEAP, "poph u64,%")   \
	X(0x99, RSUB, NONE, 2, 1, 0, READY, MATH, "rsub")                    \
	X(0xa0, EQ, NONE, 2, 1, 0, RAW, MATH, "eq")                          \
	X(0xa1, LTU, NONE, 2, 1, 0, RAW, MATH, "ltu")                        \
	X(0xa2, LTS, NONE, 2, 1, 0, RAW, MATH, "lts")                        \
	X(0xa3, F64, NONE, 1, 1, 0, RAW, MATH, "f64")                        \
	X(0xa4, LIKE, U16, DP_VARIES, 1, 0, RAW, DATA, "like %")             \
	X(0xa5, PUSH_TOLD, NONE, 0, 1, 0, RAW, DATA, "push told")            \
	X(0xa6, PUSH_TID, NONE, 0, 1, 0, RAW, DATA, "push tid")              \
	X(0xa7, AGGREGATE, AGG, DP_VARIES, 0, 0, RAW, DATA, "aggregate %")   \
	X(0xa8, PUSH_STR, U16, 2, DP_VARIES, 0, RAW, DATA, "push str,%")     \
	X(0xa9, PUSH_COMM, NONE, 0, 2, 0, RAW, DATA, "push comm")            \
	X(0xaa, PUSH_ENTERED, U16, 0, 1, 0, RAW, DATA, "push entered,%")     \
	X(0xab, PUSH_BACKTRACE, NONE, 0, 1, 0, RAW, DATA, "push backtrace")  \
	X(0xac, TURN, LV, 1, 1, 0, RAW, LV, "turn lv,%")                     \
	X(0xad, LEAVE, NONE, 0, 0, 1, RAW, FLOW, "leave")                    \
	X(0xb0, SEG2LIN, NONE, 2, 1, 0, READY, IO, "seg2lin")                \
	X(0xb1, PUSH_IO_U8, NONE, 1, 1, 0, READY, IO, "push io,u8")          \
	X(0xb2, PUSH_IO_U16, NONE, 1, 1, 0, READY, IO, "push io,u16")        \
	X(0xb3, PUSH_IO_U32, NONE, 1, 1, 0, READY, IO, "push io,u32")        \
	X(0xb4, POP_IO_U8, NONE, 2, 0, 0, READY, IO, "pop io,u8")            \
	X(0xb5, POP_IO_U16, NONE, 2, 0, 0, READY, IO, "pop io,u16")          \
	X(0xb6, POP_IO_U32, NONE, 2, 0, 0, READY, IO, "pop io,u32")

/** enum dp_opcode - DP_OPCODE_NOP and so on */
enum dp_opcode {
#define DP_OPCODE_ENUM(code, name, ...) DP_OPCODE_##name = code,
	DP_OPS(DP_OPCODE_ENUM)
#undef DP_OPCODE_ENUM
};

/** enum dp_vm_allow - what a program may do only if it asks for it */
enum dp_vm_allow {
	DP_ALLOW_WRITE = 1, /* memory */
	DP_ALLOW_REG = 2,
	DP_ALLOW_IO = 4, /* read and write ports */
	DP_ALLOW_CALL = 8, /* functions of the process */
};
#define DP_ALLOW_ALL 15

/** dp_op_needs() - enum dp_vm_allow that a program with this instruction has to ask for */
static inline unsigned int dp_op_needs(unsigned char op)
{
	switch (op) {
	case DP_OPCODE_POP_MEM_U8:
	case DP_OPCODE_POP_MEM_U16:
	case DP_OPCODE_POP_MEM_U32:
	case DP_OPCODE_POP_MEM_U64:
		return DP_ALLOW_WRITE;
	case DP_OPCODE_POP_R:
	case DP_OPCODE_POP_U:
	case DP_OPCODE_LEAVE:
		return DP_ALLOW_REG;
	case DP_OPCODE_PUSH_IO_U8:
	case DP_OPCODE_PUSH_IO_U16:
	case DP_OPCODE_PUSH_IO_U32:
	case DP_OPCODE_POP_IO_U8:
	case DP_OPCODE_POP_IO_U16:
	case DP_OPCODE_POP_IO_U32:
		return DP_ALLOW_IO;
	case DP_OPCODE_CALL_KMOD:
		return DP_ALLOW_CALL;
	default:
		return 0;
	}
}

#endif
