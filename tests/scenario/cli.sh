#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The command line: verbs, options, output, summary, and exit statuses.
. tests/scenario/lib.sh

cat >"$dir/calls.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void __attribute__((noinline)) tick(void) { __asm__ volatile(""); }
void __attribute__((noinline)) tock(void) { __asm__ volatile(""); }
void deaf(int sig)
{
	unsigned long set = 1ul << (SIGTRAP - 1);
	register long size __asm__("r10") = 8;
	long ret;
	/* Not through libc, where it would be seen. */
	__asm__ volatile("syscall" : "=a"(ret) : "0"(14), "D"(SIG_BLOCK), "S"(&set),
			 "d"(0), "r"(size) : "rcx", "r11", "memory");
	tick();
}
int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 0;
	for (i = 0; i < n; i++) {
		tick();
		if (i % 10 == 0)
			tock();
	}
	signal(SIGUSR1, deaf);
	if (argc > 2 && atoi(argv[2]) == SIGTRAP) {
		deaf(0);
	} else if (argc > 2 && atoi(argv[2])) {
		kill(getpid(), atoi(argv[2]));
	}
	if (n)
		return 7;
	puts("ready");
	fflush(stdout);
	for (;;) {
		tick();
		usleep(1000);
	}
}
END
cc -O1 -o "$dir/calls" "$dir/calls.c" || exit 1
calls="$dir/calls"
# What is said of breakpoints; jump.sh looks at jumps.
export DPROBES_ARM=trap

# run ARGS...: sets $out $err $status
run() {
	"$DPROBES" "$@" >"$dir/stdout" 2>"$dir/stderr"
	status=$?
	out=$(cat "$dir/stdout") err=$(cat "$dir/stderr")
}

# Words about the tool itself
run -V; is "-V" "$status $out" "0 dprobes 0.1.0"
run --version; is "--version" "$status $out" "0 dprobes 0.1.0"
run stat -V; is "stat -V" "$status $out" "0 dprobes 0.1.0"
run --help; like "--help names the verbs" "$status $out" '^0 Usage: dprobes VERB'
for verb in stat list trace run; do
	run $verb --help
	like "$verb --help" "$status $out" "^0 Usage: dprobes $verb"
	run --help
	like "--help has $verb" "$out" "^ +$verb "
done
for verb in stat trace run list disable enable doctor detach insmod lsmod rmmod enabled sysctl dmesg hooks inject graph stacks leaks; do
	run help $verb
	is "help $verb" "$status $err$(printf '%s\n' "$out" | diff - <("$DPROBES" $verb --help))" "0 "
	examples=$(printf '%s\n' "$out" | sed '1,/^Examples:$/d')
	is "its examples" "$(grep -cE "^  dprobes $verb( |\$)" <<<"$examples")" "$(grep -c . <<<"$examples")"
	# With an option behind theirs that there is not, it alone is complained of.
	while read -r _ example; do
		eval "run $(sed 's/ -- / -z -- /; t; s/$/ -z/' <<<"$example")"
		like "$example" "$status $err" "^2 dprobes: $verb: there is no option -z"
	done <<<"$examples"
done
run help; is "help" "$status $out" "0 $("$DPROBES" --help)"
run stat -h; like "stat --help names the limit" "$out" 'SIGTRAP blocked'

