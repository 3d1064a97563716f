/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Names of services, as options and key files have them. */
#ifndef KVERBS_TOOL_SERVICE_H
#define KVERBS_TOOL_SERVICE_H

#include <stdbool.h>

/* Of all services: "ping,files,bench" */
#define SERVICE_LIST_MAX 32

/* @service: enum wire_service */
const char *service_name(unsigned int service);
/* Whether @services, a bit mask in which 0 is any, includes @service */
bool service_included(unsigned int services, unsigned int service);
/*
 * Add the services of a comma-separated list to a bit mask. Returns the first word that is no
 * service, or NULL.
 */
const char *service_parse(unsigned int *services, const char *list);
/* The same list again. */
const char *service_format(unsigned int services, char buf[SERVICE_LIST_MAX]);

#endif /* KVERBS_TOOL_SERVICE_H */
