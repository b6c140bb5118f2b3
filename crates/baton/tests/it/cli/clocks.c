/* The clock on the wall, ahead by so many seconds, ten minutes if nothing is said; other clocks are as they are. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef AHEAD
#define AHEAD 600
#endif

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (failed == 0 && clock == CLOCK_REALTIME) now->tv_sec += AHEAD;
  return failed;
}