# Usage errors: status 2, on stderr alone
usage() {
	local name=$1 pattern=$2
	shift 2
	run "$@"
	like "usage: $name" "$status|$out|$err" "^2\|\|dprobes: .*$pattern"
}
usage "no verb" "verb"
usage "unknown verb" 'no verb "stats"' stats
usage "the nearest verb" 'no verb "trcae"; the nearest is "trace"' trcae
usage "the one that begins so" 'no verb "dis"; the nearest is "disable"' dis
usage "no verb is near" 'no verb "statistics"; see' statistics
usage "help of an unknown verb" 'no verb "lst"; the nearest is "list"' help lst
usage "help of two verbs" 'help takes one verb' help list stat
usage "unknown option" 'no option --frob' stat --frob f -- true
usage "unknown short option" 'no option -z' stat -z f -- true
usage "unknown short option behind a long one" 'no option -z' stat --json -zq f -- true
usage "unknown short option of --getvars" 'no option -z' --getvars -za
usage "an empty name for the output" '-o needs the name' stat -o '' f -- true
usage "an empty command" 'no command after --' stat f -- ''
usage "an alias for nothing" '"x=" is no alias' insmod -a x= m.so -- true
usage "an alias of nothing" '"=x" is no alias' insmod -a =x m.so -- true
usage "option without its value" '-p needs a value' stat f -p
usage "option with a value too many" '--json takes no value' stat --json=1 f -- true
usage "no SPEC" 'needs a SPEC' stat -- true
usage "no target" '-p PID or -- CMD' stat f
usage "two targets" 'not both' stat f -p 1 -- true
usage "two processes" 'several processes' stat f -p 1 -p 2
usage "no command" 'no command after --' stat f --
usage "list SPEC without a target" '-p PID or -- CMD' list f
usage "a duration that is none" 'not a duration' stat f --duration soon -- true
usage "a negative duration" 'not a duration' stat f --duration -1 -- true
# What a verb does not use it refuses, and names.
refuses() { # VERB OPTION...
	local verb=$1 option
	shift
	for option in "$@"; do
		# shellcheck disable=SC2086
		usage "$verb $option" "$verb does not use .*${option%% [0-9a-z/]*}" $verb $option
	done
}
refuses stat -w "-n 3" "-a a=b"
refuses trace -w "-i 1s" "-a a=b" --all "--top 3"
refuses run -w "-i 1s" "-a a=b" --pending --all "--top 3"
refuses list -q "-n 3" "-i 1s" -w -f "-a a=b" --pending "--duration 1s" --all "--top 3"
refuses doctor -v -w -f "-a a=b" --pending "--duration 1s" "-- true" --all "--top 3"
refuses detach "-o $dir/file" -v -w -f "-a a=b" --pending --json "--duration 1s" "-- true" --all "--top 3"
refuses disable "-o $dir/file" -q -v -w -f "-a a=b" --pending --json "--duration 1s" "-- true" --all "--top 3"
refuses enable "-o $dir/file" -q -v -w -f "-a a=b" --pending --json "--duration 1s" "-- true" --all "--top 3"
refuses insmod -q -v -w -f --pending --json "--duration 1s" --all "--top 3"
refuses lsmod -q -w -f "-a a=b" --pending --json "--duration 1s" "-- true" --all "--top 3"
refuses rmmod -q -v -w -f "-a a=b" --pending --json "--duration 1s" "-- true" --all "--top 3"
refuses enabled -q -v -w -f "-a a=b" --pending --json "--duration 1s" "-- true" --all "--top 3"
refuses sysctl -q -v -w -f "-a a=b" --pending --json "--duration 1s" "-- true" --all "--top 3"
refuses dmesg -q -v -f "-a a=b" --pending --json "-- true" --all "--top 3"
usage "dmesg --duration without -w" "duration goes with -w" dmesg -p 1 --duration 1s
usage "--getvars --reset --json" "reset does not use --json" --getvars --all --reset --json
usage "--insert of nothing" 'which program' --insert -P 1
usage "--insert of two programs" 'one program is inserted at a time' -i a.dp b.dp -P 1
usage "--insert without a process" 'has the path of its file as its name; -p PID' --insert examples/malloc.dp
usage "--insert: what it does not have" '--insert: there is no option --nosuch' -i a.dp -P 1 --nosuch
usage "--insert of a command" '--insert does not use -- CMD' -i a.dp -- true
usage "--insert --merge --replace" 'are two things' -i a.dp -P 1 -m -c
usage "--insert: no list of groups" '"4-x" is not of it' -i a.dp -P 1 -u 1,4-x
usage "--insert: no list of types" '--type is a list of numbers' -i a.dp -P 1 --type=a
usage "--insert: a flag with a value" '--merge takes no value' -i a.dp -P 1 --merge=1
usage "--insert: no value" '--group needs a value' -i a.dp -P 1 --group
usage "--insert: no log item" '"XYZ" is not of it' -i a.dp -P 1 --log XYZ
usage "--insert: a log target of long ago" 'LTT is no more' -i a.dp -P 1 --log-target LTT
usage "--apply-ppdf without a process" '--apply-ppdf needs -P PID' -p a.ppdf
usage "--apply-ppdf -D" '--apply-ppdf does not use -D' --apply-ppdf a.ppdf -P 1 -D a=b
usage "--build-ppdf of nothing" '--build-ppdf needs a FILE' -b
usage "--build-ppdf --merge" 'there is no option' --build-ppdf a.dp --merge
usage "--remove of nothing in particular" '--remove needs --all or --name' -r
usage "--remove of all and one" '--remove needs --all or --name' -r -a --name x
usage "--query with a name" 'takes no name \("x"\)' -q -a x
usage "--query -D" '--query does not use -D' -q -a -D a=b
is "an option that is refused makes no file" "$([ -e "$dir/file" ] || echo none)" none
# Every option of every verb: the help tells of those that are used, and of no others; so does the manual page.
sed -nE 's/^\t\{ "([a-z-]+)", (no|required)_argument, NULL, (.*) \},$/\1 \2 \3/p' cli/options.c >"$dir/options"
like "options, as the tool has them" "$(wc -l <"$dir/options")" '^[2-9][0-9]$'
verbs=$("$DPROBES" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
like "verbs, likewise" "$(wc -w <<<"$verbs")" '^(1[4-9]|[2-9][0-9])$'
for verb in $verbs; do
	told= used=
	is "help $verb is $verb --help" "$("$DPROBES" help $verb)" "$("$DPROBES" $verb --help)"
	"$DPROBES" $verb --help >"$dir/help"
	while read -r option takes letter; do
		value= brief=
		case $letter in "'"?"'") brief=-${letter:1:1} ;; esac
		case $option in
		help | version) continue ;;
		duration | interval) value=1s ;; output) value=/dev/null ;; alias) value=a=b ;; *) [ "$takes" = no ] || value=1 ;;
		esac
		grep -qE -- "^ +(-[a-zA-Z], )?--$option( |\$)" "$dir/help" && told="$told $option"
		# An option that there is not makes sure that nothing is done.
		"$DPROBES" $verb --$option $value -z 2>&1 | grep -q "$verb does not use .*--$option\b" || used="$used $option"
		[ -z "$brief" ] || is "$verb $brief is $verb --$option" "$("$DPROBES" $verb $brief $value -z 2>&1)" "$("$DPROBES" $verb --$option $value -z 2>&1)"
	done <"$dir/options"
	is "$verb --help has what $verb uses" "$told" "$used"
