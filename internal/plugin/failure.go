// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// explain says in a sentence what has prevented a command.
func (p *plugin) explain(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	if answer, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return explainAnswer(answer, err)
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return explainRequest(request)
	}
	return err.Error()
}

// explainRequest is about an API server that did not answer. The path of the request says nothing to people.
func explainRequest(request *url.Error) string {
	server := request.URL
	if parsed, err := url.Parse(request.URL); err == nil {
		server = parsed.Scheme + "://" + parsed.Host
	}
	because := request.Err
	if cause, ok := strings.CutPrefix(because.Error(), "getting credentials: "); ok {
		cause, _, _ = strings.Cut(cause, "\n") // what follows are general advices
		return fmt.Sprintf("cannot get the credentials that the kubeconfig asks for: %s", cause)
	}
	if deeper, ok := errors.AsType[*net.OpError](because); ok {
		because = deeper.Err
	}
	if request.Timeout() {
		return fmt.Sprintf("the API server at %s has not answered in time: is the cluster running?", server)
	}
	return fmt.Sprintf("cannot reach the API server at %s: %s: is the cluster running?", server, because)
}

// explainAnswer is about what the API server has answered.
func explainAnswer(answer *apierrors.StatusError, err error) string {
	details := answer.ErrStatus.Details
	switch {
	case unserved(answer):
		return notInstalled(details)
	case apierrors.IsUnauthorized(answer):
		return "the API server does not accept the credentials of the kubeconfig: log in again, or choose another context with --context"
	case apierrors.IsForbidden(answer) && details != nil && strings.Contains(answer.ErrStatus.Message, " cannot "):
		return forbidden(answer)
	case apierrors.IsNotFound(answer) && details != nil && details.Name != "":
		return fmt.Sprintf("%s %q does not exist", singularOf(details), details.Name)
	}
	return err.Error()
}

// unserved reports whether the API server does not have the kind at all. For an object that is missing it says more.
func unserved(err error) bool {
	answer, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || answer.ErrStatus.Code != http.StatusNotFound {
		return false
	}
	details := answer.ErrStatus.Details
	return details == nil || slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeUnexpectedServerResponse
	})
}

// notInstalled says that the cluster does not have a kind.
func notInstalled(details *metav1.StatusDetails) string {
	if details != nil {
		for _, k := range kinds() {
			if k.ours && k.called(details.Kind) {
				return fmt.Sprintf("this cluster does not have %s: Windlass is not installed in it", k.qualified())
			}
		}
	}
	return "this cluster does not have what the command needs: Windlass is not installed in it"
}

// forbidden says what the caller may not do. The API server's own sentence names the verb, the resource and the namespace.
func forbidden(answer *apierrors.StatusError) string {
	_, said, _ := strings.Cut(answer.ErrStatus.Message, " cannot ")
	said, _, _ = strings.Cut(said, ": ") // what authorizers add
	return fmt.Sprintf("you may not %s: ask an administrator of the cluster for the right", strings.ReplaceAll(said, `"`, ""))
}

func singularOf(details *metav1.StatusDetails) string {
	for _, k := range kinds() {
		if k.plural == details.Kind && k.gvk.Group == details.Group {
			return k.singular()
		}
	}
	return details.Kind
}
