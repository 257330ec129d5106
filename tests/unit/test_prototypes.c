// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test of prototype files: what can be said in them, what cannot, and values as text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "sym/prototypes/parse.h"

/* What the table at hand was told, and what it complained of. */
static struct dp_proto_table table;
static char said[4096];
static struct dp_diag last;
static char last_line[128];
static size_t complaints;

static void note(void *arg, const struct dp_diag *diag, const char *line)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, "%s\n", diag->text);
	snprintf(last_line, sizeof(last_line), "%s", line);
	last = *diag;
	complaints++;
}

static void forget(void)
{
	dp_proto_free(&table.arena);
	memset(&table, 0, sizeof(table));
	said[0] = '\0';
	complaints = 0;
}

static void parse_bytes(const char *text, size_t len)
{
	forget();
	dp_proto_parse(&table, "f", text, len, note, NULL);
}

static void parse(const char *text)
{
	parse_bytes(text, strlen(text));
}

static const struct dp_prototype *find(const char *name)
{
	return dp_proto_names_get(&table.functions, name, strlen(name));
}

/* The only function of @text, which is called f. */
static const struct dp_prototype *function(const char *text)
{
	parse(text);
	assert_string_equal(said, "");
	assert_non_null(find("f"));
	return find("f");
}

static const struct dp_prototype_type *parameter(const char *text)
{
	static char line[1024];

	snprintf(line, sizeof(line), "void f(%s);", text);
	assert_int_equal(function(line)->n, 1);
	return find("f")->parameters[0].type;
}

static void assert_int(const char *word, unsigned int bits, bool is_signed)
{
	const struct dp_prototype_type *type = parameter(word);

	assert_int_equal(type->kind, DP_PROTOTYPE_INT);
	assert_int_equal(type->bits, bits);
	assert_int_equal(type->size * 8, bits);
	assert_int_equal(type->is_signed, is_signed);
}

static void test_integers(void **state)
{
	assert_int("char", 8, true);
	assert_int("schar", 8, true);
	assert_int("uchar", 8, false);
	assert_int("short", 16, true);
	assert_int("ushort", 16, false);
	assert_int("int", 32, true);
	assert_int("uint", 32, false);
	assert_int("long", 64, true);
	assert_int("ulong", 64, false);
	assert_int("octal", 32, false);
	assert_int("bool", 8, false);
	assert_int("hex(ushort)", 16, false);
	assert_int_equal(parameter("octal")->lens, DP_PROTOTYPE_OCT);
	assert_int_equal(parameter("oct(long)")->lens, DP_PROTOTYPE_OCT);
	assert_int_equal(parameter("bool(int)")->lens, DP_PROTOTYPE_BOOL);
	assert_true(parameter("hide(int)")->hidden);
}

static void test_floats(void **state)
{
	assert_int_equal(parameter("float")->kind, DP_PROTOTYPE_FLOAT);
	assert_int_equal(parameter("float")->size, 4);
	assert_int_equal(parameter("double")->bits, 64);
	assert_int_equal(parameter("ldouble")->bits, 80);
	assert_int_equal(parameter("ldouble")->size, 16);
	assert_int_equal(parameter("float128")->bits, 128);
	assert_int_equal(parameter("cdouble")->kind, DP_PROTOTYPE_COMPLEX);
	assert_int_equal(parameter("cldouble")->size, 32);
}

static void test_pointers(void **state)
{
	const struct dp_prototype_type *type = parameter("int**");

	assert_int_equal(type->kind, DP_PROTOTYPE_POINTER);
	assert_int_equal(type->of->kind, DP_PROTOTYPE_POINTER);
	assert_int_equal(type->of->of->kind, DP_PROTOTYPE_INT);
	assert_int_equal(parameter("addr")->of->kind, DP_PROTOTYPE_VOID);
	assert_int_equal(parameter("void *")->of->kind, DP_PROTOTYPE_VOID);
	assert_int_equal(parameter("file")->of->kind, DP_PROTOTYPE_STRUCT);
}

