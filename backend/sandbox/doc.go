// Package sandbox owns the start of processes. Every process of the product begins in a Broker, inside the boundary its
// capability describes, and two receipt records say so: one before the command executes, one after it ended.
//
// One way leads to a process:
//
//	Spec → survey (what is on disk) → plan (pure) → bubblewrap → countersign-init → report → start record → go → command
//
// On Linux three layers hold together. bubblewrap makes the namespaces and the mounts; countersign-init (init/, C
// without a C library) applies Landlock, the limits and seccomp inside, reports what the kernel accepted, and waits. The
// broker compares that report with what was demanded, makes the start record durable, and only then says go. The
// same machinery, run once without a command, is the probe. A boundary is called Enforced only when the probe and the
// started process itself showed every demanded protection; otherwise nothing starts (*UnavailableError), except under
// the owner's explicit OnMissing "warn", and then every record says Unavailable.
//
// The planner, the Landlock rules, the seccomp program, the message and the judgement of reports are pure and tested on
// every system. What touches the kernel stands in files named for the system.
//
// What it refuses: to fall back to a plain process by itself, to hand on the caller's environment or descriptors, to
// take process output as evidence of anything, to start what its working directory's identity does not match, to treat
// the home directory or a system directory as a workspace, any network but "off", and danger-full-access.
//
// Known limits, today:
//   - No unix socket can be made, only connected pairs that are not of datagrams: the path of a connect is not visible
//     to seccomp without a supervisor, and socket files of the host's may lie in readable roots. The price: nothing
//     inside can serve or reach another process through a socket file or an abstract name (gpg-agent, ssh-agent,
//     watchman, git's fsmonitor daemon, database servers, X11, Python's multiprocessing managers and forkserver,
//     Node's servers on a path). Pipes, FIFOs, shared memory and stream pairs work, and with them shells, git, make,
//     compilers, Node's and Python's children. A socket that the caller hands over as a stream is the caller's gift.
//   - A protected path that is a symbolic link protects its target and the way there. The link itself is compared
//     after the run and a change is reported (End.Findings), not prevented.
//   - In repositories within the write roots what exists is read-only (config, config.worktree, hooks, commondir,
//     gitdir, a .git file, and the files that a configuration includes or takes hooks from). So git config, git
//     worktree remove and rm -r fail there, except for a repository that the same command made. What appears
//     (.git/commondir, other repositories) is judged after the run and taken away (NAME.countersign-quarantined) when
//     it would make git execute something; until the run ends a git of the host's can obey it, and after a crash of
//     the core nobody judges it. A repository that the host makes meanwhile is judged as the command's. The search is
//     bounded (repositories_linux.go); beyond the bound a finding says so.
//   - Of a repository only these files are looked at. What its working tree makes the host execute (build files, hooks
//     that hooks call, rebase todo lists, attributes with filters that the host's own configuration defines) is
//     project content.
//   - A protected, guarded or hidden file that the host itself replaces by rename while a command runs takes its mount
//     with it: it is then as open to that command as its directory. In Git's metadata the change is reported. Another
//     hard link to such a file, made before, is not protected.
//   - No denials are recorded: nothing that could be believed reports them yet.
//   - Output is not counted: the command writes to the caller's descriptors itself. A receipt of a capability that
//     asks for an output limit says that it was not applied.
//   - While a command runs, the mount points of missing protected paths (.claude, .mcp.json, .git/config.worktree …),
//     and of hidden and guarded ones that are missing in a write root, stand there as empty directories and files.
//     They are removed afterwards, also by the next core after a crash.
//   - A start under OnMissing "warn" has no boundary at all: foreign descriptors that are not close-on-exec reach it,
//     and a process that leaves its group survives a cancellation.
package sandbox