done
is "the manual page has all of them" "$(while read -r option _; do
	grep -qE -- "^\.It .*Fl -$option\b" man/dprobes.1 || echo "$option"
done <"$dir/options")" ""
run stat f -o /no/such/dir/file -- true
like "an output that cannot be written" "$status $err" '^1 dprobes: cannot write /no/such/dir/file'

# Counts
run stat tick tock 'tick+0x0' -- "$calls" 1000
is "a table" "$out" "        HITS   MISSED  MODE  PROBE
        1000        0  trap  calls:tick
        1000        0  trap  calls:tick
         100        0  trap  calls:tock"
is "the command's status" "$status" 7
is "the summary" "$err" \
	"dprobes: 3 probes at 2 sites (2 trap, 0 jump): 2100 hits, 0 missed; calls exited with status 7"
run stat --json 't[io]ck' -- "$calls" 10
is "JSON, a glob in the order of addresses" "$out" \
	'{"probe":"calls:tick","hits":10,"missed":0,"mode":"trap"}
{"probe":"calls:tock","hits":1,"missed":0,"mode":"trap"}'
run stat -q tick -- "$calls" 10; is "-q: no summary" "$err" ""
run stat -v tick -- "$calls" 10
like "-v: address and reason" "$out" ' 10 .* trap  calls:tick  0x[0-9a-f]+  [a-z]'
run stat -o "$dir/file" tick -- "$calls" 10
is "-o: nothing on stdout" "$out" ""
is "-o: the table" "$(hits "$dir/file" calls:tick)" 10
is "options behind the specs, whatever POSIXLY_CORRECT says" \
	"$(POSIXLY_CORRECT=1 "$DPROBES" stat tick -q --json -- "$calls" 10)" \
	'{"probe":"calls:tick","hits":10,"missed":0,"mode":"trap"}'
