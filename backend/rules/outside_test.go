package rules

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/pathid"
	"countersign/backend/policy"
)

// What stands in files is seen without a store; a repository's allow rules then never count, since trust is kept there.
func TestOutside(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write(".countersign/rules.toml", "deny = [\"bash(a:*)\"]\nallow = [\"bash(b)\"]\n")
	managed := write("managed.toml", "deny = [\"bash(c)\"]\n[constraints]\nmanaged_allow_only = true\n")
	for _, tt := range []struct {
		name, managed, project string
		want, ignored          []string
		locked                 bool
	}{
		{"everything", managed, dir, []string{"deny bash(c)", "deny bash(a:*)"}, []string{"bash(g) managed_only", "bash(b) managed_only"}, true},
		{"no administrator", managed + ".none", dir, []string{"allow bash(g)", "deny bash(a:*)"}, []string{"bash(b) not_trusted"}, false},
		{"no project", managed + ".none", "", []string{"allow bash(g)"}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := Outside(Options{
				FS: pathid.OS(), Platform: pathid.Host(), Managed: tt.managed,
				Global: FromFile(policy.SourceGlobal, "config.toml", nil, nil, []string{"bash(g)"}),
			}, tt.project)
			var got, ignored []string
			for _, r := range set.Rules {
				got = append(got, string(r.List)+" "+r.Rule.String())
			}
			for _, i := range set.Ignored {
				ignored = append(ignored, i.Text+" "+i.Why)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rules -want +got\n%s", diff)
			}
			if diff := cmp.Diff(tt.ignored, ignored); diff != "" {
				t.Errorf("ignored -want +got\n%s", diff)
			}
			if set.Constraints.ManagedAllowOnly != tt.locked {
				t.Errorf("locked: %v", set.Constraints)
			}
		})
	}
}
