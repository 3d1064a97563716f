// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "cli/library.h"

int library_load(const char *soname, const struct library_symbol *symbols, void *table)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL), *address;

	if (!handle)
		return -ENOENT;
	for (; symbols->name; symbols++) {
		/* dlsym() also looks into the libraries that this one needs. */
		address = dlsym(handle, symbols->name);
		if (!address) {
			dlclose(handle);
			return -ENOENT;
		}
		memcpy((char *)table + symbols->at, &address, sizeof(address));
	}
	return 0;
}
