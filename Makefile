# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kbuild reads Kbuild; the targets for developers and packagers are here.

PREFIX ?= /usr/local
DESTDIR ?=
INSTALL_MOD_PATH ?= $(DESTDIR)

# The running kernel's build tree; if there is none, Debian's 6.12 headers, fetched.
KDIR ?= $(or $(wildcard /lib/modules/$(shell uname -r)/build),$(shell scripts/kernel 6.12)/build)

kbuild = $(MAKE) -C "$(KDIR)" M="$(CURDIR)"

all: module tool

module:
	+$(kbuild) modules

tool:
	+$(MAKE) -C userspace-tool
	+$(MAKE) -C libfabric

docs:
	scripts/docs

install: module-install tool-install docs-install

module-install:
	+$(kbuild) INSTALL_MOD_PATH="$(INSTALL_MOD_PATH)" modules_install
	[ -n "$(INSTALL_MOD_PATH)" ] || depmod "$$($(MAKE) -s -C "$(KDIR)" kernelrelease)"

tool-install:
	+$(MAKE) -C userspace-tool install PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)"
	+$(MAKE) -C libfabric install PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)"
	+$(MAKE) -C python install PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)"

# Install the pages that "make docs" has built.
docs-install:
	for page in $(wildcard build/docs/man/*.[1-8]); do \
		install -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}" "$$page" || exit 1; \
	done

# Clean by hand, since kbuild's own clean requires a kernel tree and might fetch one.
clean:
	find . -name .git -prune -o -type f \( -name '*.o' -o -name '*.ko' -o -name '*.mod' \
		-o -name '*.mod.c' -o -name '.*.cmd' -o -name '.*.d' -o -name .module-common.c \
		-o -name Module.symvers -o -name modules.order \) -exec rm -f {} +
	+for dir in userspace-tool libfabric python tests/e2e tests/devfuzz examples; do \
		[ ! -e $$dir/Makefile ] || $(MAKE) -C $$dir clean || exit 1; done
	rm -rf build

demo:
	scripts/install-deps build guests
	scripts/demo

test:
	scripts/install-deps
	tests/run core

rest:
	scripts/install-deps
	tests/run rest

whole:
	scripts/install-deps
	tests/run whole

kernels:
	scripts/install-deps
	scripts/install-deps arm64
	tests/run kernels

deb:
	scripts/deb --check

package-test:
	scripts/package-test

lint:
	scripts/lint

unit:
	+$(MAKE) --no-print-directory -C userspace-tool check

unit-fi:
	+$(MAKE) --no-print-directory -C libfabric check

unit-py:
	+$(MAKE) --no-print-directory -C python check

unit-fuzz:
	+$(MAKE) --no-print-directory -C userspace-tool check-fuzz

kunit:
	tests/kunit/run

e2e:
	tests/e2e/run

fuzz:
	tests/devfuzz/run

coverage:
	tests/coverage

soak:
	tests/soak

compare:
	scripts/install-deps build guests
	perf/compare

help:
	@echo 'make                 the modules, libkverbs and the kverbs command'
	@echo 'make module          kverbs.ko and kverbs_bench.ko; KDIR= names a kernel build tree'
	@echo 'make tool            libkverbs, the kverbs command, and the provider of libfabric'
	@echo 'make docs            pages to browse and man pages, in build/docs'
	@echo 'make install         all of it; DESTDIR= PREFIX= INSTALL_MOD_PATH='
	@echo 'make deb             Debian packages, in build/deb, and what lintian says of them'
	@echo 'make clean'
	@echo 'make demo            two guests copy a file there and back (no RDMA card needed)'
	@echo 'make test            what a change must pass: ten minutes, and no kernel is built'
	@echo 'make whole           every test: make test, then make rest; an hour'
	@echo 'make kernels         the tests on other kernels: 6.12-rt, 7.x, DOCA-OFED-like, arm64; hours'
	@echo 'make lint            style, sparse, kernel-doc, documentation, headers, symbols'
	@echo 'make unit            library and command, with sanitizers'
	@echo 'make unit-fi         provider of libfabric, with sanitizers'
	@echo 'make unit-py         module of Python'
	@echo 'make unit-fuzz       parsers of what strangers send, fuzzed'
	@echo 'make kunit           kernel tests, in guests; see tests/kunit/run --help'
	@echo 'make e2e             whole hosts, in guests; see tests/e2e/run --help'
	@echo 'make package-test    Debian packages installed, booted, used and purged, in guests'
	@echo 'make coverage        which lines of the module the tests run; see tests/coverage --help'
	@echo 'make compare         kverbs beside perftest, rping, cmtime and rcopy; half an hour'
	@echo 'make soak            everything that ends at any moment, a hundred times; hours'
	@echo 'make fuzz            half an hour of anything to /dev/kverbs; see tests/devfuzz/run --help'

.PHONY: all module tool docs install module-install tool-install docs-install clean deb package-test demo test rest kernels lint unit unit-fi unit-py unit-fuzz kunit e2e fuzz whole coverage soak compare help
