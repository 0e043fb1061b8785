/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "io.h"

#define FIRST_BYTES 4096

/* What is known of the size saves most of the copying; what is read is what counts. */
static size_t first_size(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < FIRST_BYTES)
		return FIRST_BYTES;
	return (size_t)st.st_size + 1;
}

/*
 * Doubles @buf, or makes it of @first bytes; at most to @max + 1 bytes: one more than allowed
 * tells "too long".
 */
static int grow(char **buf, size_t *size, size_t first, size_t max, struct err *e)
{
	size_t want = *size == 0 ? first : *size * 2;
	char *p;

	if (want > max + 1)
		want = max + 1;
	p = realloc(*buf, want);
	if (p == NULL)
		return err_set(e, ENOMEM, "allocate %zu bytes", want);
	*buf = p;
	*size = want;
	return 0;
}

/**
 * read_fd() - Read a whole text, up to a limit
 * @fd:		Borrowed, read up to its end of file
 * @max:	More bytes than this are an error, not a truncation
 * @e:		Set on failure
 *
 * Return: NUL-terminated text without embedded NULs, owned by the caller;
 *	   NULL on failure
 */
char *read_fd(int fd, size_t max, struct err *e)
{
	cleanup_free char *buf = NULL;
	size_t size = 0, len = 0;

	for (;;) {
		ssize_t n;

		if (len == size && grow(&buf, &size, first_size(fd), max, e) < 0)
			return NULL;
		n = read(fd, buf + len, size - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			(void)err_set(e, errno, "read");
			return NULL;
		}
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max) {
			(void)err_set(e, 0, "longer than %zu bytes", max);
			return NULL;
		}
	}

	if (memchr(buf, '\0', len) != NULL) {
		(void)err_set(e, 0, "it has a NUL byte");
		return NULL;
	}
	buf[len] = '\0';

	return steal_ptr(&buf);
}

/**
 * read_path() - Read a whole text file
 * @path:	Regular file, opened without waiting: a FIFO can't hang us
 * @max:	As for read_fd()
 * @e:		Set on failure, @path named
 *
 * Return: as read_fd()
 */
char *read_path(const char *path, size_t max, struct err *e)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text;

	if (fd < 0) {
		(void)err_set(e, errno, "open %s", path);
		return NULL;
	}
	text = read_fd(fd, max, e);
	if (text == NULL)
		(void)err_wrap(e, "%s", path);
	return text;
}

/**
 * write_all() - Write a whole text
 * @fd:		Borrowed
 * @text:	What to write
 * @len:	Bytes
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int write_all(int fd, const char *text, size_t len, struct err *e)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, errno, "write");
		text += n;
		len -= (size_t)n;
	}
	return 0;
}
