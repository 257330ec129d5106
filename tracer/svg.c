// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * svg: a tree of frames as a picture.
 *
 * Names are text and attributes of the document only, never of its script.
 */
#include "tracer/flame.h"
#include "tracer/output.h"
#include "lib/escape.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200.0
#define EDGE 10.0
#define LINE 16u /* height of a frame */
#define HEAD 40u
#define LETTER 6.6 /* width */
#define THIN 0.1 /* what is thinner is left out */
#define NAME 4096

/* Sizes are of the browser's own units, so that nothing has to be computed anew at another size. */
static const char *const script[] = {
	"var all = document.querySelectorAll('g.f'), found = '';",
	"function num(g, n) { return parseFloat(g.getAttribute('data-' + n)); }",
	"function label(g, w) {",
	"  var n = g.getAttribute('data-n'), most = Math.floor((w - 4) / 6.6);",
	"  g.querySelector('text').textContent = most < 3 ? '' : n.length > most ? n.slice(0, most - 2) + '..' : n;",
	"}",
	"function place(g, x, w) {",
	"  var r = g.querySelector('rect');",
	"  r.setAttribute('x', x);",
	"  r.setAttribute('width', w);",
	"  g.querySelector('text').setAttribute('x', x + 2);",
	"  label(g, w);",
	"}",
	"function zoom(to) {",
	"  var x = num(to, 'x'), w = num(to, 'w'), d = num(to, 'd');",
	"  all.forEach(function (g) {",
	"    var gx = num(g, 'x'), gw = num(g, 'w'), in_it = gx > x - 0.0005 && gx + gw < x + w + 0.0005;",
	"    var holds = num(g, 'd') < d && gx < x + 0.0005 && gx + gw > x + w - 0.0005;",
	"    g.style.display = holds || (in_it && num(g, 'd') >= d) ? '' : 'none';",
	"    if (holds) place(g, 10, 1180);",
	"    else if (in_it) place(g, 10 + (gx - x) * 1180 / w, gw * 1180 / w);",
	"  });",
	"}",
	"function search() {",
	"  var want = prompt('Search for (a regular expression):', found), test, sum = 0;",
	"  if (want === null) return;",
	"  found = want;",
	"  try { test = new RegExp(want); } catch (e) { alert(e); return; }",
	"  var upto = -1;",
	"  all.forEach(function (g) {",
	"    var hit = want !== '' && test.test(g.getAttribute('data-n'));",
	"    g.querySelector('rect').style.fill = hit ? 'rgb(230,0,230)' : '';",
	"    if (hit && num(g, 'x') > upto - 0.0005) {",
	"      sum += num(g, 'w');",
	"      upto = num(g, 'x') + num(g, 'w');",
	"    }",
	"  });",
	"  document.getElementById('found').textContent = want === '' ? '' : (sum / 11.8).toFixed(1) + '% found';",
	"}",
	"all.forEach(function (g) { g.addEventListener('click', function () { zoom(g); }); });",
	"document.getElementById('search').addEventListener('click', search);",
	"window.addEventListener('keydown', function (e) {",
	"  if (e.key === 'F3' || (e.ctrlKey && e.key === 'f')) { e.preventDefault(); search(); }",
	"});",
};

/* What XML gives a meaning, or does not allow: controls and what is no UTF-8 become \xHH before */
static void put_name(FILE *out, const char *name, size_t most)
{
	char plain[NAME];
	size_t i, n, len;

	dp_escape(plain, sizeof(plain), name, strlen(name));
	len = strlen(plain);
	for (i = 0; i < len && most; i += n, most--) {
		dp_escape_next(plain + i, len - i, &n);
		if (n == 1 && strchr("<>&\"'", plain[i]))
			dp_output_print(out, "&#%d;", plain[i]);
		else if (n == 3 && !memcmp(plain + i, "\xef\xbf", 2) &&
			 (u8)plain[i + 2] >= 0xbe)
			dp_output_print(out, "\\xef\\xbf\\x%02x",
					(u8)plain[i + 2]);
		else
			dp_output_write(out, plain + i, n);
	}
}

static u32 depth_of(const struct dp_flame *f)
{
	u32 n = 0;

	for (; f->parent; f = f->parent)
		n++;
	return n;
}

/* What comes behind @f, which is @level below @top. Return: NULL: nothing */
static const struct dp_flame *step(const struct dp_flame *top,
				   const struct dp_flame *f, u32 *level)
{
	if (f->first) {
		++*level;
		return f->first;
	}
	for (; f != top && !f->next; --*level)
		f = f->parent;
	return f == top ? NULL : f->next;
}

