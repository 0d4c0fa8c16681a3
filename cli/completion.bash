# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion of execalign for bash.

# _execalign_command FIRST - complete a program and its arguments from word FIRST on
_execalign_command() {
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [ "$COMP_CWORD" = "$1" ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
	fi
}

# _execalign_words WORD... - those that the current word begins
_execalign_words() {
	mapfile -t COMPREPLY < <(compgen -W "$*" -- "${COMP_WORDS[COMP_CWORD]}")
}

_execalign_pids() {
	local pid pids=()
	for pid in /proc/[0-9]*; do
		pids+=("${pid#/proc/}")
	done
	_execalign_words "${pids[@]}"
}

# _execalign_value OPTION - complete an option's value; fails if OPTION has none
_execalign_value() {
	case $1 in
	--block) _execalign_words auto 64K 2M 32M ;;
	--advise) _execalign_words auto hugepage never ;;
	--set-align) _execalign_words auto 64K 2M 32M ;;
	--promote) _execalign_words auto always never ;;
	--pid) _execalign_pids ;;
	--dir) mapfile -t COMPREPLY < <(compgen -d -- "${COMP_WORDS[COMP_CWORD]}") ;;
	--log | --output) mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}") ;;
	--allow | --deny | --after | --max | --size | --rounds | --calls) COMPREPLY=() ;;
	*) return 1 ;;
	esac
}

_execalign() {
	local launch='--block --allow --deny --log --advise --no-advise --promote'
	local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} i

	if [ "$COMP_CWORD" = 1 ]; then
		_execalign_words run report doctor elf prime bench help --help --version
		return
	fi
	if [ "$command" = help ]; then
		_execalign_words run report doctor elf prime bench
		return
	fi
	if [ "$command:$COMP_CWORD" = bench:2 ]; then
		_execalign_words exec --help
		return
	fi
	# Behind -- or, with run, behind the options, everything is the program's.
	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--)
			_execalign_command $((i + 1))
			return
			;;
		--block | --allow | --deny | --log | --advise | --promote | --output | --after | --set-align | --pid | \
			--max | --size | --dir | --rounds | --calls)
			((i++)) || :
			;;
		-*) ;;
		*)
			[ "$command" != run ] || {
				_execalign_command "$i"
				return
			}
			;;
		esac
	done
	if ((i == COMP_CWORD)) || [ "${current:0:1}" = - ]; then
		case $command:$current in
		run:-*) _execalign_words --help "$launch" ;;
		report:-*)
			_execalign_words --help --all --json --check --verbose --output --after --plain \
				"$launch"
			;;
		doctor:-*) _execalign_words --help --json ;;
		elf:-*)
			_execalign_words --help --set-align --restore --dry-run --check --json --verbose
			;;
		bench:-*) _execalign_words --help --size --dir --rounds --calls --json ;;
		prime:-*) _execalign_words --help --pid --dry-run --json --max ;;
		run:*) _execalign_command "$COMP_CWORD" ;;
		report:*) _execalign_pids ;;
		doctor:* | elf:* | prime:*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
		esac
		return
	fi
	_execalign_value "${COMP_WORDS[COMP_CWORD - 1]}"
}

complete -F _execalign execalign
