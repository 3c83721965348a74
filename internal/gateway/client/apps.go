// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Me returns who calls, and in which namespaces they may list something.
func (c *Client) Me(ctx context.Context) (*view.Me, error) {
	out := &view.Me{}
	return out, c.call(ctx, http.MethodGet, "/v1/me", nil, nil, out)
}

// Apps lists the apps of a namespace, or of all that the caller may list.
func (c *Client) Apps(ctx context.Context, namespace string) ([]view.AppState, error) {
	query := url.Values{}
	set(query, "ns", namespace)
	out := &view.AppList{}
	err := c.call(ctx, http.MethodGet, "/v1/apps", query, nil, out)
	return out.Items, err
}

// App reads an app.
func (c *Client) App(ctx context.Context, namespace, name string) (*view.AppState, error) {
	out := &view.AppState{}
	return out, c.call(ctx, http.MethodGet, appPath(namespace, name), nil, nil, out)
}

// CreateApp creates a Deployment and its Service, both or neither. Only DryRun of the options applies.
func (c *Client) CreateApp(ctx context.Context, app view.App, options WriteOptions) (*view.AppState, error) {
	query := url.Values{}
	if options.DryRun {
		query.Set("dryRun", metav1.DryRunAll)
	}
	out := &view.AppState{}
	return out, c.call(ctx, http.MethodPost, "/v1/apps", query, app, out)
}

// DeleteApp deletes both, even if one of them is already gone.
func (c *Client) DeleteApp(ctx context.Context, namespace, name string) (*view.AppDeletion, error) {
	out := &view.AppDeletion{}
	return out, c.call(ctx, http.MethodDelete, appPath(namespace, name), nil, nil, out)
}

func appPath(namespace, name string) string {
	return "/v1/apps/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}
