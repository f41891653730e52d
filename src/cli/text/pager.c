#define _POSIX_C_SOURCE 200809L /* setenv, signal sets, fdopen */
#include "cli/text/pager.h"

#include "cli/text/terminal.h"
#include "cli/text/wrap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

static const char *command_of(void)
{
    const char *own = getenv("REFRAIN_PAGER"), *general = getenv("PAGER");
    const char *command = own ? own : general;
    if (!command)
        return "if command -v less >/dev/null; then exec less; else exec cat; fi";
    return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* The pager ends when it has got everything and its user has read it. */
static void wait_for_pager(void)
{
    fflush(stdout);
    fflush(stderr);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void become_pager(const char *command, const int ends[2])
{
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("LESS", "FRX", 0);
    /* Where there is no such command nothing has been read: the page is printed all the same. */
    execlp("sh", "sh", "-c", "(eval \"$0\"); [ $? -ne 127 ] || exec cat", command, (char *)NULL);
    _exit(127);
}

void rfn_pager_start(const struct rfn_text *text)
{
    const char *command = command_of();
    int ends[2];
    if (pager || !command || !isatty(STDOUT_FILENO) ||
        rfn_text_lines(text) < rfn_terminal_lines() || pipe(ends) < 0)
        return;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        become_pager(command, ends);
    close(ends[0]);
    if (child > 0) {
        pager = child;
        /* An interrupt is for the pager, which may stop reading; then there is SIGPIPE. */
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        if (isatty(STDERR_FILENO))
            dup2(ends[1], STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        atexit(wait_for_pager);
    }
    close(ends[1]);
}