static void assert_string(const char *text, unsigned int count, u64 n,
			  bool zero)
{
	const struct dp_prototype_type *type = parameter(text);

	assert_int_equal(type->kind, DP_PROTOTYPE_POINTER);
	assert_int_equal(type->lens, DP_PROTOTYPE_STRING);
	assert_int_equal(type->of->kind, DP_PROTOTYPE_ARRAY);
	assert_int_equal(type->of->of->size, 1);
	assert_int_equal(type->of->length.count, count);
	assert_int_equal(type->of->length.n, n);
	assert_int_equal(type->of->length.zero, zero);
}

static void test_strings(void **state)
{
	assert_string("string", DP_PROTOTYPE_UNLIMITED, 0, true);
	assert_string("string[zero]", DP_PROTOTYPE_UNLIMITED, 0, true);
	assert_string("string(char*)", DP_PROTOTYPE_UNLIMITED, 0, true);
	assert_string("string[arg3]", DP_PROTOTYPE_ARGUMENT, 2, false);
	assert_string("string3", DP_PROTOTYPE_ARGUMENT, 2, false);
	assert_string("string0", DP_PROTOTYPE_RETVAL, 0, false);
	assert_string("string[arg0]", DP_PROTOTYPE_RETVAL, 0, false);
	assert_string("string[retval]", DP_PROTOTYPE_RETVAL, 0, false);
	assert_string("string[zero(16)]", DP_PROTOTYPE_NUMBER, 16, true);
	assert_string("string(array(uchar, arg2)*)", DP_PROTOTYPE_ARGUMENT, 1,
		      false);
	/* An array that is passed is a pointer. */
	assert_string("string(array(char, 8))", DP_PROTOTYPE_NUMBER, 8, false);
	assert_int_equal(parameter("format")->lens, DP_PROTOTYPE_FORMAT);
}

static void test_arrays(void **state)
{
	const struct dp_prototype_type *type = parameter("array(int, 6)*")->of;

	assert_int_equal(type->kind, DP_PROTOTYPE_ARRAY);
	assert_int_equal(type->size, 24);
	assert_int_equal(type->parts, 6);
	assert_int_equal(type->of->kind, DP_PROTOTYPE_INT);
	assert_int_equal(parameter("array(int, arg1)*")->of->size, 0);
}

static void test_structs(void **state)
{
	const struct dp_prototype_type *type =
		parameter("struct(char tag, double, struct(short, char) in, "
			  "string(array(char, 5)), ushort)");

	assert_int_equal(type->kind, DP_PROTOTYPE_STRUCT);
	assert_int_equal(type->n, 5);
	assert_string_equal(type->fields[0].name, "tag");
	assert_null(type->fields[1].name);
	assert_int_equal(type->fields[1].offset, 8);
	assert_int_equal(type->fields[2].offset, 16);
	assert_int_equal(type->fields[3].offset, 20);
	assert_int_equal(type->fields[3].type->lens, DP_PROTOTYPE_STRING);
	assert_int_equal(type->fields[4].offset, 26);
	assert_int_equal(type->size, 32);
	assert_int_equal(type->align, 8);
	assert_int_equal(type->levels, 2);
	type = parameter("struct(ulong, array(int, elt1))*")->of;
	assert_int_equal(type->fields[1].type->length.count,
			 DP_PROTOTYPE_ELEMENT);
	assert_int_equal(type->fields[1].type->length.n, 0);
}

static void test_recursive(void **state)
{
	const struct dp_prototype_type *type;

	type = function("typedef list = struct;\n"
			"typedef list = struct(int, list*);\n"
			"void f(list*);")
		       ->parameters[0]
		       .type->of;
	assert_int_equal(type->size, 16);
	assert_ptr_equal(type->fields[1].type->of, type);
	/* It never gets fields: a pointer to something. */
	type = function("typedef FILE = struct\nvoid f(FILE *stream)")
		       ->parameters[0]
		       .type->of;
	assert_int_equal(type->size, 0);
}

