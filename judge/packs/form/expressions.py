"""Parses and evaluates arithmetic expressions over a case's axes and parameters, such as ``2*M*N*K``.

``challenge.toml`` uses them for shapes, scalar values, bytes, flops and numbers of terms. They consist of numbers,
names, ``+ - * / // % **``, unary minus and the functions ``min``, ``max`` and ``ceil_div``. A constraint compares them:
``K % group == 0``, ``1 <= k <= N``. The loader refuses anything else, so that evaluating an expression can do nothing
but compute a number.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

from records import dataclass

Number = int | float

_MAX_EXPONENT = 64

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}

_COMPARISONS: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip

_FUNCTIONS: dict[str, Callable[..., Number]] = {"min": min, "max": max, "ceil_div": lambda a, b: -(-a // b)}


class ExpressionError(ValueError):
    """A text that is not an expression, names something unknown, or has no value."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression; ``names`` are the variables in it. Make one with :func:`parse_expression`."""

    text: str
    names: frozenset[str]
    _body: ast.expr = field(repr=False, compare=False)

    def evaluate(self, variables: Mapping[str, Number]) -> Number:
        """Returns its value. Raises ExpressionError for a missing name or arithmetic without a result."""
        try:
            return _evaluate(self._body, variables)
        except KeyError as error:
            raise ExpressionError(f"'{self.text}': {error.args[0]} has no value") from None
        except (ArithmeticError, ValueError, TypeError) as error:
            raise ExpressionError(f"'{self.text}': {error}") from None

    def evaluate_int(self, variables: Mapping[str, Number]) -> int:
        """Returns its value. Raises ExpressionError unless it is a whole number."""
        value = self.evaluate(variables)
        if value != int(value):
            raise ExpressionError(f"'{self.text}' is {value}, not a whole number")
        return int(value)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A comparison of two or more expressions. Make one with :func:`parse_constraint`."""

    text: str
    sides: tuple[Expression, ...]
    _comparisons: tuple[type[ast.cmpop], ...] = field(repr=False)

    @property
    def names(self) -> frozenset[str]:
        """The variables in it."""
        return frozenset().union(*(side.names for side in self.sides))

    def pairs(self) -> Iterator[tuple[Expression, str, Expression]]:
        """Yields each two neighboring sides with the sign between them, such as ``<=``."""
        signs = [_SIGNS[comparison] for comparison in self._comparisons]
        yield from zip(self.sides, signs, self.sides[1:], strict=False)

    def holds(self, variables: Mapping[str, Number]) -> bool:
        """Returns whether each side compares with the next as it should. Raises ExpressionError."""
        values = [side.evaluate(variables) for side in self.sides]
        pairs = zip(self._comparisons, values, values[1:], strict=False)
        return all(_COMPARISONS[comparison](left, right) for comparison, left, right in pairs)


@functools.lru_cache(maxsize=4096)
def parse_expression(text: str | int | float) -> Expression:
    """Parses ``text``. Raises ExpressionError with what is not allowed."""
    source = str(text)
    return _expression(_parse(source), source)


def parse_constraint(text: str) -> Constraint:
    """Parses ``text``. Raises ExpressionError with what is not allowed."""
    match _parse(text):
        case ast.Compare(left=left, ops=operators, comparators=right) if all(
            type(each) in _COMPARISONS for each in operators
        ):
            sides = tuple(_expression(side, ast.unparse(side)) for side in (left, *right))
            return Constraint(text, sides, tuple(type(each) for each in operators))
    raise ExpressionError(f"'{text}' compares nothing; write a comparison such as K % group == 0 or k <= N")


def _parse(source: str) -> ast.expr:
    try:
        return ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"'{source}' is not an expression") from None


def _expression(body: ast.expr, source: str) -> Expression:
    names: set[str] = set()
    _check(body, source, names)
    return Expression(source, frozenset(names), body)


def _check(node: ast.expr, source: str, names: set[str]) -> None:
    match node:
        case ast.Constant(value=bool()):
            raise ExpressionError(f"'{source}': True and False are not numbers here")
        case ast.Constant(value=int() | float()):
            return
        case ast.Name(id=name):
            names.add(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, source, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left, source, names)
            _check(right, source, names)
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]) if function in _FUNCTIONS:
            if len(arguments) < 2 or (function == "ceil_div" and len(arguments) != 2):
                raise ExpressionError(
                    f"'{source}': {function} takes {'two' if function == 'ceil_div' else 'at least two'} numbers"
                )
            for argument in arguments:
                _check(argument, source, names)
        case _:
            raise ExpressionError(
                f"'{source}': only numbers, axes, + - * / // % ** and {', '.join(sorted(_FUNCTIONS))} may be used"
            )


def _evaluate(node: ast.expr, variables: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            return variables[name]
        case ast.UnaryOp(operand=operand):
            return -_evaluate(operand, variables)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _evaluate(left, variables), _evaluate(right, variables)
            if isinstance(op, ast.Pow) and abs(b) > _MAX_EXPONENT:
                raise ValueError(f"an exponent of {b} is too large")
            return _BINARY[type(op)](a, b)
        case ast.Call(func=ast.Name(id=function), args=arguments):
            return _FUNCTIONS[function](*(_evaluate(argument, variables) for argument in arguments))
        case _:
            raise AssertionError(f"unchecked node {node!r}")
