package state

import "errors"

// Fault is a sentinel error of this package. Errors returned wrap one, with the path and the details in front.
type Fault struct{ code, text, hint string }

// Error returns what is wrong.
func (f *Fault) Error() string { return f.text }

// Code returns the stable name that screens and programs use instead of the text.
func (f *Fault) Code() string { return f.code }

// Hint says how to mend it.
func (f *Fault) Hint() string { return f.hint }

// Hint returns the hint of the first error in err's chain that has one, or "".
func Hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// useFile is how every keyring fault ends: the alternative is named, and never taken by itself.
const useFile = `Or choose the encrypted file instead, which is never done for you: set identity.store = "file" in config.toml and start with a passphrase (COUNTERSIGN_PASSPHRASE_FILE, identity.passphrase_file, or typed).`

// Faults of the store.
var (
	ErrLocked = &Fault{"store_locked", "another core has the store open",
		"Only one core runs per state directory. Use the one that runs, or end it first; a window that is open is a core too."}
	ErrDamaged = &Fault{"store_damaged", "the store is damaged",
		"The file was left exactly as it is and nothing is allowed meanwhile. Stop the core, keep a copy of state.db for analysis, and put a backup or the newest state-v*.db of the same directory in its place (mode 0600). Without a copy, move state.db aside: rules, open questions and the passphrase start empty, the receipts stay."}
	ErrNewerSchema = &Fault{"store_newer", "the store was written by a newer version of Countersign",
		"Start the newer version again, or put the state-v*.db copy that the update left in the same directory in the place of state.db."}
	ErrNoSpace = &Fault{"no_space", "no space left on the disk of the state directory",
		"Free some space on that disk. What was committed before is kept; the step that failed did not happen."}
	ErrInsecure = &Fault{"state_insecure", "other accounts may change or read a file that must be private",
		"Make it yours alone: chown it to your account; chmod 700 for the directory, chmod 600 for files. A symbolic link is refused in its place."}
	ErrTooLarge = &Fault{"value_too_large", "the key or value is larger than the store takes",
		"Nothing was stored. Send less in one call: a value may have 8 MiB as JSON, a key 4096 bytes."}
	ErrInterrupted = &Fault{"store_interrupted", "the disk failed in the middle of a commit",
		"Whether the last step was kept is known only after a restart. Look at the disk, then restart the core."}
	ErrClosed = &Fault{"store_closed", "the store is closed", "The core is shutting down; start it again."}
	// ErrTxDone is a programming fault: a transaction used after its function returned, or written in a View.
	ErrTxDone = &Fault{"tx_done", "the transaction is over, or was opened for reading only", "This is a fault of the program; please report it."}
)

// Faults of the owner's identity.
var (
	ErrKeyringMissing = &Fault{"keyring_missing", "no keyring answers",
		"The device key is kept in the keyring of your desktop session. On Linux install and start one (gnome-keyring or KWallet) and start Countersign inside the session, so that DBUS_SESSION_BUS_ADDRESS is set. " + useFile}
	ErrKeyringLocked = &Fault{"keyring_locked", "the keyring is locked or did not answer in time",
		"Unlock the keyring (a prompt may be waiting on the screen, behind other windows), then try again. " + useFile}
	ErrKeyringFailed = &Fault{"keyring_failed", "the keyring refused",
		"Open the keyring's own program and look whether it works and has a default collection. " + useFile}
	ErrNoIdentity = &Fault{"no_identity", "the device key of this state directory is not there",
		"On the first start it is made by itself. If this desk already has one, its keyring entry or identity.age is gone, or the directory was moved: restore it, or move the state directory aside to begin a new desk. If the key is kept in the other place, correct identity.store in config.toml."}
	ErrIdentityMismatch = &Fault{"identity_mismatch", "the device key is not the one this store belongs to",
		`The entry in the keyring (or identity.age) was replaced, or this directory was mixed from two desks. Restore the matching key (identity.store says whether "keyring" or "file" is read), or move the state directory aside to begin a new desk.`}
	ErrIdentityDamaged = &Fault{"identity_damaged", "the stored device key cannot be read",
		`Restore the keyring entry or identity.age from a backup. Nothing was changed. With no copy, move the state directory aside to begin a new desk (identity.store = "keyring" or "file").`}
	ErrUnknownIdentityStore = &Fault{"identity_store_unknown", "identity.store names no place",
		`Set identity.store in config.toml to "keyring" or "file".`}
	ErrPassphraseNeeded = &Fault{"passphrase_needed", "a passphrase is needed and none was given",
		"Give the passphrase of the encrypted key: set COUNTERSIGN_PASSPHRASE_FILE or identity.passphrase_file to a file of mode 0600, or type it."}
)

// Faults of passphrases.
var (
	ErrWrongPassphrase = &Fault{"passphrase_wrong", "the passphrase is wrong",
		"Type it again. After a few failed tries there is a growing wait."}
	ErrNoPassphrase = &Fault{"passphrase_unset", "no desk passphrase is set",
		"Set one in the window or, on a machine without a screen, when the core is set up; until then answers are given in the window only."}
	ErrTooManyTries = &Fault{"passphrase_wait", "too many failed tries",
		"Wait as long as it says, then try again. Restarting does not shorten it."}
	ErrPassphraseForm = &Fault{"passphrase_form", "the passphrase has a form that cannot be used",
		"Use 8 to 1024 bytes in one line, without control characters."}
)

// Faults of the receipts.
var (
	ErrReceiptsBroken = &Fault{"receipts_broken", "the receipt chain does not hold",
		"Nothing runs without receipts. `countersign receipts verify` names the first entry that does not hold. Restore the receipts directory from a copy; or, as the owner, set the broken chain aside: it is kept, and the next chain names it."}
	ErrReceiptExists = &Fault{"receipt_exists", "a receipt with this id is already in the chain",
		"This is a fault of the program; please report it."}
	ErrNoReceipt = &Fault{"receipt_unknown", "no receipt has this id",
		"`countersign receipts list` shows those there are."}
	ErrReceiptInvalid = &Fault{"receipt_invalid", "the record cannot be a receipt",
		"This is a fault of the program; please report it."}
)
