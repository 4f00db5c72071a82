package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/capability"
)

func TestRightsOf(t *testing.T) {
	for _, want := range []rights{
		{ABI: -1},
		{ABI: 0},
		{ABI: 1, FS: 0x1fff, Size: 8},
		{ABI: 2, FS: 0x3fff, Size: 8},
		{ABI: 3, FS: 0x7fff, Size: 8},
		{ABI: 4, FS: 0x7fff, Net: 3, Size: 16},
		{ABI: 5, FS: 0xffff, Net: 3, Size: 16},
		{ABI: 6, FS: 0xffff, Net: 3, Scoped: 3, Size: 24},
		{ABI: 7, FS: 0xffff, Net: 3, Scoped: 3, Size: 24},
		{ABI: 99, FS: 0xffff, Net: 3, Scoped: 3, Size: 24},
	} {
		if diff := cmp.Diff(want, rightsOf(want.ABI)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestRulesFitTheKernel: a rule with a right the ruleset does not handle, or with a directory's right on a file, is
// refused by the kernel, and with it the start.
func TestRulesFitTheKernel(t *testing.T) {
	for abi := 1; abi <= 7; abi++ {
		s := surveyOf(capability.WorkspaceWrite)
		s.ABI = abi
		s.Write = append(s.Write, place{"/w/file", false})
		s.Read = append(s.Read, place{"/r/file", false})
		s.Metadata = []place{{"/m/file", false}, {"/m/dir", true}}
		s.Streams[0] = llReadFile | llIoctlDev
		handled := rightsOf(abi).FS
		for _, r := range rulesOf(s) {
			if r.Access == 0 || r.Access&^handled != 0 {
				t.Errorf("ABI %d: %+v", abi, r)
			}
			if r.Access&(llMakeChar|llMakeBlock) != 0 {
				t.Errorf("ABI %d: devices: %+v", abi, r)
			}
			switch r.Path {
			case "/w/file", "/r/file":
				if r.Access&^accessOfFiles != 0 {
					t.Errorf("ABI %d: %+v", abi, r)
				}
			case "/m/file":
				t.Errorf("a file that may only be listed needs no rule: %+v", r)
			case "/run", "/":
				t.Errorf("%+v", r)
			}
		}
	}
}
