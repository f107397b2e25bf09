/* What looks like another MPI library: it makes each process a job of one rank. */
__attribute__((visibility("default"))) int MPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return 0;
}
