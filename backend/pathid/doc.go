// Package pathid owns what a path means: its absolute lexical form, what it resolves to, which file stands there
// (device and inode, volume and file id), and whether one path lies inside another.
//
// Two questions are kept apart. Lexical ones (Abs, Contains, Key, Suspicious) never touch a filesystem and take the
// platform as an argument, so that a Windows path is judged on Linux with Windows' rules. Questions about the real
// tree (Resolve, OpenRoot, OpenWorkspace, RepositoryRoot) look only through an FS that the caller passes in.
//
// What it refuses to do: it opens nothing for writing, expands no "~" or variables, and never contacts another machine.
// A UNC path, a \\?\ or \\.\ prefix and a reserved device name are refused by Abs for Windows before any input or
// output, because on Windows merely looking at such a path can send credentials or talk to a device.
//
// Comparison is by path component, never by string prefix: /w/project does not contain /w/project-other. Where the
// platform's usual filesystem folds case (macOS, Windows) so does the comparison.
//
// Known limits:
//   - A case-sensitive volume on macOS or a case-folding directory on Linux is judged by the platform's usual rule.
//   - 8.3 short names are reported by Suspicious, not expanded.
//   - Git Bash's own mounts other than drives (/tmp, /usr) are read as rooted on the base's drive.
//   - Everything learnt from an FS may be stale when it is used; backend/winlock checks again through the open handle.
package pathid
