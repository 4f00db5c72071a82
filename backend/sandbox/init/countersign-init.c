/*
 * countersign-init: the first process inside a boundary.
 *
 * It applies what the broker computed and decides nothing. One fixed message says everything: the Landlock rules, the
 * limits, the seccomp program, the arguments, the environment, the working directory. It applies them in one order,
 * reports what the kernel accepted, waits for the broker's word that the start record is durable, and becomes the
 * command. Any step that fails ends the start: there is no way through this program to a command with less in force
 * than the message demanded.
 *
 * Why C without a C library: one thread (Landlock and seccomp are per thread), no start-up of its own, 3 page faults.
 *
 * Processes. bubblewrap executes this program as pid 1 of a new pid namespace. Pid 1 gives up every privilege, forks
 * once, reaps everything, forwards signals the broker names, and kills whatever is left when the command has ended.
 * The command is pid 2, because a pid 1 ignores signals it has no handler for, its own kill -9 included. Both share
 * one working directory (CLONE_FS), so that pid 1 knows the command's last one without the command's help.
 *
 * Descriptors at start, all given by the broker:
 *   0, 1, 2            not the command's: bubblewrap's own, replaced before anything runs
 *   CONTROL (3)        stream socket: hello out, message in, then signal numbers in and one exit report out
 *   header.status (4)  seqpacket socket: one start report out, one go byte in, one report if the execve failed.
 *                      It closes on execve, which is how the broker sees that the command runs
 *   header.stdio[0..2] the command's standard streams
 *   header.self        this program, by which bubblewrap executed it
 *   above header.last  foreign: closed first of all
 *
 * The message is: struct header, then the arrays in the order rules, ports, limits, instructions, argv offsets,
 * environment offsets, then the string bytes, whose last byte is 0. Numbers are in the machine's byte order (both ends
 * run on one machine). Offsets count from the first string byte. backend/sandbox/message.go writes it.
 */

#include <asm/ioctls.h>
#include <asm/unistd.h>
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <linux/stat.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long u64;
typedef long s64;

_Static_assert(sizeof(u32) == 4 && sizeof(u64) == 8 && sizeof(void *) == 8, "a 64-bit Linux is required");

/* ---- system calls ---- */

#if defined(__x86_64__)
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;
	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}
__asm__(".globl _start\n.type _start,@function\n_start:\n\txor %ebp,%ebp\n\tand $-16,%rsp\n\tcall cs_main\n\thlt\n");
#elif defined(__aarch64__)
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}
__asm__(".globl _start\n.type _start,%function\n_start:\n\tmov x29,#0\n\tmov x30,#0\n\tbl cs_main\n\tbrk #1\n");
#else
#error "countersign-init knows x86_64 and aarch64"
#endif

#define P(x) ((long)(x))
#define sys0(n) sys6(n, 0, 0, 0, 0, 0, 0)
#define sys1(n, a) sys6(n, P(a), 0, 0, 0, 0, 0)
#define sys2(n, a, b) sys6(n, P(a), P(b), 0, 0, 0, 0)
#define sys3(n, a, b, c) sys6(n, P(a), P(b), P(c), 0, 0, 0)
#define sys4(n, a, b, c, d) sys6(n, P(a), P(b), P(c), P(d), 0, 0)
#define sys5(n, a, b, c, d, e) sys6(n, P(a), P(b), P(c), P(d), P(e), 0)

/* Numbers that older kernel headers lack; the same on both architectures. */
enum {
	NR_close_range = 436,
	NR_landlock_create_ruleset = 444,
	NR_landlock_add_rule = 445,
	NR_landlock_restrict_self = 446,
};

/* From the libc's headers, which are not used here. */
enum {
	MSG_NOSIGNAL_ = 0x4000,
	PROT_READ_ = 1,
	PROT_WRITE_ = 2,
	MAP_PRIVATE_ = 2,
	MAP_ANONYMOUS_ = 0x20,
	CLONE_FS_ = 0x200,
	SIGKILL_ = 9,
	SIGCHLD_ = 17,
	SIG_BLOCK_ = 0,
	SIG_SETMASK_ = 2,
	NSIG_ = 64,
	SFD_CLOEXEC_ = 02000000,
	POLLIN_ = 1,
	WNOHANG_ = 1,
	RUSAGE_CHILDREN_ = -1,
	AF_UNIX_ = 1,
	AF_INET_ = 2,
	AF_VSOCK_ = 40,
	SOCK_STREAM_ = 1,
	SOCK_CLOEXEC_ = 02000000,
};

