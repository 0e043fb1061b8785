/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_CLEANUP_H
#define UTIL_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define N_ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

/* A destructor never changes errno and accepts the empty value. */
static inline void free_p(void *p)
{
	free(*(void **)p);
}

static inline void close_p(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd); /* never retried: Linux frees the number even on EINTR */
	errno = saved;
}

static inline void fclose_p(FILE **f)
{
	int saved = errno;

	if (*f != NULL)
		(void)fclose(*f);
	errno = saved;
}

static inline void closedir_p(DIR **d)
{
	int saved = errno;

	if (*d != NULL)
		(void)closedir(*d);
	errno = saved;
}

#define cleanup_free CLEANUP(free_p)
#define cleanup_fd CLEANUP(close_p)
#define cleanup_file CLEANUP(fclose_p)
#define cleanup_dir CLEANUP(closedir_p)

/* Give away what a cleanup variable owns: "return steal_fd(&fd);" */
static inline int steal_fd(int *fd)
{
	int ret = *fd;

	*fd = -1;
	return ret;
}

#define steal_ptr(p)                        \
	({                                  \
		__typeof__(*(p)) p_ = *(p); \
		*(p) = NULL;                \
		p_;                         \
	})

#endif
