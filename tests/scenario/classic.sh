#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# DProbes' own commands: programs that stay in a process. [rows 263, 290, 314, 319]
. tests/scenario/lib.sh

# A hold is nobody's child: cleanup() of lib.sh does not know it.
holder() { "$DPROBES" -q -a -P "$victim" --json 2>/dev/null | sed -n 's/.*"hold":\([0-9]*\),.*/\1/p' | head -n 1; }
ended() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; }
put_away() { # all holds of this test's victims
	local p
	for p in "${pids[@]:-}"; do [ -z "$p" ] || "$DPROBES" -r -a -P "$p" 2>/dev/null; done
	cleanup
}
trap put_away EXIT

classic() { # ARGS...: sets $status, $out and $err
	"$DPROBES" "$@" >"$dir/stdout" 2>"$dir/stderr"
	status=$?
	out=$(cat "$dir/stdout") err=$(cat "$dir/stderr")
}
# An asker on a busy machine may be told that the hold does not answer, and tries again.
answers() { classic "$@"; ! [[ $err == *"does not answer"* ]]; }
order() { poll 10 answers "$@"; }
local_of() { "$DPROBES" -g -a -p "$victim" --json | sed -n "s/.*\"space\":\"lv\",\"index\":$1,\"value\":\([0-9]*\)}/\1/p"; }
# row NAME FIELD: of the point with this probe
row() { "$DPROBES" -q -a -P "$victim" --json | grep "\"probe\":\"$1\"" | sed -n "s/.*\"$2\":\(\[[^]]*\]\|\"[^\"]*\"\|[0-9]*\).*/\1/p"; }
text_of() { # bytes of the victim's functions
	local f at base
	base=$((16#$(awk -F- '/switched$/ { print $1; exit }' "/proc/$victim/maps")))
	for f in sw_fast sw_other sw_inner sw_outer; do
		at=$((16#$(nm "$VICTIMS/switched" | awk -v f=$f '$3 == f { print $1 }')))
		[ $at -ge $((0x400000)) ] || at=$((base + at))
		dd if="/proc/$victim/mem" bs=16 count=1 iflag=skip_bytes skip=$at 2>/dev/null | od -An -tx1
	done
}

program() { # FILE NAME REST...
	printf 'name = %s\nmodtype = user\nmajor = 1\n%b\n' "$2" "$3" >"$dir/$1.dp"
}
program two switched 'vars = 2\noffset = sw_fast\nminor = 1\ngroup = 1\ninc lv,0\noffset = sw_other\nminor = 2\ngroup = 2\ninc lv,1'

# The process stays probed when the command has ended.
obey "$VICTIMS/switched"
before=$(text_of)
exec 8>"$dir/other"
classic --insert "$dir/two.dp" -P "$victim"
exec 8>&-
is "an insertion" "$status" 0
like "what it says" "$err" "2 of 2 points armed in process $victim; process [0-9]+ holds them"
hold=$(holder)
like "the hold is seen by its name" "$(ps -o args= -p "$hold")" '^dprobes hold'
is "and by the kernel's name of it" "$(cat "/proc/$hold/comm")" "dprobes hold"
bid c c
is "hits after the command has ended" "$(row switched:sw_fast hits)" 200
is "its variables" "$(local_of 0) $(local_of 1)" "200 200"
is "status bits" "$(row switched:sw_fast status) $(row switched:sw_other flags)" '3 ["compiled","active"]'
like "for people" "$("$DPROBES" --query --name switched)" 'switched:sw_fast  0x3 compiled,active  200 hits, 200 run, 0 passed'
out=$("$DPROBES" -q -a -x -P "$victim")
like "what it runs" "$out" '^ +inc lv,1$'
like "and its variables" "$out" 'lv\[1\] = 0xc8 \(200\)'
"$DPROBES" -g -a -p "$victim" --reset
bid c
is "variables are made zero" "$(local_of 0)" 100

is "it has no file of the command's" "$(ls -l "/proc/$hold/fd" | grep -c "$dir/")" 0
classic stat switched:sw_fast -p "$victim" --duration 0.1
like "another dprobes there" "$status $err" '^1 .*already probed'
order -r --name nosuch -P "$victim"
is "no such program" "$status" 1
order --remove --name switched
is "a removal" "$status $err" "0 "
poll 1 ended "$hold"
is "the hold has ended" "$?" 0
is "the text is as it was" "$(text_of)" "$before"
bid c
is "nothing is probed" "$("$DPROBES" list -p "$victim")" ""
classic -q -a -P "$victim"
like "nothing is held" "$status $err" '^1 .*no process holds'
dismiss q
is "the victim" "$?" 0

# Some points can be armed, and others cannot.
obey "$VICTIMS/switched"
program some switched 'offset = sw_fast\nopcode = 0xf1\nminor = 1\ninc gv,0\noffset = nosuch\nminor = 2\ninc gv,0\noffset = sw_other\nminor = 3\nmax_hits = 150\nlog 0\noffset = sw_inner\nminor = 4\npass_count = 20\nmax_hits = 0\nlog 0'
sed -i 's/^major/gvars = 1\nmajor/' "$dir/some.dp"
classic -i "$dir/some.dp" -P "$victim" -o "$dir/records"
is "refused points" "$status" 1
like "how many" "$err" '2 of 4 points armed'
like "the opcode is another" "$err" 'some.dp:6:10: 0x[0-9a-f]+, not 0xf1, is the opcode of switched:sw_fast'
like "with a caret" "$err" '^ +\^~~~'
like "no such symbol" "$err" 'some.dp:[0-9]+:10: .*nosuch'
bid c c
is "the status of a wrong opcode" "$(row switched:nosuch status) $(row '.*sw_fast' flags)" '33 ["compiled","opcode-mismatch"]'
is "after its last hit" "$(row switched:sw_other flags) $(row switched:sw_other run)" '["compiled","disabled"] 150'
is "after those that pass" "$(row switched:sw_inner passed)" 20
order -r -a -P "$victim"
is "one that is not compared" "$(classic -i "$dir/some.dp" --dont-verify-opcodes -P "$victim"; echo "$status $err" | grep -o '[0-9] of [0-9] points')" "3 of 4 points"
order -r -a -P "$victim"

# Groups, types; options as DProbes spelt them.
classic -i "$dir/two.dp" -u=2 -P "$victim" -f -l PID UID --stop-cpus
like "one group" "$status $err" '^0 .*stop-cpus is not needed'
like "of its points" "$err" '1 of 1 point armed'
is "the other one is not there" "$(row switched:sw_fast hits)" ""
order -r -a -P "$victim"
classic -i "$dir/two.dp" --group 7 -P "$victim"
like "no point of that group" "$status $err" '^1 .*none of its points'

# Records go to a file.
program log switched 'offset = sw_outer\nminor = 9\npush 7\nlog 1'
classic -i "$dir/log.dp" -P "$victim" --json -o "$dir/records"
bid c
order -r -a -P "$victim"
is "records in a file" "$(wc -l <"$dir/records") $(grep -c 'switched:sw_outer' "$dir/records")" "100 100"

# What is refused leaves what is there.
classic -i "$dir/two.dp" -P "$victim"
hold=$(holder)
sed 's/^major/allow = write\nmajor/' "$dir/log.dp" >"$dir/writes.dp"
classic -i "$dir/writes.dp" -P "$victim" -m --allow reg
like "a program that asks for too much" "$status $err" '^[12] .*writes.dp:3:.*more than --allow permits'
bid c
is "the points of the first" "$(row switched:sw_fast hits) $(holder)" "100 $hold"
order -r -a -P "$victim"

# The end of the hold, and of the process.
classic -i "$dir/two.dp" -P "$victim"
hold=$(holder)
kill -KILL "$hold"
poll 10 ended "$hold"
bid c
classic -i "$dir/two.dp" -P "$victim"
is "after a hold that was killed" "$status $(grep -v nobody <<<"$err" | sed "s/[0-9]* holds/N holds/")" "0 dprobes: 2 of 2 points armed in process $victim; process N holds them"
bid c
is "the next one counts" "$(row switched:sw_fast hits)" 100
hold=$(holder)
kill -TERM "$hold"
poll 10 ended "$hold"
is "a hold that is told to end leaves nothing" "$(text_of)" "$before"
classic -i "$dir/two.dp" -P "$victim"
hold=$(holder)
dismiss q
is "the victim's own end" "$?" 0
poll 10 ended "$hold"
is "ends the hold" "$?" 0

printf 'name = x\nmodtype = user\nmajor = 1\noffset = f\nnonsense\n' >"$dir/bad.dp"
# Merged, and replaced, while threads call two functions in turn: each call is seen by one program.
begin_alternate() { # THREADS
	obey "$VICTIMS/alternate" "$1"
}
stop() { # the victim says how often each function was called: $first $second
	bid s
	read -r first second <<<"$(tail -n 1 "$dir/out")"
}
var() { "$DPROBES" -g -a -p "$victim" --json | sed -n "s/.*\"space\":\"$1\",\"index\":$2,\"value\":\([0-9]*\)}/\1/p"; }
alternating() { # FILE SPACE INDEX INDEX
	program "$1" alternate "vars = 8\ngvars = 8\noffset = alt_first\nminor = 1\ninc $2,$3\noffset = alt_second\nminor = 2\ninc $2,$4"
}
alternating l1 lv 0 1
alternating l2 lv 2 3
alternating g1 gv 0 1
alternating g2 gv 2 3
for threads in 1 3; do
	for how in merge replace; do
		begin_alternate $threads
		space=lv
		[ $how = merge ] || space=gv
		one=$dir/${space%v}1.dp two=$dir/${space%v}2.dp
		classic -i "$one" -P "$victim"
		is "$how, $threads threads: inserted" "$status" 0
		bid g
		bad=0
		for i in 1 2 3 4 5 6; do
			order -i "$two" -P "$victim" --$how
			[ "$status" = 0 ] || bad=$err
			order -i "$one" -P "$victim" --$how
			[ "$status" = 0 ] || bad=$err
		done
		is "$how, $threads threads: twelve times" "$bad" 0
		like "$how, $threads threads: both have had their part" "$(var $space 0) $(var $space 2)" '^[1-9][0-9]* [1-9]'
		stop
		is "$how, $threads threads: no call of the first one is lost, or seen twice" "$(($(var $space 0) + $(var $space 2)))" "$first"
		is "$how, $threads threads: nor of the second one" "$(($(var $space 1) + $(var $space 3)))" "$second"
		# A thread may be between the two at each change.
		apart=$(($(var $space 0) - $(var $space 1)))
		[ ${apart#-} -le $((12 * threads)) ]
		is "$how, $threads threads: they change together ($apart)" "$?" 0
		is "$how, $threads threads: what is armed" "$("$DPROBES" list -p "$victim" | awk '{ print $3 }' | sort | xargs)" "alt_first+0x0 alt_second+0x0"
		is "$how, $threads threads: what is held" "$("$DPROBES" -q -a -P "$victim" --json | grep -c '"status":3')" 2
		order -r -a -P "$victim"
		dismiss q
		is "$how, $threads threads: the victim" "$?" 0
	done
done

# A hold that is killed while it changes programs
begin_alternate 2
bid g
bad=0
for ms in 00 02 05 08 15 30; do
	classic -i "$dir/l1.dp" -P "$victim" -q
	[ "$status" = 0 ] || bad=$err
	hold=$(holder)
	"$DPROBES" -i "$dir/l2.dp" -m -q -P "$victim" 2>/dev/null &
	sleep 0.0$ms
	kill -KILL "$hold"
	wait $!
	order -r -a -P "$victim"
done
is "killed holds: the next ones work" "$bad" 0
"$DPROBES" detach -q -p "$victim"
stop
is "killed holds: the calls of the victim" "$first" "$second"
dismiss q
is "killed holds: the victim's end" "$?" 0

# A command that is ended before it has said anything has inserted nothing, or all of it.
obey "$VICTIMS/switched"
switched=$(text_of) bad=0
for ms in 00 01 02 04 06 09 14 25; do
	timeout --foreground -s TERM 0.0${ms}1 "$DPROBES" -i "$dir/two.dp" -q -P "$victim" 2>/dev/null
	status=$?
	if [ $status = 0 ]; then
		order -r -a -P "$victim"
		[ "$status" = 0 ] || bad=$err
	else
		"$DPROBES" -r -a -P "$victim" 2>/dev/null
	fi
done
clean() { [ "$("$DPROBES" list -p "$victim" 2>&1)" = "" ] && [ "$(text_of)" = "$switched" ]; }
poll 10 clean
is "ended while they insert: nothing is left" "$? $bad" "0 0"
dismiss q
is "ended while they insert: the victim's end" "$?" 0

# A new point takes the place of one; the others stay, and so do the variables, which both use.
begin_alternate 1
program reader alternate 'vars = 6\noffset = alt_second\nminor = 7\npush lv,0\npop lv,5'
classic -i "$dir/l1.dp" -P "$victim"
bid g
order -i "$dir/reader.dp" -P "$victim"
like "a program of that name is there" "$status $err" '^1 .*--merge adds to it, --replace puts'
order -m -i "$dir/reader.dp" -P "$victim"
like "--merge in front is no command" "$status $err" '^2 '
order -i "$dir/reader.dp" -m -P "$victim"
is "merged" "$status" 0
poll 10 test "$(var lv 5)" -gt 0
stop
is "what detours have counted is there for the new program" "$(var lv 0) $(var lv 5)" "$first $first"
is "the other point is the old one" "$("$DPROBES" -q -a -P "$victim" --json | sed 's/.*"minor":\([0-9]*\),.*/\1/' | sort | xargs)" "1 7"
program none alternate 'offset = nosuch\nminor = 1\ninc gv,0'
sed -i 's/^major/gvars = 1\nmajor/' "$dir/none.dp"
order -i "$dir/none.dp" -c -P "$victim"
like "no point of it can be armed" "$status $err" 'no point is armed'
is "so nothing is replaced" "$("$DPROBES" -q -a -P "$victim" --json | wc -l)" 2
order -i "$dir/bad.dp" -c -P "$victim"
like "no program" "$status $err" '^2 .*bad.dp:5:1: '
program other libc.so.6 'offset = puts\nminor = 3\ninc gv,0'
sed -i 's/^major/gvars = 1\nmajor/' "$dir/other.dp"
order -i "$dir/other.dp" -P "$victim"
like "another module's" "$status $err" '^0 .*1 of 1 point armed'
is "two names" "$("$DPROBES" -q -a -P "$victim" | grep -c 'in process')" 3
order -r --name libc.so.6 -P "$victim"
is "one of them is removed" "$status $("$DPROBES" -q -a -P "$victim" --json | grep -c libc)" "0 0"
is "the others stay" "$("$DPROBES" -q --name alternate -P "$victim" --json | wc -l)" 2
order -r -a -P "$victim"
dismiss q

# A file for where there are no symbols.
program sym switched 'vars = 3\noffset = sw_fast\nminor = 1\ninc lv,0\noffset = sw_outer + 4\nminor = 2\nopcode = 0x48\ninc lv,1\npush &sw_inner\npop lv,2\noffset = sw_other\nminor = 3\nretprobe = yes\nlog 0'
sed -i 's/^opcode.*//' "$dir/sym.dp"
full=$(realpath "$VICTIMS/switched")
strip -o "$dir/switched" "$full"
addr_of() { # FUNCTION [OFFSET] of the stripped victim, by the one with symbols
	local base
	base=$((16#$(awk -F- '/\/switched$/ { print $1; exit }' "/proc/$victim/maps")))
	echo $((base + 16#$(nm "$full" | awk -v f="$1" '$3 == f { print $1 }') + ${2:-0}))
}
armed() { "$DPROBES" list -p "$victim" --json | sed -n 's/.*"addr":"\([0-9a-fx]*\)".*/\1/p' | while read -r x; do echo $((x)); done | sort | xargs; }
classic --build-ppdf "$dir/sym.dp"
like "built without a file of symbols" "$status $err" '^2 .*sym.dp:1:8: the name is no path of a file; --sym FILE'
classic -b "$dir/sym.dp" -s "$full" -o "$dir/sym.ppdf"
is "built" "$status $err" "0 "
sed "s|^name = .*|name = \"$full\"|" "$dir/sym.dp" >"$dir/path.dp"
classic --build-ppdf "$dir/path.dp"
is "by the path that is its name" "$status $(head -c 4 "$dir/path.ppdf")" "0 PPDF"
sum=$(cksum <"$dir/path.ppdf")
classic --build-ppdf "$dir/path.dp" --sym "$dir/nosuch"
is "a file that is there stays where none can be made" "$status $(cksum <"$dir/path.ppdf")" "1 $sum"
cp "$dir/sym.dp" "$dir/none.dp"
classic --build-ppdf "$dir/none.dp" --sym "$dir/nosuch"
is "and none comes" "$status $(ls "$dir"/none.*)" "1 $dir/none.dp"
# The C library of Debian has symbols of a few functions besides those that it exports.
printf 'name = "%s"\nmodtype = user\noffset = __libc_start_main\nlog 0\n' "$(awk '/libc\.so\.6$/ { print $6; exit }' /proc/$$/maps)" >"$dir/exported.dp"
classic --build-ppdf "$dir/exported.dp" -o "$dir/exported.ppdf"
is "by the names that a file exports" "$status $err" "0 "
obey "$dir/switched"
classic -i "$dir/sym.dp" -P "$victim"
like "the victim has no symbols" "$status $err" '^1 .*no function "sw_fast"'
classic --apply-ppdf "$dir/sym.ppdf" -P "$victim"
like "applied" "$status $(xargs <<<"$err")" '^0 .*3 of 3 points armed'
is "where symbols say" "$(armed)" "$({ addr_of sw_fast; addr_of sw_outer 4; addr_of sw_other; } | sort | xargs)"
bid c
is "what it counts" "$(local_of 0) $(local_of 1)" "100 100"
is "the address of a symbol" "$(local_of 2)" "$(addr_of sw_inner)"
is "all of it is seen" "$("$DPROBES" -q -a -P "$victim" --json | sed 's/.*"hits":\([0-9]*\),.*/\1/' | xargs)" "100 100 100"
build_listed=$("$DPROBES" -q -a -x -P "$victim" | grep build_id)
order -p "$dir/sym.ppdf" -P "$victim" --replace
like "replaced by the same" "$status $err" '^0 .*3 of 3 points armed'
order -r -a -P "$victim"
classic -i "$dir/sym.dp" -s "$full" -P "$victim"
like "symbols of another file" "$status $(xargs <<<"$err")" '^0 .*3 of 3 points armed'
order -r -a -P "$victim"
dismiss q

# Another build, or other instructions. [defect 20]
cp "$dir/switched" "$dir/kept"
head -c 20 /dev/urandom >"$dir/id"
printf '\4\0\0\0\24\0\0\0\3\0\0\0GNU\0' | cat - "$dir/id" >"$dir/note"
objcopy --update-section .note.gnu.build-id="$dir/note" "$dir/kept" "$dir/switched"
obey "$dir/switched"
classic -p "$dir/sym.ppdf" -P "$victim"
like "another build" "$status $err" '^1 .*sym.ppdf:1:1: this is another build \(by its build-id\)'
is "its points are not armed" "$(armed)" ""
dismiss q
cp "$dir/kept" "$dir/switched"
at=$((16#$(nm "$full" | awk '$3 == "sw_fast" { print $1 }')))
at=$(readelf -lW "$full" | awk '$1 == "LOAD" { print $2, $3, $5 }' | while read -r o v n; do [ $at -ge $((v)) ] && [ $at -lt $((v + n)) ] && echo $((at - v + o)); done)
printf '\x0f\x1f\x00' | dd of="$dir/switched" bs=1 seek=$((at + 8)) conv=notrunc 2>/dev/null
obey "$dir/switched"
classic -p "$dir/sym.ppdf" -P "$victim"
like "other bytes behind the first ones" "$status $err" '^1 .*sym.ppdf:1:1: other instructions are at the place'
like "the other points" "$err" '2 of 3 points armed'
is "its status" "$("$DPROBES" -q -a -P "$victim" --json | sed -n 's/.*"minor":1,.*"flags":\(\[[^]]*\]\).*/\1/p')" '["compiled","opcode-mismatch"]'
order -r -a -P "$victim"
classic -p "$dir/sym.ppdf" -P "$victim" --dont-verify-opcodes
like "if it does not matter" "$status $(xargs <<<"$err")" '^0 .*3 of 3 points armed'
order -r -a -P "$victim"
head -c 200 "$dir/sym.ppdf" >"$dir/cut.ppdf"
classic -p "$dir/cut.ppdf" -P "$victim"
like "a damaged file" "$status $err" '^1 .*cut.ppdf is a damaged PPDF file'
classic -p "$dir/sym.dp" -P "$victim"
like "a file that is none" "$status $err" '^1 .*sym.dp is no PPDF file; --build-ppdf makes one'
dismiss q
printf 'name = %s\nbuild_id = %s\nmodtype = user\noffset = sw_fast\nlog 0\n' switched 00 >"$dir/built.dp"
classic -b "$dir/built.dp" -s "$full" -o /dev/null
like "a program for another build" "$status $err" '^2 .*built.dp:2:12: .*/switched is another build'
is "a listing says for which build it is" "$(xargs <<<"$build_listed")" "build_id = $(readelf -n "$full" | awk '/Build ID/ { print $3 }')"
refuses() { # NAME PATTERN REST: what --build-ppdf says of a program
	program wrong switched "$3"
	classic -b "$dir/wrong.dp" -s "$full" -o /dev/null
	like "$1" "$status $err" "^2 .*wrong.dp:[0-9]+:[0-9]+: $2"
	like "$1: where" "$err" '^ +\^'
}
refuses "inside an instruction" 'sw_outer has no instruction that begins there' 'offset = sw_outer + 5\nlog 0'
refuses "no such symbol" 'nosuch is no symbol of the file' 'offset = nosuch\nlog 0'
refuses "an address of a process" 'addresses are of one process; write offset = ' 'address = 0x401000\nlog 0'
refuses "a line" 'lines are looked up in a process' 'offset = switched.c:22\nlog 0'
refuses "a value" 'values are of a process' 'offset = sw_fast\npush v,"n + 1"\nlog 1'
refuses "another opcode" 'the opcode there is another' 'offset = sw_fast\nopcode = 0xf1\nlog 0'

# Who may ask
obey "$VICTIMS/switched"
classic -i "$dir/two.dp" -P "$victim"
mkfifo "$dir/in3"
bash -c 'printf "dprobes hold" >/proc/$$/comm; read -r _ <"$0"' "$dir/in3" &
other=$!
pids+=("$other")
poll 10 grep -qx 'dprobes hold' "/proc/$other/comm"
is "a process that only has the name is none" "$("$DPROBES" -q -a -P "$victim" --json | wc -l)" 2
order -r -a -P "$other"
is "and cannot be asked" "$status" 1
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	install -m 755 "$DPROBES" "$dir/dprobes"
	chmod 755 "$dir"
	stranger() { setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/dprobes" "$@" >"$dir/stdout" 2>"$dir/stderr"; echo "$? $(cat "$dir/stderr")"; }
	like "a stranger sees nothing" "$(stranger -q -a -P "$victim")" '^1 .*no process holds'
	like "and removes nothing" "$(stranger -r -a -P "$victim")" '^1 .*no process holds'
	like "and inserts nothing" "$(stranger -i "$dir/two.dp" -P "$victim" -m)" '^1 .*process'
	is "all of it is there" "$("$DPROBES" -q -a -P "$victim" --json | grep -c '"status":3')" 2
else
	skip "strangers" "it takes root, and setpriv"
fi
kill "$other"
order -r -a -P "$victim"
dismiss q

# A library that comes later
begin_libm() {
	cat >"$dir/late.c" <<-END
		#include <dlfcn.h>
		#include <stdio.h>
		int main(void)
		{
			double (*f)(double, int *), x = 1;
			int c;

			setvbuf(stdout, NULL, _IOLBF, 0);
			puts("ready");
			while ((c = getchar()) != EOF && c != 'q')
				if (c == 'c') {
					f = (double (*)(double, int *))dlsym(dlopen("libm.so.6", RTLD_NOW), "frexp");
					x += f(x, &c) + f(2 * x, &c);
					puts("called");
				}
			return x < 0;
		}
	END
	cc -O1 -o "$dir/late" "$dir/late.c" -ldl && obey "$dir/late"
}
begin_libm
program late libm.so.6 'vars = 1\noffset = frexp\nminor = 1\ninc lv,0'
classic -i "$dir/late.dp" -P "$victim"
like "a library that is not there yet" "$status $(xargs <<<"$err")" '^0 .*0 of 1 points armed in process [0-9]+, 1 waiting for a library'
is "its status" "$(row libm.so.6:frexp flags) $(row libm.so.6:frexp why)" '["compiled"] "its library is not loaded"'
bid c c
is "it has come" "$(local_of 0) $(row libm.so.6:frexp flags)" '4 ["compiled","active"]'
order -r -a -P "$victim"
dismiss q

# What is wrong is told by the command.
classic -i "$dir/two.dp" -P "$victim"
like "no such process" "$status $err" '^1 .*process'
classic -i "$dir/bad.dp" -P $$
like "no program" "$status $err" '^2 .*bad.dp:5:1: '
classic -i "$dir/two.dp"
like "no process" "$status $err" '^2 .*has the path of its file as its name; -p PID'
classic -r
like "which ones?" "$status $err" '^2 .*needs --all or --name'
plan
