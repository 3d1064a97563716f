#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The output of perf/compare is complete. Figures are not judged, since other tests run at the
# same time.
set -u
# shellcheck source=tests/e2e/lib/lib.bash
. "$(dirname "$(readlink -f "$0")")/../lib/lib.bash"
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

wanted 6.12 rxe || exit 4
INTO=$TOP/build/compare
rm -rf "$INTO"

everything_is_measured() {
	"$TOP/perf/compare" --quick --into "$INTO"
}

# The setting records failures and their reasons: perftest with events sometimes sleeps for
# ever.
nothing_is_missing() {
	! { grep '^- ' "$INTO/setting.inc" | grep -v '^- lat, .* perftest-e: .* took longer than'
		grep 'not measured' "$INTO/targets.inc"; } | grep .
}

# perftest says so if it was interrupted while it timed its clock.
no_figure() {
	PYTHONPATH=$TOP/perf/lib python3 -B - "$@" <<-'END'
		import sys
		import tools
		try:
		    print(tools.parse_perftest(*sys.argv[1:]))
		except tools.Broken:
		    sys.exit(0)
		sys.exit(1)
	END
}

# Generate the tables from existing results, without a guest.
tables_are_made_anew() {
	rm "$INTO"/*.inc "$INTO"/*.svg
	"$TOP/perf/compare" --tables --into "$INTO" && [[ -s $INTO/targets.inc ]]
}

pictures_are_svg() {
	python3 - "$INTO"/{bw,lat}-{send,write,read}.svg <<-'END'
		import sys
		from xml.etree import ElementTree
		for path in sys.argv[1:]:
		    lines = list(ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}polyline"))
		    assert len(lines) >= 2, path
	END
}

check "everything is measured once" everything_is_measured
check "nothing is missing" nothing_is_missing
check "a rate of 0 is measured again" no_figure write-bw ' 65536 5 0.00 0.00 0.000000'
check "a time that is infinite is measured again" no_figure send-lat ' 8 20 inf inf inf inf inf inf inf'
check "tables are made from stored results" tables_are_made_anew
check "there is a picture of each sweep" pictures_are_svg
[[ $FAILED -eq 0 ]] || RESULT=1
finish
