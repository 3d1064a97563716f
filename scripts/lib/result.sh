# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Counts of one part of the tests, and the line that every part ends with.

PASSED=0
FAILED=0
SKIPPED=0
SUMMARY='^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$'

passed() {
	PASSED=$((PASSED + 1))
	echo "ok   $*"
}

failed() {
	FAILED=$((FAILED + 1))
	echo "FAIL $*"
}

skipped() {
	SKIPPED=$((SKIPPED + 1))
	echo "skip $*"
}

# Add the last summary line in a file to the counts, if it has one.
add_summary() {
	local line

	line=$(grep -E "$SUMMARY" "$1" | tail -n 1) || return 1
	[[ $line =~ $SUMMARY ]]
	PASSED=$((PASSED + BASH_REMATCH[1]))
	FAILED=$((FAILED + BASH_REMATCH[2]))
	SKIPPED=$((SKIPPED + BASH_REMATCH[3]))
}

# The last line of a part, and its exit status.
summary() {
	echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
	[[ $FAILED -eq 0 ]]
}
