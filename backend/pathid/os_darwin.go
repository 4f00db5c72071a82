package pathid

import (
	"io/fs"
	"os"
	"syscall"
)

func lstat(name string) (Info, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return DescribeFile(info), nil
}

// DescribeFile turns what os.Lstat or (*os.File).Stat said into an Info. On Windows a FileInfo does not tell the
// identity; use Lstat of OS there.
func DescribeFile(info fs.FileInfo) Info {
	out := Info{Mode: info.Mode(), Size: info.Size(), ModTime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		out.Links = uint64(st.Nlink)
		out.Identity = Identity{Device: uint64(uint32(st.Dev)), Inode: st.Ino}
	}
	return out
}
