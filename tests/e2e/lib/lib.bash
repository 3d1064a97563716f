# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For test scripts that run in a guest: TAP lines, and background processes whose output is
# read.

# shellcheck disable=SC2034 # for those who read this in

# Timeout in seconds for events that must happen: a longer wait means a hang. KVERBS_SLOWNESS is
# the slowdown compared with an idle machine; see scripts/guest/init.
SLOWNESS=${KVERBS_SLOWNESS:-1}
PATIENCE=$((120 * SLOWNESS))

# The same timeout is the tool's default.
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

# check NAME COMMAND...: a test line for whether it succeeds, with a note if it takes long
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

# status WANTED COMMAND...: check that it exits with that status
status() {
	local wanted=$1 got
	shift

	"$@"
	got=$?
	[[ $got -eq $wanted ]] || { echo "status $got, not $wanted"; return 1; }
}

# says PATTERN COMMAND...: check that its output matches, whatever its status
says() {
	local pattern=$1 out
	shift

	out=$("$@" 2>&1)
	echo "$out"
	grep -q -E -e "$pattern" <<<"$out"
}

# typed PATTERN: check the first matching command among those that a page shows, which are in
# DOC, and remove it there
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

# server NAME OPTION...: start a server in the background and wait until it listens.
# SERVER_FD[NAME] is a descriptor of its output, SERVER_PID[NAME] its process. UNDER=COMMAND
# runs it under COMMAND. Its idle timeout is long
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

# Start the system's message bus unless it runs; it is ready on return.
start_bus() {
	[[ ! -S /run/dbus/system_bus_socket ]] || return 0
	mkdir -p /run/dbus
	dbus-uuidgen --ensure && dbus-daemon --system --fork --nopidfile --nosyslog
}

# Start avahi-daemon, and the bus, on which it is known on return.
start_avahi() {
	start_bus && avahi-daemon -D --no-drop-root --no-chroot --no-rlimits
}

# background COMMAND...: start it. PID is its process, OUT a descriptor of its output, and closing
# IN ends its input. coproc would not do: if a coprocess ends before wait, bash forgets its status.
background() {
	local pipes

	pipes=$(mktemp -d)
	mkfifo "$pipes/in" "$pipes/out"
	"$@" <"$pipes/in" >"$pipes/out" 2>&1 &
	PID=$!
	exec {IN}>"$pipes/in" {OUT}<"$pipes/out"
	rm -r "$pipes"
}

# await FD PATTERN: read until a line matches
await() {
	local line

	while read -r -t "$PATIENCE" line <&"$1"; do
		[[ ! $line =~ $2 ]] || return 0
	done
	return 1
}

# Create files of sizes at the limits of packets, pages, windows, in the current directory
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
