"""A PCA of scikit-learn's digits as a decoder, in three forms that `labapp models import` takes.

    python pca.py FOLDER
    labapp models import --onnx FOLDER/pca.onnx --latents FOLDER/latents.npy --id digits8/pca5

Needs scikit-learn and, for ONNX, `pip install 'labapp[import]'`.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

out = Path(sys.argv[1])
digits = load_digits().images.reshape(-1, 64) / 16
pca = PCA(5, whiten=True, random_state=0).fit(digits[:1500])


class Decoder(torch.nn.Module):
    """Latents (n, 5) to pictures (n, 8, 8) with values from 0 to 1."""

    def __init__(self) -> None:
        super().__init__()
        basis = pca.components_ * np.sqrt(pca.explained_variance_)[:, None]
        self.linear = torch.nn.Linear(5, 64)
        self.linear.weight.data = torch.tensor(basis.T, dtype=torch.float32)
        self.linear.bias.data = torch.tensor(pca.mean_, dtype=torch.float32)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.linear(z).clamp(0, 1).reshape(-1, 8, 8)


decoder, rows = Decoder().eval(), torch.zeros(2, 5)
any_number = ({0: torch.export.Dim("n")},)
# Of pictures that the PCA has not seen: limits of dials and questions come from them.
np.save(out / "latents.npy", pca.transform(digits[1500:]).astype(np.float32))
torch.jit.trace(decoder, rows).save(out / "pca.pt")
torch.export.save(torch.export.export(decoder, (rows,), dynamic_shapes=any_number), out / "pca.pt2")
torch.onnx.export(
    decoder,
    (rows,),
    out / "pca.onnx",
    dynamo=True,
    dynamic_shapes=any_number,
    external_data=False,
    verbose=False,
)
