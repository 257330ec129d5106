#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A C program with functions of random parameters, and what a trace of them has to say:
# random-values.py SEED FUNCTIONS DIR. Writes DIR/random.c, DIR/specs, one a line, and DIR/wanted, where P is an address,
# in the order of the calls.
import random
import struct
import sys

seed, functions, to = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = random.Random(seed)
SCALARS = [("char", 8, True), ("signed char", 8, True), ("unsigned char", 8, False), ("short", 16, True), ("unsigned short", 16, False),
           ("int", 32, True), ("unsigned", 32, False), ("long", 64, True), ("unsigned long", 64, False),
           ("long long", 64, True), ("_Bool", 1, False)]


def integer(kind):
    name, bits, sign = kind
    if bits == 1:
        return rng.choice([0, 1])
    low = -(1 << bits - 1) if sign else 0
    high = (1 << bits - 1 if sign else 1 << bits) - 1
    return rng.choice([low, high, 0, 1, high // 3, rng.randint(low, high)])


def literal(kind, value):
    name, bits, sign = kind
    if bits == 64 and sign:
        return "(%s)0x%xull" % (name, value & (1 << 64) - 1)
    return "%d%s" % (value, "" if sign or bits < 32 else "ull")


def said(kind, value):
    if kind[1] == 1:
        return "true" if value else "false"
    if kind[0] == "char":
        return "'%c'" % value if 0x20 <= value <= 0x7e else str(value)
    return str(value)


def real():
    return rng.choice([0.5, -2.25, 1e300, 3.0, -0.125, 1024.0, 0.1, -1 / 3, 5e-324, float(rng.getrandbits(60)), rng.uniform(-1e9, 1e9)])


def said_real(value):
    """The shortest of 15 to 17 digits, as the C library prints them, that is the same number"""
    for digits in range(15, 18):
        text = "%.*g" % (digits, value)
        if float(text) == value:
            break
    return text if any(c in text for c in ".e") else text + ".0"


SIZES = {"char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned": 4, "_Bool": 1}
LEVELS, FOLLOWS = 2, 8


def size_of(kind):
    return SIZES.get(kind[0], 8)


def hue():
    return rng.choice([("RED", 1), ("GREEN", 5), ("BLUE", 6)])


def narrowed(kind, bits):
    """A kind with fewer bits, but the name that says how it is shown."""
    return (kind[0], bits, kind[2])


def narrow():
    return struct.unpack("f", struct.pack("f", rng.choice([0.5, -0.1, 3.0, 1e-45, 3.4e38, rng.uniform(-1e6, 1e6)])))[0]


def said_narrow(value):
    for digits in range(6, 10):
        text = "%.*g" % (digits, value)
        if struct.unpack("f", struct.pack("f", float(text)))[0] == value:
            break
    return text if any(c in text for c in ".e") else text + ".0"


def compared(name, value):
    """A comparison of a floating-point argument, and whether it holds"""
    with_ = rng.choice([value, real(), 0.0, float(rng.randint(-3, 3))])
    if abs(with_) > 1e18 or with_ != with_:
        with_ = 0.0
    op = rng.choice(["==", "!=", "<", "<=", ">", ">="])
    holds = {"==": value == with_, "!=": value != with_, "<": value < with_, "<=": value <= with_, ">": value > with_,
             ">=": value >= with_}[op]
    return "%s %s %s" % (name, op, repr(with_)), "true" if holds else "false"


class Struct:
    """One with fields, of which some are arrays, strings, enumerations, bit fields, unions, structs or pointers to them."""

    def __init__(self, n, others):
        self.name = "s%d" % n
        self.packed = rng.random() < .2
        self.fields = []
        self.size = 0
        for i in range(rng.randint(1, 7)):
            self.add("f%d" % i, rng.random(), others)

    def add(self, field, what, others):
        if what < .3:
            self.take(field, "scalar", rng.choice(SCALARS), 8)
        elif what < .45:
            kind = rng.choice(SCALARS)
            # What crosses the end of eight bytes has no load of its own.
            most = 1 if kind[1] == 1 else min(kind[1], 57 if self.packed else 64)
            self.take(field, "bits", narrowed(kind, rng.randint(2, most)) if most > 1 else kind, 8)
        elif what < .5:
            self.take(field, "real", None, 8)
        elif what < .6:
            self.take(field, "string", None, 8)
        elif what < .7:
            kind = (rng.choice(SCALARS[3:7]), rng.randint(1, 5))
            self.take(field, "array", kind, size_of(kind[0]) * kind[1] + 8)
        elif what < .75:
            self.take(field, "matrix", (rng.choice(SCALARS[3:7]), rng.randint(1, 3), rng.randint(1, 3)), 48)
        elif what < .8:
            self.take(field, "enum", None, 8)
        elif what < .84:
            self.take(field, "union", None, 8)
        elif what < .88:
            self.take(field, "function", None, 8)
        elif others:
            of = rng.choice(others)
            self.take(field, *rng.choice([("struct", of, of.size + 8), ("pointer", of, 8), ("structs", (of, 2), 2 * of.size + 8)]))

    def take(self, field, what, kind, size):
        self.fields.append((field, what, kind))
        self.size += size

    def declare(self):
        lines = []
        for name, what, of in self.fields:
            lines.append({"scalar": lambda: "%s %s;" % (of[0], name),
                          "bits": lambda: "%s %s : %d;" % (of[0], name, of[1]),
                          "real": lambda: "double %s;" % name,
                          "string": lambda: "const char *%s;" % name,
                          "array": lambda: "%s %s[%d];" % (of[0][0], name, of[1]),
                          "matrix": lambda: "%s %s[%d][%d];" % (of[0][0], name, of[1], of[2]),
                          "enum": lambda: "enum hue %s;" % name,
                          "union": lambda: "union { unsigned a; unsigned char b[4]; } %s;" % name,
                          "function": lambda: "void (*%s)(void);" % name,
                          "struct": lambda: "struct %s %s;" % (of.name, name),
                          "structs": lambda: "struct %s %s[%d];" % (of[0].name, name, of[1]),
                          "pointer": lambda: "struct %s *%s;" % (of.name, name)}[what]())
        return "struct %s%s { %s };" % ("__attribute__((packed)) " if self.packed else "", self.name, " ".join(lines) or "int none;")


def listed(texts):
    return "{%s}" % ",".join(texts)


class Value:
    """A value of a struct: its initializer, the paths to what is in it, with what is said of each, and what is said of the whole."""

    def __init__(self, of, globals_):
        self.parts, self.paths, self.shows = [], [], []
        for name, what, kind in of.fields:
            getattr(self, "make_" + what)(name, kind, globals_)
        if not of.fields:
            self.shows.append(("none", lambda level, left: "0"))
        self.text = ", ".join(self.parts) or "0"

    def whole(self, level, left):
        """@left: how many strings may still be followed, in a list of one."""
        if level >= LEVELS:
            return "{...}"
        return listed("%s=%s" % (name, show(level + 1, left)) for name, show in self.shows)

    def plain(self, name, part, text):
        self.parts.append(part)
        self.paths.append((name, text))
        self.shows.append((name, lambda level, left: text))

    def make_scalar(self, name, kind, globals_):
        v = integer(kind)
        self.plain(name, literal(kind, v), said(kind, v))

    def make_bits(self, name, kind, globals_):
        v = integer(kind)
        wide = (kind[0], 64, kind[2])
        if kind[0] == "_Bool":
            wide = kind
        self.plain(name, literal(wide, v), said(wide, v))

    def make_real(self, name, kind, globals_):
        v = real()
        self.plain(name, repr(v), said_real(v))

    def make_string(self, name, kind, globals_):
        v = rng.choice(["", "a", "some text", "x" * 40])
        self.parts.append('"%s"' % v)
        self.paths.append((name, '"%s"' % v))

        def show(level, left):
            left[0] -= 1
            return '"%s"' % v if left[0] >= 0 else "P"
        self.shows.append((name, show))

    def make_array(self, name, kind, globals_):
        v = [integer(kind[0]) for _ in range(kind[1])]
        self.plain(name, "{ %s }" % ", ".join(literal(kind[0], x) for x in v), listed(said(kind[0], x) for x in v))
        i = rng.randrange(kind[1])
        self.paths.append(("%s[%d]" % (name, i), said(kind[0], v[i])))

    def make_matrix(self, name, kind, globals_):
        v = [[integer(kind[0]) for _ in range(kind[2])] for _ in range(kind[1])]
        rows = [listed(said(kind[0], x) for x in row) for row in v]
        self.plain(name, "{ %s }" % ", ".join("{ %s }" % ", ".join(literal(kind[0], x) for x in row) for row in v), listed(rows))
        i, k = rng.randrange(kind[1]), rng.randrange(kind[2])
        self.paths += [("%s[%d]" % (name, i), rows[i]), ("%s[%d][%d]" % (name, i, k), said(kind[0], v[i][k]))]

    def make_enum(self, name, kind, globals_):
        v = hue()
        self.plain(name, v[0], v[0])

    def make_union(self, name, kind, globals_):
        v = rng.getrandbits(32)
        b = listed(str(v >> 8 * i & 255) for i in range(4))
        self.parts.append("{ .a = %du }" % v)
        self.paths += [(name + ".a", str(v)), (name + ".b", b)]
        self.shows.append((name, lambda level, left: "{a=%d,b=%s}" % (v, b) if level < LEVELS else "{...}"))

    def make_function(self, name, kind, globals_):
        n = rng.randrange(3)
        self.plain(name, "function%d" % n, "P <function%d>" % n)

    def make_struct(self, name, kind, globals_):
        inner = Value(kind, globals_)
        self.parts.append("{ %s }" % inner.text)
        self.paths += [(name + "." + path, text) for path, text in inner.paths]
        self.shows.append((name, inner.whole))

    def make_structs(self, name, kind, globals_):
        inner = [Value(kind[0], globals_) for _ in range(kind[1])]
        i = rng.randrange(kind[1])
        self.parts.append("{ %s }" % ", ".join("{ %s }" % v.text for v in inner))
        self.paths += [("%s[%d].%s" % (name, i, path), text) for path, text in inner[i].paths]
        self.shows.append((name, lambda level, left: listed(v.whole(level, left) for v in inner)))

    def make_pointer(self, name, kind, globals_):
        inner = Value(kind, globals_)
        globals_.append("static struct %s g%d = { %s };" % (kind.name, len(globals_), inner.text))
        self.parts.append("&g%d" % (len(globals_) - 1))
        self.paths += [(name + "->" + path, text) for path, text in inner.paths]
        target = "P <g%d>" % (len(globals_) - 1)
        self.shows.append((name, lambda level, left: target))


structs = []
for n in range(8):
    structs.append(Struct(n, structs[:]))
globals_, bodies, calls, specs, wanted = [], [], [], [], []
for n in range(functions):
    params, args, shows, reals = [], [], [], 0
    for i in range(rng.randint(1, 9)):
        name, what = "p%d" % i, rng.random()
        if what < .5:
            kind = rng.choice(SCALARS)
            v = integer(kind)
            params.append("%s %s" % (kind[0], name))
            args.append(literal(kind, v))
            shows.append((name, said(kind, v)))
        elif what < .55:
            v = real()
            params.append("double %s" % name)
            args.append(repr(v))
            if reals < 8:
                shows += [("farg%d" % reals, said_real(v)), compared("farg%d" % reals, v)]
            reals += 1
        elif what < .6:
            v = narrow()
            params.append("float %s" % name)
            args.append(repr(v) + "f")
            if reals < 8:
                shows += [("farg%d:f32" % reals, said_narrow(v)), compared("farg%d:f32" % reals, v)]
            reals += 1
        elif what < .7:
            params.append("enum hue %s" % name)
            v = hue()
            args.append(v[0])
            shows.append((name, v[0]))
        elif what < .8:
            params.append("const char *%s" % name)
            args.append('"text %d"' % n)
            shows.append((name, '"text %d"' % n))
        else:
            of = rng.choice(structs)
            value = Value(of, globals_)
            globals_.append("static struct %s g%d = { %s };" % (of.name, len(globals_), value.text))
            params.append("struct %s *%s" % (of.name, name))
            args.append("&g%d" % (len(globals_) - 1))
            shows += [("%s->%s" % (name, path), text) for path, text in value.paths]
            if of.size < 500:
                shows.append(("*" + name, value.whole(0, [FOLLOWS])))
    rng.shuffle(shows)
    shows = shows[:16]
    bodies.append("KEPT void f%d(%s) { __asm__ volatile(\"\" ::: \"memory\"); }" % (n, ", ".join(params)))
    calls.append("f%d(%s);" % (n, ", ".join(args)))
    if shows:
        specs.append("f%d(%s)" % (n, ", ".join("v%d=%s" % (i, path) for i, (path, text) in enumerate(shows))))
        wanted.append("f%d %s" % (n, " ".join("v%d=%s" % (i, text) for i, (path, text) in enumerate(shows))))
with open(to + "/random.c", "w") as f:
    f.write("#define KEPT __attribute__((noinline, noclone, noipa))\nenum hue { RED = 1, GREEN = 5, BLUE };\n")
    f.write("KEPT void function0(void) { }\nKEPT void function1(void) { }\nKEPT void function2(void) { }\n")
    f.write("\n".join([s.declare() for s in structs] + globals_ + bodies))
    f.write("\nint main(void)\n{\n\t%s\n\treturn 0;\n}\n" % "\n\t".join(calls))
with open(to + "/specs", "w") as f:
    f.write("\n".join(specs) + "\n")
with open(to + "/wanted", "w") as f:
    f.write("\n".join(wanted) + "\n")
