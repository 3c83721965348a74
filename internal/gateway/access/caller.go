// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Caller is who sent a request.
type Caller struct {
	// User is the user that the API server knows the caller as.
	User user.Info
	// Session is true for a caller that acts as the user of the kubeconfig.
	Session bool

	// token is what the API server is sent. It is empty for a session.
	token string
	// cookie is what the browser of the caller has sent. Default: empty, for a caller with an Authorization header.
	cookie string
}

// Key tells callers apart, for limits. Two accounts of the same name, one after the other, differ in their UID.
func (c *Caller) Key() string {
	if c.Session {
		return "session"
	}
	return c.User.GetName() + "\x00" + c.User.GetUID()
}

// rightsKey tells apart whose rights differ: two tokens of one user can have different groups and extra fields.
func (c *Caller) rightsKey() string {
	if c.Session {
		return c.Key()
	}
	// The quotes keep one list from looking like another; maps are printed in the order of their keys.
	return fmt.Sprintf("%q %q %q %q", c.User.GetName(), c.User.GetUID(), c.User.GetGroups(), c.User.GetExtra())
}

type callerKey struct{}

// WithCaller returns a context of a request of the caller.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns who sent the request of the context.
func CallerOf(ctx context.Context) (*Caller, error) {
	c, ok := ctx.Value(callerKey{}).(*Caller)
	if !ok {
		return nil, unauthorized("The request has no credentials.")
	}
	return c, nil
}

func unauthorized(detail string) *view.Problem {
	return view.NewProblem(http.StatusUnauthorized, "Unauthorized", detail)
}
