package i18n

import (
	"syscall"
	"unsafe"
)

// maxLocaleName is LOCALE_NAME_MAX_LENGTH of winnls.h.
const maxLocaleName = 85

// systemLocale asks Windows for the user's locale; a variable, which ported programs set, comes first
// (GetUserDefaultLocaleName).
func systemLocale(env func(string) string) string {
	if locale := localeFrom(env); locale != "" {
		return locale
	}
	var name [maxLocaleName]uint16
	procedure := syscall.NewLazyDLL("kernel32.dll").NewProc("GetUserDefaultLocaleName")
	if procedure.Find() != nil {
		return ""
	}
	length, _, _ := procedure.Call(uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)))
	if length == 0 {
		return ""
	}
	return syscall.UTF16ToString(name[:])
}
