/* The functions that Torch.hs calls: libtorch's products and sums, for Haskell's arrays. */
#include <torch/torch.h>

#include <cstdint>

static torch::Tensor tensor(const double *numbers, int64_t rows, int64_t columns) {
    return torch::from_blob(const_cast<double *>(numbers), {rows, columns}, torch::kFloat64);
}

/* Sets the number of threads of the calling OS thread; torch would take one for each core, without
 * regard to hyper-threads. */
static void on_two_threads() {
    at::set_num_threads(2);
}

extern "C" {

void torch_product(int64_t n, const double *a, const double *b, double *c) {
    torch::NoGradGuard guard;
    on_two_threads();
    torch::Tensor result = tensor(c, n, n);
    torch::matmul_out(result, tensor(a, n, n), tensor(b, n, n));
}

/* c[i] = 2 * a[i] + 1, by an operation of torch, and by a loop of this program on torch's
 * threads. */
void torch_elements(int64_t n, const double *a, double *c) {
    torch::NoGradGuard guard;
    on_two_threads();
    torch::Tensor twice = tensor(a, 1, n) + tensor(a, 1, n);
    const double *from = twice.data_ptr<double>();
    at::parallel_for(0, n, 1024, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) c[i] = from[i] + 1;
    });
}
}
