package classify

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"countersign/backend/policy"
)

const (
	// DefaultTimeout limits one classification where the options name no time.
	DefaultTimeout = 10 * time.Second

	// maxAnswer is the longest answer of a server that is read, in bytes.
	maxAnswer = 64 << 10

	maxModel = 256 // bytes of a model's name
	maxKey   = 4 << 10
)

// Secret is a credential that prints itself redacted, as state's does.
type Secret interface {
	Reveal() []byte
	String() string // "[redacted]"
}

// Clock tells the time, for how long answers are kept.
type Clock interface{ Now() time.Time }

// Options say whom to ask.
type Options struct {
	Kind    string        // KindOpenAI or KindAnthropic
	URL     string        // the endpoint's base; https, or http on this machine. No login, query or fragment
	Model   string        // as the endpoint names it
	Key     Secret        // nil or empty: none is sent
	Timeout time.Duration // of one Classify, everything included; 0 is DefaultTimeout
	HTTP    *http.Client  // nil: one without proxies. Redirects are never followed and cookies never kept
	Clock   Clock         // nil: the system's
}

// Classifier asks one endpoint. It is safe for concurrent use. A nil Classifier answers CodeNoModel.
type Classifier struct {
	kind, model string
	address     *url.URL
	key         Secret
	timeout     time.Duration
	http        *http.Client
	clock       Clock
	marker      func() string
	cache       cache
}

// New checks the options and connects to nothing. Errors wrap ErrOptions and never hold the key or the URL.
func New(o Options) (*Classifier, error) {
	if o.Kind != KindOpenAI && o.Kind != KindAnthropic {
		return nil, fmt.Errorf("%w: classifier.kind must be %q or %q", ErrOptions, KindOpenAI, KindAnthropic)
	}
	at, err := address(o.Kind, o.URL)
	if err != nil {
		return nil, err
	}
	if o.Model == "" || len(o.Model) > maxModel {
		return nil, fmt.Errorf("%w: classifier.model must name a model in at most %d bytes", ErrOptions, maxModel)
	}
	if err := checkKey(o.Key); err != nil {
		return nil, err
	}
	c := &Classifier{
		kind: o.Kind, model: o.Model, address: at, key: o.Key, timeout: o.Timeout, clock: o.Clock,
		marker: rand.Text, // 128 bits
	}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	if c.clock == nil {
		c.clock = systemClock{}
	}
	client := http.Client{}
	if o.HTTP != nil {
		client = *o.HTTP
	} else {
		client.Transport = transport(at)
	}
	// The key's header would go along to wherever a redirect points.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	c.http = &client
	return c, nil
}

// systemClock is the system's time.
type systemClock struct{}

// Now returns the time.
func (systemClock) Now() time.Time { return time.Now() }

// transport connects directly. Where http is spoken, only to this machine, whatever its name resolves to.
func transport(at *url.URL) *http.Transport {
	dialer := &net.Dialer{Timeout: DefaultTimeout}
	if at.Scheme == "http" {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			host, _, err := net.SplitHostPort(address)
			if err != nil || !loopback(host) {
				return errors.New("http is spoken with this machine only")
			}
			return nil
		}
	}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
		TLSHandshakeTimeout: DefaultTimeout, MaxResponseHeaderBytes: maxAnswer,
		MaxIdleConns: 4, IdleConnTimeout: 30 * time.Second,
	}
}

// checkKey refuses what cannot stand in a header.
func checkKey(key Secret) error {
	k := reveal(key)
	if len(k) > maxKey {
		return fmt.Errorf("%w: the key is longer than %d bytes", ErrOptions, maxKey)
	}
	for _, c := range []byte(k) {
		if c <= ' ' || c >= 0x7f {
			return fmt.Errorf("%w: the key holds a space or a character that no key has: keep it again with: countersign classifier set-key", ErrOptions)
		}
	}
	return nil
}

