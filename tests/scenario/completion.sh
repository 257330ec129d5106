#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the shells complete: verbs, options, processes, functions.
. tests/scenario/lib.sh

PATH=$PWD/$(dirname "$DPROBES"):$PATH
. contrib/completion/dprobes.bash
# complete_at LINE [REST]: as bash calls it with the cursor behind LINE; candidates, sorted, a space after each
complete_at() {
	local COMP_LINE=$1${2-} COMP_POINT=${#1} COMP_WORDS COMP_CWORD

	read -ra COMP_WORDS <<<"${1//:/ : }"
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_dprobes dprobes "${COMP_WORDS[-1]}" ""
	printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | tr '\n' ' '
}
# offers NAME WANTED LINE [REST]
offers() { is "$1" "$(complete_at "$3" "${4-}")" "$2"; }

is "verbs" "$(complete_at "dprobes d")" "detach disable dmesg doctor "
for verb in $(complete_at "dprobes "); do
	case $verb in --* | help) continue ;; esac
	wanted=$("$DPROBES" $verb --help | sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+).*/\2/p; s/^  -- CMD.*/--/p' | LC_ALL=C sort | tr '\n' ' ')
	offers "$verb: its options" "$wanted" "dprobes $verb -"
done
like "every verb" "$(complete_at "dprobes ")" '--getvars .*disable dmesg doctor enable enabled graph help hooks inject insmod leaks list lsmod rmmod run stacks stat sysctl trace '
for command in --insert --remove --query --getvars --build-ppdf --apply-ppdf; do
	wanted=$("$DPROBES" $command --help | sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+).*/\2/p' | LC_ALL=C sort | tr '\n' ' ')
	offers "$command: its options" "$wanted" "dprobes $command -"
done
offers "files of programs to insert" "examples/malloc-paper.dp examples/malloc.dp " "dprobes --insert examples/mal"
offers "help of a verb" "stacks stat sysctl " "dprobes help s"
offers "a knob" "0 1 " "dprobes enabled "
offers "the value of an option" " " "dprobes stat -i "
offers "and of a long one" " " "dprobes stat --duration "
offers "programs" "examples/malloc-paper.dp examples/malloc.dp " "dprobes run examples/mal"

start "$VICTIMS/live" sleep
is "processes" "$(complete_at "dprobes stat -p " | tr ' ' '\n' | grep -cx "$victim")" 1
is "and of one" "$(complete_at "dprobes stat --pid $victim" | tr ' ' '\n' | grep -cx "$victim")" 1
# What stands behind the last ':' is all that bash replaces.
offers "functions of a library" "realloc reallocarray " "dprobes stat -p $victim libc.so.6:reall"
offers "the process behind the spec" "realloc reallocarray " "dprobes stat libc.so.6:reall" " -p $victim"
offers "of a command" "realloc reallocarray " "dprobes list libc.so.6:reall" " -- /bin/true"
offers "their returns" "realloc reallocarray " "dprobes trace r:libc.so.6:reall" " -- /bin/true"
offers "functions of the program, by their names alone" "victim_function " "dprobes stat victim_" " -p $victim"
offers "also of a return probe" "victim_function " "dprobes stat r:victim_" " -p $victim"
offers "libraries" "libc.so.6: " "dprobes stat libc." " -p $victim"
offers "a function of a library, by its name alone" "libc.so.6:realloc libc.so.6:reallocarray " "dprobes stat reall" " -p $victim"
offers "source files, for their lines" "cli/cmd-stacks.c: cli/cmd-stat.c: cli/cmd-switch.c: " "dprobes stat cli/cmd-s" " -p $victim"
offers "without a process there is nothing to know" " " "dprobes stat libc.so.6:reall"
offers "a process that is none" " " "dprobes stat libc.so.6:reall" " -p 0"
like "a command's words" "$(complete_at "dprobes stat malloc -- ls /et")" '^/etc '
kill -TERM "$victim"
wait "$victim"

# Names come from other people's files, and the line is executed in the end.
objcopy --redefine-sym 'victim_function=odd$(touch${IFS}odd_was_here)' "$VICTIMS/live" "$dir/odd"
is "a name that would be a command is quoted" "$(complete_at "dprobes stat " " -- $dir/odd" | tr ' ' '\n' | grep odd_was)" \
	'\"odd\$\(touch\$\{IFS\}odd_was_here\)\"'
is "and nothing is executed" "$(ls odd_was_here 2>/dev/null)" ""

# A line as a person types it: bash itself, with a terminal.
if command -v script >/dev/null; then
	printf '%s\n' "PATH=$PATH" "PS1=" "bind 'set enable-bracketed-paste off'" '. contrib/completion/dprobes.bash' >"$dir/rc"
	printf 'dprobes list -p %s libc.so.6:realloca\t >%s/typed\nexit\n' $$ "$dir" |
		script -qc "bash --rcfile $dir/rc -i" /dev/null >"$dir/screen" 2>&1
	is "TAB in a shell" "$(cat "$dir/typed" 2>/dev/null)" libc.so.6:reallocarray
else
	skip "TAB in a shell" "there is no script(1)"
fi

check() { # SHELL FILE OPTION
	if command -v "$1" >/dev/null; then
		"$1" "$3" "contrib/completion/$2" 2>"$dir/err"
		is "$1 reads it" "$? $(cat "$dir/err")" "0 "
	else
		skip "$1 reads it" "there is no $1"
	fi
}
check zsh _dprobes -n
check fish dprobes.fish --no-execute
plan
