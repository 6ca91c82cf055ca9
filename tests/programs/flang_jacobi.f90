! Jacobi's iteration in a square, whose left side is warm: loops of several schedules, a reduction, critical sections, single,
! barriers and nested regions, for a compiler that does not know much more of OpenMP.
program jacobi
  use omp_lib
  implicit none
  integer, parameter :: n = 300, sweeps = 80
  real(8) :: old(0:n+1, 0:n+1), new(0:n+1, 0:n+1)
  integer :: i, j, sweep, members, changes
  old = 0
  old(:, 0) = 1
  new = old
  members = 0
  !$omp parallel num_threads(3)
  !$omp critical
  members = members + 1
  !$omp end critical
  !$omp barrier
  !$omp single
  if (members /= 3 .or. omp_get_num_threads() /= 3) print *, 'wrong', members
  !$omp end single
  !$omp end parallel
  changes = 0
  do sweep = 1, sweeps
    !$omp parallel do private(i) schedule(dynamic, 7)
    do j = 1, n
      do i = 1, n
        new(i, j) = 0.25d0 * (old(i-1, j) + old(i+1, j) + old(i, j-1) + old(i, j+1))
      end do
    end do
    !$omp end parallel do
    !$omp parallel do private(i) schedule(static, 11) reduction(+: changes)
    do j = 1, n
      do i = 1, n
        if (abs(old(i, j) - new(i, j)) > 1d-4) changes = changes + 1
        old(i, j) = new(i, j)
      end do
    end do
    !$omp end parallel do
  end do
  print '(i0)', changes
  print '(es24.16)', sum(new)
  print '(i0)', omp_get_max_threads()
end program
