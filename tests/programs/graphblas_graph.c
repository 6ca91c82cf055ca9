/* Sparse algebra over integers, so that every result is exact; the number of threads changes. */
#include <GraphBLAS.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { VERTICES = 4000, EDGES = 40000 };

static void must(GrB_Info info, const char *what) {
    if (info == GrB_SUCCESS || info == GrB_NO_VALUE) return;
    fprintf(stderr, "%s: GraphBLAS says %d\n", what, (int)info);
    exit(1);
}
#define MUST(call) must(call, #call)

static uint64_t next(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* Prints a digest of rows, columns and values. */
static void show(const char *name, GrB_Matrix matrix) {
    GrB_Index count;
    MUST(GrB_Matrix_nvals(&count, matrix));
    GrB_Index *rows = malloc(count * sizeof *rows), *columns = malloc(count * sizeof *columns);
    int64_t *values = malloc(count * sizeof *values), total = 0;
    MUST(GrB_Matrix_extractTuples_INT64(rows, columns, values, &count, matrix));
    uint64_t hash = 14695981039346656037u;
    for (GrB_Index i = 0; i < count; i++) {
        hash = (hash ^ rows[i]) * 1099511628211u;
        hash = (hash ^ columns[i]) * 1099511628211u;
        hash = (hash ^ (uint64_t)values[i]) * 1099511628211u;
        total += values[i];
    }
    printf("%-14s %9lu entries, sum %12ld, %016lx\n", name, (unsigned long)count, (long)total,
           (unsigned long)hash);
    free(rows), free(columns), free(values);
}

/* Prints the vertices that can be reached from vertex 0, and their distances. */
static void distances(GrB_Matrix graph) {
    GrB_Vector level, front;
    MUST(GrB_Vector_new(&level, GrB_INT64, VERTICES));
    MUST(GrB_Vector_new(&front, GrB_BOOL, VERTICES));
    MUST(GrB_Vector_setElement_BOOL(front, true, 0));
    int64_t depth = 0, sum = 0;
    for (GrB_Index reached = 1; reached > 0; depth++) {
        MUST(GrB_Vector_assign_INT64(level, front, NULL, depth, GrB_ALL, VERTICES, GrB_DESC_S));
        MUST(GrB_vxm(front, level, NULL, GrB_LOR_LAND_SEMIRING_BOOL, front, graph, GrB_DESC_RSC));
        MUST(GrB_Vector_nvals(&reached, front));
    }
    GrB_Index reached;
    MUST(GrB_Vector_nvals(&reached, level));
    MUST(GrB_Vector_reduce_INT64(&sum, NULL, GrB_PLUS_MONOID_INT64, level, NULL));
    printf("%-14s %9lu reached, depth %ld, sum of distances %ld\n", "distances",
           (unsigned long)reached, (long)depth, (long)sum);
    GrB_Vector_free(&level), GrB_Vector_free(&front);
}

static void round_of_work(GrB_Matrix graph) {
    GrB_Matrix product, lower;
    MUST(GrB_Matrix_new(&product, GrB_INT64, VERTICES, VERTICES));
    MUST(GrB_Matrix_new(&lower, GrB_INT64, VERTICES, VERTICES));
    MUST(GrB_mxm(product, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, graph, graph, NULL));
    show("square", product);
    MUST(GrB_mxm(product, NULL, NULL, GrB_MIN_PLUS_SEMIRING_INT64, graph, graph, NULL));
    show("shortest two", product);
    MUST(GrB_mxm(product, graph, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, graph, graph, GrB_DESC_RST1));
    show("triangles", product);
    MUST(GrB_transpose(product, NULL, NULL, graph, NULL));
    MUST(GrB_Matrix_eWiseAdd_BinaryOp(lower, NULL, NULL, GrB_PLUS_INT64, graph, product, NULL));
    show("with transpose", lower);
    MUST(GrB_Matrix_select_INT64(lower, NULL, NULL, GrB_TRIL, graph, -1, NULL));
    show("lower part", lower);
    distances(graph);
    GrB_Matrix_free(&product), GrB_Matrix_free(&lower);
}

int main(void) {
    MUST(GrB_init(GrB_NONBLOCKING));
    GrB_Matrix graph;
    MUST(GrB_Matrix_new(&graph, GrB_INT64, VERTICES, VERTICES));
    for (int i = 0; i < EDGES; i++) {
        GrB_Index row = next() % VERTICES, column = next() % VERTICES;
        MUST(GrB_Matrix_setElement_INT64(graph, (int64_t)(next() % 100), row, column));
    }
    /* With small chunks even small calls get threads, and the numbers of threads differ. */
    MUST(GxB_Global_Option_set(GxB_GLOBAL_CHUNK, 512.0));
    for (int threads = 1; threads <= 5; threads++) {
        MUST(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads));
        round_of_work(graph);
    }
    GrB_Matrix_free(&graph);
    MUST(GrB_finalize());
    return 0;
}
