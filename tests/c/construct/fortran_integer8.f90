! With -fdefault-integer-8 every omp_lib call goes to its omp_*_8_ twin.
! test: flags -fdefault-integer-8
program fortran_integer8
  use omp_lib
  implicit none
  integer(kind=omp_sched_kind) :: kind
  integer :: chunk, seen
  call omp_set_num_threads(3)
  call check(omp_get_max_threads() == 3, 1)
  call omp_set_schedule(omp_sched_dynamic, 7)
  call omp_get_schedule(kind, chunk)
  call check(kind == omp_sched_dynamic .and. chunk == 7, 2)
  call omp_set_dynamic(.true._8)
  call check(logical(omp_get_dynamic(), 8), 3)
  call omp_set_dynamic(.false._8)
  call omp_set_max_active_levels(2)
  call check(omp_get_max_active_levels() == 2, 4)
  call omp_set_num_teams(4)
  call check(omp_get_max_teams() == 4, 5)
  call omp_set_num_teams(0)
  seen = 0
  !$omp parallel reduction(+:seen)
  call check(omp_get_ancestor_thread_num(1) == omp_get_thread_num(), 6)
  call check(omp_get_team_size(1) == 3, 7)
  call check(omp_get_ancestor_thread_num(2) == -1, 8)
  seen = seen + omp_get_thread_num() + 1
  !$omp end parallel
  call check(seen == 6, 9)
contains
  subroutine check(condition, which)
    logical, intent(in) :: condition
    integer, intent(in) :: which
    if (.not. condition) then
      write (0, *) 'failed: check', which
      stop 1
    end if
  end subroutine
end program
