// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* device_stack: the stacks that programs have got the numbers of, for who may see addresses. */
#include "kmod/device.h"
#include "kmod/stacks.h"
#include <dprobes/device.h>
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

static_assert(DP_DEVICE_FRAMES == DP_BACKTRACE_FRAMES);
static_assert(DP_DEVICE_STACK_COMPLETE == (int)DP_END_COMPLETE);
static_assert(DP_DEVICE_STACK_UNKNOWN == (int)DP_END_UNKNOWN);
static_assert(DP_DEVICE_STACK_DEEP == (int)DP_END_DEEP);

static int answer(struct dp_device_stack *want, const struct dp_stack_walked *w)
{
	u32 i;

	want->nr = min(want->nr, w->nr);
	want->all = w->nr;
	want->end = w->end;
	for (i = 0; i < w->nr; i++)
		want->exact[i / 64] |= w->exact[i] ? BIT_ULL(i % 64) : 0;
	return copy_to_user(u64_to_user_ptr(want->frames), w->frames,
			    want->nr * sizeof(*w->frames)) ?
		       -EFAULT :
		       0;
}

int dp_device_stack(const struct dp_owner *o, struct dp_device_stack *want)
{
	struct dp_stack_walked *w;
	int err;

	if (want->all || want->end || want->lost || want->exact[0] ||
	    want->exact[1] || want->nr > DP_DEVICE_FRAMES || !o->committed)
		return -EINVAL;
	if (!o->client.shows)
		return -EPERM;
	w = kzalloc(sizeof(*w), GFP_KERNEL);
	if (!w)
		return -ENOMEM;
	err = dp_stack_get(want->number, w);
	want->lost = w->lost;
	if (err == -ENOENT)
		want->nr = 0;
	else if (!err)
		err = answer(want, w);
	kfree(w);
	return err == -ENOENT ? 0 : err;
}
