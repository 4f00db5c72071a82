package winlock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"countersign/backend/pathid"
)

// replace publishes content over the approved file and returns the identity of the new one.
func replace(ctx context.Context, want Snapshot, content []byte, o Options) (pathid.Identity, string, error) {
	none := pathid.Identity{}
	a, err := openAnchor(want.place())
	if err != nil {
		return none, "", err
	}
	defer a.close()
	o.at(stepOpened)
	old, _, err := a.open(windows.GENERIC_READ | windows.GENERIC_WRITE)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return none, "", because(ErrDeleted, err)
		}
		return none, "", writeFault(err)
	}
	defer old.Close()
	if err := lock(ctx, old, o.wait()); err != nil {
		return none, "", err
	}
	o.at(stepLocked)
	if err := stands(want); err != nil {
		return none, "", err
	}
	if err := verify(ctx, old, want); err != nil {
		return none, "", err
	}
	o.at(stepVerified)
	temp, err := a.newTemp()
	if err != nil {
		return none, "", writeFault(err)
	}
	defer temp.discard()
	if err := temp.fill(ctx, old, content); err != nil {
		return none, "", writeFault(err)
	}
	o.at(stepStaged)
	if err := errors.Join(ctx.Err(), want.resolvesAsApproved()); err != nil {
		return none, "", err
	}
	if err := stands(want); err != nil {
		return none, "", err
	}
	o.at(stepChecked)
	if err := temp.rename(a.path, true); err != nil {
		return none, "", writeFault(err)
	}
	o.at(stepPublished)
	return temp.id, HowRename, nil
}

// create publishes content at a path where nothing stood, and returns the new file's identity.
func create(ctx context.Context, want Snapshot, content []byte, o Options) (id pathid.Identity, how string, err error) {
	a, err := openAnchor(want.place())
	if err != nil {
		return id, "", err
	}
	defer a.close()
	o.at(stepOpened)
	defer func() {
		if err != nil {
			a.unmake()
		}
	}()
	outer, _ := pathid.Components(pathid.Windows, want.Parent.Path)
	inner, _ := pathid.Components(pathid.Windows, pathid.Dir(pathid.Windows, want.Path))
	if err := a.enter(inner[len(outer):]); err != nil {
		return id, "", err
	}
	if _, err := pathid.OS().Lstat(a.path); err == nil {
		return id, "", ErrAppeared
	}
	o.at(stepVerified)
	temp, err := a.newTemp()
	if err != nil {
		return id, "", writeFault(err)
	}
	defer temp.discard()
	if err := temp.fill(ctx, nil, content); err != nil {
		return id, "", writeFault(err)
	}
	o.at(stepStaged)
	if err := errors.Join(ctx.Err(), want.resolvesAsApproved()); err != nil {
		return id, "", err
	}
	o.at(stepChecked)
	if err := temp.rename(a.path, false); err != nil {
		return id, "", writeFault(err)
	}
	o.at(stepPublished)
	return temp.id, HowRename, nil
}

// stands checks, without opening its content, that the approved file stands under its name.
func stands(want Snapshot) error {
	info, err := pathid.OS().Lstat(want.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return because(ErrDeleted, err)
	case err != nil:
		return err
	case info.Mode&(fs.ModeSymlink|fs.ModeIrregular) != 0:
		return ErrLink
	case !info.Identity.Same(want.Identity):
		return ErrReplaced
	case info.Links > 1:
		return ErrSeveralLinks
	case info.Size != want.Size:
		return ErrChanged
	}
	return nil
}

// verify checks through the locked handle that the file is the approved one.
func verify(ctx context.Context, f *os.File, want Snapshot) error {
	info, err := describe(f)
	switch {
	case err != nil:
		return err
	case !info.Identity.Same(want.Identity):
		return ErrReplaced
	case info.Links > 1:
		return ErrSeveralLinks
	case info.Size != want.Size:
		return ErrChanged
	}
	got, err := digestOf(ctx, f, info.Size)
	if err == nil && got != want.Digest {
		err = ErrChanged
	}
	return err
}

// tempFile is new content that waits beside its target under a name of its own.
type tempFile struct {
	f    *os.File
	path string
	id   pathid.Identity
	kept bool
}

