#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Run the commands of the documentation: building and installing in a copy of the source, all
# others in a guest that has only the installed files.
set -u
# shellcheck source=tests/e2e/lib/lib.bash
. "$(dirname "$(readlink -f "$0")")/../lib/lib.bash"
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

DIR=$TOP/build/manual
HERE='^(make|cc|scripts/[a-z-]+)( |$)'
KERNEL=$("$TOP/scripts/kernel" 6.12) || exit 1
# The documents do not set these, because there the build host is the target.
export KDIR=$KERNEL/build DESTDIR=$DIR/root
export PKG_CONFIG_PATH=$DESTDIR/usr/local/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$DESTDIR

copy_source() {
	rm -rf "$DIR/root" "$DIR/modules"
	mkdir -p "$DIR/source"
	rsync -a --delete --exclude-from="$TOP/.gitignore" --exclude=/.git "$TOP/" "$DIR/source/" &&
		echo '#include <kverbs.h>
		int main(void) { return !kverbs_wc_status_str(0); }' >"$DIR/source/examples/program.c"
}

# Add our module to a kernel's list of modules, for modprobe.
list_modules() {
	local release

	release=$(cat "$KERNEL/release")
	mkdir -p "$DIR/modules"
	cp -rs "$KERNEL/lib/modules/$release" "$DIR/modules/" &&
		cp -r "$DESTDIR/lib/modules/$release/updates" "$DIR/modules/$release/" &&
		mkdir -p "$DIR/all/lib" && ln -sfn "$DIR/modules" "$DIR/all/lib/modules" &&
		depmod -b "$DIR/all" "$release" &&
		find "$DIR/modules" -type l -delete
}

# The demo builds its own module in the original tree.
run_here() {
	case $1 in
	"make demo") cd "$TOP" && env -u DESTDIR -u KDIR make demo ;;
	cc*) cd "$DIR/source/examples" && bash -c "${1/.../program.c} -o '$DIR/program'" ;;
	*) cd "$DIR/source" && MAKEFLAGS=-j$(nproc) bash -c "$1" ;;
	esac
}

copy_source || exit 1
all=$("$TOP/tests/e2e/cli/doc_commands") || exit 1
check "the documents contain commands" [ "$(wc -l <<<"$all")" -ge 70 ]
: >"$DIR/commands"
while IFS=$'\t' read -r page command; do
	# packages.sh runs these, on an installed Debian, and containers.sh.
	[[ $page != guide/packaging.rst:* && $page != guide/containers.rst:* ]] || continue
	if [[ $command =~ $HERE ]]; then
		check "$page: $command" run_here "$command"
	else
		printf '%s\t%s\n' "$page" "$command" >>"$DIR/commands"
	fi
done <<<"$all"
check "modprobe finds the module" list_modules
whole guest 6.12 rxe --no-module -- "$TOP/tests/e2e/cli/guest/manual" "$DIR"
[[ $FAILED -eq 0 ]] || RESULT=1
finish
