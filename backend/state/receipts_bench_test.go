package state

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkAppend(b *testing.B) {
	dir := b.TempDir()
	s := openTest(b, dir)
	r := must(OpenReceipts(dir, s, testIdentity(b)))(b)
	defer func() { _ = r.Close() }()
	for b.Loop() {
		must(r.Append(decision("s", "c")))(b)
	}
}

func BenchmarkOpenReceipts(b *testing.B) {
	const entries = 20_000
	dir, id := b.TempDir(), testIdentity(b)
	if err := os.Mkdir(filepath.Join(dir, ReceiptsDir), 0o700); err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	p := predicate{Segment: 1}
	for range entries {
		p.Sequence++
		line := must(p.sign(id, decision(fmt.Sprint(p.Sequence%50), fmt.Sprint(p.Sequence/2))))(b)
		p.Previous = lineDigest(line[:len(line)-1])
		text.Write(line)
	}
	if err := os.WriteFile(filepath.Join(dir, ReceiptsDir, segmentName(1)), text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := must(OpenReceipts(dir, nil, id, Heads(nil)))(b)
		must(r.List(Filter{Session: "7"}))(b)
		_ = r.Close()
	}
	b.ReportMetric(entries, "entries/op")
}
