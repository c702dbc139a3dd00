"""`dataclass`, `field` and `replace` for commands that start in a blink.

The standard module generates the methods of every class when the class is made: half of the time
that `hvr validate` would need for a small plan. Here a method is generated when it is first
called. The result is the same in everything else, the functions of the standard module work on
it, and type checkers see the standard module.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    _FIELDS = "__dataclass_fields__"
    _OWN = "__lazy_fields__"
    _MISSING = object()
    _ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}

    class _Field:
        """What is to know of a field."""

        __slots__ = ("compare", "default", "factory", "kw_only", "repr", "type")

        def __init__(self, default, factory, repr, compare, kw_only):
            self.default = default
            self.factory = factory
            self.repr = repr
            self.compare = compare
            self.kw_only = kw_only
            self.type = None

    def field(
        *,
        default=_MISSING,
        default_factory=_MISSING,
        repr=True,
        compare=True,
        kw_only=_MISSING,
    ):
        """Describe a field; see `dataclasses.field`."""
        return _Field(default, default_factory, repr, compare, kw_only)

    def replace(value, /, **changes):
        """Return a copy with other values for some fields; see `dataclasses.replace`."""
        fields = getattr(value, _OWN, None)
        if fields is None:
            import dataclasses

            return dataclasses.replace(value, **changes)
        for name in fields:
            if name not in changes:
                changes[name] = getattr(value, name)
        return type(value)(**changes)

    def dataclass(cls=None, /, *, frozen=False, slots=False, order=False, kw_only=False):
        """Make a class a dataclass; see `dataclasses.dataclass`."""
        if cls is None:
            return lambda given: _dataclass(given, frozen, slots, order, kw_only)
        return _dataclass(cls, frozen, slots, order, kw_only)

    def _dataclass(cls, frozen, slots, order, kw_only):
        own = _own_fields(cls, kw_only)
        fields = {}
        for base in cls.__mro__[-1:0:-1]:
            if _OWN in base.__dict__:
                fields.update(base.__dict__[_OWN])
            elif _FIELDS in base.__dict__:
                raise TypeError(f"{cls.__name__}: {base.__name__} is a standard dataclass")
        fields.update(own)
        for name, described in own.items():
            if described.default is not _MISSING and not slots:
                setattr(cls, name, described.default)
            elif name in cls.__dict__:
                delattr(cls, name)
        if slots:
            cls = _with_slots(cls, own)
        cls.__lazy_fields__ = fields
        cls.__dataclass_fields__ = _Standard(_FIELDS, frozen)
        cls.__dataclass_params__ = _Standard("__dataclass_params__", frozen)
        cls.__replace__ = replace
        if "__match_args__" not in cls.__dict__:
            cls.__match_args__ = tuple(n for n, f in fields.items() if not f.kw_only)
        _add_methods(cls, frozen, slots, order)
        return cls

    def _own_fields(cls, kw_only):
        own = {}
        for name, kind in cls.__annotations__.items():
            if str(kind).startswith(("ClassVar", "typing.ClassVar")):
                continue
            given = cls.__dict__.get(name, _MISSING)
            if slots_member(given):
                given = _MISSING
            if not isinstance(given, _Field):
                given = _Field(given, _MISSING, True, True, kw_only)
            elif given.kw_only is _MISSING:
                given.kw_only = kw_only
            given.type = kind
            own[name] = given
        return own

    def slots_member(value):
        """Say whether a class attribute is the descriptor of a slot, no default."""
        return type(value).__name__ == "member_descriptor"

    def _with_slots(cls, own):
        inherited = {slot for base in cls.__mro__[1:-1] for slot in getattr(base, "__slots__", ())}
        namespace = dict(cls.__dict__)
        namespace["__slots__"] = tuple(name for name in own if name not in inherited)
        for name in ("__dict__", "__weakref__"):
            namespace.pop(name, None)
        made = type(cls)(cls.__name__, cls.__bases__, namespace)
        made.__qualname__ = cls.__qualname__
        return made

    def _add_methods(cls, frozen, slots, order):
        given = cls.__dict__
        explicit_eq = "__eq__" in given
        # A class with an `__eq__` of its own has `__hash__ = None` without having said so.
        explicit_hash = "__hash__" in given and not (given["__hash__"] is None and explicit_eq)
        _generate_later(cls, "__init__", _init)
        if not explicit_eq:
            _generate_later(cls, "__eq__", _eq)
        if not explicit_hash:
            if frozen:
                _generate_later(cls, "__hash__", _hash)
            else:
                cls.__hash__ = None
        if "__repr__" not in given:
            cls.__repr__ = _repr
        if order:
            for name in _ORDER:
                _generate_later(cls, name, _ordering)
        if frozen:
            cls.__setattr__ = _refuse_set
            cls.__delattr__ = _refuse_delete
            if slots:
                cls.__getstate__ = given.get("__getstate__", _getstate)
                cls.__setstate__ = given.get("__setstate__", _setstate)
        cls.__frozen__ = frozen

    def _generate_later(cls, name, generate):
        def stub(self, *args, **kwargs):
            method = generate(cls, name)
            method.__qualname__ = f"{cls.__qualname__}.{name}"
            method.__module__ = cls.__module__
            setattr(cls, name, method)
            return method(self, *args, **kwargs)

        stub.__name__ = name
        stub.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, stub)

    def _compile(lines, name, names):
        exec("\n".join(lines), names)
        return names[name]

    def _init(cls, name):
        names = {"_set": object.__setattr__, "_missing": _MISSING}
        positional, keyword, body = [], [], []
        for field_name, described in cls.__lazy_fields__.items():
            parameter = value = field_name
            if described.default is not _MISSING:
                names[f"_d_{field_name}"] = described.default
                parameter = f"{field_name}=_d_{field_name}"
            elif described.factory is not _MISSING:
                names[f"_f_{field_name}"] = described.factory
                parameter = f"{field_name}=_missing"
                value = f"_f_{field_name}() if {field_name} is _missing else {field_name}"
            (keyword if described.kw_only else positional).append(parameter)
            assignment = f"_set(self, {field_name!r}, {value})"
            body.append(f"  {assignment if cls.__frozen__ else f'self.{field_name} = {value}'}")
        if hasattr(cls, "__post_init__"):
            body.append("  self.__post_init__()")
        parameters = ", ".join(["self", *positional, *(["*", *keyword] if keyword else [])])
        return _compile([f"def {name}({parameters}):", *(body or ["  pass"])], name, names)

    def _compared(cls, of):
        names = [name for name, described in cls.__lazy_fields__.items() if described.compare]
        return "(" + "".join(f"{of}.{name}, " for name in names) + ")"

    def _eq(cls, name):
        return _comparison(cls, name, "==")

    def _ordering(cls, name):
        return _comparison(cls, name, _ORDER[name])

    def _comparison(cls, name, operator):
        return _compile(
            [
                f"def {name}(self, other):",
                "  if other.__class__ is self.__class__:",
                f"    return {_compared(cls, 'self')} {operator} {_compared(cls, 'other')}",
                "  return NotImplemented",
            ],
            name,
            {},
        )

    def _hash(cls, name):
        return _compile([f"def {name}(self): return hash({_compared(cls, 'self')})"], name, {})

    def _repr(self):
        shown = [
            f"{name}={getattr(self, name)!r}"
            for name, described in self.__lazy_fields__.items()
            if described.repr
        ]
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _refuse_set(self, name, value):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_delete(self, name):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _getstate(self):
        return [getattr(self, name) for name in self.__lazy_fields__]

    def _setstate(self, state):
        for name, value in zip(self.__lazy_fields__, state, strict=True):
            object.__setattr__(self, name, value)

    class _Standard:
        """What the standard module looks for in a class, made when it is looked for."""

        def __init__(self, name, frozen):
            self.name = name
            self.frozen = frozen

        def __get__(self, instance, owner):
            import dataclasses

            owner = next(cls for cls in owner.__mro__ if _OWN in cls.__dict__)
            described = []
            for name, given in owner.__lazy_fields__.items():
                settings = {"repr": given.repr, "compare": given.compare, "kw_only": given.kw_only}
                if given.default is not _MISSING:
                    settings["default"] = given.default
                elif given.factory is not _MISSING:
                    settings["default_factory"] = given.factory
                described.append((name, given.type, dataclasses.field(**settings)))
            twin = dataclasses.make_dataclass(owner.__name__, described, frozen=self.frozen)
            value = getattr(twin, self.name)
            setattr(owner, self.name, value)
            return value
