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
//   - A socket file that lies inside a readable root can be connected to, because the path of a connect is not visible
//     to seccomp without a supervisor. Sockets of the host lie elsewhere (/run, /tmp, the home directory) and are absent.
//   - A protected path that is a symbolic link protects its target. The link itself is compared after the run and a
//     change is reported (End.Findings), not prevented.
//   - Git metadata other than the protected paths is not inspected after a run.
//   - No denials are recorded: nothing that could be believed reports them yet.
//   - Output is not counted: the command writes to the caller's descriptors itself. A receipt of a capability that asks
//     for an output limit says that it was not applied.
//   - While a command runs, the mount points of missing protected paths (.claude, .mcp.json …) stand in the workspace
//     as empty directories and files. They are removed afterwards, also by the next core after a crash.
//   - A start under OnMissing "warn" has no boundary at all: foreign descriptors that are not close-on-exec reach it, and a
//     process that leaves its group survives a cancellation.
package sandbox
