#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A C program with functions of random parameters, and what a trace of them has to say:
# random-values.py SEED FUNCTIONS DIR. Writes DIR/random.c, DIR/specs, one a line, and DIR/wanted,
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
    """One with fields, of which some are arrays, strings, enumerations, structs or pointers to them."""

    def __init__(self, n, others):
        self.name = "s%d" % n
        self.fields = []
        for i in range(rng.randint(1, 7)):
            what = rng.random()
            field = "f%d" % i
            if what < .55:
                self.fields.append((field, "scalar", rng.choice(SCALARS)))
            elif what < .65:
                self.fields.append((field, "real", None))
            elif what < .75:
                self.fields.append((field, "string", None))
            elif what < .85:
                self.fields.append((field, "array", (rng.choice(SCALARS[3:7]), rng.randint(1, 5))))
            elif what < .9:
                self.fields.append((field, "enum", None))
            elif others:
                self.fields.append((field, rng.choice(["struct", "pointer"]), rng.choice(others)))

    def declare(self):
        lines = []
        for name, what, of in self.fields:
            lines.append({"scalar": lambda: "%s %s;" % (of[0], name),
                          "real": lambda: "double %s;" % name,
                          "string": lambda: "const char *%s;" % name,
                          "array": lambda: "%s %s[%d];" % (of[0][0], name, of[1]),
                          "enum": lambda: "enum hue %s;" % name,
                          "struct": lambda: "struct %s %s;" % (of.name, name),
                          "pointer": lambda: "struct %s *%s;" % (of.name, name)}[what]())
        return "struct %s { %s };" % (self.name, " ".join(lines) or "int none;")


class Value:
    """A value of a struct: its initializer, and the paths to what is in it, with what is said of each."""

    def __init__(self, of, globals_, depth):
        parts, self.paths = [], []
        for name, what, kind in of.fields:
            if what == "scalar":
                v = integer(kind)
                parts.append(literal(kind, v))
                self.paths.append((name, said(kind, v)))
            elif what == "real":
                v = real()
                parts.append(repr(v))
                self.paths.append((name, said_real(v)))
            elif what == "string":
                v = rng.choice(["", "a", "some text", "x" * 40])
                parts.append('"%s"' % v)
                self.paths.append((name, '"%s"' % v))
            elif what == "array":
                v = [integer(kind[0]) for _ in range(kind[1])]
                parts.append("{ %s }" % ", ".join(literal(kind[0], x) for x in v))
                self.paths.append((name, "{%s}" % ",".join(said(kind[0], x) for x in v)))
                i = rng.randrange(kind[1])
                self.paths.append(("%s[%d]" % (name, i), said(kind[0], v[i])))
            elif what == "enum":
                v = rng.choice([("RED", 1), ("GREEN", 5), ("BLUE", 6)])
                parts.append(v[0])
                self.paths.append((name, v[0]))
            else:
                inner = Value(kind, globals_, depth + 1)
                dot = "->" if what == "pointer" else "."
                self.paths += [(name + dot + path, text) for path, text in inner.paths]
                if what == "pointer":
                    globals_.append("static struct %s g%d = { %s };" % (kind.name, len(globals_), inner.text))
                    parts.append("&g%d" % (len(globals_) - 1))
                else:
                    parts.append("{ %s }" % inner.text)
        self.text = ", ".join(parts) or "0"


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
            v = rng.choice([("RED", 1), ("GREEN", 5), ("BLUE", 6)])
            args.append(v[0])
            shows.append((name, v[0]))
        elif what < .8:
            params.append("const char *%s" % name)
            args.append('"text %d"' % n)
            shows.append((name, '"text %d"' % n))
        else:
            of = rng.choice(structs)
            value = Value(of, globals_, 0)
            globals_.append("static struct %s g%d = { %s };" % (of.name, len(globals_), value.text))
            params.append("struct %s *%s" % (of.name, name))
            args.append("&g%d" % (len(globals_) - 1))
            shows += [("%s->%s" % (name, path), text) for path, text in value.paths]
    rng.shuffle(shows)
    shows = shows[:16]
    bodies.append("KEPT void f%d(%s) { __asm__ volatile(\"\" ::: \"memory\"); }" % (n, ", ".join(params)))
    calls.append("f%d(%s);" % (n, ", ".join(args)))
    if shows:
        specs.append("f%d(%s)" % (n, ", ".join("v%d=%s" % (i, path) for i, (path, text) in enumerate(shows))))
        wanted.append("f%d %s" % (n, " ".join("v%d=%s" % (i, text) for i, (path, text) in enumerate(shows))))
with open(to + "/random.c", "w") as f:
    f.write("#define KEPT __attribute__((noinline, noclone, noipa))\nenum hue { RED = 1, GREEN = 5, BLUE };\n")
    f.write("\n".join([s.declare() for s in structs] + globals_ + bodies))
    f.write("\nint main(void)\n{\n\t%s\n\treturn 0;\n}\n" % "\n\t".join(calls))
with open(to + "/specs", "w") as f:
    f.write("\n".join(specs) + "\n")
with open(to + "/wanted", "w") as f:
    f.write("\n".join(wanted) + "\n")