"$DPROBES" stat tick -- /bin/true >/dev/null 2>"$dir/stderr"
is "an unknown name is an error, not a zero" "$?" 2
"$DPROBES" stat libc.so.6:malloc -- /bin/true >/dev/full 2>"$dir/stderr"
is "a full disk is a failure" "$?" 1
like "and says so" "$(cat "$dir/stderr")" '^dprobes: cannot write the output: No space'
"$DPROBES" stat --json 'libc.so.6:*' -- /bin/true 2>"$dir/stderr" | head -1 >"$dir/stdout"
is "a reader that goes away: success" "${PIPESTATUS[0]}" 0
like "what it has read" "$(cat "$dir/stdout")" '^\{"probe":'
is "and nothing is said of it" "$(grep -c written "$dir/stderr")" 0
"$DPROBES" list 'libc.so.6:*' -- /bin/true 2>"$dir/stderr" | head -1 >/dev/null
is "list and a reader that goes away" "${PIPESTATUS[0]}" 0
"$DPROBES" stat --help | true
is "--help and nobody who reads it" "${PIPESTATUS[0]}" 0
is "the command has SIGPIPE as it was" "$("$DPROBES" stat -q -o /dev/null libc.so.6:malloc -- grep SigIgn /proc/self/status)" \
	"$(grep SigIgn /proc/self/status)"
is "and if it was ignored" "$(trap '' PIPE; "$DPROBES" stat -q -o /dev/null libc.so.6:malloc -- grep SigIgn /proc/self/status)" \
	"$(trap '' PIPE; grep SigIgn /proc/self/status)"

# A module by its path
(cd "$dir" && "$(realpath "$OLDPWD")/$DPROBES" stat -q -o counts ./calls:tick "../${dir##*/}/calls:tock" -- ./calls 10) 2>"$dir/stderr"
is "a path from here" "$? $(awk '{ print $1, $4 }' "$dir/counts" | tr '\n' ';')" "7 HITS PROBE;10 calls:tick;1 calls:tock;"
ln -s calls "$dir/linked"
run stat -q "$dir/linked:tick" "$calls:tick" calls:tick -- "$calls" 10
is "through a link, as it is, and by its name" "$(awk 'NR > 1 { print $1 }' "$dir/stdout" | tr '\n' ' ')" "10 10 10 "
run stat ./calls:tick -- "$calls" 10
like "a path that leads nowhere from here" "$status $err" '^2 dprobes: no module "./calls" in process'

# Whatever of them is closed, the tool takes nothing else for it, least of all the target's memory; and its command has it closed.
open_ones='for n in 0 1 2; do [ ! -e /proc/$$/fd/$n ] || printf %s $n >&9; done'
for closed in '1>&-' '2>&-' '1>&- 2>&-' '0<&- 1>&-' '0<&- 2>&-' '0<&- 1>&- 2>&-'; do
	eval '{ timeout -k 1 20 "$DPROBES" stat libc.so.6:malloc -- sh -c "$open_ones" 9>"$dir/open" '"$closed"'; }' >/dev/null 2>"$dir/stderr"
	got=$?
	[[ $closed == *1* ]] && want=1 || want=0
	is "closed: $closed" "$got $(cat "$dir/open")" "$want $(echo 012 | tr -d "$(echo "$closed" | tr -cd 012)")"
