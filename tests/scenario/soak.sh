#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Servers under load, probed and left again CYCLES times each: no request is lost, no answer is wrong,
# and their mappings, descriptors and memory are what they were.
. tests/scenario/lib.sh
n=${CYCLES:-5}
code=tests/victims/soak
ulimit -c 0

# state: what has to be the same afterwards. Heaps, stacks of threads and code that a program makes come and
# go by themselves.
state() {
	{
		awk '$2 ~ /x/ && $6 != "" || /dprobes/ { print $1, $2, $6 }' "/proc/$victim/maps"
		find "/proc/$victim/fd" -type l -printf '%l\n' 2>/dev/null | grep -E 'dprobes|memfd' | sort
		grep -E '^(SigCgt|SigIgn|TracerPid)' "/proc/$victim/status"
	} 2>/dev/null
}
resident() { awk '/^RssAnon/ { print $2 }' "/proc/$victim/status"; }
descriptors() { find "/proc/$victim/fd" -type l 2>/dev/null | wc -l; }

# soak NAME SPEC...: cycles on $victim; counts what went wrong
soak() {
	local name=$1 i bad=0 quiet=0 before memory files
	shift
	if ! "$DPROBES" stat -q -o /dev/null --duration 50ms "$@" -p "$victim" 2>"$dir/err"; then
		if grep -q 'statically linked' "$dir/err"; then skip "$name" "$(head -n 1 "$dir/err")"
		else not_ok "$name: can be probed" "$(cat "$dir/err")"; fi
		return
	fi
	before=$(state)
	memory=$(resident)
	files=$(descriptors)
	for ((i = 0; i < n; i++)); do
		if ! "$DPROBES" stat -q -o "$dir/counts" --duration 20ms "$@" -p "$victim" 2>"$dir/err"; then
			bad=$((bad + 1))
			sed 's/^/# /' "$dir/err"
		elif ! awk 'NR > 1 { sum += $1 } END { exit !sum }' "$dir/counts"; then
			quiet=$((quiet + 1))
		fi
		kill -0 "$victim" 2>/dev/null || break
	done
	is "$name: probed and left $n times" "$bad" 0
	is "$name: hits, most times" "$((quiet * 2 > n))" 0
	is "$name: it is as it was" "$(state)" "$before"
	[ $(($(resident) - memory)) -lt $((memory / 2 + 20000)) ] && ok "$name: so is its memory" ||
		not_ok "$name: so is its memory" "$memory kB, then $(resident) kB"
	[ $(($(descriptors) - files)) -le 8 ] && ok "$name: so are its descriptors" ||
		not_ok "$name: so are its descriptors" "$files, then $(descriptors)"
}

# load KIND WHERE: clients of $victim; end_load NAME
load() {
	: >"$dir/load"
	/usr/bin/python3 "$code/client.py" "$@" >"$dir/load" 2>&1 &
	clients=$!
	pids+=("$clients")
	poll 20 test -s "$dir/load"
}
end_load() {
	kill -TERM "$clients"
	wait "$clients"
	like "$1: every request was answered, and right" "$? $(tail -n 1 "$dir/load")" '^0 ok [1-9]'
	kill -TERM "$victim"
	wait "$victim"
	like "$1: it ends as ever" "$?" '^(0|143)$'
}
end_self() {
	kill -TERM "$victim"
	wait "$victim"
	like "$1: all it did was right" "$? $(tail -n 1 "$dir/out")" '^0 ok [1-9]'
}
# have NAME TOOL...
have() {
	local tool
	for tool in "${@:2}"; do
		command -v "$tool" >/dev/null || { skip "$1" "$tool is not there: make check-victims"; return 1; }
	done
}

if have redis redis-server; then
	start redis-server --port 0 --unixsocket "$dir/redis" --save '' --appendonly no --dir "$dir"
	poll 10 test -S "$dir/redis"
	load redis "$dir/redis"
	soak redis 'processCommand' libc.so.6:memcpy libc.so.6:write 'zmalloc*' lookupKeyReadWithFlags
	end_load redis
fi

start /usr/bin/python3 "$code/threads.py"
soak "python3 with threads" 'PyObject_Malloc' _PyEval_EvalFrameDefault libc.so.6:malloc 'PyObject_Call*'
end_self "python3 with threads"

if have node node; then
	start node "$code/server.js"
	load http "$(cat "$dir/out")"
	soak node libc.so.6:malloc libc.so.6:epoll_wait libc.so.6:write libc.so.6:read
	end_load node
fi

if have "a Go server" go; then
	if CGO_ENABLED=0 GOCACHE="$dir/cache" GO111MODULE=off go build -o "$dir/server" "$code/server.go" 2>"$dir/err"; then
		start "$dir/server"
		load http "$(cat "$dir/out")"
		soak "a Go server" main.handle main.deep runtime.mallocgc 'net/http.*ServeHTTP'
		end_load "a Go server"
	else
		skip "a Go server" "it is not built: $(head -n 1 "$dir/err")"
	fi
fi

if have "a static program of musl" musl-gcc; then
	musl-gcc -O2 -static -pthread -o "$dir/static" "$code/static.c" &&
		start "$dir/static"
	soak "a static program of musl" malloc free vfprintf strcmp work
	end_self "a static program of musl"
fi

postgres=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if [ -x "$postgres/initdb" ] && command -v pgbench >/dev/null && [ "$(id -u)" = 0 ] && id postgres >/dev/null 2>&1; then
	as() { setpriv --reuid=postgres --regid=postgres --clear-groups env -u PGHOST PATH="$postgres:$PATH" "$@"; }
	chmod 711 "$dir"
	install -d -o postgres "$dir/pg"
	as initdb -A trust -D "$dir/pg/data" >"$dir/err" 2>&1 </dev/null
	# What it says first goes to stderr.
	start as sh -c 'exec "$@" 2>&1' sh postgres -D "$dir/pg/data" -k "$dir/pg" -c listen_addresses= -c fsync=off
	poll 20 as pg_isready -q -h "$dir/pg"
	as pgbench -q -i -h "$dir/pg" postgres >"$dir/err" 2>&1
	as pgbench -c 3 -T 100000 -h "$dir/pg" postgres >"$dir/load" 2>&1 &
	clients=$!
	pids+=("$clients")
	server=$victim
	# One that serves a client of pgbench: what it asks at first it asks others, which leave.
	serving() {
		victim=$(as psql -h "$dir/pg" -XAtc "select pid from pg_stat_activity where query ~ '^(UPDATE|END)' limit 1" postgres 2>/dev/null)
		[ -n "$victim" ]
	}
	poll 10 serving
	soak "postgres" ExecutorRun heap_update libc.so.6:memcpy 'XLogInsert*' palloc
	kill -TERM "$clients"
	wait "$clients"
	is "postgres: no transaction failed" "$(grep -cE 'ERROR|FATAL|aborted' "$dir/load")" 0
	is "postgres: the books are balanced" "$(as psql -h "$dir/pg" -XAtc \
		'select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history)
			and (select sum(bbalance) from pgbench_branches) = (select sum(delta) from pgbench_history)
			and (select count(*) from pgbench_history) > 100' postgres 2>&1)" t
	kill -TERM "$server"
	wait "$server"
else
	skip postgres "its server is not there, or it takes root to be another user: make check-victims"
fi
plan
