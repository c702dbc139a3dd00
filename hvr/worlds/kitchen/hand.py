"""The hand: actions that move and turn a held object."""

from __future__ import annotations

import math
from dataclasses import replace

from hvr.worlds.geometry import Vec
from hvr.worlds.kitchen.action_context import (
    ActionFailedError,
    Args,
    Context,
    Result,
    number,
    vector,
)
from hvr.worlds.kitchen.state import KitchenState

_Matrix = tuple[Vec, Vec, Vec]


def move(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `MoveHeldObject`: move the hand by `right`, `up` and `ahead`, in metres."""
    return _moved(
        world, (number(args, "right", 0.0), number(args, "up", 0.0), number(args, "ahead", 0.0))
    )


def move_along(world: KitchenState, _context: Context, args: Args, *, axis: Vec) -> Result:
    """Execute `MoveHeldObjectAhead` and its like, which move the hand along one axis."""
    length = number(args, "moveMagnitude", 0.0)
    if length <= 0.0:
        raise ActionFailedError("ArgumentOutOfRangeException: moveMagnitude must be > 0")
    x, y, z = axis
    return _moved(world, (x * length, y * length, z * length))


def _moved(world: KitchenState, shift: Vec) -> Result:
    _check_held(world)
    (x, y, z), (dx, dy, dz) = world.extras.hand_shift, shift
    place = (round(x + dx, 5), round(y + dy, 5), round(z + dz, 5))
    moved = world.but(extras=replace(world.extras, hand_shift=place))
    camera, reach = world.agent.camera, world.settings.visibility_distance
    if math.dist(moved.hand, camera[:3]) > reach:
        raise ActionFailedError(
            f"The target position is out of range: the hand reaches {reach:g} m from the camera."
        )
    return moved.carried(), None


def rotate(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `RotateHeldObject`: turn by `pitch`, `yaw` and `roll`, or to a local `rotation`."""
    _check_held(world)
    if args.get("rotation") is not None:
        turn = vector(args["rotation"], "rotation")
    else:
        by = (number(args, "pitch", 0.0), number(args, "yaw", 0.0), -number(args, "roll", 0.0))
        turn = _angles(_product(_matrix(by), _matrix(world.extras.hand_turn)))
    turn = (turn[0] % 360.0, turn[1] % 360.0, turn[2] % 360.0)
    turned = world.but(extras=replace(world.extras, hand_turn=turn))
    held = world.things[world.held or ""]
    upright = _matrix(hand_rotation(turned))[1][1] >= -1e-9
    return turned.changed(held.but(liquid=held.liquid if upright else None)), None


def _check_held(world: KitchenState) -> None:
    if world.held is None:
        raise ActionFailedError("Agent must be holding an object to move or rotate it")


def hand_rotation(world: KitchenState) -> Vec:
    """Return the world rotation of the hand: Euler angles in degrees."""
    agent, turn = world.agent, world.extras.hand_turn
    if not any(turn):
        return agent.horizon, agent.yaw, 0.0
    return _angles(_product(_matrix((agent.horizon, agent.yaw, 0.0)), _matrix(turn)))


# Unity's Euler angles turn about z, then x, then y.


def _matrix(angles: Vec) -> _Matrix:
    (sx, sy, sz), (cx, cy, cz) = (
        tuple(f(math.radians(a)) for a in angles) for f in (math.sin, math.cos)
    )
    return (
        (cy * cz + sy * sx * sz, sy * sx * cz - cy * sz, sy * cx),
        (cx * sz, cx * cz, -sx),
        (cy * sx * sz - sy * cz, sy * sz + cy * sx * cz, cy * cx),
    )


def _product(a: _Matrix, b: _Matrix) -> _Matrix:
    def row(r: Vec) -> Vec:
        x, y, z = (sum(r[k] * b[k][j] for k in range(3)) for j in range(3))
        return x, y, z

    return row(a[0]), row(a[1]), row(a[2])


def _angles(m: _Matrix) -> Vec:
    sx = max(-1.0, min(1.0, -m[1][2]))
    if abs(sx) > 1.0 - 1e-9:  # only the sum of the other two angles is determined
        x, y, z = math.copysign(90.0, sx), math.degrees(math.atan2(-m[2][0], m[0][0])), 0.0
    else:
        x = math.degrees(math.asin(sx))
        y = math.degrees(math.atan2(m[0][2], m[2][2]))
        z = math.degrees(math.atan2(m[1][0], m[1][1]))
    return round(x, 4) % 360.0, round(y, 4) % 360.0, round(z, 4) % 360.0
