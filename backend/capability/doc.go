// Package capability owns what a process may be given: the request, the ceilings, their intersection, and the records
// that say afterwards what was given.
//
// It goes one way: a Request is input and carries no authority; Intersect narrows it by ceilings to an Effective
// capability, which nothing else can make; the broker enforces that and writes Records about it. A ceiling can only
// take away. Intersect is commutative, associative and idempotent in its ceilings, and its result is a subset of the
// request and of every ceiling; the tests show each of these for generated inputs.
//
// How the parts intersect:
//   - roots: the roots of one side that lie in the other, and the other way round, compared by path component. What may
//     be written may be read, and what may be read may be listed. Denied roots unite.
//   - network: the narrower of off, proxied and open. Two target sets keep what both name, label by label:
//     *.example.org and api.example.org:443 keep api.example.org:443. No target left means off.
//   - environment: the names both have. Limits: the smaller that is set. Policy: the narrower; read-only has no write
//     roots. Shell: only if all sides may.
//
// A child whose request is wider than its ceiling is refused (Effective.Covers), never silently narrowed. Denied roots
// are inherited and need not be repeated by a child.
//
// It refuses paths that are not absolute and clean, text that is not valid UTF-8 (JSON could not carry it unchanged),
// unknown words, and lists over MaxEntries. It reads no files: whoever makes a Request resolves its paths first.
//
// Known limits: without a public suffix list a target wildcard is refused as too broad by a rule of thumb (at least two
// labels, three where the second is a registry's usual "co", "com" and the like under a country code).
package capability
