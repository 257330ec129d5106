# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# completion: verbs, options, processes, commands and functions of dprobes.

# Functions of the process that -p names, by the beginning in $1. Names come from
# other people's files: never through "compgen -W", which would expand them.
_dprobes_specs() {
	local i name
	for ((i = 2; i + 1 < ${#COMP_WORDS[@]}; i++)); do
		case ${COMP_WORDS[i]} in
		--) return ;;
		-p | --pid) break ;;
		esac
	done
	[ $((i + 1)) -lt ${#COMP_WORDS[@]} ] || return
	while IFS= read -r name; do
		[[ $name != "$1"* ]] || COMPREPLY+=("$name")
	done < <(dprobes list "$1*" -p "${COMP_WORDS[i + 1]}" 2>/dev/null </dev/null)
}

_dprobes() {
	local cur prev verb i before=""
	# A ':' ends a word for bash; put the words of a spec together again.
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n : cur prev
	else
		cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	fi
	verb=${COMP_WORDS[1]}
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W "stat trace run list disable enable doctor detach insmod rmmod lsmod dmesg enabled sysctl --getvars --help --version" -- "$cur"))
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			before=1
			break
		fi
	done
	if [ -n "$before" ]; then
		if declare -F _command_offset >/dev/null; then
			_command_offset $((i + 1))
		else
			COMPREPLY=($(compgen -c -f -- "$cur"))
		fi
		return
	fi
	case $prev in
	-p | --pid)
		COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur"))
		return
		;;
	-o | --output)
		COMPREPLY=($(compgen -f -- "$cur"))
		return
		;;
	--duration | --buffer)
		return
		;;
	esac
	case $cur in
	-*)
		i="--pid --output --json --mangled --verbose --help --version --"
		case $verb in
		insmod)
			i="--pid --output --alias --help --"
			;;
		disable | enable)
			i="--pid --mangled --help"
			;;
		detach)
			i="--pid --quiet --help"
			;;
		rmmod | enabled | sysctl)
			i="--pid --output --help"
			;;
		lsmod)
			i="--pid --output --verbose --help"
			;;
		dmesg)
			i="--pid --output --follow --duration --help"
			;;
		doctor)
			i="--pid --output --json --quiet --help"
			;;
		stat)
			i="$i --quiet --duration --children --pending"
			;;
		trace)
			i="$i --quiet --duration --children --pending --buffer --block"
			;;
		run)
			i="$i --quiet --duration --children --buffer --block"
			;;
		-g | --getvars)
			i="--all --name --pid --local --global --index --reset --json --help"
			;;
		esac
		COMPREPLY=($(compgen -W "$i" -- "$cur"))
		;;
	*)
		if [ "$verb" = run ]; then
			COMPREPLY=($(compgen -f -X '!*.dp' -- "$cur") $(compgen -d -- "$cur"))
			return
		fi
		case $verb in
		insmod)
			COMPREPLY=($(compgen -f -X '!*.so' -- "$cur") $(compgen -d -- "$cur"))
			return
			;;
		rmmod)
			while read -r _ i _; do
				[[ $i != "$cur"* || $i == MODULE ]] || COMPREPLY+=("$i")
			done < <(dprobes lsmod 2>/dev/null)
			return
			;;
		enabled)
			COMPREPLY=($(compgen -W "0 1" -- "$cur"))
			return
			;;
		sysctl)
			COMPREPLY=($(compgen -W "debug.kprobes_optimization" -- "$cur"))
			return
			;;
		lsmod | dmesg | detach)
			return
			;;
		esac
		[[ $cur == *:* ]] || return
		_dprobes_specs "$cur"
		if declare -F __ltrim_colon_completions >/dev/null; then
			__ltrim_colon_completions "$cur"
		fi
		;;
	esac
}

complete -F _dprobes dprobes
