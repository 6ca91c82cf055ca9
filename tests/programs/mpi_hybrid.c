/* An MPI program with OpenMP inside: each process sums its part of a series by threads, and prints
 * the processors on which its threads may run. */
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { TERMS = 2000000 };

/* Processors of the calling thread, as text: "0,3". */
static void processors(char *text, size_t size) {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    size_t used = 0;
    text[0] = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && used < size; cpu++)
        if (CPU_ISSET(cpu, &set))
            used += (size_t)snprintf(text + used, size - used, used ? ",%d" : "%d", cpu);
}

/* Returns whether every thread of a team may run only on the processors of its process. */
static int team_stays(const char *bound) {
    int stays = 1;
#pragma omp parallel reduction(&& : stays)
    {
        char mine[512];
        processors(mine, sizeof mine);
        stays = strcmp(mine, bound) == 0;
    }
    return stays;
}

static long sum_of_part(int rank, int ranks) {
    long sum = 0;
#pragma omp parallel for schedule(dynamic, 1000) reduction(+ : sum)
    for (int i = rank; i < TERMS; i += ranks) sum += (long)i * i % 1000;
    return sum;
}

int main(int argc, char **argv) {
    int rank, ranks, provided, next, threads = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char bound[512], line[1024];
    processors(bound, sizeof bound);
#pragma omp parallel reduction(max : threads)
    threads = omp_get_num_threads();
    snprintf(line, sizeof line,
             "rank %d: processors %s, num_procs %d, max_threads %d, team of %d %s, places %d", rank,
             bound, omp_get_num_procs(), omp_get_max_threads(), threads,
             team_stays(bound) ? "stays there" : "WANDERS", omp_get_num_places());

    /* Any thread of a region sends and receives messages. */
    long mine = 0, total = 0, ring = 0;
    for (int round = 0; round < 50; round++) {
        mine += sum_of_part(rank, ranks);
#pragma omp parallel
#pragma omp single
        {
            next = (rank + 1) % ranks;
            MPI_Sendrecv(&mine, 1, MPI_LONG, next, 0, &ring, 1, MPI_LONG,
                         (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        mine = (mine + ring) % 1000003;
    }
    MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int turn = 0; turn < ranks; turn++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (turn != rank) continue;
        FILE *file = fopen("ranks", "a");
        fprintf(file, "%s, total %ld\n", line, total);
        fclose(file);
    }
    MPI_Finalize();
    return 0;
}
