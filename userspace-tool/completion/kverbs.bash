# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Completion for bash. The build appends the tables __kverbs_options, __kverbs_operands and
# __kverbs_words, which it makes of those of the command.

# IPv4 addresses of RDMA devices: a GID has one in its last 32 bits.
__kverbs_addresses() {
	local file gid

	for file in "$1"/*/ports/*/gids/*; do
		read -r gid 2>/dev/null <"$file" || continue
		[[ $gid == 0000:0000:0000:0000:0000:ffff:????:???? ]] || continue
		printf '%d.%d.%d.%d\n' "0x${gid:30:2}" "0x${gid:32:2}" "0x${gid:35:2}" "0x${gid:37:2}"
	done
}

# Peers of live connections; rdma(8) shows them to any user.
__kverbs_peers() {
	rdma resource show cm_id 2>/dev/null |
		sed -nE 's/.* comm \[kverbs\].* dst-addr \[?([^] ]+)\]?:[0-9]+.*/\1/p' | sort -u
}

# Hosts that have announced a server, or that root has found on InfiniBand.
__kverbs_hosts() {
	"$1" hosts --cached 2>/dev/null | awk 'NR > 1 && $1 != "-" { print $1 }' | sort -u
}

# Pids and names of processes with connections; only root sees them.
__kverbs_processes() {
	"$1" stat 2>/dev/null | awk 'NR > 1 { print $1; print $2 }'
}

# __kverbs_value TOOL WORD CUR: complete a value that the help calls WORD
__kverbs_value() {
	local cur=$3 sys=${KVERBS_SYS_INFINIBAND:-/sys/class/infiniband} words=

	case $2 in
	DIR)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return ;;
	FILE | SRC | DST)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		[[ $2 != FILE && ${#COMPREPLY[@]} -eq 0 ]] || return
		compopt +o filenames -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -A hostname -W "$(__kverbs_hosts "$1")" -S : -- "$cur")
		return ;;
	HOST)
		mapfile -t COMPREPLY < <(compgen -A hostname -W "$(__kverbs_peers; __kverbs_hosts "$1")" -- "$cur")
		return ;;
	PROC) words=$(__kverbs_processes "$1") ;;
	ADDR) words=$(__kverbs_addresses "$sys") ;;
	DEV) words=$(cd "$sys" 2>/dev/null && echo *) ;;
	*) words=${__kverbs_words[$2]-} ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

# __kverbs_operand TOOL COMMAND CUR: the words before, but for options and their values
# and paths on hosts, say which one it is. It knows the caller's values.
__kverbs_operand() {
	local i nr=0 several=
	local -a operands=()

	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*)
			[[ ! ${values[${COMP_WORDS[i]}]-} ]] || i=$((i + 1))
			[[ ${COMP_WORDS[i]} != = ]] || i=$((i + 1)) ;;
		:*) nr=$((nr - 1)) ;;
		*) nr=$((nr + 1)) ;;
		esac
	done
	read -ra operands <<<"${__kverbs_operands[$2]-}"
	[[ ! ${operands[*]-} =~ [.] ]] || several=y
	if [[ $nr -ge ${#operands[@]} ]]; then
		[[ $several ]] || return
		nr=$((${#operands[@]} - 1))
	fi
	__kverbs_value "$1" "${operands[nr]%...}" "$3"
}

_kverbs() {
	local tool=$1 command=${COMP_WORDS[1]:-none} cur=${COMP_WORDS[COMP_CWORD]}
	local prev=${COMP_WORDS[COMP_CWORD - 1]} word
	local -A values=()

	COMPREPLY=()
	# The shell splits --root=DIR into three words, and HOST:PATH as well, whose PATH is on
	# another host.
	if [[ $prev = = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $cur = = ]]; then
		cur=
	elif [[ $cur = :* || $prev = :* ]]; then
		return
	fi
	if [[ $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W "${__kverbs_words[COMMAND]} --help --version" -- "$cur")
		return
	fi
	for word in ${__kverbs_options[$command]-}; do
		values[${word%%:*}]=${word#"${word%%:*}"}
	done

	if [[ $prev && ${values[$prev]-} ]]; then
		__kverbs_value "$tool" "${values[$prev]#:}" "$cur"
	elif [[ $cur = -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "${!values[*]}" -- "$cur")
	elif [[ $command = help ]]; then
		[[ $COMP_CWORD -ne 2 ]] || __kverbs_value "$tool" COMMAND "$cur"
	else
		__kverbs_operand "$tool" "$command" "$cur"
	fi
}

complete -F _kverbs kverbs