static void test_names(void **state)
{
	const struct dp_prototype_type *type =
		parameter("enum[long](A, B=0x10, C, D=-2, E, F=010)");

	assert_int_equal(type->lens, DP_PROTOTYPE_ENUM);
	assert_int_equal(type->size, 8);
	assert_int_equal(type->n, 6);
	assert_int_equal(type->names[0].value, 0);
	assert_int_equal(type->names[2].value, 17);
	assert_int_equal(type->names[4].value, -1);
	assert_int_equal(type->names[5].value, 8);
	assert_string_equal(type->names[5].text, "F");
	type = parameter("flags[ulong](R=0/3, W=1/3, C=0100)");
	assert_int_equal(type->lens, DP_PROTOTYPE_FLAGS);
	assert_int_equal(type->names[1].mask, 3);
	assert_int_equal(type->names[2].mask, 0100);
}

static void test_functions(void **state)
{
	const struct dp_prototype *f =
		function("; a comment\n\n  ; another\n"
			 "typedef fd = int;\n"
			 "long f(fd fd, +string[retval] buf, ulong);\t; one\n"
			 "int g();\nint h(void); ;\nvoid i(format, ...)\n"
			 "string j(...);\nint f(void);");

	assert_int_equal(f->returns->bits, 64);
	assert_int_equal(f->n, 3);
	assert_string_equal(f->parameters[0].name, "fd");
	assert_string_equal(f->parameters[1].name, "buf");
	assert_null(f->parameters[2].name);
	assert_false(f->parameters[0].out);
	assert_true(f->parameters[1].out);
	assert_false(f->variadic);
	assert_int_equal(find("g")->n, 0);
	assert_int_equal(find("h")->n, 0);
	assert_int_equal(find("i")->returns->kind, DP_PROTOTYPE_VOID);
	assert_true(find("i")->variadic);
	assert_true(find("j")->variadic);
	assert_null(find("k"));
}

static void test_fails(void **state)
{
	const struct dp_prototype *f = function("int f();");

	assert_int_equal(f->fails, DP_PROTOTYPE_FAILS_UNKNOWN);
	assert_false(dp_prototypes_failed(f, -1ull));
	f = function("int f() errno;");
	assert_int_equal(f->fails, DP_PROTOTYPE_FAILS_ERRNO);
	assert_true(dp_prototypes_failed(f, 0xffffffff));
	assert_false(dp_prototypes_failed(f, 0));
	f = function("uint f() errno;");
	assert_true(dp_prototypes_failed(f, 0x1ffffffff));
	f = function("addr f() errno;");
	assert_true(dp_prototypes_failed(f, 0));
	assert_false(dp_prototypes_failed(f, -1ull));
	f = function("addr f() errno(-1);");
	assert_true(dp_prototypes_failed(f, -1ull));
	f = function("int f() error;");
	assert_true(dp_prototypes_failed(f, EAGAIN));
	assert_false(dp_prototypes_failed(f, 1ull << 32));
}

/* One line is wrong: where, and why; those around it are read. */
static void assert_wrong(const char *line, int column, const char *why)
{
	char text[1024], expected[256];

	snprintf(text, sizeof(text), "int before(int);\n%s\nint after(int);",
		 line);
	snprintf(expected, sizeof(expected), "f:2:%d: %s\n", column, why);
	parse(text);
	assert_string_equal(said, expected);
	assert_string_equal(last_line, line);
	assert_int_equal(last.column, column - 1);
	assert_non_null(find("before"));
	assert_non_null(find("after"));
	assert_null(find("f"));
}

