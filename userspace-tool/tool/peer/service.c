// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <string.h>

#include "cli/util.h"
#include "peer/service.h"
#include "peer/wire.h"

static const char * const names[] = {
	[WIRE_SERVICE_ECHO] = "ping",
	[WIRE_SERVICE_FILES] = "files",
	[WIRE_SERVICE_BENCH] = "bench",
};

const char *service_name(unsigned int service)
{
	return service < ARRAY_SIZE(names) ? names[service] : NULL;
}

bool service_included(unsigned int services, unsigned int service)
{
	return !services || services & 1u << service;
}

static unsigned int find(const char *word, size_t len)
{
	unsigned int i;

	for (i = WIRE_SERVICE_ECHO; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], word, len))
			return i;
	return 0;
}

const char *service_parse(unsigned int *services, const char *list)
{
	unsigned int service;
	size_t len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		service = find(list, len);
		if (!service)
			return list;
		*services |= 1u << service;
		if (!list[len])
			return NULL;
	}
}

const char *service_format(unsigned int services, char buf[SERVICE_LIST_MAX])
{
	unsigned int i;
	size_t n = 0;

	buf[0] = '\0';
	for (i = WIRE_SERVICE_ECHO; i < ARRAY_SIZE(names); i++)
		if (services & 1u << i)
			n += snprintf(buf + n, SERVICE_LIST_MAX - n, "%s%s", n ? "," : "",
				      names[i]);
	return buf;
}
