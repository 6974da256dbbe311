"""Hostile host code, for the device of host memory: each with the idea, the verdict required and what catches it.

``OUT`` is the honest loop, so that a submission that gets away with its trick would be accepted.
"""

from __future__ import annotations

from dataclasses import dataclass

from judge.verdict import Verdict

_HEAD = """
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
"""
_SOLVE = 'extern "C" void solve(const float* in, float* out, int n)'
OUT = " for (int i = 0; i < n; i++) out[i] = 2 * in[i]; "


@dataclass(frozen=True)
class Hostile:
    name: str
    source: str
    verdict: Verdict
    words: str = ""


def _solve(name: str, body: str, verdict: Verdict, words: str = "", before: str = "") -> Hostile:
    return Hostile(name, f"{_HEAD}{before}\n{_SOLVE} {{ {body} }}\n", verdict, words)


def _constructor(name: str, body: str, verdict: Verdict, words: str = "") -> Hostile:
    return _solve(name, OUT, verdict, words, f"__attribute__((constructor)) static void first() {{ {body} }}")


_AC, _WA, _RE = Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR
_TLE, _MLE, _OLE = Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED, Verdict.OUTPUT_LIMIT_EXCEEDED
_SV = Verdict.SECURITY_VIOLATION

#: Finds the socket among the descriptors: what is open, no pipe's end and answers getsockopt.
_FIND_SOCKET = """
static int find_socket() {
  for (int fd = 3; fd < 64; fd++) {
    int type; socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0) return fd;
  }
  return -1;
}
"""
_FRAME = """
#pragma pack(push, 1)
struct Header { uint32_t magic; uint16_t op, flags; uint64_t nonce; uint32_t length; };
#pragma pack(pop)
"""

ENDINGS = [
    _solve("exit_0", OUT + "exit(0);", _RE, "exit(0)"),
    _solve("exit_before_the_work", "_exit(0);", _RE, "exit(0)"),
    _solve("abort", "abort();", _RE, "SIGABRT"),
    _solve("throw", 'throw std::runtime_error("secret");', _RE, "exception of type std::runtime_error"),
    _solve("null_pointer", "*(volatile int*)nullptr = 1;", _RE, "SIGSEGV"),
    _solve("division", "volatile int zero = 0; out[0] = n / zero;", _RE, "SIGFPE"),
    _solve("stop", "raise(SIGSTOP);", _TLE),
    _solve("endless_loop", "for (volatile int i = 1; i;);", _TLE, "longer than"),
    _solve("sleep", "for (;;) pause();", _TLE),
    _solve("blocked_signals", "sigset_t s; sigfillset(&s); sigprocmask(SIG_BLOCK, &s, 0); for (;;) pause();", _TLE),
    _constructor("constructor_exits", "_exit(0);", _RE, "static constructor"),
    _constructor("constructor_forks", "fork();", _SV, "static constructor"),
    _solve(
        "destructor_loops",
        OUT,
        _AC,
        before="__attribute__((destructor)) static void last() { for (volatile int i = 1; i;); }",
    ),
    _solve("atexit_prints", OUT + 'atexit([] { for (;;) puts("late"); });', _AC),
]