static void test_wrong(void **state)
{
	assert_wrong("int f(nothing);", 7, "this is no type");
	assert_wrong("integer f();", 1, "this is no type");
	assert_wrong("int f", 6, "'(' is missing");
	assert_wrong("int f(int", 10, "')' is missing");
	assert_wrong("int f(int,);", 11, "a type is missing");
	assert_wrong("int f(..., int);", 10, "')' is missing");
	assert_wrong("int f int)", 7, "'(' is missing");
	assert_wrong("int f() errno(;", 15, "this is no number of 64 bits");
	assert_wrong("int f() errno(1;", 16, "')' is missing");
	assert_wrong("int f(array(, 1)*);", 13, "a type is missing");
	assert_wrong("int f(array(void, 1)*);", 17,
		     "before this is a value of an unknown size");
	assert_wrong("int f(struct(void));", 18,
		     "before this is a value of an unknown size");
	assert_wrong("int (int);", 5, "a name is missing");
	assert_wrong("int f(int) fails;", 12, "this is not expected here");
	assert_wrong("int f(int) & ;", 12, "this is not expected here");
	assert_wrong("int f(int a b);", 13, "')' is missing");
	assert_wrong("int f(int, void);", 16,
		     "before this is a value of an unknown size");
	assert_wrong("int f(string[arg]);", 14,
		     "this is no length: NUMBER, argN, retval, eltN, zero or "
		     "zero(LENGTH)");
	assert_wrong("int f(string[elt0]);", 14,
		     "this is no length: NUMBER, argN, retval, eltN, zero or "
		     "zero(LENGTH)");
	assert_wrong("int f(string(int*));", 18,
		     "before this are no characters");
	assert_wrong("int f(oct(array(int, 2)));", 24,
		     "before this is no number");
	assert_wrong("int f(enum(A=099));", 14, "this is no number of 64 bits");
	assert_wrong("int f(enum(A=0x10000000000000000));", 14,
		     "this is no number of 64 bits");
	assert_wrong("int f(enum(A=0x));", 14, "this is no number of 64 bits");
	assert_wrong("int f(enum());", 12, "a name is missing");
	assert_wrong("int f(flags(A));", 14, "'=' is missing");
	assert_wrong("int f(enum[float](A));", 18,
		     "before this is no type of integers");
	assert_wrong("void f() errno;", 10,
		     "what this returns does not say that it has failed");
	assert_wrong("double f() error;", 12, "this does not return a number");
	assert_wrong("array(int, 2) f();", 15, "no function returns an array");
	assert_wrong("struct f();", 8, "'(' is missing");
	assert_wrong("typedef x y;", 11, "'=' is missing");
	assert_wrong("typedef x = struct(int, x);", 25, "this is no type");
	assert_wrong("int f(struct(array(int, elt1), int));", 35,
		     "before this is an array without a number of elements, "
		     "and something behind it");
}

static void test_wrong_types(void **state)
{
	parse("typedef a = int;\ntypedef a = long;\ntypedef b = struct;\n"
	      "typedef b = int;\ntypedef b = struct(int, b);\nvoid f(b);\n"
	      "b g();");
	assert_string_equal(
		said, "f:2:9: this is a type already\n"
		      "f:4:16: before this is no struct\n"
		      "f:5:26: before this is a value of an unknown size\n"
		      "f:6:9: before this is a value of an unknown size\n"
		      "f:7:3: before this is a value of an unknown size\n");
}

/* @n times @part, between two others */
static char *repeat(const char *begin, const char *part, size_t n,
		    const char *end)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs(begin, out);
	while (n--)
		fputs(part, out);
	fputs(end, out);
	fclose(out);
	return text;
}

static void assert_capped(const char *begin, const char *part, size_t n,
			  const char *end, const char *why)
{
	char *text = repeat(begin, part, n, end);

	parse(text);
	assert_non_null(strstr(said, why));
	free(text);
}

static void test_caps(void **state)
{
	assert_capped("int f(", "struct(", 100000, "",
		      "types are too deep in one another");
	assert_capped("int f(", "oct(", 100000, "",
		      "types are too deep in one another");
	assert_capped("int f(int", ", int", 64, ");",
		      "there are too many parameters");
	assert_capped("int f(struct(int", ", int", 4096, ")*);",
		      "before this is a value that is too large, or too deep");
	assert_capped("int f(array(array(int, 4096), ", "", 0, "2)*);",
		      "before this is a value that is too large, or too deep");
	assert_capped("int f(array(struct(char), 4097)*", "", 0, ");",
		      "before this is a value that is too large, or too deep");
	assert_int_equal(parameter("array(char, 4097)*")->of->parts, 1);
	assert_int_equal(parameter("array(short, 40)*")->of->parts, 40);
	assert_capped("int f(array(char, 0xffffffffffffffff", "", 0, ")*);",
		      "before this is a value that is too large, or too deep");
	assert_capped("int f(", "array(", 20, "int, 1), 1), 1), 1)",
		      "',' is missing");
	assert_capped("", "int f(nothing);\n", 1000, "", "f:20:7: ");
	assert_int_equal(complaints, DP_PROTOTYPES_REPORTS);
}

