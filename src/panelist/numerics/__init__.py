"""What compiled code is made with: kernels, vectors of eight numbers, LAPACK, threads."""
