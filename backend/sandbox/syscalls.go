package sandbox

// machine is an architecture the seccomp program can be made for.
type machine struct {
	name  string
	audit uint32 // AUDIT_ARCH_*, from linux/audit.h
	x32   bool   // has the x32 ABI, whose numbers carry a bit of their own
	index int    // into syscallNumbers' pairs
}

var (
	machineAMD64 = machine{name: "amd64", audit: 0xc000003e, x32: true, index: 0}
	machineARM64 = machine{name: "arm64", audit: 0xc00000b7, index: 1}
)

// none marks a system call that an architecture does not have.
const none = -1

// lastJudged is the highest system call number that this filter's author has judged (file_setattr, Linux 6.17). What a
// newer kernel adds above it answers ENOSYS, as on an older kernel, and programs fall back.
const lastJudged = 469

// syscallNumbers holds the numbers on amd64 and arm64; a test compares them with x/sys.
var syscallNumbers = map[string][2]int{
	"acct":              {163, 89},
	"add_key":           {248, 217},
	"bpf":               {321, 280},
	"chroot":            {161, 51},
	"clock_settime":     {227, 112},
	"clone":             {56, 220},
	"clone3":            {435, 435},
	"delete_module":     {176, 106},
	"fanotify_init":     {300, 262},
	"finit_module":      {313, 273},
	"fsconfig":          {431, 431},
	"fsmount":           {432, 432},
	"fsopen":            {430, 430},
	"fspick":            {433, 433},
	"init_module":       {175, 105},
	"io_uring_enter":    {426, 426},
	"io_uring_register": {427, 427},
	"io_uring_setup":    {425, 425},
	"ioctl":             {16, 29},
	"ioperm":            {173, none},
	"iopl":              {172, none},
	"kcmp":              {312, 272},
	"kexec_file_load":   {320, 294},
	"kexec_load":        {246, 104},
	"keyctl":            {250, 219},
	"lookup_dcookie":    {212, 18},
	"modify_ldt":        {154, none},
	"mount":             {165, 40},
	"mount_setattr":     {442, 442},
	"move_mount":        {429, 429},
	"name_to_handle_at": {303, 264},
	"nfsservctl":        {180, 42},
	"open_by_handle_at": {304, 265},
	"open_tree":         {428, 428},
	"open_tree_attr":    {467, 467},
	"perf_event_open":   {298, 241},
	"pidfd_getfd":       {438, 438},
	"pivot_root":        {155, 41},
	"process_madvise":   {440, 440},
	"process_vm_readv":  {310, 270},
	"process_vm_writev": {311, 271},
	"ptrace":            {101, 117},
	"quotactl":          {179, 60},
	"quotactl_fd":       {443, 443},
	"reboot":            {169, 142},
	"request_key":       {249, 218},
	"setdomainname":     {171, 162},
	"sethostname":       {170, 161},
	"setns":             {308, 268},
	"settimeofday":      {164, 170},
	"socket":            {41, 198},
	"socketpair":        {53, 199},
	"swapoff":           {168, 225},
	"swapon":            {167, 224},
	"syslog":            {103, 116},
	"umount2":           {166, 39},
	"unshare":           {272, 97},
	"userfaultfd":       {323, 282},
	"vhangup":           {153, 58},
}
