package imports

import "testing"

func TestCodex(t *testing.T) {
	testRows(t, agentCodex, []row{
		{"allow", `prefix_rule(pattern=["ls"])`, "bash(ls:*)", ""},
		{"allow", `prefix_rule(pattern = ["git", "status"], decision = "allow")`, "bash(git status:*)", ""},
		{"ask", `prefix_rule(pattern=["gh", "pr", ["view", "list"]], decision="prompt", justification="why")`, "bash(gh pr view:*); bash(gh pr list:*)", ""},
		{"deny", `prefix_rule(pattern=["rm", "-rf"], decision="forbidden")`, "bash(rm -rf:*)", ""},
		{"allow", `prefix_rule(pattern=["git", ["status", "diff"]], match=["git status", ["git", "diff"]], not_match=["git push"])`, "bash(git status:*); bash(git diff:*)", ""},
		{"allow", `prefix_rule(pattern=[["npm", "pnpm"], "test"],)`, "bash(npm test:*); bash(pnpm test:*)", ""},
		{"allow", `prefix_rule(pattern=["echo", "a b", "*"])`, "bash(echo 'a b' '*':*)", ""},
		{"allow", `prefix_rule(pattern=["bash", "-lc"])`, "bash(bash -lc:*)", "hands_over"},
		{"allow", `prefix_rule(pattern=["python3"], decision="allow")`, "bash(python3:*)", "hands_over"},
		{"allow", "prefix_rule(pattern=[])", "", "field"},
		{"allow", "prefix_rule(pattern=[[]])", "", "field"},
		{"allow", `prefix_rule(pattern=["a", 1])`, "", "not_literal"},
		{"allow", "prefix_rule(pattern=PATTERN)", "", "not_literal"},
		{"deny", `prefix_rule(pattern=["git" + "x"], decision="forbidden")`, "", "not_literal"},
		{"deny", `prefix_rule(pattern=["rm"], decision="never")`, "", "field"},
		{"allow", `prefix_rule(pattern=["ls"], decision="allow", reviewer="auto")`, "", "field"},
		{"deny", `network_rule(host="example.org", protocol="https", decision="deny")`, "", "network_rule"},
		{"deny", `host_executable(name="git", paths=["/usr/bin/git"])`, "", "host_executable"},
		{"deny", `other_rule(pattern=["x"])`, "", "unknown_call"},
		{"deny", `x = ["git"]`, "", "not_literal"},
		{"deny", `for p in ["a", "b"]:
    prefix_rule(pattern=[p])
prefix_rule(pattern=["ls"])`, "", "not_literal uncarried_before"},
		{"deny", "# nothing\n", "", ""},
		{"allow", `# list
prefix_rule(
    # the prefix
    pattern = ["cargo", "test"],
    decision = "allow",
)
`, "bash(cargo test:*)", ""},
		{"allow", `prefix_rule(pattern=[r"a\b", """c""", 'd'])`, `bash('a\\b' c d:*)`, ""},
		{"allow", `prefix_rule(pattern=["a"], pattern=["b"])`, "", "not_literal"},
		{"allow", `prefix_rule(["ls"])`, "", "not_literal"},
		{"allow", `prefix_rule(pattern=[["a","b","c","d","e"],["a","b","c","d","e"],["a","b","c","d","e"]])`, "", "too_many"},
		{"deny", `prefix_rule(pattern=["x",["a","b","c","d","e","f","g","h","i"],["a","b","c","d","e","f","g","h","i"]], decision="forbidden")`, "bash(x a:*); bash(x b:*); bash(x c:*); bash(x d:*); bash(x e:*); bash(x f:*); bash(x g:*); bash(x h:*); bash(x i:*)", "widened"},
		{"deny", `prefix_rule(pattern=["git", "push"], decision="forbidden")
prefix_rule(pattern=["git"])`, "bash(git push:*); bash(git:*)", ""},
	})
}
