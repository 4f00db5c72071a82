//go:build linux || darwin

package winlock

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"countersign/backend/pathid"
)

// newFileMode is the mode of a new file before the umask.
const newFileMode = 0o666

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
	if rest := below(want.Parent.Path, pathid.Dir(pathid.Host(), want.Path)); rest != "" {
		if err := a.enter(strings.Split(rest, "/")); err != nil {
			return id, "", err
		}
	}
	if err := a.nothingStands(); err != nil {
		return id, "", err
	}
	o.at(stepVerified)
	temp, err := a.newFile()
	if err != nil {
		return id, "", writeFault(err)
	}
	defer temp.discard()
	if err := temp.fill(nil, content); err != nil {
		return id, "", writeFault(err)
	}
	o.at(stepStaged)
	if err := ctx.Err(); err != nil {
		return id, "", err
	}
	if err := want.resolvesAsApproved(); err != nil {
		return id, "", err
	}
	if err := a.stillThere(); err != nil {
		return id, "", err
	}
	o.at(stepChecked)
	how, err = a.publishNew(temp)
	if err != nil {
		if errors.Is(err, unix.EEXIST) {
			err = because(ErrAppeared, err)
		}
		return id, "", writeFault(err)
	}
	o.at(stepPublished)
	if err := a.landed(temp, want); err != nil {
		return id, "", err
	}
	return temp.id, how, nil
}

func (a *anchor) nothingStands() error {
	st, err := a.lstat(a.name)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return err
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return because(ErrAppeared, ErrLink)
	}
	return ErrAppeared
}

// landed checks after publishing that the new file stands where it was approved and removes it otherwise.
func (a *anchor) landed(temp *tempFile, want Snapshot) error {
	err := a.stillThere()
	if err == nil {
		err = want.resolvesAsApproved()
	}
	if err == nil && !a.holds(a.name, temp.id) {
		err = ErrReplaced
	}
	if err == nil {
		err = a.sync()
	}
	if err != nil && a.holds(a.name, temp.id) {
		_ = unix.Unlinkat(a.fd(), a.name, 0)
	}
	return err
}

// publishNamed gives a named temporary file its final name, never replacing anything: a second name and then no first
// one, or where the filesystem has no links a rename that refuses to replace.
func (a *anchor) publishNamed(temp *tempFile) (string, error) {
	err := unix.Linkat(a.fd(), temp.name, a.fd(), a.name, 0)
	if err == nil {
		if err := unix.Unlinkat(a.fd(), temp.name, 0); err != nil {
			_ = unix.Unlinkat(a.fd(), a.name, 0) // a file with two names is not what was approved
			return "", err
		}
		temp.kept = true
		return HowLink, nil
	}
	if errors.Is(err, unix.EEXIST) {
		return "", err
	}
	if errRename := renameNew(a.fd(), temp.name, a.name); errRename != nil {
		if errors.Is(errRename, unix.EEXIST) {
			return "", errRename
		}
		return "", err
	}
	temp.kept = true
	return HowRename, nil
}
