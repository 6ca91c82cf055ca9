"""Boosted trees for a made-up problem; prints a digest of each model's trees and predictions."""

import hashlib
import os

import numpy as np
import xgboost

threads = int(os.environ["OMP_NUM_THREADS"])
random = np.random.default_rng(5)
x = random.standard_normal((4000, 15)).astype(np.float32)
x[random.random(x.shape) < 0.05] = np.nan
kind = (np.nan_to_num(x[:, 0] * x[:, 1]) + 0.3 * np.nan_to_num(x[:, 2]) > 0).astype(int)
value = np.sin(np.nan_to_num(x[:, 0])) + np.nan_to_num(x[:, 3]) ** 2

for method in ("hist", "approx", "exact"):
    for objective, label in (("binary:logistic", kind), ("reg:squarederror", value)):
        model = xgboost.train(
            {
                "objective": objective,
                "tree_method": method,
                "max_depth": 6,
                "subsample": 0.8,
                "seed": 1,
                "nthread": threads,
            },
            xgboost.DMatrix(x, label=label, nthread=threads),
            num_boost_round=15,
        )
        trees = "".join(model.get_dump(with_stats=True))
        predicted = model.predict(xgboost.DMatrix(x, nthread=threads))
        print(
            f"{method:7} {objective:18}",
            hashlib.sha256(trees.encode()).hexdigest()[:32],
            hashlib.sha256(predicted.tobytes()).hexdigest()[:32],
        )
