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
        folder. With `click` all that is kept is that the participant agreed, when, and to which
        text.
    items : uses of the data that are asked one by one, each with a tick of its own: audio,
        transcript, quote, share_audio, video. Somebody who does not agree to a `required` one
        cannot take part; `optional` ones can be refused. A use that is not named here is not asked.
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
"""In a study file: the text's name alone, or a mapping with `text`, `sign` and `items`."""
