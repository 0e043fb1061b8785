/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The text of /proc/self/mountinfo, proc(5)
 */
#include "config.h"

#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "mountinfo.h"
#include "path.h"
#include "strlist.h"

#define FIELD_MOUNT_POINT 4 /* from 0 */

/**
 * mountinfo_points() - List where something is mounted
 * @text:	Text of mountinfo
 * @ret:	Gets the mount points, each once, in order
 * @e:		Set on failure: memory, or a line that is none of mountinfo's
 *
 * Return: 0 on success, -1 on failure
 */
int mountinfo_points(const char *text, struct strlist *ret, struct err *e)
{
	for (const char *line = text; *line != '\0';) {
		const char *p = line;
		cleanup_free char *point = NULL;

		for (unsigned i = 0; i < FIELD_MOUNT_POINT; i++) {
			p += strcspn(p, " \n");
			p += *p == ' ';
		}
		if (*p != '/')
			return err_set(e, 0, "mountinfo: a line has no mount point");
		point = path_unescape(p, strcspn(p, " \n"), e);
		if (point == NULL)
			return -1;
		if (!strlist_has(ret, point) && strlist_add(ret, point, e) < 0)
			return -1;
		line = p + strcspn(p, "\n");
		line += *line == '\n';
	}
	return 0;
}