func reveal(s Secret) string {
	if s == nil {
		return ""
	}
	return string(s.Reveal())
}

// Address is where calls are sent to.
func (c *Classifier) Address() string { return c.address.String() }

// Close ends the idle connections. Requests that are on their way go on.
func (c *Classifier) Close() {
	if c != nil {
		c.http.CloseIdleConnections()
	}
}

// Classify asks once. Safe is true only with Err == "", and only when the whole answer was one JSON object whose "safe" is
// the boolean true. Every failure is one of the codes in Err; then Reason says more, for a person who tests. Callers that
// ask the same at the same time share one request.
func (c *Classifier) Classify(ctx context.Context, call Call) policy.Classification {
	if c == nil {
		return failed(CodeNoModel, "no classifier is configured")
	}
	sent, code, detail := Sent(call)
	if code != "" {
		return failed(code, detail)
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	key, keep := keyOf(call, sent)
	if !keep {
		return c.ask(limited, sent)
	}
	for {
		answer, f, own := c.cache.begin(key, c.clock.Now())
		switch {
		case answer != nil:
			return *answer
		case own:
			return c.fly(ctx, limited, key, f, sent)
		}
		select {
		case <-f.done:
			if !f.gone {
				return f.answer
			}
		case <-limited.Done():
			return failed(CodeTimeout, "no answer in time")
		}
	}
}

// fly asks for everybody who waits. When it does not end in an answer (a panic too), nobody is left waiting.
func (c *Classifier) fly(ctx, limited context.Context, key cacheKey, f *flight, sent string) policy.Classification {
	answer, gone := failed(CodeUnreachable, ""), true
	defer func() { c.cache.land(key, f, answer, gone, c.clock.Now()) }()
	answer = c.ask(limited, sent)
	// The others still wait when this caller does not: one of them asks again.
	gone = answer.Err != "" && ctx.Err() != nil
	return answer
}

// ask sends one request and reads the answer.
func (c *Classifier) ask(ctx context.Context, sent string) policy.Classification {
	system, user := prompt(sent, c.marker())
	posted, err := body(c.kind, c.model, system, user)
	if err != nil {
		return failed(CodeUnsendable, "it has no JSON form")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address.String(), bytes.NewReader(posted))
	if err != nil {
		return failed(CodeUnreachable, "no request can be made for classifier.url")
	}
	sign(r, c.kind, c.key)
	reply, err := c.http.Do(r)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer reply.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(reply.Body, maxAnswer+1))
	switch {
	case err != nil:
		return c.unreachable(ctx, err)
	case reply.StatusCode != http.StatusOK:
		return failed(codeOfStatus(reply.StatusCode), statusDetail(reply, raw))
	case len(raw) > maxAnswer:
		return failed(CodeMalformed, "the server's answer is longer than 64 KiB")
	}
	text, err := content(c.kind, raw)
	switch {
	case errors.Is(err, errRefused):
		return failed(CodeRefused, err.Error())
	case err != nil:
		return failed(CodeMalformed, err.Error())
	}
	a, err := parseAnswer(text)
	if err != nil {
		return failed(CodeMalformed, err.Error())
	}
	return policy.Classification{Safe: a.safe, Reason: a.reason}
}

// unreachable tells a time limit from a connection that failed. The error is not passed on whole: it may quote what a
// foreign server sent.
func (c *Classifier) unreachable(ctx context.Context, err error) policy.Classification {
	var slow net.Error
	if ctx.Err() != nil || errors.As(err, &slow) && slow.Timeout() {
		return failed(CodeTimeout, "no answer in time")
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the URL
	}
	return failed(CodeUnreachable, err.Error())
}

func statusDetail(reply *http.Response, raw []byte) string {
	if reply.StatusCode >= 300 && reply.StatusCode < 400 {
		return "the server sends elsewhere; that is never followed: set classifier.url to the right address"
	}
	return complaint(raw)
}
