"""How long one decode takes, model by model, as on the slider path: a z at a time.

    python -m benchmarks.decoders [--n 2000] [--threads 1] [--device cpu]

Measures every shipped package and random weights of the larger architectures, and prints one row
each in milliseconds; the last two columns are the batches of an exemplar and a traversal sheet.
Run it alone on the machine; decode_ratios.py is for a machine that is not.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.random_weights import random_decoder
from labapp.models.representations import effects, package
from labapp.models.representations.decoders import LoadedDecoder


def _decoders(device: str | None, threads: int) -> Iterator[LoadedDecoder]:
    for name in package.list_packages():
        yield package.load_package(name, device, threads)
    for architecture in ("dsprites-conv", "mnist-conv", "mnist-infogan"):
        yield random_decoder(architecture, device=device, threads=threads)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--n", type=int, default=2_000, help="decodes of each model")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of torch")
    parser.add_argument("--device", help="cuda, mps or cpu; the first there is by default")
    asked = parser.parse_args()
    print(
        f"{'model':<22}{'device':<8}{'threads':>8}{'median':>10}{'p95':>10}{'p99':>10}"
        f"{'24 at once':>12}{'35 at once':>12}"
    )
    for decoder in _decoders(asked.device, asked.threads):
        row = effects.bench(decoder, asked.n)
        print(
            f"{row['model']:<22}{row['device']:<8}{row['threads']:>8}"
            f"{row['median_ms']:>10.4f}{row['p95_ms']:>10.4f}{row['p99_ms']:>10.4f}"
            f"{row['batch_24_ms']:>12.3f}{row['batch_35_ms']:>12.3f}"
        )


if __name__ == "__main__":
    main()
