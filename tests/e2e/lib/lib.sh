# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For scripts that run test programs in guests.
#
# KVERBS_KERNELS="6.12 6.1 debug" and KVERBS_PROVIDERS="rxe siw" choose guests
# among those that a script would use. KVERBS_WHOLE=y adds those that show little new,
# and makes some do more: a developer should not have to wait for them each time.

TOP=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../.." && pwd -P)
RESULT=0

build() {
	make --no-print-directory -s -C "$TOP/tests/e2e" || exit 1
}

# Whether the developer wants guests with kernel $1 and provider $2.
wanted() {
	[[ " ${KVERBS_KERNELS-$1} " = *" $1 "* && " ${KVERBS_PROVIDERS-$2} " = *" $2 "* ]]
}

# What is done only when all is wanted: 'whole guest 6.1 siw -- ...'.
whole() {
	[[ ! ${KVERBS_WHOLE:-} ]] || "$@"
}

# What a developer need not wait for each time, and build machines do.
seldom() {
	[[ ! ${KVERBS_WHOLE:-} && ${CI:-} != true ]] || "$@"
}

# run_guest FILE VM-OPTION...: what it prints goes into the file, what is told of it
# also into FILE.err.
run_guest() {
	local file=$1
	shift

	"$TOP/scripts/vm" --timeout 1500 "$@" 2>&1 >"$file" | tee "$file.err" >&2
	return "${PIPESTATUS[0]}"
}

# Of tasks that a kernel found blocked for long, what each waits in, innermost first.
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

# A guest's end in few words: what went wrong, and the first that its kernel said of it.
why() {
	sed -n 's/^vm: //p' "$1" | head -n 1
	grep -m 1 -oE '(BUG|WARNING|KASAN|Oops|Kernel panic|rcu: INFO)\b.*' "$1"
	blocked "$1" | head -n 3
}

# guest KERNEL PROVIDER [VM-OPTION...] -- COMMAND...: run it if it is wanted.
# Test lines are marked with what they ran on; one more says how the guest ended.
guest() {
	local kernel=$1 provider=$2 status out began=$SECONDS
	shift 2

	wanted "$kernel" "$provider" || return 0
	out=$(mktemp)
	run_guest "$out" --kernel "$kernel" --provider "$provider" "$@"
	status=$?
	if [[ $status -eq 73 ]]; then
		echo "# $kernel $provider: once more, since the emulator failed"
		run_guest "$out" --kernel "$kernel" --provider "$provider" "$@"
		status=$?
	fi
	sed -E "s/^((not )?ok [0-9]+ - )/\1$kernel $provider: /" "$out" |
		tee -a "${RECORD:-/dev/null}"
	if [[ $status -eq 0 ]]; then
		echo "ok 0 - $kernel $provider: the guest ends well"
	else
		echo "not ok 0 - $kernel $provider: the guest ends well # status $status:" \
			"$(why "$out.err" | paste -sd ';')"
		RESULT=1
	fi
	echo "# $kernel $provider: $((SECONDS - began)) s"
	rm -f "$out" "$out.err"
}

# End the script with what all guests together said.
finish() {
	exit "$RESULT"
}
