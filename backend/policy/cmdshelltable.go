package policy

import "strings"

// nativeRow says what a program of Windows does with its operands, for cmd and for PowerShell. operands has a letter
// for each word that is no option, as in cmdletRow; the last one stands for all that follow. What is missing here is
// looked up in the table of operand.go.
type nativeRow struct {
	names    string
	operands string
	options  string // option:role, role of the word that follows, or attached behind a colon or an equals sign
	below    string // options that make it reach what is below, space-separated; "*" always
	removes  string // options that make it remove what is at the destination, or for m-roles the source
}

var nativeTable = []nativeRow{
	{names: "del erase", operands: "d", below: "/s"},
	{names: "rd rmdir", operands: "d", below: "/s"},
	{names: "copy", operands: "rw"},
	{names: "xcopy", operands: "rw", below: "*", options: "/exclude:r"},
	{names: "robocopy", operands: "rwv", below: "*", options: "/log:w /log+:w /unilog:w /job:r /save:w", removes: "/mir /purge"},
	{names: "move", operands: "mw"},
	{names: "ren rename", operands: "mn"},
	{names: "replace", operands: "rw", below: "/s"},
	{names: "type more", operands: "r"},
	{names: "find", operands: "vr"},
	{names: "findstr", operands: "vr", options: "/f:r /g:r /d:r /c:v", below: "/s"},
	{names: "fc comp", operands: "r"},
	{names: "dir tree", operands: "r", below: "/s"},
	{names: "md mkdir", operands: "w"},
	{names: "mklink", operands: "wb"},
	{names: "fsutil", operands: "vvw"},
	{names: "attrib", operands: "w", below: "/s"},
	{names: "icacls cacls", operands: "wv", below: "/t", options: "/save:w /restore:r"},
	{names: "takeown", operands: "w", options: "/f:w /u:v /p:v /s:v", below: "/r"},
	{names: "compact cipher", operands: "w", below: "/s"},
	{names: "expand makecab extrac32", operands: "rw"},
	{names: "certutil", operands: "rw"},
	{names: "bitsadmin", operands: "vvrw"},
	{names: "subst", operands: "vb"},
	{names: "cd chdir pushd", operands: "r"},
	{names: "start", operands: "r"},
	{names: "echo set title rem pause cls color prompt ver vol exit popd if for goto call setlocal endlocal", operands: "v"},
	{names: "reg", operands: "vvv", options: "/f:v"},
	{names: "clip", operands: "v"},
	{names: "tee-object", operands: "w"},
	{names: "vssadmin wbadmin bcdedit", operands: "v"},
	{names: "notepad write wordpad", operands: "b"},
	{names: "regedit", operands: "r", options: "/e:w"},
	{names: "7z", operands: "vwr", below: "*"},
}

type native struct {
	operands string
	options  map[string]byte
	below    map[string]bool
	removes  map[string]bool
}

var natives = func() map[string]*native {
	out := map[string]*native{}
	for _, row := range nativeTable {
		n := &native{operands: row.operands, options: map[string]byte{}, below: set(row.below), removes: set(row.removes)}
		for item := range strings.FieldsSeq(row.options) {
			i := strings.LastIndexByte(item, ':')
			n.options[item[:i]] = item[i+1]
		}
		for name := range strings.FieldsSeq(row.names) {
			out[name] = n
		}
	}
	return out
}()

// cmdAliases are the other names of a builtin of cmd.
var cmdAliases = map[string]string{"erase": "del", "rd": "rmdir", "md": "mkdir", "chdir": "cd", "ren": "rename"}

// cmdRunners run what follows them, or change what follows.
var cmdRunners = set("for if call start goto set setlocal cmd powershell pwsh forfiles wmic mshta rundll32 regsvr32 doskey " +
	"schtasks at runas wsl bash cscript wscript pcalua msbuild installutil subst assoc ftype else do in not exist")

// cmdInternal are the builtins whose name ends where a sign begins: del/s, echo.x, cd\ and type"x".
var cmdInternal = set("assoc break call cd chdir cls color copy date del dir echo endlocal erase exit for ftype goto if md mkdir " +
	"mklink move path pause popd prompt pushd rd rem ren rename rmdir set setlocal shift start time title type ver verify vol")
