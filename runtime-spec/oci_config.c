/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: config.json of an OCI bundle, as far as the hook needs it
 *
 * https://github.com/opencontainers/runtime-spec/blob/v1.3.0/config.md.  Keys that we don't
 * read are the runtime's to check.  A key that we read must not be given twice: the runtime
 * might take the other one.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "err.h"
#include "json.h"
#include "oci_config.h"

static int set_bool(yajl_val v, void *dst, struct err *e)
{
	if (!YAJL_IS_TRUE(v) && !YAJL_IS_FALSE(v))
		return err_set(e, 0, "neither true nor false");

	*(bool *)dst = YAJL_IS_TRUE(v);
	return 0;
}

static int set_id(yajl_val v, void *dst, struct err *e)
{
	if (!YAJL_IS_INTEGER(v) || YAJL_GET_INTEGER(v) < 0 || YAJL_GET_INTEGER(v) > UINT32_MAX)
		return err_set(e, 0, "not an id");

	*(uint32_t *)dst = (uint32_t)YAJL_GET_INTEGER(v);
	return 0;
}

static int set_strings(yajl_val v, void *dst, struct err *e)
{
	struct oci_strings *l = dst;

	if (!YAJL_IS_ARRAY(v))
		return err_set(e, 0, "not an array");
	if (v->u.array.len == 0)
		return 0;

	l->v = calloc(v->u.array.len, sizeof(*l->v));
	if (l->v == NULL)
		return err_set(e, ENOMEM, "allocate a list");
	for (size_t i = 0; i < v->u.array.len; i++) {
		if (json_string(v->u.array.values[i], &l->v[i], e) < 0)
			return err_wrap(e, "element %zu", i);
		l->n++;
	}
	return 0;
}

/* ---- root, process ---- */

#define AT(member) offsetof(struct oci_config, member)

static int set_root(yajl_val v, void *dst, struct err *e)
{
	static const struct json_field fields[] = {
		{ "path", json_string, AT(root_path), true },
		{ "readonly", set_bool, AT(root_readonly), false },
	};

	return json_fill(v, fields, N_ELEMENTS(fields), dst, e);
}

static int set_capabilities(yajl_val v, void *dst, struct err *e)
{
	static const struct json_field fields[] = {
		{ "bounding", set_strings, 0, false },
	};

	return json_fill(v, fields, N_ELEMENTS(fields), dst, e);
}

static int set_user(yajl_val v, void *dst, struct err *e)
{
	static const struct json_field fields[] = {
		{ "uid", set_id, AT(uid), false },
		{ "gid", set_id, AT(gid), false },
	};

	return json_fill(v, fields, N_ELEMENTS(fields), dst, e);
}

static int set_process(yajl_val v, void *dst, struct err *e)
{
	static const struct json_field fields[] = {
		{ "user", set_user, 0, false },
		{ "args", set_strings, AT(args), false },
		{ "env", set_strings, AT(env), false },
		{ "capabilities", set_capabilities, AT(capabilities), false },
	};

	return json_fill(v, fields, N_ELEMENTS(fields), dst, e);
}

/* ---- mounts ---- */

static const struct json_field mount_fields[] = {
	{ "destination", json_string, offsetof(struct oci_mount, destination), true },
	{ "type", json_string, offsetof(struct oci_mount, type), false },
	{ "source", json_string, offsetof(struct oci_mount, source), false },
	{ "options", set_strings, offsetof(struct oci_mount, options), false },
};

/* @dst is the whole configuration: the array and its length are two members of it. */
static int set_mounts(yajl_val v, void *dst, struct err *e)
{
	struct oci_config *c = dst;

	if (!YAJL_IS_ARRAY(v))
		return err_set(e, 0, "not an array");
	if (v->u.array.len == 0)
		return 0;

	c->mounts = calloc(v->u.array.len, sizeof(*c->mounts));
	if (c->mounts == NULL)
		return err_set(e, ENOMEM, "allocate the mounts");
	c->n_mounts = v->u.array.len; /* all are released, also those that are still empty */
	for (size_t i = 0; i < c->n_mounts; i++)
		if (json_fill(v->u.array.values[i], mount_fields, N_ELEMENTS(mount_fields),
			      &c->mounts[i], e) < 0)
			return err_wrap(e, "element %zu", i);
	return 0;
}

/* ---- linux ---- */

static int set_id_maps(yajl_val v, void *dst, struct err *e)
{
	static const struct json_field fields[] = {
		{ "containerID", set_id, offsetof(struct oci_id_map, container), true },
		{ "hostID", set_id, offsetof(struct oci_id_map, host), true },
		{ "size", set_id, offsetof(struct oci_id_map, size), true },
	};
	struct oci_id_maps *maps = dst;

	if (!YAJL_IS_ARRAY(v))
		return err_set(e, 0, "not an array");
	if (v->u.array.len == 0)
		return 0;

	maps->v = calloc(v->u.array.len, sizeof(*maps->v));
	if (maps->v == NULL)
		return err_set(e, ENOMEM, "allocate a map");
	maps->n = v->u.array.len;
	for (size_t i = 0; i < maps->n; i++)
		if (json_fill(v->u.array.values[i], fields, N_ELEMENTS(fields), &maps->v[i], e) < 0)
			return err_wrap(e, "element %zu", i);
	return 0;
}

static int set_namespaces(yajl_val v, void *dst, struct err *e)
{
	static const struct json_field fields[] = {
		{ "type", json_string, 0, true },
	};
	struct oci_strings *l = dst;

	if (!YAJL_IS_ARRAY(v))
		return err_set(e, 0, "not an array");
	if (v->u.array.len == 0)
		return 0;

	l->v = calloc(v->u.array.len, sizeof(*l->v));
	if (l->v == NULL)
		return err_set(e, ENOMEM, "allocate a list");
	for (size_t i = 0; i < v->u.array.len; i++) {
		if (json_fill(v->u.array.values[i], fields, N_ELEMENTS(fields), &l->v[i], e) < 0)
			return err_wrap(e, "element %zu", i);
		l->n++;
	}
	return 0;
}

static int set_linux(yajl_val v, void *dst, struct err *e)
{
	static const struct json_field fields[] = {
		{ "namespaces", set_namespaces, AT(namespaces), false },
		{ "uidMappings", set_id_maps, AT(uid_maps), false },
		{ "gidMappings", set_id_maps, AT(gid_maps), false },
	};

	return json_fill(v, fields, N_ELEMENTS(fields), dst, e);
}

static const struct json_field config_fields[] = {
	{ "root", set_root, 0, true },      { "process", set_process, 0, true },
	{ "mounts", set_mounts, 0, false }, { "annotations", json_object, AT(annotations), false },
	{ "linux", set_linux, 0, false },
};

/* Most of an engine's config.json, and the runtime's alone */
static const char *const unread[] = { "seccomp", "resources", "maskedPaths", "readonlyPaths",
				      NULL };

/**
 * oci_config_parse() - Read a config.json
 * @text:	JSON text
 * @ret:	Filled on success, untouched on failure; oci_config_done() releases it
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int oci_config_parse(const char *text, struct oci_config *ret, struct err *e)
{
	cleanup_oci_config struct oci_config c = { .tree = json_parse(text, unread, e) };

	if (c.tree == NULL ||
	    json_fill(c.tree, config_fields, N_ELEMENTS(config_fields), &c, e) < 0)
		return err_wrap(e, "config.json");
	if (c.root_path[0] == '\0')
		return err_set(e, 0, "config.json: root: path: empty");

	*ret = c;
	c = (struct oci_config){ 0 };
	return 0;
}

/**
 * oci_config_annotation() - Look an annotation up
 * @c:		Configuration
 * @key:	Its key
 * @ret:	Its value, owned by @c; NULL if there is none
 * @e:		Set on failure: not a string, or given twice
 *
 * Return: 0 on success, -1 on failure
 */
int oci_config_annotation(const struct oci_config *c, const char *key, const char **ret,
			  struct err *e)
{
	struct json_field field = { key, json_string, 0, false };
	const char *value = NULL;

	if (c->annotations != NULL && json_fill(c->annotations, &field, 1, &value, e) < 0)
		return err_wrap(e, "config.json: annotations");

	*ret = value;
	return 0;
}

/**
 * oci_config_has_annotation() - Look for annotations of a kind
 * @c:		Configuration
 * @prefix:	What their keys begin with
 *
 * Return: true if there is one
 */
bool oci_config_has_annotation(const struct oci_config *c, const char *prefix)
{
	const struct yajl_val_s *a = c->annotations;

	for (size_t i = 0; a != NULL && i < a->u.object.len; i++)
		if (strncmp(a->u.object.keys[i], prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

/**
 * oci_mount_is_new() - Say whether a mount is a file system of the container's own
 * @m:		Mount
 *
 * Everything else shows what is somewhere else already: bind mounts, which are so by their type
 * or by their options (runtime-spec, config.md, "Mounts"), overlays of host folders, and what
 * engines will think of.
 *
 * Return: true if it is
 */
bool oci_mount_is_new(const struct oci_mount *m)
{
	static const char *const types[] = { "proc",   "sysfs",  "tmpfs",  "devpts",
					     "mqueue", "cgroup", "cgroup2" };

	for (size_t i = 0; i < m->options.n; i++)
		if (strcmp(m->options.v[i], "bind") == 0 || strcmp(m->options.v[i], "rbind") == 0)
			return false;
	for (size_t i = 0; m->type != NULL && i < N_ELEMENTS(types); i++)
		if (strcmp(m->type, types[i]) == 0)
			return true;
	return false;
}

/**
 * oci_config_done() - Release what a configuration owns; it is empty afterwards
 * @c:		Configuration
 */
void oci_config_done(struct oci_config *c)
{
	for (size_t i = 0; i < c->n_mounts; i++)
		free(c->mounts[i].options.v);
	free(c->mounts);
	free(c->args.v);
	free(c->env.v);
	free(c->capabilities.v);
	free(c->namespaces.v);
	free(c->uid_maps.v);
	free(c->gid_maps.v);
	json_free(c->tree);
	*c = (struct oci_config){ 0 };
}
