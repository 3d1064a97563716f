/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Helpers of the provider's tests, which run over the fake kernel of the library's tests. Its
 * connections are between endpoints of this process, and move data at once.
 */
#ifndef FI_T_H
#define FI_T_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "fi_kverbs.h"

#define T_SIZE 65536u

/**
 * struct t - a test's objects
 * @info: of 127.0.0.1, which is the address of the fake device
 * @fabric: the fabric
 * @eq: event queue of all endpoints
 * @domain: the domain
 * @cq: completion queue of all endpoints, FI_CQ_FORMAT_DATA
 * @pep: listens
 * @client: connected to @server by t_pair()
 * @server: see @client
 * @mr: all rights on @mem
 * @mem: T_SIZE bytes
 */
struct t {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_pep *pep;
	struct fid_ep *client;
	struct fid_ep *server;
	struct fid_mr *mr;
	uint8_t *mem;
};

struct fi_provider *fi_prov_ini(void);
/* The linker redirects the provider's call of fi_version() here, in info_test. */
uint32_t __wrap_fi_version(void);

/* Start over with a fake kernel that has one device, with the address 127.0.0.1. */
void t_add_device(void);
/* Everything but endpoints and their connection. */
int t_setup(void **state);
/* The same, and @client connected to @server. */
int t_setup_pair(void **state);
int t_teardown(void **state);

/* An endpoint that is bound and enabled. */
struct fid_ep *t_ep(struct t *t, struct fi_info *info);
/* Read the next event, which is of this type; returns the bytes of private data. */
size_t t_event(struct t *t, uint32_t type, struct fi_eq_cm_entry *entry, void *data);
/* Read the next event, which is an error; returns it. */
struct fi_eq_err_entry t_event_error(struct t *t);
/* The next completion, which must be there. */
struct fi_cq_data_entry t_comp(struct t *t);
struct fi_cq_err_entry t_comp_error(struct t *t);
/* No completion is there. */
void t_no_comp(struct t *t);
/* Let @client connect, and return the info of the request. */
struct fi_info *t_request(struct t *t, const void *param, size_t len);

#define t_test(name) cmocka_unit_test_setup_teardown(name, t_setup, t_teardown)
#define t_test_pair(name) cmocka_unit_test_setup_teardown(name, t_setup_pair, t_teardown)

#endif /* FI_T_H */
