/* The buffer of a LineInput. */
#define _GNU_SOURCE
#include "runtime/model/line_input.h"

#include "runtime/data/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

bool input_open(LineInput *input, const char *path)
{
    struct stat info;
    *input = (LineInput){.fd = path ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO};
    if (input->fd < 0)
        return false;
    input->is_file = !fstat(input->fd, &info) && S_ISREG(info.st_mode);
    return true;
}

void input_close(LineInput *input)
{
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    free(input->data);
    *input = (LineInput){.fd = -1};
}

static void fail(LineInput *input, int error)
{
    input->error = error;
    input->at_end = true;
}

/* Room for a chunk and a NUL behind what is there. */
static bool make_room(LineInput *input)
{
    if (input->begin) {
        memmove(input->data, input->data + input->begin, input->end - input->begin);
        input->end -= input->begin;
        input->searched -= input->begin;
        input->begin = 0;
    }
    if (input->room - input->end > CHUNK)
        return true;
    const size_t room = 2 * input->room + CHUNK + 1;
    char *data = realloc(input->data, room);
    if (!data)
        return false;
    input->data = data;
    input->room = room;
    return true;
}

/* Reads what is there; waits if nothing is. */
static void fill(LineInput *input)
{
    if (!make_room(input)) {
        fail(input, ENOMEM);
        return;
    }
    const ssize_t n = read(input->fd, input->data + input->end, CHUNK);
    if (n > 0)
        input->end += (size_t)n;
    else if (n == 0)
        input->at_end = true;
    else if (errno != EINTR)
        fail(input, errno);
}

/* The newline that ends the line at `begin`; NULL: it has not been read. */
static char *find_newline(LineInput *input)
{
    const size_t n = input->end - input->searched;
    char *found = n ? memchr(input->data + input->searched, '\n', n) : NULL;
    input->searched = found ? (size_t)(found - input->data) : input->end;
    return found;
}

/* Without the return at the end, which is no part of it. */
static bool is_long(const char *text, size_t length)
{
    return length > (size_t)LINE_LIMIT + (length && text[length - 1] == '\r');
}

/* Whether the next status is known. */
static bool is_decided(LineInput *input)
{
    return find_newline(input) || input->at_end || input->end - input->begin > LINE_LIMIT + 1;
}

bool input_ready(LineInput *input)
{
    while (!is_decided(input)) {
        struct pollfd one = {.fd = input->fd, .events = POLLIN};
        if (!input->is_file && poll(&one, 1, 0) <= 0)
            return false;
        fill(input);
    }
    return true;
}

InputStatus input_next(LineInput *input, InputLine *line)
{
    while (!is_decided(input))
        fill(input);
    char *newline = find_newline(input);
    *line = (InputLine){input->data + input->begin, input->end - input->begin};
    errno = input->error;
    if (newline)
        line->length = (size_t)(newline - line->text);
    else if (input->error || !line->length)
        return input->error ? INPUT_FAILED : INPUT_END;
    if (is_long(line->text, line->length))
        return INPUT_LONG;
    input->begin = input->searched = newline ? (size_t)(newline + 1 - input->data) : input->end;
    line->length -= line->length && line->text[line->length - 1] == '\r';
    line->text[line->length] = '\0';
    return INPUT_LINE;
}
