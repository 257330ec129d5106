# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# completion for bash: verbs, options, processes, commands, files and functions of dprobes.
# Verbs and options are what the command's own help says.
#
# Names of functions come from other people's files: never through "compgen -W", which would expand
# them, and quoted, for the line is executed in the end.

# _dprobes_add PREFIX: lines of the standard input that begin so
_dprobes_add() {
	local line
	while IFS= read -r line; do
		[[ $line != "$1"* ]] || COMPREPLY+=("$(printf %q "$line")")
	done
}

# _dprobes_target WORD...: the process or command of a line, as options of dprobes list
_dprobes_target() {
	target=()
	while [ $# -gt 1 ]; do
		case $1 in
		-p | --pid) target=(-p "$2") && return ;;
		--) target=(-- "$2") && return ;;
		esac
		shift
	done
}

# _dprobes_list COMMAND GLOB: specs of functions of the target
_dprobes_list() { "$1" list "$2" "${target[@]}" 2>/dev/null </dev/null; }

# _dprobes_specs COMMAND WORD: functions; without a module those of the program, and the modules, and if
# there is no such one, the functions of one library, and source files for FILE:LINE
_dprobes_specs() {
	local kind="" cur=$2 found

	[ ${#target[@]} -gt 0 ] || return
	case $cur in
	[rp]:*) kind=${cur%%:*}: cur=${cur#*:} ;;
	esac
	if [[ $cur == *:* ]]; then
		_dprobes_add "$2" < <(_dprobes_list "$1" "$cur*" | sed "s/^/$kind/")
		return
	fi
	_dprobes_add "$2" < <(_dprobes_list "$1" "$cur*" | sed "s/^[^:]*:/$kind/")
	_dprobes_add "$2" < <(_dprobes_list "$1" "$cur*:*" | sed "s/:.*/:/; s/^/$kind/" | sort -u)
	[ ${#COMPREPLY[@]} -eq 0 ] && [ -n "$cur" ] || return
	found=$(_dprobes_list "$1" "*:$cur*")
	if [ -n "$found" ] && [ "$(cut -d: -f1 <<<"$found" | sort -u | wc -l)" -eq 1 ]; then
		_dprobes_add "" < <(sed "s/^/$kind/" <<<"$found")
	fi
	_dprobes_add "$2" < <(compgen -f -- "$cur" | grep -E '\.([cChH]|cc|cpp|cxx|hh|hpp|rs|[sS])$' | sed "s/^/$kind/; s/$/:/")
}

# _dprobes_operands COMMAND VERB WORD: what is no option
_dprobes_operands() {
	case $2 in
	stat | trace | graph | stacks | leaks | inject | list | disable | enable) _dprobes_specs "$1" "$3" ;;
	run | --insert | -i | --build-ppdf | -b) _dprobes_add "" < <(compgen -f -X '!*.dp' -- "$3"; compgen -d -S / -- "$3") ;;
	--apply-ppdf) _dprobes_add "" < <(compgen -f -X '!*.ppdf' -- "$3"; compgen -d -S / -- "$3") ;;
	insmod) _dprobes_add "" < <(compgen -f -X '!*.so' -- "$3"; compgen -d -S / -- "$3") ;;
	rmmod) _dprobes_add "$3" < <("$1" lsmod "${target[@]}" 2>/dev/null | awk 'NR > 1 { print $2 }' | sort -u) ;;
	help) _dprobes_add "$3" < <(_dprobes_verbs "$1") ;;
	enabled) COMPREPLY=($(compgen -W "0 1" -- "$3")) ;;
	sysctl) COMPREPLY=($(compgen -W "debug.kprobes_optimization" -- "$3")) ;;
	esac
}

_dprobes_verbs() { "$1" help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'; }

# _dprobes_words COMMAND WORD PREVIOUS VERB...: VERB and what is behind it
_dprobes_words() {
	local help target

	help=$("$1" "$4" --help 2>/dev/null)
	_dprobes_target "${@:5}"
	case $3 in
	-p | -P | --pid) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$2")) && return ;;
	-o | --output | --outfile | --sym) _dprobes_add "" < <(compgen -f -- "$2") && return ;;
	esac
	# The value of another option: nothing is known of it.
	if [[ $3 == -?* ]] && grep -qE -- "^ +(-[a-z], )?$3[ =][A-Z]|^ +$3, --[a-z-]+[ =][A-Z]" <<<"$help"; then
		return
	fi
	case $2 in
	-*)
		_dprobes_add "$2" < <(sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+).*/\2/p; s/^ +-- CMD.*/--/p' <<<"$help")
		;;
	*)
		_dprobes_operands "$1" "$4" "$2"
		;;
	esac
}

# bash takes a ':' for the end of a word; a spec is what stands between spaces.
_dprobes() {
	local line=${COMP_LINE:0:COMP_POINT} words before cur i

	COMPREPLY=()
	cur=${line##*[[:space:]]}
	read -ra words <<<"$COMP_LINE"
	read -ra before <<<"${line%"$cur"}"
	for ((i = 2; i < ${#before[@]}; i++)); do
		[ "${before[i]}" = -- ] || continue
		if declare -F _command_offset >/dev/null; then
			_command_offset $((i + 1))
		else
			COMPREPLY=($(compgen -c -f -- "$cur"))
		fi
		return
	done
	if [ ${#before[@]} -le 1 ]; then
		_dprobes_add "$cur" < <(_dprobes_verbs "$1"; printf '%s\n' help --insert --remove --query --getvars --build-ppdf --apply-ppdf --help --version)
	else
		_dprobes_words "$1" "$cur" "${before[-1]}" "${words[@]:1}"
	fi
	# What stands before the last ':' is there already.
	if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
		line=${cur%"${cur##*:}"}
		COMPREPLY=("${COMPREPLY[@]#"$line"}")
	fi
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[:/] ]] || compopt -o nospace 2>/dev/null
}

complete -F _dprobes dprobes
