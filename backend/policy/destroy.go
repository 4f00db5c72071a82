package policy

import (
	"strings"

	"countersign/backend/pathid"
)

// systemDirs are removed by nobody through an agent. Lower case, with slashes; /private is left out of a path first.
var systemDirs = set(`
	/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /opt /proc /root /run /sbin /srv /sys /usr /var /usr/bin
	/usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/local /usr/share /usr/include /usr/local/bin
	/usr/local/lib /var/lib /var/log /var/db /boot/efi /system /system/library /library /applications /users /volumes
	/network /cores /private c:/windows c:/windows/system32 c:/windows/syswow64 c:/programdata c:/users c:/boot
	c:/recovery c:/perflogs c:/windows/winsxs c:/windows/boot c:/windows/fonts c:/windows/inf c:/windows/servicing
	c:/windows/system32/config c:/windows/system32/drivers c:/windows/systemresources`)

// systemNames have a space in them.
var systemNames = map[string]bool{"c:/program files": true, "c:/program files (x86)": true}

// removers are the programs whose recursive removal is judged.
var removers = set("rm grm find fd fdfind bfs remove-item del erase rd rmdir ri srm trash trash-put shred wipe unlink " +
	"robocopy clear-item")

// destroys returns what the call would destroy without bounds, or "". A possible reading counts: nothing is lost by
// refusing it.
func (f *Facts) destroys() string {
	for i := range f.accesses {
		a := &f.accesses[i]
		if !a.write {
			continue
		}
		// The device names of Windows are no paths of a file, so they stand only in the text.
		for _, path := range [...]string{a.lexical, a.resolved, a.text} {
			if isBlockDevice(f.call.Platform, path) {
				return a.text
			}
		}
		if !a.remove || !a.recursive || a.command < 0 || a.command >= len(f.commands) {
			continue
		}
		c := f.commands[a.command]
		if !removers[strings.ToLower(c.base)] || chooses(c) {
			continue
		}
		if f.unbounded(a) {
			return a.text
		}
	}
	for _, c := range f.commands {
		if target := f.formats(c); target != "" {
			return target
		}
		if c.base == "find" && !chooses(c) && f.findsRemoval(c) {
			return c.name
		}
	}
	return ""
}

// unbounded reports whether removing the path with everything below it has no sensible bound.
func (f *Facts) unbounded(a *access) bool {
	for _, path := range [...]string{a.lexical, a.resolved} {
		if path == "" {
			continue
		}
		if a.globbed {
			if base := pathid.Base(f.call.Platform, path); strings.Trim(base, "*.?[]!^{},") == "" {
				path = pathid.Dir(f.call.Platform, path) // everything in a directory
			}
		}
		if f.vital(path) {
			return true
		}
	}
	return false
}

// vital reports whether a directory is the root, a system directory, somebody's home, a drive, or above a root.
func (f *Facts) vital(path string) bool {
	p := f.call.Platform
	key := matchKey(p, path)
	if !p.IsWindows() {
		key = strings.ToLower(key)
		if rest, ok := strings.CutPrefix(key, "/private/"); ok {
			key = "/" + rest
		}
	}
	key = strings.TrimSuffix(key, "/")
	if key == "" {
		key = "/"
	}
	if systemDirs[key] || systemNames[key] || p.IsWindows() && len(key) == 2 {
		return true
	}
	if home := f.paths.home; home != "" && (key == strings.TrimSuffix(home, "/") || matchKey(p, path) == home) {
		return true
	}
	for _, homes := range [...]string{"/home/", "/users/", "c:/users/"} {
		if rest, ok := strings.CutPrefix(key, homes); ok && rest != "" && !strings.Contains(rest, "/") {
			return true
		}
	}
	for _, root := range f.call.Roots {
		if pathid.Contains(p, path, root) && matchKey(p, path) != matchKey(p, root) {
			return true
		}
	}
	return false
}

