// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* external: functions of the process, outside the program, that it calls. */
#include "engine/vm/machine.h"

/* ( arguments number -- value ) How many arguments there are is the function's to say. */
void dp_vm_external(struct dp_vm *vm)
{
	struct dp_vm_call call = { .number = dp_vm_pop(vm) };
	bool known = vm->external && vm->external(vm, &call, false) &&
		     call.nr <= DP_VM_ARGUMENTS;
	u32 i;

	for (i = known ? call.nr : 0; i-- > 0;)
		call.args[i] = dp_vm_pop(vm);
	if (known && vm->external(vm, &call, true))
		dp_vm_push(vm, call.value);
	else
		dp_vm_raise(vm, DP_EX_INVALID_OPERAND, DP_VM_OPERAND_CALL,
			    call.number);
}
