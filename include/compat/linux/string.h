/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Strings and memory: our own functions, which any handler may call. */
#ifndef DP_LINUX_STRING_H
#define DP_LINUX_STRING_H

#include <linux/types.h>
#include <linux/errno.h>

void *memcpy(void *to, const void *from, size_t n) DP_COMPAT(memcpy);
void *memmove(void *to, const void *from, size_t n) DP_COMPAT(memmove);
void *memset(void *p, int c, size_t n) DP_COMPAT(memset);
int memcmp(const void *a, const void *b, size_t n) DP_COMPAT(memcmp);
void *memchr(const void *p, int c, size_t n) DP_COMPAT(memchr);
size_t strlen(const char *s) DP_COMPAT(strlen);
size_t strnlen(const char *s, size_t n) DP_COMPAT(strnlen);
char *strcpy(char *to, const char *from) DP_COMPAT(strcpy);
char *strncpy(char *to, const char *from, size_t n) DP_COMPAT(strncpy);
char *strcat(char *to, const char *from) DP_COMPAT(strcat);
char *strncat(char *to, const char *from, size_t n) DP_COMPAT(strncat);
int strcmp(const char *a, const char *b) DP_COMPAT(strcmp);
int strncmp(const char *a, const char *b, size_t n) DP_COMPAT(strncmp);
int strcasecmp(const char *a, const char *b) DP_COMPAT(strcasecmp);
int strncasecmp(const char *a, const char *b, size_t n) DP_COMPAT(strncasecmp);
#define strnicmp strncasecmp
#define stricmp strcasecmp
char *strchr(const char *s, int c) DP_COMPAT(strchr);
char *strrchr(const char *s, int c) DP_COMPAT(strrchr);
char *strnchr(const char *s, size_t n, int c) DP_COMPAT(strnchr);
char *strstr(const char *s, const char *what) DP_COMPAT(strstr);
char *strnstr(const char *s, const char *what, size_t n) DP_COMPAT(strnstr);
char *strsep(char **s, const char *delimiters) DP_COMPAT(strsep);
char *strpbrk(const char *s, const char *accept) DP_COMPAT(strpbrk);
size_t strspn(const char *s, const char *accept) DP_COMPAT(strspn);
size_t strcspn(const char *s, const char *reject) DP_COMPAT(strcspn);
char *skip_spaces(const char *s) DP_COMPAT(skip_spaces);
char *strim(char *s) DP_COMPAT(strim);
#define strstrip strim

/** strscpy() - copy and terminate. Return: the length; -E2BIG it was cut. */
ssize_t strscpy(char *to, const char *from, size_t size) DP_COMPAT(strscpy);
/** strscpy_pad() - and fill the rest with zeros */
ssize_t strscpy_pad(char *to, const char *from, size_t size)
	DP_COMPAT(strscpy_pad);
/** strlcpy(), strlcat() - Return: the length that it tried to make */
size_t strlcpy(char *to, const char *from, size_t size) DP_COMPAT(strlcpy);
size_t strlcat(char *to, const char *from, size_t size) DP_COMPAT(strlcat);
/** sysfs_streq() - the same but for a newline at the end? */
bool sysfs_streq(const char *a, const char *b) DP_COMPAT(sysfs_streq);

/* Copies to be given back by kfree(). @gfp as kmalloc(). */
char *kstrdup(const char *s, gfp_t gfp) DP_COMPAT(kstrdup);
char *kstrndup(const char *s, size_t max, gfp_t gfp) DP_COMPAT(kstrndup);
void *kmemdup(const void *p, size_t n, gfp_t gfp) DP_COMPAT(kmemdup);

static inline const char *kbasename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static inline bool strstarts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

#endif
