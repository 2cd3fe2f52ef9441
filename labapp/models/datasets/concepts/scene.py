"""The room of 3dshapes, drawn by casting rays: a floor, two walls and one shape in the middle.

What a pixel shows (floor, wall or object) and how bright it is depends on scale, shape and
orientation alone; the hues only colour it. So a view is cast once, and pictures of all hues are
mixed from it. The room is like that of the published pictures, but not the same to the pixel.

Lengths are in units of the object's width at scale 1; x to the right, y up, z towards the viewer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.split import Float32, Float64

SIZE = 64
FINE = 3
"""Rays a pixel along each axis: edges are smooth."""
RAYS = 40_000
"""Rays that are cast at a time."""
SHAPES = ("cube", "cylinder", "sphere", "capsule")

_CAMERA_HEIGHT, _CAMERA_AWAY, _LOOK_AT = 1.7, 3.6, 0.62
_OPENING = np.tan(np.deg2rad(42.0) / 2)
_WALL = 2.6
"""The two walls behind the object, a right angle between them, are this far from the middle."""
_LIGHT = np.array([-0.35, 0.85, 0.6]) / np.linalg.norm([-0.35, 0.85, 0.6])
_UP = np.array([0.0, 1.0, 0.0])
_AMBIENT, _SHADOW = 0.42, 0.55
_SHINE, _SHARP = 0.35, 24

_CUBE_HALF = 0.5
_CYLINDER_RADIUS, _CYLINDER_HEIGHT = 0.5, 1.0
_SPHERE_RADIUS = 0.58
_CAPSULE_RADIUS, _CAPSULE_HEIGHT = 0.38, 1.4

Bool = NDArray[np.bool_]
Hit = tuple[Float64, Float64]
"""Distances along the rays (m,), infinite where they miss, and normals (m, 3)."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One view, float32. `light`, shape (3, size, size): how much light of the floor, the wall and
    the object a pixel gets, to be coloured; `shine`, shape (size, size): white light on top."""

    light: Float32
    shine: Float32

    def coloured(self, colours: Float32) -> Float32:
        """Pictures (n, 3, size, size), 0 to 1, in colours of shape (n, 3 parts, 3 channels)."""
        mixed: Float32 = np.einsum("npc,pyx->ncyx", colours, self.light)
        return np.asarray(np.minimum(mixed + self.shine, np.float32(1.0)))


def view(
    scale: float, shape: int, orientation: float, *, size: int = SIZE, fine: int = FINE
) -> View:
    """The view of a shape (a number in `SHAPES`), `scale` times its size, from `orientation`
    degrees round the room, as a viewer who walks to the right; `size` pixels wide, of `fine` rays
    along each axis."""
    turn = np.deg2rad(orientation)
    eye = np.array([_CAMERA_AWAY * np.sin(turn), _CAMERA_HEIGHT, _CAMERA_AWAY * np.cos(turn)])
    rays = _rays(eye, size * fine)
    # Some at a time: what is worked out of them then stays near the processor.
    blocks = np.array_split(rays, -(-len(rays) // RAYS))
    seen = [_seen(eye, block, scale, shape) for block in blocks]
    part, bright, shine = (np.concatenate(values) for values in zip(*seen, strict=True))
    light = np.stack([_pixels(bright * (part == number), size) for number in range(3)])
    return View(light.astype(np.float32), _pixels(shine, size).astype(np.float32))


def _seen(
    eye: Float64, rays: Float64, scale: float, shape: int
) -> tuple[NDArray[np.int64], Float64, Float64]:
    """What rays from the eye, shape (m, 3), meet: floor, wall or object (0 to 2), how bright it is
    and how it shines, each of shape (m,)."""
    distance, normal = _object(eye, rays, shape, scale)
    # The corner lies straight behind the object, as seen from orientation 0.
    side = np.sqrt(0.5)
    planes = [(_UP, 0.0)] + [(np.array([x, 0.0, side]), -_WALL) for x in (side, -side)]
    flat = [_plane(eye, rays, upright, offset) for upright, offset in planes]
    distances = np.stack([*flat, distance])
    first = distances.argmin(axis=0)
    nearest = distances.min(axis=0)
    sides = [np.broadcast_to(upright, rays.shape) for upright, _ in planes]
    normals = np.stack([*sides, normal])
    facing = np.take_along_axis(normals, first[None, :, None], axis=0)[0]

    lambert = np.clip(facing @ _LIGHT, 0.0, None)
    points = eye + nearest[:, None] * rays
    on_object = first == 3
    dark = np.zeros(len(rays), dtype=np.bool_)
    behind = np.flatnonzero(~on_object)
    toward = np.broadcast_to(_LIGHT, (len(behind), 3))
    dark[behind] = np.isfinite(
        _object(points[behind] + 1e-4 * facing[behind], toward, shape, scale)[0]
    )
    bright = _AMBIENT + (1.0 - _AMBIENT) * lambert * np.where(dark, 1.0 - _SHADOW, 1.0)
    half = _LIGHT - rays
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    shine = _SHINE * np.clip((facing * half).sum(axis=1), 0.0, 1.0) ** _SHARP * on_object

    return np.array([0, 1, 1, 2])[first], bright, shine


def _rays(eye: Float64, fine: int) -> Float64:
    """Directions of length 1 from the eye, row by row, shape (fine^2, 3)."""
    ahead = np.array([0.0, _LOOK_AT, 0.0]) - eye
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, _UP)
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    across = _OPENING * (2.0 * (np.arange(fine) + 0.5) / fine - 1.0)
    rays = ahead + across[None, :, None] * right - across[:, None, None] * up
    rays = rays.reshape(-1, 3)
    return np.asarray(rays / np.linalg.norm(rays, axis=1, keepdims=True))


def _pixels(values: Float64, size: int) -> Float64:
    """The mean over the rays of each pixel, shape (size, size)."""
    rays = math.isqrt(values.size) // size
    return np.asarray(values.reshape(size, rays, size, rays).mean(axis=(1, 3)))


def _plane(start: Float64, rays: Float64, normal: Float64, offset: float) -> Float64:
    """Distances to the points p with p . normal = offset, infinite where a ray leaves it."""
    with np.errstate(divide="ignore"):
        distance = (offset - start @ normal) / (rays @ normal)
    return np.where(distance > 0, distance, np.inf)


def _object(start: Float64, rays: Float64, shape: int, scale: float) -> Hit:
    """Where rays from one point (3,), or from many (m, 3), meet the shape that stands on the floor.

    Worked out for the shape of scale 1; distances are brought back.
    """
    distance, normal = (_cube, _cylinder, _sphere, _capsule)[shape](start / scale, rays)
    return distance * scale, normal


def _cube(start: Float64, rays: Float64) -> Hit:
    centre = np.array([0.0, _CUBE_HALF, 0.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        a = (-_CUBE_HALF - (start - centre)) / rays
        b = (_CUBE_HALF - (start - centre)) / rays
    near, far = np.fmin(a, b), np.fmax(a, b)
    enter, leave = near.max(axis=1), far.min(axis=1)
    axis = near.argmax(axis=1)
    normal = np.zeros_like(rays)
    rows = np.arange(len(rays))
    normal[rows, axis] = -np.sign(rays[rows, axis])
    return np.where((enter < leave) & (enter > 0), enter, np.inf), normal


def _sphere(start: Float64, rays: Float64) -> Hit:
    return _ball(start, rays, _SPHERE_RADIUS, _SPHERE_RADIUS)


def _ball(start: Float64, rays: Float64, height: float, radius: float) -> Hit:
    """A ball whose centre is at a height above the middle of the floor."""
    away = np.broadcast_to(start - np.array([0.0, height, 0.0]), rays.shape)
    distance = _root(
        (rays * rays).sum(axis=1), (rays * away).sum(axis=1), (away * away).sum(axis=1) - radius**2
    )
    normal = (away + np.where(np.isfinite(distance), distance, 0.0)[:, None] * rays) / radius
    return distance, normal


def _tube(start: Float64, rays: Float64, radius: float, low: float, high: float) -> Hit:
    """The side of an upright cylinder between two heights."""
    away = np.broadcast_to(start, rays.shape)
    flat, off = rays[:, [0, 2]], away[:, [0, 2]]
    distance = _root(
        (flat * flat).sum(axis=1), (flat * off).sum(axis=1), (off * off).sum(axis=1) - radius**2
    )
    met = np.isfinite(distance)
    where = away + np.where(met, distance, 0.0)[:, None] * rays
    inside = met & (where[:, 1] >= low) & (where[:, 1] <= high)
    normal = where * np.array([1.0, 0.0, 1.0]) / radius
    return np.where(inside, distance, np.inf), normal


def _root(a: Float64, b: Float64, c: Float64) -> Float64:
    """The smaller root of a t^2 + 2 b t + c = 0 where it is positive, else infinite."""
    square = b * b - a * c
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = (-b - np.sqrt(np.maximum(square, 0.0))) / a
    return np.where((square >= 0) & (distance > 0), distance, np.inf)


def _cylinder(start: Float64, rays: Float64) -> Hit:
    side = _tube(start, rays, _CYLINDER_RADIUS, 0.0, _CYLINDER_HEIGHT)
    distance = _plane(start, rays, _UP, _CYLINDER_HEIGHT)
    met = np.where(np.isfinite(distance), distance, 0.0)
    where = start + met[:, None] * rays
    on = np.isfinite(distance) & (np.hypot(where[:, 0], where[:, 2]) <= _CYLINDER_RADIUS)
    return _nearest(side, (np.where(on, distance, np.inf), np.broadcast_to(_UP, rays.shape)))


def _capsule(start: Float64, rays: Float64) -> Hit:
    low, high = _CAPSULE_RADIUS, _CAPSULE_HEIGHT - _CAPSULE_RADIUS
    hit = _tube(start, rays, _CAPSULE_RADIUS, low, high)
    for height in (low, high):
        hit = _nearest(hit, _ball(start, rays, height, _CAPSULE_RADIUS))
    return hit


def _nearest(hit: Hit, other: Hit) -> Hit:
    nearer = hit[0] <= other[0]
    return np.where(nearer, hit[0], other[0]), np.where(nearer[:, None], hit[1], other[1])
