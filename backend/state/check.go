package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of a bbolt file, version 2 (go.etcd.io/bbolt/internal/common: page.go, meta.go, bucket.go). Numbers are
// in the byte order of the machine.
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2

	pageHeader    = 16 // id 8, flags 2, count 2, overflow 4
	leafElement   = 16 // flags 4, pos 4, ksize 4, vsize 4
	branchElement = 16 // pos 4, ksize 4, page 8
	bucketHeader  = 16 // root page 8, sequence 8
	metaSize      = 64 // magic … checksum

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFreelist = 0x10
	flagBucket   = 0x01 // of a leaf element

	manyFree = 0xFFFF // a count that says: the first element is the count

	maxDepth    = 64 // of the tree: a real one has under ten levels
	minPageSize = 1024
	maxPageSize = 64 << 10
)

var order = binary.NativeEndian

// meta is one of the two meta pages. The valid one with the higher transaction id is the state of the file.
type meta struct {
	pageSize, root, freelist, pages, txid uint64
}

// checker reads a closed bbolt file and proves that everything reachable in it is well formed. It exists because
// bbolt's own Check runs on the mapped file and itself panics, recurses without end or faults on a damaged one.
// Nothing here follows a number before it was compared with a bound.
type checker struct {
	file  io.ReaderAt
	size  int64
	meta  meta
	used  []bool // page number → reached from the root, or free
	value func(bucket, key, value []byte) error
}

// checkFile checks the whole file and calls value for every key of every bucket of the first level. acceptOlder takes
// the older of the two states when the newest cannot be read. Errors wrap ErrDamaged, except those of reading.
func checkFile(file io.ReaderAt, size int64, acceptOlder bool, value func(bucket, key, value []byte) error) error {
	m, err := readMeta(file, size, acceptOlder)
	if err != nil {
		return err
	}
	c := &checker{file: file, size: size, meta: m, value: value, used: make([]bool, m.pages)}
	c.used[0], c.used[1] = true, true
	if err := c.freelist(); err != nil {
		return err
	}
	if err := c.tree(m.root, nil, nil, nil, 0); err != nil {
		return err
	}
	for id, used := range c.used {
		if !used {
			return broken("page %d is neither used nor free", id)
		}
	}
	return nil
}

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// readMeta picks the meta page that bbolt would pick. Both must be valid: bbolt would quietly go back to the older
// state when the newest is unreadable, and a commit that was acknowledged — a call that was answered, or started —
// would be undone.
func readMeta(file io.ReaderAt, size int64, acceptOlder bool) (meta, error) {
	first, ok0 := readMetaAt(file, 0)
	second, ok1 := meta{}, false
	if ok0 {
		second, ok1 = readMetaAt(file, int64(first.pageSize))
	} else {
		for ps := int64(minPageSize); ps <= maxPageSize && !ok1; ps *= 2 {
			second, ok1 = readMetaAt(file, ps)
			ok1 = ok1 && second.pageSize == uint64(ps)
		}
	}
	m := first
	switch {
	case !ok0 && !ok1:
		return meta{}, broken("neither of its two headers is readable")
	case (!ok0 || !ok1) && !acceptOlder:
		return meta{}, broken("one of its two headers is unreadable; the other may be older than what was committed last")
	case !ok0 || ok1 && second.txid > first.txid:
		m = second
	}
	if ok0 && ok1 && first.pageSize != second.pageSize {
		return meta{}, broken("its headers disagree")
	}
	limit := uint64(size) / m.pageSize
	if m.pages > limit {
		return meta{}, broken("it was cut off: %d pages of %d are there", limit, m.pages)
	}
	if m.pages < 4 || m.root < 2 || m.root >= m.pages || m.freelist < 2 || m.freelist >= m.pages {
		return meta{}, broken("its header points outside the file")
	}
	return m, nil
}

func readMetaAt(file io.ReaderAt, off int64) (meta, bool) {
	var b [pageHeader + metaSize]byte
	if _, err := file.ReadAt(b[:], off); err != nil {
		return meta{}, false
	}
	d := b[pageHeader:]
	sum := fnv.New64a()
	_, _ = sum.Write(d[:metaSize-8])
	m := meta{
		pageSize: uint64(order.Uint32(d[8:])),
		root:     order.Uint64(d[16:]),
		freelist: order.Uint64(d[32:]),
		pages:    order.Uint64(d[40:]),
		txid:     order.Uint64(d[48:]),
	}
	ok := order.Uint32(d) == boltMagic && order.Uint32(d[4:]) == boltVersion &&
		order.Uint64(d[56:]) == sum.Sum64() &&
		m.pageSize >= minPageSize && m.pageSize <= maxPageSize && m.pageSize&(m.pageSize-1) == 0
	return m, ok
}

// page reads page id with its overflow pages and marks them used.
func (c *checker) page(id uint64) ([]byte, error) {
	if id < 2 || id >= c.meta.pages {
		return nil, broken("page %d lies outside the file", id)
	}
	head := make([]byte, pageHeader)
	if err := c.read(head, id); err != nil {
		return nil, err
	}
	if got := order.Uint64(head); got != id {
		return nil, broken("page %d says it is page %d", id, got)
	}
	n := uint64(order.Uint32(head[12:])) + 1
	if n > c.meta.pages-id {
		return nil, broken("page %d lies outside the file", id)
	}
	for i := id; i < id+n; i++ {
		if c.used[i] {
			return nil, broken("page %d is used twice", i)
		}
		c.used[i] = true
	}
	data := make([]byte, n*c.meta.pageSize)
	return data, c.read(data, id)
}

