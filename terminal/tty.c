/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A developer's terminal
 *
 * What this process was given of it is shared with the shell that started it: flags that are set
 * there (O_NONBLOCK) outlast this process and break the shell.  So it is opened anew.
 *
 * Its settings are changed in the foreground alone.  In the background they are the shell's.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "tty.h"

/**
 * tty_device() - Say which terminal a file descriptor is of
 * @fd:		Any
 *
 * The number is the terminal's own, also where it was opened as /dev/tty.
 *
 * Return: the device number; 0 if it is no terminal
 */
unsigned tty_device(int fd)
{
	unsigned device;

	return isatty(fd) == 1 && ioctl(fd, TIOCGDEV, &device) == 0 ? device : 0;
}

/* Opens it anew; NULL path: by what there is. */
static int open_anew(const char *path, unsigned device)
{
	cleanup_fd int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	return fd >= 0 && tty_device(fd) == device ? steal_fd(&fd) : -1;
}

/* After su(1) the terminal is another user's, and may be no controlling one. */
static int open_somehow(int from, unsigned device)
{
	char path[32];
	int fd, flags;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", from);
	fd = open_anew(path, device);
	if (fd < 0)
		fd = open_anew("/dev/tty", device);
	if (fd >= 0)
		return fd;
	flags = fcntl(from, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) != O_RDWR) {
		errno = EACCES;
		return -1;
	}
	return fcntl(from, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/**
 * tty_open() - Open a terminal that this process was started with
 * @from:	File descriptor of it
 * @ret:	Filled on success
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int tty_open(int from, struct tty *ret, struct err *e)
{
	struct tty t = { .fd = open_somehow(from, tty_device(from)) };

	if (t.fd < 0)
		return err_set(e, errno, "open the terminal to read and write it");
	t.is_controlling = tcgetsid(t.fd) == getsid(0);
	*ret = t;
	return 0;
}

/**
 * tty_is_in_foreground() - Say whether this process may use its terminal
 * @t:		Terminal
 *
 * Return: true if it may; false: reading it would stop this process, credentials(7)
 */
bool tty_is_in_foreground(const struct tty *t)
{
	return !t->is_controlling || tcgetpgrp(t->fd) == getpgrp();
}

/**
 * tty_has_unread_line() - Say whether a line was typed that nobody has asked for
 * @t:		Terminal, as it was before tty_set_raw()
 *
 * Who asks for single keys, as less(1), or for a password has changed its settings: that is for
 * them.
 *
 * Return: true if so
 */
bool tty_has_unread_line(const struct tty *t)
{
	const tcflag_t plain = ICANON | ECHO;
	struct termios now;
	struct pollfd p = { .fd = t->fd, .events = POLLIN };

	return tcgetattr(t->fd, &now) == 0 && (now.c_lflag & plain) == plain &&
	       poll(&p, 1, 0) == 1 && (p.revents & POLLIN) != 0;
}

/* The settings of the pty are in effect: keys are bytes, bytes are shown. */
static struct termios make_raw(struct termios t, bool output)
{
	const tcflag_t oflag = t.c_oflag;

	cfmakeraw(&t);
	if (!output)
		t.c_oflag = oflag;
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	return t;
}

/**
 * tty_set_raw() - Have every key come as it is typed, and every byte go as it is written
 * @t:		Terminal in whose foreground this process is; raw already, it is made so again, as a
 *		shell may have had it meanwhile
 * @output:	Output as well; else it is processed as before, for others that write
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int tty_set_raw(struct tty *t, bool output, struct err *e)
{
	struct termios raw;

	if (!t->is_raw && tcgetattr(t->fd, &t->before) < 0)
		return err_set(e, errno, "read the terminal's settings");
	raw = make_raw(t->before, output);
	if (tcsetattr(t->fd, TCSANOW, &raw) < 0)
		return err_set(e, errno, "change the terminal's settings");
	t->is_raw = true;
	return 0;
}

/**
 * tty_restore() - Take back what tty_set_raw() has changed
 * @t:		Terminal; in its background nothing is done, as a shell has set it meanwhile
 *
 * What was typed and not read was for the agent, or is an answer to something that it asked the
 * terminal: no shell is to take it for a command.
 */
void tty_restore(struct tty *t)
{
	if (t->is_raw && tty_is_in_foreground(t))
		(void)tcsetattr(t->fd, TCSAFLUSH, &t->before);
	t->is_raw = false;
}

/**
 * tty_copy_size() - Give a pty the size of a terminal; who reads it is told by SIGWINCH
 * @t:		Terminal
 * @to:		fd of the pty
 */
void tty_copy_size(const struct tty *t, int to)
{
	struct winsize size;

	if (ioctl(t->fd, TIOCGWINSZ, &size) == 0)
		(void)ioctl(to, TIOCSWINSZ, &size);
}

/**
 * tty_copy_settings() - Give a pty the settings of a terminal
 * @t:		Terminal, before tty_set_raw()
 * @to:		fd of the pty
 * @output:	Also how output is processed; else there is none, because the terminal does it
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int tty_copy_settings(const struct tty *t, int to, bool output, struct err *e)
{
	struct termios settings;

	if (tcgetattr(t->fd, &settings) < 0)
		return err_set(e, errno, "read the terminal's settings");
	if (!output)
		settings.c_oflag &= ~(tcflag_t)OPOST;
	if (tcsetattr(to, TCSANOW, &settings) < 0)
		return err_set(e, errno, "set up the agent's terminal");
	return 0;
}

/**
 * tty_copy_output() - Have a pty process output as a terminal did that is raw now
 * @t:		Terminal, after tty_set_raw()
 * @to:		fd of the pty
 */
void tty_copy_output(const struct tty *t, int to)
{
	struct termios settings;

	if (tcgetattr(to, &settings) < 0)
		return;
	settings.c_oflag = t->before.c_oflag;
	(void)tcsetattr(to, TCSANOW, &settings);
}

/**
 * tty_done() - Close a terminal
 * @t:		Terminal
 */
void tty_done(struct tty *t)
{
	close_p(&t->fd);
	t->fd = -1;
}
