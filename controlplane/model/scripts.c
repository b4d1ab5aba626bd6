/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules: their Lua is compiled, never run. */
#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>

#include "model/model_internal.h"

/* Whether a word of Tcl's rules stands at the start of a line: "when CLIENT_ACCEPTED {". */
static bool looks_like_tcl(const char *text)
{
	static const char *const words[] = {"when", "proc", "timing", "priority"};

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += strspn(p, " \t\r\n;");
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			size_t len = strlen(words[i]);
			if (!strncmp(p, words[i], len) && (p[len] == ' ' || p[len] == '\t'))
				return true;
		}
	}
	return false;
}

/* 0, or -EINVAL with Lua's words. */
static int compile(const char *text, char *reason, size_t size)
{
	lua_State *lua = luaL_newstate();
	int rc = lua ? luaL_loadbufferx(lua, text, strlen(text), "=rule", "t") : LUA_ERRMEM;

	if (rc != LUA_OK) {
		const char *said = lua ? lua_tostring(lua, -1) : NULL;
		snprintf(reason, size, "%s", said ? said : "no memory");
	}
	if (lua)
		lua_close(lua);
	return rc == LUA_OK ? 0 : -EINVAL;
}

int check_script(struct model *m, struct item *it, struct model_error *err)
{
	const char *text =
		strings_text(&m->strings, ((const struct rule *)it->data)->conf.definition);
	char reason[256];

	if (!compile(text, reason, sizeof(reason)))
		return 0;
	if (looks_like_tcl(text))
		return fail(m, err, -EOPNOTSUPP, it, "definition",
			"is Tcl: Weir rules are Lua; docs/rules.md has what stands for each "
			"command");
	return fail(m, err, -EINVAL, it, "definition", "%s", reason);
}
