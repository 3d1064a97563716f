# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For scripts that run test programs in guests. Each guest has one of three levels: core guests
# run with "make test", whole guests also with "make whole", every guests only with tests/soak
# and tests/coverage. KVERBS_LEVEL selects core, rest (whole without core), whole (both, the
# default) or every (all three). KVERBS_KERNELS="6.12 6.1 debug" and KVERBS_PROVIDERS="rxe siw"
# select among the guests of that level. With KVERBS_INSTEAD=uml the guests of 6.12 are those of
# user-mode Linux, but for what takes two hosts or more hardware.

TOP=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../.." && pwd -P)
LEVEL=${KVERBS_LEVEL:-whole}
RESULT=0

# Merge the tests of all guests and of the host into one list: drop their numbers and plans, and
# print the plan of the list as the last line. For that the script runs as a child of itself.
one_list() {
	awk '
		/^1\.\.0 # SKIP/ { skip = $0; next }
		/^(1\.\.[0-9]+$|KTAP version)/ { next }
		/^Bail out!/ { $0 = "# " $0 }
		/^(not )?ok( |$)/ { tests++; sub(/^not ok [0-9]+/, "not ok"); sub(/^ok [0-9]+/, "ok") }
		{ print; fflush() }
		END { print tests ? "1.." tests : skip ? skip : "1..0 # SKIP no guest of this level" }'
}

if [[ ${KVERBS_ONE_LIST:-} != "$0" ]]; then
	KVERBS_ONE_LIST=$0 "$0" "$@" | one_list
	exit "${PIPESTATUS[0]}"
fi

build() {
	make --no-print-directory -s -C "$TOP/tests/e2e" || exit 1
}

# Returns 0 if guests with kernel $1 and provider $2 are selected.
wanted() {
	[[ " ${KVERBS_KERNELS-$1} " = *" $1 "* && " ${KVERBS_PROVIDERS-$2} " = *" $2 "* ]]
}

# core COMMAND...: run it if its level is selected: 'core guest 6.12 rxe -- ...'
core() {
	[[ $LEVEL = rest ]] || "$@"
}

whole() {
	[[ $LEVEL = core ]] || "$@"
}

every() {
	[[ $LEVEL != every ]] || "$@"
}

# run_guest FILE VM-OPTION...: write its output to the file, and its messages also to FILE.err.
# The time limit only ends hangs. It leaves a complete run the time to report one: no guest of it
# takes half of that.
run_guest() {
	local file=$1 limit=1200
	shift

	[[ $LEVEL != every ]] || limit=1800
	"$TOP/scripts/vm" --timeout "$limit" "$@" 2>&1 >"$file" | tee "$file.err" >&2
	return "${PIPESTATUS[0]}"
}

# Print the stack of each task that the kernel reported as blocked, innermost function first.
blocked() {
	awk '/INFO: task .* blocked/ { tell(); task = $0; sub(/.*INFO: /, "", task); sub(/ for more.*/, "", task) }
		/<\/TASK>/ { tell() }
		task && match($0, / [a-zA-Z_][a-zA-Z0-9_.]*\+0x/) && !/ \? / && frames++ < 8 {
			frame = substr($0, RSTART, RLENGTH - 3)
			if (frame !~ /schedule/)
				task = task frame
		}
		END { tell() }
		function tell() { if (task) print task; task = ""; frames = 0 }' "$1"
}

# Print in a few words how a guest ended: what went wrong, and the kernel's first message about
# it.
why() {
	sed -n 's/^vm: //p' "$1" | head -n 1
	grep -m 1 -oE '(BUG|WARNING|KASAN|Oops|Kernel panic|rcu: INFO)\b.*' "$1"
	blocked "$1" | head -n 3
}

# Check that as many tests ran as all plans in a file announce.
keeps_its_plans() {
	local planned ran

	planned=$(sed -nE 's/^1\.\.([0-9]+)$/\1/p' "$1" | paste -sd +)
	ran=$(grep -cE '^(not )?ok( |$)' "$1")
	[[ $ran -eq $((planned)) ]] || { echo "$ran of $((planned)) tests ran"; return 1; }
}

# guest KERNEL PROVIDER [VM-OPTION...] -- COMMAND...: run it if it is selected. Test lines are
# marked with kernel and provider; one more line tells how the guest ended.
guest() {
	local kernel=$1 provider=$2 status out plans began=$SECONDS
	shift 2

	wanted "$kernel" "$provider" || return 0
	if [[ $kernel = 6.12 && ${KVERBS_INSTEAD-} ]]; then
		[[ ! " $* " =~ \ --(hosts|disk|iommu|hca|append|root)\  ]] || return 0
		kernel=$KVERBS_INSTEAD
	fi
	out=$(mktemp)
	run_guest "$out" --kernel "$kernel" --provider "$provider" "$@"
	status=$?
	sed -E "s/^((not )?ok [0-9]+ - )/\1$kernel $provider: /" "$out" |
		tee -a "${RECORD:-/dev/null}"
	plans=$(keeps_its_plans "$out")
	if [[ $status -eq 0 && ! $plans ]]; then
		echo "ok - $kernel $provider: the guest ends well"
	else
		echo "not ok - $kernel $provider: the guest ends well # status $status:" \
			"$({ [[ ! $plans ]] || echo "$plans"; why "$out.err"; } | paste -sd ';')"
		RESULT=1
	fi
	echo "# $kernel $provider: $((SECONDS - began)) s"
	rm -f "$out" "$out.err"
}

# End the script with the result of all guests together.
finish() {
	exit "$RESULT"
}
