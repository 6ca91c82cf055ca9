! Fortran: the omp_lib calls, ordered, sections, copyprivate, workshare, critical, threadprivate
! common blocks, reductions of arrays, tasks with dependences, locks.
module counting
  use omp_lib
  use iso_c_binding, only: c_int
  implicit none
  integer :: module_value
  !$omp threadprivate(module_value)
contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (.not. condition) then
      write (0, *) 'failed: ', what
      stop 1
    end if
  end subroutine

  recursive integer function fibonacci(n) result(answer)
    integer, value :: n
    integer :: a, b
    if (n < 2) then
      answer = n
      return
    end if
    !$omp task shared(a) firstprivate(n)
    a = fibonacci(n - 1)
    !$omp end task
    !$omp task shared(b) firstprivate(n)
    b = fibonacci(n - 2)
    !$omp end task
    !$omp taskwait
    answer = a + b
  end function
end module

program fortran
  use counting
  implicit none
  integer :: threads
  interface
    integer(kind=c_int) function alarm(seconds) bind(c, name='alarm')
      use iso_c_binding, only: c_int
      integer(kind=c_int), value :: seconds
    end function
  end interface
  integer(kind=c_int) :: ignored
  ignored = alarm(40)
  do threads = 1, 4
    call api(threads)
    call ordered_loop(threads)
    call shared_out(threads)
    call copies(threads)
    call reductions(threads)
    call tasks(threads)
    call locks(threads)
  end do