static u32 deepest(const struct dp_flame *top)
{
	const struct dp_flame *f;
	u32 most = 0, n = 0;

	for (f = top; f; f = step(top, f, &n))
		most = n > most ? n : most;
	return most;
}

static u32 colour(const char *name)
{
	u32 hash = 2166136261u;

	while (*name)
		hash = (hash ^ (u8)*name++) * 16777619u;
	return hash;
}

static void put_frame(FILE *out, const struct dp_flame *f, double x, double w,
		      u32 y, double share)
{
	u32 hash = colour(f->name);
	double room = (w - 4) / LETTER;
	size_t letters = room < 3 ? 0 : (size_t)room;

	dp_output_print(
		out,
		"<g class=\"f\" data-x=\"%.4f\" data-w=\"%.4f\" data-d=\"%u\" data-n=\"",
		x, w, depth_of(f));
	put_name(out, f->name, NAME);
	dp_output_print(out, "\"><title>");
	put_name(out, f->name, NAME);
	dp_output_print(out, " (%lu, %.2f%%)</title>", f->count, share);
	dp_output_print(
		out,
		"<rect x=\"%.4f\" y=\"%u\" width=\"%.4f\" height=\"%u\" rx=\"1\" fill=\"rgb(%u,%u,%u)\"/>",
		x, y, w, LINE - 1, 205 + hash % 50, 80 + (hash >> 8) % 130,
		(hash >> 16) % 55);
	dp_output_print(out, "<text x=\"%.4f\" y=\"%u\">", x + 2, y + 12);
	if (strlen(f->name) <= letters) {
		put_name(out, f->name, letters);
	} else if (letters) {
		put_name(out, f->name, letters - 2);
		dp_output_print(out, "..");
	}
	dp_output_print(out, "</text></g>\n");
}

static void put_head(FILE *out, u32 height, const char *title)
{
	dp_output_print(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	dp_output_print(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%u\" viewBox=\"0 0 %.0f %u\">\n",
		WIDTH, height, WIDTH, height);
	dp_output_print(
		out,
		"<style>text { font: 11px monospace } g.f:hover rect { stroke: black } g.f { cursor: pointer }</style>\n");
	dp_output_print(
		out,
		"<rect width=\"100%%\" height=\"100%%\" fill=\"rgb(250,250,240)\"/>\n");
	dp_output_print(out, "<text id=\"title\" x=\"10\" y=\"20\">");
	put_name(out, title, 120);
	dp_output_print(out, "</text>\n");
	dp_output_print(
		out,
		"<text id=\"search\" x=\"1190\" y=\"20\" text-anchor=\"end\" cursor=\"pointer\">Search</text>\n");
	dp_output_print(
		out,
		"<text id=\"found\" x=\"1120\" y=\"20\" text-anchor=\"end\"></text>\n");
}

static void put_script(FILE *out)
{
	size_t i;

	dp_output_print(out, "<script><![CDATA[\n");
	for (i = 0; i < sizeof(script) / sizeof(script[0]); i++) {
		dp_output_print(out, "%s\n", script[i]);
	}
	dp_output_print(out, "]]></script>\n</svg>\n");
}

/** struct span - @x: where the next frame of a level begins; @end: where its caller does */
struct span {
	double x, end;
};

/** struct drawing - @at: by levels */
struct drawing {
	FILE *out;
	double scale, all;
	u32 base;
	struct span *at;
};

/* Frames are met callers first, so where a frame begins is known when its callees are met. Where a
 * caller's sum has stopped, its callees may have more. */
static void draw(struct drawing *d, const struct dp_flame *f, u32 level)
{
	struct span *at = &d->at[level];
	double w = (double)f->count * d->scale, x = at->x;

	if (w > at->end - x)
		w = at->end - x;
	at->x = x + w;
	at[1] = (struct span){ x, x + w };
	if (w >= THIN)
		put_frame(d->out, f, x, w, d->base - level * LINE,
			  100.0 * (double)f->count / d->all);
}

int dp_flame_svg(FILE *out, const struct dp_flame *top, const char *title)
{
	u32 levels = deepest(top), level = 1;
	double all = top->count ? (double)top->count : 1;
	struct drawing d = { out, (WIDTH - 2 * EDGE) / all, all,
			     HEAD + levels * LINE,
			     calloc(levels + 2, sizeof(struct span)) };
	const struct dp_flame *f = top->first;

	if (!d.at)
		return -ENOMEM;
	put_head(out, HEAD + (levels + 1) * LINE + 10, title);
	d.at[1] = (struct span){ EDGE, WIDTH - EDGE };
	for (; f; f = step(top, f, &level))
		draw(&d, f, level);
	put_script(out);
	free(d.at);
	return 0;
}
