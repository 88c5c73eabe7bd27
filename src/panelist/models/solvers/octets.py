"""Eight numbers at once: a type for compiled code that LLVM keeps in vector registers.

Loops over arrays become vector instructions where the compiler can prove that nothing overlaps, which in
loops over blocks and indices it seldom can. An octet says it outright. Arrays of octets are flat arrays of
floats; octet k lies at 8k … 8k + 7. Arithmetic is that of floats, number by number, so that no entry depends
on its neighbours or on its place.
"""

# mypy: disable-error-code="no-untyped-call"

import operator
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

WIDTH = 8


class _Octet(types.Type):
    def __init__(self) -> None:
        super().__init__(name="octet")


octet = _Octet()
_vector = ir.VectorType(ir.DoubleType(), WIDTH)
_longs = ir.VectorType(ir.IntType(64), WIDTH)


@register_model(_Octet)
class _OctetModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _vector)


def _spread(builder: Any, value: Any) -> Any:
    """Return a vector with the float in every place; vectors stay as they are."""
    if isinstance(value.type, ir.VectorType):
        return value
    one = builder.insert_element(ir.Constant(_vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(_vector, ir.Undefined), mask)


def _register(name: str, functions: tuple[Any, ...]) -> None:
    """Make the operators work between octets, and between an octet and a float."""
    pairs = ((octet, octet), (octet, types.float64), (types.float64, octet))

    class Template(ConcreteTemplate):
        cases: ClassVar[list[Any]] = [signature(octet, *pair) for pair in pairs]

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        left, right = (_spread(builder, arg) for arg in args)
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
    """Call LLVM's own function of this name on octets."""
    kind = ir.FunctionType(_vector, [_vector] * len(values))
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{WIDTH}f64")
    return builder.call(function, values)


def _place(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return a pointer to the octet at ``index`` of a flat array."""
    data = cgutils.create_struct_proxy(array_type)(context, builder, value=array).data
    first = builder.mul(index, ir.Constant(ir.IntType(64), WIDTH))
    return builder.bitcast(builder.gep(data, [first]), _vector.as_pointer())


def _type_load(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, sig.args[0], *args), align=8)

    return octet(array, types.int64), codegen


def _type_store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _place(context, builder, sig.args[0], *args[:2]), align=8)
        return context.get_dummy_value()

    return types.none(array, types.int64, octet), codegen


def _type_get(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).data
        return builder.load(builder.gep(data, [args[1]]))

    return array.dtype(array, types.int64), codegen


def _type_put(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).data
        builder.store(args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.none(array, types.int64, array.dtype), codegen


def _type_total(typingctx: Any, x: Any) -> Any:
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

    return types.float64(octet), codegen


def _type_spread(typingctx: Any, value: Any) -> Any:
    return octet(types.float64), lambda context, builder, sig, args: _spread(builder, args[0])


def _type_fma(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [_spread(builder, arg) for arg in args]
        return _call(builder, "fmuladd", values)

    return octet(*(kind if kind is octet else types.float64 for kind in (a, b, c))), codegen


def _type_where_less(typingctx: Any, a: Any, b: Any, one: Any, other: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        left, right, one, other = (_spread(builder, arg) for arg in args)
        return builder.select(builder.fcmp_ordered("<", left, right), one, other)

    kinds = (kind if kind is octet else types.float64 for kind in (a, b, one, other))
    return octet(*kinds), codegen


def _type_unary(name: str) -> Any:
    def typing(typingctx: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _call(builder, name, args)

        return octet(octet), codegen

    return typing


def _type_power(typingctx: Any, n: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        whole = builder.fptosi(args[0], _longs)
        biased = builder.add(whole, ir.Constant(_longs, [1023] * WIDTH))
        return builder.bitcast(builder.shl(biased, ir.Constant(_longs, [52] * WIDTH)), _vector)

    return octet(octet), codegen


load: Any = intrinsic(_type_load)  # load(array, index)
store: Any = intrinsic(_type_store)  # store(array, index, octet)
spread: Any = intrinsic(_type_spread)  # spread(float)
fma: Any = intrinsic(_type_fma)  # a·b + c, in one rounding where the machine can
where_less: Any = intrinsic(_type_where_less)  # where a < b the one, else the other
absolute: Any = intrinsic(_type_unary("fabs"))
root: Any = intrinsic(_type_unary("sqrt"))
total: Any = intrinsic(_type_total)  # the sum of the eight, as a float
rounded: Any = intrinsic(_type_unary("rint"))
two_to_the: Any = intrinsic(_type_power)  # 2ⁿ for whole n from −1022 to 1023

# Single numbers of a flat contiguous array, by an index that is not negative. Indexing proper would look
# whether it is, every time.
get: Any = intrinsic(_type_get)  # get(array, index)
put: Any = intrinsic(_type_put)  # put(array, index, number)


def octets(count: int) -> Any:
    """Return room for so many octets."""
    return np.empty(count * WIDTH)
