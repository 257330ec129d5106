// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pass: messages with a descriptor, between the tool and its children. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "sym/types/pass.h"

#define ASIDE 16 /* where descriptors are put while their numbers are taken */

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

bool dp_pass_send(int line, const void *bytes, size_t len, int fd)
{
	union control control = { 0 };
	struct iovec io = { (void *)bytes, len };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(line, &m, MSG_NOSIGNAL) == (ssize_t)len;
}

bool dp_pass_receive(int line, void *bytes, size_t len, int *fd)
{
	union control control = { 0 };
	struct iovec io = { bytes, len };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(line, &m, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&m);

	*fd = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n == (ssize_t)len;
}

int dp_pass_keep(const int *fd, size_t n, int first)
{
	int aside[8];
	size_t i;

	for (i = 0; i < n; i++)
		aside[i] = fd[i] < 0 ? -1 : fcntl(fd[i], F_DUPFD, ASIDE);
	for (i = 0; i < n; i++)
		if (aside[i] >= 0)
			dup2(aside[i], first + (int)i);
	close_range((unsigned int)first + (unsigned int)n, ~0u, 0);
	return first;
}
