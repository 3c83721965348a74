// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"net/http"
	"os"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// errCut is why a request has failed that tells cuts.
var errCut = errors.New("it has closed the connection")

// tellsCuts marks the requests of views.
type tellsCuts struct{}

// tellingCuts returns a context whose requests fail as soon as their connection is cut. Those of other commands are sent ten times more, a
// second apart, by the client library. A view tries again by itself, and a tree that makes two such requests would say nothing for 20 seconds.
func tellingCuts(ctx context.Context) context.Context {
	return context.WithValue(ctx, tellsCuts{}, true)
}

// cutTeller is a transport that gives a cut another name where that is asked for: the client library would not return it otherwise.
type cutTeller struct{ http.RoundTripper }

func tellCuts(next http.RoundTripper) http.RoundTripper { return cutTeller{next} }

// RoundTrip implements [http.RoundTripper].
func (c cutTeller) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(request)
	asked := request.Context().Value(tellsCuts{}) != nil
	if asked && (utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err)) {
		return nil, errCut
	}
	return answer, err
}

// WrappedRoundTripper lets the client library find the transport below.
func (c cutTeller) WrappedRoundTripper() http.RoundTripper { return c.RoundTripper }

// noticeSilence makes the client library notice within ten seconds that nothing comes through a connection that stays open: it takes 45 by
// itself, during which a view would show what may not be true any more. What the person has set for it counts.
func noticeSilence() {
	for name, seconds := range map[string]string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS": "5", "HTTP2_PING_TIMEOUT_SECONDS": "5"} {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, seconds)
		}
	}
}
