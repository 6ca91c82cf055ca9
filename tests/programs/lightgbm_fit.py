"""Boosted trees for a made-up problem; prints a digest of each model and its predictions."""

import hashlib
import os

import lightgbm
import numpy as np

random = np.random.default_rng(5)
x = random.standard_normal((4000, 15))
kind = (x[:, 0] * x[:, 1] + 0.3 * x[:, 2] > 0).astype(int)
value = np.sin(x[:, 0]) + x[:, 3] ** 2

for objective, label in (("binary", kind), ("regression", value), ("regression_l1", value)):
    for boosting in ("gbdt", "dart"):
        model = lightgbm.train(
            {
                "objective": objective,
                "boosting": boosting,
                "num_leaves": 31,
                "bagging_fraction": 0.7,
                "bagging_freq": 1,
                "seed": 1,
                "deterministic": True,
                "force_col_wise": True,
                "num_threads": int(os.environ["OMP_NUM_THREADS"]),
                "verbose": -1,
            },
            lightgbm.Dataset(x, label=label),
            num_boost_round=20,
        )
        print(
            f"{objective:14} {boosting:5}",
            hashlib.sha256(model.model_to_string().encode()).hexdigest()[:32],
            hashlib.sha256(model.predict(x).tobytes()).hexdigest()[:32],
        )
