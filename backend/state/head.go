package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"countersign/backend/approval"
)

const (
	keyHead     = "receipts_head"
	keySetAside = "receipts_set_aside"
)

// Head names the newest entry of a chain. Its digest stands for everything before it.
type Head struct {
	Sequence uint64 `json:"sequence"` // from 1
	Digest   string `json:"digest"`
}

// SetAside names a broken chain that the owner set aside. The next chain carries it in its first entry.
type SetAside struct {
	Directory string    `json:"directory"` // beside the receipts
	Head      Head      `json:"head"`      // the newest entry that was known to be in it
	Time      time.Time `json:"time"`
}

// HeadKeeper remembers the newest head somewhere else than in the chain, so that removing the newest entries is noticed.
type HeadKeeper interface {
	// Known returns the newest head that was kept, and the chain the next one follows. Either may be nil.
	Known() (*Head, *SetAside, error)
	// Keep remembers head durably.
	Keep(head Head) error
}

// StoreHeads keeps the head in the store. Because of it, Append must not be called inside an Update of that store.
func StoreHeads(store approval.Store) HeadKeeper { return storeHeads{store} }

type storeHeads struct{ store approval.Store }

// Known implements HeadKeeper.
func (k storeHeads) Known() (*Head, *SetAside, error) {
	var head Head
	var aside SetAside
	var haveHead, haveAside bool
	err := k.store.View(func(tx approval.Tx) (err error) {
		if haveHead, err = tx.Get(bucketMeta, keyHead, &head); err != nil {
			return err
		}
		haveAside, err = tx.Get(bucketMeta, keySetAside, &aside)
		return err
	})
	var h *Head
	var a *SetAside
	if haveHead {
		h = &head
	}
	if haveAside {
		a = &aside
	}
	return h, a, err
}

// Keep implements HeadKeeper. Once a chain has a head, the one it follows is in its first entry.
func (k storeHeads) Keep(head Head) error {
	return k.store.Update(func(tx approval.Tx) error {
		if err := tx.Delete(bucketMeta, keySetAside); err != nil {
			return err
		}
		return tx.Put(bucketMeta, keyHead, head)
	})
}

// SetAsideReceipts is the owner's way out of ErrReceiptsBroken: the receipts of the state directory are renamed, not
// removed, and the next chain names them in its first entry. It returns the new name. The receipts must not be open.
func SetAsideReceipts(stateDir string, store approval.Store, at time.Time) (string, error) {
	name := "receipts-broken-" + at.UTC().Format(copyTime)
	to := filepath.Join(stateDir, name)
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("set receipts aside: %w", fault("rename", to, fs.ErrExist))
	}
	// The store first: a crash between the two leaves a chain that is still refused, and the owner does it again.
	err := store.Update(func(tx approval.Tx) error {
		var earlier SetAside
		if _, err := tx.Get(bucketMeta, keySetAside, &earlier); err != nil {
			return err
		}
		aside := SetAside{Directory: name, Head: earlier.Head, Time: at.UTC()}
		if _, err := tx.Get(bucketMeta, keyHead, &aside.Head); err != nil {
			return err
		}
		if err := tx.Delete(bucketMeta, keyHead); err != nil {
			return err
		}
		return tx.Put(bucketMeta, keySetAside, aside)
	})
	if err != nil {
		return "", fmt.Errorf("set receipts aside: %w", err)
	}
	if err := os.Rename(filepath.Join(stateDir, ReceiptsDir), to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("set receipts aside: %w", err)
	}
	return to, syncDir(stateDir)
}
