/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "err.h"
#include "json.h"
#include "state.h"

static const struct json_field state_fields[] = {
	{ "ociVersion", json_string, offsetof(struct oci_state, version), true },
	{ "id", json_string, offsetof(struct oci_state, id), true },
	{ "status", json_string, offsetof(struct oci_state, status), true },
	{ "bundle", json_string, offsetof(struct oci_state, bundle), true },
	{ "pid", json_pid, offsetof(struct oci_state, pid), false },
	{ "annotations", json_object, offsetof(struct oci_state, annotations), false },
};

/**
 * oci_state_parse() - Read a container state
 * @text:	JSON text
 * @ret:	Filled on success, untouched on failure; oci_state_done() releases it
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int oci_state_parse(const char *text, struct oci_state *ret, struct err *e)
{
	cleanup_json yajl_val tree = json_parse(text, NULL, e);
	struct oci_state s = { .tree = tree };

	if (tree == NULL || json_fill(tree, state_fields, N_ELEMENTS(state_fields), &s, e) < 0)
		return err_wrap(e, "container state");
	if (s.bundle[0] != '/')
		return err_set(e, 0, "container state: bundle: `%s` isn't absolute", s.bundle);

	(void)steal_ptr(&tree);
	*ret = s;
	return 0;
}

void oci_state_done(struct oci_state *s)
{
	json_free(s->tree);
	*s = (struct oci_state){ 0 };
}
