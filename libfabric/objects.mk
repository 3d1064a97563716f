# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Objects of the provider. Please keep this list sorted.
fi-y += addr.o
fi-y += cache.o
fi-y += check.o
fi-y += cm.o
fi-y += cntr.o
fi-y += cq.o
fi-y += device.o
fi-y += domain.o
fi-y += ep.o
fi-y += eq.o
fi-y += fabric.o
fi-y += info.o
fi-y += keys.o
fi-y += mr.o
fi-y += msg.o
fi-y += none.o
fi-y += op.o
fi-y += pep.o
fi-y += post.o
fi-y += progress.o
fi-y += prov.o
fi-y += queue.o
fi-y += rma.o
fi-y += self.o
fi-y += slot.o
