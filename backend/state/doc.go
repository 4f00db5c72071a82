// Package state keeps what must outlive the core: the store, the owner device's key, the desk passphrase and the
// receipts. It implements approval.Store and the sink that receipts are written to. It decides nothing.
//
// # Files of one state directory (0700, owned by the account the core runs as)
//
//	state.db                 the store (bbolt, 0600)
//	state-vN-TIME.db         copy of the store from before it was migrated away from schema N
//	identity.age             the device key, only with identity.store = "file"
//	receipts/NNNNNN.jsonl    the receipt chain, oldest segment first (0600)
//	receipts/NNNNNN-N.torn   bytes of an entry that a crash cut off, moved aside from offset N of that segment
//
// # The store
//
// One bbolt file with a bucket per kind of thing; buckets are named and owned by the package that writes them. Values
// are JSON behind a CRC-32C over bucket, key and value. Bucket "meta" belongs to this package:
//
//	schema              version of the layout; see migrations
//	identity            public key of the device this store belongs to
//	passphrase          salted Argon2id hash of the desk passphrase
//	passphrase_tries    failed tries, and when the next one is accepted
//	receipts_head       newest receipt that was acknowledged
//	receipts_set_aside  the chain that the next one follows, after the owner set a broken one aside
//
// Every page and every value is checked once when the store is opened, before bbolt maps the file: bbolt itself trusts
// its file and may panic, run in circles or read foreign memory on a damaged one. A store that does not pass is left
// exactly as it is (ErrDamaged). The checksum finds accidents. It is no protection against a program of the same
// account, which can write a file that passes; nothing at rest is encrypted except identity.age.
//
// # What the receipts prove
//
// See Proof, which says it in one sentence everywhere. The chain alone cannot show that its newest entries were
// removed; a Head kept elsewhere can (HeadKeeper).
//
// # Known limits
//
//   - A call into the keyring that does not come back leaves its goroutine behind (one per attempt): the libraries have
//     no way to interrupt a prompt. Nothing waits for it.
//   - The store is checked in full at every open: about a second per gigabyte.
//   - Opening receipts reads every entry and keeps an index of them in memory.
//   - On Windows the files are protected by the access list they inherit from the profile directory; owner and mode
//     are not checked there.
package state