func (c *checker) read(b []byte, id uint64) error {
	_, err := c.file.ReadAt(b, int64(id*c.meta.pageSize))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return broken("page %d is cut off", id)
	}
	return err
}

// freelist marks the free pages as accounted for.
func (c *checker) freelist() error {
	p, err := c.page(c.meta.freelist)
	if err != nil {
		return err
	}
	if order.Uint16(p[8:]) != flagFreelist {
		return broken("page %d is not a list of free pages", c.meta.freelist)
	}
	count, at := uint64(order.Uint16(p[10:])), uint64(pageHeader)
	if count == manyFree {
		count, at = order.Uint64(p[pageHeader:]), pageHeader+8
	}
	if count > (uint64(len(p))-at)/8 {
		return broken("the list of free pages is too long")
	}
	for i := range count {
		id := order.Uint64(p[at+8*i:])
		if id < 2 || id >= c.meta.pages || c.used[id] {
			return broken("page %d is free and used", id)
		}
		c.used[id] = true
	}
	return nil
}

// tree checks the tree below page id, whose keys k satisfy low <= k < high (nil: no bound). bucket is nil for the
// tree that holds the buckets.
func (c *checker) tree(id uint64, bucket, low, high []byte, depth int) error {
	if depth > maxDepth {
		return broken("page %d lies too deep", id)
	}
	p, err := c.page(id)
	if err != nil {
		return err
	}
	if order.Uint16(p[8:]) == flagBranch {
		return c.branch(id, p, bucket, low, high, depth)
	}
	_, err = c.leaf(id, p, bucket, low, high)
	return err
}

func (c *checker) branch(id uint64, p, bucket, low, high []byte, depth int) error {
	count := int(order.Uint16(p[10:]))
	if count == 0 || pageHeader+count*branchElement > len(p) {
		return broken("page %d has a bad number of entries", id)
	}
	type child struct {
		key  []byte
		page uint64
	}
	children := make([]child, count)
	next := pageHeader + count*branchElement
	for i := range children {
		at := pageHeader + i*branchElement
		pos, ks := uint64(order.Uint32(p[at:])), uint64(order.Uint32(p[at+4:]))
		if uint64(at)+pos != uint64(next) || ks == 0 || ks > uint64(len(p)-next) {
			return broken("entry %d of page %d points outside", i, id)
		}
		children[i] = child{key: p[next : next+int(ks)], page: order.Uint64(p[at+8:])}
		next += int(ks)
		if i == 0 && low != nil && bytes.Compare(children[0].key, low) < 0 ||
			i > 0 && bytes.Compare(children[i].key, children[i-1].key) <= 0 ||
			high != nil && bytes.Compare(children[i].key, high) >= 0 {
			return broken("the entries of page %d are out of order", id)
		}
	}
	for i, ch := range children {
		upper := high
		if i+1 < count {
			upper = children[i+1].key
		}
		if err := c.tree(ch.page, bucket, ch.key, upper, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// leaf checks a leaf page, or the page inside a bucket entry, and returns how many bytes it uses. bbolt writes keys
// and values without gaps right behind the entries; insisting on that catches a changed count.
func (c *checker) leaf(id uint64, p, bucket, low, high []byte) (int, error) {
	count := int(order.Uint16(p[10:]))
	if order.Uint16(p[8:]) != flagLeaf {
		return 0, broken("page %d has an unknown kind", id)
	}
	next := pageHeader + count*leafElement
	// Only a bucket inside its entry (page 0) may be empty: our file always has bucket "meta", bbolt merges empty
	// pages and takes a bucket that became small back into its entry.
	if next > len(p) || count == 0 && id != 0 {
		return 0, broken("page %d has a bad number of entries", id)
	}
	var last []byte
	for i := range count {
		at := pageHeader + i*leafElement
		flags, pos := order.Uint32(p[at:]), uint64(order.Uint32(p[at+4:]))
		ks, vs := uint64(order.Uint32(p[at+8:])), uint64(order.Uint32(p[at+12:]))
		if uint64(at)+pos != uint64(next) || ks == 0 || ks+vs > uint64(len(p)-next) {
			return 0, broken("entry %d of page %d points outside", i, id)
		}
		key, value := p[next:next+int(ks)], p[next+int(ks):next+int(ks+vs)]
		next += int(ks + vs)
		if i == 0 && low != nil && bytes.Compare(key, low) < 0 ||
			i > 0 && bytes.Compare(key, last) <= 0 || high != nil && bytes.Compare(key, high) >= 0 {
			return 0, broken("the entries of page %d are out of order", id)
		}
		last = key
		var err error
		switch {
		case bucket == nil && flags == flagBucket:
			err = c.bucket(key, value)
		case bucket != nil && flags == 0:
			err = c.value(bucket, key, value)
		default:
			err = broken("entry %d of page %d has an unknown kind", i, id)
		}
		if err != nil {
			return 0, err
		}
	}
	return next, nil
}

// bucket checks the bucket that value describes: a page number, or a small page in place.
func (c *checker) bucket(name, value []byte) error {
	if len(value) < bucketHeader {
		return broken("bucket %q is cut off", name)
	}
	root := order.Uint64(value)
	if root != 0 {
		if len(value) != bucketHeader {
			return broken("bucket %q has a bad length", name)
		}
		return c.tree(root, name, nil, nil, 0)
	}
	p := value[bucketHeader:]
	if len(p) < pageHeader {
		return broken("bucket %q is cut off", name)
	}
	n, err := c.leaf(0, p, name, nil, nil)
	if err == nil && n != len(p) {
		err = broken("bucket %q has a bad length", name)
	}
	return err
}
