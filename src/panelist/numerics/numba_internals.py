"""Everything that touches private parts of numba.

It makes the first fit shorter by a third, and is applied only with versions of numba that it was tested with.
With another, or where the environment has ``PANELIST_PLAIN_NUMBA``, numba compiles, caches and loads as
usual: the same numbers, after a longer wait.

*Inner kernels.* numba optimises every compiled function and translates it into machine code on its own, and
once more inside each function that calls it; and it writes code for Python to call it, which takes apart
every array of every tuple. For a function that only compiled functions call all this is thrown away. So
libraries of such functions, known by their name, are neither optimised nor translated by themselves, but
handed to their callers as they are.

*The cache.* numba stamps a cached function with its own source file alone, although the compiled form has in
it the functions it calls, from other files: after a change there the old code would still run. So every
kernel is stamped with a digest of all sources. And before numba loads a compiled function from disk, it loads
all that it would need to compile one, which took a seventh of a second of every command that fits a model;
then it reads the code a second time, in the form that others can be compiled from, which took as long again.

*Processes that only compile* skip work whose results are discarded (`hasten_numba`).
"""

import os
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, cast

import numba
from numba import njit
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature

__all__ = [
    "ConcreteTemplate",
    "cgutils",
    "infer_global",
    "signature",
]  # for simd: numba's own extensions use them

TESTED = ("0.68",)  # a version is added here after a run of the whole suite
_PREFIX = "panelist inner kernel "
_NAMED = "object with its names"


@cache
def is_tuned() -> bool:
    """Return whether this version of numba was tested, and plain numba was not asked for."""
    version = ".".join(numba.__version__.split(".")[:2])
    return version in TESTED and not os.environ.get("PANELIST_PLAIN_NUMBA")