/* As deep as it may be, and one more */
static void test_depth(void **state)
{
	static const char most[] = "void f("
				   "oct(oct(oct(oct(oct(oct(oct(oct(oct(oct("
				   "oct(oct(oct(oct(oct(oct(oct(oct(oct(oct("
				   "oct(oct(oct(oct(oct(oct(oct(oct(oct(oct("
				   "oct(int"
				   ")))))))))))))))))))))))))))))))";
	char text[sizeof(most) + 16];

	snprintf(text, sizeof(text), "%s)", most);
	assert_int_equal(function(text)->n, 1);
	snprintf(text, sizeof(text), "%.*soct(%s))", 7, most, most + 7);
	parse(text);
	assert_string_equal(said,
			    "f:1:136: types are too deep in one another\n");
}

/* Each type has the one before in it twice. */
static void test_growing(void **state)
{
	char text[4096] = "typedef t0 = int\n";
	size_t n = strlen(text);
	int i;

	for (i = 1; i < 40; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "typedef t%d = struct(t%d, t%d)\n", i,
				      i - 1, i - 1);
	parse(text);
	assert_memory_equal(said, "f:14:", 5);
}

static void test_memory(void **state)
{
	char *text = repeat("", "int f(int********************************)\n",
			    90000, "");

	parse(text);
	assert_non_null(strstr(said, "there is no memory for it"));
	assert_true(table.arena.used <= DP_PROTO_MEMORY);
	free(text);
}

static void test_many(void **state)
{
	char *text = NULL;
	size_t len, i;
	FILE *out = open_memstream(&text, &len);

	for (i = 0; i < DP_PROTO_NAMES + 2; i++)
		fprintf(out, "int f%zu()\n", i);
	fclose(out);
	parse_bytes(text, len);
	assert_int_equal(table.functions.n, DP_PROTO_NAMES);
	assert_int_equal(complaints, 2);
	assert_non_null(find("f32767"));
	assert_null(find("f32768"));
	free(text);
}

/* Any byte in the place of any other */
static void test_bytes(void **state)
{
	static const char good[] =
		"typedef e = enum[uint](A=1,B)\nint f(string[arg2] s, +e*, "
		"struct(array(int, 2)), flags(A=1/3), ...) errno(-1); x";
	char text[sizeof(good)];
	size_t i;
	int c;

	for (i = 0; i < sizeof(good) - 1; i++)
		for (c = 0; c < 256; c++) {
			memcpy(text, good, sizeof(text));
			text[i] = (char)c;
			parse_bytes(text, sizeof(text) - 1);
			parse_bytes(text, i);
		}
}

static const char *shown(const char *type, u64 value)
{
	static char text[256];
	int n = dp_prototypes_show(text, sizeof(text), parameter(type), value);

	assert_int_equal(n, strlen(text));
	return text;
}

static void test_show_numbers(void **state)
{
	assert_string_equal(shown("int", 0xfffffffffull), "-1");
	assert_string_equal(shown("uint", 0xfffffffffull), "4294967295");
	assert_string_equal(shown("short", 0x18000), "-32768");
	assert_string_equal(shown("ulong", -1ull), "18446744073709551615");
	assert_string_equal(shown("long", 1ull << 63), "-9223372036854775808");
	assert_string_equal(shown("uchar", 0x1ff), "255");
	assert_string_equal(shown("hex(short)", -1ull), "0xffff");
	assert_string_equal(shown("hex(int)", 0), "0");
	assert_string_equal(shown("octal", 0644), "0644");
	assert_string_equal(shown("oct(int)", 0), "0");
	assert_string_equal(shown("bool(int)", 256), "true");
	assert_string_equal(shown("bool", 256), "false");
}

