"""What a study may say of its consent form: how it is signed, and which uses are asked for."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from labapp.base.documents import Strict

Sign = Literal["click", "name", "drawn"]
"""How the participant signs: by a tick and a click alone, by typing their name, or by drawing their
signature. Paper 003 used a click and collected no names."""

Use = Literal["audio", "transcript", "quote", "share_audio", "video"]
"""What may be done with a session's data: record the voice, write down what was said, quote it in a
publication, pass the sound on to others, record a video."""

USES: tuple[str, ...] = get_args(Use)

Asked = Literal["required", "optional"]
"""Whether somebody who does not agree to a use can take part."""


class ConsentForm(Strict):
    """The consent form of a study.

    Attributes
    ----------
    text : the text that is read, as Markdown.
    sign : how it is signed: `click`: by a tick and a click; `name`: by typing the name; `drawn`: by
        drawing the signature. Names and signatures are kept apart from all data, in the private
        folder. With `click`, only the fact, time and text of the agreement are stored.
    items : uses of the data, each with its own box to tick: audio, transcript, quote, share_audio,
        video. People who do not agree to a `required` one cannot take part; `optional` ones can be
        refused. Uses that are not listed are not asked.
    """

    text: str = Field(min_length=1)
    sign: Sign = "name"
    items: dict[Use, Asked] = Field(default_factory=dict)


ConsentSetting = Annotated[
    ConsentForm,
    BeforeValidator(
        lambda form: {"text": form} if isinstance(form, str) else form,
        json_schema_input_type=str | ConsentForm,
    ),
]
"""In a study file: only the text's name, or a mapping with `text`, `sign` and `items`."""
