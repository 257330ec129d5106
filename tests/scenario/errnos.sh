#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The table of libc says of errors what the manual says, but for what tools/prototypes.sets decides; and where
# libc itself can be asked, errno is set whenever the table says so.
. tests/scenario/lib.sh

table=share/dprobes/prototypes/libc.so.conf
if ! command -v groff >/dev/null || [ ! -e /usr/share/man/man2/openat.2.gz ]; then
	skip "as the manual has it" "there is no groff, or no manpages-dev"
else
	got=$(tools/check-errno "$table" 2>&1)
	is "as the manual has it" "$(sed '$d' <<<"$got")" ""
	got=${got##*$'\n'}
	is "of 1,000 functions at least: $got" "$((${got% compared} >= 1000))" 1
fi

# Each fails, or finds nothing: does its table's mark say that errno is set, and is it?
cat >"$dir/asks.c" <<'END'
#include <errno.h>
#include <locale.h>
#include <net/if.h>
#include <nl_types.h>
#include <search.h>
#include <shadow.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <utmp.h>
#include <utmpx.h>
#define MARK 77
#define ASK(name, call) do { errno = MARK; (void)(call); printf("%s %s\n", name, errno == MARK ? "no" : "errno"); } while (0)
int main(void)
{
	static struct utmp u = { .ut_type = USER_PROCESS, .ut_id = "zzz", .ut_line = "none" };
	static struct utmpx ux = { .ut_type = USER_PROCESS, .ut_id = "zzz" };
	static struct hsearch_data h;
	sigset_t *volatile none = NULL;
	FILE *empty = fopen("/dev/null", "r");
	time_t far = 1L << 62;
	struct tm much = { .tm_year = 0x7fffffff };
	ENTRY e = { "x", 0 }, *ep;
	char *line = NULL, text[4];
	size_t n = 0;

	ASK("if_nametoindex", if_nametoindex("nonexistent"));
	ASK("newlocale", newlocale(-1, "C", 0));
	ASK("getline", getline(&line, &n, empty));
	ASK("getdelim", getdelim(&line, &n, ';', empty));
	ASK("fgets", fgets(text, sizeof(text), empty));
	utmpname("/dev/null");
	ASK("getutent", getutent());
	setutent();
	ASK("getutid", getutid(&u));
	setutent();
	ASK("getutline", getutline(&u));
	setutent();
	ASK("getutxid", getutxid(&ux));
	ASK("sigandset", sigandset(none, none, none));
	ASK("sigisemptyset", sigisemptyset(none));
	hcreate_r(10, &h);
	ASK("hsearch_r", hsearch_r(e, FIND, &ep, &h));
	ASK("hcreate_r", hcreate_r(10, &h));
	ASK("gmtime", gmtime(&far));
	ASK("localtime", localtime(&far));
	ASK("ctime", ctime(&far));
	ASK("asctime", asctime(&much));
	ASK("catclose", catclose((nl_catd)-1));
	ASK("getenv", getenv("NO_SUCH_NAME"));
	return 0;
}
END
"${CC:-gcc}" -w -D_GNU_SOURCE -o "$dir/asks" "$dir/asks.c" || exit 1
"$dir/asks" >"$dir/asked"
while read -r name set; do
	line=$(grep -E "\b$name\(" "$table" | grep -v ^typedef)
	case $line in *") errno;" | *") errno("*) mark=errno ;; *) mark=no ;; esac
	is "$name, asked" "$mark" "$set"
done <"$dir/asked"
is "all of them" "$(wc -l <"$dir/asked")" "$(grep -c "ASK(\"" "$dir/asks.c")"
plan