done

# What ended it
( ulimit -c 0; "$DPROBES" stat tick -- "$calls" 10 11 ) >"$dir/stdout" 2>"$dir/stderr"
is "a command killed by SIGSEGV: the tool dies the same way" $? $((128 + 11))
like "and says so" "$(cat "$dir/stderr")" 'calls was killed by SIGSEGV'
run stat tick -- "$calls" 10 9
like "a command killed by SIGKILL" "$status $err" '^137 .*10 hits.* was killed by SIGKILL'
run stat tick -- "$calls" 10 36
like "a command killed by a real-time signal" "$status $err" '^164 .*killed by (signal 36|SIGRT)'
run stat -f tick -- "$calls" 10 36
like "and with its children" "$status $err" '^164 .*; process [0-9]+ was killed by (signal 36|SIGRT)'
run stat libc.so.6:setenv -- /bin/sh -c 'exec /bin/true'
like "exec" "$status $err" '^0 dprobes: .*; exec of /.*true ended the probes'
run stat libc.so.6:setenv -- /bin/sh -c 'exec /bin/false'
is "the status of what was executed" "$status" 1
run stat --duration 200ms libc.so.6:nanosleep -- /bin/sh -c 'sleep 3; exit 3'
like "--duration with a command: its status, later" "$status $err" '^3 .*--duration is over'

( ulimit -c 0; "$DPROBES" stat tick -- "$calls" 10 5 ) >"$dir/stdout" 2>"$dir/stderr"
like "a trap in a thread that blocks SIGTRAP" "$? $(cat "$dir/stderr")" \
	'^133 .*calls \([0-9]+\) was killed by a trap .*SIGTRAP blocked.* calls:tick$'
start "$calls"
(
	poll 10 sh -c "'$DPROBES' list -p $victim | grep -q tick"
	kill -KILL "$victim"
) &
run stat tick -p "$victim"
like "a process that ends" "$status $err" "^0 .*; (calls was killed by SIGKILL|process $victim exited)\$"
ulimit -c 0
start "$calls" 0 deaf
(
	poll 5 sh -c "'$DPROBES' list -p $victim | grep -q tick"
	kill -USR1 "$victim"
) &
run stat tick -p "$victim"
like "a process that dies of our trap" "$status $err" \
	"^0 .*; (calls \($victim\) was killed by a trap .*SIGTRAP blocked.* calls:tick|process $victim exited)\$"
mkfifo "$dir/go"
start /bin/sh -c 'echo ready; read line <"$1"; exec sleep 5' - "$dir/go"
(
	poll 10 sh -c "'$DPROBES' list -p $victim | grep -q setenv"
	echo >"$dir/go"
) &
run stat libc.so.6:setenv -p "$victim"
like "a process that executes another program" "$status $err" '^0 .*; exec of /.*sleep ended the probes$'

start "$calls"
run stat --duration 0.3s tick -p "$victim"
like "--duration with a process" "$status $err" '^0 .*; --duration is over'
like "hits of a running process" "$(hits "$dir/stdout" calls:tick)" '^[1-9][0-9]*$'
for sig in INT TERM HUP; do
	"$DPROBES" stat tick -p "$victim" >"$dir/stdout" 2>"$dir/stderr" &
	tool=$!
	poll 5 sh -c "'$DPROBES' list -p $victim | grep -q tick"
	kill -$sig $tool
	wait $tool
	like "SIG$sig is success" "$? $(cat "$dir/stderr")" '^0 .*; interrupted$'
done
is "nothing stays behind" "$("$DPROBES" list -p "$victim" 2>&1)" ""

