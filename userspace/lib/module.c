// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading through libkmod. Most of it is about telling people why it did not work:
 * the kernel's errno alone says little.
 */
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/module.h"

static void stay_quiet(void *context, int priority, const char *file, int line,
		       const char *function, const char *format, va_list args)
{
	(void)context;
	(void)priority;
	(void)file;
	(void)line;
	(void)function;
	(void)format;
	(void)args;
}

/* Without modprobe.d: options there could start a session at load. */
static struct kmod_ctx *new_kmod(void)
{
	const char *no_config = NULL;
	struct kmod_ctx *kmod = kmod_new(NULL, &no_config);

	if (kmod)
		kmod_set_log_fn(kmod, stay_quiet, NULL);
	return kmod;
}

bool lat_module_is_loaded(const char *name)
{
	char *path = lat_format("/sys/module/%s/initstate", name);
	bool loaded = !access(path, F_OK);

	free(path);
	return loaded;
}

static bool is_locked_down(void)
{
	char *text = lat_read_file("/sys/kernel/security/lockdown");
	bool locked = text && !strstr(text, "[none]") && strchr(text, '[');

	free(text);
	return locked;
}

/* Kernel the module was built for, to be freed; NULL: unknown. */
static char *built_for(struct kmod_module *module)
{
	struct kmod_list *list = NULL, *entry;
	char *kernel = NULL;

	if (kmod_module_get_info(module, &list) < 0)
		return NULL;
	kmod_list_foreach(entry, list) {
		if (strcmp(kmod_module_info_get_key(entry), "vermagic"))
			continue;
		free(kernel);
		kernel = lat_strdup(kmod_module_info_get_value(entry));
		kernel[strcspn(kernel, " ")] = 0;
	}
	kmod_module_info_free_list(list);
	return kernel;
}

static int explain(struct kmod_module *module, const char *name, int ret, struct lat_error *err)
{
	const char *path = kmod_module_get_path(module);
	struct utsname uts;
	char *kernel;

	switch (ret) {
	case -ENOEXEC:
		uname(&uts);
		kernel = built_for(module);
		lat_fail(err, ret, "module %s (%s) is built for kernel %s, this is %s; %s", name,
			 path, kernel ? kernel : "another", uts.release,
			 "build it for this one: make modules");
		free(kernel);
		return ret;
	case -EPERM:
		if (geteuid())
			return lat_fail(err, ret, "module %s is not loaded, and that takes root",
					name);
		return lat_fail(err, ret, "module %s was refused: %s", name, is_locked_down() ?
				"the kernel is locked down (Secure Boot); sign the module" :
				"CAP_SYS_MODULE is missing, or modules are disabled");
	case -EKEYREJECTED:
	case -EBADMSG:
		return lat_fail(err, ret, "module %s (%s) is not signed with a known key; %s",
				name, path, "sign it, or switch Secure Boot off");
	default:
		return lat_fail(err, ret, "module %s (%s): %s; the kernel log has the reason", name,
				path, strerror(-ret));
	}
}

static int find_module(struct kmod_ctx *kmod, const char *name, struct kmod_module **module,
		       struct lat_error *err)
{
	const char *directory = getenv("LATKIT_MODULES");
	struct utsname uts;
	char *path;
	int ret;

	*module = NULL;
	if (directory && *directory) {
		path = lat_format("%s/%s.ko", directory, name);
		ret = access(path, R_OK) ? -ENOENT : kmod_module_new_from_path(kmod, path, module);
		free(path);
		if (!ret)
			return 0;
	}
	ret = kmod_module_new_from_name(kmod, name, module);
	if (!ret && kmod_module_get_path(*module))
		return 0;
	uname(&uts);
	return lat_fail(err, -ENOENT, "module %s is neither in $LATKIT_MODULES (%s) nor %s %s; %s",
			name, directory && *directory ? directory : "not set",
			"installed for kernel", uts.release,
			"run make modules_install, or set LATKIT_MODULES");
}

int lat_module_load(const char *name, bool *loaded, struct lat_error *err)
{
	struct kmod_module *module = NULL;
	struct kmod_ctx *kmod;
	int ret;

	*loaded = false;
	if (lat_module_is_loaded(name))
		return 0;
	kmod = new_kmod();
	if (!kmod)
		return lat_fail(err, -ENOMEM, "module %s: libkmod does not start", name);
	ret = find_module(kmod, name, &module, err);
	if (!ret) {
		/* No parameters: it starts nothing until it is told to. */
		ret = kmod_module_insert_module(module, 0, "");
		if (ret == -EEXIST)
			ret = 0;
		else if (ret)
			ret = explain(module, name, ret, err);
		else
			*loaded = true;
	}
	kmod_module_unref(module);
	kmod_unref(kmod);
	return ret;
}

int lat_module_unload(const char *name, struct lat_error *err)
{
	struct kmod_ctx *kmod = new_kmod();
	struct kmod_module *module = NULL;
	int ret = kmod ? kmod_module_new_from_name(kmod, name, &module) : -ENOMEM;

	if (!ret)
		ret = kmod_module_remove_module(module, O_NONBLOCK);
	kmod_module_unref(module);
	kmod_unref(kmod);
	return ret ? lat_fail(err, ret, "module %s stays loaded, idle: %s", name, strerror(-ret)) :
		0;
}
