// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Arrays of user space, whose elements may be shorter or longer than the kernel's. */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "array.h"

/**
 * kverbs_array_check() - validate the size of an array's elements
 * @stride: bytes from one element to the next, 0: @size
 * @size: bytes of an element in ABI version 2
 *
 * Return: 0, -EINVAL if the elements are too short, -E2BIG if they exceed a page.
 */
int kverbs_array_check(u32 stride, size_t size)
{
	if (!stride)
		return 0;
	if (stride < size)
		return -EINVAL;
	return stride > PAGE_SIZE ? -E2BIG : 0;
}

static void __user *element(u64 uptr, u32 stride, u32 index)
{
	return u64_to_user_ptr(uptr + (u64)index * stride);
}

/**
 * kverbs_array_get() - read one element
 * @item: where to
 * @size: bytes of @item
 * @uptr: address of the array
 * @stride: checked by kverbs_array_check()
 * @index: which element
 *
 * Context: process, may sleep.
 * Return: 0, -EFAULT, -E2BIG if the part that the kernel does not know is not zero.
 */
int kverbs_array_get(void *item, size_t size, u64 uptr, u32 stride, u32 index)
{
	return copy_struct_from_user(item, size, element(uptr, stride ?: size, index),
				     stride ?: size);
}

static int put_item(u64 uptr, u32 stride, const void *item, size_t size, u32 index)
{
	void __user *to = element(uptr, stride, index);

	if (copy_to_user(to, item, size) || clear_user(to + size, stride - size))
		return -EFAULT;
	return 0;
}

/**
 * kverbs_array_put() - write elements
 * @uptr: address of the array
 * @stride: checked by kverbs_array_check(); what follows an element is zeroed
 * @items: the elements
 * @size: bytes of each
 * @nr: how many
 *
 * Context: process, may sleep.
 * Return: 0 or -EFAULT.
 */
int kverbs_array_put(u64 uptr, u32 stride, const void *items, size_t size, u32 nr)
{
	int ret = 0;
	u32 i;

	if (!stride || stride == size)
		return copy_to_user(u64_to_user_ptr(uptr), items, nr * size) ? -EFAULT : 0;
	for (i = 0; i < nr && !ret; i++) {
		ret = put_item(uptr, stride, items + i * size, size, i);
		cond_resched();
	}
	return ret;
}
