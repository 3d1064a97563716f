/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Exits at once. It is linked to an address of its own, by which count.c recognizes it. */
	.globl	_start
_start:
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits
