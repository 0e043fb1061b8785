/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUNTIME_SPEC_OCI_CONFIG_H
#define RUNTIME_SPEC_OCI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cleanup.h"

struct err;
struct yajl_val_s;

#define OCI_CONFIG_MAX_BYTES (64 * 1024 * 1024)

/**
 * struct oci_strings - an array of strings
 * @v:	The array is owned, the strings are borrowed from the tree; NULL if empty
 * @n:	How many
 */
struct oci_strings {
	const char **v;
	size_t n;
};

/**
 * struct oci_mount - an element of config.json's mounts
 * @destination:	Where it is attached in the container
 * @type:		File system, or "bind"; NULL if not given
 * @source:		Device or path, relative to the bundle; NULL if not given
 * @options:		As mount(8) has them
 */
struct oci_mount {
	const char *destination;
	const char *type;
	const char *source;
	struct oci_strings options;
};

/**
 * struct oci_id_map - an element of linux.uidMappings or gidMappings
 * @container:	First id in the container
 * @host:	First id outside
 * @size:	How many
 */
struct oci_id_map {
	uint32_t container;
	uint32_t host;
	uint32_t size;
};

struct oci_id_maps {
	struct oci_id_map *v;
	size_t n;
};

/**
 * struct oci_config - what the hook has to know of a config.json
 * @tree:		Owns every string below
 * @root_path:		Root file system, absolute or relative to the bundle
 * @root_readonly:	The engine asked for a read-only root
 * @env:		process.env
 * @args:		process.args
 * @uid:		process.user.uid, in the container; 0 if not given
 * @gid:		process.user.gid, likewise
 * @capabilities:	process.capabilities.bounding: no process of the container has others
 * @annotations:	Object, or NULL; oci_config_annotation() reads it
 * @mounts:		In order, owned
 * @n_mounts:		How many
 * @namespaces:		Types of linux.namespaces
 * @uid_maps:		linux.uidMappings
 * @gid_maps:		linux.gidMappings
 *
 * Owned by the caller; oci_config_done() releases it.
 */
struct oci_config {
	struct yajl_val_s *tree;
	const char *root_path;
	bool root_readonly;
	struct oci_strings env;
	struct oci_strings args;
	uid_t uid;
	gid_t gid;
	struct oci_strings capabilities;
	struct yajl_val_s *annotations;
	struct oci_mount *mounts;
	size_t n_mounts;
	struct oci_strings namespaces;
	struct oci_id_maps uid_maps;
	struct oci_id_maps gid_maps;
};

int oci_config_parse(const char *text, struct oci_config *ret, struct err *e);
int oci_config_annotation(const struct oci_config *c, const char *key, const char **ret,
			  struct err *e);
bool oci_config_has_annotation(const struct oci_config *c, const char *prefix);
bool oci_mount_is_new(const struct oci_mount *m);
void oci_config_done(struct oci_config *c);

#define cleanup_oci_config CLEANUP(oci_config_done)

#endif
