# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# apt on a machine where other programs use it, above all its own daily updates.

# Locks that apt does not wait for, or only if told to.
APT_LOCKS=(/var/lib/apt/lists/lock /var/cache/apt/archives/lock /var/lib/dpkg/lock-frontend)

# Parse the lists in memory. No lock protects the files that apt caches them in: an update removes the
# temporary files of another apt, which then fails to rename them.
# shellcheck disable=SC2034 # used by scripts that include this
APT_UNSHARED=(-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)

# Wait until nothing holds any of apt's locks. They are record locks of fcntl(2), which
# flock(1) does not know; perl is in every Debian system.
apt_wait() {
	perl -MFcntl -e '
		for my $path (@ARGV) {
			open(my $file, "+<", $path) or next;
			my $layout = "s s x4 q q l x4";
			my $lock = pack($layout, F_WRLCK, 0, 0, 0, 0);
			fcntl($file, F_GETLK, my $holder = $lock) or next;
			my ($type, $pid) = (unpack($layout, $holder))[0, 4];
			if ($type != F_UNLCK) {
				my $name = "";
				if (open(my $comm, "<", "/proc/$pid/comm")) {
					chomp($name = <$comm>);
				}
				print STDERR "$ENV{APT_WAIT_FOR}: waiting for $name (process $pid), which holds $path\n";
			}
			fcntl($file, F_SETLKW, $lock) or next;
		}' "${APT_LOCKS[@]}"
}

# apt_do COMMAND...: run it with the output of apt-get kept; say in one line why it
# failed. Another program may have taken a lock again since the wait: then wait again.
apt_do() {
	local out

	export APT_WAIT_FOR=${0##*/}
	while apt_wait; ! out=$("$@" 2>&1); do
		grep -q 'Could not get lock' <<<"$out" && continue
		echo "${0##*/}: $* failed: $(grep -m 1 -E '^(W: Failed|E:)' <<<"$out" || tail -n 1 <<<"$out")" >&2
		return 1
	done
	# An update that cannot reach its mirror exits with 0.
	if grep -q '^W: Failed to fetch' <<<"$out"; then
		echo "${0##*/}: $(grep -m 1 '^W: Failed to fetch' <<<"$out")" >&2
		return 1
	fi
}
