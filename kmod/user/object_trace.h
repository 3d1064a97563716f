/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Events of the objects of an open file, in the group "kverbs" like those of core/trace.h. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kverbs

#if !defined(KVERBS_OBJECT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KVERBS_OBJECT_TRACE_H

#include <linux/tracepoint.h>

struct kverbs_object;

/* X(name, text), the last one E(). */
#define KVERBS_TRACE_OBJECTS(X, E)					\
	X(KVERBS_OBJ_LISTENER, "LISTENER")				\
	X(KVERBS_OBJ_CONN, "CONN")					\
	X(KVERBS_OBJ_EXPORT, "EXPORT")					\
	X(KVERBS_OBJ_GROUP, "GROUP")					\
	X(KVERBS_OBJ_POOL, "POOL")					\
	X(KVERBS_OBJ_REGION, "REGION")					\
	E(KVERBS_OBJ_RING, "RING")

#undef KVERBS_TRACE_NUMBER
#define KVERBS_TRACE_NUMBER(name, text)	TRACE_DEFINE_ENUM(name);

KVERBS_TRACE_OBJECTS(KVERBS_TRACE_NUMBER, KVERBS_TRACE_NUMBER)

#undef KVERBS_TRACE_TEXT
#define KVERBS_TRACE_TEXT(name, text)		{ name, text },
#undef KVERBS_TRACE_LAST_TEXT
#define KVERBS_TRACE_LAST_TEXT(name, text)	{ name, text }
#undef kverbs_trace_show
#define kverbs_trace_show(number, names)				\
	__print_symbolic(number, names(KVERBS_TRACE_TEXT, KVERBS_TRACE_LAST_TEXT))

DECLARE_EVENT_CLASS(kverbs_object,
	TP_PROTO(const struct kverbs_object *object),
	TP_ARGS(object),
	TP_STRUCT__entry(
		__field(const void *, file)
		__field(u32, id)
		__field(u32, type)
	),
	TP_fast_assign(
		__entry->file = object->file;
		__entry->id = object->id;
		__entry->type = object->type;
	),
	TP_printk("file=%p %s id=%u", __entry->file,
		  kverbs_trace_show(__entry->type, KVERBS_TRACE_OBJECTS), __entry->id)
);

DEFINE_EVENT(kverbs_object, kverbs_object_new,
	TP_PROTO(const struct kverbs_object *object), TP_ARGS(object));
DEFINE_EVENT(kverbs_object, kverbs_object_gone,
	TP_PROTO(const struct kverbs_object *object), TP_ARGS(object));

#endif /* KVERBS_OBJECT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE object_trace
#include <trace/define_trace.h>
