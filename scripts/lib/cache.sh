# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Location of downloads and build results, and locks between concurrent runs.

# shellcheck disable=SC2034 # used by those who source this
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/kverbs
mkdir -p "$CACHE/kernels" "$CACHE/source" "$CACHE/modules"

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

say() {
	echo "${0##*/}: $*" >&2
}

# Run "$@" with its output in a log, which is printed only on failure.
quietly() {
	local log=$1

	shift
	mkdir -p "$(dirname "$log")"
	if ! "$@" >"$log" 2>&1 </dev/null; then
		{ grep -m 40 -E '(error|warning): |Error [0-9]|undefined' "$log" || tail -n 60 "$log"; } >&2
		die "failed: $* (whole output in $log)"
	fi
}

# Hold the named lock until the calling (sub)shell exits. A child must not inherit it: close it
# there with {LOCK}>&-.
lock() {
	exec {LOCK}>"$CACHE/$1.lock"
	flock "$LOCK"
}
