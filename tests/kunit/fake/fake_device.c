// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/in.h>
#include <linux/mman.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <net/net_namespace.h>

#include "fake_device.h"
#include "fake_qp.h"

static int query_device(struct ib_device *ib, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	*attr = to_fake_hca(ib)->limits;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct fake_hca *hca = to_fake_hca(ib);
	int ret;

	if (hca->registered) {
		ret = fake_hca_fails(hca, FAKE_QUERY_PORT);
		if (ret)
			return ret;
	}
	attr->gid_tbl_len = 1;
	attr->max_msg_sz = FAKE_MAX_MSG;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_1024;
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->active_speed = hca->speed;
	attr->active_width = IB_WIDTH_4X;
	return 0;
}

/* An iWARP device's GID is the MAC of its interface, with which the CM of 6.1 looks it up. */
static const u8 fake_mac[ETH_ALEN] = { 0x02, 'f', 'a', 'k', 'e', 1 };

static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	*gid = (union ib_gid) {};
	ether_addr_copy(gid->raw, fake_mac);
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->core_cap_flags = to_fake_hca(ib)->port_caps;
	return 0;
}

/* ib_core never calls it for this device, but without it the device is not kernel-capable. */
static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 addr,
				 int access,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
				 struct ib_dmah *dmah,
#endif
				 struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static const struct ib_device_ops device_ops = {
	.owner		= THIS_MODULE,
	.driver_id	= RDMA_DRIVER_UNKNOWN,
	.get_dma_mr	= get_dma_mr,
	.get_port_immutable = get_port_immutable,
	.query_device	= query_device,
	.query_gid	= query_gid,
	.query_port	= query_port,
	.reg_user_mr	= reg_user_mr,
	.size_ib_pd	= sizeof(struct ib_pd),
};

static const struct ib_device_attr usual_limits = {
	.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
	.kernel_cap_flags = IBK_LOCAL_DMA_LKEY,
	.atomic_cap = IB_ATOMIC_NONE,
	.max_qp = 64,
	.max_qp_wr = 1024,
	.max_send_sge = 4,
	.max_recv_sge = 4,
	.max_sge_rd = 1,
	.max_cq = 64,
	.max_cqe = 65536,
	.max_mr = 1024,
	.max_pd = 64,
	.max_qp_rd_atom = 16,
	.max_qp_init_rd_atom = 16,
	.max_fast_reg_page_list_len = FAKE_MR_ROOM,
};

/* Give the loopback interface an address for the device; it may already have it. */
static void give_address(struct kunit *test)
{
	unsigned long user = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct ifreq ifr = { .ifr_name = "lo:9" };
	struct sockaddr_in *sin = (struct sockaddr_in *)&ifr.ifr_addr;
	struct socket *sock;
	int ret;

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(FAKE_ADDRESS);
	KUNIT_ASSERT_NE(test, 0, user);
	KUNIT_ASSERT_EQ(test, 0, copy_to_user((void __user *)user, &ifr, sizeof(ifr)));
	KUNIT_ASSERT_EQ(test, 0, sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, 0, &sock));
	ret = sock->ops->ioctl(sock, SIOCSIFADDR, user);
	sock_release(sock);
	KUNIT_ASSERT_EQ(test, 0, ret);
}

/* The loopback interface has no MAC, but accepts one at any time. */
static void give_mac(struct kunit *test)
{
	struct sockaddr_storage mac = { .ss_family = ARPHRD_LOOPBACK };
	void *addr = &mac; /* before Linux 6.16 a struct sockaddr */
	struct net_device *lo = init_net.loopback_dev;
	int ret = 0;

	memcpy(((struct sockaddr *)addr)->sa_data, fake_mac, sizeof(fake_mac));
	rtnl_lock();
	if (!ether_addr_equal(lo->dev_addr, fake_mac))
		ret = dev_set_mac_address(lo, addr, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, 0, ret);
}

static void remove_it(struct work_struct *work)
{
	struct fake_hca *hca = container_of(work, struct fake_hca, removal);

	ib_unregister_device(&hca->ib);
	complete_all(&hca->removed);
}

static void free_device(void *data)
{
	struct fake_hca *hca = data;

	fake_hca_stop_work(hca);
	fake_device_remove(hca);
	xa_destroy(&hca->qps);
	fake_hca_free_lost(hca);
	ib_dealloc_device(&hca->ib);
}

/**
 * fake_device_new() - create a device that can be registered
 * @test: the test, at whose end it is removed
 *
 * Return: the device, whose limits can still be changed. Listening on FAKE_ADDRESS and
 * connecting to it use the first of these devices.
 */
