#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The commands of the first page of dprobes(1), and those of README.md, do what is said of them: they are
# taken from there, and run as they stand, but for the process.
. tests/scenario/lib.sh

build=$PWD/${DPROBES%/*}
export DPROBES_PROTOTYPES=$PWD/share/dprobes/prototypes
# A dprobes of the PATH, which says who it is
mkdir -p "$dir/bin" "$dir/work"
cat >"$dir/bin/dprobes" <<END
#!/bin/sh
echo \$\$ >"$dir/tool"
exec "$PWD/$DPROBES" "\$@"
END
chmod +x "$dir/bin/dprobes"
PATH=$dir/bin:$PATH
for file in examples include; do ln -s "$PWD/$file" "$dir/work/$file"; done
printf 'echo one | cat >/dev/null\n/bin/echo two >/dev/null\nsort /etc/passwd >/dev/null\n' >"$dir/work/build.sh"
pages=$PWD
cd "$dir/work" || exit 1

# said PATTERN: has the command printed it? Nothing is asked for if that is empty.
said() { [ -z "$1" ] || grep -qE -- "$1" "$dir/said"; }
over() { ! kill -0 "$1" 2>/dev/null; }
# does NAME COMMAND PATTERN: its output has that, and its status is 0. One that goes on is ended by ^C.
does() {
	local name=$1 command=$2 pattern=$3 shell status

	rm -f "$dir/tool"
	bash -o pipefail -c "$command" >"$dir/said" 2>"$dir/talk" </dev/null &
	shell=$!
	pids+=("$shell")
	said_or_over() { said "$pattern" || over "$shell"; }
	ends() { over "$shell" || { kill -INT "$(cat "$dir/tool" 2>/dev/null)" 2>/dev/null && false; }; }
	case $command in
	*"trace "*" -p "* | *"stat -i "*)
		poll 20 said_or_over
		poll 20 ends || kill -KILL "$shell"
		;;
	*)
		poll 20 over "$shell" || kill -KILL "$shell"
		;;
	esac
	wait "$shell"
	status=$?
	if [ "$status" -eq 0 ] && said "$pattern"; then ok "$name"; else
		not_ok "$name" "$command" "status $status, wanted: $pattern" "$(head -n 20 "$dir/said")" "$(tail -n 5 "$dir/talk")"
	fi
}
# killed SPEC: a tool that had probes in the victim leaves them there
killed() {
	local tool

	"$pages/$DPROBES" stat -q "$1" -p "$victim" >/dev/null 2>&1 &
	tool=$!
	pids+=("$tool")
	armed() { "$pages/$DPROBES" list -p "$victim" 2>/dev/null | grep -q .; }
	poll 20 armed
	kill -KILL "$tool"
	wait "$tool" 2>/dev/null
}

# What the answers look like; for each question there is one.
declare -A answer=(
	["Which files does this process open?"]=' libc\.so\.6:open path="/etc/passwd" flags=O_RDONLY$'
	["How long do its reads take?"]=' r:libc\.so\.6:read fd=[0-9]+ count=16 = 16 <0\.0[0-9]{8}>$'
	["Who asks malloc for more than a megabyte?"]=' libc\.so\.6:malloc size=2000000 caller=questions:grow\+0x[0-9a-f]+$'
	["Which calls fail, of those that open a file?"]=' path="/no/such/file" = -1 '
	["Which functions of libssl does it use most?"]='^ +[1-9][0-9]* +0  (jump|trap)  libssl\.so\.3:SSL_CTX_'
	["How often is each function of libc called, every second?"]='^[0-9:]{8} +[1-9][0-9]* +0  (jump|trap)  libc\.so\.6:'
	["What is in a struct that a function of its own gets?"]=' questions:handle r->path="/etc/passwd" r->size=16$'
	["How often are the methods of a class of C++ called?"]='^ +[1-9][0-9]* +0  (jump|trap)  questions:shop::cart::total$'
	["Which programs of a script allocate how often?"]='^ +[1-9][0-9]* +0  jump +1  sort +libc\.so\.6:malloc$'
	["What does a login shell read in /etc?"]=' bash libc\.so\.6:open path="/etc/profile"$'
	["What could be printed at this function?"]='^ +values: path(name)?, flags'
	["A dprobes was killed: what is left of it in this process?"]='grow\+0x0 .* its tool has ended$'
)

start "$build/tests/victims/questions"
has_tls=$(cat "$dir/out")
# Lines of the page between two marks, as a reader sees them: a question, and its command below it
sed -n '/^\.\\" one-liners$/,/^\.\\" end of the one-liners$/p' "$pages/man/dprobes.1" |
	sed -e '/^\.\\"/d' -e "s/\\\\(aq/'/g" -e 's/\\(dq/"/g' -e 's/\\(ti/~/g' -e 's/\\-/-/g' -e 's/\\e/\\/g' >"$dir/page"
asked=0
while read -r mark question && read -r command; do
	read -r _
	asked=$((asked + 1))
	is "a question: $question" "$mark ${answer[$question]:+known}" "# known"
	case $question in
	*libssl*) [ "$has_tls" = "with OpenSSL" ] || { skip "$question" "there is no libssl.so.3"; continue; } ;;
	*killed*) killed ":grow" ;;
	esac
	# A table stands at the end, which is to come soon.
	case $command in *"stat --top"* | *"stat '"*) command=${command/ stat / stat --duration 300ms } ;; esac
	does "$question" "${command//PID/$victim}" "${answer[$question]}"
done <"$dir/page"
is "twelve of them, and they fit on a page" "$asked ${#answer[@]} $(($(wc -l <"$dir/page") <= 40)) $(grep -c '.\{76\}' "$dir/page")" "12 12 1 0"
is "nothing stays behind" "$("$pages/$DPROBES" list -p "$victim" 2>&1)" ""
kill -KILL "$victim"
wait "$victim" 2>/dev/null

# README.md: what stands behind a $, and the commands in its text
sed -n 's/^    \$ //p' "$pages/README.md" >"$dir/readme"
grep -oE '`dprobes [^`]*`' "$pages/README.md" | tr -d '`' >"$dir/forms"
declare -A printed=(
	["dprobes stat libc.so.6:malloc libc.so.6:free"]='^ +[1-9][0-9]* +0  jump  libc\.so\.6:memcpy$'
	["dprobes trace 'libc.so.6:malloc(size)"]=' python3 libc\.so\.6:malloc size=[1-9][0-9]{5,}$'
	["dprobes trace 'libc.so.6:open64(path, flags)"]='^git version'
	["dprobes run examples/malloc.dp"]='^  elements 0x20000000$'
	["dprobes stat --duration 100ms"]='^ +[1-9][0-9]* +0  jump  libc\.so\.6:malloc$'
	["cc -shared -fPIC"]=''
	["dprobes insmod malloc_sizes.so min=1024 --"]='^<6>counting malloc at malloc\+0x0/0x'
	["dprobes insmod malloc_sizes.so -p"]='^<6>counting malloc at malloc\+0x0/0x'
	["dprobes lsmod"]='malloc_sizes [0-9]+ 0 Live$'
	["dprobes rmmod malloc_sizes -p"]='^<6>malloc\(< [0-9]+\): [0-9]+$'
	["dprobes graph libc.so.6:setlocale"]='[|]   libc\.so\.6:malloc\(size=[0-9]+\) = 0x[0-9a-f]+;$'
	["dprobes leaks"]='^[1-9][0-9]*  sum\(size\)=[1-9][0-9]*  r:libc\.so\.6:malloc'
	["dprobes stacks libc.so.6:malloc"]='^ +[1-9][0-9]* +[0-9.]+%  +([+] )?malloc$'
	["dprobes inject 'libc.so.6:read: count"]=' sort libc\.so\.6:read call=1 count=1$'
	["dprobes help VERB"]='Usage: dprobes stat '
	["dprobes VERB --help"]='Usage: dprobes stat '
	["dprobes doctor -p PID"]='process [0-9]+ can be probed'
	["dprobes detach -p PID"]=''
	["dprobes list [-p PID]"]=''
	["dprobes hooks -p PID"]='request'
	["dprobes stat --duration 1s hook:request"]='^ +[1-9][0-9]* +0  jump  .*request'
	["dprobes stat 'kernel:"]='kernel:vfs_'
	["dprobes stacks 'kernel:"]='^ +[1-9][0-9]* +[0-9.]+% .*vfs_read'
	["dprobes stat 'w:kernel:"]='kernel:vm_swappiness/4$'
	["dprobes stat 'r:kernel:"]='hist\(latency\)'
	["dprobes trace 'kernel:"]='kernel:vfs_read count='
	["dprobes run examples/fork-kill.dp"]='^[0-9].* kernel:'
	["dprobes -g -a"]='^[1-9][0-9]* global gv\[0\] = 0x0 \(0\)$'
)
# These say how a command is written, and are none.
forms='dprobes stat SPEC… (-p PID | -- CMD)
dprobes trace SPEC…
dprobes list SPEC… (-p PID | -- CMD)
dprobes disable SPEC… -p PID
dprobes enable
dprobes run FILE.dp… (-p PID | -- CMD)
dprobes --insert FILE -P PID
dprobes hold'

LD_PRELOAD=$build/libdprobes.so.1 start "$build/tests/victims/questions"
while read -r command; do
	pattern=none
	for begin in "${!printed[@]}"; do
		[[ $command != "$begin"* ]] || pattern=${printed[$begin]}
	done
	if [[ $command = *"'kernel:"* || $command = *"'r:kernel:"* || $command = *"'w:kernel:"* || $command = *fork-kill.dp || $command = *every-program.dp ]] && [ ! -e /dev/dprobes ]; then
		skip "README.md: $command" "there is no /dev/dprobes"
		continue
	fi
	if [ "$pattern" = none ]; then
		if grep -qxF -- "$command" <<<"$forms"; then ok "README.md, a form: $command"; else
			not_ok "README.md: $command" "nothing says what it prints"
		fi
		continue
	fi
	run=${command//PID/$victim}
	run=$(sed -E "s/-p [0-9]+/-p $victim/; s/\bVERB\b/stat/; s/\[(-p [0-9]+)\]/\1/" <<<"$run")
	if [ "$run" = "dprobes -g -a" ]; then
		printf 'name = libc.so.6\nmodtype = user\nmajor = 1\ngvars = 1\noffset = malloc\npush gv,0\n' >"$dir/variable.dp"
		"$pages/$DPROBES" run -q "$dir/variable.dp" -p "$victim" >/dev/null 2>&1 &
		tool=$!
		pids+=("$tool")
		shown() { "$pages/$DPROBES" -g -a 2>/dev/null | grep -q "^$victim "; }
		poll 20 shown
	fi
	does "README.md: $command" "$run" "$pattern"
done < <(cat "$dir/readme" "$dir/forms")
interrupt "$tool"
kill -KILL "$victim"
wait "$victim" 2>/dev/null
start "$build/tests/victims/questions"
# Examples of functions of libc, of each verb and in dprobes(1): whatever comes, none is refused.
for verb in stat trace graph stacks leaks inject list; do
	"$pages/$DPROBES" $verb --help | sed -n '/^Examples:/,$s/^  dprobes/dprobes/p'
done >"$dir/examples"
sed -n 's/^\.Dl dprobes/dprobes/p; s/^dprobes/dprobes/p' "$pages/man/dprobes.1" | sed -e "s/\\\\(aq/'/g" -e 's/\\(dq/"/g' -e 's/\\(ti/~/g' >>"$dir/examples"
grep 'libc\.so\.6:' "$dir/examples" | grep -vE 'kernel:|w:|--prob|dprobes (run|disable) |[|]| CMD$' | sort -u >"$dir/tried"
while read -r command; do
	run=$(sed -E "s/-p (PID|[0-9]+)/-p $victim/; s/ --duration [0-9]+s//; /dprobes list/!s/^dprobes [a-z]+/& --duration 100ms/; s,-- \./[a-z]+,-- /bin/true," <<<"$command")
	does "an example: $command" "$run" ''
done <"$dir/tried"
like "there are twenty or more" "$(wc -l <"$dir/tried")" '^[2-9][0-9]$'
kill -KILL "$victim"
wait "$victim" 2>/dev/null
cd "$pages" || exit 1
if command -v groff >/dev/null; then
	is "the manual page is well-formed" "$(groff -mandoc -Tutf8 -ww -z man/dprobes.1 2>&1)" ""
else
	skip "the manual page is well-formed" "there is no groff"
fi
plan