SYSTEM_CALLS = [
    _solve("fork", "if (fork() == 0) for (;;);" + OUT, _SV),
    _solve("fork_bomb", "for (;;) fork();", _SV),
    _solve("vfork", "if (vfork() == 0) _exit(0);" + OUT, _SV),
    _solve("exec", 'execl("/bin/true", "true", (char*)0);' + OUT, _SV),
    _solve("system", 'system("true");' + OUT, _SV),
    _solve("socket", "socket(AF_INET, SOCK_STREAM, 0);" + OUT, _SV),
    _solve("netlink", "socket(AF_NETLINK, SOCK_RAW, 0);" + OUT, _SV),
    _solve("ptrace", "ptrace(PTRACE_TRACEME, 0, 0, 0);" + OUT, _SV),
    _solve("process_vm_writev", "syscall(SYS_process_vm_writev, getpid(), 0, 0, 0, 0, 0);" + OUT, _SV),
    _solve("io_uring", "syscall(425, 1, 0);" + OUT, _SV),
    _solve("bpf", "syscall(SYS_bpf, 0, 0, 0);" + OUT, _SV),
    _solve("unshare", "syscall(SYS_unshare, 0x10000000);" + OUT, _SV),
    _solve("kill_everybody", "kill(-1, SIGKILL);" + OUT, _SV),
    _solve("thread", "std::thread([] {}).join();" + OUT, _RE, "was a thread to be started? A submission starts none"),
    # A refusal that honest libraries live with is no crime; it must only not have worked.
    _solve(
        "dumpable", "if (prctl(PR_SET_DUMPABLE, 1) == 0) return;" + OUT, _AC
    ),
    _solve("another_processor",
           "cpu_set_t all; for (int i = 0; i < CPU_SETSIZE; i++) CPU_SET(i, &all);"
           " if (syscall(SYS_sched_setaffinity, 0, sizeof all, &all) == 0) return;" + OUT, _AC),
    _solve("priority", "if (syscall(SYS_setpriority, 0, 0, 5) == 0) return;" + OUT, _AC),
    _solve("timer_slack", "if (prctl(PR_SET_TIMERSLACK, 1) == 0) return;" + OUT, _AC),
    _solve("executable_memory",
           "void* p = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
           " if (p != MAP_FAILED) return;" + OUT, _AC),
]  # fmt: skip

FLOODS = [
    _solve("stdout", 'for (;;) puts("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");', _OLE),
    _solve("stderr", 'for (;;) fputs("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", stderr);', _OLE),
    _solve("some_output", 'puts("hello");' + OUT, _AC),
    _solve("memory", "for (;;) { char* p = (char*)malloc(1 << 24); if (p) memset(p, 1, 1 << 24); }", _MLE),
    _solve("shared_memory",
           "for (;;) {"
           " void* p = mmap(0, 1 << 26, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);"
           " if (p != MAP_FAILED) memset(p, 1, 1 << 26); }",
           _MLE),
    # The disk is a small one of its own, and full is full.
    _solve("disk", 'int fd = open("/tmp/x", O_CREAT | O_WRONLY, 0600); static char block[1 << 20];'
           " long mib = 0; while (write(fd, block, sizeof block) > 0) mib++; if (mib > 1024) return;" + OUT, _AC),
    _solve("descriptors", "while (dup(0) >= 0);" + OUT, _AC),
]  # fmt: skip

#: Each gives a wrong answer where what it looks for can be had.
CURIOSITY = [
    _solve("passwd", 'if (open("/etc/passwd", O_RDONLY) >= 0) return;' + OUT, _AC),
    _solve("root", 'if (open("/root/.bashrc", O_RDONLY) >= 0 || opendir("/root/.ssh")) return;' + OUT, _AC),
    _solve("home", 'if (opendir("/home")) return;' + OUT, _AC),
    _solve("write_root", 'if (open("/evil", O_CREAT | O_WRONLY, 0600) >= 0) return;' + OUT, _AC),
    _solve("proc_self_mem", 'if (open("/proc/self/mem", O_RDWR) >= 0) return;' + OUT, _AC),
    _solve("other_processes",
           'DIR* proc = opendir("/proc"); int others = 0; while (dirent* e = proc ? readdir(proc) : 0)'
           " { int pid = atoi(e->d_name); if (pid > 2 && pid != getpid()) others++; }"
           " if (others) return;" + OUT, _AC),
    _solve("environment", 'extern char** environ; for (char** e = environ; *e; e++)'
           ' if (strstr(*e, "GPUJUDGE") || strstr(*e, "SECRET")) return;' + OUT, _AC),
]  # fmt: skip

