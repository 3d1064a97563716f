# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Initiators of storage protocols on host b, whose targets guest/target has set up on host a. A
# disk that has been connected is noted in /tmp/disk. PATIENCE is the longest time that a disk may
# take to appear.

ADDRESS=192.0.2.1
IQN=iqn.2026-01.example:disk

set_up() {
	modprobe -a sd_mod nvme-rdma ib_srp nfs iscsi_tcp && mkdir -p /run/lock/iscsi &&
		echo "InitiatorName=iqn.2026-01.example:b" >/etc/iscsi/initiatorname.iscsi && iscsid
}

# Print the disks of this host.
disks() {
	find /sys/block -mindepth 1 -maxdepth 1 \( -name 'sd*' -o -name 'nvme*n*' \) -printf '%f\n'
}

# appeared BEFORE: wait for a disk that is not in the list BEFORE, and note its node
appeared() {
	local until=$((SECONDS + PATIENCE)) disk

	while [[ $SECONDS -lt $until ]]; do
		for disk in $(disks | grep -v -x -F -e "$1"); do
			[[ -b /dev/$disk && $(<"/sys/block/$disk/size") -gt 0 ]] || continue
			echo "/dev/$disk" >/tmp/disk
			return
		done
	done
	echo "no new disk"
	return 1
}

nvme_connect() {
	local before

	rm -f /tmp/disk
	before=$(disks)
	nvme connect -t rdma -a $ADDRESS -s 4420 -n disk --hostnqn nqn.2026-01.example:b \
		--hostid 11111111-2222-3333-4444-555555555555 && appeared "${before:-none}"
}

nvme_disconnect() {
	nvme disconnect -n disk
}

iser_connect() {
	local before

	rm -f /tmp/disk
	before=$(disks)
	iscsiadm -m node -o new -T $IQN -p $ADDRESS:3260,1 -I iser &&
		iscsiadm -m node -T $IQN -p $ADDRESS:3260,1 -I iser --login &&
		appeared "${before:-none}"
}

iser_disconnect() {
	iscsiadm -m node -T $IQN -p $ADDRESS:3260,1 -I iser --logout
}

srp_connect() {
	local before guid

	rm -f /tmp/disk
	before=$(disks)
	rm -f /tmp/guid
	kverbs cp a:guid /tmp/guid >/dev/null && guid=$(sed 's/^0x//' /tmp/guid) &&
		echo "id_ext=$guid,ioc_guid=$guid,dest=$ADDRESS:4444" \
			>"/sys/class/infiniband_srp/srp-${KVERBS_PROVIDER}0-1/add_target" &&
		appeared "${before:-none}"
}

srp_disconnect() {
	local port

	for port in /sys/class/srp_remote_ports/port-*/delete; do
		echo 1 >"$port"
	done
}

mount_nfs() {
	mount -t nfs -o proto=rdma,port=20049,vers=4.2 $ADDRESS:/ /mnt
}