/* The compiler may call these for copies and zeroed structures. */
void *memcpy(void *dst, const void *src, u64 n)
{
	u8 *d = dst;
	const u8 *s = src;
	while (n--)
		*d++ = *s++;
	return dst;
}

void *memset(void *dst, int c, u64 n)
{
	u8 *d = dst;
	while (n--)
		*d++ = (u8)c;
	return dst;
}

/* ---- the message and the reports; backend/sandbox/message.go and report.go hold the same layout ---- */

enum {
	CONTROL = 3,
	STATUS = 4, /* where a failure is told before the message says so */
	MAGIC = 0x31495343, /* "CSI1" */
	MAX_MESSAGE = 8 << 20,
	MAX_COUNT = 1 << 17,

	FLAG_TERMINAL = 1,  /* descriptor 0 is a terminal this command may take as its controlling one */
	FLAG_DIRECTORY = 2, /* the exit report carries the last working directory */

	RULE_OPTIONAL = 1, /* a path that is gone, or that Landlock cannot name, is skipped */

	KIND_HELLO = 1,
	KIND_START = 2,
	KIND_FAILED = 3,
	KIND_EXEC_FAILED = 4,
	KIND_EXIT = 5,

	/* What was being done when something failed. */
	STEP_MESSAGE = 1,
	STEP_PRIVILEGES = 2,
	STEP_FORK = 3,
	STEP_STREAMS = 4,
	STEP_DIRECTORY = 5,
	STEP_RULESET = 6,
	STEP_RULE = 7,
	STEP_PORT = 8,
	STEP_RESTRICT = 9,
	STEP_LIMIT = 10,
	STEP_DESCRIPTORS = 11,
	STEP_SECCOMP = 12,
	STEP_NAMESPACE = 13,

	/* Attempts whose refusal shows a layer at work, by index in report.attempts. */
	TRY_WRITE_MOUNTED = 0, /* create a file under a read-only mount: EROFS */
	TRY_WRITE_RUN = 1,     /* create a file on a writable tmpfs no rule names: EACCES from Landlock */
	TRY_READ_ROOT = 2,     /* list a directory no rule names: EACCES from Landlock */
	TRY_CONNECT = 3,       /* TCP connect: EACCES from Landlock, not ECONNREFUSED */
	TRY_UNSHARE = 4,       /* unshare(0), which the kernel always grants: EPERM from seccomp */
	TRY_VSOCK = 5,         /* socket(AF_VSOCK): EAFNOSUPPORT from seccomp */
	TRY_STI = 6,           /* ioctl(TIOCSTI): EPERM from seccomp */
	TRY_UNIX = 7,          /* socket(AF_UNIX): EACCES from seccomp */
	ATTEMPTS = 8,

	NAMESPACES = 7,
};

struct header {
	u32 magic, total;
	u32 flags, umask;
	u32 status, self, last, stdio[3];
	u32 rules, ports, limits, instructions, argv, env;
	u64 handled_fs, handled_net, scoped;
	u32 attr_size, restrict_flags;
	u32 seccomp_flags, path;  /* path: offset of the program to execute */
	u32 cwd, try_mounted;     /* offsets */
	u32 try_run, try_root;    /* offsets */
};

struct rule {
	u64 access;
	u32 path, flags;
};

struct port {
	u64 access, port;
};

struct limit {
	u32 resource, pad;
	u64 soft, hard;
};

struct report {
	u32 magic, kind;
	u32 step, index;
	s32 error;
	u32 abi;
	u32 seccomp, no_new_privs;
	u32 securebits, pid;
	u32 uid, gid;
	u64 cap_effective, cap_permitted, cap_inheritable, cap_bounding, cap_ambient;
	u64 handled_fs, handled_net, scoped;
	u64 namespaces[NAMESPACES];
	u64 cwd_device, cwd_inode;
	s32 attempts[ATTEMPTS];
};

