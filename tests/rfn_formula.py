"""Formulas of archives (refrain-archive(5), Formulas): a second implementation, for the tests' reader.

Unlike the tool's it makes a tree of the text first, and computes without limits: a number that 64 bits
do not hold has no value.
"""
import re

WORDS = re.compile(r"[ \t\n]*(0x[0-9a-fA-F]+|[0-9]+|[A-Za-z_]\w*|\|\||&&|[=!<>]=|<<|>>|[-+*/%&|^~!<>?:(),])"
                   r"|[ \t\n]*$", re.ASCII)
LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", "<=", ">", ">="], ["<<", ">>"],
          ["+", "-"], ["*", "/", "%"]]
SIGNS = {"-": lambda a: -a, "+": lambda a: a, "~": lambda a: ~a, "!": lambda a: int(not a)}
NULL, LONGEST, DEEPEST = -2, 1000, 64


class Malformed(Exception):
    """The text is no formula."""


class NoValue(Exception):
    """It has no value for this rank."""


def held(value):
    if not -1 << 63 <= value < 1 << 63:
        raise NoValue
    return value


def divided(a, b):
    if b == 0:
        raise NoValue
    return a // b, a % b


def shifted(a, by):
    if not 0 <= by <= 63:
        raise NoValue
    return a << by, a >> by


OPERATIONS = {
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b), "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b), ">": lambda a, b: int(a > b), ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: shifted(a, b)[0], ">>": lambda a, b: shifted(a, b)[1],
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: divided(a, b)[0], "%": lambda a, b: divided(a, b)[1]}


class Formula:
    def __init__(self, text):
        self.words, self.at, self.depth = [], 0, 0
        if len(text) > LONGEST:
            raise Malformed("too long")
        at = 0
        while at < len(text):
            found = WORDS.match(text, at)
            if not found:
                raise Malformed(f"character {at}")
            self.words += [found[1]] if found[1] else []
            at = found.end()
        self.tree = self.choice()
        if self.at < len(self.words):
            raise Malformed(f"word {self.at}")

    def next(self, *wanted):
        word = self.words[self.at] if self.at < len(self.words) else None
        if wanted and word not in wanted:
            return None
        self.at += 1
        return word

    def expect(self, word):
        if not self.next(word):
            raise Malformed(f"no {word}")

    def deeper(self, by):
        self.depth += by
        if self.depth > DEEPEST:
            raise Malformed("too deep")

    def choice(self):
        self.deeper(1)
        tree = self.level(0)
        if self.next("?"):
            yes = self.choice()
            self.expect(":")
            tree = ("?", tree, yes, self.choice())
        self.deeper(-1)
        return tree

    def level(self, number):
        if number == len(LEVELS):
            return self.sign()
        tree = self.level(number + 1)
        while word := self.next(*LEVELS[number]):
            tree = (word, tree, self.level(number + 1))
        return tree

    def sign(self):
        word = self.next(*SIGNS)
        if not word:
            return self.value()
        self.deeper(1)
        tree = ("sign", word, self.sign())
        self.deeper(-1)
        return tree

    def value(self):
        if self.next("("):
            tree = self.choice()
            self.expect(")")
            return tree
        word = self.next() or ""
        if word in ("r", "n", "null"):
            return word
        if word in ("min", "max"):
            self.expect("(")
            values = [self.choice()]
            self.expect(",")
            values.append(self.choice())
            while self.next(","):
                values.append(self.choice())
            self.expect(")")
            return (word, *values)
        if not word[:1].isdigit():
            raise Malformed(f"no value: {word}")
        if (number := int(word, 0 if word.startswith("0x") else 10)) >= 1 << 63:
            raise Malformed("beyond 64 bits")
        return number

    def __call__(self, r, n):
        """Raises NoValue."""
        names = {"r": r, "n": n, "null": NULL}

        def of(tree):
            if not isinstance(tree, tuple):
                return names.get(tree, tree)
            word = tree[0]
            if word == "?":
                return of(tree[2] if of(tree[1]) else tree[3])
            if word in ("&&", "||"):
                first = of(tree[1])
                decided = bool(first) == (word == "||")
                return int(bool(first if decided else of(tree[2])))
            if word == "sign":
                return held(SIGNS[tree[1]](of(tree[2])))
            values = [of(value) for value in tree[1:]]
            if word in ("min", "max"):
                return {"min": min, "max": max}[word](values)
            return held(OPERATIONS[word](*values))
        return of(self.tree)
