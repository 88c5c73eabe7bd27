"""Eight numbers at once: a type for compiled code that LLVM keeps in vector registers.

Loops over arrays become vector instructions where the compiler can prove that nothing overlaps, which in
loops over blocks and indices it seldom can. The type f64x8 states it explicitly. Arithmetic is that of
floats, number by number, so that no entry depends on its neighbours or on its place.

An algorithm is written once for single numbers and for eight at once. A flat array holds single numbers, an
array of shape (n, 8) one f64x8 in each row; ``get``, ``put`` and what is calculated with them have the type
of the array's *elements*, and numba compiles the algorithm separately for each. ``load`` and ``store`` are
for vectors along a row instead: from a flat array they take the numbers 8k … 8k + 7, from an array of f64x8
row k.
"""

# mypy: disable-error-code="no-untyped-call"

import operator
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model

from panelist.numerics.numba_internals import ConcreteTemplate, cgutils, infer_global, signature

WIDTH = 8


class _F64x8(types.Type):
    def __init__(self) -> None:
        super().__init__(name="f64x8")


f64x8 = _F64x8()
_vector = ir.VectorType(ir.DoubleType(), WIDTH)
_longs = ir.VectorType(ir.IntType(64), WIDTH)


@register_model(_F64x8)
class _F64x8Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _vector)


