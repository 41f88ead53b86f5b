/* The progress line. */
#define _GNU_SOURCE
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { N_BUFFERS = 4, BUFFER_SIZE = 32 };
static const double REDRAW_SECONDS = 0.2;

static char *next_buffer(void)
{
    static char buffers[N_BUFFERS][BUFFER_SIZE];
    static int turn;
    return buffers[turn++ % N_BUFFERS];
}

double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t resident_bytes(void)
{
    long long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lld %lld", &total, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

int64_t peak_resident_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (int64_t)usage.ru_maxrss * 1024;
}

const char *bytes_text(int64_t bytes)
{
    char *text = next_buffer();
    double size = (double)bytes;
    if (size >= 1e9)
        snprintf(text, BUFFER_SIZE, "%.2f GB", size / 1e9);
    else
        snprintf(text, BUFFER_SIZE, size >= 1e7 ? "%.0f MB" : "%.1f MB", size / 1e6);
    return text;
}

const char *duration_text(double seconds)
{
    char *text = next_buffer();
    long long s = seconds > 0 && seconds < 1e12 ? (long long)(seconds + 0.5) : 0;
    if (s >= 3600)
        snprintf(text, BUFFER_SIZE, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, BUFFER_SIZE, "%lld:%02lld", s / 60, s % 60);
    return text;
}

void progress_init(Progress *progress, int64_t steps)
{
    *progress = (Progress){.terminal = isatty(STDERR_FILENO), .steps = steps};
}

void progress_clear(Progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}

static void print_report(const Progress *progress, const TrainReport *report)
{
    fprintf(stderr, "step %" PRId64, report->step);
    if (progress->steps)
        fprintf(stderr, "/%" PRId64, progress->steps);
    fprintf(stderr, "  epoch %" PRId64, report->epoch + 1);
    if (isfinite(report->loss))
        fprintf(stderr, "  loss %.4f", report->loss);
    fprintf(stderr, "  rate %.3g", report->rate);
    if (isfinite(report->tokens_per_second))
        fprintf(stderr, "  %.0f tokens/s", report->tokens_per_second);
    fprintf(stderr, "  %s", bytes_text(resident_bytes()));
    fprintf(stderr, "  %s", duration_text(report->seconds));
    if (isfinite(report->seconds_left))
        fprintf(stderr, "  %s left", duration_text(report->seconds_left));
    if (report->validated) {
        fprintf(stderr, "  valid loss %.4f", report->valid_loss);
        if (isfinite(report->valid_bleu))
            fprintf(stderr, "  BLEU %.2f", report->valid_bleu);
        if (report->best)
            fputs("  best so far", stderr);
    }
}

void progress_report(Progress *progress, const TrainReport *report, bool due)
{
    double time = wall_seconds();
    if (!due && (!progress->terminal || time < progress->next))
        return;
    progress_clear(progress);
    print_report(progress, report);
    if (due)
        fputc('\n', stderr);
    progress->drawn = !due;
    progress->next = time + REDRAW_SECONDS;
    fflush(stderr);
}
