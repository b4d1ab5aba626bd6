/* SPDX-License-Identifier: BSD-3-Clause */
/* A filter of system calls for daemons that have given up their privileges, of this thread and those it starts. */
#ifndef WEIR_BASE_CALLS_H
#define WEIR_BASE_CALLS_H

/* What is refused beside the calls that nothing without privileges makes. */
enum {
	CALLS_OWN = 1,	     /* execve, listen, ...: a program that is executed next has them */
	CALLS_PROCESSES = 2, /* new ones; threads are not */
	CALLS_REMOTE = 4,    /* sockets but Unix ones, and names of sockets */
};

/* 0 or -errno, logged. With a sanitizer, whose end needs some of them, CALLS_OWN refuses nothing. */
int calls_refuse(unsigned what);

#endif
