#include "llamada/launcher/mpirun.hpp"

int main(int argc, char** argv) { return llamada::launcher::run_mpirun(argc, argv); }
