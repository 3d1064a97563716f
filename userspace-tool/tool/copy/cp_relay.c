// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs cp from one server to another. */
#include <errno.h>
#include <stdlib.h>

#include "copy/cp.h"
#include "copy/relay.h"

/* Attributes other than those of users pass only if both servers read and write them. */
static void agree_on_rights(struct cp *cp)
{
	uint32_t flags = cp->copy.session->welcome.flags & cp->from_s.welcome.flags;

	cp->copy.opts &= ~WIRE_F_SUPER;
	if (flags & WIRE_F_PRIVILEGED)
		cp->copy.opts |= WIRE_F_SUPER;
}

int cp_relay(struct cp *cp)
{
	struct relay *r = calloc(1, sizeof(*r));
	struct cp_getter get = { .pump = relay_pump, .arg = r };
	int ret;

	if (!r)
		return err_report(ERR_MEMORY, -ENOMEM, "begin");
	agree_on_rights(cp);
	relay_init(r, &cp->copy, &cp->from_s);
	r->src_host = cp->from.host;
	r->dst_host = cp->to.host;
	get.sink = &r->gate;
	ret = cp_ask(cp, &r->src);
	if (!ret)
		ret = relay_greet(r);
	if (!ret)
		ret = cp_get_each(cp, &get);
	if (!ret)
		ret = relay_flush(r);
	cp->lost_from = ret < 0 && r->last == &cp->from_s;
	relay_close(r);
	copy_stop(&cp->copy);
	session_stop(&cp->from_s);
	relay_free(r);
	free(r);
	return ret;
}
