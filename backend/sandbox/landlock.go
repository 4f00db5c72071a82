package sandbox

// Access rights of Landlock, from linux/landlock.h; see landlock(7).
const (
	llExecute = 1 << iota
	llWriteFile
	llReadFile
	llReadDir
	llRemoveDir
	llRemoveFile
	llMakeChar
	llMakeDir
	llMakeReg
	llMakeSock
	llMakeFifo
	llMakeBlock
	llMakeSym
	llRefer    // ABI 2
	llTruncate // ABI 3
	llIoctlDev // ABI 5

	llBindTCP    = 1 << 0 // ABI 4
	llConnectTCP = 1 << 1

	llScopeAbstract = 1 << 0 // ABI 6
	llScopeSignal   = 1 << 1
)

// What a place may be used for.
const (
	accessRead    = llExecute | llReadFile | llReadDir
	accessList    = llReadDir
	accessProc    = llReadFile | llReadDir
	accessDevices = llReadFile | llReadDir | llWriteFile | llTruncate | llIoctlDev
	accessWrite   = accessRead | llWriteFile | llRemoveDir | llRemoveFile | llMakeDir | llMakeReg | llMakeSock |
		llMakeFifo | llMakeSym | llRefer | llTruncate

	// accessOfFiles are the rights that mean something for a file; the kernel refuses a rule on a file with others.
	accessOfFiles = llExecute | llReadFile | llWriteFile | llTruncate | llIoctlDev
)

// rights is what a kernel's Landlock can handle.
type rights struct {
	ABI    int    `json:"abi"`
	FS     uint64 `json:"fs"`
	Net    uint64 `json:"net"`
	Scoped uint64 `json:"scoped"`
	Size   uint32 `json:"size"` // of struct landlock_ruleset_attr
}

// rightsOf returns everything that Landlock of this ABI handles and that is known here. A newer ABI handles more; what is
// not known is not demanded.
func rightsOf(abi int) rights {
	r := rights{ABI: abi}
	switch {
	case abi < 1:
		return r
	case abi == 1:
		r.FS = llRefer - 1
	case abi == 2:
		r.FS = llTruncate - 1
	case abi < 5:
		r.FS = llIoctlDev - 1
	default:
		r.FS = llIoctlDev<<1 - 1
	}
	r.Size = 8
	if abi >= 4 {
		r.Net, r.Size = llBindTCP|llConnectTCP, 16
	}
	if abi >= 6 {
		r.Scoped, r.Size = llScopeAbstract|llScopeSignal, 24
	}
	return r
}

// rule allows the rights at and below a path that is opened inside the boundary.
type rule struct {
	Path     string `json:"path"`
	Access   uint64 `json:"access"`
	Optional bool   `json:"optional,omitempty"` // skipped where the path is gone or is nothing Landlock can name
}

// rulesOf computes what the boundary allows. Landlock has no deny rule: what is denied or protected inside an allowed
// place is the mounts' part. No TCP port is allowed.
func rulesOf(s survey) []rule {
	var list []rule
	handled := rightsOf(s.ABI).FS
	add := func(path string, access uint64, dir bool) {
		if !dir {
			access &= accessOfFiles
		}
		if access &= handled; access != 0 {
			list = append(list, rule{Path: path, Access: access})
		}
	}
	add("/proc", accessProc, true)
	add("/dev", accessDevices, true)
	add("/dev/shm", accessWrite, true)
	add("/tmp", accessWrite, true)
	add("/var/tmp", accessWrite, true)
	add(s.Home, accessWrite, true)
	for _, p := range s.Metadata {
		add(p.Path, accessList, p.Dir)
	}
	writable := make([]string, 0, len(s.Write))
	for _, p := range s.Write {
		writable = append(writable, p.Path)
		add(p.Path, accessWrite, p.Dir)
	}
	for _, p := range s.Read {
		if !inAny(writable, p.Path) {
			add(p.Path, accessRead, p.Dir)
		}
	}
	// The command's own streams may be opened again by name (/dev/stdout), with no more than they are open for.
	for i, access := range s.Streams {
		if access &= handled; access != 0 {
			list = append(list, rule{Path: "/proc/self/fd/" + string(rune('0'+i)), Access: access, Optional: true})
		}
	}
	return list
}
