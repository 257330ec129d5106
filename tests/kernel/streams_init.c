// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* streams_init: of the work of programs, what goes through pipes and sockets, and what tells of events. */
#include "tests/kernel/work_kinds.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char some[4096], got[4096];

/* One end is written to, and the other one read. Return: is it the same? */
static int passes(int to, int from)
{
	size_t n = 0;
	ssize_t now;

	memset(got, 0, sizeof(got));
	if (write(to, some, sizeof(some)) != sizeof(some))
		return 0;
	while (n < sizeof(got) &&
	       (now = read(from, got + n, sizeof(got) - n)) > 0)
		n += (size_t)now;
	return n == sizeof(got) && !memcmp(some, got, sizeof(some));
}

static int passes_a_descriptor(const int ends[2])
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec one = { some, 1 };
	struct msghdr m = { .msg_iov = &one,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int pipes[2], sent, good;

	if (pipe2(pipes, O_CLOEXEC))
		return 0;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &pipes[1], sizeof(int));
	good = sendmsg(ends[0], &m, 0) == 1 && recvmsg(ends[1], &m, 0) == 1 &&
	       CMSG_FIRSTHDR(&m);
	memcpy(&sent, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(sent));
	good = good && passes(sent, pipes[0]);
	close(sent);
	close(pipes[0]);
	close(pipes[1]);
	return good;
}

int dp_work_streams(void)
{
	struct iovec two[2] = { { some, 100 }, { some + 100, 200 } };
	int ends[2], pipes[2], good, status;
	pid_t child;

	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 0;
	memset(some, 0x5c, sizeof(some));
	some[7] = 1;
	good = passes(pipes[1], pipes[0]) && passes(ends[0], ends[1]) &&
	       passes_a_descriptor(ends) && writev(pipes[1], two, 2) == 300 &&
	       readv(pipes[0], two, 2) == 300;
	child = fork();
	if (!child)
		_exit(passes(ends[0], pipes[0]) ? 4 : 1);
	good &= read(ends[1], got, sizeof(got)) == sizeof(got) &&
		write(pipes[1], got, sizeof(got)) == sizeof(got) &&
		waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4;
	close(ends[0]);
	close(ends[1]);
	close(pipes[0]);
	close(pipes[1]);
	return good;
}

void dp_work_bring_up(void)
{
	struct ifreq r = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (!ioctl(fd, SIOCGIFFLAGS, &r) && !(r.ifr_flags & IFF_UP)) {
		r.ifr_flags |= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &r);
	}
	close(fd);
}

int dp_work_tcp(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int server = socket(AF_INET, SOCK_STREAM, 0),
	    client = socket(AF_INET, SOCK_STREAM, 0), other, one = 1, good;
	socklen_t size = sizeof(at);

	good = !bind(server, (struct sockaddr *)&at, size) &&
	       !listen(server, 4) &&
	       !getsockname(server, (struct sockaddr *)&at, &size) &&
	       !connect(client, (struct sockaddr *)&at, size);
	other = good ? accept(server, NULL, NULL) : -1;
	good = good && other >= 0 &&
	       !setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one,
			   sizeof(one)) &&
	       passes(client, other) && passes(other, client) &&
	       !shutdown(client, SHUT_WR) && !read(other, got, 1);
	close(other);
	close(client);
	close(server);
	return good;
}

int dp_work_udp(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_DGRAM, 0), good;

	good = !bind(fd, (struct sockaddr *)&at, size) &&
	       !getsockname(fd, (struct sockaddr *)&at, &size) &&
	       sendto(fd, some, 1000, 0, (struct sockaddr *)&at, size) ==
		       1000 &&
	       recv(fd, got, sizeof(got), 0) == 1000 &&
	       !memcmp(some, got, 1000);
	close(fd);
	return good;
}

/* Which interfaces there are */
int dp_work_netlink(void)
{
	struct {
		struct nlmsghdr head;
		struct rtgenmsg body;
	} ask = { { .nlmsg_len = sizeof(ask),
		    .nlmsg_type = RTM_GETLINK,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		  { AF_UNSPEC } };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), good;

	good = send(fd, &ask, sizeof(ask), 0) == sizeof(ask) &&
	       recv(fd, got, sizeof(got), 0) >
		       (ssize_t)sizeof(struct nlmsghdr) &&
	       ((struct nlmsghdr *)got)->nlmsg_type == RTM_NEWLINK;
	close(fd);
	return good;
}

int dp_work_epoll(void)
{
	struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = 1 }, out[4];
	int epoll = epoll_create1(0), event = eventfd(0, EFD_NONBLOCK),
	    timer = timerfd_create(CLOCK_MONOTONIC, 0), good;
	uint64_t n = 3;

	good = !epoll_ctl(epoll, EPOLL_CTL_ADD, event, &e);
	e.data.u32 = 2;
	good &= !epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &e) &&
		!epoll_wait(epoll, out, 4, 0) &&
		write(event, &n, sizeof(n)) == sizeof(n) &&
		epoll_wait(epoll, out, 4, 1000) == 1 && out[0].data.u32 == 1 &&
		read(event, &n, sizeof(n)) == sizeof(n) && n == 3 &&
		!timerfd_settime(timer, 0, &soon, NULL) &&
		epoll_wait(epoll, out, 4, 5000) == 1 && out[0].data.u32 == 2 &&
		read(timer, &n, sizeof(n)) == sizeof(n) && n == 1;
	close(timer);
	close(event);
	close(epoll);
	return good;
}

int dp_work_poll(void)
{
	struct timeval none = { 0 };
	struct pollfd p;
	int pipes[2], good;
	fd_set set;

	if (pipe(pipes))
		return 0;
	p = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	good = !poll(&p, 1, 1) && write(pipes[1], some, 1) == 1 &&
	       poll(&p, 1, 1000) == 1 && p.revents == POLLIN &&
	       select(pipes[0] + 1, &set, NULL, NULL, &none) == 1;
	close(pipes[0]);
	close(pipes[1]);
	return good;
}

int dp_work_told(void)
{
	struct signalfd_siginfo info;
	sigset_t set;
	int watch = inotify_init1(IN_NONBLOCK), signals, good;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_NONBLOCK);
	good = inotify_add_watch(watch, ".", IN_CREATE) > 0 &&
	       !close(open("seen", O_CREAT | O_WRONLY, 0600)) &&
	       !unlink("seen") &&
	       read(watch, got, sizeof(got)) >=
		       (ssize_t)sizeof(struct inotify_event) &&
	       ((struct inotify_event *)got)->mask == IN_CREATE &&
	       !raise(SIGUSR2) &&
	       read(signals, &info, sizeof(info)) == sizeof(info) &&
	       info.ssi_signo == SIGUSR2;
	close(signals);
	close(watch);
	return good && !sigprocmask(SIG_UNBLOCK, &set, NULL);
}