struct fake_hca *fake_device_new(struct kunit *test)
{
	struct fake_hca *hca = ib_alloc_device(fake_hca, ib);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	fake_hca_init(hca);
	INIT_WORK(&hca->removal, remove_it);
	hca->limits = usual_limits;
	hca->port_caps = RDMA_CORE_PORT_IWARP;
	hca->speed = IB_SPEED_EDR;
	hca->ib.node_type = RDMA_NODE_RNIC;
	hca->ib.phys_port_cnt = 1;
	hca->ib.num_comp_vectors = 1;
	hca->ib.local_dma_lkey = FAKE_LKEY;
	hca->ib.iw_driver_flags = IW_F_NO_PORT_MAP;
	strscpy(hca->ib.iw_ifname, "lo", sizeof(hca->ib.iw_ifname));
	ib_set_device_ops(&hca->ib, &device_ops);
	ib_set_device_ops(&hca->ib, &fake_qp_ops);
	ib_set_device_ops(&hca->ib, &fake_srq_ops);
	ib_set_device_ops(&hca->ib, &fake_iw_ops);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_device, hca));
	give_address(test);
	give_mac(test);
	KUNIT_ASSERT_EQ(test, 0, ib_device_set_netdev(&hca->ib, init_net.loopback_dev, 1));
	return hca;
}

static void remove_parent(void *data)
{
	root_device_unregister(data);
}

/**
 * fake_parent_create() - create a device of a bus for an RDMA device to be on
 * @test: the test, at whose end it is removed
 * @node: its NUMA node
 *
 * Return: the device, created before the RDMA device so that it outlives that.
 */
struct device *fake_parent_create(struct kunit *test, int node)
{
	struct device *parent = root_device_register("kverbs_fake");

	KUNIT_ASSERT_FALSE(test, IS_ERR(parent));
	set_dev_node(parent, node);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, remove_parent, parent));
	return parent;
}

/**
 * fake_device_give_dma() - let a device seem to reach memory by DMA
 * @hca: the device, registered
 * @parent: the device for which memory is mapped, created before @hca
 *
 * Nothing can be mapped for @parent by the DMA API, so only memory can be used whose exporter makes
 * addresses up.
 */
void fake_device_give_dma(struct fake_hca *hca, struct device *parent)
{
	parent->coherent_dma_mask = DMA_BIT_MASK(64);
	parent->dma_mask = &parent->coherent_dma_mask;
#if defined(CONFIG_ARCH_HAS_SYNC_DMA_FOR_DEVICE) || \
	defined(CONFIG_ARCH_HAS_SYNC_DMA_FOR_CPU) || \
	defined(CONFIG_ARCH_HAS_SYNC_DMA_FOR_CPU_ALL)
	parent->dma_coherent = true;
#endif
	hca->ib.dma_device = parent;
}

/**
 * fake_device_register() - register a device
 * @hca: from fake_device_new()
 *
 * Return: as ib_register_device().
 */
int fake_device_register(struct fake_hca *hca)
{
	int ret = ib_register_device(&hca->ib, "fake%d", NULL);

	hca->registered = !ret;
	return ret;
}

/**
 * fake_device_create() - create a device and register it
 * @test: the test, at whose end it is removed
 *
 * Return: the device.
 */
struct fake_hca *fake_device_create(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);

	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	return hca;
}

/**
 * fake_device_begin_remove() - start to remove a device
 * @hca: the device, registered
 *
 * @removed is signalled when the removal has finished, which waits for all users.
 */
void fake_device_begin_remove(struct fake_hca *hca)
{
	hca->registered = false;
	queue_work(system_unbound_wq, &hca->removal);
}

/**
 * fake_device_is_removed() - wait until a device is removed
 * @hca: the device that is being removed
 *
 * Return: false if it is not removed in time.
 */
bool fake_device_is_removed(struct fake_hca *hca)
{
	return wait_for_completion_timeout(&hca->removed, FAKE_PATIENCE);
}

/**
 * fake_device_remove() - remove a device and wait for that
 * @hca: the device; if its removal has started already, only wait
 */
void fake_device_remove(struct fake_hca *hca)
{
	if (hca->registered)
		fake_device_begin_remove(hca);
	flush_work(&hca->removal);
}

/**
 * fake_device_is_empty() - check that no object is left on a device
 * @hca: the device
 *
 * Return: true if so, and if no completion was ever lost.
 */
bool fake_device_is_empty(struct fake_hca *hca)
{
	return !atomic_read(&hca->nr_pds) && !atomic_read(&hca->nr_cqs) &&
	       !atomic_read(&hca->nr_qps) && !atomic_read(&hca->nr_srqs) &&
	       atomic_read(&hca->nr_mrs) == hca->nr_lost &&
	       !atomic_read(&hca->nr_overflows) && !hca->listening;
}
