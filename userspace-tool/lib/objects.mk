# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Objects of libkverbs. Please keep this list sorted.
lib-y += addr.o
lib-y += batch.o
lib-y += bench.o
lib-y += buf.o
lib-y += conn.o
lib-y += connect.o
lib-y += context.o
lib-y += counters.o
lib-y += device.o
lib-y += dispatch.o
lib-y += explain.o
lib-y += export.o
lib-y += group.o
lib-y += listener.o
lib-y += names.o
lib-y += pool.o
lib-y += post.o
lib-y += queue.o
lib-y += request.o
lib-y += ring.o
lib-y += split.o
lib-y += sys.o
lib-y += table.o
lib-y += token.o
lib-y += wait.o
lib-y += watch.o
