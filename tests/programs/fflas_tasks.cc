// Exact algebra modulo a prime by FFLAS-FFPACK, whose products, factors and determinants are trees of tasks. Each
// result is printed; the exit status is 1 where one differs from that of a single thread.
#include <fflas-ffpack/fflas-ffpack.h>
#include <givaro/modular-balanced.h>
#include <iostream>
#include <vector>

using Field = Givaro::ModularBalanced<double>;
using Matrix = std::vector<double>;
namespace cut = FFLAS::CuttingStrategy;
namespace by = FFLAS::StrategyParameter;

static const Field field(131071);
static uint64_t state = 20;
static bool wrong;

static double draw() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    double element;
    return field.init(element, int64_t(state >> 40));
}

static Matrix random_matrix(size_t rows, size_t columns) {
    Matrix matrix(rows * columns);
    for (double &element : matrix)
        element = draw();
    return matrix;
}

static void print(const char *what, const Matrix &matrix) {
    uint64_t sum = 14695981039346656037u;
    for (double element : matrix)
        sum = (sum ^ uint64_t(int64_t(element))) * 1099511628211u;
    std::cout << what << ' ' << sum << '\n';
}

static Matrix product(const Matrix &a, const Matrix &b, size_t rows, size_t inner, size_t columns) {
    Matrix c(rows * columns);
    FFLAS::fgemm(field, FFLAS::FflasNoTrans, FFLAS::FflasNoTrans, rows, columns, inner, field.one, a.data(), inner,
                 b.data(), columns, field.zero, c.data(), columns);
    return c;
}

template <class Cut, class By>
static void product_by_tasks(const char *how, const Matrix &a, const Matrix &b, const Matrix &expected, size_t rows,
                             size_t inner, size_t columns) {
    using Parallel = FFLAS::ParSeqHelper::Parallel<Cut, By>;
    Matrix c(rows * columns);
    PAR_BLOCK {
        FFLAS::MMHelper<Field, FFLAS::MMHelperAlgo::Winograd, FFLAS::ModeTraits<Field>::value, Parallel> helper(
            field, 0, Parallel(8));
        FFLAS::fgemm(field, FFLAS::FflasNoTrans, FFLAS::FflasNoTrans, rows, columns, inner, field.one, a.data(), inner,
                     b.data(), columns, field.zero, c.data(), columns, helper);
    }
    print(how, c);
    wrong |= c != expected;
}

static void products(size_t rows, size_t inner, size_t columns) {
    Matrix a = random_matrix(rows, inner), b = random_matrix(inner, columns);
    Matrix expected = product(a, b, rows, inner, columns);
    product_by_tasks<cut::Block, by::Threads>("blocks", a, b, expected, rows, inner, columns);
    product_by_tasks<cut::Recursive, by::TwoD>("halves of two sides", a, b, expected, rows, inner, columns);
    product_by_tasks<cut::Recursive, by::TwoDAdaptive>("halves of the larger side", a, b, expected, rows, inner,
                                                       columns);
    product_by_tasks<cut::Recursive, by::ThreeDInPlace>("halves of three sides", a, b, expected, rows, inner, columns);
    product_by_tasks<cut::Recursive, by::ThreeD>("halves of three sides, added", a, b, expected, rows, inner, columns);
    product_by_tasks<cut::Recursive, by::ThreeDAdaptive>("the largest of three", a, b, expected, rows, inner, columns);
}

// The factors depend on the pivots alone, and they are the same for any number of threads.
static void factors(size_t rows, size_t columns, size_t rank) {
    Matrix matrix = product(random_matrix(rows, rank), random_matrix(rank, columns), rows, rank, columns);
    Matrix serial = matrix;
    std::vector<size_t> p(rows), q(columns), serial_p(rows), serial_q(columns);
    size_t found = FFPACK::pPLUQ(field, FFLAS::FflasNonUnit, rows, columns, matrix.data(), columns, p.data(), q.data());
    size_t expected = FFPACK::PLUQ(field, FFLAS::FflasNonUnit, rows, columns, serial.data(), columns, serial_p.data(),
                                   serial_q.data());
    print("factors", matrix);
    std::cout << "rank " << found << '\n';
    wrong |= found != rank || expected != rank || matrix != serial || p != serial_p || q != serial_q;
}

static void determinant(size_t size) {
    Matrix matrix = random_matrix(size, size), serial = matrix;
    double found, expected;
    FFPACK::pDet(field, found, size, matrix.data(), size);
    FFPACK::Det(field, expected, size, serial.data(), size);
    std::cout << "determinant " << int64_t(found) << '\n';
    wrong |= found != expected;
}

int main() {
    products(300, 200, 260);
    products(7, 900, 5);
    for (size_t round = 1; round <= 10; round++)
        factors(200 + 9 * round, 250, 150 + round);
    determinant(300);
    return wrong;
}
