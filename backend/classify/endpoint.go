package classify

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// The kinds of endpoints.
const (
	KindOpenAI    = "openai"    // POST …/chat/completions, as many servers offer it
	KindAnthropic = "anthropic" // POST …/v1/messages
)

// maxTokens is the longest answer that is asked for: one short sentence and some room.
const maxTokens = 256

// anthropicVersion is the version of the messages protocol that is spoken.
const anthropicVersion = "2023-06-01"

// ErrOptions is an endpoint that cannot be used, with why and what to do.
var ErrOptions = errors.New("the classifier cannot be used")

// address returns the URL that calls are sent to, made from classifier.url.
func address(kind, base string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case base == "":
		return nil, fmt.Errorf("%w: classifier.url is empty: name the endpoint, for example https://api.openai.com/v1 or https://api.anthropic.com", ErrOptions)
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return nil, fmt.Errorf("%w: classifier.url is no URL of a server", ErrOptions) // not shown: it may hold a credential
	case u.User != nil:
		return nil, fmt.Errorf("%w: classifier.url holds a login: take it out and keep the key with: countersign classifier set-key", ErrOptions)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("%w: classifier.url must end before ? and #", ErrOptions)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("%w: classifier.url must begin with https:// (http:// only for a server on this machine), or calls and the key could be read on the way", ErrOptions)
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%w: classifier.url must begin with https://", ErrOptions)
	}
	path := strings.TrimRight(u.Path, "/")
	switch {
	case kind == KindOpenAI && !strings.HasSuffix(path, "/chat/completions"):
		path += "/chat/completions"
	case kind == KindAnthropic && strings.HasSuffix(path, "/v1"):
		path += "/messages"
	case kind == KindAnthropic && !strings.HasSuffix(path, "/v1/messages"):
		path += "/v1/messages"
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}, nil
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type openAIRequest struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Temperature int       `json:"temperature"`
	MaxTokens   int       `json:"max_tokens"`
	Stream      bool      `json:"stream"`
}

type anthropicRequest struct {
	Model       string    `json:"model"`
	System      string    `json:"system"`
	Messages    []message `json:"messages"`
	Temperature int       `json:"temperature"`
	MaxTokens   int       `json:"max_tokens"`
}

// body returns what is posted: instructions and call in roles of their own.
func body(kind, model, system, user string) ([]byte, error) {
	if kind == KindAnthropic {
		return encode(anthropicRequest{Model: model, System: system, Messages: []message{{"user", user}}, MaxTokens: maxTokens})
	}
	return encode(openAIRequest{Model: model, Messages: []message{{"system", system}, {"user", user}}, MaxTokens: maxTokens})
}

// sign adds the key and the protocol's headers.
func sign(r *http.Request, kind string, key Secret) {
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "countersign")
	if kind == KindAnthropic {
		r.Header.Set("Anthropic-Version", anthropicVersion)
	}
	switch k := reveal(key); {
	case k == "":
	case kind == KindAnthropic:
		r.Header.Set("X-Api-Key", k)
	default:
		r.Header.Set("Authorization", "Bearer "+k)
	}
}

// errRefused is a model that will not judge.
var errRefused = errors.New("the model refuses to answer")

// content takes the model's text out of an answer with status 200. What is not one finished text of the assistant is an
// error: a text that was cut off, filtered, or is about calling tools is no judgement.
func content(kind string, raw []byte) (string, error) {
	if kind == KindAnthropic {
		return anthropicContent(raw)
	}
	return openAIContent(raw)
}

func openAIContent(raw []byte) (string, error) {
	var r struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Role         string            `json:"role"`
				Content      *string           `json:"content"`
				Refusal      string            `json:"refusal"`
				ToolCalls    []json.RawMessage `json:"tool_calls"`
				FunctionCall json.RawMessage   `json:"function_call"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", errors.New("the server's answer is not what this protocol says")
	}
	if len(r.Choices) != 1 {
		return "", errors.New("the server did not send one choice")
	}
	c := r.Choices[0]
	call := len(c.Message.FunctionCall) > 0 && string(c.Message.FunctionCall) != "null"
	switch {
	case c.Message.Refusal != "":
		return "", errRefused
	case c.FinishReason != "stop":
		return "", fmt.Errorf("the answer did not end by itself: %q", shortReason(c.FinishReason))
	case len(c.Message.ToolCalls) > 0 || call:
		return "", errors.New("the model calls a tool instead of answering")
	case c.Message.Role != "assistant" || c.Message.Content == nil:
		return "", errors.New("the server sent no text of the assistant")
	}
	return *c.Message.Content, nil
}

func anthropicContent(raw []byte) (string, error) {
	var r struct {
		Type       string `json:"type"`
		Role       string `json:"role"`
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type string  `json:"type"`
			Text *string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", errors.New("the server's answer is not what this protocol says")
	}
	switch {
	case r.StopReason == "refusal":
		return "", errRefused
	case r.Type != "message" || r.Role != "assistant":
		return "", errors.New("the server sent no message of the assistant")
	case r.StopReason != "end_turn":
		return "", fmt.Errorf("the answer did not end by itself: %q", shortReason(r.StopReason))
	case len(r.Content) != 1 || r.Content[0].Type != "text" || r.Content[0].Text == nil:
		return "", errors.New("the answer is not one text")
	}
	return *r.Content[0].Text, nil
}

// complaint returns the server's own words about an error, masked: servers repeat parts of what they were sent.
func complaint(raw []byte) string {
	var r struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return ""
	}
	var e struct {
		Message string `json:"message"`
	}
	text := ""
	if json.Unmarshal(r.Error, &text) != nil && json.Unmarshal(r.Error, &e) == nil {
		text = e.Message
	}
	var m masker
	text = m.text(text)
	if m.problem != "" {
		return ""
	}
	return text
}