# Listings
run list 't[io]ck' tick+0 -- "$calls" 10
is "list SPEC" "$status $out" "0 calls:tick
calls:tock
calls:tick"
run list '*:t[io]*' -- "$calls" 10
is "a glob in each module that a glob stands for" "$(printf '%s\n' "$out" | cut -d: -f1 | sort -u | grep -cE '^(calls|libc\.so\.6)$')" 2
is "list SPEC runs nothing" "$("$DPROBES" list tick -- /bin/sh -c 'echo ran' 2>/dev/null)" ""
run list 'libc.so.6:mem*' -p "$victim"
first=$(printf '%s\n' "$out" | sort)
again=$("$DPROBES" list $out -p "$victim" 2>&1 | sort)
is "every line can be pasted back" "$again" "$first"
is "and no line is there twice" "$(printf '%s\n' "$first" | uniq -d)" ""
run list -v tick -p "$victim"
like "list -v SPEC" "$out" '^calls:tick  trap  [a-z]'
run list --json tick+0 -p "$victim"
like "list --json SPEC" "$out" \
	'^\{"addr":"0x[0-9a-f]+","kind":"k","symbol":"tick","offset":0,"module":"calls","mode":"trap","reason":"[^"]+","flags":"","hits":0,"missed":0\}$'
run list nothing -p "$victim"; is "list of what is nowhere" "$status" 1
run list 'noth*' -p "$victim"; is "list of a glob that matches nothing" "$status" 1
run list 'f+' -p "$victim"; is "list of a bad spec" "$status" 2

"$DPROBES" stat libc.so.6:usleep tick -p "$victim" >/dev/null 2>&1 &
tool=$!
poll 5 sh -c "'$DPROBES' list -p $victim | grep -q tick"
run list -p "$victim"
line() { printf '%s\n' "$out" | grep -F "$1"; }
like "armed: the kernel's format" "$(line tick | tr ' ' _)" '^[0-9a-f]{16}__k__tick\+0x0____$'
like "armed: with a module" "$(line usleep)" '^[0-9a-f]{16}  k  usleep\+0x0  libc\.so\.6 $'
run list
like "armed: in every process" "$(line tick | tr ' ' _)" '^[0-9a-f]{16}__k__tick\+0x0____$'
run list -v -p "$victim"
like "armed: -v" "$(line tick)" "pid $victim  trap  .* hits  0 missed"
run list --json -p "$victim"
like "armed: --json" "$(line tick)" '"symbol":"tick","offset":0,"module":"","mode":"trap".*"hits":[1-9]'
run stat tick -p "$victim"
like "a second tool is refused" "$status $err" '^1 dprobes: .*'"$tool|$victim"
interrupt $tool

# Options: dprobes(1) names the verbs that have each
# An option, = if it has a value, and its verbs: those behind "With", up to the colon
perl -ne '
	$on = /Options/ if /^\.Ss/;
	next unless $on;
	if (/^\.It /) {
		$name = /Fl -([a-z-]+)/ ? $1 : "";
		$name .= "=" if /Fl -\Q$name\E Ar/;
		($first, $of) = (1, 0);
		next;
	}
	($of, %verbs) = $first && $name && /^With$/ if $first;
	$first = 0;
	next unless $of;
	$verbs{$_} = 1 for /^\.Cm/ ? grep { /^[a-z]+$/ } split : ();
	next unless /:$/;
	print "$name ", join(" ", sort keys %verbs), "\n" if %verbs;
	$of = 0;
' man/dprobes.1 >"$dir/told"
verbs=$("$DPROBES" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
while read -r option of; do
	has=
	for verb in $verbs; do
		value=
		[ "${option%=}" = "$option" ] || value=1
		"$DPROBES" "$verb" "--${option%=}" $value 2>&1 </dev/null | grep -q "does not use -" || has+="$verb "
	done
	is "verbs with --${option%=}" "$(xargs -n 1 <<<"$of" | sort | xargs)" "$(xargs -n 1 <<<"$has" | sort | xargs)"
done <"$dir/told"
is "so it is with more than thirty" "$(($(wc -l <"$dir/told") > 30))" 1

plan