def _broadcast(builder: Any, value: Any) -> Any:
    """Return a vector with the float in every place; vectors stay as they are."""
    if isinstance(value.type, ir.VectorType):
        return value
    one = builder.insert_element(ir.Constant(_vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(_vector, ir.Undefined), mask)


def _register(name: str, functions: tuple[Any, ...]) -> None:
    """Make the operators work between vectors, and between a vector and a float."""
    pairs = ((f64x8, f64x8), (f64x8, types.float64), (types.float64, f64x8))

    class Template(ConcreteTemplate):
        cases: ClassVar[list[Any]] = [signature(f64x8, *pair) for pair in pairs]

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        left, right = (_broadcast(builder, arg) for arg in args)
        return getattr(builder, name)(left, right)

    for function in functions:
        infer_global(function)(type(f"_{function.__name__}", (Template,), {}))
        for pair in pairs:
            lower_builtin(function, *pair)(lower)


_register("fadd", (operator.add, operator.iadd))
_register("fsub", (operator.sub, operator.isub))
_register("fmul", (operator.mul, operator.imul))
_register("fdiv", (operator.truediv, operator.itruediv))


def _call(builder: Any, name: str, values: Any) -> Any:
    """Call LLVM's own function of this name, on floats or vectors."""
    element = values[0].type
    suffix = f"v{WIDTH}f64" if isinstance(element, ir.VectorType) else "f64"
    kind = ir.FunctionType(element, [element] * len(values))
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.{suffix}")
    return builder.call(function, values)


def _place(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return a pointer to the f64x8 at ``index`` of a flat array."""
    data = cgutils.create_struct_proxy(array_type)(context, builder, value=array).data
    first = builder.mul(index, ir.Constant(ir.IntType(64), WIDTH))
    return builder.bitcast(builder.gep(data, [first]), _vector.as_pointer())


def _type_load(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, sig.args[0], *args), align=8)

    return f64x8(array, types.int64), codegen


def _type_store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _place(context, builder, sig.args[0], *args[:2]), align=8)
        return context.get_dummy_value()

    return types.none(array, types.int64, f64x8), codegen


def _element(array: Any) -> Any:
    """Return the type of what one index of the array stands for."""
    return f64x8 if array.ndim == 2 else array.dtype


def _type_get(typingctx: Any, array: Any, index: Any) -> Any:
    if array.ndim == 2:
        return _type_load(typingctx, array, index)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).data
        return builder.load(builder.gep(data, [args[1]]))

    return array.dtype(array, types.int64), codegen


def _type_put(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    if array.ndim == 2:
        return _type_store(typingctx, array, index, value)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).data
        builder.store(args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.none(array, types.int64, array.dtype), codegen


def _type_constant(typingctx: Any, array: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _broadcast(builder, args[1]) if sig.return_type is f64x8 else args[1]

    return _element(array)(array, types.float64), codegen


def _type_per_vector(typingctx: Any, array: Any) -> Any:
    count = 1 if array.ndim == 2 else WIDTH

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.Constant(ir.IntType(64), count)

    return types.int64(array), codegen


def _type_fold(typingctx: Any, array: Any, x: Any) -> Any:
    _, sum_up = _type_hsum(typingctx, x)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return args[1] if sig.return_type is f64x8 else sum_up(context, builder, sig, args[1:])

    return _element(array)(array, f64x8), codegen


def _type_hsum(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        total, width = args[0], WIDTH
        while width > 1:  # halves added to halves
            width //= 2
            kind = ir.VectorType(ir.IntType(32), width)
            low, high = (
                builder.shuffle_vector(total, total, ir.Constant(kind, list(range(first, first + width))))
                for first in (0, width)
            )
            total = builder.fadd(low, high)
        return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))

    return types.float64(f64x8), codegen


def _type_broadcast(typingctx: Any, value: Any) -> Any:
    return f64x8(types.float64), lambda context, builder, sig, args: _broadcast(builder, args[0])


def _type_fma(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vectors = sig.return_type is f64x8
        return _call(builder, "fmuladd", [_broadcast(builder, arg) if vectors else arg for arg in args])

    kinds = [kind if kind is f64x8 else types.float64 for kind in (a, b, c)]
    return (f64x8 if f64x8 in kinds else types.float64)(*kinds), codegen


def _type_where_less(typingctx: Any, a: Any, b: Any, one: Any, other: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        left, right, one, other = (_broadcast(builder, arg) for arg in args)
        return builder.select(builder.fcmp_ordered("<", left, right), one, other)

    kinds = (kind if kind is f64x8 else types.float64 for kind in (a, b, one, other))
    return f64x8(*kinds), codegen


def _type_unary(name: str) -> Any:
    def typing(typingctx: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _call(builder, name, args)

        kind = x if x is f64x8 else types.float64
        return kind(kind), codegen

    return typing


def _type_exp2(typingctx: Any, n: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        whole = builder.fptosi(args[0], _longs)
        biased = builder.add(whole, ir.Constant(_longs, [1023] * WIDTH))
        return builder.bitcast(builder.shl(biased, ir.Constant(_longs, [52] * WIDTH)), _vector)

    return f64x8(f64x8), codegen


load: Any = intrinsic(_type_load)  # load(array, index)
store: Any = intrinsic(_type_store)  # store(array, index, f64x8)
broadcast: Any = intrinsic(_type_broadcast)  # broadcast(float)
fma: Any = intrinsic(_type_fma)  # a·b + c, in one rounding where the machine can
where_less: Any = intrinsic(_type_where_less)  # where a < b the one, else the other
absolute: Any = intrinsic(_type_unary("fabs"))
sqrt: Any = intrinsic(_type_unary("sqrt"))
hsum: Any = intrinsic(_type_hsum)  # the sum of the eight, as a float
rint: Any = intrinsic(_type_unary("rint"))
exp2: Any = intrinsic(_type_exp2)  # 2ⁿ for whole n from −1022 to 1023

# Elements of an array, by an index that is not negative. Ordinary indexing would check that every time.
get: Any = intrinsic(_type_get)  # get(array, index)
put: Any = intrinsic(_type_put)  # put(array, index, element)
constant: Any = intrinsic(_type_constant)  # constant(array, float): the float, as an element of the array
per_vector: Any = intrinsic(_type_per_vector)  # per_vector(array): the elements that `load` takes at once
fold: Any = intrinsic(_type_fold)  # fold(array, f64x8): what `load` took, summed into one element


def empty_f64x8(count: int) -> Any:
    """Return an array for this many f64x8."""
    return np.empty((count, WIDTH))
