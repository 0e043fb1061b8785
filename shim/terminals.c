/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The terminals of a launch, and the ptys that stand for them
 *
 * Whichever of standard input, output and error are terminals are ptys in the sandbox, one for each
 * terminal; what is none stays what it is.  The ptys are of the sandbox's own devpts, so that the
 * agent finds its terminal by name there; their masters are the supervisor's alone.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "err.h"
#include "fds.h"
#include "terminals.h"

#define PTMX "/dev/ptmx"

static int find(const unsigned *devices, size_t n, unsigned device)
{
	for (size_t i = 0; i < n; i++)
		if (devices[i] == device)
			return (int)i;
	return -1;
}

/* Job control is the first one's. */
static void put_controlling_first(struct terminals *t)
{
	for (size_t i = 1; i < t->n; i++) {
		const struct tty first = t->tty[0];

		if (!t->tty[i].is_controlling)
			continue;
		t->tty[0] = t->tty[i];
		t->tty[i] = first;
		for (size_t fd = 0; fd < N_ELEMENTS(t->of); fd++)
			if (t->of[fd] == 0 || t->of[fd] == (int)i)
				t->of[fd] = t->of[fd] == 0 ? (int)i : 0;
		return;
	}
}

/**
 * terminals_look() - See which of standard input, output and error are terminals, and open those
 * @ret:	Filled on success
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int terminals_look(struct terminals *ret, struct err *e)
{
	unsigned devices[TERMINALS_MAX];
	struct terminals t = { .tty = { TTY_NONE, TTY_NONE, TTY_NONE } };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		const unsigned device = tty_device(fd);

		t.of[fd] = device == 0 ? -1 : find(devices, t.n, device);
		if (device == 0 || t.of[fd] >= 0)
			continue;
		if (tty_open(fd, &t.tty[t.n], e) < 0) {
			terminals_done(&t);
			return -1;
		}
		devices[t.n] = device;
		t.of[fd] = (int)t.n++;
	}
	put_controlling_first(&t);
	*ret = t;
	return 0;
}

/**
 * terminals_are_all() - Say whether a launch has nothing but a terminal for input and output
 * @t:		Its terminals
 *
 * Return: true if so; false: something else may be reading the terminal, as in `agent | less`
 */
bool terminals_are_all(const struct terminals *t)
{
	return t->of[STDIN_FILENO] == 0 && t->of[STDOUT_FILENO] == 0;
}

/**
 * terminals_are_in_foreground() - Say whether a launch may use the terminal that job control is
 * about
 * @t:		Its terminals
 *
 * Return: true if it may
 */
bool terminals_are_in_foreground(const struct terminals *t)
{
	return t->n > 0 && tty_is_in_foreground(&t->tty[0]);
}

/**
 * terminals_done() - Close them
 * @t:		Terminals; none are left
 */
void terminals_done(struct terminals *t)
{
	for (size_t i = 0; i < t->n; i++)
		tty_done(&t->tty[i]);
	t->n = 0;
}

static int make_pty(int *ret_master, struct err *e)
{
	cleanup_fd int master = open(PTMX, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int unlocked = 0, pty;

	if (master < 0)
		return err_set(e, errno, "open %s", PTMX);
	if (ioctl(master, TIOCSPTLCK, &unlocked) < 0)
		return err_set(e, errno, "unlock the agent's terminal");
	pty = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (pty < 0)
		return err_set(e, errno, "open the agent's terminal");
	*ret_master = steal_fd(&master);
	return pty;
}

/**
 * terminals_make_ptys() - Make a pty for each terminal, and give the masters to the supervisor
 * @t:		The launch's terminals
 * @sock:	Socket to the supervisor
 * @ret_ptys:	File descriptors of them, which the caller owns; -1: there is none
 * @e:		Set on failure: what was made ends with this process
 *
 * The first one becomes the controlling terminal of this process, which leads a session without
 * one.
 *
 * Return: 0 on success, -1 on failure
 */
int terminals_make_ptys(const struct terminals *t, int sock, int ret_ptys[TERMINALS_MAX],
			struct err *e)
{
	int masters[TERMINALS_MAX], sent;

	for (size_t i = 0; i < TERMINALS_MAX; i++)
		ret_ptys[i] = -1;
	for (size_t i = 0; i < t->n; i++) {
		ret_ptys[i] = make_pty(&masters[i], e);
		if (ret_ptys[i] < 0)
			return -1;
	}
	if (t->n == 0)
		return 0;
	if (ioctl(ret_ptys[0], TIOCSCTTY, 0) < 0)
		return err_set(e, errno, "make the pty the agent's terminal");
	sent = fds_send(sock, "", 1, masters, t->n, e);
	for (size_t i = 0; i < t->n; i++)
		(void)close(masters[i]);
	return sent;
}

/**
 * terminals_use_ptys() - Put the ptys in the place of the terminals
 * @t:		The launch's terminals
 * @ptys:	From terminals_make_ptys()
 * @e:		Set on failure: no agent may run
 *
 * Return: 0 on success, -1 on failure
 */
int terminals_use_ptys(const struct terminals *t, const int ptys[TERMINALS_MAX], struct err *e)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (t->of[fd] >= 0 && dup2(ptys[t->of[fd]], fd) < 0)
			return err_set(e, errno, "give the agent its terminal");
	return 0;
}

/**
 * terminals_take_masters() - Receive the ptys' masters, and make the ptys what the terminals are
 * @t:		The launch's terminals
 * @sock:	Socket to the sandbox's first process
 * @attached:	The first terminal will be raw when the agent starts
 * @ret_masters: Filled on success: non-blocking, owned by the caller
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int terminals_take_masters(const struct terminals *t, int sock, bool attached,
			   int ret_masters[TERMINALS_MAX], struct err *e)
{
	size_t n = 0;
	char byte;
	int set = 0;

	if (t->n == 0)
		return 0;
	if (fds_receive(sock, &byte, sizeof(byte), ret_masters, TERMINALS_MAX, &n, e) < 0)
		return err_wrap(e, "the agent's terminal");
	if (n != t->n)
		set = err_set(e, 0, "the agent's terminal: not what was asked for");
	for (size_t i = 0; i < n && set == 0; i++) {
		set = tty_copy_settings(&t->tty[i], ret_masters[i], attached && i == 0, e);
		tty_copy_size(&t->tty[i], ret_masters[i]);
	}
	for (size_t i = 0; i < n && set < 0; i++)
		(void)close(ret_masters[i]);
	return set;
}
