/* teams on the host: a league of teams, distribute, and regions inside. */
#include "testing.h"
#include <omp.h>

static void league(void) {
    int teams = 0, members = 0, seen[4] = {0};
#pragma omp teams num_teams(3) thread_limit(2)
    {
        CHECK_EQ(omp_get_num_teams(), 3);
        CHECK(omp_get_team_num() >= 0 && omp_get_team_num() < 3);
        INCREMENT(&seen[omp_get_team_num()]);
        INCREMENT(&teams);
#pragma omp parallel num_threads(2)
        {
            CHECK_EQ(omp_get_num_threads(), 2);
            INCREMENT(&members);
        }
    }
    CHECK_EQ(teams, 3);
    CHECK_EQ(members, 6);
    for (int t = 0; t < 3; t++) CHECK_EQ(seen[t], 1);
    CHECK_EQ(omp_get_num_teams(), 1);
}

static void distributed(void) {
    enum { TRIPS = 200 };
    int times[TRIPS] = {0}, sum = 0;
#pragma omp teams distribute parallel for num_teams(3) schedule(dynamic, 3) reduction(+ : sum)
    for (int i = 0; i < TRIPS; i++) {
        INCREMENT(&times[i]);
        sum += i;
    }
    for (int i = 0; i < TRIPS; i++) CHECK_EQ(times[i], 1);
    CHECK_EQ(sum, TRIPS * (TRIPS - 1) / 2);
}

int main(void) {
    test_limit(30);
    for (int round = 0; round < 20; round++) {
        league();
        distributed();
    }
    return 0;
}
