package pathid

import (
	"io/fs"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// lstat opens the file itself, never a reparse point's target, with no access but to its attributes.
func lstat(name string) (Info, error) {
	h, err := openAttributes(name)
	if err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	defer func() { _ = windows.CloseHandle(h) }()
	info, err := DescribeHandle(h)
	if err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return info, nil
}

func openAttributes(name string) (windows.Handle, error) {
	p, err := windows.UTF16PtrFromString(longForm(name))
	if err != nil {
		return 0, err
	}
	return windows.CreateFile(p, windows.FILE_READ_ATTRIBUTES,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
}

// longForm lets a cleaned absolute path be longer than 260 characters and switches off every further rewriting of it.
// Only paths that passed Abs get here.
func longForm(name string) string {
	abs, err := Abs(Windows, "", name)
	if err != nil {
		return name
	}
	return `\\?\` + abs
}

// fileIDInfo is FILE_ID_INFO (winbase.h).
type fileIDInfo struct {
	VolumeSerialNumber uint64
	FileID             [16]byte
}

// attributeTagInfo is FILE_ATTRIBUTE_TAG_INFO (winbase.h).
type attributeTagInfo struct {
	FileAttributes uint32
	ReparseTag     uint32
}

// DescribeHandle describes the open file h. A symbolic link or junction that was opened without following it has the
// mode bit ModeSymlink; any other reparse point that stands for another name has ModeIrregular.
func DescribeHandle(h windows.Handle) (Info, error) {
	var basic windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &basic); err != nil {
		return Info{}, err
	}
	out := Info{
		Size:    int64(basic.FileSizeHigh)<<32 | int64(basic.FileSizeLow),
		ModTime: time.Unix(0, basic.LastWriteTime.Nanoseconds()),
		Links:   uint64(basic.NumberOfLinks),
		Mode:    0o666,
	}
	if basic.FileAttributes&windows.FILE_ATTRIBUTE_READONLY != 0 {
		out.Mode = 0o444
	}
	if basic.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0 {
		out.Mode |= fs.ModeDir | 0o111
	}
	if basic.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 {
		var tag attributeTagInfo
		if err := windows.GetFileInformationByHandleEx(h, windows.FileAttributeTagInfo,
			(*byte)(unsafe.Pointer(&tag)), uint32(unsafe.Sizeof(tag))); err != nil {
			return Info{}, err
		}
		out.Mode = reparseMode(out.Mode, tag.ReparseTag)
	}
	if kind, err := windows.GetFileType(h); err == nil && kind != windows.FILE_TYPE_DISK {
		out.Mode |= fs.ModeDevice
	}
	var id fileIDInfo
	err := windows.GetFileInformationByHandleEx(h, windows.FileIdInfo, (*byte)(unsafe.Pointer(&id)), uint32(unsafe.Sizeof(id)))
	if err == nil {
		out.Identity = Identity{
			Device: id.VolumeSerialNumber,
			Inode:  leUint64(id.FileID[:8]),
			High:   leUint64(id.FileID[8:]),
		}
	} else {
		// FAT and old network filesystems have only the 64-bit number.
		out.Identity = Identity{
			Device: uint64(basic.VolumeSerialNumber),
			Inode:  uint64(basic.FileIndexHigh)<<32 | uint64(basic.FileIndexLow),
		}
	}
	return out, nil
}

// nameSurrogate is the bit of a reparse tag that says: this stands for another name.
const nameSurrogate = 0x20000000

func reparseMode(mode fs.FileMode, tag uint32) fs.FileMode {
	switch {
	case tag == windows.IO_REPARSE_TAG_SYMLINK || tag == windows.IO_REPARSE_TAG_MOUNT_POINT:
		return mode&^fs.ModeDir | fs.ModeSymlink
	case tag&nameSurrogate != 0:
		return mode&^fs.ModeDir | fs.ModeIrregular
	}
	return mode // deduplicated, compressed or kept in a cloud: the file itself
}

func leUint64(b []byte) uint64 {
	var v uint64
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// openRead opens for reading, refusing to follow a reparse point in the last component.
func openRead(name string) (*os.File, error) {
	p, err := windows.UTF16PtrFromString(longForm(name))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	h, err := windows.CreateFile(p, windows.GENERIC_READ,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	info, err := DescribeHandle(h)
	if err == nil && info.Mode&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		err = ErrNotRegular
	}
	if err != nil {
		_ = windows.CloseHandle(h)
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}
