// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* main: runs scripts by a Lua that is linked statically, all of whose functions have names. */
#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

/* Errors pass frames of C, too. */
static int through(lua_State *l)
{
	int n = lua_gettop(l);

	lua_call(l, n - 1, LUA_MULTRET);
	return lua_gettop(l);
}

static int later(lua_State *l, int status, lua_KContext context)
{
	lua_pushinteger(l, (lua_Integer)context);
	return lua_gettop(l);
}

/* A call that may be suspended */
static int suspends(lua_State *l)
{
	int n = lua_gettop(l);

	lua_callk(l, n - 1, LUA_MULTRET, 42, later);
	return later(l, LUA_OK, 43);
}

int main(int argc, char **argv)
{
	lua_State *l = luaL_newstate();
	int i, bad = 0;

	luaL_openlibs(l);
	lua_register(l, "through", through);
	lua_register(l, "suspends", suspends);
	for (i = 1; i < argc; i++) {
		printf("== %d\n", i);
		if (!luaL_dofile(l, argv[i]))
			continue;
		printf("error: %s\n", lua_tostring(l, -1));
		lua_pop(l, 1);
		bad++;
	}
	lua_close(l);
	return bad;
}
