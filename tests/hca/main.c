// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The PCI driver of QEMU's edu device, which makes an RDMA device of it. */
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <net/net_namespace.h>

#include "hca.h"

#define VENDOR_QEMU	0x1234
#define DEVICE_EDU	0x11e8

static char *netdev = "dummy0";
module_param(netdev, charp, 0444);
MODULE_PARM_DESC(netdev, "network interface that has the device's addresses");

static unsigned int dma_bits = 64;
module_param(dma_bits, uint, 0644);
MODULE_PARM_DESC(dma_bits, "width of the addresses that the device can use");

static bool untrusted;
module_param(untrusted, bool, 0644);
MODULE_PARM_DESC(untrusted, "behave like a device in an external port");

static int query_device(struct ib_device *ib, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	*attr = (struct ib_device_attr) {
		.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
		.kernel_cap_flags = IBK_LOCAL_DMA_LKEY,
		.atomic_cap = IB_ATOMIC_NONE,
		.page_size_cap = PAGE_SIZE,
		.max_mr_size = HCA_MR_PAGES * PAGE_SIZE,
		.max_qp = 256,
		.max_qp_wr = 1024,
		.max_send_sge = HCA_SGES,
		.max_recv_sge = HCA_SGES,
		.max_sge_rd = 1,
		.max_cq = 256,
		.max_cqe = 65536,
		.max_mr = 4096,
		.max_pd = 256,
		.max_qp_rd_atom = 16,
		.max_qp_init_rd_atom = 16,
		.max_fast_reg_page_list_len = HCA_MR_PAGES,
	};
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	attr->gid_tbl_len = 1;
	attr->max_msg_sz = HCA_MAX_MSG;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->active_speed = IB_SPEED_SDR;
	attr->active_width = IB_WIDTH_1X;
	return 0;
}

/* An iWARP device's GID is the MAC of its interface, with which the CM of 6.1 looks it up. */
static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	*gid = (union ib_gid) {};
	ether_addr_copy(gid->raw, to_hca(ib)->mac);
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

static const struct ib_device_ops device_ops = {
	.owner		= THIS_MODULE,
	.driver_id	= RDMA_DRIVER_UNKNOWN,
	.get_port_immutable = get_port_immutable,
	.query_device	= query_device,
	.query_gid	= query_gid,
	.query_port	= query_port,
};

static int set_netdev(struct hca *hca)
{
	struct net_device *ndev = dev_get_by_name(&init_net, netdev);
	int ret;

	if (!ndev)
		return -ENODEV;
	ether_addr_copy(hca->mac, ndev->dev_addr);
	strscpy(hca->ib.iw_ifname, ndev->name, sizeof(hca->ib.iw_ifname));
	ret = ib_device_set_netdev(&hca->ib, ndev, 1);
	dev_put(ndev);
	return ret;
}

static int init_hca(struct hca *hca, struct pci_dev *pdev)
{
	mutex_init(&hca->fence);
	spin_lock_init(&hca->lock);
	xa_init_flags(&hca->qps, XA_FLAGS_ALLOC);
	xa_init_flags(&hca->mrs, XA_FLAGS_ALLOC);
	xa_init_flags(&hca->calls, XA_FLAGS_ALLOC);
	mutex_init(&hca->cm_lock);
	INIT_LIST_HEAD(&hca->listeners);
	hca->wq = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND, 0);
	if (!hca->wq)
		return -ENOMEM;

	hca->ib.node_type = RDMA_NODE_RNIC;
	hca->ib.phys_port_cnt = 1;
	hca->ib.num_comp_vectors = 1;
	hca->ib.local_dma_lkey = HCA_DMA_LKEY;
	hca->ib.iw_driver_flags = IW_F_NO_PORT_MAP;
	hca->ib.dev.parent = &pdev->dev;
	ib_set_device_ops(&hca->ib, &device_ops);
	ib_set_device_ops(&hca->ib, &hca_cq_ops);
	ib_set_device_ops(&hca->ib, &hca_mr_ops);
	ib_set_device_ops(&hca->ib, &hca_qp_ops);
	ib_set_device_ops(&hca->ib, &hca_iw_ops);
	return 0;
}

static int init_pci(struct pci_dev *pdev)
{
	int ret;

	pdev->untrusted = untrusted;
	ret = pci_enable_device(pdev);
	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(dma_bits));
	if (ret) {
		pci_disable_device(pdev);
		return ret;
	}
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	return 0;
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct hca *hca = ib_alloc_device(hca, ib);
	int ret;

	if (!hca)
		return -ENOMEM;
	pci_set_drvdata(pdev, hca);
	ret = init_pci(pdev);
	if (ret)
		goto out_dealloc;
	ret = edu_init(&hca->edu, pdev);
	if (ret)
		goto out_disable;
	ret = init_hca(hca, pdev);
	if (ret)
		goto out_exit_edu;
	ret = set_netdev(hca);
	if (ret)
		goto out_destroy_wq;
	ret = hca_probe_add(hca);
	if (ret)
		goto out_destroy_wq;
	ret = ib_register_device(&hca->ib, "edu%d", &pdev->dev);
	if (ret)
		goto out_remove_probe;
	return 0;

out_remove_probe:
	hca_probe_remove(hca);
out_destroy_wq:
	destroy_workqueue(hca->wq);
out_exit_edu:
	edu_exit(&hca->edu);
out_disable:
	pci_disable_device(pdev);
out_dealloc:
	ib_dealloc_device(&hca->ib);
	return ret;
}

static void remove(struct pci_dev *pdev)
{
	struct hca *hca = pci_get_drvdata(pdev);

	ib_unregister_device(&hca->ib);
	hca_probe_remove(hca);
	destroy_workqueue(hca->wq);
	edu_exit(&hca->edu);
	pci_disable_device(pdev);
	xa_destroy(&hca->qps);
	xa_destroy(&hca->mrs);
	xa_destroy(&hca->calls);
	ib_dealloc_device(&hca->ib);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(VENDOR_QEMU, DEVICE_EDU) },
	{}
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver driver = {
	.name		= KBUILD_MODNAME,
	.id_table	= ids,
	.probe		= probe,
	.remove		= remove,
};

static int __init hca_init(void)
{
	int ret;

	hca_probe_init();
	ret = pci_register_driver(&driver);
	if (ret)
		hca_probe_exit();
	return ret;
}
module_init(hca_init);

static void __exit hca_exit(void)
{
	pci_unregister_driver(&driver);
	hca_probe_exit();
}
module_exit(hca_exit);

MODULE_DESCRIPTION("iWARP device over the DMA engine of QEMU's edu device, for tests of kverbs");
MODULE_LICENSE("Dual BSD/GPL");