def compile_inner(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a function for other compiled functions to call; Python may not, unless numba is plain."""
    if not is_tuned():
        return njit(**options)(function)
    _spare_inner_kernels()
    name = f"{function.__module__}.{function.__name__}"
    function.__qualname__ = _PREFIX + name  # numba names the library by it
    options = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: Any = njit(**options)(function)

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise TypeError(f"{name} is an inner kernel, which only compiled functions can call.")

    # There is no form that Python can call: what is compiled is kept out of the table of its calls.
    compiled._insert = lambda *args, **kwargs: None
    compiled._compile_for_args = refuse
    return compiled


@cache
def _spare_inner_kernels() -> None:
    """Let libraries of inner kernels be linked without being optimised and translated first."""
    from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen

    library: Any = CPUCodeLibrary
    codegen: Any = JITCPUCodegen
    optimise, translate = library._optimize_final_module, library._finalize_final_module
    set_environment = codegen.set_env

    def optimise_final(self: Any) -> None:
        if not self.name.startswith(_PREFIX):
            optimise(self)

    def finish(self: Any) -> None:
        if self.name.startswith(_PREFIX):
            self._finalized = True
        else:
            translate(self)

    def set_known_environment(self: Any, name: str, environment: Any) -> None:
        # What is not translated has no address to set. Compiled code looks there for Python objects alone.
        if self._engine.is_symbol_defined(name):
            set_environment(self, name, environment)

    library._optimize_final_module, library._finalize_final_module = optimise_final, finish
    codegen.set_env = set_known_environment


def stamp_cache(compiled: Any, stamp: Callable[[], str]) -> None:
    """Let what is on disk count only where it has this stamp, and load it without preparing to compile."""
    if not is_tuned():
        return
    from numba.core.runtime.nrt import rtsys

    _load_with_names()
    kept, file = compiled._cache, compiled._cache._cache_file
    kept._impl.reduce = _save_with_names
    file._source_stamp = stamp()  # not the time of a file, which a copy of the folder does not keep
    # numba looks at the version before it reads on: what other sources made may name classes that are gone.
    file._version = f"{file._version} {stamp()}"
    load = kept._load_overload

    def load_overload(signature: Any, target: Any) -> Any:
        rtsys.initialize(target)  # compiled code asks it for memory
        with kept._guard_against_spurious_io_errors():
            return load(signature, target)

    kept.load_overload = load_overload


def _save_with_names(result: Any) -> tuple[Any, ...]:
    """Return what is saved of a compiled function: as usual, and the names that it defines.

    With these it is called without reading what other functions would be compiled from, which is two thirds
    of the file.
    """
    (name, _, data), *others = result._reduce()
    module = result.library._get_module_for_linking()
    every = (value for values in (module.functions, module.global_variables) for value in values)
    return (name, _NAMED, (*data, {value.name for value in every if not value.is_declaration})), *others


@cache
def _load_with_names() -> None:
    """Let numba load what was saved with names."""
    from llvmlite.binding import parse_bitcode
    from numba.core.codegen import CPUCodeLibrary

    library: Any = CPUCodeLibrary
    load, find_module = library._unserialize.__func__, library._get_module_for_linking

    def load_named(cls: Any, codegen: Any, state: tuple[str, str, Any]) -> Any:
        name, kind, data = state
        if kind != _NAMED:
            return load(cls, codegen, state)
        machine_code, for_linking, names = data
        loaded = codegen.create_library(name)
        loaded.enable_object_caching()
        loaded._set_compiled_object(machine_code)
        loaded._finalize_final_module()
        loaded._for_linking = for_linking
        codegen._engine._defined_symbols |= names
        return loaded

    def find_loaded_module(self: Any) -> Any:
        if self._shared_module is None and hasattr(self, "_for_linking"):
            self._shared_module = parse_bitcode(self._for_linking)
        return find_module(self)

    library._unserialize, library._get_module_for_linking = classmethod(load_named), find_loaded_module


def find_cache_file(compiled: Any) -> Any:
    """Return numba's own object for the compiled form on disk, None where nothing can be written."""
    return getattr(getattr(compiled, "_cache", None), "_cache_file", None)


def is_on_disk(compiled: Any) -> bool:
    """Return whether a compiled form of the present sources is on disk."""
    file = find_cache_file(compiled)
    return bool(file is not None and file._load_index())


def hasten_numba() -> None:
    """Skip work of numba whose results are discarded. Only for processes that compile: it changes numba
    itself, but not the code that numba makes. (mypy takes no method for another, hence setattr.)
    """
    if is_tuned():
        _compare_settings_at_once()
        _remember_types_of_calls()
        _list_variables_quickly()
        _copy_no_scopes()
        _find_lifetimes_where_asked()
        _load_registries_once()
        _count_only_references()


def _compare_settings_at_once() -> None:
    """Settings are compared at every step, one option at a time."""
    from numba.core.targetconfig import TargetConfig

    def list_values(self: Any) -> dict[str, Any]:
        given = self._values
        return {name: given.get(name, option.default) for name, option in self.options.items()}

    setattr(TargetConfig, "values", list_values)  # noqa: B010


def _remember_types_of_calls() -> None:
    """Which of dozens of rules gives the type of a sum of two numbers is asked at every sum, and a message
    composed for each rule that does not.
    """
    from numba.core import types

    plain, known = (types.Number, types.Boolean, types.Literal, types.Array), dict[Any, Any]()
    resolve: Any = types.Function.get_call_type

    def resolve_once(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(arg, plain) for arg in args):
            return resolve(self, context, args, kws)
        key = (self, args)
        if key not in known:
            found = resolve(self, context, args, kws)
            known[key] = found, self._impl_keys[found.args]
        found, self._impl_keys[known[key][0].args] = known[key]
        return found

    setattr(types.Function, "get_call_type", resolve_once)  # noqa: B010


def _list_variables_quickly() -> None:
    """The variables of a statement are listed half a million times, by taking apart whatever it holds."""
    from numba.core import ir

    leaves = {int, str, float, bool, type(None), ir.Loc}

    def collect(values: Iterable[Any], found: list[Any]) -> None:
        for value in values:
            kind = type(value)
            if kind is ir.Var:
                found.append(value)
            elif kind in leaves:
                continue
            elif kind is ir.Expr:
                collect(value._kws.values(), found)
            elif isinstance(value, ir.Inst):
                found.extend(value.list_vars())  # type: ignore[no-untyped-call]
            elif isinstance(value, list | tuple):
                collect(value, found)
            elif isinstance(value, dict):
                collect(value.values(), found)
            elif isinstance(value, ir.Var):
                found.append(value)
            else:
                leaves.add(kind)

    def list_vars(self: Any, value: Any) -> list[Any]:
        found: list[Any] = []
        collect((value,), found)
        return found

    setattr(ir.Inst, "_rec_list_vars", list_vars)  # noqa: B010


def _copy_no_scopes() -> None:
    """A function that is pasted into its caller is copied block by block, each with the names of all its
    variables and with its places in the source; but it was read for this one caller.
    """
    from numba.core import ir

    for kind in (ir.Scope, ir.Loc):
        setattr(kind, "__deepcopy__", lambda self, memo: self)  # noqa: B010


def _find_lifetimes_where_asked() -> None:
    """How long each variable lives is found out after every pass, for generators and for code with Python
    objects; other functions need it once, before the last pass.
    """
    from numba.core.postproc import PostProcessor, VariableLifetime
    from numba.core.transforms import canonicalize_cfg

    run, order, lifetime = cast(Any, (PostProcessor.run, canonicalize_cfg, VariableLifetime))

    def run_lazily(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        code = self.func_ir
        if code.is_generator:
            run(self, emit_dels, extend_lifetimes)
            return
        code.blocks = order(code.blocks)
        code.variable_lifetime, code.generator_info = lifetime(code.blocks), None
        if emit_dels:
            self._insert_var_dels(extend_lifetimes=extend_lifetimes)

    setattr(PostProcessor, "run", run_lazily)  # noqa: B010


def _load_registries_once() -> None:
    """Registries of functions that only numba fills are looked through for new ones at every new function."""
    from numba.core.cpu import CPUContext

    load: Any = CPUContext.load_additional_registries
    loaded: set[Any] = set()

    def load_once(self: Any) -> None:
        if self not in loaded:
            loaded.add(self)
            load(self)

    setattr(CPUContext, "load_additional_registries", load_once)  # noqa: B010


def _count_only_references() -> None:
    """To count a reference to a tuple every number in it was taken out, down to the shapes of its arrays: a
    third of all instructions, which LLVM then discarded.
    """
    from numba.core.runtime.context import NRTContext

    counted = dict[Any, bool]()

    def get_meminfos(self: Any, builder: Any, kind: Any, value: Any) -> list[Any]:
        models = self._context.data_model_manager
        model, found = models[kind], []
        if model.has_nrt_meminfo():
            found.append((kind, model.get_nrt_meminfo(builder, value)))
        for inner, take in model.traverse(builder):
            if inner not in counted:
                counted[inner] = models[inner].contains_nrt_meminfo()
            if counted[inner]:
                found += self.get_meminfos(builder, inner, take(value))
        return found

    setattr(NRTContext, "get_meminfos", get_meminfos)  # noqa: B010
