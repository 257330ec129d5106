// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * command: commands that take the records of facilities (--facility N=CMD).
 *
 *   tool ── a file with the record, over a socket ──► server ── its stdin ──► sh -c CMD
 *        ◄────────────── wait(2) status ─────────────
 *
 * A server is forked for each facility before anything is probed, so that it has no descriptor
 * and no memory of a target. What waits is in its socket. A command that does not read, or
 * does not end, holds up its successors only. If the tool is killed, the server ends when it has
 * handed on what it was sent.
 */
#include "tracer/facility.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DESCRIPTORS 3 /* the standard ones */

/** struct server - @socket: -1 no command has this number; @sent: records; @back: statuses */
struct server {
	int socket;
	pid_t pid;
	u64 sent, back, failed;
};

struct dp_commands {
	struct server v[DP_FACILITIES];
};

/* Room for one descriptor beside the message's one byte */
union room {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int receive(int socket)
{
	char byte;
	struct iovec part = { &byte, 1 };
	union room room;
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	int file;

	while (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) < 0)
		if (errno != EINTR)
			return -1;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&file, CMSG_DATA(c), sizeof(file));
	return file;
}

static int run(int file, const char *command)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		dup2(file, STDIN_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

/* ^C at the terminal is for the tool, which then waits for the commands. */
static void serve(int socket, const char *command)
{
	int file, status;

	setpgid(0, 0);
	if (dup2(socket, DESCRIPTORS) < 0)
		_exit(1);
	fcntl(DESCRIPTORS, F_SETFD, FD_CLOEXEC);
	close_range(DESCRIPTORS + 1, ~0u, 0);
	while ((file = receive(DESCRIPTORS)) >= 0) {
		status = run(file, command);
		close(file);
		send(DESCRIPTORS, &status, sizeof(status), MSG_NOSIGNAL);
	}
	_exit(0);
}

static int begin(struct server *v, const char *command)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	fflush(NULL);
	v->pid = fork();
	if (!v->pid)
		serve(sockets[1], command);
	close(sockets[1]);
	if (v->pid < 0) {
		close(sockets[0]);
		return -EAGAIN;
	}
	v->socket = sockets[0];
	return 0;
}

int dp_commands_begin(struct dp_commands **commands, u32 number,
		      const char *command)
{
	struct dp_commands *c = *commands;
	u32 i;

	if (!c) {
		c = *commands = calloc(1, sizeof(*c));
		for (i = 0; c && i < DP_FACILITIES; i++)
			c->v[i].socket = -1;
	}
	return c ? begin(&c->v[number], command) : -ENOMEM;
}

/* Return: false: nothing has come, or nothing comes any more. */
static bool take_status(struct server *v, int flags)
{
	int status;

	if (recv(v->socket, &status, sizeof(status), flags) != sizeof(status))
		return false;
	v->back++;
	v->failed += status != 0;
	return true;
}

int dp_commands_put(struct dp_commands *commands, u32 number, int file)
{
	struct server *v = commands ? &commands->v[number] : NULL;
	char byte = 0;
	struct iovec part = { &byte, 1 };
	union room room = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
				      .cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS } };
	const struct msghdr m = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &room,
				  .msg_controllen = sizeof(room) };

	if (!v || v->socket < 0)
		return -ENOENT;
	/* The server must not wait for room for them. */
	while (take_status(v, MSG_DONTWAIT))
		continue;
	memcpy(CMSG_DATA(&room.head), &file, sizeof(file));
	if (sendmsg(v->socket, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return errno == EAGAIN || errno == ETOOMANYREFS ? -EAGAIN :
								  -EPIPE;
	v->sent++;
	return 0;
}

/* A signal ends the wait. */
static void end(struct server *v, bool wait)
{
	shutdown(v->socket, SHUT_WR);
	while (wait && v->back < v->sent && take_status(v, 0))
		continue;
	close(v->socket);
	/* Somebody else may have reaped it who waits for any child. */
	if (v->back == v->sent)
		waitpid(v->pid, NULL, 0);
}

void dp_commands_end(struct dp_commands *commands, u64 failed[DP_FACILITIES])
{
	u32 i;

	for (i = 0; commands && i < DP_FACILITIES; i++)
		if (commands->v[i].socket >= 0) {
			end(&commands->v[i], failed);
			if (failed)
				failed[i] = commands->v[i].failed +
					    commands->v[i].sent -
					    commands->v[i].back;
		}
	free(commands);
}
