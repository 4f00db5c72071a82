package sandbox

import (
	"path/filepath"
	"testing"
)

func TestRealWork(t *testing.T) {
	r := newRig(t)
	r.write("go/go.mod", "module hello\n\ngo 1.21\n")
	r.write("go/main.go", "package main\n\nfunc main() { println(\"hello\") }\n")
	r.write("c/Makefile", "all: x\n\t./x\nx: x.c\n\tcc -o x x.c\n")
	r.write("c/x.c", "int main(void) { return 0; }\n")
	for _, c := range []struct{ tool, script string }{
		{"git", "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; git init -q repo && cd repo && echo x > f && git add f && git commit -qm x && cd .. && git clone -q repo copy && cat copy/f && cd copy && git log --oneline | wc -l && git status --short"},
		{"go", "cd go && go list ./... && gofmt -l . && go build -n -o h . 2>/dev/null"}, // a real build compiles the whole runtime, for minutes here
		{"make", "cd c && make"},
		{"/usr/bin/python3", "/usr/bin/python3 -c 'import subprocess, tempfile, threading, multiprocessing as m; tempfile.mkdtemp(); subprocess.run([\"true\"], check=True); t = threading.Thread(target=print); t.start(); t.join(); p = m.Process(target=print); p.start(); p.join()'"},
		{"/usr/bin/node", "/usr/bin/node -e 'require(\"os\").networkInterfaces(); require(\"child_process\").execSync(\"true\"); require(\"fs\").mkdtempSync(\"/tmp/x\")'"},
		{"bash", "diff <(echo a) <(echo a) && mkfifo p && (echo x > p &) && cat p && cat <<< here && [[ -w /dev/null ]]"},
	} {
		t.Run(filepath.Base(c.tool), func(t *testing.T) {
			if out, code := r.script("command -v " + c.tool); code != 0 {
				t.Skipf("%s is not installed where commands find it: %s", c.tool, out)
			}
			if out, code := r.script(c.script); code != 0 {
				t.Errorf("%d\n%s", code, out)
			}
		})
	}
}
