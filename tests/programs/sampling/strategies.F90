! refrain_sample from Fortran, with blanks at the end.
program strategies
  use refrain
  implicit none
  character(len=20) :: strategy
  strategy = 'random:0.5'
  call refrain_sample(strategy)
  call refrain_sample('off')
  print '(a)', 'done'
end program
