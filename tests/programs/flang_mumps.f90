! Linear equations by MUMPS: the seven points of a stencil in a cube, with wind where the matrix is not symmetric. Four
! arguments: the points of an edge, then 1 for yes or 0 for no. Is the matrix symmetric and positive definite, do the threads
! begin with subtrees of their own, are blocks compressed to low rank?
program mumps
  implicit none
  include 'mpif.h'
  include 'dmumps_struc.h'
  type(dmumps_struc) :: solver
  integer :: edge, points, error, i
  real(8), allocatable :: solution(:)
  edge = argument(1)
  points = edge**3
  call mpi_init(error)
  solver%comm = mpi_comm_world
  solver%par = 1
  solver%sym = argument(2)
  solver%job = -1
  call dmumps(solver)
  solver%icntl(1:4) = (/ 6, 0, 0, 1 /)
  solver%icntl(7) = 4
  solver%keep(401) = argument(3)
  if (argument(4) == 1) then
    solver%icntl(35) = 1
    solver%cntl(7) = 1d-9
  end if
  call equations()
  allocate(solution(points))
  solution = (/ (1 + mod(i, 17) / 16d0, i = 1, points) /)
  allocate(solver%rhs(points))
  call multiply(solution, solver%rhs)
  solver%job = 6
  call dmumps(solver)
  print '(a, i0, a, l1)', 'status ', solver%infog(1), ', solved ', maxval(abs(solver%rhs - solution)) < 1d-6
  print '(a, i0, 1x, i0)', 'unknowns and entries of factors ', points, solver%infog(29)
  print '(a, i0)', 'negative pivots ', solver%infog(12)
  solver%job = -2
  call dmumps(solver)
  call mpi_finalize(error)
contains
  integer function argument(place)
    integer, intent(in) :: place
    character(len=16) :: text
    call get_command_argument(place, text)
    read(text, *) argument
  end function

  ! Where the matrix is symmetric, only the entries below the diagonal are told.
  subroutine equations()
    integer :: x, y, z, row
    integer(8) :: entries
    entries = 0
    solver%n = points
    allocate(solver%irn(7 * points), solver%jcn(7 * points), solver%a(7 * points))
    do z = 0, edge - 1
      do y = 0, edge - 1
        do x = 0, edge - 1
          row = 1 + x + edge * (y + edge * z)
          call enter(row, row, 6.5d0, entries)
          if (x > 0) call enter(row, row - 1, -1d0, entries)
          if (y > 0) call enter(row, row - edge, -1d0, entries)
          if (z > 0) call enter(row, row - edge**2, -1d0, entries)
          if (solver%sym /= 0) cycle
          if (x < edge - 1) call enter(row, row + 1, -1.25d0, entries)
          if (y < edge - 1) call enter(row, row + edge, -0.75d0, entries)
          if (z < edge - 1) call enter(row, row + edge**2, -1d0, entries)
        end do
      end do
    end do
    solver%nnz = entries
  end subroutine

  subroutine enter(row, column, value, entries)
    integer, intent(in) :: row, column
    real(8), intent(in) :: value
    integer(8), intent(inout) :: entries
    entries = entries + 1
    solver%irn(entries) = row
    solver%jcn(entries) = column
    solver%a(entries) = value
  end subroutine

  subroutine multiply(vector, result)
    real(8), intent(in) :: vector(:)
    real(8), intent(out) :: result(:)
    integer(8) :: entry
    integer :: row, column
    result = 0
    do entry = 1, solver%nnz
      row = solver%irn(entry)
      column = solver%jcn(entry)
      result(row) = result(row) + solver%a(entry) * vector(column)
      if (solver%sym /= 0 .and. row /= column) result(column) = result(column) + solver%a(entry) * vector(row)
    end do
  end subroutine
end program
