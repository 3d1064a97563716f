// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA subsystem of the running kernel. DOCA-OFED and MLNX_OFED replace it by one whose
 * structs have another layout. A module that was built for the wrong one does not load if the
 * kernel has CONFIG_MODVERSIONS; without it the module would load and corrupt memory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kobject.h>
#include <linux/module.h>

#include "ib_core.h"

#ifdef KVERBS_HAVE_OFED
#define IS_FOR_REPLACEMENT	true
/* Read by kverbs doctor. */
MODULE_INFO(ib_core, "replaced");
#else
#define IS_FOR_REPLACEMENT	false
MODULE_INFO(ib_core, "kernel");
#endif

/**
 * kverbs_ib_core_is_replaced() - whether the kernel's RDMA subsystem has been replaced
 *
 * A replacement is built out of tree, unlike the ib_core of any kernel.
 *
 * Context: process.
 * Return: true if so.
 */
bool kverbs_ib_core_is_replaced(void)
{
	struct kset *modules = THIS_MODULE->mkobj.kobj.kset;
	struct kobject *kobj;
	struct module *mod;
	bool replaced;

	/* Only a kernel with sysfs has these objects; there is none for a built-in ib_core. */
	kobj = modules ? kset_find_obj(modules, "ib_core") : NULL;
	if (!kobj)
		return false;
	mod = container_of(kobj, struct module_kobject, kobj)->mod;
	replaced = mod && test_bit(TAINT_OOT_MODULE, &mod->taints);
	kobject_put(kobj);
	return replaced;
}

/**
 * kverbs_ib_core_check() - check that this module was built for the RDMA subsystem at hand
 * @replaced: what kverbs_ib_core_is_replaced() has returned
 *
 * Context: before any other use of the subsystem.
 * Return: 0, or -ENOEXEC if it was built for another one.
 */
int kverbs_ib_core_check(bool replaced)
{
	static const char * const names[] = { "the kernel's own", "a replacement" };

	if (replaced == IS_FOR_REPLACEMENT)
		return 0;
	pr_err("ib_core is %s, but this module was built for %s; build it again\n",
	       names[replaced], names[IS_FOR_REPLACEMENT]);
	return -ENOEXEC;
}
