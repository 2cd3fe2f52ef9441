"""What a recipe says of the method itself: the network and what is particular to learning it.

Nothing here needs torch.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from labapp.representations.data import Part


class Resnet(Part):
    """A small residual network, explained by GradCAM."""

    name: Literal["resnet"]


class Bagnet(Part):
    """A network that sees patches of `field` pixels alone and adds up what each speaks for."""

    name: Literal["bagnet"]
    field: Literal[17, 25, 33, 41] = 33


Method = Annotated[Resnet | Bagnet, Field(discriminator="name")]