struct exit_report {
	u32 magic, kind;
	u32 status; /* as wait4 gives it */
	u32 length; /* of the directory, without its 0 */
	u64 user_us, system_us, max_rss_kb;
	u64 cwd_device, cwd_inode;
	u8 directory[4096];
};

static struct header *head;
static struct rule *rules;
static struct port *ports;
static struct limit *limits;
static struct sock_filter *instructions;
static u32 *argv_offsets, *env_offsets;
static const char *strings;
static u64 strings_len;
static struct report report; /* what is known so far; sent once */

static void __attribute__((noreturn)) leave(int code)
{
	for (;;)
		sys1(__NR_exit_group, code);
}

static void send_report(int fd, u32 kind)
{
	report.magic = MAGIC;
	report.kind = kind;
	sys6(__NR_sendto, fd, P(&report), sizeof report, MSG_NOSIGNAL_, 0, 0);
}

/* fail tells the broker what could not be applied, and ends. */
static void __attribute__((noreturn)) fail(u32 step, u32 index, long error)
{
	report.step = step;
	report.index = index;
	report.error = (s32)(error < 0 ? -error : error);
	send_report((int)(head ? head->status : STATUS), KIND_FAILED);
	leave(125);
}

static const char *text(u32 offset)
{
	return strings + offset;
}

/* ---- reading the message ---- */

static void read_all(u8 *to, u64 n)
{
	while (n > 0) {
		long got = sys3(__NR_read, CONTROL, to, n);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			leave(125); /* the broker is gone: nobody to tell */
		to += got;
		n -= (u64)got;
	}
}

static void read_message(void)
{
	static struct header first;
	u8 *all, *at;
	u64 need, i;
	long mapped;

	read_all((u8 *)&first, sizeof first);
	if (first.magic != MAGIC || first.total < sizeof first || first.total > MAX_MESSAGE)
		fail(STEP_MESSAGE, 0, EINVAL);
	mapped = sys6(__NR_mmap, 0, first.total, PROT_READ_ | PROT_WRITE_, MAP_PRIVATE_ | MAP_ANONYMOUS_, -1, 0);
	if (mapped < 0 && mapped > -4096)
		fail(STEP_MESSAGE, 1, mapped);
	all = (u8 *)mapped;
	memcpy(all, &first, sizeof first);
	read_all(all + sizeof first, first.total - sizeof first);
	head = (struct header *)all;

	if (head->rules > MAX_COUNT || head->ports > MAX_COUNT || head->limits > MAX_COUNT ||
	    head->instructions > BPF_MAXINSNS || head->argv > MAX_COUNT || head->env > MAX_COUNT || head->argv == 0 ||
	    head->instructions == 0)
		fail(STEP_MESSAGE, 2, EINVAL);
	need = sizeof *head + head->rules * sizeof *rules + head->ports * sizeof *ports +
	       head->limits * sizeof *limits + head->instructions * sizeof *instructions +
	       ((u64)head->argv + head->env) * sizeof(u32);
	if (need >= head->total)
		fail(STEP_MESSAGE, 3, EINVAL);

	at = all + sizeof *head;
	rules = (struct rule *)at;
	at += head->rules * sizeof *rules;
	ports = (struct port *)at;
	at += head->ports * sizeof *ports;
	limits = (struct limit *)at;
	at += head->limits * sizeof *limits;
	instructions = (struct sock_filter *)at;
	at += head->instructions * sizeof *instructions;
	argv_offsets = (u32 *)at;
	at += head->argv * sizeof(u32);
	env_offsets = (u32 *)at;
	at += head->env * sizeof(u32);
	strings = (const char *)at;
	strings_len = head->total - need;

	if (strings[strings_len - 1] != 0)
		fail(STEP_MESSAGE, 4, EINVAL);
	for (i = 0; i < head->rules; i++)
		if (rules[i].path >= strings_len)
			fail(STEP_MESSAGE, 5, EINVAL);
	for (i = 0; i < head->argv; i++)
		if (argv_offsets[i] >= strings_len)
			fail(STEP_MESSAGE, 6, EINVAL);
	for (i = 0; i < head->env; i++)
		if (env_offsets[i] >= strings_len)
			fail(STEP_MESSAGE, 7, EINVAL);
	if (head->path >= strings_len || head->cwd >= strings_len || head->try_mounted >= strings_len ||
	    head->try_run >= strings_len || head->try_root >= strings_len)
		fail(STEP_MESSAGE, 8, EINVAL);
}

