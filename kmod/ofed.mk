# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# DOCA-OFED and MLNX_OFED replace a kernel's RDMA subsystem by one whose structs have another
# layout, but leave the kernel's headers as they are. A module for such a host needs the headers
# and the symbol versions that come with the replacement.
#
# KVERBS_OFED=DIR names a tree of these; KVERBS_OFED=n builds for the kernel's own subsystem.
# Without either the tree is looked for if ib_core has been replaced.
ofed-header := include/rdma/ib_verbs.h

ifeq ($(KVERBS_OFED),)
ofed-dirs := $(wildcard $(addprefix /lib/modules/$(KERNELRELEASE)/,updates extra weak-updates))
ofed-core := $(firstword $(if $(ofed-dirs),$(shell find $(ofed-dirs) -name 'ib_core.ko*')))

ifneq ($(ofed-core),)
ofed-trees := $(addprefix /usr/src/,ofa_kernel/*/$(KERNELRELEASE) ofa_kernel/$(KERNELRELEASE) \
	ofa_kernel-dkms/*/$(KERNELRELEASE) ofa_kernel/default)
ofed-tree := $(patsubst %/$(ofed-header),%,\
	$(firstword $(wildcard $(addsuffix /$(ofed-header),$(ofed-trees)))))
ifeq ($(ofed-tree),)
$(error kverbs: $(ofed-core) replaces this kernel's ib_core, and its headers are not in \
	/usr/src/ofa_kernel. Install them, or name their directory by KVERBS_OFED=)
endif

# The default tree may be of another kernel, which is right only for that kernel's modules.
ofed-kernel := $(shell sed -n 's/^KVERSION=//p' $(ofed-tree)/configure.mk.kernel 2>/dev/null)
ofed-wanted := $(or $(if $(findstring /weak-updates/,$(ofed-core)),$(ofed-kernel)),$(KERNELRELEASE))
ifneq ($(or $(ofed-kernel),$(KERNELRELEASE)),$(ofed-wanted))
$(error kverbs: $(ofed-core) replaces this kernel's ib_core, and the headers in $(ofed-tree) \
	are of kernel $(ofed-kernel). Install those of $(KERNELRELEASE), or name their directory by \
	KVERBS_OFED=)
endif
KVERBS_OFED := $(ofed-tree)
endif
endif

ifneq ($(filter-out n,$(KVERBS_OFED)),)
ifneq ($(words $(wildcard $(addprefix $(KVERBS_OFED)/,$(ofed-header) Module.symvers))),2)
$(error kverbs: KVERBS_OFED=$(KVERBS_OFED) has no $(ofed-header) or no Module.symvers)
endif

# Its headers precede those of the kernel, for all directories below.
NOSTDINC_FLAGS := $(addprefix -I$(KVERBS_OFED)/,include include/uapi) $(NOSTDINC_FLAGS)
override KBUILD_EXTRA_SYMBOLS += $(KVERBS_OFED)/Module.symvers
# They count on a header that follows the kernel's configuration, and precedes a source's pr_fmt.
KVERBS_OFED_CFLAGS := -DKVERBS_HAVE_OFED -D'pr_fmt(fmt)=KBUILD_MODNAME ": " fmt' \
	$(addprefix -include ,$(wildcard $(KVERBS_OFED)/include/linux/compat-2.6.h))
export KVERBS_OFED_CFLAGS
# Only a compilation has try-run; modpost reads this file for the symbols.
$(if $(filter-out undefined,$(origin try-run)),\
	$(info kverbs: building for the RDMA subsystem of $(KVERBS_OFED)))
endif
