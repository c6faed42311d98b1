"""How a script starts: the code that an interpreter is told with `-c`."""

from __future__ import annotations

from ..registries.script_file import Script

# As `python FILE` does, which would read the file again; no name of its own is left behind.
_BE_THE_SCRIPT = """\
__file__ = __import__("sys").argv[2]
__import__("sys").path[0] = {folder}
exec(
    compile(open(__import__("sys").argv[1], "rb").read(), __file__, "exec", dont_inherit=True),
    (__import__("sys").argv.__delitem__(slice(0, 2)), globals())[1],
)
"""
_ITS_FOLDER = '__file__.rpartition("/")[0]'
# Where packages seem to be installed beside it, who asks which there are looks into the copy, too.
_THE_COPY = '__import__("sys").argv[1].rpartition("/")[0] + "/modules"'
# What is imported from the script's folder is looked for among the modules that were hashed: those
# are files there, and all else is linked. A folder of data alone would be a package, or stand in
# for a part of one that an import tries; a link can lead elsewhere in this process. Byte-compiled
# code, which is in no digest, is not believed either where the script puts a folder below its own
# on its path, or names the file of a module.
_FROM_THE_COPY = """\
def _(sys, importlib):
    copy, folder = (sys.argv[n].rpartition("/")[0] for n in (1, 2))
    copy += "/modules"
    find_in = sys.path_hooks[-1]
    def has_modules(folder):
        import os
        files = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
        return not os.path.islink(folder) and not all(map(os.path.islink, files))
    def hashed_in(path):
        if path == folder:
            path = copy
        if not (path + "/").startswith(copy + "/"):
            raise ImportError
        finder = find_in(path)
        find = finder.find_spec
        def find_spec(name, target=None):
            spec = find(name, target)
            if spec is None:
                return None
            if spec.loader is None:
                return spec if any(map(has_modules, spec.submodule_search_locations)) else None
            from os.path import realpath
            return spec if realpath(spec.origin).startswith(realpath(copy) + "/") else None
        finder.find_spec = find_spec
        return finder
    sys.path_hooks.insert(0, hashed_in)
    sys.path_importer_cache.pop(folder, None)
    inside = [p for p in (sys.prefix, sys.base_prefix) if p.startswith(folder + "/")]
    of_python = tuple(p + "/" for p in inside)
    stats_of = importlib.SourceFileLoader.path_stats
    def path_stats(self, path):
        if path.startswith(folder + "/") and not path.startswith(of_python):
            raise OSError("the source is read")
        return stats_of(self, path)
    importlib.SourceFileLoader.path_stats = path_stats
_(__import__("sys"), __import__("_frozen_importlib_external"))
del _
"""


def startup_code(script: Script, *, is_shown_the_copy: bool) -> str:
    """The code by which an interpreter is the script: its own copy of it, under the script's path.

    So that the bytes whose digest stands in the result are those that run, whatever becomes of
    the file meanwhile, and of the modules in its folder.
    """
    redirected = "" if script.modules is None else _FROM_THE_COPY
    folder = _THE_COPY if is_shown_the_copy else _ITS_FOLDER
    return redirected + _BE_THE_SCRIPT.format(folder=folder)
