// Package winlock is the one place that changes a user's file for an approved write. Its promise: what was approved is
// what is replaced, or nothing changes and the error says which check failed.
//
// Take records at admission what stands at a path: where the path leads, whether a file is there, its digest, size,
// identity and mode, and the identities of its root and directory. The record is kept with the approval and is never
// refreshed. WriteChecked later opens that place again without following a single link, locks the file, checks through
// the same handle that identity and digest are those of the record, writes a sibling temporary file, and exchanges the
// two. What came out of the exchange is checked again; if another program saved in between, it is exchanged back and the
// error is ErrChanged or ErrReplaced. A new file is linked into place and never replaces one that appeared meanwhile.
// ReadChecked is the same opening for reading.
//
// Both need roots: a path outside all of them is ErrOutsideRoots, and with no roots every path is. Whoever approves a
// path elsewhere names its directory as a root.
//
// Every error is a *fs.PathError around one of the sentinels in errors.go, and every error of WriteChecked means that
// nothing was changed. Bytes are bytes: nothing is translated.
//
// The locks are flock on POSIX systems (an open-file-description lock where flock is refused, as on some network
// filesystems) and LockFileEx on byte 0 on Windows, the convention of msvcrt.locking, so that other programs which lock
// that way exclude us and we them.
//
// Limits, by system:
//   - A program of the same user that ignores locks can write to the file after it was published, and can write to the
//     old file through a descriptor it opened before; such a late write is lost with the old file.
//   - Linux opens relative to the root's descriptor (openat2, RESOLVE_BENEATH, no links), and looks again after
//     publishing: a directory that was moved out of its root in between gets its old file back. For that moment the new
//     content stood in the moved directory.
//   - macOS walks component by component without following links, with the same look afterwards. Access control lists
//     are kept where the volume can clone files (APFS), otherwise only mode, owner and extended attributes.
//   - Windows holds every directory from the root to the file open without sharing deletion, so that none can be
//     replaced, and checks that the final path is the approved one. There is no exchange: between the last check and the
//     rename another program's save is overwritten. Alternate data streams are not carried over.
//   - Where a filesystem cannot exchange (some network and user-space filesystems) the same check-and-rename is used.
//   - A directory that may not be written to is ErrReadOnly: files are not changed in place. So is a file whose owner
//     cannot be kept (ErrMetadata). The set-user and set-group bits are dropped, as the kernel does when a file is
//     written to.
//   - A process that is killed while it publishes leaves the old or the new file and possibly a temporary file named
//     .countersign-*.tmp beside it.
package winlock
