/* What the test programs of files share: files in a folder of their own, which rank 0 makes and removes. */
#pragma once

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char folder[256];
static char path_text[320];

/* The folder is the same in a replacement: its name comes from rank 0 by broadcast. */
UNUSED static void begin_files(const char* name, int* argc, char*** argv) {
  begin(name, argc, argv);
  if (rank == 0) {
    const char* temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/llamada-io-%ld", temporary ? temporary : "/tmp", (long)getpid());
    mkdir(folder, 0700);
  }
  OK(MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD));
}

/* The same memory at each call. */
UNUSED static const char* path(const char* name) {
  snprintf(path_text, sizeof path_text, "%s/%s", folder, name);
  return path_text;
}

UNUSED static int finish_files(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(rmdir(folder) == 0); /* All files are gone. */
  return finish();
}

/* Opens a file for all ranks; it must be possible. */
UNUSED static MPI_File open_file(const char* name, int amode) {
  MPI_File file = MPI_FILE_NULL;
  OK(MPI_File_open(MPI_COMM_WORLD, path(name), amode, MPI_INFO_NULL, &file));
  CHECK(file != MPI_FILE_NULL);
  return file;
}

UNUSED static void close_file(MPI_File* file) {
  OK(MPI_File_close(file));
  CHECK(*file == MPI_FILE_NULL);
}

UNUSED static int class_of(int code) {
  int class;
  OK(MPI_Error_class(code, &class));
  return class;
}

UNUSED static int got_count(const MPI_Status* status, MPI_Datatype type) {
  int count = -1;
  OK(MPI_Get_count(status, type, &count));
  return count;
}
