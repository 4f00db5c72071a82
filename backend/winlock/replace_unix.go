//go:build linux || darwin

package winlock

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

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

	// Opened for writing although the new content goes elsewhere: a file that may not be written to is not replaced.
	old, _, err := a.open(unix.O_RDWR)
	if err != nil {
		if errors.Is(err, unix.ENOENT) {
			return none, "", because(ErrDeleted, err)
		}
		return none, "", writeFault(err)
	}
	defer old.Close()
	if err := lock(ctx, old, o.wait()); err != nil {
		return none, "", err
	}
	o.at(stepLocked)
	// Who waited for the lock may hold a file that its holder has just replaced.
	if err := a.stands(want); err != nil {
		return none, "", err
	}
	if err := verify(ctx, old, want); err != nil {
		return none, "", err
	}
	o.at(stepVerified)

	temp, err := a.stage(old, content)
	if err != nil {
		return none, "", writeFault(err)
	}
	defer temp.discard()
	o.at(stepStaged)

	if err := ctx.Err(); err != nil {
		return none, "", err
	}
	if err := a.lastLook(temp, want); err != nil {
		return none, "", err
	}
	o.at(stepChecked)
	how, err := a.publish(temp, old, want, o)
	if err != nil {
		return none, "", err
	}
	return temp.id, how, nil
}

// verify checks through the locked handle that the file is the approved one.
func verify(ctx context.Context, f *os.File, want Snapshot) error {
	info, err := describe(f)
	switch {
	case err != nil:
		return err
	case !info.Mode.IsRegular():
		return ErrNotRegular
	case !info.Identity.Same(want.Identity):
		return ErrReplaced
	case info.Links > 1:
		return ErrSeveralLinks
	case info.Size != want.Size:
		return ErrChanged
	}
	got, err := digestOf(ctx, f, info.Size)
	if err != nil {
		return err
	}
	if got != want.Digest {
		return ErrChanged
	}
	return nil
}

// lastLook re-checks by metadata only: the path still leads here, and both files still stand under their names.
func (a *anchor) lastLook(temp *tempFile, want Snapshot) error {
	if err := want.resolvesAsApproved(); err != nil {
		return err
	}
	if err := a.stillThere(); err != nil {
		return err
	}
	if !a.holds(temp.name, temp.id) {
		return ErrReplaced
	}
	return a.stands(want)
}

// stands checks, without opening it, that the approved file stands under its name.
func (a *anchor) stands(want Snapshot) error {
	st, err := a.lstat(a.name)
	switch {
	case errors.Is(err, unix.ENOENT):
		return because(ErrDeleted, err)
	case err != nil:
		return err
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return ErrLink
	case !statIdentity(st).Same(want.Identity):
		return ErrReplaced
	case st.Nlink > 1:
		return ErrSeveralLinks
	case st.Size != want.Size:
		return ErrChanged
	}
	return nil
}

// publish exchanges the two files, checks what came out, and exchanges back when it is not the approved file.
func (a *anchor) publish(temp *tempFile, old *os.File, want Snapshot, o Options) (string, error) {
	err := exchange(a.fd(), temp.name, a.name)
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP):
		return HowRename, a.publishByRename(temp, o)
	case errors.Is(err, unix.ENOENT):
		return "", because(ErrDeleted, err)
	case err != nil:
		return "", writeFault(err)
	}
	o.at(stepPublished)
	if !a.holds(a.name, temp.id) {
		// Another program saved after the exchange. What it saved stays; the old file it meant to replace is what the
		// temporary name holds, and goes.
		return "", ErrReplaced
	}
	err = a.cameOut(temp, old, want)
	if err == nil {
		err = a.sync()
	}
	if err == nil {
		// From here the old file has no name; this is the moment of no return.
		err = unix.Unlinkat(a.fd(), temp.name, 0)
	}
	if err != nil {
		return "", errors.Join(writeFault(err), a.takeBack(temp))
	}
	temp.kept = true
	// The removal need not be durable: a crash would leave a temporary file with the old content.
	return HowExchange, nil
}

// cameOut checks, after the exchange, that the temporary name holds the approved file with the approved content, and
// that the directory is still where it was.
func (a *anchor) cameOut(temp *tempFile, old *os.File, want Snapshot) error {
	if !a.holds(temp.name, want.Identity) {
		return ErrReplaced
	}
	if err := verify(context.Background(), old, want); err != nil {
		return err
	}
	if err := a.stillThere(); err != nil {
		return err
	}
	return want.resolvesAsApproved()
}

// takeBack undoes an exchange. If what then comes out is not our file, another program saved after the exchange: its
// file goes back to the name, as if we had never been there. An error says that it could not be undone, and that what
// came out of the exchange was left under the temporary name.
func (a *anchor) takeBack(temp *tempFile) error {
	err := exchange(a.fd(), temp.name, a.name)
	if errors.Is(err, unix.ENOENT) {
		return nil // somebody deleted the file under its name, and so it stays
	}
	if err == nil && !a.holds(temp.name, temp.id) {
		err = exchange(a.fd(), temp.name, a.name)
	}
	if err != nil {
		temp.kept = true
		return fmt.Errorf("the write could not be taken back, the file from before is %s: %w", temp.name, err)
	}
	_ = a.sync()
	return nil
}

// publishByRename serves filesystems that cannot exchange. The file that is replaced is not seen again: the window
// between the last look and this call stays open.
func (a *anchor) publishByRename(temp *tempFile, o Options) error {
	if err := unix.Renameat(a.fd(), temp.name, a.fd(), a.name); err != nil {
		return writeFault(err)
	}
	temp.kept = true
	o.at(stepPublished)
	_ = a.sync() // published already, and it cannot be taken back
	return nil
}

// tempFile is new content that waits beside its target under a name of its own.
type tempFile struct {
	a    *anchor
	f    *os.File
	name string
	id   pathid.Identity
	kept bool // published, or removed otherwise
}

// stage writes content to a new file beside the target, with the metadata of old, and makes it durable. It is locked
// before it can be seen under the target's name, so that nobody who locks builds on it before it is final.
func (a *anchor) stage(old *os.File, content []byte) (*tempFile, error) {
	temp, err := a.newTemp(old)
	if err != nil {
		return nil, err
	}
	if err := temp.fill(old, content); err != nil {
		temp.discard()
		return nil, err
	}
	return temp, nil
}

func (t *tempFile) fill(old *os.File, content []byte) error {
	if err := tryLock(int(t.f.Fd())); err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
		return because(ErrLocked, err)
	}
	if _, err := t.f.Write(content); err != nil {
		return err
	}
	if old != nil {
		if err := copyMetadata(old, t.f); err != nil {
			return err
		}
	}
	if err := t.f.Sync(); err != nil {
		return err
	}
	var err error
	t.id, err = identityOf(int(t.f.Fd()))
	return err
}

// discard closes the temporary file and removes its name unless it was published.
func (t *tempFile) discard() {
	if !t.kept && t.name != "" {
		_ = unix.Unlinkat(t.a.fd(), t.name, 0)
		t.kept = true
	}
	_ = t.f.Close()
}

// createTemp creates an empty temporary file that only its owner can open yet.
func (a *anchor) createTemp(mode uint32) (*tempFile, error) {
	name := tempName()
	fd, err := unix.Openat(a.fd(), name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil {
		return nil, err
	}
	return &tempFile{a: a, f: os.NewFile(uintptr(fd), name), name: name}, nil
}