func (a *anchor) newTemp() (*tempFile, error) {
	path := pathid.Join(pathid.Windows, a.dir, tempName())
	name, err := longForm(path)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE|windows.WRITE_DAC, shareAll, nil,
		windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return nil, err
	}
	return &tempFile{f: os.NewFile(uintptr(h), path), path: path}, nil
}

// fill writes content with the old file's metadata, makes it durable, and locks it before it can be seen.
func (t *tempFile) fill(ctx context.Context, old *os.File, content []byte) error {
	if _, err := t.f.Write(content); err != nil {
		return err
	}
	if err := lock(ctx, t.f, 0); err != nil {
		return err
	}
	if old != nil {
		if err := copyMetadata(windows.Handle(old.Fd()), windows.Handle(t.f.Fd())); err != nil {
			return because(ErrMetadata, err)
		}
	}
	if err := t.f.Sync(); err != nil {
		return err
	}
	info, err := describe(t.f)
	t.id = info.Identity
	return err
}

// rename gives the open file its final name. With replace the old file disappears from the name at once although it is
// still open (FILE_RENAME_POSIX_SEMANTICS); without, an existing name is ERROR_ALREADY_EXISTS.
func (t *tempFile) rename(to string, replace bool) error {
	name, err := windows.UTF16FromString(`\\?\` + to)
	if err != nil {
		return err
	}
	// FILE_RENAME_INFO (winbase.h), whose name is an array of variable length.
	type renameInfo struct {
		Flags         uint32
		RootDirectory windows.Handle
		NameLength    uint32 // bytes, without the terminator
		Name          [1]uint16
	}
	var head renameInfo
	buf := make([]byte, unsafe.Sizeof(head)+uintptr(len(name))*2)
	info := (*renameInfo)(unsafe.Pointer(&buf[0]))
	info.Flags = windows.FILE_RENAME_POSIX_SEMANTICS
	if replace {
		info.Flags |= windows.FILE_RENAME_REPLACE_IF_EXISTS
	}
	info.NameLength = uint32(len(name)-1) * 2
	copy(unsafe.Slice(&info.Name[0], len(name)), name)
	err = windows.SetFileInformationByHandle(windows.Handle(t.f.Fd()), windows.FileRenameInfoEx, &buf[0], uint32(len(buf)))
	if err != nil {
		return err
	}
	t.kept = true
	return nil
}

// discard closes the temporary file and removes it unless it was published.
func (t *tempFile) discard() {
	if !t.kept {
		flags := uint32(windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_POSIX_SEMANTICS | windows.FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE)
		err := windows.SetFileInformationByHandle(windows.Handle(t.f.Fd()), windows.FileDispositionInfoEx, (*byte)(unsafe.Pointer(&flags)), 4)
		_ = t.f.Close()
		if err != nil && strings.HasSuffix(t.path, tempSuffix) {
			if name, err := longForm(t.path); err == nil {
				_ = windows.DeleteFile(name)
			}
		}
		return
	}
	_ = t.f.Close()
}

// basicInfo is FILE_BASIC_INFO (winbase.h); a time of 0 is left alone.
type basicInfo struct {
	CreationTime, LastAccessTime, LastWriteTime, ChangeTime int64
	FileAttributes                                          uint32
	_                                                       uint32
}

// copyMetadata gives the new file the access control list and the attributes of the old one.
func copyMetadata(from, to windows.Handle) error {
	sd, err := windows.GetSecurityInfo(from, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	control, _, err := sd.Control()
	if err != nil {
		return err
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return err
	}
	what := windows.SECURITY_INFORMATION(windows.DACL_SECURITY_INFORMATION | windows.UNPROTECTED_DACL_SECURITY_INFORMATION)
	if control&windows.SE_DACL_PROTECTED != 0 {
		what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	}
	if err := windows.SetSecurityInfo(to, windows.SE_FILE_OBJECT, what, nil, nil, dacl, nil); err != nil {
		return err
	}
	var basic windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(from, &basic); err != nil {
		return err
	}
	const kept = windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM | windows.FILE_ATTRIBUTE_ARCHIVE | windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED
	info := basicInfo{FileAttributes: basic.FileAttributes & kept}
	if info.FileAttributes == 0 {
		info.FileAttributes = windows.FILE_ATTRIBUTE_NORMAL
	}
	return windows.SetFileInformationByHandle(to, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
}