// chooses reports whether a find removes only what it chooses.
func chooses(c *command) bool {
	if c.base != "find" {
		return false
	}
	for _, w := range c.words[1:] {
		switch w.text {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin", "-atime", "-amin",
			"-ctime", "-cmin", "-size", "-empty", "-newer", "-user", "-group", "-perm", "-links", "-inum":
			return true
		}
	}
	return false
}

// findsRemoval recognises find / -exec rm -rf {} +.
func (f *Facts) findsRemoval(c *command) bool {
	removes := false
	for _, i := range c.inner {
		removes = removes || removers[f.commands[i].base]
	}
	if !removes {
		return false
	}
	for _, i := range c.accesses {
		if f.unbounded(&f.accesses[i]) {
			return true
		}
	}
	return false
}

// formatters destroy what stands on the device they are given.
var formatters = set("format format-volume clear-disk initialize-disk diskpart newfs mkfs")

// formats returns the device that a command formats, or "".
func (f *Facts) formats(c *command) string {
	base := strings.ToLower(c.base)
	if !formatters[base] && !strings.HasPrefix(base, "mkfs.") && !strings.HasPrefix(base, "newfs_") && base != "diskutil" {
		return ""
	}
	if diskCmdlets[base] && !c.raw && len(c.words) > 0 && !onlyAsks(c) {
		return c.name // these do nothing else, whichever disk they are given or is sent to them
	}
	for i, w := range c.words {
		if i == 0 {
			continue
		}
		text := strings.TrimRight(w.text, `\/`)
		switch {
		case isBlockDevice(f.call.Platform, w.text):
			return w.text
		case len(text) == 2 && isDrive(text) && f.call.Platform.IsWindows():
			return w.text
		case base == "diskutil" && strings.HasPrefix(strings.ToLower(w.text), "erase"):
			return w.text
		case strings.EqualFold(w.text, "-DriveLetter") || strings.EqualFold(w.text, "-Number"):
			return w.text
		}
	}
	return ""
}

// diskCmdlets are the formatters whose disk may come through a pipe.
var diskCmdlets = set("format-volume clear-disk initialize-disk")

// onlyAsks reports whether a cmdlet is asked what it would do, or for help.
func onlyAsks(c *command) bool {
	for _, w := range c.words[1:] {
		if strings.EqualFold(w.text, "-WhatIf") || w.text == "-?" {
			return true
		}
	}
	return false
}

// isBlockDevice recognises whole disks, partitions and mapped devices by name.
func isBlockDevice(p pathid.Platform, path string) bool {
	if p.IsWindows() {
		return isRawDevice(strings.ToLower(strings.ReplaceAll(path, "/", `\`)))
	}
	name, ok := strings.CutPrefix(path, "/dev/")
	if !ok {
		return false
	}
	for _, prefix := range [...]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-",
		"loop", "zd", "nbd", "root", "mtdblock"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && (rest != "" || prefix == "root") {
			return true
		}
	}
	return name == "mem" || name == "kmem" || name == "port"
}

// isRawDevice recognises a whole disk or volume by its device name, in lower case and with backslashes:
// \\.\PhysicalDrive0, \\.\C: and what \\?\ gives under names of its own. With something behind the colon it is a
// file.
func isRawDevice(path string) bool {
	name, ok := "", false
	for _, prefix := range [...]string{`\\.\`, `\\?\`, `\??\`} {
		if name, ok = strings.CutPrefix(path, prefix); ok {
			break
		}
	}
	if !ok {
		return false
	}
	name = strings.TrimPrefix(name, `globalroot\device\`)
	for _, prefix := range [...]string{"physicaldrive", "harddisk", "cdrom", "scsi", "partmgr"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	bare := strings.TrimRight(name, `\`)
	return len(bare) == 2 && isDrive(bare) || strings.HasPrefix(bare, "volume{") && strings.HasSuffix(bare, "}")
}
