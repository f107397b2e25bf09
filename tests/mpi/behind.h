/* What a library makes of MPI for a program that knows nothing of it. */
#ifndef BEHIND_H
#define BEHIND_H

void begin(int* argc, char*** argv);
long everybodys(long mine);
int number(void);
void finish(void);

#endif
