# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For test scripts that run in a guest: TAP lines, and processes with a voice.

# shellcheck disable=SC2034 # for those who read this in

# How many seconds to wait for what must happen: what takes longer hangs. KVERBS_SLOWNESS
# is how many times longer than on an idle machine things take; see scripts/guest/init.
SLOWNESS=${KVERBS_SLOWNESS:-1}
PATIENCE=$((120 * SLOWNESS))

# So is the tool, unless it is told otherwise.
kverbs() {
	case $1 in
	ping | doctor | bench) command kverbs "$1" -W "$PATIENCE" "${@:2}" ;;
	cp) command kverbs cp --timeout "$PATIENCE" "${@:2}" ;;
	*) command kverbs "$@" ;;
	esac
}
export PATIENCE
export -f kverbs

CHECKS=0
FAILED=0
declare -A SERVER_FD SERVER_PID

# check NAME COMMAND...: a test line for whether it succeeds, and one if that takes long
check() {
	local name=$1 began=$SECONDS out
	shift

	CHECKS=$((CHECKS + 1))
	if out=$("$@" 2>&1); then
		echo "ok $CHECKS - $name"
	else
		echo "not ok $CHECKS - $name # $* gives $?"
		# shellcheck disable=SC2001 # each line
		sed 's/^/#   /' <<<"$out"
		FAILED=1
	fi
	[[ $((SECONDS - began)) -lt 5 ]] || echo "# $name: $((SECONDS - began)) s"
}

# status WANTED COMMAND...: whether it ends with that status
status() {
	local wanted=$1 got
	shift

	"$@"
	got=$?
	[[ $got -eq $wanted ]] || { echo "status $got, not $wanted"; return 1; }
}

# says PATTERN COMMAND...: whether it succeeds or not, it says that
says() {
	local pattern=$1 out
	shift

	out=$("$@" 2>&1)
	echo "$out"
	grep -q -E -e "$pattern" <<<"$out"
}

# typed PATTERN: check the first command that has it of those that a page tells to type,
# which are in DOC, and take it from there
typed() {
	local i command

	for i in "${!DOC[@]}"; do
		command=${DOC[i]}
		[[ $command =~ $1 ]] || continue
		unset "DOC[i]"
		check "the manual: $command" bash -c "$command"
		return
	done
	check "the manual has a command like $1" false
}

# server NAME OPTION...: start one in the background and wait until it listens; what
# it says can be read from descriptor SERVER_FD[NAME], its process is SERVER_PID[NAME].
# with UNDER=COMMAND it is run by that one. A client may be silent for long
server() {
	local name=$1 fd line
	shift

	# shellcheck disable=SC2086 # words
	exec {fd}< <(exec ${UNDER-} kverbs serve -v --log-rate 0 \
		--idle-timeout $((10 * PATIENCE)) "$@" 2>&1)
	SERVER_FD[$name]=$fd
	SERVER_PID[$name]=$!
	while read -r -t "$PATIENCE" line <&"$fd"; do
		[[ $line != listening* ]] || return 0
	done
	echo "Bail out! the server does not listen: $line"
	exit 1
}

# await FD PATTERN: read until a line has it
await() {
	local line

	while read -r -t "$PATIENCE" line <&"$1"; do
		[[ ! $line =~ $2 ]] || return 0
	done
	return 1
}

# Files of sizes at which something changes, in the current directory
make_sizes() {
	local size

	for size in 0 1 4095 4096 4097 65535 65536 65537 1048575 1048577 \
		    2097151 2097152 2097153 16777217; do
		head -c "$size" /dev/urandom >"size $size"
	done
}

finish() {
	echo "1..$CHECKS"
	exit "$FAILED"
}
