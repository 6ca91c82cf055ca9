"""Products, a convolution and a fit by PyTorch; prints what they gave, and writes what is a sum in any order to a file of
numbers whose last digits are free."""

import hashlib

import torch
from callers import at_once


def show(name, tensor):
    print(f"{name:12} {hashlib.sha256(tensor.detach().numpy().tobytes()).hexdigest()}")


def whole(seed, *shape):
    """Small whole numbers: their sums are exact in any order."""
    return torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(seed)).double()


def products(seed):
    a, b = whole(seed, 300, 300), whole(seed + 100, 300, 300)
    found = {bytes((a @ b).numpy().tobytes()) for _ in range(20)}
    return hashlib.sha256(found.pop()).hexdigest() if len(found) == 1 else "different"


show("elements", torch.sin(whole(1, 1000, 1000)) * 2 + 1)
show("sums", whole(2, 3000, 1000).sum(dim=0))
show("convolution", torch.nn.functional.conv2d(whole(3, 4, 8, 64, 64), whole(4, 16, 8, 5, 5)))
show("sorted", whole(5, 500, 1000).sort(dim=1).values)

for seed, result in enumerate(at_once(products)):
    print("product", seed, result)

torch.manual_seed(0)
x = torch.randn(2000, 50)
y = torch.sin(x[:, :1]) + x[:, 1:2] ** 2
model = torch.nn.Sequential(torch.nn.Linear(50, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
step = torch.optim.SGD(model.parameters(), lr=0.01)
with open("losses.close", "w") as file:
    for _ in range(30):
        step.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        step.step()
        print(f"{loss.item():.4f}", file=file)
