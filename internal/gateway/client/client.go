// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package client is a typed client of the HTTP API. Objects of Kubernetes are read into types that the caller chooses. Every
// refusal is a *view.Problem.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// maxProblem bounds the body of a refusal, in bytes.
const maxProblem = 1 << 20

// Client calls the HTTP API. It may be used from several goroutines.
type Client struct {
	// Base is the address of the API without a path, as in http://127.0.0.1:8090.
	Base string
	// Token is the bearer token.
	Token string
	// HTTP sends the requests. Default: http.DefaultClient.
	HTTP *http.Client
}

// Kind is how the routes call a kind, with the type that its objects are read into.
type Kind[T any] struct {
	// Plural is the name in the routes, such as "deployments".
	Plural string
}

// List is a page of objects.
type List[T any] struct {
	metav1.ListMeta `json:"metadata"`

	// Items of the page.
	Items []T `json:"items"`
}

// ListOptions select the objects of a list.
type ListOptions struct {
	// Namespace, empty for all that the caller may see.
	Namespace string
	// Limit of a page, 0 for none, and the Continue of the page before.
	Limit    int
	Continue string
	// LabelSelector and FieldSelector as kubectl takes them.
	LabelSelector, FieldSelector string
	// Search are words that have to be in the namespace, name or labels.
	Search string
	// Sort is name, created or -created. Default: name.
	Sort string
	// Fields are paths of the fields that objects have, separated by commas. Default: empty, for all.
	Fields string
	// ManagedFields keeps metadata.managedFields.
	ManagedFields bool
}

// WriteOptions say how something is written.
type WriteOptions struct {
	// DryRun only says what would happen.
	DryRun bool
	// FieldManager owns the fields: windlass-console- and a name. Default: windlass-api.
	FieldManager string
	// Force takes over fields that others own; only for Apply.
	Force bool
	// UID writes to the object only if this is its UID; with another one the problem is Replaced. Default: empty, whatever it is. A create
	// has none.
	UID string
}

// DeleteOptions say how something is deleted.
type DeleteOptions struct {
	// DryRun only says what would happen.
	DryRun bool
	// Propagation says what becomes of what the object owns. Default: Background.
	Propagation metav1.DeletionPropagation
	// UID deletes the object only if this is its UID; with another one the problem is Replaced. Default: empty, whatever it is.
	UID string
}

// List lists a page of objects.
func (k Kind[T]) List(ctx context.Context, c *Client, options ListOptions) (*List[T], error) {
	query := url.Values{}
	set(query, "ns", options.Namespace)
	set(query, "continue", options.Continue)
	set(query, "labelSelector", options.LabelSelector)
	set(query, "fieldSelector", options.FieldSelector)
	set(query, "q", options.Search)
	set(query, "sort", options.Sort)
	set(query, "fields", options.Fields)
	if options.Limit > 0 {
		query.Set("limit", strconv.Itoa(options.Limit))
	}
	if options.ManagedFields {
		query.Set("managedFields", "true")
	}
	out := &List[T]{}
	return out, c.call(ctx, http.MethodGet, "/v1/"+k.Plural, query, nil, out)
}

// Get reads an object. The namespace is empty for what belongs to none.
func (k Kind[T]) Get(ctx context.Context, c *Client, namespace, name string) (*T, error) {
	out := new(T)
	return out, c.call(ctx, http.MethodGet, k.path(namespace, name, ""), nil, nil, out)
}

// YAML reads an object as YAML.
func (k Kind[T]) YAML(ctx context.Context, c *Client, namespace, name string) ([]byte, error) {
	response, err := c.send(ctx, http.MethodGet, k.path(namespace, name, "/yaml"), nil, nil, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	out, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("cannot read %q as YAML: %w", name, err)
	}
	return out, nil
}

// Events lists the events about an object, the newest first.
func (k Kind[T]) Events(ctx context.Context, c *Client, namespace, name string) (*List[corev1.Event], error) {
	out := &List[corev1.Event]{}
	return out, c.call(ctx, http.MethodGet, k.path(namespace, name, "/events"), nil, nil, out)
}

// Create creates an object in the namespace, or in its own if that is empty.
func (k Kind[T]) Create(ctx context.Context, c *Client, namespace string, object any, options WriteOptions) (*T, error) {
	query := options.query()
	set(query, "ns", namespace)
	out := new(T)
	return out, c.call(ctx, http.MethodPost, "/v1/"+k.Plural, query, object, out)
}

// Apply applies an object by server-side apply, which changes the fields that it has.
func (k Kind[T]) Apply(ctx context.Context, c *Client, namespace, name string, object any, options WriteOptions) (*T, error) {
	query := options.query()
	if options.Force {
		query.Set("force", "true")
	}
	out := new(T)
	return out, c.call(ctx, http.MethodPut, k.path(namespace, name, ""), query, object, out)
}

// Scale sets the number of replicas.
func (k Kind[T]) Scale(ctx context.Context, c *Client, namespace, name string, replicas int32, options WriteOptions) error {
	return c.call(ctx, http.MethodPatch, k.path(namespace, name, "/scale"), options.query(), map[string]int32{"replicas": replicas}, nil)
}

// Delete deletes an object.
func (k Kind[T]) Delete(ctx context.Context, c *Client, namespace, name string, options DeleteOptions) error {
	query := url.Values{}
	set(query, "propagationPolicy", string(options.Propagation))
	set(query, "uid", options.UID)
	if options.DryRun {
		query.Set("dryRun", metav1.DryRunAll)
	}
	return c.call(ctx, http.MethodDelete, k.path(namespace, name, ""), query, nil, nil)
}

func (k Kind[T]) path(namespace, name, part string) string {
	elements := []string{"/v1", k.Plural}
	if namespace != "" {
		elements = append(elements, url.PathEscape(namespace))
	}
	return strings.Join(append(elements, url.PathEscape(name)), "/") + part
}

func (o WriteOptions) query() url.Values {
	query := url.Values{}
	set(query, "fieldManager", o.FieldManager)
	set(query, "uid", o.UID)
	if o.DryRun {
		query.Set("dryRun", metav1.DryRunAll)
	}
	return query
}

func set(query url.Values, key, value string) {
	if value != "" {
		query.Set(key, value)
	}
}

// call sends a request and decodes the answer into out, unless that is nil.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	body := []byte(nil)
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("cannot encode the body of a request: %w", err)
		}
	}
	response, err := c.send(ctx, method, path, query, body, nil)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("cannot decode the answer to %s %s: %w", method, path, err)
	}
	return nil
}

// send sends a request and returns a good answer. The caller closes its body.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, body []byte, header http.Header) (*http.Response, error) {
	address := c.Base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("cannot create a request to %q: %w", c.Base, err)
	}
	maps.Copy(request.Header, header)
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := cmp.Or(c.HTTP, http.DefaultClient).Do(request)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the API: %w", err)
	}
	if response.StatusCode < http.StatusMultipleChoices {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	problem := view.NewProblem(response.StatusCode, "Unknown", "The answer is not a problem document.")
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	if err == nil && json.Unmarshal(raw, problem) != nil {
		problem.Status = response.StatusCode
	}
	return nil, problem
}
