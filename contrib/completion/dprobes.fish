# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# completion for fish: verbs, options, processes, commands, files and functions of dprobes.
# Verbs and options are what the command's own help says.

# The process or command of the line, as options of dprobes list
function __dprobes_target
    set -l words (commandline -op)
    while test (count $words) -gt 1
        switch $words[1]
            case -p --pid
                printf '%s\n' -p $words[2]
                return
            case --
                printf '%s\n' -- $words[2]
                return
        end
        set -e words[1]
    end
end

# __dprobes_list COMMAND GLOB TARGET...
function __dprobes_list
    $argv[1] list $argv[2..-1] 2>/dev/null </dev/null
end

# Functions; without a module those of the program, and the modules, and if there is no such one, the
# functions of any library
function __dprobes_specs
    set -l cmd $argv[1]
    set -l cur $argv[2]
    set -l target $argv[3..-1]
    set -l kind (string match -r '^[rp]:' -- $cur)
    set cur (string replace -r '^[rp]:' '' -- $cur)
    test (count $target) -gt 0; or return
    if string match -q '*:*' -- $cur
        __dprobes_list $cmd "$cur*" $target | string replace -r '^' "$kind"
        return
    end
    set -l found (__dprobes_list $cmd "$cur*" $target | string replace -r '^[^:]*:' '')
    set -a found (__dprobes_list $cmd "$cur*:*" $target | string replace -r ':.*' ':' | sort -u)
    if test (count $found) -eq 0 -a -n "$cur"
        set found (__dprobes_list $cmd "*:$cur*" $target)
    end
    printf "$kind%s\n" $found
end

# What is no option
function __dprobes_operands
    set -l cmd $argv[1]
    set -l target $argv[4..-1]
    switch $argv[2]
        case stat trace graph stacks leaks inject list disable enable
            __dprobes_specs $cmd $argv[3] $target
        case run
            __fish_complete_suffix .dp
        case insmod
            __fish_complete_suffix .so
        case rmmod
            $cmd lsmod $target 2>/dev/null | awk 'NR > 1 { print $2 }' | sort -u
        case help
            __dprobes_verbs $cmd
        case enabled
            printf '%s\n' 0 1
        case sysctl
            echo debug.kprobes_optimization
    end
end

function __dprobes_verbs
    $argv[1] help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __dprobes_options
    sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+)[^ ]*( [A-Z][^ ]*)? +(.*)/\2\t\4/p; s/^ +-- CMD.*/--\ta command/p'
end

function __dprobes_complete
    set -l before (commandline -opc)
    set -l cur (commandline -ct)
    set -l cmd $before[1]
    set -l command (contains -i -- -- $before)
    if test -n "$command"
        complete -C (string join ' ' -- (string escape -- $before[(math $command + 1)..-1]) $cur)
        return
    end
    if test (count $before) -eq 1
        __dprobes_verbs $cmd
        printf '%s\n' help --insert --remove --query --getvars --build-ppdf --apply-ppdf --help --version
        return
    end
    switch $before[-1]
        case -p -P --pid
            __fish_complete_pids
            return
        case -o --output --outfile --sym
            __fish_complete_path $cur
            return
    end
    set -l help ($cmd $before[2] --help 2>/dev/null)
    # The value of another option: nothing is known of it.
    if string match -q -- '-?*' $before[-1]
        and printf '%s\n' $help | grep -qE -- "^ +(-[a-z], )?$before[-1][ =][A-Z]|^ +$before[-1], --[a-z-]+[ =][A-Z]"
        return
    end
    if string match -q -- '-*' $cur
        printf '%s\n' $help | __dprobes_options
    else
        __dprobes_operands $cmd $before[2] "$cur" (__dprobes_target)
    end
end

complete -c dprobes -f -a '(__dprobes_complete)'