static void test_show_characters(void **state)
{
	assert_string_equal(shown("char", 'a'), "'a'");
	assert_string_equal(shown("char", '\''), "'\\''");
	assert_string_equal(shown("char", '\\'), "'\\\\'");
	assert_string_equal(shown("char", '\n'), "'\\n'");
	assert_string_equal(shown("char", 0), "'\\0'");
	assert_string_equal(shown("char", 0x1b), "'\\x1b'");
	assert_string_equal(shown("char", 0xe4), "'\\xe4'");
}

static void test_show_bits(void **state)
{
	assert_string_equal(shown("bitvec(ulong)", 0), "<>");
	assert_string_equal(shown("bitvec(ulong)", 0xb8), "<3-5,7>");
	assert_string_equal(shown("bitvec(ushort)", 0x0102), "<1,8>");
	assert_string_equal(shown("bitvec(uint)", 0xfffffffe), "~<0>");
	assert_string_equal(shown("bitvec(ushort)", 0x7fff), "~<15>");
	assert_string_equal(shown("bitvec(uchar)", 0xc0), "<6-7>");
	assert_string_equal(shown("bitvec(ulong)", -1ull), "~<>");
}

static void test_show_others(void **state)
{
	char text[16];
	float f = 0.1f;
	double d = 1e100;
	u64 bits = 0;

	assert_string_equal(shown("addr", 0), "NULL");
	assert_string_equal(shown("string", 0x1234), "0x1234");
	memcpy(&bits, &f, sizeof(f));
	assert_string_equal(shown("float", bits), "0.1");
	memcpy(&bits, &d, sizeof(d));
	assert_string_equal(shown("double", bits), "1e+100");
	assert_string_equal(shown("double", 0x3ff8000000000000), "1.5");
	assert_string_equal(shown("double", 0x7ff8000000000000), "nan");
	assert_int_equal(dp_prototypes_show(text, sizeof(text),
					    parameter("ldouble"), 1),
			 -EOPNOTSUPP);
	assert_int_equal(dp_prototypes_show(text, sizeof(text),
					    parameter("struct(int)"), 1),
			 -EOPNOTSUPP);
	assert_string_equal(text, "");
	assert_int_equal(dp_prototypes_show(text, 3, parameter("int"), 12345),
			 5);
	assert_string_equal(text, "12");
}

#define OPEN                                                           \
	"flags(O_RDONLY=0/3, O_WRONLY=1/3, O_RDWR=2/3, O_CREAT=0100, " \
	"O_SYNC=04010000, O_DSYNC=010000)"

static void test_show_names(void **state)
{
	assert_string_equal(shown("enum(A=1,B)", 2), "B");
	assert_string_equal(shown("enum(A=1,B)", 7), "7");
	assert_string_equal(shown("enum(A=-1)", 0xffffffff), "A");
	assert_string_equal(shown("enum(A=1)", 0xfffffffe), "-2");
	assert_string_equal(shown(OPEN, 0), "O_RDONLY");
	assert_string_equal(shown(OPEN, 0x100041), "O_WRONLY|O_CREAT|0x100000");
	assert_string_equal(shown(OPEN, 04010002), "O_RDWR|O_SYNC");
	assert_string_equal(shown(OPEN, 010000), "O_RDONLY|O_DSYNC");
	assert_string_equal(shown(OPEN, 3), "0x3");
	assert_string_equal(shown("flags(PROT_NONE=0, PROT_READ=1)", 0),
			    "PROT_NONE");
	assert_string_equal(shown("flags(PROT_NONE=0, PROT_READ=1)", 1),
			    "PROT_READ");
	assert_string_equal(shown("flags(A=1)", 0), "0");
}