contains
  subroutine api(threads)
    integer, intent(in) :: threads
    integer(kind=omp_sched_kind) :: kind
    integer :: chunk, seen
    call omp_set_num_threads(threads)
    call check(omp_get_max_threads() == threads, 'max_threads')
    call omp_set_schedule(omp_sched_guided, 5)
    call omp_get_schedule(kind, chunk)
    call check(kind == omp_sched_guided .and. chunk == 5, 'schedule')
    call omp_set_dynamic(.true.)
    call check(omp_get_dynamic(), 'dynamic')
    call omp_set_dynamic(.false.)
    call check(.not. omp_get_dynamic(), 'not dynamic')
    call omp_set_max_active_levels(2)
    call check(omp_get_max_active_levels() == 2, 'levels')
    call omp_set_max_active_levels(1)
    call check(.not. omp_in_parallel(), 'outside')
    call check(omp_get_wtime() > 0d0, 'wtime')
    call check(omp_get_wtick() > 0d0, 'wtick')
    seen = 0
    !$omp parallel reduction(+:seen)
    call check(omp_get_num_threads() == threads, 'num_threads')
    call check(omp_in_parallel() .eqv. threads > 1, 'inside')
    call check(omp_get_ancestor_thread_num(1) == omp_get_thread_num(), 'ancestor')
    call check(omp_get_team_size(1) == threads, 'team_size')
    seen = seen + omp_get_thread_num()
    !$omp end parallel
    call check(seen == threads * (threads - 1) / 2, 'thread numbers')
  end subroutine

  subroutine ordered_loop(threads)
    integer, intent(in) :: threads
    integer :: i, next
    next = 1
    !$omp parallel do ordered schedule(dynamic) num_threads(threads)
    do i = 1, 200
      if (mod(i, 7) == 0) call sleep_little()
      !$omp ordered
      call check(next == i, 'ordered dynamic')
      next = next + 1
      !$omp end ordered
    end do
    next = 200
    !$omp parallel do ordered schedule(static, 3) num_threads(threads)
    do i = 200, 1, -1
      !$omp ordered
      call check(next == i, 'ordered static, downwards')
      next = next - 1
      !$omp end ordered
    end do
  end subroutine

  subroutine sleep_little()
    interface
      integer(kind=c_int) function usleep(microseconds) bind(c, name='usleep')
        use iso_c_binding, only: c_int
        integer(kind=c_int), value :: microseconds
      end function
    end interface
    integer(kind=c_int) :: unused
    unused = usleep(200)
  end subroutine

  subroutine shared_out(threads)
    integer, intent(in) :: threads
    integer :: counts(4), i, inside, total
    integer :: a(100), b(100)
    counts = 0
    inside = 0
    total = 0
    !$omp parallel num_threads(threads) private(i)
    !$omp sections
    !$omp section
    counts(1) = counts(1) + 1
    !$omp section
    counts(2) = counts(2) + 1
    !$omp section
    counts(3) = counts(3) + 1
    !$omp end sections
    !$omp single
    counts(4) = counts(4) + 1
    !$omp end single
    do i = 1, 200
      !$omp critical (name)
      inside = inside + 1
      call check(inside == 1, 'critical')
      total = total + 1
      inside = inside - 1
      !$omp end critical (name)
    end do
    !$omp workshare
    a = 3
    b = a * 2
    where (b > 5) b = b + 1
    !$omp end workshare
    !$omp master
    counts(4) = counts(4) + 10
    !$omp end master
    !$omp end parallel
    call check(all(counts == [1, 1, 1, 11]), 'sections and single')
    call check(total == 200 * threads, 'critical count')
    call check(all(b == 7), 'workshare')
  end subroutine

  subroutine copies(threads)
    integer, intent(in) :: threads
    integer :: mine, round
    real(8) :: array(50)
    real(8), allocatable :: dynamic(:)
    integer :: common_value
    common /shared_block/ common_value
    !$omp threadprivate(/shared_block/)
    common_value = 12
    module_value = 13
    !$omp parallel num_threads(threads) copyin(/shared_block/, module_value)
    call check(common_value == 12 .and. module_value == 13, 'copyin')
    common_value = 100 + omp_get_thread_num()
    !$omp end parallel
    !$omp parallel num_threads(threads) private(mine, array, round, dynamic)
    call check(common_value == 100 + omp_get_thread_num(), 'threadprivate')
    do round = 1, 100
      mine = -1
      array = 0
      allocate (dynamic(3))
      !$omp single
      mine = round
      array = round * 0.5d0
      dynamic = round
      !$omp end single copyprivate(mine, array, dynamic)
      call check(mine == round, 'copyprivate')
      call check(all(abs(array - round * 0.5d0) < 1d-9), 'copyprivate of an array')
      call check(all(abs(dynamic - round) < 1d-9), 'copyprivate of an allocatable')
      deallocate (dynamic)
    end do
    !$omp end parallel
  end subroutine

  subroutine reductions(threads)
    integer, intent(in) :: threads
    integer :: i
    real(8) :: sums(8)
    complex(8) :: product
    logical :: every
    integer :: least
    sums = 1
    product = (1d0, 0d0)
    every = .true.
    least = huge(least)
    !$omp parallel do num_threads(threads) schedule(guided) &
    !$omp reduction(+:sums) reduction(*:product) reduction(.and.:every) reduction(min:least)
    do i = 1, 64
      sums(mod(i, 8) + 1) = sums(mod(i, 8) + 1) + i
      if (mod(i, 16) == 0) product = product * (0d0, 1d0)
      every = every .and. i > 0
      least = min(least, 100 - i)
    end do
    call check(abs(sum(sums) - 8 - 2080) < 1d-9, 'array reduction')
    call check(abs(product - (1d0, 0d0)) < 1d-9, 'complex reduction')
    call check(every .and. least == 36, 'logical and minimum')
  end subroutine

  subroutine tasks(threads)
    integer, intent(in) :: threads
    integer :: answer, x, i, covered(300)
    answer = 0
    x = 0
    covered = 0
    !$omp parallel num_threads(threads)
    !$omp single
    answer = fibonacci(14)
    do i = 1, 100
      !$omp task depend(inout:x) firstprivate(i) shared(x)
      call check(x == i - 1, 'depend')
      x = i
      !$omp end task
    end do
    !$omp taskloop num_tasks(7) shared(covered)
    do i = 1, 300
      covered(i) = covered(i) + 1
    end do
    !$omp end taskloop
    call check(all(covered == 1), 'taskloop')
    !$omp end single
    !$omp end parallel
    call check(answer == 377, 'fibonacci')
    call events(threads)
    call check(x == 100, 'chain')
  end subroutine

  subroutine events(threads)
    integer, intent(in) :: threads
    integer(kind=omp_event_handle_kind) :: event
    integer :: done, behind
    done = 0
    behind = 0
    !$omp parallel num_threads(threads)
    !$omp single
    !$omp task detach(event) depend(out:done) shared(done)
    done = 1
    !$omp end task
    !$omp task depend(in:done) shared(done, behind)
    behind = done
    !$omp end task
    call omp_fulfill_event(event)
    !$omp end single
    !$omp end parallel
    call check(behind == 1, 'detach')
  end subroutine

  subroutine locks(threads)
    integer, intent(in) :: threads
    integer(kind=omp_lock_kind) :: lock
    integer(kind=omp_nest_lock_kind) :: nested
    integer :: i, sum, twice
    call omp_init_lock(lock)
    call omp_init_nest_lock(nested)
    sum = 0
    twice = 0
    !$omp parallel num_threads(threads) private(i)
    do i = 1, 500
      call omp_set_lock(lock)
      sum = sum + 1
      call omp_unset_lock(lock)
      do while (omp_test_nest_lock(nested) == 0)
        call sleep_little()
      end do
      call omp_set_nest_lock(nested)
      twice = twice + 2
      call omp_unset_nest_lock(nested)
      call omp_unset_nest_lock(nested)
    end do
    !$omp end parallel
    call check(omp_test_lock(lock), 'test_lock')
    call check(.not. omp_test_lock(lock), 'test_lock of a held lock')
    call omp_unset_lock(lock)
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nested)
    call check(sum == 500 * threads .and. twice == 1000 * threads, 'locks')
  end subroutine
end program
