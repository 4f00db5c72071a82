package rules

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// foreignFile says why somebody else than the system's administrators could have written the open file: they, the system or
// its installer must own it, and nobody else may be granted a right to change it.
func foreignFile(f *os.File, path string) error {
	sd, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return err
	}
	if !administrative(owner) {
		return fmt.Errorf("%s does not belong to the administrators", path)
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return err
	}
	if dacl == nil {
		return fmt.Errorf("%s can be written by everybody", path)
	}
	const changes = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.WRITE_DAC | windows.WRITE_OWNER | windows.DELETE |
		windows.GENERIC_WRITE | windows.GENERIC_ALL
	for i := range uint32(dacl.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(dacl, i, &ace); err != nil {
			return err
		}
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Mask&changes == 0 {
			continue
		}
		if sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart)); !administrative(sid) {
			return fmt.Errorf("%s can be written by %s", path, sid)
		}
	}
	return nil
}

// trustedInstaller is NT SERVICE\TrustedInstaller, which owns what the system installs.
const trustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

func administrative(sid *windows.SID) bool {
	return sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) || sid.IsWellKnown(windows.WinLocalSystemSid) || sid.String() == trustedInstaller
}

// ManagedFile is where an administrator puts rules for everybody on this machine. A variable would be the user's to set.
const ManagedFile = `C:\ProgramData\Countersign\managed.toml`