/* Of a text in parts, what fits: nothing behind the room is written. */
static void test_show_cut(void **state)
{
	const struct dp_prototype_type *type = parameter(OPEN);
	char text[40];
	size_t len;

	for (len = 1; len < sizeof(text) - 1; len++) {
		memset(text, '#', sizeof(text));
		assert_int_equal(dp_prototypes_show(text, len, type, 0x100041),
				 25);
		assert_int_equal(strlen(text), len > 25 ? 25 : len - 1);
		assert_memory_equal(text, "O_WRONLY|O_CREAT|0x100000",
				    strlen(text));
		assert_int_equal(text[len], '#');
	}
}

static const char *returned(const char *line, u64 value, int err)
{
	static char text[256];

	assert_true(dp_prototypes_show_return(text, sizeof(text),
					      function(line), value, err) >= 0);
	return text;
}

static void test_show_return(void **state)
{
	assert_string_equal(returned("int f() errno", -1u, ENOENT),
			    "-1 ENOENT (No such file or directory)");
	assert_string_equal(returned("int f() errno", 3, ENOENT), "3");
	assert_string_equal(returned("int f()", -1u, ENOENT), "-1");
	assert_string_equal(returned("int f() errno", -1u, 0), "-1");
	assert_string_equal(returned("int f() errno", -1u, 9999), "-1");
	assert_string_equal(returned("hex(ulong) f() errno", -1ull, EINVAL),
			    "-1 EINVAL (Invalid argument)");
	assert_string_equal(returned("addr f() errno", 0, ENOMEM),
			    "NULL ENOMEM (Cannot allocate memory)");
	assert_string_equal(returned("addr f() errno(-1)", -1ull, ENOMEM),
			    "-1 ENOMEM (Cannot allocate memory)");
	assert_string_equal(returned("int f() error", EAGAIN, 0),
			    "11 EAGAIN (Resource temporarily unavailable)");
	assert_string_equal(returned("int f() error", 0, EAGAIN), "0");
	assert_string_equal(returned("void f()", 5, 0), "");
}

