"""What the text of a script imports, as far as the text says so plainly.

What a script imports that is not found here is not there when it runs. It must not be found by
another way either: past the modules that were hashed, as a script can that changes where modules
are looked for, runs a text as code, or starts another process. Whose text may do that is in doubt.
"""

from __future__ import annotations

import re

# As many names as stand there: who finds too many imports asks for more to be pinned.
_IMPORTS = rb"(?m)(?:^|[;:])[ \t\f]*(?:lazy[ \t\f]+)?(?:import|from)\b((?:[^\n;\\]++|\\.|\\\n)*+)"
_NAME = rb"[A-Za-z_]\w*"
# In any word: each can find, make or run code.
_MACHINERY = (
    *(b"__import__", b"importlib", b"import_module", b"runpy", b"unittest", b"pkgutil"),
    *(b"zipimport", b"builtins", b"__loader__", b"__spec__", b"__subclasses__", b"__globals__"),
    *(b"__dict__", b"__getattribute__", b"__self__", b"__code__", b"__mro__", b"f_globals"),
    *(b"f_builtins", b"globals", b"ModuleType", b"CodeType", b"FunctionType", b"pickle", b"shelve"),
    *(b"marshal", b"joblib", b"doctest", b"codeop", b"ctypes", b"cffi", b"dlopen", b"load_library"),
    *(b"pydoc", b"timeit", b"runctx", b"get_type_hints", b"ForwardRef", b"attrgetter"),
    *(b"methodcaller", b"dictConfig", b"fileConfig", b"load_extension", b"unsafe_load"),
    *(b"sympify", b"jinja2", b"BaseConfigurator", b"path_importer_cache", b"_importer"),
    # Other processes, which look into the folder itself.
    *(b"multiprocessing", b"subprocess", b"concurrent", b"spawn", b"popen"),
)
# As names that are imported: elsewhere they are ordinary words.
_MODULES = {
    *(b"imp", b"site", b"code", b"pdb", b"bdb", b"cProfile", b"profile", b"trace", b"gc"),
    *(b"inspect", b"posix", b"pty", b"dill", b"pip", b"setuptools", b"distutils", b"pytest"),
    *(b"venv", b"ensurepip", b"idlelib", b"pyximport", b"cppyy", b"modulefinder", b"system"),
    *(b"webbrowser", b"singledispatch", b"singledispatchmethod", b"zipapp", b"nt"),
}
# What must stand in the text for the expression to be looked for.
_CALLS = (
    (b"eval", rb"\beval\b"),
    (b"exec", rb"\bexec(?:[lv]p?e?)?\b"),
    (b"compile", rb"(?<!\bre\.)\bcompile\b"),
    (b"system", rb"(?:\.[ \t]*|[\"'])system\b"),
    (b"locals", rb"\blocals\b"),
    (b"vars", rb"\bvars\b(?!\((?:args|arguments|options|namespace|self)\))"),
    # Of a name that does not stand there.
    (b"getattr", rb"\bgetattr\b(?!\([\w.]+, ?(?:\"\w+\"|'\w+')[,)])"),
)
_SYS = (
    rb"sys\b(?!\.(?:argv|exit|stdin|stdout|stderr|__stdout__|__stderr__|version|version_info"
    rb"|platform|maxsize|float_info|byteorder|getsizeof|setrecursionlimit|intern|maxunicode)\b)"
)
_PLAIN_IMPORT = rb"[\n;:][ \t\f]*import[ \t][\w., \t]*\Z"
_LONGEST_LINE = 200
_COOKIE = rb"coding[:=][ \t]*([-\w.]+)"
_PLAIN_ENCODINGS = (b"utf-8", b"utf8", b"ascii", b"us-ascii")


def imported(text: bytes) -> set[bytes] | None:
    """The names in the import statements of a text, and some more; None where it is in doubt.

    It takes time in proportion to the text.
    """
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = text.removeprefix(b"\xef\xbb\xbf")
    if any(word in text for word in _MACHINERY) or b"\0" in text:
        return None
    if any(word in text and re.search(expression, text) for word, expression in _CALLS):
        return None
    if _names_another_encoding(text) or _is_spelt_otherwise(text) or _uses_sys(text):
        return None
    names = set()
    for found in re.finditer(_IMPORTS, text):
        statement = found[1]
        # Such letters have more than one spelling, and what `*` stands for has none.
        if not statement.isascii() or b"*" in statement:
            return None
        names.update(re.findall(_NAME, statement))
    return None if names & _MODULES else names


def _names_another_encoding(text: bytes) -> bool:
    for line in text.split(b"\n", 2)[:2]:
        cookie = re.search(_COOKIE, line)
        if cookie and cookie[1].lower().replace(b"_", b"-") not in _PLAIN_ENCODINGS:
            return True
    return False


def _is_spelt_otherwise(text: bytes) -> bool:
    """Whether it has letters that Python takes for those of ASCII."""
    if text.isascii():
        return False
    # For weight: most scripts have none but ASCII.
    from unicodedata import normalize

    odd = {c for c in text.decode("utf-8", "replace") if c > "\x7f" and f"a{c}".isidentifier()}
    return any(c.isascii() for c in normalize("NFKC", "".join(sorted(odd))))


def _uses_sys(text: bytes) -> bool:
    """Whether it has more of `sys` than what says nothing of modules."""
    text = b"\n" + text
    for found in re.finditer(_SYS, text):
        before = text[max(0, found.start() - _LONGEST_LINE) : found.start()]
        after = text[found.end() : found.end() + 1]
        if after not in (b"", b"\n", b",", b";") or not re.search(_PLAIN_IMPORT, before):
            return True
    return False