/* offsets_to_pointers gives execve the array it wants: n pointers and a null. */
static const char **offsets_to_pointers(const u32 *offsets, u32 n)
{
	long mapped = sys6(__NR_mmap, 0, ((u64)n + 1) * sizeof(char *), PROT_READ_ | PROT_WRITE_,
			   MAP_PRIVATE_ | MAP_ANONYMOUS_, -1, 0);
	const char **list = (const char **)mapped;
	u32 i;

	if (mapped < 0 && mapped > -4096)
		fail(STEP_MESSAGE, 9, mapped);
	for (i = 0; i < n; i++)
		list[i] = text(offsets[i]);
	return list;
}

/* ---- privileges ---- */

/* give_up drops everything that could be used or regained. It runs in pid 1, and pid 2 inherits the result. */
static void give_up(void)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
	const long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
			  SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	long r;
	int cap;

	r = sys5(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (r < 0)
		fail(STEP_PRIVILEGES, 0, r);
	r = sys5(__NR_prctl, PR_SET_SECUREBITS, bits, 0, 0, 0);
	if (r < 0)
		fail(STEP_PRIVILEGES, 1, r);
	for (cap = 0; cap < 64; cap++) {
		r = sys5(__NR_prctl, PR_CAPBSET_READ, cap, 0, 0, 0);
		if (r < 0)
			break; /* past the last capability this kernel has */
		if (r == 1) {
			r = sys5(__NR_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
			if (r < 0)
				fail(STEP_PRIVILEGES, 2, r);
		}
	}
	r = sys5(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (r < 0)
		fail(STEP_PRIVILEGES, 3, r);
	r = sys2(__NR_capset, &h, none);
	if (r < 0)
		fail(STEP_PRIVILEGES, 4, r);
}

/* ---- evidence ---- */

static u64 capability_set(int field)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	if (sys2(__NR_capget, &h, d) < 0)
		return ~0UL; /* unknown counts as everything */
	if (field == 0)
		return d[0].effective | (u64)d[1].effective << 32;
	if (field == 1)
		return d[0].permitted | (u64)d[1].permitted << 32;
	return d[0].inheritable | (u64)d[1].inheritable << 32;
}

static u64 capability_bits(long option, long arg)
{
	u64 set = 0;
	int cap;

	for (cap = 0; cap < 64; cap++) {
		long r = option == PR_CAP_AMBIENT ? sys5(__NR_prctl, option, arg, cap, 0, 0)
						  : sys5(__NR_prctl, option, cap, 0, 0, 0);
		if (r < 0)
			break;
		if (r == 1)
			set |= 1UL << cap;
	}
	return set;
}

static int identity(const char *path, u64 *device, u64 *inode)
{
	struct statx st;
	long r;

	memset(&st, 0, sizeof st);
	r = sys5(__NR_statx, AT_FDCWD, path, 0, STATX_BASIC_STATS, &st);
	if (r < 0)
		return (int)r;
	*inode = st.stx_ino;
	/* As makedev(3) packs it, which is how stat(2) shows it to the broker. */
	*device = (u64)(st.stx_dev_minor & 0xff) | (u64)(st.stx_dev_major & 0xfff) << 8 |
		  (u64)(st.stx_dev_minor & ~0xffU) << 12 | (u64)(st.stx_dev_major & ~0xfffU) << 32;
	return 0;
}

static void note_namespaces(void)
{
	static const char *const names[NAMESPACES] = {
		"/proc/self/ns/user", "/proc/self/ns/pid", "/proc/self/ns/mnt",    "/proc/self/ns/ipc",
		"/proc/self/ns/uts",  "/proc/self/ns/net", "/proc/self/ns/cgroup",
	};
	u64 device;
	int i;

	for (i = 0; i < NAMESPACES; i++)
		if (identity(names[i], &device, &report.namespaces[i]) < 0)
			report.namespaces[i] = 0;
}

static s32 error_of(long r)
{
	return r < 0 ? (s32)-r : 0;
}

static s32 try_create(const char *path)
{
	long fd = sys4(__NR_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0) {
		sys3(__NR_unlinkat, AT_FDCWD, path, 0);
		sys1(__NR_close, fd);
	}
	return error_of(fd);
}

static s32 try_open(const char *path)
{
	long fd = sys4(__NR_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd >= 0)
		sys1(__NR_close, fd);
	return error_of(fd);
}

static s32 try_connect(void)
{
	struct {
		unsigned short family;
		u8 port[2], address[4], zero[8];
	} to = { AF_INET_, { 0, 9 }, { 127, 0, 0, 1 }, { 0 } };
	long fd = sys3(__NR_socket, AF_INET_, SOCK_STREAM_ | SOCK_CLOEXEC_, 0), r;

	if (fd < 0)
		return error_of(fd);
	r = sys3(__NR_connect, fd, &to, sizeof to);
	sys1(__NR_close, fd);
	return error_of(r);
}

static s32 try_vsock(void)
{
	long fd = sys3(__NR_socket, AF_VSOCK_, SOCK_STREAM_ | SOCK_CLOEXEC_, 0);

	if (fd >= 0)
		sys1(__NR_close, fd);
	return error_of(fd);
}

static s32 try_unix(void)
{
	long fd = sys3(__NR_socket, AF_UNIX_, SOCK_STREAM_ | SOCK_CLOEXEC_, 0);

	if (fd >= 0)
		sys1(__NR_close, fd);
	return error_of(fd);
}

/* ---- pid 2: becoming the command ---- */

static void landlock(void)
{
	struct {
		u64 fs, net, scoped;
	} attr = { head->handled_fs, head->handled_net, head->scoped };
	struct __attribute__((packed)) {
		u64 access;
		s32 fd;
	} beneath;
	long set, r, fd;
	u32 i;

	r = sys3(NR_landlock_create_ruleset, 0, 0, 1);
	report.abi = r > 0 ? (u32)r : 0;
	set = sys3(NR_landlock_create_ruleset, &attr, head->attr_size, 0);
	if (set < 0)
		fail(STEP_RULESET, 0, set);
	for (i = 0; i < head->rules; i++) {
		fd = sys4(__NR_openat, AT_FDCWD, text(rules[i].path), O_PATH | O_CLOEXEC, 0);
		if (fd < 0) {
			if (rules[i].flags & RULE_OPTIONAL)
				continue;
			fail(STEP_RULE, i, fd);
		}
		beneath.access = rules[i].access;
		beneath.fd = (s32)fd;
		r = sys4(NR_landlock_add_rule, set, 1, &beneath, 0);
		sys1(__NR_close, fd);
		if (r < 0 && !(rules[i].flags & RULE_OPTIONAL))
			fail(STEP_RULE, i, r);
	}
	for (i = 0; i < head->ports; i++) {
		r = sys4(NR_landlock_add_rule, set, 2, &ports[i], 0);
		if (r < 0)
			fail(STEP_PORT, i, r);
	}
	r = sys2(NR_landlock_restrict_self, set, head->restrict_flags);
	if (r < 0)
		fail(STEP_RESTRICT, 0, r);
	sys1(__NR_close, set);
	report.handled_fs = head->handled_fs;
	report.handled_net = head->handled_net;
	report.scoped = head->scoped;
}

static void default_signals(void)
{
	struct {
		u64 handler, flags, restorer, mask;
	} dfl = { 0, 0, 0, 0 };
	u64 empty = 0;
	int sig;

	for (sig = 1; sig <= NSIG_; sig++)
		sys4(__NR_rt_sigaction, sig, &dfl, 0, sizeof empty); /* refused for KILL and STOP, which is right */
	sys4(__NR_rt_sigprocmask, SIG_SETMASK_, &empty, 0, sizeof empty);
}

static void __attribute__((noreturn)) become_command(void)
{
	struct {
		u64 soft, hard;
	} lim;
	struct sock_fprog program;
	const char **argv = offsets_to_pointers(argv_offsets, head->argv);
	const char **env = offsets_to_pointers(env_offsets, head->env);
	u32 i;
	long r;
	u8 go = 0;

	sys0(__NR_setsid);
	default_signals();
	for (i = 0; i < 3; i++) {
		r = sys3(__NR_dup3, head->stdio[i], i, 0);
		if (r < 0)
			fail(STEP_STREAMS, i, r);
	}
	if (head->flags & FLAG_TERMINAL)
		sys3(__NR_ioctl, 0, TIOCSCTTY, 0); /* refused when it is another session's: it is then a plain stream */
	r = sys1(__NR_chdir, text(head->cwd));
	if (r < 0)
		fail(STEP_DIRECTORY, 0, r);
	r = identity(".", &report.cwd_device, &report.cwd_inode);
	if (r < 0)
		fail(STEP_DIRECTORY, 1, r);
	sys1(__NR_umask, head->umask);

	note_namespaces();
	landlock();
	report.attempts[TRY_WRITE_MOUNTED] = try_create(text(head->try_mounted));
	report.attempts[TRY_WRITE_RUN] = try_create(text(head->try_run));
	report.attempts[TRY_READ_ROOT] = try_open(text(head->try_root));
	report.attempts[TRY_CONNECT] = try_connect();

	for (i = 0; i < head->limits; i++) {
		lim.soft = limits[i].soft;
		lim.hard = limits[i].hard;
		r = sys4(__NR_prlimit64, 0, limits[i].resource, &lim, 0);
		if (r < 0)
			fail(STEP_LIMIT, i, r);
	}

	/* Only 0, 1, 2 and the status socket stay, and the last closes on execve. */
	r = sys3(__NR_dup3, head->status, CONTROL, O_CLOEXEC);
	if (r < 0)
		fail(STEP_DESCRIPTORS, 0, r);
	head->status = CONTROL;
	r = sys3(NR_close_range, CONTROL + 1, ~0U, 0);
	if (r < 0)
		fail(STEP_DESCRIPTORS, 1, r);

	program.len = (unsigned short)head->instructions;
	program.filter = instructions;
	r = sys3(__NR_seccomp, SECCOMP_SET_MODE_FILTER, head->seccomp_flags, &program);
	if (r != 0)
		fail(STEP_SECCOMP, 0, r);

	report.attempts[TRY_UNSHARE] = error_of(sys1(__NR_unshare, 0));
	report.attempts[TRY_VSOCK] = try_vsock();
	report.attempts[TRY_UNIX] = try_unix();
	report.attempts[TRY_STI] = error_of(sys3(__NR_ioctl, CONTROL, TIOCSTI, 0));
	report.seccomp = (u32)sys5(__NR_prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
	report.no_new_privs = (u32)sys5(__NR_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	report.securebits = (u32)sys5(__NR_prctl, PR_GET_SECUREBITS, 0, 0, 0, 0);
	report.pid = (u32)sys0(__NR_getpid);
	report.uid = (u32)sys0(__NR_getuid);
	report.gid = (u32)sys0(__NR_getgid);
	report.cap_effective = capability_set(0);
	report.cap_permitted = capability_set(1);
	report.cap_inheritable = capability_set(2);
	report.cap_bounding = capability_bits(PR_CAPBSET_READ, 0);
	report.cap_ambient = capability_bits(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET);
	send_report(CONTROL, KIND_START);

	do
		r = sys3(__NR_read, CONTROL, &go, 1);
	while (r == -EINTR);
	if (r != 1 || go != 'G')
		leave(125);

	r = sys3(__NR_execve, text(head->path), argv, env);
	report.error = (s32)-r;
	send_report(CONTROL, KIND_EXEC_FAILED);
	leave(127);
}

/* ---- pid 1: reaping and reporting ---- */

struct usage {
	s64 user_s, user_us, system_s, system_us;
	s64 max_rss, rest[13];
};

static void __attribute__((noreturn)) finish(int status)
{
	static struct exit_report out;
	struct usage use;
	long r;

	/* Nothing a command left running outlives it. kill(-1) is atomic against fork. */
	for (;;) {
		sys2(__NR_kill, -1, SIGKILL_);
		r = sys4(__NR_wait4, -1, 0, 0, 0);
		if (r == -ECHILD)
			break;
	}
	out.magic = MAGIC;
	out.kind = KIND_EXIT;
	out.status = (u32)status;
	memset(&use, 0, sizeof use);
	sys2(__NR_getrusage, RUSAGE_CHILDREN_, &use);
	out.user_us = (u64)(use.user_s * 1000000 + use.user_us);
	out.system_us = (u64)(use.system_s * 1000000 + use.system_us);
	out.max_rss_kb = (u64)use.max_rss;
	if (head->flags & FLAG_DIRECTORY) {
		r = sys2(__NR_getcwd, out.directory, sizeof out.directory);
		if (r > 1 && identity(".", &out.cwd_device, &out.cwd_inode) == 0)
			out.length = (u32)r - 1;
	}
	sys6(__NR_sendto, CONTROL, P(&out), sizeof out, MSG_NOSIGNAL_, 0, 0);
	leave(0);
}

static void __attribute__((noreturn)) reap(long child)
{
	struct {
		s32 fd;
		short events, revents;
	} wait[2];
	u64 mask = 1UL << (SIGCHLD_ - 1);
	u8 info[128];
	u32 sig;
	int status = 0, s = 0, ended = 0;
	long fd, r;

	fd = sys4(__NR_signalfd4, -1, &mask, sizeof mask, SFD_CLOEXEC_);
	if (fd < 0)
		leave(125); /* ending pid 1 ends the namespace */
	wait[0].fd = (s32)fd;
	wait[1].fd = CONTROL;
	for (;;) {
		/* The first look needs no signal: the child may have ended before the descriptor existed. */
		for (;;) {
			r = sys4(__NR_wait4, -1, &s, WNOHANG_, 0);
			if (r <= 0)
				break;
			if (r == child) {
				status = s;
				ended = 1;
			}
		}
		if (ended)
			finish(status);
		wait[0].events = wait[1].events = POLLIN_;
		wait[0].revents = wait[1].revents = 0;
		r = sys5(__NR_ppoll, wait, 2, 0, 0, 0);
		if (r < 0 && r != -EINTR)
			leave(125);
		if (r <= 0)
			continue;
		if (wait[0].revents)
			sys3(__NR_read, fd, info, sizeof info);
		if (wait[1].revents) {
			r = sys3(__NR_read, CONTROL, &sig, sizeof sig);
			if (r == -EINTR)
				continue;
			if (r != sizeof sig)
				leave(125); /* the broker is gone: so is everything here */
			if (sig > 0 && sig <= NSIG_)
				sys2(__NR_kill, -child, sig);
		}
	}
}

void __attribute__((noreturn, used)) cs_main(void)
{
	static const u32 hello[2] = { MAGIC, KIND_HELLO };
	u64 mask = 1UL << (SIGCHLD_ - 1);
	long child;
	int i;

	/* Everything below, kill(-1) above all, is meant for a pid namespace of our own. */
	if (sys0(__NR_getpid) != 1)
		fail(STEP_NAMESPACE, 0, EINVAL);
	sys5(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	sys6(__NR_sendto, CONTROL, P(hello), sizeof hello, MSG_NOSIGNAL_, 0, 0);
	read_message();
	if (sys3(NR_close_range, head->last + 1, ~0U, 0) < 0)
		fail(STEP_DESCRIPTORS, 2, EINVAL);
	sys1(__NR_close, head->self);
	give_up();
	sys4(__NR_rt_sigprocmask, SIG_BLOCK_, &mask, 0, sizeof mask);

	child = sys5(__NR_clone, CLONE_FS_ | SIGCHLD_, 0, 0, 0, 0);
	if (child < 0)
		fail(STEP_FORK, 0, child);
	if (child == 0)
		become_command();
	for (i = 0; i < CONTROL; i++)
		sys1(__NR_close, i);
	if (sys3(NR_close_range, CONTROL + 1, ~0U, 0) < 0)
		leave(125);
	reap(child);
}