BUFFERS = [
    _solve("behind_the_output", OUT + "out[n] = 0;", _RE, "output, after its end"),
    _solve("before_the_output", OUT + "out[-1] = 0;", _RE, "output, before its start"),
    _solve("into_the_input", OUT + "((float*)in)[0] += 1;", _RE, "changed its input input"),
    _solve("behind_the_input", OUT + "((float*)in)[n] = 0;", _RE, "input, after its end"),
    _solve("reads_behind_the_input", "volatile float next = in[n]; (void)next;" + OUT, _AC),
    _solve("adds_into_the_output", "for (int i = 0; i < n; i++) out[i] += 2 * in[i];", _AC),
    _solve("last_answer", "static float* kept; static int size; if (!kept) { kept = (float*)malloc(1 << 20);" + OUT
           + "memcpy(kept, out, 4 * n); size = n; } else memcpy(out, kept, 4 * (n < size ? n : size));", _WA),
    _solve("nothing", "", _WA, "expected"),
]  # fmt: skip

FORGERIES = [
    _solve("garbage_to_every_descriptor",
           'for (int fd = 3; fd < 64; fd++) write(fd, "all is well, give me the best verdict", 36);' + OUT,
           _SV, "channel"),
    _solve("garbage_instead_of_the_work",
           'for (int fd = 3; fd < 64; fd++) write(fd, "all is well, give me the best verdict", 36);', _SV, "channel"),
    _solve("forged_reply_with_a_guessed_nonce",
           "Header h{0x4A475047, 0x8004, 0, 12345, 0}; write(find_socket(), &h, sizeof h);", _SV, "channel",
           _FRAME + _FIND_SOCKET),
    # It reads the real nonce out of the process's memory and so can say that all went well. The outputs remain wrong.
    _solve("forged_reply_with_the_right_nonce", """
           FILE* maps = fopen("/proc/self/maps", "r"); char line[512]; uint64_t nonce = 0; Header wanted;
           while (maps && fgets(line, sizeof line, maps)) {
             unsigned long from, to; char mode[8];
             if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || mode[0] != 'r' || mode[1] != 'w') continue;
             if (strstr(line, "[stack]") || to - from > (64ul << 20)) continue;
             for (unsigned long at = from; at + sizeof wanted <= to; at += 1) {
               memcpy(&wanted, (void*)at, sizeof wanted);
               if (wanted.magic == 0x4A475047 && wanted.op == 4 && wanted.length == 0) nonce = wanted.nonce;
             }
           }
           struct { Header h; char body[18]; } reply{{0x4A475047, 0x8004, 0, nonce, 18}, {0}};
           memset(reply.body, 0, sizeof reply.body); write(find_socket(), &reply, sizeof reply);
           """, _SV, "", _FRAME + _FIND_SOCKET),
    _solve("swallowed_request", "char all[4096]; int fd = find_socket(); read(fd, all, sizeof all);" + OUT, _TLE, "",
           _FIND_SOCKET),
    _solve("closed_descriptors", "for (int fd = 0; fd < 64; fd++) close(fd);" + OUT, _RE, "could not go on"),
    _solve("flooded_channel", "static char zeros[4096]; int fd = find_socket();"
           " for (int i = 0; i < 100000; i++) if (write(fd, zeros, sizeof zeros) < 0) break;" + OUT, _SV, "channel",
           _FIND_SOCKET),
    _solve("mapped_inputs_made_writable", """
           FILE* maps = fopen("/proc/self/maps", "r"); char line[512]; int changed = 0;
           while (maps && fgets(line, sizeof line, maps)) {
             unsigned long from, to;
             if (!strstr(line, "memfd:inputs") || sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
             if (mprotect((void*)from, to - from, PROT_READ | PROT_WRITE) == 0) changed = 1;
           }
           if (changed) return;
           """ + OUT, _AC),
]  # fmt: skip

ALL = [*ENDINGS, *SYSTEM_CALLS, *FLOODS, *CURIOSITY, *BUFFERS, *FORGERIES]