/* Directories: a folder of the user's goes before ours, and adds to it. */
static void put_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void remove_file(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

static void test_search(void **state)
{
	char dir[] = "/tmp/prototypes-XXXXXX", dirs[128];
	const struct dp_prototype *f;
	struct dp_prototypes *p;

	assert_non_null(mkdtemp(dir));
	put_file(dir, "libx.so.1.conf", "int both(int);\n");
	put_file(dir, "libx.so.conf", "int both();\nint one();\nwrong\n");
	put_file(dir, ".conf", "int hidden();\n");
	snprintf(dirs, sizeof(dirs), "/nonexistent::%s", dir);
	setenv("DPROBES_PROTOTYPES", dirs, 1);
	forget();
	assert_int_equal(dp_prototypes_open(&p, note, NULL), 0);
	f = dp_prototypes_find(p, "libx.so.1.2", "both");
	assert_non_null(f);
	assert_int_equal(f->n, 1);
	assert_non_null(dp_prototypes_find(p, "libx.so.1.2", "one"));
	assert_null(dp_prototypes_find(p, "libx.so.1.2", "two"));
	assert_null(dp_prototypes_find(p, "liby.so.1", "one"));
	assert_int_equal(complaints, 1);
	assert_null(dp_prototypes_find(p, "", "hidden"));
	assert_null(dp_prototypes_find(p, "../libx.so", "one"));
	dp_prototypes_close(p);
	remove_file(dir, "libx.so.1.conf");
	remove_file(dir, "libx.so.conf");
	remove_file(dir, ".conf");
	rmdir(dir);
}

struct tally {
	size_t functions, errors, named;
};

static void count(void *arg, const struct dp_prototype *f)
{
	struct tally *t = arg;

	t->functions++;
	t->errors += f->fails != DP_PROTOTYPE_FAILS_UNKNOWN;
	t->named += f->n && f->parameters[0].name;
}

static struct tally shipped(struct dp_prototypes *p, const char *soname)
{
	struct tally t = { 0 };

	dp_prototypes_each(p, soname, count, &t);
	return t;
}

/* Those that come with the tool: nothing in them is wrong. */
static void test_shipped(void **state)
{
	const struct dp_prototype *f;
	struct dp_prototypes *p;
	struct tally t;
	char text[64];

	setenv("DPROBES_PROTOTYPES", "share/dprobes/prototypes", 1);
	forget();
	assert_int_equal(dp_prototypes_open(&p, note, NULL), 0);
	t = shipped(p, "libc.so.6");
	assert_true(t.functions >= 1600 && t.errors >= 700 && t.named >= 1300);
	assert_true(shipped(p, "libm.so.6").functions >= 800);
	assert_true(shipped(p, "libz.so.1").functions >= 80);
	assert_true(shipped(p, "libsqlite3.so.0").functions >= 250);
	assert_true(shipped(p, "libssl.so.3").functions >= 500);
	assert_true(shipped(p, "libcrypto.so.3").functions >= 5000);
	assert_string_equal(said, "");
	f = dp_prototypes_find(p, "libc.so.6", "openat");
	assert_int_equal(f->n, 4);
	assert_string_equal(f->parameters[1].name, "pathname");
	dp_prototypes_show(text, sizeof(text), f->parameters[0].type, -100u);
	assert_string_equal(text, "AT_FDCWD");
	dp_prototypes_show(text, sizeof(text), f->parameters[2].type, 02000101);
	assert_string_equal(text, "O_WRONLY|O_CREAT|O_CLOEXEC");
	dp_prototypes_show(text, sizeof(text), f->parameters[3].type, 0644);
	assert_string_equal(text, "0644");
	dp_prototypes_show_return(text, sizeof(text), f, -1u, ENOENT);
	assert_string_equal(text, "-1 ENOENT (No such file or directory)");
	/* An older glibc has it there. */
	f = dp_prototypes_find(p, "libpthread.so.0", "pthread_mutex_trylock");
	assert_non_null(dp_prototypes_find(p, "libanl.so.1", "getaddrinfo_a"));
	assert_non_null(dp_prototypes_find(p, "libutil.so.1", "openpty"));
	assert_null(dp_prototypes_find(p, "libother.so.0", "open"));
	dp_prototypes_show_return(text, sizeof(text), f, EBUSY, 0);
	assert_string_equal(text, "16 EBUSY (Device or resource busy)");
	dp_prototypes_close(p);
}

/* Of the home directory, unless XDG_DATA_HOME says another; no device, no pipe is waited for. */
static void test_home(void **state)
{
	char home[] = "/tmp/prototypes-XXXXXX", dir[128];
	struct dp_prototypes *p;

	assert_non_null(mkdtemp(home));
	snprintf(dir, sizeof(dir),
		 "cd %s && mkdir -p dprobes/prototypes && mkfifo "
		 "dprobes/prototypes/libz.so.conf",
		 home);
	assert_int_equal(system(dir), 0);
	snprintf(dir, sizeof(dir), "%s/dprobes/prototypes", home);
	put_file(dir, "libx.so.conf", "int homely();\n");
	unsetenv("DPROBES_PROTOTYPES");
	setenv("XDG_DATA_HOME", home, 1);
	assert_int_equal(dp_prototypes_open(&p, NULL, NULL), 0);
	assert_non_null(dp_prototypes_find(p, "libx.so.6", "homely"));
	assert_null(dp_prototypes_find(p, "libz.so", "homely"));
	dp_prototypes_close(p);
	snprintf(dir, sizeof(dir), "rm -r %s", home);
	assert_int_equal(system(dir), 0);
	unsetenv("XDG_DATA_HOME");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_structs),
		cmocka_unit_test(test_recursive),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_fails),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_show_numbers),
		cmocka_unit_test(test_show_characters),
		cmocka_unit_test(test_show_bits),
		cmocka_unit_test(test_show_others),
		cmocka_unit_test(test_show_names),
		cmocka_unit_test(test_show_cut),
		cmocka_unit_test(test_show_return),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_home),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests_name("prototypes", tests, NULL, NULL);
	forget();
	return failed;
}
