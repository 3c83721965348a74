// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/fence"
)

// countingWrites counts the requests by which the controllers change the cluster. It is below the fence: what that stops is not sent, and
// does not count. Requests of the HTTP API and of the election take other connections, so that no user chooses what the series are.
type countingWrites struct {
	next http.RoundTripper
	info *request.RequestInfoFactory
}

// wrapWrites counts what a connection writes, and keeps an instance that does not lead from writing. A nil fence keeps nobody.
func wrapWrites(of *rest.Config, leading *fence.Fence) {
	of.Wrap(countWrites)
	if leading != nil {
		of.Wrap(leading.Transport)
	}
}

// countWrites returns the transport with a counter around it.
func countWrites(next http.RoundTripper) http.RoundTripper {
	return &countingWrites{next: next, info: &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}}
}

// RoundTrip implements http.RoundTripper.
func (c *countingWrites) RoundTrip(sent *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(sent)
	switch sent.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		c.count(sent, response)
	}
	return response, err
}

// WrappedRoundTripper lets client-go reach the connection below.
func (c *countingWrites) WrappedRoundTripper() http.RoundTripper { return c.next }

// count counts a request, unless it was a dry run, which writes nothing.
func (c *countingWrites) count(sent *http.Request, response *http.Response) {
	asked, err := c.info.NewRequestInfo(sent)
	if err != nil || !asked.IsResourceRequest || sent.URL.Query().Has("dryRun") {
		return
	}
	verb, code := asked.Verb, "error"
	if sent.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType) || sent.Header.Get("Content-Type") == string(types.ApplyCBORPatchType) {
		verb = "apply"
	}
	if response != nil {
		code = strconv.Itoa(response.StatusCode)
	}
	apiWrites.WithLabelValues(verb, asked.APIGroup, asked.Resource, asked.Subresource, code).Inc()
}
